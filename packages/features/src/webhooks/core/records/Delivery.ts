import { Schema } from "effect"
import * as CompanyId from "@satrail/core/base/CompanyId"
import type * as Change from "@satrail/core/ledger/Change"
import * as Noun from "@satrail/core/ledger/Noun"
import { type Written, written } from "@satrail/core/ledger/Written"

/**
 * `pending`: will be sent, with retries until the schedule ends. `failed`: the schedule has ended, but the
 * delivery can be resent by hand. `delivered`: a response confirmed it.
 */
export const Status = Schema.Literals(["pending", "delivered", "failed"])
export type Status = typeof Status.Type

/** Result of the last attempt. */
export const Attempt = Schema.Struct({
  status: Status,
  attempts: Schema.Int,
  /** Time of the next attempt; null if there is none. */
  nextAtMillis: Schema.NullOr(Schema.Int),
  lastAtMillis: Schema.NullOr(Schema.Int),
  durationMillis: Schema.NullOr(Schema.Int),
  /** HTTP status of the response; null if there was none. */
  answered: Schema.NullOr(Schema.Int),
  /** The beginning of the response, or the reason why there was no response. */
  response: Schema.NullOr(Schema.String)
})
export interface Attempt extends Schema.Schema.Type<typeof Attempt> {}

/** Maximum number of earlier attempts that a delivery keeps: one full schedule, and those of a resend. */
export const mostEarlier = 24
/** Number of characters of each earlier response that are kept. */
const earlierCharacters = 200

/** An attempt before the last one. */
export const Earlier = Schema.Struct({
  atMillis: Schema.Int,
  durationMillis: Schema.NullOr(Schema.Int),
  answered: Schema.NullOr(Schema.Int),
  response: Schema.NullOr(Schema.String)
})
export interface Earlier extends Schema.Schema.Type<typeof Earlier> {}

/** The delivery of one event to one endpoint. */
export const Delivery = Schema.Struct({
  id: Noun.Id,
  companyId: CompanyId.CompanyId,
  endpointId: Noun.Id,
  /**
   * The replay that the delivery belongs to, and the position of its event. Each replay has at most one
   * delivery of an event.
   */
  epoch: Schema.Int,
  place: Schema.String,
  /** The event's company. The operator's endpoints receive the events of all companies. */
  eventCompanyId: CompanyId.CompanyId,
  type: Schema.String,
  /** The record that the event is about. Events of one record are sent in order. */
  recordId: Schema.String,
  ...Attempt.fields,
  /** The attempts before the last one, newest first. */
  earlier: Schema.Array(Earlier),
  createdAtMillis: Schema.Int
})
export interface Delivery extends Schema.Schema.Type<typeof Delivery> {}

const attempt = [
  "status",
  "attempts",
  "nextAtMillis",
  "lastAtMillis",
  "durationMillis",
  "answered",
  "response",
  "earlier"
] as const

export const noun = Noun.make("webhook_deliveries", Delivery, {
  moving: attempt,
  unique: [["endpointId", "epoch", "place"]]
})

export const life = {
  // A late result does not apply to a delivery that was resent or deleted in the meantime.
  tried: Noun.move(noun, "tried", {
    from: ["pending"],
    expects: ["attempts", "nextAtMillis"],
    sets: attempt,
    again: "otherwise",
    isDoneWhenGone: true
  }),
  resent: Noun.move(noun, "resent", {
    from: ["pending", "delivered", "failed"],
    to: "pending",
    sets: ["attempts", "nextAtMillis"],
    again: { in: ["pending"], same: ["nextAtMillis"] }
  })
}

export interface DeliveryMade extends Written<
  "DeliveryMade",
  readonly [Noun.InsertOf<typeof noun>],
  "fence",
  never
> {}
export interface DeliveryTried extends Written<
  "DeliveryTried",
  readonly [Noun.TransitionOf<typeof life.tried, Delivery>],
  "fence",
  never
> {}
export interface DeliveryResent extends Written<
  "DeliveryResent",
  readonly [Noun.TransitionOf<typeof life.resent>],
  never,
  "webhook_endpoint.changed"
> {}

/** Records a new delivery, pending or delivered. */
export const made = (delivery: Delivery, fence: Change.Fence): DeliveryMade =>
  written("DeliveryMade", delivery.createdAtMillis, [Noun.insert(noun, delivery)], { fence })

/** Returns the earlier attempts of a delivery that is tried once more. */
export const earlierOf = ({
  lastAtMillis,
  durationMillis,
  answered,
  response,
  earlier
}: Delivery): ReadonlyArray<Earlier> =>
  lastAtMillis === null
    ? earlier
    : [
        {
          atMillis: lastAtMillis,
          durationMillis,
          answered,
          response: response?.slice(0, earlierCharacters) ?? null
        },
        ...earlier
      ].slice(0, mostEarlier)

/** Records another attempt. */
export const tried = (
  delivery: Delivery,
  attempt: Attempt & Pick<Delivery, "earlier">,
  fence: Change.Fence,
  atMillis: number
): DeliveryTried => written("DeliveryTried", atMillis, [Noun.step(life.tried, delivery, attempt)], { fence })

/** Sends the delivery now, with all retries of the schedule. */
export const resent = (delivery: Delivery, atMillis: number): DeliveryResent =>
  written(
    "DeliveryResent",
    atMillis,
    [Noun.step(life.resent, delivery, { attempts: 0, nextAtMillis: atMillis })],
    {
      event: { type: "webhook_endpoint.changed", subject: delivery.endpointId }
    }
  )
