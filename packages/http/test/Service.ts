import * as Msat from "@satrail/bitcoin/Msat"
import * as Nostr from "@satrail/bitcoin/Nostr"
import type * as ApiKey from "@satrail/core/accounts/ApiKey"
import { ApiKeys } from "@satrail/core/accounts/ApiKeys"
import { Companies } from "@satrail/core/accounts/Companies"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import { Place } from "@satrail/core/features/wallet-connect/WalletConnections"
import type { Plan } from "@satrail/core/accounts/Plan"
import { made } from "@satrail/core/ledger/Answer"
import * as Policy from "@satrail/core/service/Policy"
import { ChainDeposits } from "@satrail/core/receiving/ChainDeposits"
import { Settlements } from "@satrail/core/receiving/Settlements"
import * as Satrail from "@satrail/core/service/Satrail"
import { PaymentWorker } from "@satrail/core/sending/PaymentWorker"
import { Poster, type Posted } from "@satrail/core/features/webhooks/Ports"
import * as Memory from "@satrail/memory/Memory"
import * as FixedRates from "@satrail/sandbox/FixedRates"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import * as OpenApi from "@satrail/testing/OpenApi"
import { Clock, Context, Effect, Layer, Logger, ManagedRuntime, Redacted, References } from "effect"
import type { HttpRouter } from "effect/http"
import { OperatorToken } from "../src/api/Authentication.ts"
import type { Code } from "../src/features/Catalogue.ts"
import * as Http from "../src/Http.ts"
import { type Check, Readiness } from "../src/api/Readiness.ts"
import * as Seal from "../src/wire/Seal.ts"
import { WaitMillis } from "../src/features/webhooks/WebhookTest.ts"
import * as WebhookKeys from "../src/features/webhooks/WebhookKeys.ts"

export const operatorToken = "an operator's token"
export const domain = "pay.example.com"

/** An answer, read. A body that is not JSON is null here, and fails whoever looks into it. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: {
    readonly status: number
    readonly message: string
    // The point of these tests is what is in there: each looks for itself.
    // oxlint-disable-next-line typescript/no-explicit-any -- see above
    readonly data: any
    readonly error?: {
      readonly code: string
      readonly issues?: ReadonlyArray<{ readonly path: string; readonly message: string; readonly place?: object }>
      readonly doc_url?: string
      readonly request_id?: string
      readonly available_sats?: number
      readonly needed_sats?: number
      readonly limit?: string
      readonly remaining_sats?: number
      readonly fee_sats?: number
      readonly frees_at?: string | null
    }
  }
}

/** What a caller acts on in a bad answer. */
export const seen = ({ status, headers, body }: Answer) => ({
  status,
  type: headers.get("content-type")?.split(";")[0],
  inBody: body?.status,
  data: body?.data,
  code: body?.error?.code
})

/** What a bad answer must be seen to be. */
export const bad = (status: number, code: Code) => ({ status, type: "application/json", inBody: status, data: null, code })

export interface Ask {
  readonly key?: string
  /** As it is when a string, as JSON otherwise. */
  readonly body?: unknown
  readonly headers?: Record<string, string>
}

/** What a test may change. */
export interface Options {
  readonly http?: Http.Options<never, HttpRouter.HttpRouter | Layer.Success<ReturnType<typeof Satrail.layer>>>
  /** What surrounds requests in the host's process. */
  readonly around?: Layer.Layer<never>
  readonly checks?: ReadonlyArray<Check>
  readonly operatorToken?: Redacted.Redacted | undefined
  readonly settings?: Partial<Policy.Settings>
  readonly nostrKey?: Redacted.Redacted
  /** What answers with a secret in them are sealed with. */
  readonly sealer?: Seal.Sealer | undefined
  /** The storage ports; in memory unless given. */
  readonly storage?: typeof Memory.layer
  /** How long a test of a webhook endpoint waits. Short unless given, since workers run only when a test says so. */
  readonly webhookTestMillis?: number
  /** Services of the core that take the place of the real ones. */
  readonly instead?: Context.Context<never>
}

