import * as Nostr from "@satrail/bitcoin/Nostr"
import * as WalletConnect from "@satrail/bitcoin/WalletConnect"
import { Clock, Deferred, Effect, Exit, Option, type Redacted } from "effect"
import * as ApiKey from "../../accounts/ApiKey.ts"
import { ApiKeys } from "../../accounts/ApiKeys.ts"
import { Entropy } from "../../base/Entropy.ts"
import * as Pool from "../../base/Pool.ts"
import * as Throttle from "../../base/Throttle.ts"
import * as Audit from "../../ledger/Audit.ts"
import type { StoreUnavailable } from "../../ledger/Journal.ts"
import { NounReads } from "../../ledger/NounReads.ts"
import { AuditLog } from "../audit/AuditLog.ts"
import * as WalletConnection from "./WalletConnection.ts"
import * as WalletMethods from "./WalletMethods.ts"
import { refuse } from "./WalletRefused.ts"

/** A request that is older than this, or dated later than this, is not looked at: who recorded it cannot send it again. */
export const maxAgeSeconds = 600

/** How often one connection may ask. */
export const perConnection = Throttle.perMinute(60)

/** How many of its requests may be worked on at once, payments that are waited for included. */
export const atOnce = 8

/** How many connections a process remembers: it asks the store for others again. */
export const maxKnown = 10_000

/** How many answers a process remembers, in all and of one app: an event that comes again gets the same one. */
export const kept = { most: 1000, perCaller: 100, per: {} } as const

interface Answered {
  readonly event: Option.Option<Nostr.Event>
  readonly isFinal: boolean
}

