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
 * `atOnce` evicted invoices are canceled at the node concurrently while up to `waiting` are queued. Invoices
 * beyond the queue are left to expire.
 */
export const canceling = { atOnce: 8, waiting: 10_000 } as const

const tooMany = new PayRequestRefused({ code: "too_many", message: "Too many requests for invoices. Try again in a moment" })

/**
 * Limits the invoices that wallets may request: the number per minute, and the number of open unpaid ones. Both
 * are counted in this process. Other callers' unpaid invoices never cause a rejection. Instead, the largest
 * holder loses its oldest invoice.
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
    yield* Worker.runOpen("cancellation of evicted invoices", Effect.flatMap(Queue.take(evicted), cancel), Effect.void)

  return {
    check: Effect.fnUntraced(function* (address: LightningAddress, caller: string) {
      const nowMillis = yield* Clock.currentTimeMillis
      if (!ofCaller(caller, nowMillis).isWithin || !addressMayAsk(address.id, caller, nowMillis)) return yield* tooMany
    }),
    /** Counts an invoice created for this caller and evicts older ones over the limits. */
    issued: Effect.fnUntraced(function* (address: LightningAddress, caller: string, invoice: Invoice) {
      const nowMillis = yield* Clock.currentTimeMillis
      for (const old of open.items()) {
        if (old.expiresAtMillis > nowMillis) break
        open.release(old)
      }
      yield* Queue.offerAll(evicted, open.take({ caller, of: { company: address.companyId, address: address.id } }, invoice))
    })
  }
})
