import * as Msat from "@satrail/bitcoin/Msat"
import * as Nostr from "@satrail/bitcoin/Nostr"
import type * as ApiKey from "@satrail/core/accounts/ApiKey"
import { ApiKeys } from "@satrail/core/accounts/ApiKeys"
import { Companies } from "@satrail/core/accounts/Companies"
import { expiryMillis } from "@satrail/core/base/ReadCache"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import type { Plan } from "@satrail/core/accounts/Plan"
import { Checkouts } from "@satrail/features/checkouts/core/Checkouts"
import { made } from "@satrail/core/ledger/Answer"
import * as Policy from "@satrail/core/service/Policy"
import { ChainDeposits } from "@satrail/core/receiving/ChainDeposits"
import { Settlements } from "@satrail/core/receiving/Settlements"
import * as Satrail from "@satrail/service/core/Satrail"
import { PaymentWorker } from "@satrail/core/sending/PaymentWorker"
import { Poster, type Posted } from "@satrail/core/nodes/Poster"
import * as Memory from "@satrail/service/memory/Memory"
import * as FixedRates from "@satrail/sandbox/FixedRates"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import * as OpenApi from "@satrail/testing/OpenApi"
import { Clock, Context, Duration, Effect, Layer, Logger, ManagedRuntime, Redacted, References } from "effect"
import type { HttpRouter } from "effect/http"
import { OperatorToken } from "../src/api/Authentication.ts"
import type { Code } from "@satrail/service/http/pages/Catalogue"
import { PublicUrl } from "../src/edge/PublicUrl.ts"
import * as Http from "@satrail/service/http/Http"
import { type Check, Readiness } from "../src/api/Readiness.ts"
import * as Seal from "../src/wire/Seal.ts"
import { references } from "./features/index.ts"
import { WaitMillis } from "@satrail/features/webhooks/http/WebhookTest"
import * as WebhookKeys from "@satrail/features/webhooks/http/WebhookKeys"

export const operatorToken = "an operator's token"
export const domain = "pay.example.com"

/** A parsed response. `body` is null unless it is JSON, so that reading a field of any other body fails the test. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: {
    readonly status: number
    readonly message: string
    // No type, because checking this value is the purpose of each test.
    // oxlint-disable-next-line typescript/no-explicit-any -- see above
    readonly data: any
    readonly error?: {
      readonly code: string
      readonly issues?: ReadonlyArray<{
        readonly path: string
        readonly message: string
        readonly place?: object
      }>
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

/** The parts of an error response that a caller acts on. */
export const seen = ({ status, headers, body }: Answer) => ({
  status,
  type: headers.get("content-type")?.split(";")[0],
  inBody: body?.status,
  data: body?.data,
  code: body?.error?.code
})

/** The fields, headers or parameters that an error response names. */
export const issuePaths = (body: Answer["body"]) => body.error?.issues?.map(({ path }) => path) ?? []

/** The expected value of `seen` for an error response. */
export const bad = (status: number, code: Code) => ({
  status,
  type: "application/json",
  inBody: status,
  data: null,
  code
})

/** The headers that the console's page sends with each request. */
export const fromConsole = { "sec-fetch-site": "same-origin", "x-satrail-console": "1" }

/** The cookie that a response sets. */
export const cookieIn = ({ headers }: Pick<Answer, "headers">): string =>
  headers.get("set-cookie")?.split(";")[0] ?? ""

export interface Ask {
  readonly key?: string
  /** A string is sent unchanged, any other value as JSON. */
  readonly body?: unknown
  readonly headers?: Record<string, string>
}

/** Options of a test's service. */
export interface Options {
  readonly http?: Http.Options<never, HttpRouter.HttpRouter | Layer.Success<ReturnType<typeof Satrail.layer>>>
  /** Wraps requests, as an application that embeds the service may. */
  readonly around?: Layer.Layer<never>
  readonly checks?: ReadonlyArray<Check>
  readonly operatorToken?: Redacted.Redacted | undefined
  readonly settings?: Partial<Policy.Settings>
  readonly nostrKey?: Redacted.Redacted
  /** Seals stored responses that contain a secret. */
  readonly sealer?: Seal.Sealer | undefined
  /** The storage ports. Defaults to memory. */
  readonly storage?: typeof Memory.layer
  /**
   * Timeout of a request that tests a webhook endpoint. The default is short, because workers run only when a
   * test runs them.
   */
  readonly webhookTestMillis?: number
  /** Replaces core's services. */
  readonly instead?: Context.Context<never>
}

/**
 * Records webhooks instead of sending them. Nothing listens at down.example, and error.example returns 500.
 */
export const posted = {
  requests: new Array<{
    readonly url: string
    readonly headers: Readonly<Record<string, string>>
    readonly body: string
  }>(),
  poster: {
    issue: (url: string) =>
      /^https:\/\/[\w.]+\.example(\/|$)/.test(url) ? undefined : "An https URL of a public host",
    post: (ask: {
      readonly url: string
      readonly headers: () => Readonly<Record<string, string>>
      readonly body: string
    }) =>
      Effect.sync((): Posted => {
        posted.requests.push({ ...ask, headers: ask.headers() })
        if (ask.url.startsWith("https://down.example"))
          return { _tag: "Unanswered", reason: "connection refused" }
        return {
          _tag: "Answered",
          status: ask.url.startsWith("https://error.example") ? 500 : 204,
          body: "",
          retryAfter: null
        }
      })
  }
}

