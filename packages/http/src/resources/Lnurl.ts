import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as Id from "@satrail/core/base/Id"
import type { StoreUnavailable } from "@satrail/core/ledger/Journal"
import type { Place } from "@satrail/core/receiving/PayRequest"
import { payerDataFields } from "@satrail/core/receiving/PayRequest"
import { PayRequests } from "@satrail/core/receiving/PayRequests"
import { Effect } from "effect"
import { HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { addressOf } from "../wire/Address.ts"
import { onlyOnce } from "../wire/Decoding.ts"
import type * as Extension from "../edge/Extension.ts"
import { admitting, RequestRates } from "../edge/RequestRates.ts"

// Wallets' requests to Lightning addresses (LUD-06, 09, 12, 16, 18, 21, NIP-57). Errors also have status 200
// and LNURL's own format, because wallets ignore status and headers (LUD-01).

const own = ["/.well-known/lnurlp/*", "/lnurlp/*"] as const

/**
 * Web pages from any origin can send requests, because browser wallets need this (LUD-01). Wallets insert
 * handles into a path and may percent-encode their letters.
 */
export const policy: Partial<Extension.Policy> = { cors: "any", allowsEscapedLetters: true }

export const json = (body: object) =>
  HttpServerResponse.text(JSON.stringify(body), { contentType: "application/json" })

/** Returns an LNURL error. The reason is for the wallet's user. */
export const error = (reason: string) => json({ status: "ERROR", reason })

/** Returns an error if one of these parameters is repeated, because a proxy or the wallet could read another one. */
export const repetition = (query: URLSearchParams, names: ReadonlyArray<string>) => {
  const name = names.find((one) => query.getAll(one).length > 1)
  return name === undefined ? undefined : error(`${name} ${onlyOnce}`)
}

// Largest exact JSON number: 90 000 bitcoin, in msat.
const maxNumber = BigInt(Number.MAX_SAFE_INTEGER)
export const number = (msat: bigint): number => Number(msat < maxNumber ? msat : maxNumber)

const payerData = Object.fromEntries(payerDataFields.map((name) => [name, { mandatory: false }]))

type Route =
  | { readonly _tag: "Offer"; readonly place: Place }
  | { readonly _tag: "Callback"; readonly place: Place; readonly query: URLSearchParams }
  | { readonly _tag: "Verify"; readonly place: Place; readonly paymentHash: PaymentHash.PaymentHash }

const decode = (segment: string): string => {
  try {
    return decodeURIComponent(segment)
  } catch {
    return ""
  }
}

/**
 * Parses a query. A form and `axios` write a space as a plus sign, and encode every slash and at sign. If one of these is
 * left, or a space is `%20`, as by `encodeURI` and on iOS, a plus sign stands for itself: wallets hash payer data, and
 * sign zap requests.
 */
const parametersOf = (query: string) =>
  new URLSearchParams(/%20|[/@]/.test(query) ? query.replaceAll("+", "%2B") : query)

/**
 * Returns the requested route and recipient. Only `Host` determines the domain, because any client can add
 * headers such as `X-Forwarded-Host`.
 */
const routeOf = ({ url, headers }: HttpServerRequest.HttpServerRequest): Route | undefined => {
  const host = headers["host"] ?? ""
  const query = url.indexOf("?")
  const [, first, ...rest] = (query < 0 ? url : url.slice(0, query)).split("/").map(decode)
  if (first === ".well-known") {
    const [, user = "", ...more] = rest
    return more.length === 0 ? { _tag: "Offer", place: { host, domain: null, user } } : undefined
  }
  const [domain = "", user = "", what, paymentHash, ...more] = rest
  const place = { host, domain, user }
  if (what === undefined) return { _tag: "Offer", place }
  if (what === "callback" && paymentHash === undefined) {
    return { _tag: "Callback", place, query: parametersOf(query < 0 ? "" : url.slice(query)) }
  }
  return what === "verify" && paymentHash !== undefined && more.length === 0
    ? { _tag: "Verify", place, paymentHash: PaymentHash.make(paymentHash) }
    : undefined
}

const answer = Effect.fnUntraced(function* (
  payRequests: PayRequests["Service"],
  route: Route,
  caller: string
) {
  switch (route._tag) {
    case "Offer": {
      const { minSendable, maxSendable, nostrPubkey, ...shown } = yield* payRequests.offer(route.place)
      return json({
        tag: "payRequest",
        ...shown,
        minSendable: number(minSendable),
        maxSendable: number(maxSendable),
        payerData,
        ...(nostrPubkey !== null && { allowsNostr: true, nostrPubkey })
      })
    }
    case "Callback": {
      const repeated = repetition(route.query, ["amount", "comment", "payerdata", "nostr"])
      if (repeated !== undefined) return repeated
      const { invoice, successMessage, verify } = yield* payRequests.invoice(route.place, {
        amount: route.query.get("amount"),
        comment: route.query.get("comment"),
        payerData: route.query.get("payerdata"),
        nostr: route.query.get("nostr"),
        caller
      })
      return json({
        pr: invoice.paymentRequest,
        routes: [],
        disposable: false,
        ...(successMessage !== null && { successAction: { tag: "message", message: successMessage } }),
        verify
      })
    }
    case "Verify": {
      const { status, preimage, paymentRequest } = yield* payRequests.verify(route.place, route.paymentHash)
      const settled = status === "settled"
      return json({ status: "OK", settled, preimage: settled ? preimage : null, pr: paymentRequest })
    }
  }
})

/**
 * Responds with an LNURL error even if the request crashed or the store is unavailable. `away` is the reason
 * given while the store is unavailable.
 */
export const unbroken =
  (away: string) =>
  <R>(answer: Effect.Effect<HttpServerResponse.HttpServerResponse, StoreUnavailable, R>) =>
    answer.pipe(
      Effect.catchTag("StoreUnavailable", (cause) =>
        Effect.as(Effect.logWarning("LNURL: store unavailable", cause), error(away))
      ),
      Effect.catchDefect((defect) =>
        Effect.gen(function* () {
          const reference = yield* Id.make
          yield* Effect.logError("LNURL: request crashed", { reference }, defect)
          return error(`Internal error. Reference: ${reference}`)
        })
      )
    )

const routes = (proxies: number) =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      const payRequests = yield* PayRequests
      const admitted = admitting((yield* RequestRates).ofStranger, ({ message }) => error(message))
      const context = yield* Effect.context<never>()

      const handle = (request: HttpServerRequest.HttpServerRequest) => {
        const route = routeOf(request)
        if (route === undefined) return Effect.succeed(error("There is nothing here"))
        return admitted(request, answer(payRequests, route, addressOf(request, proxies))).pipe(
          Effect.catchTag("PayRequestRefused", ({ message }) => Effect.succeed(error(message))),
          Effect.catchTags({
            NodeUnavailable: (cause) =>
              Effect.as(Effect.logWarning("LNURL: no invoice from the node", cause), error(away)),
            Conflict: () => Effect.succeed(error(away))
          }),
          unbroken(away),
          Effect.provideContext(context)
        )
      }
      for (const path of own) yield* router.add("GET", path, handle)
    })
  )

/**
 * Routes for all Lightning addresses. `proxies` is the number of the operator's reverse proxies, each of which
 * appends to `X-Forwarded-For`.
 */
export const extension = (proxies = 0) => ({ routes: routes(proxies), policy })

const away = "The service cannot receive payments right now. Try again soon"
