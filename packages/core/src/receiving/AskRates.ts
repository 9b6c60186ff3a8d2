import { Clock, Effect, Queue } from "effect"
import * as Pool from "../base/Pool.ts"
import * as Throttle from "../base/Throttle.ts"
import * as Worker from "../base/Worker.ts"
import * as Forgetting from "./Forgetting.ts"
import type { Invoice } from "./Invoice.ts"
import type { LightningAddress } from "./LightningAddress.ts"
import { LnurlOptions } from "./LnurlOptions.ts"
import { PayRequestRefused } from "./PayRequest.ts"

/**
 * Up to `atOnce` evicted invoices are canceled at the node concurrently, and up to `waiting` more are queued.
 * Any others are left to expire.
 */
export const canceling = { atOnce: 8, waiting: 10_000 } as const

const tooMany = new PayRequestRefused({
  code: "too_many",
  message: "Too many requests for invoices. Try again in a moment"
})

/**
 * Limits the number of invoices that wallets may request per minute, and the number of their open invoices.
 * Both are counted in this process. A request is never rejected because of other callers' open invoices.
 * Instead, the oldest invoice of the largest holder is evicted.
 */
export const make = Effect.gen(function* () {
  const { lnurl } = yield* LnurlOptions
  const { cancel } = yield* Forgetting.make
  const open = Pool.make<Invoice, "company" | "address">({
    most: lnurl.open,
    perCaller: lnurl.openPerCaller,
    per: { company: lnurl.openPerCompany, address: lnurl.openPerAddress }
  })
  const addressMayAsk = Throttle.shared(lnurl.perAddress)
  const ofCaller = Throttle.callers(lnurl.perCaller)

  const evicted = yield* Queue.dropping<Invoice>(canceling.waiting)
  for (let n = 0; n < canceling.atOnce; n++)
    yield* Worker.runOpen(
      "cancellation of evicted invoices",
      Effect.flatMap(Queue.take(evicted), cancel),
      Effect.void
    )

  return {
    check: Effect.fnUntraced(function* (address: LightningAddress, caller: string) {
      const nowMillis = yield* Clock.currentTimeMillis
      if (!ofCaller(caller, nowMillis).isWithin || !addressMayAsk(address.id, caller, nowMillis))
        return yield* tooMany
    }),
    /** Counts an invoice created for this caller, and evicts older invoices that exceed the limits. */
    issued: Effect.fnUntraced(function* (address: LightningAddress, caller: string, invoice: Invoice) {
      const nowMillis = yield* Clock.currentTimeMillis
      for (const old of open.items()) {
        if (old.expiresAtMillis > nowMillis) break
        open.release(old)
      }
      yield* Queue.offerAll(
        evicted,
        open.take({ caller, of: { company: address.companyId, address: address.id } }, invoice)
      )
    })
  }
})
