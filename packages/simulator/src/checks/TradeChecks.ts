import * as Msat from "@satrail/bitcoin/Msat"
import * as Checkout from "@satrail/core/features/checkouts/Checkout"
import type { Deposit } from "@satrail/core/receiving/Deposit"
import type { Withdrawal } from "@satrail/core/sending/Withdrawal"
import type { Seen } from "./Seen.ts"
import { claim, same } from "./Violation.ts"

/** What a company was paid, and what it did with it. */
export interface Trade {
  readonly deposits: ReadonlyArray<Deposit>
  readonly withdrawals: ReadonlyArray<Withdrawal>
  readonly checkouts: ReadonlyArray<Checkout.Checkout>
}

const sum = (rows: ReadonlyArray<{ readonly amount: Msat.Msat }>) => Msat.sum(...rows.map(({ amount }) => amount))

/** Every checkout stands where its deposits say, and nobody is asked to pay one that has ended. */
export const checkoutsEnded = ({ checkouts, deposits }: Trade): void => {
  for (const checkout of checkouts) {
    const { id, status } = checkout
    const own = deposits.filter(({ checkoutId }) => checkoutId === id)
    const credited = sum(own.filter((deposit) => deposit.status === "settled"))
    claim(status !== "open" && status !== "underpaid", `no checkout is open for ever: ${id} is ${status}`)
    if (credited >= Checkout.least(checkout)) same(status, "paid", `a checkout that was paid is paid: ${id}`)
    // What a reorganisation takes back was credited once.
    const ever = sum(own)
    if (status === "paid") claim(ever >= Checkout.least(checkout), `a checkout is paid when enough was credited: ${id}`)
  }
}

/** Listens for what is not to be seen in records afterwards. */
export const listen = (seen: Seen) => {
  const settling = new Set<string>()
  const assigned = new Map<string, Msat.Msat>()
  seen.hear((change) => {
    if (change._tag === "InvoiceSettling") settling.add(change.id)
    if (change._tag === "PaymentAssigned") {
      const [{ record }, deposit] = change.writes
      claim(!assigned.has(record.unmatchedId), `a payment in suspense is assigned once: ${record.unmatchedId}`)
      same(deposit.record.amount, record.amount, `what was in suspense is credited: ${record.unmatchedId}`)
      assigned.set(record.unmatchedId, record.amount)
    }
    if (change._tag === "CheckoutPaid") {
      const [{ found, set }] = change.writes
      const received = "received" in set && typeof set.received === "bigint" ? set.received : 0n
      claim(received >= Checkout.least(found), `a checkout is paid when enough was credited: ${change.id}`)
    }
  })
  return {
    /** Whether the company of a hold invoice settled it. */
    isSettledByItsCompany: (invoiceId: string): boolean => settling.has(invoiceId),
    /** What lies in suspense by now. */
    suspended: (): bigint => {
      const lies = Msat.sum(...seen.unmatched.values()) - Msat.sum(...assigned.values())
      claim(lies >= 0n, `no more is taken out of suspense than came there: ${lies}`)
      return lies
    }
  }
}
