import { isPublicName } from "@satrail/bitcoin/LightningAddressText"
import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import { Installation } from "@satrail/core/accounts/Installation"
import { decimals, type Fiat, isFiat, parseCurrency } from "@satrail/core/base/Amount"
import * as Decimal from "@satrail/core/base/Decimal"
import { Prices } from "@satrail/core/nodes/Prices"
import type { Invoice } from "@satrail/core/receiving/Invoice"
import type { PayRequest, PayRequestRefused, Place } from "@satrail/core/receiving/PayRequest"
import { PayRequests } from "@satrail/core/receiving/PayRequests"
import * as Document from "@satrail/ui/checkout/Document"
import { type Form, ofInvoice, type Page, type State } from "@satrail/ui/checkout/State"
import * as NumberText from "@satrail/ui/NumberText"
import { Clock, Effect, Result } from "effect"
import { HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { addressOf } from "@satrail/http/wire/Address"
import * as Asset from "@satrail/http/wire/Asset"
import { answer, files, json } from "@satrail/http/edge/PaymentPage"
import * as Errors from "@satrail/http/wire/Errors"
import * as Routing from "@satrail/http/wire/Routing"
import * as Extension from "@satrail/http/edge/Extension"
import type { About } from "./Home.ts"
import { admitting, RequestRates } from "@satrail/http/edge/RequestRates"
import * as Visitor from "@satrail/http/edge/Visitor"

// Pays a Lightning address in a browser: a form for the amount, then a payment page with the invoice that a
// wallet would have received (LUD-06). It works without scripts, because the invoice's page has its own URL.

type Request = HttpServerRequest.HttpServerRequest

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

const satsOf = (amount: Msat.Msat | null): number =>
  amount === null ? 0 : Number(Msat.toSatsCeiling(amount))

const stateOf = (invoice: Invoice, nowMillis: number): State => {
  const { status, paymentRequest, paymentHash, amount, settledAtMillis, canceledAtMillis, expiresAtMillis } =
    invoice
  const isOpen = status === "pending" && nowMillis < expiresAtMillis
  const isSettled = status === "settled"
  const uri = `lightning:${paymentRequest.toUpperCase()}`
  const sats = satsOf(amount)
  const payment = {
    way: "lightning",
    sats,
    isPending: false,
    reference: paymentHash,
    explorerUrl: null
  } as const
  return {
    status: status === "pending" && !isOpen ? "expired" : statuses[status],
    asking: isOpen ? { uri, invoice: paymentRequest, address: null, sats } : null,
    receivedSats: isSettled ? sats : 0,
    ...ofInvoice,
    isRenewable: status === "pending" && !isOpen,
    payments: settledAtMillis === null ? [] : [{ ...payment, atMillis: settledAtMillis }],
    paidAtMillis: settledAtMillis,
    endedAtMillis: canceledAtMillis,
    expiresAtMillis,
    nowMillis
  }
}

const versionOf = (state: State): string => Asset.hashOf(JSON.stringify({ ...state, nowMillis: 0 }))

const pageOf = (
  { amount, paymentHash, createdAtMillis }: Invoice,
  {
    user,
    seller,
    locale,
    about,
    isTest
  }: { readonly user: string } & Pick<Page, "seller" | "locale" | "about" | "isTest">
): Page => ({
  locale,
  seller,
  description: "",
  orderId: null,
  price: { amountSats: satsOf(amount), fiat: null },
  amountSats: satsOf(amount),
  fiat: null,
  tipPercent: 0,
  tips: [],
  asksEmail: false,
  contact: null,
  about,
  returnUrl: null,
  cancelUrl: null,
  reference: paymentHash,
  createdAtMillis,
  renewal: { url: `../${encodeURIComponent(user)}`, method: "get" },
  answerUrl: null,
  stateUrl: `${paymentHash}/state`,
  isStreamed: false,
  receiptUrl: null,
  isTest,
  sandboxUrl: null,
  embedOrigin: null
})

/** Uses the domain in the request, or the service's domain if the request's host is not a public name. */
const placing = Effect.gen(function* () {
  const { domain } = yield* Installation
  return ({ headers }: Request, user: string): Place => {
    const host = headers["host"] ?? ""
    const name = host.replace(/:\d+$/, "")
    return { host: isPublicName(name) ? host : domain, domain: null, user }
  }
})

const nameOf = ({ host, user }: Place): string =>
  `${user.toLowerCase()}@${host.replace(/:\d+$/, "").toLowerCase()}`

const maxTextCharacters = 20

/** The entered amount with its unit, and the message. */
interface Entered {
  readonly amount: string
  readonly unit: Form["unit"]
  readonly currency: Fiat | null
  readonly message: string
}

const enteredIn = (text: string): Entered => {
  const body = new URLSearchParams(text)
  const currency = Result.getOrElse(parseCurrency(body.get("currency") ?? ""), () => null)
  const isInFiat = body.get("unit") === "fiat" && currency !== null && isFiat(currency)
  return {
    amount: body.get("amount")?.trim() ?? "",
    unit: isInFiat ? "fiat" : "sats",
    currency: isInFiat ? currency : null,
    message: body.get("message") ?? ""
  }
}

/** Returns payable limits in fiat, rounded inward to the currency's decimals. */
const limitsIn = (
  currency: Fiat,
  rate: string,
  minSats: number,
  maxSats: number
): NonNullable<Form["fiat"]> => {
  const parts = 10 ** decimals(currency)
  const inParts = (sats: number) => (sats * Number(rate) * parts) / 100_000_000
  return {
    currency,
    min: String(Math.max(1, Math.ceil(inParts(minSats))) / parts),
    max: String(Math.floor(inParts(maxSats)) / parts)
  }
}

/** The entered amount as digits in msat, or why it cannot be paid. */
type Priced = { readonly msat: string } | { readonly wrong: NonNullable<Form["wrong"]> }

/** More whole digits than the supply of bitcoin has in any unit. */
const maxWholeDigits = 18

/** Reads the entered amount as the page's language writes it. */
const pricing = Effect.map(Prices, (prices) =>
  Effect.fnUntraced(function* (
    { amount, unit, currency }: Entered,
    locale: Form["locale"]
  ): Effect.fn.Return<Priced> {
    const entered = NumberText.read(amount, NumberText.separators[locale])
    if (entered._tag !== "Number") return { wrong: "number" }
    const isInFiat = unit === "fiat" && currency !== null
    if (entered.decimals > (isInFiat ? decimals(currency) : 0)) return { wrong: "decimals" }
    const [whole = ""] = entered.text.split(".")
    if (entered.isNegative || whole.length > maxWholeDigits) return { wrong: "range" }
    if (!isInFiat) return { msat: `${whole}000` }
    const priced = yield* Effect.option(
      prices.price({ amount: Result.getOrThrow(Decimal.parse(entered.text)), currency })
    )
    return priced._tag === "None" ? { wrong: "range" } : { msat: String(priced.value.amount) }
  })
)

/** Returns the form with the entered values. */
const asking = Effect.fnUntraced(function* (isTest: boolean) {
  const payRequests = yield* PayRequests
  const prices = yield* Prices
  return Effect.fnUntraced(function* (
    request: Request,
    place: Place,
    before: Entered | null,
    wrong: Form["wrong"] = null
  ) {
    const offer: PayRequest = yield* payRequests.offer(place)
    const [minSats, maxSats] = [
      Number(Msat.toSatsCeiling(offer.minSendable)),
      Number(Msat.toSats(offer.maxSendable))
    ]
    const currency = before?.currency ?? Visitor.currencyOf(request)
    const rate = yield* Visitor.rateOf(prices, currency)
    const fiat = rate === null ? null : limitsIn(currency, rate, minSats, maxSats)
    const asked: Form = {
      locale: Visitor.localeOf(request),
      to: nameOf(place),
      minSats,
      maxSats,
      fiat,
      unit: fiat === null ? "sats" : (before?.unit ?? "fiat"),
      amount: before?.amount.slice(0, maxTextCharacters) ?? "",
      message: before?.message ?? "",
      messageCharacters: offer.commentAllowed,
      wrong,
      isTest,
      action: encodeURIComponent(place.user)
    }
    return answer(
      request,
      Document.ask(asked, files(null, "../../"), Visitor.visitOf(request)),
      before === null ? 200 : 422
    )
  })
})

interface Asked {
  readonly request: Request
  readonly place: Place
  readonly hash: string
}
type Failed = PayRequestRefused | { readonly _tag: "StoreUnavailable" | "NodeUnavailable" | "Conflict" }

const told = (what: "unknown" | "away", request: Request, depth: string) =>
  answer(
    request,
    Document.notice(Visitor.localeOf(request), what, files(null, depth), Visitor.visitOf(request)),
    what === "unknown" ? 404 : 503
  )

const toldInJson = (what: "unknown" | "away") => {
  const failure =
    what === "unknown"
      ? Errors.failure("not_found", "There is no such payment")
      : Errors.failure("store_unavailable", "The service is temporarily unavailable")
  return HttpServerResponse.jsonUnsafe(failure, { status: failure.status })
}

const routes = (proxies: number, isTest: boolean) =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      const payRequests = yield* PayRequests
      const prices = yield* Prices
      const admitted = admitting((yield* RequestRates).ofStranger, json)
      const placeOf = yield* placing
      const ask = yield* asking(isTest)
      const priced = yield* pricing
      const context = yield* Effect.context<never>()

      const pay = Effect.fnUntraced(function* ({ request, place }: Asked) {
        const entered = enteredIn(yield* Effect.orDie(request.text))
        const amount = yield* priced(entered, Visitor.localeOf(request))
        if ("wrong" in amount) return yield* ask(request, place, entered, amount.wrong)
        const comment = entered.message.trim() === "" ? null : entered.message
        const query =
          Visitor.visitOf(request).language === null ? "" : `?lang=${Visitor.visitOf(request).language}`
        const wanted = {
          amount: amount.msat,
          comment,
          payerData: null,
          nostr: null,
          caller: addressOf(request, proxies)
        }
        return yield* payRequests.invoice(place, wanted).pipe(
          Effect.map(({ invoice }) =>
            HttpServerResponse.empty({
              status: 303,
              headers: { location: `${encodeURIComponent(place.user)}/${invoice.paymentHash}${query}` }
            })
          ),
          Effect.catchIf(
            (error) =>
              error._tag === "PayRequestRefused" && (error.code === "amount" || error.code === "comment"),
            () => ask(request, place, entered, "range")
          )
        )
      })

      const found = Effect.fnUntraced(function* ({ place, hash }: Asked) {
        const invoice = yield* payRequests.verify(place, PaymentHash.make(hash))
        const state = stateOf(invoice, yield* Clock.currentTimeMillis)
        return { invoice, state, version: versionOf(state) }
      })

      const paid = Effect.fnUntraced(function* (asked: Asked) {
        const { request, place } = asked
        const { invoice, state, version } = yield* found(asked)
        const locale = Visitor.localeOf(request)
        const about = yield* Visitor.aboutOf(prices, request, state.asking?.sats ?? null, locale)
        const page = pageOf(invoice, { user: place.user, seller: nameOf(place), locale, about, isTest })
        return answer(
          request,
          Document.page(page, state, files(null, "../../../"), { version, visit: Visitor.visitOf(request) })
        )
      })

      const stated = (asked: Asked) =>
        Effect.map(found(asked), ({ state, version }) =>
          HttpServerResponse.jsonUnsafe(state, { headers: { "x-version": version } })
        )

      const page =
        (
          work: (asked: Asked) => Effect.Effect<HttpServerResponse.HttpServerResponse, Failed>,
          failed: (what: "unknown" | "away", request: Request) => HttpServerResponse.HttpServerResponse
        ) =>
        (request: Request) =>
          Effect.flatMap(HttpRouter.params, ({ handle = "", hash = "" }) => {
            const place = placeOf(request, handle)
            return admitted(request, work({ request, place, hash })).pipe(
              Effect.catch((error) => {
                const isUnknown = error._tag === "PayRequestRefused" && error.code === "not_found"
                const answered = failed(isUnknown ? "unknown" : "away", request)
                return isUnknown
                  ? Effect.succeed(answered)
                  : Effect.as(Effect.logWarning("payment page: refused", error), answered)
              }),
              Effect.provideContext(context)
            )
          })
      const below = (depth: string) => (what: "unknown" | "away", request: Request) =>
        told(what, request, depth)

      const path = "/pay/to/:handle"
      const form = page(({ request, place }) => ask(request, place, null), below("../../"))
      yield* router.add("GET", path, form)
      yield* router.add("POST", path, page(pay, below("../../")))
      const receipt = page(paid, below("../../../"))
      yield* router.add("GET", `${path}/:hash`, (request) =>
        Effect.flatMap(HttpRouter.params, ({ hash }) =>
          hash === "" ? Routing.noRoute(request) : receipt(request)
        )
      )
      yield* router.add("GET", `${path}/:hash/state`, page(stated, toldInJson))
    })
  )

/** Serves the pages on which payers pay Lightning addresses. `proxies` is the same as in `Lnurl.extension`. */
export const extension = (proxies = 0, { simulated = [] }: About = {}) =>
  Extension.make(routes(proxies, simulated.includes("the Lightning network")))
