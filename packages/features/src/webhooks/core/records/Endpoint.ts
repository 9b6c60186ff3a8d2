import { Schema } from "effect"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Change from "@satrail/core/ledger/Change"
import * as Noun from "@satrail/core/ledger/Noun"
import { type Written, written } from "@satrail/core/ledger/Written"

/** `enabled`: events are sent. `disabled`: none are sent until it is enabled again. `deleted`: final. */
export const Status = Schema.Literals(["enabled", "disabled", "deleted"])
export type Status = typeof Status.Type

/**
 * Reason why the endpoint is disabled: its owner disabled it, it responded with 410 Gone, or every attempt has
 * failed for days.
 */
export const Reason = Schema.Literals(["owner", "gone", "failing"])
export type Reason = typeof Reason.Type

/** Settings that the owner may change. */
export const Settings = Schema.Struct({
  url: Schema.String,
  description: Schema.String,
  /** Event types, or prefixes such as `deposit.*`. Empty means all. */
  types: Schema.Array(Schema.String),
  /** Name of a header with a plain signature: lowercase hex of an HMAC-SHA256 of the body. */
  signatureHeader: Schema.NullOr(Schema.String)
})
export interface Settings extends Schema.Schema.Type<typeof Settings> {}

/**
 * A URL that receives a company's events. The nil company id stands for the operator, who receives the events
 * of all companies.
 */
export const Endpoint = Schema.Struct({
  id: Noun.Id,
  companyId: CompanyId.CompanyId,
  ...Settings.fields,
  /** Each secret is sealed. `previousSecrets` also sign until `previousUntilMillis`. */
  secret: Schema.String,
  previousSecret: Schema.NullOr(Schema.String),
  previousUntilMillis: Schema.NullOr(Schema.Int),
  status: Status,
  disabledReason: Schema.NullOr(Reason),
  /** Every event up to this position was sent or has a pending delivery. */
  cursor: Schema.String,
  /** Number of replays so far. Each delivery belongs to one replay. */
  epoch: Schema.Int,
  /** Time of the first failed attempt since the last success; null while attempts succeed. */
  failingSinceMillis: Schema.NullOr(Schema.Int),
  createdAtMillis: Schema.Int,
  updatedAtMillis: Schema.Int
})
export interface Endpoint extends Schema.Schema.Type<typeof Endpoint> {}

/**
 * Maximum number of previous secrets that sign during an overlap. An owner who loses a rotation's response rotates
 * again, and the receiver still verifies with the secret before that.
 */
export const maxPreviousSecrets = 3

// Sealed secrets contain no comma.
const separator = ","

/** Returns the sealed secrets, newest first, that sign in addition to the current one at this time. */
export const previousSecrets = (
  { previousSecret, previousUntilMillis }: Endpoint,
  atMillis: number
): ReadonlyArray<string> =>
  previousSecret !== null && (previousUntilMillis ?? 0) > atMillis ? previousSecret.split(separator) : []

/** The endpoint is disabled and must be enabled first, or it was deleted. */
export class EndpointNotEnabled extends Schema.TaggedError<EndpointNotEnabled>()("EndpointNotEnabled", {
  id: Schema.String,
  status: Schema.String
}) {}

export const noun = Noun.make("webhook_endpoints", Endpoint, {
  moving: [
    "url",
    "description",
    "types",
    "signatureHeader",
    "secret",
    "previousSecret",
    "previousUntilMillis",
    "status",
    "disabledReason",
    "cursor",
    "epoch",
    "failingSinceMillis",
    "updatedAtMillis"
  ],
  recorded: ["companyId", "url", "types", "signatureHeader", "secret"],
  refused: (id, status) => new EndpointNotEnabled({ id, status })
})

export const life = {
  // Applies only to the settings that were read, so that it does not undo a concurrent change of other settings.
  changed: Noun.move(noun, "changed", {
    from: ["enabled", "disabled"],
    expects: ["url", "description", "types", "signatureHeader"],
    sets: ["url", "description", "types", "signatureHeader"],
    stamps: ["updatedAtMillis"],
    again: {
      in: ["enabled", "disabled"],
      same: ["url", "description", "types", "signatureHeader", "updatedAtMillis"]
    }
  }),
  // Applies only to the secret that was read, so that of two concurrent rotations, neither drops the other's secret.
  rotated: Noun.move(noun, "rotated", {
    from: ["enabled", "disabled"],
    expects: ["secret"],
    sets: ["secret", "previousSecret", "previousUntilMillis"],
    stamps: ["updatedAtMillis"],
    again: { in: ["enabled", "disabled"], same: ["secret"] }
  }),
  enabled: Noun.move(noun, "enabled", {
    from: ["enabled", "disabled"],
    to: "enabled",
    sets: ["cursor", "epoch"],
    clears: ["disabledReason", "failingSinceMillis"],
    stamps: ["updatedAtMillis"],
    again: { in: ["enabled"], same: ["cursor", "epoch", "updatedAtMillis"] }
  }),
  // Applies only if the endpoint has not changed since it was read, so a late commit cannot disable an endpoint
  // that was changed or enabled again.
  disabled: Noun.move(noun, "disabled", {
    from: ["enabled"],
    to: "disabled",
    expects: ["updatedAtMillis"],
    sets: ["disabledReason"],
    stamps: ["updatedAtMillis"],
    again: { in: ["disabled", "deleted"] }
  }),
  deleted: Noun.move(noun, "deleted", {
    from: ["enabled", "disabled"],
    to: "deleted",
    stamps: ["updatedAtMillis"],
    again: { in: ["deleted"] }
  }),
  // The progress of one replay does not apply to another.
  progressed: Noun.move(noun, "progressed", {
    expects: ["epoch"],
    sets: ["cursor", "failingSinceMillis"],
    again: "otherwise"
  })
}

