import * as Nostr from "@satrail/bitcoin/Nostr"
import * as WalletConnect from "@satrail/bitcoin/WalletConnect"
import { Clock, Deferred, Effect, Exit, Option, type Redacted } from "effect"
import * as ApiKey from "@satrail/core/accounts/ApiKey"
import { ApiKeys } from "@satrail/core/accounts/ApiKeys"
import { Entropy } from "@satrail/core/base/Entropy"
import type { CompanyId } from "@satrail/core/base/CompanyId"
import * as FairSlots from "@satrail/core/base/FairSlots"
import * as Id from "@satrail/core/base/Id"
import * as Pool from "@satrail/core/base/Pool"
import * as Throttle from "@satrail/core/base/Throttle"
import * as Audit from "@satrail/core/ledger/Audit"
import * as Answer from "@satrail/core/ledger/Answer"
import { Journal, type StoreUnavailable } from "@satrail/core/ledger/Journal"
import { NounReads } from "@satrail/core/ledger/NounReads"
import { AuditLog } from "../../audit/core/AuditLog.ts"
import * as WalletConnection from "./WalletConnection.ts"
import * as WalletMethods from "./WalletMethods.ts"
import { Waiting } from "./WalletPayments.ts"
import { keyOf, refuse, unknown } from "./WalletRefused.ts"

/**
 * Maximum difference between a request's date and now. Other requests are ignored, so that a captured request
 * cannot be replayed later.
 */
export const maxAgeSeconds = 600

/** Request rate allowed per connection. */
export const perConnection = Throttle.perMinute(60)

/**
 * Rate at which signatures of an app's requests from one relay are verified, which costs more than to forge them.
 * After a reconnect, a relay sends all requests that are not too old again.
 */
export const verified: Throttle.Rate = {
  count: (perConnection.count * maxAgeSeconds) / 60,
  everyMillis: perConnection.everyMillis / 2
}

/**
 * Maximum number of concurrent lookups of apps that this process does not know: in total, and for each relay. A
 * stranger can cause them at no cost. The store combines them, so they occupy one connection. One at a time, they would
 * delay known apps, whose requests wait behind them.
 */
export const lookups: FairSlots.Limits = { most: 128, each: 32 }

/** Number of characters of a method's name that are repeated, in the response and the audit log. */
const maxMethodCharacters = 40

/** Maximum number of a connection's requests in progress, including those that wait for a payment. */
export const atOnce = 8

const rateLimited = (method: string) => ({
  result_type: method,
  error: {
    code: "RATE_LIMITED" as const,
    message: `Rate limit reached: ${Throttle.inAMinute(perConnection)} requests per minute and ${atOnce} at the same time.`
  },
  result: null
})

/** Maximum number of connections that a process caches. Others are read from the store again. */
export const maxKnown = 10_000

/**
 * Maximum number of responses that a process caches, in total and per app. A repeated event receives the same
 * response.
 */
export const kept = { most: 1000, perCaller: 100, per: {} } as const

/**
 * Errors that say that nothing was done. They are final, because the app may then pay another way. A relay that
 * sends the event again, when the reason no longer applies, gets the same response, or OTHER from another process.
 */
const refusals: ReadonlySet<string> = new Set<WalletConnect.ErrorCode>([
  "INSUFFICIENT_BALANCE",
  "QUOTA_EXCEEDED",
  "RATE_LIMITED",
  "RESTRICTED",
  "UNAUTHORIZED"
])

const away = "The database cannot be reached. Try again."

interface Answered {
  readonly event: Option.Option<Nostr.Event>
  readonly isFinal: boolean
}

/** Limits the requests in progress per app. */
const placesOf = () => {
  const working = new Map<string, number>()
  return <A, E, R>(appKey: string, work: Effect.Effect<A, E, R>, orElse: Effect.Effect<A, E, R>) =>
    Effect.suspend(() => {
      const count = working.get(appKey) ?? 0
      if (count >= atOnce) return orElse
      working.set(appKey, count + 1)
      return Effect.ensuring(
        work,
        Effect.sync(() => {
          const left = (working.get(appKey) ?? 1) - 1
          if (left === 0) working.delete(appKey)
          else working.set(appKey, left)
        })
      )
    })
}

