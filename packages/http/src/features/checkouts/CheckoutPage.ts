import { Companies } from "@satrail/core/accounts/Companies"
import * as Pool from "@satrail/core/base/Pool"
import type * as Checkout from "@satrail/core/features/checkouts/Checkout"
import { Checkouts } from "@satrail/core/features/checkouts/Checkouts"
import { Tail } from "@satrail/core/events/Tail"
import * as Document from "@satrail/ui/checkout/Document"
import { isOver, type State } from "@satrail/ui/checkout/State"
import * as Words from "@satrail/ui/checkout/Words"
import { Clock, Context, Deferred, Effect, Option, Stream } from "effect"
import { HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { addressOf } from "../../wire/Address.ts"
import * as Asset from "../../wire/Asset.ts"
import * as CheckoutState from "./CheckoutState.ts"
import * as Errors from "../../wire/Errors.ts"
import * as Events from "../../wire/Events.ts"
import * as Extension from "../../edge/Extension.ts"
import { answer, files, json } from "../../edge/PaymentPage.ts"
import { admitting, RequestRates } from "../../edge/RequestRates.ts"
import { Seal } from "../../wire/Seal.ts"
import { Refunded } from "./Refunded.ts"
import * as Ui from "../../edge/Ui.ts"

/** Maximum number of pages that one process streams changes to. Beyond it the largest holder loses its oldest stream, and that page reconnects. */
export const streams = { most: 1000, perCaller: 50, per: { company: 250, checkout: 20 } } as const

/** After how long without an event a page is told how deep a payment is, or that its time is over. */
export const lookMillis = 5000

// Many events of a company are one look.
const gapMillis = 200
const retryMillis = 2000

/** Pays a checkout from the sandbox. */
export interface SandboxPayer {
  readonly pay: (checkout: Checkout.Shown, way: "lightning" | "chain") => Effect.Effect<void, { readonly message: string }>
}

/** Where all money is simulated, the page has a button that pays. Nobody unless given. */
export const Payer = Context.Reference<SandboxPayer | undefined>("@satrail/http/features/checkouts/CheckoutPage/Payer", {
  defaultValue: () => undefined
})

const notFound = json(Errors.failure("not_found", "There is no such payment"))
const away = json(Errors.failure("store_unavailable", "The service cannot answer at the moment"))

/** What has changed for a payer: not the time. */
const fingerprint = (state: State): string => JSON.stringify({ ...state, nowMillis: 0 })

/** Where a checkout stands now, for its payer. */
const reading = Effect.gen(function* () {
  const checkouts = yield* Checkouts
  const refunded = yield* Refunded
  const seal = yield* Seal
  return Effect.fnUntraced(function* (id: string) {
    const checkout = yield* checkouts.open(id)
    const { companyId } = checkout
    const besides = {
      confirmations: yield* checkouts.depth(checkout),
      refunds: yield* refunded(checkout, (sealed) => seal?.open(sealed, companyId))
    }
    const state = CheckoutState.stateOf(checkout, besides, yield* Clock.currentTimeMillis)
    return { checkout, state }
  })
})

const routes = (proxies: number) =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      const read = yield* reading
      const tail = yield* Tail
      const payer = yield* Payer
      const companies = yield* Companies
      const context = yield* Effect.context<never>()
      const admitted = admitting((yield* RequestRates).ofStranger, json)
      const open = Pool.make<Deferred.Deferred<void>, "company" | "checkout">(streams)

      const shown = Effect.fnUntraced(function* (id: string) {
        const { checkout, state } = yield* read(id)
        const page = CheckoutState.pageOf(checkout, {
          isSandbox: payer !== undefined,
          seller: (yield* companies.get(checkout.companyId)).name
        })
        return answer(Document.page(page, state, files(checkout.color)), 200, checkout.embedOrigin)
      })

      /** Where it stands, at once and whenever that changes, until it changes no more. */
      const told = (id: string, { companyId }: Checkout.Shown) =>
        Stream.unwrap(
          Effect.map(tail.listen(companyId), (more) =>
            Stream.paginate("", (before: string) =>
              Effect.gen(function* () {
                if (before !== "") yield* Effect.andThen(Effect.sleep(gapMillis), Effect.race(more, Effect.sleep(lookMillis)))
                const { state } = yield* read(id)
                const now = fingerprint(state)
                const events = now === before ? [] : [{ event: "state", data: JSON.stringify(state) }]
                return [events, isOver(state) ? Option.none<string>() : Option.some(now)] as const
              })
            )
          )
        )

      /** The stream, which ends where somebody else needs its place more. */
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

      const state = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest, id: string) {
        const { checkout, state } = yield* read(id)
        if (request.headers["accept"]?.includes("text/event-stream") !== true) return HttpServerResponse.jsonUnsafe(state)
        const states = Stream.catchCause(told(id, checkout), (cause) =>
          // The page comes back by itself.
          Stream.drain(Stream.fromEffect(Effect.logWarning("checkout page: a stream ended", cause)))
        )
        return Events.answer(counted(checkout, addressOf(request, proxies), states), { retryMillis })
      })

      const pay = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest, id: string) {
        if (payer === undefined) return notFound
        const { checkout } = yield* read(id)
        const way = request.url.endsWith("?way=chain") ? "chain" : "lightning"
        return yield* Effect.match(payer.pay(checkout, way), {
          onSuccess: () => HttpServerResponse.empty({ status: 204 }),
          onFailure: ({ message }) => json(Errors.failure("conflict", message))
        })
      })

      const embed = yield* Effect.cached(Effect.uninterruptible(Ui.stable("embed.js")))
      yield* router.add(
        "GET",
        "/pay/embed.js",
        Effect.flatMap(embed, (asset) => Asset.answer(asset))
      )
      yield* router.add("GET", "/pay/:id", (request) => {
        const locale = Words.accepted(request.headers["accept-language"])
        return Effect.flatMap(HttpRouter.params, ({ id = "" }) =>
          Effect.catchTags(admitted(request, shown(id)), {
            NotFound: () => Effect.succeed(answer(Document.told(locale, "unknown", files()), 404)),
            StoreUnavailable: (outage) =>
              Effect.as(Effect.logWarning("checkout page: not read", outage), answer(Document.told(locale, "away", files()), 503))
          })
        )
      })
      const below = (work: typeof state | typeof pay) => (request: HttpServerRequest.HttpServerRequest) =>
        Effect.flatMap(HttpRouter.params, ({ id = "" }) =>
          admitted(request, work(request, id)).pipe(
            Effect.catchTags({ NotFound: () => Effect.succeed(notFound), StoreUnavailable: () => Effect.succeed(away) }),
            Effect.provideContext(context)
          )
        )
      yield* router.add("GET", "/pay/:id/state", below(state))
      yield* router.add("POST", "/pay/:id/sandbox", below(pay))
    })
  )

/** The pages on which checkouts are paid. `proxies` as in `Lnurl.extension`. */
export const extension = (proxies = 0) =>
  Extension.make(routes(proxies), {
    // Those that lost their places end a moment later.
    maxStreams: 2 * streams.most
  })
