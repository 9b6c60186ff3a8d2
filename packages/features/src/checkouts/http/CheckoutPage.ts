import { Companies } from "@satrail/core/accounts/Companies"
import * as Pool from "@satrail/core/base/Pool"
import { Tail } from "@satrail/core/events/Tail"
import type * as Checkout from "../core/Checkout.ts"
import { Checkouts } from "../core/Checkouts.ts"
import { Prices } from "@satrail/core/nodes/Prices"
import * as Document from "@satrail/ui/checkout/Document"
import * as Qr from "@satrail/ui/checkout/Qr"
import { isOver, type State } from "@satrail/ui/checkout/State"
import { Clock, Context, Deferred, Effect, Option, Stream } from "effect"
import { HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { addressOf } from "@satrail/http/wire/Address"
import * as Asset from "@satrail/http/wire/Asset"
import * as CheckoutState from "./CheckoutState.ts"
import * as Errors from "@satrail/http/wire/Errors"
import * as Events from "@satrail/http/wire/Events"
import * as Extension from "@satrail/http/edge/Extension"
import { answer, files, json } from "@satrail/http/edge/PaymentPage"
import { admitting, RequestRates } from "@satrail/http/edge/RequestRates"
import { Seal } from "@satrail/http/wire/Seal"
import { Explorer } from "./Explorer.ts"
import { Refunded } from "./Refunded.ts"
import * as Ui from "@satrail/http/edge/Ui"
import * as Visitor from "@satrail/http/edge/Visitor"

/**
 * Maximum number of pages to which one process streams changes: in total, and per caller, company and checkout.
 * Beyond a limit, the largest holder loses its oldest stream, and that page reconnects.
 */
export const streams = { most: 1000, perCaller: 50, per: { company: 250, checkout: 20 } } as const

/**
 * Maximum time between two reads of the state while no event arrives. It is needed because neither a
 * confirmation nor the deadline causes an event.
 */
export const lookMillis = 5000

// Combine many of a company's events into one read.
const gapMillis = 200
const retryMillis = 2000

/** Ways to pay in the sandbox: in full over either network, too little, or too much. */
export const sandboxWays = ["lightning", "chain", "less", "more"] as const
export type SandboxWay = (typeof sandboxWays)[number]

/** Pays a checkout from the sandbox. */
export interface SandboxPayer {
  readonly pay: (
    checkout: Checkout.Shown,
    way: SandboxWay
  ) => Effect.Effect<void, { readonly message: string }>
}

/** In the sandbox, adds payment buttons to the page. Default: none. */
export const Payer = Context.Reference<SandboxPayer | undefined>(
  "@satrail/features/checkouts/http/CheckoutPage/Payer",
  {
    defaultValue: () => undefined
  }
)

type Request = HttpServerRequest.HttpServerRequest

const notFound = json(Errors.failure("not_found", "There is no such payment"))
const away = json(Errors.failure("store_unavailable", "The service is temporarily unavailable"))

/** Returns an identifier of a state. It does not depend on the current time. */
const versionOf = (state: State): string => Asset.hashOf(JSON.stringify({ ...state, nowMillis: 0 }))

/** Makes a function that reads a checkout's state for its payer. */
const reading = Effect.gen(function* () {
  const checkouts = yield* Checkouts
  const refunded = yield* Refunded
  const explorer = yield* Explorer
  const seal = yield* Seal
  return Effect.fnUntraced(function* (id: string) {
    const checkout = yield* checkouts.open(id)
    const { companyId } = checkout
    const besides = {
      confirmations: yield* checkouts.depth(checkout),
      payments: (yield* checkouts.deposits(checkout)).map((deposit) =>
        CheckoutState.paymentOf(deposit, explorer)
      ),
      refunds: yield* refunded(checkout, (sealed) => seal?.open(sealed, companyId))
    }
    const state = CheckoutState.stateOf(checkout, besides, yield* Clock.currentTimeMillis)
    return { checkout, state, version: versionOf(state) }
  })
})

type Read = Effect.Success<typeof reading>

/** Serves the page and its receipt. */
const documents = Effect.fnUntraced(function* (read: Read) {
  const companies = yield* Companies
  const prices = yield* Prices
  const payer = yield* Payer

  const pageOf = Effect.fnUntraced(function* (
    request: Request,
    { checkout, state }: Effect.Success<ReturnType<Read>>
  ) {
    const locale =
      checkout.localeSource === "browser"
        ? Visitor.localeOf(request)
        : (Visitor.visitOf(request).language ?? checkout.locale)
    const sats = checkout.fiatAmount === null ? (state.asking?.sats ?? null) : null
    const page = CheckoutState.pageOf(checkout, {
      isSandbox: payer !== undefined,
      seller: (yield* companies.get(checkout.companyId)).name,
      about: yield* Visitor.aboutOf(prices, request, sats, locale)
    })
    return { ...page, locale }
  })

  return {
    shown: Effect.fnUntraced(function* (request: Request, id: string) {
      const found = yield* read(id)
      const { checkout, state, version } = found
      const visit = Visitor.visitOf(request)
      const page = yield* pageOf(request, found)
      return answer(
        request,
        Document.page(page, state, files(checkout.color), { version, visit }),
        200,
        checkout.embedOrigin
      )
    }),
    receipt: Effect.fnUntraced(function* (request: Request, id: string) {
      const found = yield* read(id)
      if (found.state.status !== "paid") return notFound
      const text = Document.receipt(yield* pageOf(request, found), found.state)
      return HttpServerResponse.text(text, {
        contentType: "text/plain; charset=utf-8",
        headers: {
          "content-disposition": `attachment; filename="receipt-${id.slice(0, 8)}.txt"`,
          "cache-control": "no-store"
        }
      })
    })
  }
})

/** Serves the state as JSON, or as a stream of its changes. */
const states = Effect.fnUntraced(function* (read: Read, proxies: number) {
  const tail = yield* Tail
  const open = Pool.make<Deferred.Deferred<void>, "company" | "checkout">(streams)

  /** Streams the state immediately and after each change until it is final. */
  const told = (id: string, { companyId }: Checkout.Shown) =>
    Stream.unwrap(
      Effect.map(tail.listen(companyId), (more) =>
        Stream.paginate("", (before: string) =>
          Effect.gen(function* () {
            if (before !== "")
              yield* Effect.andThen(Effect.sleep(gapMillis), Effect.race(more, Effect.sleep(lookMillis)))
            const { state, version } = yield* read(id)
            const events =
              version === before ? [] : [{ event: "state", id: version, data: JSON.stringify(state) }]
            return [events, isOver(state) ? Option.none<string>() : Option.some(version)] as const
          })
        )
      )
    )

  /** Counts the stream, and ends it if its slot is given to another page. */
  const counted = <A, E, R>(checkout: Checkout.Shown, caller: string, stream: Stream.Stream<A, E, R>) => {
    const of = { company: checkout.companyId, checkout: checkout.id }
    const place = Effect.acquireRelease(
      Effect.gen(function* () {
        const lost = yield* Deferred.make<void>()
        for (const other of open.take({ caller, of }, lost)) yield* Deferred.succeed(other, undefined)
        return lost
      }),
      (lost) => Effect.sync(() => open.release(lost))
    )
    return Stream.unwrap(Effect.map(place, (lost) => Stream.interruptWhen(stream, Deferred.await(lost))))
  }

  return Effect.fnUntraced(function* (request: Request, id: string) {
    const { checkout, state, version } = yield* read(id)
    if (request.headers["accept"]?.includes("text/event-stream") !== true)
      return HttpServerResponse.jsonUnsafe(state, { headers: { "x-version": version } })
    const all = Stream.catchCause(told(id, checkout), (cause) =>
      // The page reconnects by itself.
      Stream.drain(Stream.fromEffect(Effect.logWarning("checkout page: a stream ended", cause)))
    )
    return Events.answer(counted(checkout, addressOf(request, proxies), all), { retryMillis })
  })
})

/** Serves the QR code for the current payment. */
const coding = (read: Read) =>
  Effect.fnUntraced(function* (_: Request, id: string) {
    const { asking } = (yield* read(id)).state
    if (asking === null) return notFound
    const headers = { "cache-control": "no-store", "content-security-policy": "default-src 'none'" }
    return HttpServerResponse.text(Qr.svg(asking.uri), { contentType: "image/svg+xml", headers })
  })

/** Redirects from a submitted form to its page. With `isFailed`, the page reports the failure. */
const back = (id: string, query: URLSearchParams, isFailed: boolean) => {
  query.delete("failed")
  if (isFailed) query.set("failed", "")
  return HttpServerResponse.empty({ status: 303, headers: { location: `../${id}?${query}` } })
}

/** Handles a payer's choices: a new quote, or answers to the seller's questions. */
const choosing = Effect.gen(function* () {
  const checkouts = yield* Checkouts
  const chosen = <E extends { readonly _tag: string }>(
    request: Request,
    id: string,
    choice: Effect.Effect<void, E>
  ) => {
    const query = Visitor.queryOf(request)
    return choice.pipe(
      Effect.as(back(id, query, false)),
      Effect.catchIf(
        (error): error is Exclude<E, { readonly _tag: "NotFound" | "StoreUnavailable" }> =>
          error._tag !== "NotFound" && error._tag !== "StoreUnavailable",
        // The page showed an outdated state.
        ({ _tag }) =>
          Effect.as(
            Effect.logInfo(`checkout page: a choice was refused: ${_tag}`),
            back(id, query, _tag !== "CheckoutNotOpen")
          )
      )
    )
  }
  return {
    renew: (request: Request, id: string) => chosen(request, id, checkouts.renew(id)),
    answer: Effect.fnUntraced(function* (request: Request, id: string) {
      const body = new URLSearchParams(yield* Effect.orDie(request.text))
      const [tip, email] = [body.get("tip") ?? "0", body.get("email")?.trim() ?? ""]
      const answered = {
        tipPercent: /^\d{1,2}$/.test(tip) ? Number(tip) : -1,
        email: email === "" ? null : email
      }
      return yield* chosen(request, id, checkouts.answer(id, answered))
    })
  }
})

/** Pays from the sandbox. A form submission is redirected to its page, and a script receives only the outcome. */
const paying = Effect.fnUntraced(function* (read: Read) {
  const payer = yield* Payer
  return Effect.fnUntraced(function* (request: Request, id: string) {
    const query = Visitor.queryOf(request)
    const way = sandboxWays.find((one) => one === query.get("pay"))
    if (payer === undefined || way === undefined) return notFound
    const { checkout } = yield* read(id)
    const isForm = request.headers["accept"]?.includes("text/html") === true
    query.delete("pay")
    return yield* Effect.match(payer.pay(checkout, way), {
      onSuccess: () => (isForm ? back(id, query, false) : HttpServerResponse.empty({ status: 204 })),
      onFailure: ({ message }) => json(Errors.failure("conflict", message))
    })
  })
})

const routes = (proxies: number) =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      const read = yield* reading
      const { shown, receipt } = yield* documents(read)
      const state = yield* states(read, proxies)
      const pay = yield* paying(read)
      const code = coding(read)
      const { renew, answer: answered } = yield* choosing
      const context = yield* Effect.context<never>()
      const admitted = admitting((yield* RequestRates).ofStranger, json)

      const embed = yield* Asset.once(Ui.stable("embed.js"))
      yield* router.add("GET", "/pay/embed.js", Effect.flatMap(embed, Asset.answer))
      yield* router.add("GET", "/pay/:id", (request) => {
        const told = (what: "unknown" | "away") =>
          Document.notice(Visitor.localeOf(request), what, files(), Visitor.visitOf(request))
        return Effect.flatMap(HttpRouter.params, ({ id = "" }) =>
          Effect.catchTags(admitted(request, shown(request, id)), {
            NotFound: () => Effect.succeed(answer(request, told("unknown"), 404)),
            StoreUnavailable: (outage) =>
              Effect.as(
                Effect.logWarning("checkout page: the checkout cannot be read", outage),
                answer(request, told("away"), 503)
              )
          })
        )
      })
      const below =
        (work: typeof state | typeof pay | typeof receipt | typeof code | typeof renew | typeof answered) =>
        (request: Request) =>
          Effect.flatMap(HttpRouter.params, ({ id = "" }) =>
            admitted(request, work(request, id)).pipe(
              Effect.catchTags({
                NotFound: () => Effect.succeed(notFound),
                StoreUnavailable: () => Effect.succeed(away)
              }),
              Effect.provideContext(context)
            )
          )
      // Any shop's page can show a checkout (@satrail/react). The checkout's id grants access, and no cookie is
      // read here.
      const shared = (work: typeof state | typeof code) => (request: Request) =>
        Effect.map(below(work)(request), HttpServerResponse.setHeader("access-control-allow-origin", "*"))
      yield* router.add("GET", "/pay/:id/state", shared(state))
      yield* router.add("GET", "/pay/:id/qr", shared(code))
      yield* router.add("GET", "/pay/:id/receipt", below(receipt))
      yield* router.add("POST", "/pay/:id/renew", below(renew))
      yield* router.add("POST", "/pay/:id/answer", below(answered))
      yield* router.add("POST", "/pay/:id/sandbox", below(pay))
    })
  )

/** Serves checkout pages. `proxies` is the same as in `Lnurl.extension`. */
export const extension = (proxies = 0) =>
  Extension.make(routes(proxies), {
    // Allow for streams that lost their slot, because they end a moment later.
    maxStreams: 2 * streams.most
  })
