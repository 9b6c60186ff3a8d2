import { Companies } from "@satrail/core/accounts/Companies"
import { ApiKeys } from "@satrail/core/accounts/ApiKeys"
import { PlatformKeys } from "@satrail/features/platform/core/PlatformKeys"
import * as Dispatcher from "@satrail/features/webhooks/core/Dispatcher"
import { Poster, type Posted } from "@satrail/core/nodes/Poster"
import { made } from "@satrail/core/ledger/Answer"
import { Settlements } from "@satrail/core/receiving/Settlements"
import { PaymentWorker } from "@satrail/core/sending/PaymentWorker"
import * as Policy from "@satrail/core/service/Policy"
import * as Satrail from "@satrail/service/core/Satrail"
import { OperatorToken } from "@satrail/http/api/Authentication"
import { Readiness } from "@satrail/http/api/Readiness"
import * as Http from "@satrail/service/http/Http"
import * as WebhookKeys from "@satrail/features/webhooks/http/WebhookKeys"
import * as EventBody from "@satrail/service/http/events/EventBody"
import * as Seal from "@satrail/http/wire/Seal"
import * as Memory from "@satrail/service/memory/Memory"
import * as FixedRates from "@satrail/sandbox/FixedRates"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import { Effect, Exit, Layer, ManagedRuntime, Redacted, Scope } from "effect"
import { over } from "../src/Client.ts"
import type { Options, World } from "../src/Transport.ts"

export const operatorToken = "an operator's token"
export const url = "http://service.example"

/** A webhook sent by the service. */
export interface Sent {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/**
 * The whole service in memory, and clients whose `fetch` is its web handler. Workers run only when a test
 * runs them.
 */
export const start = async ({ isSealing = true }: { readonly isSealing?: boolean } = {}) => {
  const sent: Array<Sent> = []
  const poster = Layer.succeed(Poster, {
    issue: () => undefined,
    post: ({ headers, ...ask }: Omit<Sent, "headers"> & { readonly headers: () => Sent["headers"] }) =>
      Effect.sync((): Posted => {
        sent.push({ ...ask, headers: headers() })
        return { _tag: "Answered", status: 204, body: "", retryAfter: null }
      })
  })
  const webhooks = Layer.merge(poster, WebhookKeys.layer(Redacted.make("what keeps webhooks' secrets")))
  const services = Satrail.layer({
    ...Policy.defaults,
    network: "regtest",
    domain: "pay.example.com",
    trackMillis: { minimum: 0, maximum: 0 }
  }).pipe(
    Layer.provideMerge(
      Layer.mergeAll(Memory.layer, FixedRates.layer(), Sandbox.layer({ seed: "client", network: "regtest" }))
    ),
    Layer.provideMerge(webhooks)
  )
  const scope = Scope.makeUnsafe()
  const runtime = ManagedRuntime.make(services)
  const context = await runtime.context()
  const { handler, dispose } = Http.webHandler(
    Http.layer().pipe(
      Layer.provide(Layer.succeed(OperatorToken, Redacted.make(operatorToken))),
      Layer.provide(
        Layer.succeed(Seal.Seal, isSealing ? Seal.make(Redacted.make("what seals responses")) : undefined)
      ),
      Layer.provide(Layer.succeed(Readiness, [])),
      Layer.provide(webhooks),
      Layer.provide(Layer.succeedContext(context))
    )
  )
  const run: typeof runtime.runPromise = (effect, options) => runtime.runPromise(effect, options)

  /** A company with an unrestricted key. */
  const company = () =>
    run(
      Effect.gen(function* () {
        const opened = yield* Effect.flatMap(
          (yield* Companies).open({ name: "Example Ltd", plan: "paid" }),
          made
        )
        const { issue } = yield* ApiKeys
        const { text } = yield* Effect.flatMap(
          issue({ companyId: opened.id, name: "test", scopes: ["admin"], expiresAtMillis: null }),
          made
        )
        return { id: opened.id, key: Redacted.value(text) }
      })
    )

  /** A key that acts for all companies. */
  const platformKey = () =>
    run(
      Effect.gen(function* () {
        const { issue } = yield* PlatformKeys
        const { text } = yield* Effect.flatMap(
          issue({ name: "test", scopes: ["admin"], expiresAtMillis: null }),
          made
        )
        return Redacted.value(text)
      })
    )

  /** Intercepts requests before they reach the service. */
  type Fault = (request: Request, pass: () => Promise<Response>) => Promise<Response>

  const clientOf = <M = { readonly [key: string]: string }>(
    options: Partial<Options>,
    fault: Fault = (_, pass) => pass()
  ) => {
    const requests: Array<Request> = []
    const slept: Array<number> = []
    const world: World = {
      sleep: async (millis) => {
        slept.push(millis)
        await new Promise(setImmediate)
      },
      random: () => 0
    }
    const fetch: typeof globalThis.fetch = (input, init) => {
      const request = new Request(input, init)
      requests.push(request.clone())
      return fault(request, () => handler(request))
    }
    return { pay: over<M>({ url, fetch, ...options }, world), requests, slept }
  }

  return {
    sent,
    company,
    platformKey,
    clientOf,
    run,
    handler,
    /** Pays an invoice from an external wallet. */
    payFor: async ({ paymentRequest }: { readonly paymentRequest: string }) => {
      await run(Effect.flatMap(Sandbox.Sandbox, ({ pay }) => pay({ paymentRequest })))
      await run(Effect.flatMap(Settlements, ({ poll }) => poll))
    },
    destination: (behaviour: "settle" | "no_route" = "settle") =>
      run(
        Effect.flatMap(Sandbox.Sandbox, ({ destination }) =>
          destination({ type: "lightning_address", behaviour })
        )
      ),
    work: () => run(Effect.flatMap(PaymentWorker, ({ step }) => step)),
    /** Starts the worker that sends webhooks. */
    deliver: () =>
      run(
        Layer.buildWithScope(Dispatcher.layerWorker, scope).pipe(
          Effect.provide(Layer.merge(EventBody.layer, webhooks))
        )
      ),
    dispose: async () => {
      await run(Scope.close(scope, Exit.void))
      await dispose()
      await runtime.dispose()
    }
  }
}
