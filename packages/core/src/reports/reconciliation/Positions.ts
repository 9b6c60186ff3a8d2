import * as Msat from "@satrail/bitcoin/Msat"
import type { Turnovers } from "../../ledger/Tally.ts"
import type { All } from "../../ledger/Waiting.ts"
import type { Owned } from "../../nodes/LightningBooks.ts"
import type { Withdrawal } from "../../sending/Withdrawal.ts"
import type { Found } from "./Difference.ts"
import type { Judged } from "./Run.ts"
import type { OwnFunds } from "./Reconciliation.ts"
import * as AssetBalance from "./AssetBalance.ts"

type Pending = Pick<Withdrawal, "rail" | "paymentHash" | "amount" | "networkAllowance" | "networkFee">

/** All inputs for the positions of the node and the wallet, as observed in one run. */
export interface Observed {
  /** Funds of the node and the wallet, read between the two tallies. */
  readonly node: Owned
  readonly chain: Msat.Msat
  readonly before: Turnovers
  readonly after: Turnovers
  readonly own: OwnFunds
  /** Maximum loss from rounding in channels closed since the node's equity was declared. */
  readonly roundedAway: Msat.Msat
  /** Withdrawals that are not final. */
  readonly pending: ReadonlyArray<Pending>
  readonly waiting: Pick<All, "deposit_without_block" | "deposit_unconfirmed">
  /** Payments that differ or are not final. */
  readonly lines: ReadonlyArray<Judged>
  /** True if some entries were not read. Unread entries could explain any difference. */
  readonly isBehind: boolean
}

export interface Positions {
  readonly node: AssetBalance.AssetBalance
  readonly chain: AssetBalance.AssetBalance
}

/**
 * Returns the amount that may leave the node and is not booked yet. Excludes payments in flight, because the
 * node counts them among its own funds until they settle.
 */
const mayLeaveNode = ({ pending, lines }: Observed): Msat.Msat => {
  const inFlight = new Set(
    lines.flatMap(({ line }) => (line._tag === "Sent" && line.state === "pending" ? [line.paymentHash] : []))
  )
  return Msat.sum(
    ...pending
      .filter(
        ({ rail, paymentHash }) =>
          rail === "lightning" && (paymentHash === null || !inFlight.has(paymentHash))
      )
      .map(({ amount, networkAllowance }) => Msat.sum(amount, networkAllowance))
  )
}

/** Returns the amount received by the node and not credited yet. */
const mayArriveAtNode = ({ lines }: Observed): Msat.Msat =>
  Msat.sum(
    ...lines.flatMap(({ judgement }) =>
      typeof judgement === "object" && judgement.cause === "receipt_not_credited"
        ? [judgement.theirs ?? Msat.zero]
        : []
    )
  )

/** Returns the amount that payouts may take from the wallet. A replacement's fee may exceed the allowance. */
const mayLeaveWallet = ({ pending }: Observed): Msat.Msat =>
  Msat.sum(
    ...pending
      .filter(({ rail }) => rail === "on_chain")
      .map(({ amount, networkAllowance, networkFee }) =>
        Msat.sum(amount, Msat.greatest(networkAllowance, networkFee ?? Msat.zero))
      )
  )

/** Computes the positions of the node and the wallet. */
export const of = (observed: Observed): Positions => {
  const { before, after, own, isBehind, waiting } = observed
  const node = AssetBalance.of({
    before,
    after,
    account: "node",
    owned: observed.node.amount,
    within: observed.node.within,
    own: own.node,
    mayLeave: Msat.sum(mayLeaveNode(observed), observed.roundedAway),
    mayArrive: mayArriveAtNode(observed)
  })
  const chain = AssetBalance.of({
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

const balance = (
  account: "node" | "chain",
  { own, ledger, owned, unexplained }: AssetBalance.AssetBalance
): ReadonlyArray<Found> =>
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

/** Returns a finding for each asset with an unexplained amount. */
export const differences = ({ node, chain }: Positions): ReadonlyArray<Found> => [
  ...balance("node", node),
  ...balance("chain", chain)
]
