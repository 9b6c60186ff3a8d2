import * as Msat from "@satrail/bitcoin/Msat"
import * as Written from "@satrail/core/ledger/Written"
import { approvals as core } from "@satrail/features/approvals/core"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import type { Change } from "@satrail/core/service/Changes"
import { claim, same, Violation } from "../../checks/Violation.ts"
import * as Feature from "../Feature.ts"
import { acts } from "./Acts.ts"
import { stories } from "./Stories.ts"
import { follow } from "./Thresholds.ts"

/** Checks that a withdrawal's approval matches its status. */
const isSentAsDecided = ({ id, approval, dispatchedAtMillis, status }: Withdrawal.Withdrawal): void => {
  const isDecided = approval === null || approval === "approved"
  claim(
    isDecided || dispatchedAtMillis === null,
    `nothing is sent without approval: withdrawal ${id} is ${approval}`
  )
  claim(
    isDecided || status !== "settled",
    `nothing is settled without approval: withdrawal ${id} is ${approval}`
  )
}

/** A withdrawal that required approval: the requesting key, the amount held, and the decision. */
interface Waiting {
  readonly key: string | undefined
  readonly held: bigint
  readonly decided?: "approved" | "rejected"
}

/** Returns the withdrawal that a Change creates for a request. */
const requestedIn = (change: Change): Pick<Withdrawal.Withdrawal, "id" | "approval"> | undefined => {
  if (!Written.is(change)) return undefined
  const found = change.writes.find(
    (write) => write._tag === "Insert" && write.noun.name === Withdrawal.noun.name
  )
  // oxlint-disable-next-line typescript/consistent-type-assertions -- the record belongs to this noun
  return found?._tag === "Insert" ? (found.record as Withdrawal.Withdrawal) : undefined
}

const sending = new Set<Change["_tag"]>([
  "WithdrawalDispatched",
  "WithdrawalSettled",
  "InternalTransferred",
  "WithdrawalFailed"
])

/** Returns the withdrawals that a Change sends, or whose outcome it records. */
const sentIn = (change: Change): ReadonlyArray<string> => {
  if (!sending.has(change._tag) || change.id === null) return []
  return change._tag === "WithdrawalDispatched"
    ? [change.id, ...change.followers.map(({ id }) => id)]
    : [change.id]
}

/**
 * Checks that nothing is sent until a key other than the requesting one approves it, and that a rejection
 * returns the full amount held. Changes arrive in the order in which they were applied.
 */
const listener = (keyOf: Feature.KeyOf): Feature.Listener => {
  const waiting = new Map<string, Waiting>()

  return (change, asking) => {
    const key = asking === null ? undefined : keyOf(asking)
    const asked = requestedIn(change)
    if (asked?.approval === "waiting") waiting.set(asked.id, { key, held: Feature.heldBy(change) })
    for (const id of sentIn(change)) {
      const isApproved = !waiting.has(id) || waiting.get(id)?.decided === "approved"
      claim(isApproved, `nothing is sent without approval: ${change._tag} of withdrawal ${id}`)
    }
    if (change._tag !== "WithdrawalApproved" && change._tag !== "WithdrawalRejected") return
    const { id } = change
    const one = waiting.get(id)
    const decided = change._tag === "WithdrawalApproved" ? "approved" : "rejected"
    // A repeated decision has no effect.
    const isOpen = one !== undefined && (one.decided ?? decided) === decided
    if (!isOpen) throw new Violation(`a waiting withdrawal is decided once: withdrawal ${id}`)
    if (decided === "approved")
      claim(key !== undefined && key !== one.key, `the requesting key does not approve: withdrawal ${id}`)
    const back = change.legs
      .flatMap(({ postings }) => postings)
      .filter(({ from, to }) => from === "held" && to === "available")
    const given = Msat.sum(...back.map(({ amount }) => amount))
    same(
      given,
      decided === "approved" ? 0n : one.held,
      `a rejection returns the full amount held: withdrawal ${id}`
    )
    waiting.set(id, { ...one, decided })
  }
}

export const approvals = Feature.make(core)({
  acts,
  stories,
  polling: ["unapproved"],
  changes: { WithdrawalApproved: "happens", WithdrawalRejected: "happens" },
  transitions: [
    "withdrawal: nothing to pending_approval",
    "withdrawal: pending_approval to pending",
    "withdrawal: pending_approval to failed"
  ],
  limits: { counts: [], returns: ["WithdrawalRejected"] },
  withdrawalMoves: { pending_approval: ["pending", "settled", "failed"] },
  withdrawal: isSentAsDecided,
  follow,
  listener
})
