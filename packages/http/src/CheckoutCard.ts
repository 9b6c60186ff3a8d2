import { decodeCard } from "@satrail/bitcoin/Lnurl"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Characters from "@satrail/core/base/Characters"
import * as JsonText from "@satrail/core/base/JsonText"
import * as Pool from "@satrail/core/base/Pool"
import * as Throttle from "@satrail/core/base/Throttle"
import type * as Checkout from "@satrail/core/receiving/Checkout"
import type { Reader } from "@satrail/core/nodes/Cards"
import type { State } from "@satrail/ui/checkout/State"
import { Clock, Deferred, Effect, Option, Result, Schema } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { addressOf } from "./Address.ts"
import * as Errors from "./Errors.ts"

/** How often one process tries cards, a minute: for one checkout, for one caller, and in all (a rate that callers share). */
export const limits = { perCheckout: 6, perCaller: 20, inAll: 300, linkCharacters: 2000 } as const

/** Maximum number of requests to card servers per process. Beyond it the largest holder's oldest request is abandoned. */
export const asked = { most: 20, perCaller: 3, per: { company: 10 } } as const

const Body = Schema.Struct({ link: Schema.String.check(Characters.atMost(limits.linkCharacters)) })

const failed = (failure: Errors.Failure) => HttpServerResponse.jsonUnsafe(failure, { status: failure.status })
const closed = failed(Errors.failure("conflict", "Nothing is to be paid here now with an invoice over an amount"))
const tooMany = failed(Errors.failure("rate_limited", "Cards were tried too often: try again in a minute"))
const wrong = (message: string) => failed(Errors.malformedRequest([{ path: "link", message }]))

/** What has a card's server pay the invoice of a checkout that stands as `asking` says, for whoever has the page. */
export const make = (reader: Reader, proxies: number) => {
  const ofCheckout = Throttle.make(Throttle.perMinute(limits.perCheckout))
  const ofCaller = Throttle.callers(Throttle.perMinute(limits.perCaller))
  const ofAll = Throttle.shared(Throttle.perMinute(limits.inAll))
  const open = Pool.make<Deferred.Deferred<void>, "company">(asked)

  return Effect.fnUntraced(function* (
    request: HttpServerRequest.HttpServerRequest,
    { id, companyId }: Pick<Checkout.Checkout, "id" | "companyId">,
    asking: State["asking"]
  ) {
    const body = Schema.decodeUnknownOption(Body)(JsonText.parsed(yield* Effect.orDie(request.text)))
    if (Option.isNone(body)) return wrong(`The card's link, of up to ${limits.linkCharacters} characters`)
    const url = decodeCard(body.value.link)
    if (Result.isFailure(url)) return wrong(url.failure.message)
    if (asking === null || asking.invoice === null || asking.sats === null) return closed
    const nowMillis = yield* Clock.currentTimeMillis
    const caller = addressOf(request, proxies)
    if (!ofCaller(caller, nowMillis).isWithin || !ofCheckout(id, nowMillis) || !ofAll("", caller, nowMillis)) return tooMany
    const invoice = { amount: Msat.fromSats(asking.sats), paymentRequest: asking.invoice }
    const outcome = yield* Effect.acquireUseRelease(
      Effect.gen(function* () {
        const lost = yield* Deferred.make<void>()
        for (const other of open.take({ caller, of: { company: companyId } }, lost)) yield* Deferred.succeed(other, undefined)
        return lost
      }),
      // The server may pay all the same: then the payment is credited.
      (lost) => Effect.raceFirst(reader.charge(url.success, invoice), Effect.as(Deferred.await(lost), { _tag: "unknown" as const })),
      (lost) => Effect.sync(() => open.release(lost))
    )
    return HttpServerResponse.jsonUnsafe({ outcome: outcome._tag, reason: outcome._tag === "refused" ? outcome.reason : null })
  })
}
