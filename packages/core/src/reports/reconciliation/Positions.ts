import * as Msat from "@satrail/bitcoin/Msat"
import type { Turnovers } from "../../ledger/Tally.ts"
import type { All } from "../../ledger/Waiting.ts"
import type { Owned } from "../../nodes/LightningBooks.ts"
import type { Withdrawal } from "../../sending/Withdrawal.ts"
import type { Found } from "./Difference.ts"
import type { Judged } from "./Look.ts"
import type { OwnFunds } from "./Reconciliation.ts"
import * as Side from "./Side.ts"

type Pending = Pick<Withdrawal, "rail" | "paymentHash" | "amount" | "networkAllowance" | "networkFee">

/** Everything that the two positions depend on, as it was observed in one comparison. */
export interface Observed {
  /** What the node and the wallet own, counted between the two tallies. */
  readonly node: Owned
  readonly chain: Msat.Msat
  readonly before: Turnovers
  readonly after: Turnovers
  readonly own: OwnFunds
  /** What was lost of the node's money with the channels that were closed since its part was stated, at most. */
  readonly roundedAway: Msat.Msat
  /** The withdrawals that have not ended. */
  readonly pending: ReadonlyArray<Pending>
  readonly waiting: Pick<All, "deposit_without_block" | "deposit_unconfirmed">
  /** The payments that differ or have not ended. */
  readonly lines: ReadonlyArray<Judged>
  /** Not everything was read: what was not may explain anything. */
  readonly isBehind: boolean
}

export interface Positions {
  readonly node: Side.Side
  readonly chain: Side.Side
}

/** What may leave the node and is not booked yet. A payment that is in flight there is not among it: the node counts it as its own until it settles. */
const mayLeaveNode = ({ pending, lines }: Observed): Msat.Msat => {
  const inFlight = new Set(lines.flatMap(({ line }) => (line._tag === "Sent" && line.state === "pending" ? [line.paymentHash] : [])))
  return Msat.sum(
    ...pending
      .filter(({ rail, paymentHash }) => rail === "lightning" && (paymentHash === null || !inFlight.has(paymentHash)))
      .map(({ amount, networkAllowance }) => Msat.sum(amount, networkAllowance))
  )
}

/** Received by the node and not credited yet. */
const mayArriveAtNode = ({ lines }: Observed): Msat.Msat =>
  Msat.sum(
    ...lines.flatMap(({ judgement }) =>
      typeof judgement === "object" && judgement.cause === "receipt_not_credited" ? [judgement.theirs ?? Msat.zero] : []
    )
  )

/** What payouts may take out of the wallet: a replacement's fee may be above what was allowed for. */
const mayLeaveWallet = ({ pending }: Observed): Msat.Msat =>
  Msat.sum(
    ...pending
      .filter(({ rail }) => rail === "on_chain")
      .map(({ amount, networkAllowance, networkFee }) => Msat.sum(amount, Msat.greatest(networkAllowance, networkFee ?? Msat.zero)))
  )

/** The node's position and the wallet's. */
export const of = (observed: Observed): Positions => {
  const { before, after, own, isBehind, waiting } = observed
  const node = Side.of({
    before,
    after,
    account: "node",
    owned: observed.node.amount,
    within: observed.node.within,
    own: own.node,
    mayLeave: Msat.sum(mayLeaveNode(observed), observed.roundedAway),
    mayArrive: mayArriveAtNode(observed)
  })
  const chain = Side.of({
    before,
    after,
    account: "chain",
    owned: observed.chain,
    within: Msat.zero,
    own: own.chain,
    mayLeave: mayLeaveWallet(observed),
    mayArrive: Msat.sum(waiting.deposit_without_block.amount, waiting.deposit_unconfirmed.amount)
  })
  return { node: isBehind ? { ...node, own: own.node, unexplained: Msat.zero } : node, chain }
}

const balance = (account: "node" | "chain", { own, ledger, owned, unexplained }: Side.Side): ReadonlyArray<Found> =>
  unexplained === 0n
    ? []
    : [
        {
          cause: account === "node" ? "node_balance" : "on_chain_balance",
          about: account,
          companyId: null,
          recordId: null,
          ours: Msat.sum(own ?? Msat.zero, ledger),
          theirs: owned
        }
      ]

/** Where what is owned is not explained. */
export const differences = ({ node, chain }: Positions): ReadonlyArray<Found> => [...balance("node", node), ...balance("chain", chain)]
