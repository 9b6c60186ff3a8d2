import * as Msat from "@satrail/bitcoin/Msat"
import type { Seen } from "./Seen.ts"
import { claim, same } from "./Violation.ts"

/** Collects facts that records don't show afterward. */
export const listen = (seen: Seen) => {
  const settling = new Set<string>()
  const assigned = new Map<string, Msat.Msat>()
  seen.hear((change) => {
    if (change._tag === "InvoiceSettling") settling.add(change.id)
    if (change._tag === "PaymentAssigned") {
      const [{ record }, deposit] = change.writes
      claim(
        !assigned.has(record.unmatchedId),
        `a payment in suspense is assigned once: ${record.unmatchedId}`
      )
      same(deposit.record.amount, record.amount, `the amount in suspense is credited: ${record.unmatchedId}`)
      assigned.set(record.unmatchedId, record.amount)
    }
  })
  return {
    /** Returns whether the company of a hold invoice settled it. */
    isSettledByItsCompany: (invoiceId: string): boolean => settling.has(invoiceId),
    /** Returns the amount currently in suspense. */
    suspended: (): bigint => {
      const lies = Msat.sum(...seen.unmatched.values()) - Msat.sum(...assigned.values())
      claim(lies >= 0n, `no more leaves suspense than was received: ${lies}`)
      return lies
    }
  }
}
