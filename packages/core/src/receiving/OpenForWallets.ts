import { Effect } from "effect"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import type { Invoice } from "./Invoice.ts"
import type { LnurlOptions } from "./LnurlOptions.ts"
import type { ReceivingReads } from "./ReceivingReads.ts"

/** How old a count may be. What this process has issued since is added to it. */
const countedForMillis = 1000

/** The most callers that are remembered: the one that has been quiet the longest is forgotten first. */
const maxCallers = 10_000

/** What a caller was given that may still be paid, in the order in which it was. */
type Given = Array<Pick<Invoice, "paymentHash" | "expiresAtMillis">>

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

  const givenTo = (caller: string): Given => byCaller.get(caller) ?? []

  /** From here on nobody has been quiet for a shorter time. Who has nothing to pay is not remembered. */
  const remember = (caller: string, given: Given): void => {
    byCaller.delete(caller)
    if (given.length > 0) byCaller.set(caller, given)
  }

  /** How many a caller has not paid. Which they are is looked at, and the store asked, only where it could decide. */
  const unpaid = Effect.fnUntraced(function* (caller: string, nowMillis: number) {
    const given = givenTo(caller)
    while ((given[0]?.expiresAtMillis ?? Infinity) <= nowMillis) given.shift()
    remember(caller, given)
    if (given.length < openPerCaller) return given.length
    const asked = given.filter(({ expiresAtMillis }) => expiresAtMillis > nowMillis)
    const found = yield* Effect.forEach(asked, ({ paymentHash }) => records.invoiceByHash(paymentHash), { concurrency: "unbounded" })
    const open = new Set(asked.filter((_, at) => found[at]?._tag === "Some" && found[at].value.status === "pending"))
    const looked = new Set(asked)
    // What it was given meanwhile was not looked at.
    const left = givenTo(caller).filter((one) => open.has(one) || (!looked.has(one) && one.expiresAtMillis > nowMillis))
    remember(caller, left)
    return left.length
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
      return (yield* unpaid(caller, nowMillis)) >= openPerCaller ? "caller" : undefined
    }),
    issued: (caller: string, addressId: string, { paymentHash, expiresAtMillis }: Invoice): void => {
      total += 1
      byAddress.set(addressId, (byAddress.get(addressId) ?? 0) + 1)
      const given = givenTo(caller)
      given.push({ paymentHash, expiresAtMillis })
      remember(caller, given)
      const [quietest] = byCaller.keys()
      if (byCaller.size > maxCallers && quietest !== undefined) byCaller.delete(quietest)
    }
  }
}