/** A clock that shows another time of day. Its sleeps and its monotonic time are those of `clock`. */
export const showing = (clock: Clock.Clock, nowMillis: () => number): Clock.Clock => ({
  currentTimeMillisUnsafe: nowMillis,
  currentTimeMillis: Effect.sync(nowMillis),
  currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe(),
  currentTimeNanos: clock.currentTimeNanos,
  monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
  monotonicTimeNanos: clock.monotonicTimeNanos,
  sleep: (duration) => clock.sleep(duration)
})

/** Stops the clock for requests, so that no rate limit recovers during a test. Sleeps still end. */
export const stillTime: Layer.Layer<never> = Layer.effect(
  Clock.Clock,
  Effect.map(Clock.Clock, (clock) => {
    const atMillis = clock.currentTimeMillisUnsafe()
    return showing(clock, () => atMillis)
  })
)

/**
 * Sets the clock forward instead of waiting until caches expire (core's `awaitCacheExpiry`). Thousands of
 * requests would each wait a quarter of a second.
 */
export const skippingTime: Layer.Layer<never> = Layer.effect(
  Clock.Clock,
  Effect.gen(function* () {
    const clock = yield* Clock.Clock
    let aheadMillis = 0
    const nanos = () => BigInt(aheadMillis) * 1_000_000n
    return {
      currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() + aheadMillis,
      currentTimeMillis: Effect.sync(() => clock.currentTimeMillisUnsafe() + aheadMillis),
      currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe() + nanos(),
      currentTimeNanos: Effect.sync(() => clock.currentTimeNanosUnsafe() + nanos()),
      monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe() + nanos(),
      monotonicTimeNanos: Effect.sync(() => clock.monotonicTimeNanosUnsafe() + nanos()),
      sleep: (duration) => {
        if (Duration.toMillis(duration) !== expiryMillis) return clock.sleep(duration)
        return Effect.andThen(
          Effect.yieldNow,
          Effect.sync(() => void (aheadMillis += expiryMillis))
        )
      }
    } satisfies Clock.Clock
  })
)

/**
 * Waits for the next millisecond, so that a test's steps differ in time. Ids of the same millisecond are in
 * random order, lists are sorted by id, and a period excludes entries posted in its last millisecond.
 */
export const nextMillisecond = async (): Promise<void> => {
  const now = Date.now()
  while (Date.now() === now) await new Promise(setImmediate)
}

// Each time a test runs the workers, they look up all pending payments.
const services = ({ settings, nostrKey, storage = Memory.layer }: Options) =>
  Satrail.layer({
    ...Policy.defaults,
    network: "regtest",
    domain,
    trackMillis: { minimum: 0, maximum: 0 },
    ...settings
  }).pipe(
    Layer.provideMerge(
      Layer.mergeAll(storage, FixedRates.layer(), Sandbox.layer({ seed: "http", network: "regtest" }))
    ),
    Layer.provide(
      Layer.merge(
        Layer.succeed(Poster, posted.poster),
        WebhookKeys.layer(Redacted.make("what keeps webhooks' secrets"))
      )
    ),
    Layer.provide(Layer.succeedContext(Context.add(references, Nostr.SecretKey, nostrKey)))
  )

/**
 * The whole service in memory, and a function that sends requests to its web handler. Workers run only when a
 * test calls `work`.
 */