/** So many places for each app. */
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

  /** Does what is asked for, as the key allows it now. */
  return Effect.fnUntraced(function* (
    { apiKeyId }: WalletConnection.WalletConnection,
    event: Nostr.Event,
    { method: name, params }: WalletConnect.Request
  ) {
    const holder = yield* Effect.catchTag(apiKeys.standing(apiKeyId), "Unauthorized", ({ reason }) =>
      refuse("UNAUTHORIZED", `The API key of this connection is ${reason}`)
    )
    const { apiKey } = holder
    const { id: actor_id, name: actor_name, companyId, allowedFrom } = apiKey
    const acting = { actor: "key", actor_id, actor_name, verb: `nwc.${name.slice(0, 40)}`, address: "", request_id: event.id } as const
    const method = methods.get(name)
    const answered = Effect.gen(function* () {
      if (method === undefined) return yield* refuse("NOT_IMPLEMENTED", "There is no such method here")
      if (method.scope !== null && !ApiKey.allows(apiKey, method.scope))
        return yield* refuse("RESTRICTED", `This needs a key with the scope ${method.scope}`)
      // A relay does not say where an app is: a key that may be used from some addresses only is used from none of them here.
      if (allowedFrom !== null && (allowedFrom.for === "everything" || method.scope === "send"))
        return yield* refuse("RESTRICTED", "The key may be used from some addresses only, which a relay does not show")
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

/** Answers apps, each as its key allows. */
export const make = Effect.fnUntraced(function* (secretKey: Redacted.Redacted) {
  const nouns = yield* NounReads
  const entropy = yield* Entropy
  const done = yield* makeDone
  const walletKey = Nostr.publicKeyOf(secretKey)
  const mayAsk = Throttle.make(perConnection)
  // A connection never changes, so what was read once is so for ever.
  const known = new Map<string, WalletConnection.WalletConnection>()
  const bounded = placesOf()
  const answers = new Map<string, Deferred.Deferred<Option.Option<Nostr.Event>>>()
  const places = Pool.make<string>(kept)

  /** Handles an event once. The same event, received again during or after that, gets the same answer and is counted once. */
  const once = <E>({ id, pubkey }: Nostr.Event, work: Effect.Effect<Answered, E>) =>
    Effect.gen(function* () {
      const before = answers.get(id)
      if (before !== undefined) return yield* Deferred.await(before)
      const answer = yield* Deferred.make<Option.Option<Nostr.Event>>()
      answers.set(id, answer)
      for (const other of places.take({ caller: pubkey, of: {} }, id)) answers.delete(other)
      const done = yield* Effect.onExit(work, (exit) => {
        // An error may be over the next time: a payment that was pending is looked up again.
        if (!Exit.isSuccess(exit) || !exit.value.isFinal) {
          answers.delete(id)
          places.release(id)
        }
        return Deferred.succeed(answer, Exit.isSuccess(exit) ? exit.value.event : Option.none())
      })
      return done.event
    })

  // Not limited, since strangers can take any number of keys: a shared limit would refuse apps that this process doesn't know yet. Checking the event's
  // signature costs more than this read.
  const connectionOf = Effect.fnUntraced(function* (appKey: string) {
    const before = known.get(appKey)
    if (before !== undefined) return before
    const found = yield* nouns.named(WalletConnection.noun, { appKey })
    if (Option.isNone(found)) return undefined
    if (known.size >= maxKnown) known.clear()
    known.set(appKey, found.value)
    return found.value
  })

  /** Whether it is a request to this wallet, and of now. Whose it is, is looked at afterwards. */
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

  /** The content of the answer. */
  const answerTo = (connection: WalletConnection.WalletConnection, event: Nostr.Event, request: WalletConnect.Request) =>
    done(connection, event, request).pipe(
      Effect.map((result) => ({ error: null, result })),
      Effect.catchTags({
        WalletRefused: ({ code, message }) => Effect.succeed({ error: { code, message }, result: null }),
        StoreUnavailable: () =>
          Effect.succeed({ error: { code: "INTERNAL" as const, message: "The store is away: try again later" }, result: null })
      }),
      Effect.catchCause((cause) =>
        Effect.as(Effect.logWarning("wallet connect: a request could not be answered", cause), {
          error: { code: "INTERNAL" as const, message: "It is not known whether it was done: try again, or look it up" },
          result: null
        })
      ),
      Effect.map((body) => ({ result_type: request.method, ...body }))
    )

  const rateLimited = (method: string) => ({
    result_type: method,
    error: {
      code: "RATE_LIMITED" as const,
      message: `At most ${Throttle.inAMinute(perConnection)} requests a minute, and ${atOnce} at once`
    },
    result: null
  })

  return {
    walletKey,
    /**
     * The event that answers this one; none where it is nothing that is answered: not genuine, not for this wallet, not of now, of a stranger, or not to be read. A payment is
     * made once for an event, however often and by however many processes this is asked.
     */
    answer: Effect.fnUntraced(function* (event: Nostr.Event): Effect.fn.Return<Option.Option<Nostr.Event>, StoreUnavailable> {
      const nowMillis = yield* Clock.currentTimeMillis
      if (!isTimely(event, nowMillis) || !Nostr.isGenuine(event)) return Option.none()
      const connection = yield* connectionOf(event.pubkey)
      if (connection === undefined) return Option.none()
      const respond = (content: WalletConnect.Response): Effect.Effect<Answered> =>
        Effect.map(Clock.currentTimeMillis, (millis) => ({
          event: Option.fromUndefinedOr(
            WalletConnect.response(content, event, { from: secretKey, atSeconds: Math.floor(millis / 1000), nonce: entropy(32) })
          ),
          isFinal: content.error === null
        }))
      const work = Effect.suspend((): Effect.Effect<Answered> => {
        if (!mayAsk(event.pubkey, nowMillis)) return respond(rateLimited(""))
        if (WalletConnect.tagOf(event, "encryption") !== WalletConnect.encryption) {
          const message = `Only ${WalletConnect.encryption} is spoken here`
          return respond({ result_type: "", error: { code: "UNSUPPORTED_ENCRYPTION", message }, result: null })
        }
        const request = WalletConnect.open(event, secretKey, WalletConnect.Request)
        if (Option.isNone(request)) return Effect.succeed({ event: Option.none(), isFinal: false })
        const { method } = request.value
        return bounded(event.pubkey, Effect.flatMap(answerTo(connection, event, request.value), respond), respond(rateLimited(method)))
      })
      return yield* once(event, work)
    })
  }
})
