import { isPublicName } from "@satrail/bitcoin/LightningAddressText"
import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import { Installation } from "@satrail/core/accounts/Installation"
import type { Invoice } from "@satrail/core/receiving/Invoice"
import type { PayRequestRefused, Place } from "@satrail/core/receiving/PayRequest"
import { PayRequests } from "@satrail/core/receiving/PayRequests"
import * as Document from "@satrail/ui/checkout/Document"
import type { Locale, Page, State } from "@satrail/ui/checkout/State"
import * as Words from "@satrail/ui/checkout/Words"
import { Clock, Effect } from "effect"
import { HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { addressOf } from "../wire/Address.ts"
import { answer, files, json } from "../edge/PaymentPage.ts"
import * as Errors from "../wire/Errors.ts"
import * as Extension from "../edge/Extension.ts"
import { admitting, RequestRates } from "../edge/RequestRates.ts"

// A Lightning address, paid in a browser: an amount is entered, and then there is the page of a payment, with the invoice that a wallet would have got
// (LUD-06). No script is needed: the amount is a form, and the invoice's page has a URL of its own.

const statuses: Readonly<Record<Invoice["status"], State["status"]>> = {
  pending: "open",
  claimed: "open",
  held: "open",
  settling: "open",
  settled: "paid",
  expired: "expired",
  canceling: "canceled",
  canceled: "canceled"
}

const satsOf = (amount: Msat.Msat | null): number => (amount === null ? 0 : Number(Msat.toSatsCeiling(amount)))

const stateOf = ({ status, paymentRequest, amount, settledAtMillis, expiresAtMillis }: Invoice, nowMillis: number): State => {
  const isOpen = status === "pending" && nowMillis < expiresAtMillis
  const uri = `lightning:${paymentRequest.toUpperCase()}`
  return {
    status: status === "pending" && !isOpen ? "expired" : statuses[status],
    asking: isOpen ? { uri, invoice: paymentRequest, address: null, sats: satsOf(amount) } : null,
    receivedSats: status === "settled" ? satsOf(amount) : 0,
    pendingSats: 0,
    confirmations: null,
    overSats: 0,
    isLate: false,
    refunds: [],
    paidAtMillis: settledAtMillis,
    expiresAtMillis,
    nowMillis
  }
}

const pageOf = ({ amount, paymentHash }: Invoice, to: string, locale: Locale): Page => ({
  locale,
  description: Words.filled(Words.words[locale].to, to),
  orderId: null,
  amountSats: satsOf(amount),
  fiat: null,
  returnUrl: null,
  cancelUrl: null,
  reference: paymentHash,
  stateUrl: `${paymentHash}/state`,
  seller: null,
  isStreamed: false,
  sandboxUrl: null,
  embedOrigin: null
})

/** At the domain that the browser names; at this machine's own addresses, the service's. */
const placing = Effect.gen(function* () {
  const { domain } = yield* Installation
  return ({ headers }: HttpServerRequest.HttpServerRequest, user: string): Place => {
    const host = headers["host"] ?? ""
    const name = host.replace(/:\d+$/, "")
    return { host: isPublicName(name) ? host : domain, domain: null, user }
  }
})

const routes = (proxies: number) =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      const payRequests = yield* PayRequests
      const admitted = admitting((yield* RequestRates).ofStranger, json)
      const placeOf = yield* placing
      const context = yield* Effect.context<never>()

      const nameOf = ({ host, user }: Place) => `${user.toLowerCase()}@${host.replace(/:\d+$/, "").toLowerCase()}`

      const asking = Effect.fnUntraced(function* (place: Place, locale: Locale, wrong: string | null) {
        const { minSendable, maxSendable } = yield* payRequests.offer(place)
        const [minSats, maxSats] = [Number(Msat.toSatsCeiling(minSendable)), Number(Msat.toSats(maxSendable))]
        const asked = { locale, to: nameOf(place), minSats, maxSats, wrong, action: encodeURIComponent(place.user) }
        return answer(Document.ask(asked, files(null, "../../")), wrong === null ? 200 : 422)
      })

      const pay = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest, place: Place, locale: Locale) {
        const sats = new URLSearchParams(yield* Effect.orDie(request.text)).get("sats")?.trim() ?? ""
        const ask = { comment: null, payerData: null, nostr: null, caller: addressOf(request, proxies) }
        // Zeros in front would be another text, and the same amount.
        const amount = /^[1-9]\d{0,14}$/.test(sats) ? `${sats}000` : null
        return yield* payRequests.invoice(place, { ...ask, amount }).pipe(
          Effect.map(({ invoice }) =>
            HttpServerResponse.empty({ status: 303, headers: { location: `${encodeURIComponent(place.user)}/${invoice.paymentHash}` } })
          ),
          Effect.catchIf(
            (error) => error._tag === "PayRequestRefused" && error.code === "amount",
            () => asking(place, locale, sats.slice(0, 20))
          )
        )
      })

      const found = Effect.fnUntraced(function* (place: Place, hash: string) {
        const invoice = yield* payRequests.verify(place, PaymentHash.make(hash))
        return { invoice, state: stateOf(invoice, yield* Clock.currentTimeMillis) }
      })

      const told = (sentence: "unknown" | "away", locale: Locale, depth: string) =>
        answer(Document.told(locale, sentence, files(null, depth)), sentence === "unknown" ? 404 : 503)

      interface Asked {
        readonly request: HttpServerRequest.HttpServerRequest
        readonly place: Place
        readonly hash: string
        readonly locale: Locale
      }
      type Failed = PayRequestRefused | { readonly _tag: "StoreUnavailable" | "NodeUnavailable" | "Conflict" }

      const page =
        (
          depth: string,
          work: (asked: Asked) => Effect.Effect<HttpServerResponse.HttpServerResponse, Failed>,
          failed: (sentence: "unknown" | "away", locale: Locale, depth: string) => HttpServerResponse.HttpServerResponse = told
        ) =>
        (request: HttpServerRequest.HttpServerRequest) =>
          Effect.flatMap(HttpRouter.params, ({ handle = "", hash = "" }) => {
            const locale = Words.accepted(request.headers["accept-language"])
            const place = placeOf(request, handle)
            return admitted(request, work({ request, place, hash, locale })).pipe(
              Effect.catch((error) => {
                const isUnknown = error._tag === "PayRequestRefused" && error.code === "not_found"
                const answered = failed(isUnknown ? "unknown" : "away", locale, depth)
                return isUnknown ? Effect.succeed(answered) : Effect.as(Effect.logWarning("payment page: refused", error), answered)
              }),
              Effect.provideContext(context)
            )
          })

      yield* router.add(
        "GET",
        "/pay/to/:handle",
        page("../../", ({ place, locale }) => asking(place, locale, null))
      )
      yield* router.add(
        "POST",
        "/pay/to/:handle",
        page("../../", ({ request, place, locale }) => pay(request, place, locale))
      )
      yield* router.add(
        "GET",
        "/pay/to/:handle/:hash",
        page("../../../", ({ place, hash, locale }) =>
          Effect.map(found(place, hash), ({ invoice, state }) =>
            answer(Document.page(pageOf(invoice, nameOf(place), locale), state, files(null, "../../../")))
          )
        )
      )
      yield* router.add(
        "GET",
        "/pay/to/:handle/:hash/state",
        page(
          "",
          ({ place, hash }) => Effect.map(found(place, hash), ({ state }) => HttpServerResponse.jsonUnsafe(state)),
          (sentence) => {
            const failure = Errors.failure(sentence === "unknown" ? "not_found" : "store_unavailable", Words.words.en[sentence])
            return HttpServerResponse.jsonUnsafe(failure, { status: failure.status })
          }
        )
      )
    })
  )

/** The pages on which Lightning addresses are paid. `proxies` as in `Lnurl.extension`. */
export const extension = (proxies = 0) => Extension.make(routes(proxies))
