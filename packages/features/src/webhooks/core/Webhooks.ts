import { Clock, Context, Effect, Layer, Redacted, Schema, Semaphore } from "effect"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import { lowerAscii } from "@satrail/core/base/Characters"
import { Entropy } from "@satrail/core/base/Entropy"
import * as Id from "@satrail/core/base/Id"
import { Invalid } from "@satrail/core/base/Invalid"
import { textIssue } from "@satrail/core/base/Metadata"
import { cursorOf } from "@satrail/core/events/Events"
import { Feed } from "@satrail/core/events/Feed"
import * as Notice from "@satrail/core/events/Notice"
import * as Answer from "@satrail/core/ledger/Answer"
import * as Answers from "@satrail/core/ledger/Answers"
import {
  type Conflict,
  found,
  type IdempotencyMismatch,
  Journal,
  NotFound,
  type StoreUnavailable
} from "@satrail/core/ledger/Journal"
import { LedgerReads } from "@satrail/core/ledger/LedgerReads"
import * as Noun from "@satrail/core/ledger/Noun"
import { NounReads } from "@satrail/core/ledger/NounReads"
import * as Page from "@satrail/core/ledger/Page"
import { retryIfMoved } from "@satrail/core/ledger/RetryIfMoved"
import * as Delivery from "./records/Delivery.ts"
import * as Endpoint from "./records/Endpoint.ts"
import { Poster } from "@satrail/core/nodes/Poster"
import { Secrets } from "./Secrets.ts"
import * as Signature from "@satrail/core/base/Signature"
import { WebhookReads } from "./records/WebhookReads.ts"

/** Maximum number of endpoints per company. */
export const maxEndpoints = 16

/** Maximum length of an endpoint's URL and description. */
export const maxUrlCharacters = 2000
export const maxDescriptionCharacters = 500

/** Time for which the previous secret still signs after a rotation, in seconds. */
export const overlapSeconds = { minimum: 0, default: 86_400, maximum: 7 * 86_400 } as const

/** Retention period of deliveries. */
export const keptMillis = 30 * 24 * 3600 * 1000

/** The company already has the maximum number of endpoints. */
export class TooManyEndpoints extends Schema.TaggedError<TooManyEndpoints>()("TooManyEndpoints", {
  maximum: Schema.Int
}) {}

/** An endpoint with its secret, which is returned once. */
export interface Issued {
  readonly endpoint: Endpoint.Endpoint
  readonly secret: Redacted.Redacted
}

type Ask<A, E = never> = Effect.Effect<A, E | NotFound | StoreUnavailable>

/**
 * Webhook endpoints of companies, and their deliveries. The nil company id stands for the operator, whose
 * endpoints receive the events of all companies.
 */