/** Webhooks go nowhere: what would have been sent is here. Nothing listens at down.example, and error.example answers 500. */
export const posted = {
  requests: new Array<{ readonly url: string; readonly headers: Readonly<Record<string, string>>; readonly body: string }>(),
  poster: {
    issue: (url: string) => (/^https:\/\/[\w.]+\.example(\/|$)/.test(url) ? undefined : "An https URL of a public host"),
    post: (ask: { readonly url: string; readonly headers: Readonly<Record<string, string>>; readonly body: string }) =>
      Effect.sync((): Posted => {
        posted.requests.push(ask)
        if (ask.url.startsWith("https://down.example")) return { _tag: "Unanswered", reason: "connection refused" }
        return { _tag: "Answered", status: ask.url.startsWith("https://error.example") ? 500 : 204, body: "", retryAfter: null }
      })
  }
}

/** The time of requests stands still, so that no rate gives back what a test has used up. Whoever sleeps wakes up nevertheless. */
export const stillTime: Layer.Layer<never> = Layer.effect(
  Clock.Clock,
  Effect.map(Clock.Clock, (clock): Clock.Clock => {
    const atMillis = clock.currentTimeMillisUnsafe()
    return {
      currentTimeMillisUnsafe: () => atMillis,
      currentTimeMillis: Effect.succeed(atMillis),
      currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe(),
      currentTimeNanos: clock.currentTimeNanos,
      monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
      monotonicTimeNanos: clock.monotonicTimeNanos,
      sleep: (duration) => clock.sleep(duration)
    }
  })
)

/**
 * Waits for the next millisecond. What a test does one after the other is so in time too: ids of one millisecond have any order, a list is in the order of its
 * ids, and what a period ends with is what was booked before its last millisecond.
 */
export const nextMillisecond = async (): Promise<void> => {
  const now = Date.now()
  while (Date.now() === now) await new Promise(setImmediate)
}

// What is on its way is looked at whenever a test lets the workers work.
const services = ({ settings, nostrKey, storage = Memory.layer }: Options) =>
  Satrail.layer({ ...Policy.defaults, network: "regtest", domain, trackMillis: { minimum: 0, maximum: 0 }, ...settings }).pipe(
    Layer.provideMerge(Layer.mergeAll(storage, FixedRates.layer(), Sandbox.layer({ seed: "http", network: "regtest" }))),
    Layer.provide(Layer.merge(Layer.succeed(Poster, posted.poster), WebhookKeys.layer(Redacted.make("what keeps webhooks' secrets")))),
    Layer.provide([
      Layer.succeed(Nostr.SecretKey, nostrKey),
      Layer.succeed(Place, { relays: ["wss://relay.example.com"], secretKey: Redacted.make("21".repeat(32)) })
    ])
  )

