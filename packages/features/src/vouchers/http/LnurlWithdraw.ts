import { Vouchers } from "../core/Vouchers.ts"
import { Effect } from "effect"
import { HttpRouter, type HttpServerRequest } from "effect/http"
import { addressOf } from "@satrail/http/wire/Address"
import { error, json, number, policy, repetition, unbroken } from "@satrail/http/resources/Lnurl"
import { admitting, RequestRates } from "@satrail/http/edge/RequestRates"

// Wallets' voucher requests (LUD-03), in the formats of Lnurl.ts.

const paths = { offer: "/lnurlw", callback: "/lnurlw/callback" } as const

const routes = (proxies: number) =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      const vouchers = yield* Vouchers
      const admitted = admitting((yield* RequestRates).ofStranger, ({ message }) => error(message))
      const context = yield* Effect.context<never>()

      const offer = Effect.fnUntraced(function* (k1: string) {
        const {
          voucher: { amount, description },
          callback
        } = yield* vouchers.offer(k1)
        return json({
          tag: "withdrawRequest",
          callback,
          k1,
          defaultDescription: description,
          minWithdrawable: number(amount),
          maxWithdrawable: number(amount)
        })
      })
      const claim = Effect.fnUntraced(function* (k1: string, pr: string, caller: string) {
        yield* vouchers.claim({ k1, pr, caller })
        return json({ status: "OK" })
      })
      const answer = (
        request: HttpServerRequest.HttpServerRequest,
        work: (query: URLSearchParams) => ReturnType<typeof offer> | ReturnType<typeof claim>
      ) => {
        const query = new URLSearchParams(/\?.*/.exec(request.url)?.[0])
        const repeated = repetition(query, ["k1", "pr"])
        return admitted(request, repeated === undefined ? work(query) : Effect.succeed(repeated)).pipe(
          Effect.catchTag("VoucherRefused", ({ message }) => Effect.succeed(error(message))),
          unbroken("The service cannot pay right now. Try again soon"),
          Effect.provideContext(context)
        )
      }
      yield* router.add("GET", paths.offer, (request) =>
        answer(request, (query) => offer(query.get("k1") ?? ""))
      )
      yield* router.add("GET", paths.callback, (request) =>
        answer(request, (query) =>
          claim(query.get("k1") ?? "", query.get("pr") ?? "", addressOf(request, proxies))
        )
      )
    })
  )

/** Routes for all vouchers. `proxies` is the same as in `Lnurl.extension`. */
export const extension = (proxies = 0) => ({ routes: routes(proxies), policy })