export class Webhooks extends Context.Service<
  Webhooks,
  {
    /** Creates an endpoint, which receives events committed from now on. */
    readonly create: (ask: {
      readonly companyId: CompanyId.CompanyId
      readonly settings: Endpoint.Settings
      /** The rendered response is stored, so the secret in it must be sealed. */
      readonly request?: Answer.Request<Issued>
    }) => Effect.Effect<
      Answer.Outcome<Issued>,
      Invalid | TooManyEndpoints | Conflict | IdempotencyMismatch | StoreUnavailable
    >
    readonly list: (
      companyId: CompanyId.CompanyId
    ) => Effect.Effect<ReadonlyArray<Endpoint.Endpoint>, StoreUnavailable>
    readonly get: (companyId: CompanyId.CompanyId, id: string) => Ask<Endpoint.Endpoint>
    readonly change: (
      companyId: CompanyId.CompanyId,
      id: string,
      settings: Endpoint.Settings
    ) => Ask<Endpoint.Endpoint, Invalid>
    /** Changes the settings to those that `update` returns. If others are committed meanwhile, `update` runs again. */
    readonly updateSettings: (
      companyId: CompanyId.CompanyId,
      id: string,
      update: (current: Endpoint.Endpoint) => Effect.Effect<Endpoint.Settings, Invalid>
    ) => Ask<Endpoint.Endpoint, Invalid>
    readonly remove: (companyId: CompanyId.CompanyId, id: string) => Ask<Endpoint.Endpoint>
    /** Replaces the secret. The previous ones also sign for `overlapSeconds`. */
    readonly rotate: (
      companyId: CompanyId.CompanyId,
      id: string,
      overlapSeconds: number
    ) => Ask<Issued, Invalid>
    /** Enables the endpoint. Events are sent starting at `from`, or at the position where sending stopped. */
    readonly enable: (
      companyId: CompanyId.CompanyId,
      id: string,
      from: Notice.Place | undefined
    ) => Ask<Endpoint.Endpoint, Invalid | Endpoint.EndpointNotEnabled>
    readonly disable: (
      companyId: CompanyId.CompanyId,
      id: string
    ) => Ask<Endpoint.Endpoint, Endpoint.EndpointNotEnabled>
    /** Sends everything after `from` again, including events already delivered. */
    readonly replay: (
      companyId: CompanyId.CompanyId,
      id: string,
      from: Notice.Place
    ) => Ask<Endpoint.Endpoint, Invalid | Endpoint.EndpointNotEnabled>
    /** Publishes a `webhook_endpoint.test`, which is sent only to this endpoint. */
    readonly test: (
      companyId: CompanyId.CompanyId,
      id: string
    ) => Ask<Endpoint.Endpoint, Endpoint.EndpointNotEnabled>
    /**
     * Returns a page of the endpoint's deliveries, newest first. `next` is the start of the following page.
     */
    readonly deliveries: (
      companyId: CompanyId.CompanyId,
      id: string,
      query: Page.Asked
    ) => Ask<Page.Page<Delivery.Delivery>, Invalid>
    /**
     * Sends a delivery now, with all retries of the schedule: again if it was delivered, or before its next
     * attempt. Has no effect if an attempt is due.
     */
    readonly resend: (
      companyId: CompanyId.CompanyId,
      deliveryId: string
    ) => Ask<Delivery.Delivery, Endpoint.EndpointNotEnabled>
  }
>()("@satrail/features/webhooks/core/Webhooks") {}

// Headers that this service, the HTTP client or a proxy sets, or that carry credentials.
const reservedHeaders =
  /^(?:accept.*|authorization|cache-control|connection|content-.*|cookie2?|date|expect|forwarded|host|keep-alive|max-forwards|origin|proxy-.*|range|referer|sec-.*|set-cookie|te|traceparent|tracestate|b3|trailer|transfer-encoding|upgrade|user-agent|via|webhook-.*|x-forwarded-.*|x-real-ip|x-request-id|x-satrail-.*)$/

/** Returns why a signature header cannot have this name, or undefined if it can. */
export const headerIssue = (name: string): string | undefined => {
  const lower = lowerAscii(name)
  if (!/^[a-z][a-z0-9-]{0,63}$/.test(lower))
    return "signature_header must be a header name of 1 to 64 letters, digits, and hyphens, such as Shop-Signature"
  return reservedHeaders.test(lower)
    ? "signature_header must not be a reserved header: choose a name of your own, such as Shop-Signature"
    : undefined
}

const untilUnmoved = retryIfMoved(Endpoint.EndpointNotEnabled)

