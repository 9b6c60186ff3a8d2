import { Effect } from "effect"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import type { Invoice } from "./Invoice.ts"
import type { LnurlOptions } from "./LnurlOptions.ts"
import type { ReceivingReads } from "./ReceivingReads.ts"

/** How old a count may be. What this process has issued since is added to it. */
const countedForMillis = 1000

/** The most callers that are remembered: the one that has been quiet the longest is forgotten first. */
const maxCallers = 10_000

/** What a caller was given that may still be paid. */
type Given = ReadonlyArray<Pick<Invoice, "paymentHash" | "expiresAtMillis">>

/** Whose share of the unpaid invoices is used up. */
export type Full = "caller" | "address" | "service"

/**
 * How many invoices wait for a wallet to pay them. Of an address and of the whole service by the store's count, which all processes share; of a caller by
 * what this process gave it. An invoice that was paid or has expired counts no more.
 */
export const make = (records: ReceivingReads["Service"], { openPerCaller, openPerAddress, open }: LnurlOptions["Service"]["lnurl"]) => {
  let countedAtMillis = -Infinity
  let byAddress = new Map<string, number>()
  let total = 0
  const byCaller = new Map<string, Given>()

  const count = Effect.fnUntraced(function* (nowMillis: number) {
    if (nowMillis >= countedAtMillis && nowMillis - countedAtMillis < countedForMillis) return
    // Concurrent callers go by the previous count.
    countedAtMillis = nowMillis
    const counts = yield* records.openForWallets(nowMillis)
    byAddress = new Map(counts.map(({ lightningAddressId, count }) => [lightningAddressId, count]))
    total = counts.reduce((sum, { count }) => sum + count, 0)
  })

  /** What a caller has not paid. The store is asked only where it could decide. */
  const unpaid = Effect.fnUntraced(function* (caller: string, nowMillis: number) {
    const given = (byCaller.get(caller) ?? []).filter(({ expiresAtMillis }) => expiresAtMillis > nowMillis)
    if (given.length < openPerCaller) return given
    const found = yield* Effect.forEach(given, ({ paymentHash }) => records.invoiceByHash(paymentHash), { concurrency: "unbounded" })
    return given.filter((_, at) => found[at]?._tag === "Some" && found[at].value.status === "pending")
  })

  return {
    /** Whose share is used up; undefined where there is room for one more. */
    full: Effect.fnUntraced(function* (
      caller: string,
      addressId: string,
      nowMillis: number
    ): Effect.fn.Return<Full | undefined, StoreUnavailable> {
      yield* count(nowMillis)
      if (total >= open) return "service"
      if ((byAddress.get(addressId) ?? 0) >= openPerAddress) return "address"
      const given = yield* unpaid(caller, nowMillis)
      byCaller.delete(caller)
      if (given.length > 0) byCaller.set(caller, given)
      return given.length >= openPerCaller ? "caller" : undefined
    }),
    issued: (caller: string, addressId: string, { paymentHash, expiresAtMillis }: Invoice): void => {
      total += 1
      byAddress.set(addressId, (byAddress.get(addressId) ?? 0) + 1)
      const given = [...(byCaller.get(caller) ?? []), { paymentHash, expiresAtMillis }]
      byCaller.delete(caller)
      byCaller.set(caller, given)
      const [quietest] = byCaller.keys()
      if (byCaller.size > maxCallers && quietest !== undefined) byCaller.delete(quietest)
    }
  }
}
