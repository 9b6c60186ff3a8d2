import { Clock, Effect } from "effect"
import * as Throttle from "../base/Throttle.ts"
import type { LightningAddress } from "./LightningAddress.ts"
import { LnurlOptions } from "./LnurlOptions.ts"
import * as OpenForWallets from "./OpenForWallets.ts"
import { PayRequestRefused } from "./PayRequest.ts"
import { ReceivingReads } from "./ReceivingReads.ts"

const full: { readonly [full in OpenForWallets.Full]: string } = {
  caller: "Too many unpaid invoices: pay one, or wait until they expire",
  address: "Too many invoices of this address are not paid: try again in a few minutes",
  service: "Too many invoices of this service are not paid: try again in a few minutes"
}

/** How often wallets may ask for an invoice: so often for a caller and at an address, and while not too many are unpaid. */
export const make = Effect.gen(function* () {
  const receiving = yield* ReceivingReads
  const { lnurl } = yield* LnurlOptions
  const open = OpenForWallets.make(receiving, lnurl)
  const addressMayAsk = Throttle.make(lnurl.perAddress)
  const callerMayAsk = Throttle.make(lnurl.perCaller)
  const mayTell = Throttle.make(Throttle.perMinute(1))

  return {
    check: Effect.fnUntraced(function* (address: LightningAddress, caller: string) {
      const nowMillis = yield* Clock.currentTimeMillis
      const whose = yield* open.full(caller, address.id, nowMillis)
      if (whose !== undefined) {
        if (whose === "service" && mayTell("service", nowMillis))
          yield* Effect.logWarning("pay request: refused, too many unpaid invoices", { open: lnurl.open })
        return yield* new PayRequestRefused({ code: "too_many", message: full[whose] })
      }
      if (callerMayAsk(caller, nowMillis) && addressMayAsk(address.id, nowMillis)) return
      return yield* new PayRequestRefused({ code: "too_many", message: "Too many requests for invoices: try again in a moment" })
    }),
    /** An invoice was made for this caller. */
    issued: open.issued
  }
})