/** Dependencies shared by several methods. */
const parts = Effect.gen(function* () {
  const [journal, ledger, nouns, reads] = [
    yield* Journal,
    yield* LedgerReads,
    yield* NounReads,
    yield* WebhookReads
  ]
  const [feed, poster, secrets, entropy] = [yield* Feed, yield* Poster, yield* Secrets, yield* Entropy]
  const now = Clock.currentTimeMillis
  /** Returns an endpoint even if it was deleted. */
  const stored = (companyId: CompanyId.CompanyId, id: string) =>
    found("webhook endpoint", id, nouns.get(Endpoint.noun, companyId, id))
  const get = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId, id: string) {
    const endpoint = yield* stored(companyId, id)
    return endpoint.status === "deleted" ? yield* new NotFound({ what: "webhook endpoint", id }) : endpoint
  })

  const configured =
    secrets === null
      ? Effect.fail(
          new Invalid({
            path: "url",
            message: "requires a secrets key, which this program was started without"
          })
        )
      : Effect.succeed(secrets)

  /** Types that the endpoint already has may be unknown: of a feature that the host removed, or of a newer version. */
  const check = (
    { url, description, types, signatureHeader }: Endpoint.Settings,
    existing: ReadonlyArray<string> = []
  ) => {
    const issue = textIssue(url, maxUrlCharacters) ?? poster.issue(url)
    if (issue !== undefined) return Effect.fail(new Invalid({ path: "url", message: issue }))
    const words = textIssue(description, maxDescriptionCharacters)
    if (words !== undefined) return Effect.fail(new Invalid({ path: "description", message: words }))
    for (const [n, type] of types.entries()) {
      const unknown = existing.includes(type) ? undefined : Notice.filterIssue(type, feed.types)
      if (unknown !== undefined) return Effect.fail(new Invalid({ path: `types.${n}`, message: unknown }))
    }
    const header = signatureHeader === null ? undefined : headerIssue(signatureHeader)
    return header === undefined
      ? Effect.void
      : Effect.fail(new Invalid({ path: "signature_header", message: header }))
  }

  const secretFor = (companyId: CompanyId.CompanyId) =>
    Effect.map(configured, ({ seal }) => {
      const text = Signature.secretOf(entropy(32))
      return { sealed: seal(text, companyId), secret: Redacted.make(text, { label: "webhook secret" }) }
    })

  const from = Effect.fnUntraced(function* (endpoint: Endpoint.Endpoint, place: Notice.Place | undefined) {
    // An id of another service can decode to any position. One from before a restored backup can be too new.
    if (place !== undefined && Notice.isAfter(place, yield* feed.now))
      return yield* new Invalid({
        path: "replay_from",
        message: "must be the id of an event of this service, not after its newest one"
      })
    const to =
      place === undefined
        ? { cursor: endpoint.cursor, epoch: endpoint.epoch }
        : { cursor: cursorOf(place), epoch: endpoint.epoch + 1 }
    yield* journal.commit(Endpoint.enabled(endpoint, to, yield* now))
    return yield* get(endpoint.companyId, endpoint.id)
  })

  const enabled = (endpoint: Endpoint.Endpoint) =>
    endpoint.status === "enabled"
      ? Effect.succeed(endpoint)
      : Effect.fail(new Endpoint.EndpointNotEnabled({ id: endpoint.id, status: endpoint.status }))

  return { journal, ledger, reads, nouns, feed, now, stored, get, check, secretFor, from, enabled }
})

/**
 * Creates endpoints one at a time. Otherwise, concurrent requests could each find room for one more endpoint
 * and together exceed the maximum. Processes do not wait for each other, so each may add one more.
 */
const creation = Effect.fnUntraced(function* ({
  journal,
  ledger,
  reads,
  feed,
  now,
  check,
  secretFor
}: Effect.Success<typeof parts>) {
  const entropy = yield* Entropy
  const creating = yield* Semaphore.make(1)
  const create: Webhooks["Service"]["create"] = Effect.fnUntraced(function* ({
    companyId,
    settings,
    request
  }) {
    const before = yield* Answers.earlier(ledger, companyId, request)
    if (before !== undefined) return before
    yield* check(settings)
    const make = Effect.gen(function* () {
      if ((yield* reads.endpointsOf(companyId)).length >= maxEndpoints)
        return yield* new TooManyEndpoints({ maximum: maxEndpoints })
      const createdAtMillis = yield* now
      const { sealed, secret } = yield* secretFor(companyId)
      const endpoint: Endpoint.Endpoint = {
        id: Id.fromMillis(createdAtMillis, entropy),
        companyId,
        ...settings,
        secret: sealed,
        previousSecret: null,
        previousUntilMillis: null,
        status: "enabled",
        disabledReason: null,
        cursor: cursorOf(yield* feed.now),
        epoch: 0,
        failingSinceMillis: null,
        createdAtMillis,
        updatedAtMillis: createdAtMillis
      }
      const issued: Issued = { endpoint, secret }
      const once = Answer.once(companyId, request, issued, createdAtMillis + Answer.keptMillis)
      return Answers.outcome(yield* journal.commit(Endpoint.created(endpoint, once)), issued)
    })
    return yield* creating.withPermits(1)(make)
  })
  return create
})