/** The whole service in memory, and a function to ask it over its web handler. Workers run when a test says so. */
export const start = async (options: Options = {}) => {
  // What is logged: each call's arguments and annotations, in one text.
  const logged: Array<string> = []
  const logger = Logger.layer([
    Logger.make(({ message, cause, fiber }) => {
      const said = JSON.stringify(message, (_, value) => (typeof value === "bigint" ? String(value) : value))
      logged.push(`${said} ${JSON.stringify(cause)} ${JSON.stringify(fiber.getRef(References.CurrentLogAnnotations))}`)
    })
  ])
  const runtime = ManagedRuntime.make(Layer.provideMerge(services(options), logger))
  const context = await runtime.context()
  const { handler, dispose } = Http.webHandler(
    Layer.merge(Http.layer(options.http), options.around ?? Layer.empty).pipe(
      Layer.provide(Layer.succeed(OperatorToken, "operatorToken" in options ? options.operatorToken : Redacted.make(operatorToken))),
      Layer.provide(Layer.succeed(Seal.Seal, "sealer" in options ? options.sealer : Seal.make(Redacted.make("what seals answers")))),
      Layer.provide(Layer.succeed(Readiness, options.checks ?? [])),
      Layer.provide(Layer.succeed(WaitMillis, options.webhookTestMillis ?? 20)),
      Layer.provide(WebhookKeys.layer(Redacted.make("what keeps webhooks' secrets"))),
      Layer.provide(Layer.succeedContext(Context.merge(context, options.instead ?? Context.empty()))),
      Layer.provide(logger)
    )
  )
  const run: typeof runtime.runPromise = async (effect, options) => {
    await nextMillisecond()
    return runtime.runPromise(effect, options)
  }

  const send = async (request: Request): Promise<Answer> => {
    await nextMillisecond()
    const response = await handler(request)
    const text = await OpenApi.textOf(response)
    const isJson = response.headers.get("content-type")?.startsWith("application/json") === true
    return { status: response.status, headers: response.headers, text, body: isJson && text !== "" ? JSON.parse(text) : null }
  }

  const ask = (method: string, path: string, { key, body, headers = {} }: Ask = {}) =>
    send(
      new Request(`http://service${path}`, {
        method,
        headers: {
          ...(key !== undefined && { authorization: `Bearer ${key}` }),
          ...(body !== undefined && { "content-type": "application/json" }),
          ...headers
        },
        ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) })
      })
    )

  /** A company with a key for these scopes. */
  const company = (plan: Plan = "paid", ...scopes: ReadonlyArray<ApiKey.Scope>) =>
    run(
      Effect.gen(function* () {
        const opened = yield* (yield* Companies).open({ name: "Example Ltd", plan })
        if (opened._tag !== "Made") return yield* Effect.die("a company without an idempotency key cannot be a replay")
        const id = opened.value.id
        const { issue } = yield* ApiKeys
        const asked = { companyId: id, name: "test", scopes: scopes.length === 0 ? (["admin"] as const) : scopes, expiresAtMillis: null }
        const { text } = yield* Effect.flatMap(issue(asked), made)
        return { id, key: Redacted.value(text) }
      })
    )

  /** Another key of a company. */
  const keyFor = (companyId: CompanyId.CompanyId, ...scopes: ReadonlyArray<ApiKey.Scope>) =>
    run(
      Effect.gen(function* () {
        const { issue } = yield* ApiKeys
        const { text } = yield* Effect.flatMap(issue({ companyId, name: "test", scopes, expiresAtMillis: null }), made)
        return Redacted.value(text)
      })
    )

  const sandbox = <A, E>(use: (sandbox: Sandbox.Sandbox["Service"]) => Effect.Effect<A, E>) => run(Effect.flatMap(Sandbox.Sandbox, use))

  /** What the workers do, once: credits what was paid, sends what was confirmed. */
  const work = () =>
    run(
      Effect.gen(function* () {
        yield* (yield* Settlements).poll
        yield* (yield* ChainDeposits).follow()
        const worker = yield* PaymentWorker
        // A held payment is due again at once, so this ends after a while whatever there is.
        for (let i = 0; i < 8; i++) yield* worker.step
      })
    )

  /** Somebody outside pays the company over Lightning. Answers the paid invoice's id. */
  const fund = async (key: string, sats: number): Promise<string> => {
    const { body } = await ask("POST", "/v1/bitcoin/deposit/lightning-invoice", { key, body: { amount: sats, currency: "sats" } })
    await sandbox((sandbox) => sandbox.pay({ paymentRequest: body.data.payment_request }))
    await work()
    return body.data.id
  }

  /** A second operator approves a key that was issued or rotated for a company with money. */
  const approve = async (keyId: string): Promise<void> => {
    const body = { name: "second operator", scopes: ["companies"] }
    const { token } = (await ask("POST", "/operator/tokens", { key: operatorToken, body })).body.data
    await ask("POST", `/operator/api-keys/${keyId}/approve`, { key: token })
  }

  /** A Lightning address of a company's: as its payers write it. */
  const lightningAddress = async (key: string, handle: string, domain = ""): Promise<string> => {
    const { body } = await ask("POST", "/v1/bitcoin/deposit/lightning-address", { key, body: { handle, domain } })
    return body.data.address
  }

  /** The record of a Lightning address of a company's. */
  const record = async (key: string, address: string) => {
    const { body } = await ask("GET", "/v1/bitcoin/deposit/lightning-address", { key })
    const { data } = body
    return data.find((row: { readonly address: string }) => row.address === address)
  }

  return {
    /** Every service, for whoever mounts them otherwise. */
    context,
    lightningAddress,
    record,
    ask,
    send,
    handler,
    logged,
    company,
    keyFor,
    approve,
    sandbox,
    work,
    fund,
    run,
    sats: Msat.fromSats,
    dispose: async () => {
      await dispose()
      await runtime.dispose()
    }
  }
}