export const start = async (options: Options = {}) => {
  // Log entries, each with its arguments and annotations in one text.
  const logged: Array<string> = []
  const logger = Logger.layer([
    Logger.make(({ message, cause, fiber }) => {
      const said = JSON.stringify(message, (_, value) => (typeof value === "bigint" ? String(value) : value))
      logged.push(
        `${said} ${JSON.stringify(cause)} ${JSON.stringify(fiber.getRef(References.CurrentLogAnnotations))}`
      )
    })
  ])
  const runtime = ManagedRuntime.make(Layer.provideMerge(services(options), logger))
  const context = await runtime.context()
  const { handler, dispose } = Http.webHandler(
    Layer.merge(Http.layer(options.http), options.around ?? Layer.empty).pipe(
      Layer.provide(
        Layer.succeed(
          OperatorToken,
          "operatorToken" in options ? options.operatorToken : Redacted.make(operatorToken)
        )
      ),
      Layer.provide(Layer.succeed(PublicUrl, `https://${domain}`)),
      Layer.provide(
        Layer.succeed(
          Seal.Seal,
          "sealer" in options ? options.sealer : Seal.make(Redacted.make("what seals answers"))
        )
      ),
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
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson && text !== "" ? JSON.parse(text) : null
    }
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

  /** Signs in to the console with a key or a token, and returns the session's cookie. */
  const signIn = async (credential: string): Promise<string> =>
    cookieIn(await ask("POST", "/console/session", { body: { credential }, headers: fromConsole }))

  /** Opens a page of the console with a session's cookie. */
  const page = async (cookie: string, path: string): Promise<string> =>
    (await send(new Request(`http://service/${path}`, { headers: { cookie } }))).text

  /** Opens a company and issues a key with these scopes. */
  const company = (plan: Plan = "paid", ...scopes: ReadonlyArray<ApiKey.Scope>) =>
    run(
      Effect.gen(function* () {
        const opened = yield* (yield* Companies).open({ name: "Example Ltd", plan })
        if (opened._tag !== "Made")
          return yield* Effect.die("a company without an idempotency key cannot be a replay")
        const id = opened.value.id
        const { issue } = yield* ApiKeys
        const asked = {
          companyId: id,
          name: "test",
          scopes: scopes.length === 0 ? (["admin"] as const) : scopes,
          expiresAtMillis: null
        }
        const { text } = yield* Effect.flatMap(issue(asked), made)
        return { id, key: Redacted.value(text) }
      })
    )

  /** Issues another key for a company. */
  const keyFor = (companyId: CompanyId.CompanyId, ...scopes: ReadonlyArray<ApiKey.Scope>) =>
    run(
      Effect.gen(function* () {
        const { issue } = yield* ApiKeys
        const { text } = yield* Effect.flatMap(
          issue({ companyId, name: "test", scopes, expiresAtMillis: null }),
          made
        )
        return Redacted.value(text)
      })
    )

  const sandbox = <A, E>(use: (sandbox: Sandbox.Sandbox["Service"]) => Effect.Effect<A, E>) =>
    run(Effect.flatMap(Sandbox.Sandbox, use))

  /** Runs an effect with its clock ahead by this many seconds. */
  const ahead = <A, E, R>(seconds: number, effect: Effect.Effect<A, E, R>) =>
    Effect.flatMap(Clock.Clock, (clock) => {
      const atMillis = clock.currentTimeMillisUnsafe() + seconds * 1000
      return Effect.provideService(
        effect,
        Clock.Clock,
        showing(clock, () => atMillis)
      )
    })

  /** Credits received payments and sends confirmed withdrawals. */
  const working = Effect.gen(function* () {
    yield* (yield* Settlements).poll
    yield* (yield* ChainDeposits).follow()
    const worker = yield* PaymentWorker
    // A held payment is due again immediately, so the number of steps is limited.
    for (let i = 0; i < 8; i++) yield* worker.step
  })
  /** Runs the workers once. The clock is ahead by this many seconds. */
  const work = (seconds = 0) => run(ahead(seconds, working))

  /** Confirms payments to addresses, so that they are credited. The clock is ahead by this many seconds. */
  const mine = (seconds = 0) =>
    run(
      ahead(
        seconds,
        Effect.gen(function* () {
          yield* working
          yield* (yield* Sandbox.Sandbox).mine(6)
          yield* working
        })
      )
    )

  /** Runs the checkout worker, with its clock ahead by this many seconds. */
  const followCheckouts = (seconds: number) =>
    run(
      ahead(
        seconds,
        Effect.flatMap(Checkouts, ({ step }) => step)
      )
    )

  /** Pays the company over Lightning from an external node. Returns the paid invoice's id. */
  const fund = async (key: string, sats: number): Promise<string> => {
    const { body } = await ask("POST", "/v1/bitcoin/deposit/lightning-invoice", {
      key,
      body: { amount: sats, currency: "sats" }
    })
    await sandbox((sandbox) => sandbox.pay({ paymentRequest: body.data.payment_request }))
    await work()
    return body.data.id
  }

  /** Lets a second operator approve a key that was issued or rotated for a company with money. */
  const approve = async (keyId: string): Promise<void> => {
    const body = { name: "second operator", scopes: ["companies"] }
    const { token } = (await ask("POST", "/operator/tokens", { key: operatorToken, body })).body.data
    await ask("POST", `/operator/api-keys/${keyId}/approve`, { key: token })
  }

  /** Creates a Lightning address, and returns it as payers write it. */
  const lightningAddress = async (key: string, handle: string, domain = ""): Promise<string> => {
    const { body } = await ask("POST", "/v1/bitcoin/deposit/lightning-address", {
      key,
      body: { handle, domain }
    })
    return body.data.address
  }

  /** Returns the record of a company's Lightning address. */
  const record = async (key: string, address: string) => {
    const { body } = await ask("GET", "/v1/bitcoin/deposit/lightning-address", { key })
    const { data } = body
    return data.find((row: { readonly address: string }) => row.address === address)
  }

  return {
    /** All services, for tests that mount them differently. */
    context,
    lightningAddress,
    record,
    ask,
    send,
    signIn,
    page,
    handler,
    logged,
    company,
    keyFor,
    approve,
    sandbox,
    work,
    mine,
    followCheckouts,
    fund,
    run,
    sats: Msat.fromSats,
    dispose: async () => {
      await dispose()
      await runtime.dispose()
    }
  }
}