export const make = Effect.gen(function* () {
  const all = yield* parts
  const { journal, reads, nouns, now, stored, get, check, secretFor, from, enabled } = all
  const updateSettings: Webhooks["Service"]["updateSettings"] = Effect.fnUntraced(
    function* (companyId, id, update) {
      const change = Effect.gen(function* () {
        const endpoint = yield* get(companyId, id)
        const settings = yield* update(endpoint)
        yield* check(settings, endpoint.types)
        yield* journal.commit(Endpoint.changed(endpoint, settings, yield* now))
      })
      yield* untilUnmoved(change)
      return yield* get(companyId, id)
    }
  )
  return Webhooks.of({
    create: yield* creation(all),
    list: reads.endpointsOf,
    get,
    change: (companyId, id, settings) => updateSettings(companyId, id, () => Effect.succeed(settings)),
    updateSettings,
    remove: Effect.fnUntraced(function* (companyId, id) {
      const endpoint = yield* stored(companyId, id)
      // Deleting again has no further effect, because a client repeats the request if it loses the response.
      if (endpoint.status === "deleted") return endpoint
      yield* journal.commit(Endpoint.deleted(endpoint, yield* now))
      return { ...endpoint, status: "deleted" as const }
    }),
    rotate: Effect.fnUntraced(function* (companyId, id, seconds) {
      const { minimum, maximum } = overlapSeconds
      if (!Number.isInteger(seconds) || seconds < minimum || seconds > maximum)
        return yield* new Invalid({
          path: "overlap_seconds",
          message: `must be a whole number from ${minimum} to ${maximum}`
        })
      const { sealed, secret } = yield* secretFor(companyId)
      const change = Effect.gen(function* () {
        const endpoint = yield* get(companyId, id)
        const nowMillis = yield* now
        const rotated = Endpoint.rotated(endpoint, sealed, nowMillis + seconds * 1000, nowMillis)
        yield* journal.commit(rotated)
        return { endpoint: Noun.after(endpoint, rotated.writes[0], nowMillis), secret }
      })
      return yield* untilUnmoved(change)
    }),
    enable: Effect.fnUntraced(function* (companyId, id, place) {
      return yield* from(yield* get(companyId, id), place)
    }),
    disable: Effect.fnUntraced(function* (companyId, id) {
      const change = Effect.gen(function* () {
        const endpoint = yield* get(companyId, id)
        if (endpoint.status !== "enabled") return
        // No fence is passed here, so `StaleFence` cannot occur.
        yield* journal
          .commit(Endpoint.disabled(endpoint, "owner", yield* now))
          .pipe(Effect.catchTag("StaleFence", Effect.die))
      })
      yield* untilUnmoved(change)
      return yield* get(companyId, id)
    }),
    replay: Effect.fnUntraced(function* (companyId, id, place) {
      return yield* from(yield* enabled(yield* get(companyId, id)), place)
    }),
    test: Effect.fnUntraced(function* (companyId, id) {
      const endpoint = yield* enabled(yield* get(companyId, id))
      yield* journal.commit(Endpoint.tested(endpoint, yield* now))
      return endpoint
    }),
    deliveries: Effect.fnUntraced(function* (companyId, id, query) {
      yield* get(companyId, id)
      return yield* Page.read(query, (before, limit) => reads.deliveriesTo(id, before, limit))
    }),
    resend: Effect.fnUntraced(function* (companyId, deliveryId) {
      const read = found("delivery", deliveryId, nouns.get(Delivery.noun, companyId, deliveryId))
      const delivery = yield* read
      yield* enabled(yield* get(companyId, delivery.endpointId))
      const nowMillis = yield* now
      if (delivery.nextAtMillis !== null && delivery.nextAtMillis <= nowMillis) return delivery
      yield* journal.commit(Delivery.resent(delivery, nowMillis))
      return yield* read
    })
  })
})

export const layer = Layer.effect(Webhooks, make)