export interface EndpointCreated extends Written<
  "EndpointCreated",
  readonly [Noun.InsertOf<typeof noun>],
  "once",
  "webhook_endpoint.changed"
> {}
export interface EndpointChanged extends Written<
  "EndpointChanged",
  readonly [Noun.TransitionOf<typeof life.changed, Endpoint>],
  never,
  "webhook_endpoint.changed"
> {}
export interface EndpointRotated extends Written<
  "EndpointRotated",
  readonly [Noun.TransitionOf<typeof life.rotated, Endpoint>],
  never,
  "webhook_endpoint.changed"
> {}
export interface EndpointEnabled extends Written<
  "EndpointEnabled",
  readonly [Noun.TransitionOf<typeof life.enabled>],
  never,
  "webhook_endpoint.changed"
> {}
export interface EndpointDisabled extends Written<
  "EndpointDisabled",
  readonly [Noun.TransitionOf<typeof life.disabled, Endpoint>],
  "fence",
  "webhook_endpoint.disabled"
> {}
export interface EndpointDeleted extends Written<
  "EndpointDeleted",
  readonly [Noun.TransitionOf<typeof life.deleted>],
  never,
  "webhook_endpoint.changed"
> {}
export interface EndpointProgressed extends Written<
  "EndpointProgressed",
  readonly [Noun.TransitionOf<typeof life.progressed, Endpoint>],
  "fence",
  never
> {}
export interface EndpointTested extends Written<
  "EndpointTested",
  readonly [],
  never,
  "webhook_endpoint.test"
> {}

/** Makes the sending process read the endpoint again. */
const changedEvent = ({ id }: Endpoint) => ({ type: "webhook_endpoint.changed" as const, subject: id })

export const created = (endpoint: Endpoint, once?: Change.Once): EndpointCreated =>
  written("EndpointCreated", endpoint.createdAtMillis, [Noun.insert(noun, endpoint)], {
    event: changedEvent(endpoint),
    ...(once && { once })
  })

export const changed = (endpoint: Endpoint, settings: Settings, atMillis: number): EndpointChanged =>
  written("EndpointChanged", atMillis, [Noun.step(life.changed, endpoint, settings)], {
    event: changedEvent(endpoint)
  })

/** Replaces the secret. The previous ones also sign until `previousUntilMillis`. */
export const rotated = (
  endpoint: Endpoint,
  secret: string,
  previousUntilMillis: number,
  atMillis: number
): EndpointRotated => {
  const previous = [endpoint.secret, ...previousSecrets(endpoint, atMillis)].slice(0, maxPreviousSecrets)
  const set = { secret, previousSecret: previous.join(separator), previousUntilMillis }
  return written("EndpointRotated", atMillis, [Noun.step(life.rotated, endpoint, set)], {
    event: changedEvent(endpoint)
  })
}

/** Sends events from this position on, including those that were already sent. */
export const enabled = (
  endpoint: Endpoint,
  from: Pick<Endpoint, "cursor" | "epoch">,
  atMillis: number
): EndpointEnabled =>
  written("EndpointEnabled", atMillis, [Noun.step(life.enabled, endpoint, from)], {
    event: changedEvent(endpoint)
  })

/** Stops sending. The owner is notified, unless the owner disabled the endpoint. */
export const disabled = (
  endpoint: Endpoint,
  reason: Reason,
  atMillis: number,
  fence?: Change.Fence
): EndpointDisabled =>
  written("EndpointDisabled", atMillis, [Noun.step(life.disabled, endpoint, { disabledReason: reason })], {
    event: { type: "webhook_endpoint.disabled", subject: endpoint.id },
    ...(fence && { fence })
  })

export const deleted = (endpoint: Endpoint, atMillis: number): EndpointDeleted =>
  written("EndpointDeleted", atMillis, [Noun.step(life.deleted, endpoint, {})], {
    event: changedEvent(endpoint)
  })

/** Records the position up to which events were sent, and when attempts began to fail. */
export const progressed = (
  endpoint: Endpoint,
  to: Pick<Endpoint, "cursor" | "failingSinceMillis">,
  fence: Change.Fence,
  atMillis: number
): EndpointProgressed =>
  written("EndpointProgressed", atMillis, [Noun.step(life.progressed, endpoint, to)], { fence })

/** Publishes an event that is sent only to this endpoint. */
export const tested = (endpoint: Endpoint, atMillis: number): EndpointTested => ({
  _tag: "EndpointTested",
  ...Change.on(endpoint, atMillis),
  writes: [],
  event: { type: "webhook_endpoint.test", subject: endpoint.id }
})