const makeDone = Effect.gen(function* () {
  const apiKeys = yield* ApiKeys
  const audit = yield* AuditLog
  const methods = yield* WalletMethods.make

  /** Runs a request with the key's current permissions. */
  return Effect.fnUntraced(function* (
    { apiKeyId }: WalletConnection.WalletConnection,
    event: Nostr.Event,
    { method: name, params }: WalletConnect.Request
  ) {
    const holder = yield* Effect.catchTag(apiKeys.standing(apiKeyId), "Unauthorized", ({ reason }) =>
      refuse("UNAUTHORIZED", `The API key of this connection is ${reason}.`)
    )
    const { apiKey } = holder
    const { id: actor_id, name: actor_name, companyId, allowedFrom } = apiKey
    const acting = {
      actor: "key",
      actor_id,
      actor_name,
      verb: `nwc.${name}`,
      address: "",
      request_id: event.id
    } as const
    const method = methods.get(name)
    const answered = Effect.gen(function* () {
      if (method === undefined) return yield* refuse("NOT_IMPLEMENTED", "This method is not supported.")
      if (method.scope !== null && !ApiKey.allows(apiKey, method.scope))
        return yield* refuse("RESTRICTED", `This method requires a key with the scope ${method.scope}.`)
      // A relay does not reveal the app's address, so a key limited to some addresses is rejected here.
      if (allowedFrom !== null && (allowedFrom.for === "everything" || method.scope === "send"))
        return yield* refuse("RESTRICTED", "This key is limited to IP addresses, which a relay hides.")
      const did = method.answer({ holder, event, params })
      return yield* method.scope === "send" ? Effect.provideService(did, Audit.Acting, acting) : did
    })
    return yield* Effect.tapError(answered, (error) =>
      error._tag === "WalletRefused" && (error.code === "RESTRICTED" || error.code === "QUOTA_EXCEEDED")
        ? audit.refused(companyId, acting, error.code.toLowerCase())
        : Effect.void
    )
  })
})

/** Finds the connection of an app that a relay's event names. */
const connections = Effect.map(NounReads, (nouns) => {
  // A connection never changes, so it can be cached without expiry.
  const known = new Map<string, WalletConnection.WalletConnection>()
  const slots = FairSlots.make(lookups)

  const lookUp = Effect.fnUntraced(function* (appKey: string) {
    const found = yield* nouns.named(WalletConnection.noun, { appKey })
    if (Option.isNone(found)) return undefined
    if (known.size >= maxKnown) known.clear()
    known.set(appKey, found.value)
    return found.value
  })

  // Lookups wait instead of being refused. Strangers can use any number of keys, and a shared rate would reject
  // apps that this process does not know yet.
  return (relay: string, appKey: string) =>
    Effect.suspend(() => {
      const before = known.get(appKey)
      return before === undefined ? slots.run(relay, lookUp(appKey)) : Effect.succeed(before)
    })
})

/**
 * Makes an error that says that nothing was done final, by using up the event's idempotency key. Otherwise, a relay could
 * send the event to another process, which pays it once the reason no longer applies. Replaces the error if the event has
 * made a payment or an invoice, because another process handled it first.
 */
const makeHonest = Effect.map(Journal, (journal) =>
  Effect.fnUntraced(function* (
    companyId: CompanyId,
    event: Nostr.Event,
    content: WalletConnect.Response
  ): Effect.fn.Return<WalletConnect.Response> {
    const code = content.error?.code ?? ""
    if (!refusals.has(code)) return content
    const because = (message: string) => ({ ...content, error: { code: "INTERNAL" as const, message } })
    const nowMillis = yield* Clock.currentTimeMillis
    const forgetAtMillis = nowMillis + 2 * maxAgeSeconds * 1000 // by then the event is too old, even if it was from the future
    const once = { owner: companyId, key: keyOf(event), fingerprint: "refused", answer: code, forgetAtMillis }
    return yield* Effect.match(journal.commit(Answer.kept(yield* Id.make, companyId, nowMillis, once)), {
      onSuccess: () => content,
      onFailure: ({ _tag }) => because(_tag === "IdempotencyMismatch" ? unknown : away)
    })
  })
)

