import { decodeCard } from "@satrail/bitcoin/Lnurl"
import * as Msat from "@satrail/bitcoin/Msat"
import * as JsonText from "@satrail/core/base/JsonText"
import * as Throttle from "@satrail/core/base/Throttle"
import type { Reader } from "@satrail/core/nodes/Cards"
import type { State } from "@satrail/ui/checkout/State"
import { Clock, Effect, Option, Result, Schema } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { callerOf } from "./Address.ts"
import * as Errors from "./Errors.ts"

/** How often cards are tried, in one process: in a minute for one checkout, for one address and in all, and how many servers of cards are asked at once. */
export const limits = { perCheckout: 6, perAddress: 20, inAll: 300, atOnce: 20, linkCharacters: 2000 } as const

const Body = Schema.Struct({ link: Schema.String.check(Schema.isMaxLength(limits.linkCharacters)) })

const failed = (failure: Errors.Failure) => HttpServerResponse.jsonUnsafe(failure, { status: failure.status })
const closed = failed(Errors.failure("conflict", "Nothing is to be paid here now with an invoice over an amount"))
const tooMany = failed(Errors.failure("rate_limited", "Cards were tried too often: try again in a minute"))
const wrong = (message: string) => failed(Errors.malformedRequest([{ path: "link", message }]))

/** What has a card's server pay the invoice of a checkout that stands as `asking` says, for whoever has the page. */
export const make = (reader: Reader, proxies: number) => {
  const ofCheckout = Throttle.make(Throttle.perMinute(limits.perCheckout))
  const ofAddress = Throttle.make(Throttle.perMinute(limits.perAddress))
  const ofAll = Throttle.make(Throttle.perMinute(limits.inAll))
  let open = 0

  return Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest, id: string, asking: State["asking"]) {
    const body = Schema.decodeUnknownOption(Body)(JsonText.parsed(yield* Effect.orDie(request.text)))
    if (Option.isNone(body)) return wrong(`The card's link, of up to ${limits.linkCharacters} characters`)
    const url = decodeCard(body.value.link)
    if (Result.isFailure(url)) return wrong(url.failure.message)
    if (asking === null || asking.invoice === null || asking.sats === null) return closed
    const nowMillis = yield* Clock.currentTimeMillis
    const isWithin = ofAddress(callerOf(request, proxies), nowMillis) && ofCheckout(id, nowMillis) && ofAll("", nowMillis)
    if (!isWithin || open >= limits.atOnce) return tooMany
    const invoice = { amount: Msat.fromSats(asking.sats), paymentRequest: asking.invoice }
    const outcome = yield* Effect.acquireUseRelease(
      Effect.sync(() => open++),
      () => reader.charge(url.success, invoice),
      () => Effect.sync(() => open--)
    )
    return HttpServerResponse.jsonUnsafe({ outcome: outcome._tag, reason: outcome._tag === "refused" ? outcome.reason : null })
  })
}
