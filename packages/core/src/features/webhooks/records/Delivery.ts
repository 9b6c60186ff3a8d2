import { Schema } from "effect"
import * as CompanyId from "../../../base/CompanyId.ts"
import type * as Change from "../../../ledger/Change.ts"
import * as Noun from "../../../ledger/Noun.ts"
import type { Written } from "../../../ledger/Written.ts"

/** `pending` is sent, and sent again when that fails, up to the end of the schedule: then it is `failed`, and can be sent again by hand. */
export const Status = Schema.Literals(["pending", "delivered", "failed"])
export type Status = typeof Status.Type

/** What came of the last attempt. */
export const Attempt = Schema.Struct({
  status: Status,
  attempts: Schema.Int,
  /** When it is sent next; null where it has ended. */
  nextAtMillis: Schema.NullOr(Schema.Int),
  lastAtMillis: Schema.NullOr(Schema.Int),
  durationMillis: Schema.NullOr(Schema.Int),
  /** The status of the answer; null where there was none. */
  answered: Schema.NullOr(Schema.Int),
  /** The beginning of the answer, or why there was none. */
  response: Schema.NullOr(Schema.String)
})
export interface Attempt extends Schema.Schema.Type<typeof Attempt> {}

/** One event on its way to one endpoint. */
export const Delivery = Schema.Struct({
  id: Noun.Id,
  companyId: CompanyId.CompanyId,
  endpointId: Noun.Id,
  /** Of which replay it is, and where the event is: an event is sent once in each. */
  epoch: Schema.Int,
  place: Schema.String,
  /** Whose event it is: to the operator's endpoints go those of all companies. */
  eventCompanyId: CompanyId.CompanyId,
  type: Schema.String,
  /** The record that the event is about: its events are sent one after the other. */
  recordId: Schema.String,
  ...Attempt.fields,
  createdAtMillis: Schema.Int
})
export interface Delivery extends Schema.Schema.Type<typeof Delivery> {}

/** The delivery is pending already. */
export class DeliveryPending extends Schema.TaggedError<DeliveryPending>()("DeliveryPending", { id: Schema.String }) {}

const attempt = ["status", "attempts", "nextAtMillis", "lastAtMillis", "durationMillis", "answered", "response"] as const

export const noun = Noun.make("webhook_deliveries", Delivery, {
  moving: attempt,
  unique: [["endpointId", "epoch", "place"]],
  refused: (id) => new DeliveryPending({ id })
})

export const life = {
  // An attempt that is written down late says nothing about a delivery that was sent again meanwhile.
  tried: Noun.move(noun, "tried", { from: ["pending"], expects: ["attempts", "nextAtMillis"], sets: attempt, again: "otherwise" }),
  resent: Noun.move(noun, "resent", {
    from: ["delivered", "failed"],
    to: "pending",
    sets: ["attempts", "nextAtMillis"],
    again: { in: ["pending"], same: ["nextAtMillis"] }
  })
}

export interface DeliveryMade extends Written<"DeliveryMade", readonly [Noun.InsertOf<typeof noun>], "fence", never> {}
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

const parts = ({ id, companyId }: Delivery, atMillis: number) => ({ id, companyId, atMillis, legs: [] as const })

/** It is on its way, or there. */
export const made = (delivery: Delivery, fence: Change.Fence): DeliveryMade => ({
  _tag: "DeliveryMade",
  ...parts(delivery, delivery.createdAtMillis),
  writes: [Noun.insert(noun, delivery)],
  fence
})

/** Another attempt was made. */
export const tried = (delivery: Delivery, attempt: Attempt, fence: Change.Fence, atMillis: number): DeliveryTried => ({
  _tag: "DeliveryTried",
  ...parts(delivery, atMillis),
  writes: [Noun.step(life.tried, delivery, attempt)],
  fence
})

/** It is sent again, by the whole schedule. */
export const resent = (delivery: Delivery, atMillis: number): DeliveryResent => ({
  _tag: "DeliveryResent",
  ...parts(delivery, atMillis),
  writes: [Noun.step(life.resent, delivery, { attempts: 0, nextAtMillis: atMillis })],
  event: { type: "webhook_endpoint.changed", subject: delivery.endpointId }
})