/** Responds to apps, within their keys' permissions. */
export const make = Effect.fnUntraced(function* (secretKey: Redacted.Redacted) {
  const connectionOf = yield* connections
  const entropy = yield* Entropy
  const done = yield* makeDone
  const honest = yield* makeHonest
  const walletKey = Nostr.publicKeyOf(secretKey)
  const mayAsk = Throttle.make(perConnection)
  const mayVerify = Throttle.make(verified)
  const bounded = placesOf()
  const answers = new Map<string, Deferred.Deferred<Option.Option<Nostr.Event>>>()
  const places = Pool.make<string>(kept)

  /**
   * Handles an event once. If the same event is received again, even while the first is being handled, it gets
   * the same response and is counted once.
   */
  const once = <E>({ id, pubkey }: Nostr.Event, work: Effect.Effect<Answered, E>) =>
    Effect.gen(function* () {
      const before = answers.get(id)
      if (before !== undefined) return yield* (yield* Waiting)(Deferred.await(before))
      const answer = yield* Deferred.make<Option.Option<Nostr.Event>>()
      answers.set(id, answer)
      for (const other of places.take({ caller: pubkey, of: {} }, id)) answers.delete(other)
      const done = yield* Effect.onExit(work, (exit) => {
        // Do not cache any other error, which may be temporary. The next request looks up a pending payment again.
        if (!Exit.isSuccess(exit) || !exit.value.isFinal) {
          answers.delete(id)
          places.release(id)
        }
        return Deferred.succeed(answer, Exit.isSuccess(exit) ? exit.value.event : Option.none())
      })
      return done.event
    })

  /** Returns whether an event is a current request to this wallet. Does not check the sender. */
  const isTimely = (event: Nostr.Event, nowMillis: number): boolean => {
    const nowSeconds = nowMillis / 1000
    const expiration = WalletConnect.expirationOf(event)
    return (
      event.kind === WalletConnect.kinds.request &&
      WalletConnect.tagOf(event, "p") === walletKey &&
      Math.abs(nowSeconds - event.created_at) <= maxAgeSeconds &&
      (expiration === undefined || expiration > nowSeconds)
    )
  }

  /** Returns the content of the response. */
  const answerTo = (
    connection: WalletConnection.WalletConnection,
    event: Nostr.Event,
    request: WalletConnect.Request
  ) =>
    done(connection, event, request).pipe(
      Effect.map((result) => ({ error: null, result })),
      Effect.catchTags({
        WalletRefused: ({ code, message }) => Effect.succeed({ error: { code, message }, result: null }),
        StoreUnavailable: () =>
          Effect.succeed({ error: { code: "INTERNAL" as const, message: away }, result: null })
      }),
      Effect.catchCause((cause) =>
        Effect.as(Effect.logWarning("wallet connect: request failed", cause), {
          error: {
            code: "INTERNAL" as const,
            message: "The request may or may not have taken effect. Look it up before you try again."
          },
          result: null
        })
      ),
      Effect.map((body) => ({ result_type: request.method, ...body }))
    )

  return {
    walletKey,
    /**
     * Returns the response to an event that a relay sent; none if the request is forged, outdated, unreadable, for
     * another wallet, or from an unknown app, or if this relay sends too many requests of the app. Each event makes
     * at most one payment, even if this is called repeatedly or in several processes.
     */
    answer: Effect.fnUntraced(function* (
      relay: string,
      event: Nostr.Event
    ): Effect.fn.Return<Option.Option<Nostr.Event>, StoreUnavailable> {
      if (!isTimely(event, yield* Clock.currentTimeMillis)) return Option.none()
      const connection = yield* connectionOf(relay, event.pubkey)
      const nowMillis = yield* Clock.currentTimeMillis
      // Up to here, anyone may have written the event. A relay that sends forged events uses up only its own rate.
      if (
        connection === undefined ||
        !mayVerify(`${relay} ${event.pubkey}`, nowMillis) ||
        !Nostr.isGenuine(event)
      )
        return Option.none()
      const respond = Effect.fnUntraced(function* (
        given: WalletConnect.Response
      ): Effect.fn.Return<Answered> {
        const content = yield* honest(connection.companyId, event, given)
        const atSeconds = Math.floor((yield* Clock.currentTimeMillis) / 1000)
        return {
          event: Option.fromUndefinedOr(
            WalletConnect.response(content, event, { from: secretKey, atSeconds, nonce: entropy(32) })
          ),
          isFinal: content.error === null || refusals.has(content.error?.code ?? "")
        }
      })
      const work = Effect.flatMap(Clock.currentTimeMillis, (nowMillis): Effect.Effect<Answered> => {
        if (!mayAsk(event.pubkey, nowMillis)) return respond(rateLimited(""))
        if (WalletConnect.tagOf(event, "encryption") !== WalletConnect.encryption) {
          const message = `Only ${WalletConnect.encryption} is supported`
          return respond({
            result_type: "",
            error: { code: "UNSUPPORTED_ENCRYPTION", message },
            result: null
          })
        }
        const request = WalletConnect.open(event, secretKey, WalletConnect.Request)
        if (Option.isNone(request)) return Effect.succeed({ event: Option.none(), isFinal: false })
        const method = request.value.method.slice(0, maxMethodCharacters)
        const answered = answerTo(connection, event, { ...request.value, method })
        return bounded(event.pubkey, Effect.flatMap(answered, respond), respond(rateLimited(method)))
      })
      return yield* once(event, work)
    })
  }
})
