import { Context, Effect, Schema } from "effect"
import * as Outage from "../base/Outage.ts"
import type { Any, RefusalOf } from "./Change.ts"

/** The key was used before for a request with another body. */
export class IdempotencyMismatch extends Schema.TaggedError<IdempotencyMismatch>()("IdempotencyMismatch", {
  key: Schema.String
}) {}

/** A Change with this id was applied before, with other content. Neither is what the other says. */
export class Conflict extends Schema.TaggedError<Conflict>()("Conflict", { change: Schema.String, id: Schema.String }) {}

/** Another process has claimed the job since: the holder of this claim must stop. */
export class StaleFence extends Schema.TaggedError<StaleFence>()("StaleFence", { taskId: Schema.String }) {}

/** There is no such record, or it is another company's: the error is the same. */
export class NotFound extends Schema.TaggedError<NotFound>()("NotFound", { what: Schema.String, id: Schema.String }) {}

/**
 * The store could not be reached or did not answer. The Change may or may not have been applied: commit the same one again. `overloaded` and
 * `closed` turned it away before anything was done.
 */
export class StoreUnavailable extends Schema.TaggedError<StoreUnavailable>()("StoreUnavailable", {
  operation: Schema.String,
  /** `away` unless given. */
  why: Schema.Literals(["away", "overloaded", "closed"]).pipe(Schema.withConstructorDefault(Effect.succeed("away"))),
  cause: Schema.Defect(),
  ...Outage.words
}) {}

/** Applied by this call or an earlier one with the same id; or replayed: its key was used before, for this answer. */
export type Applied = { readonly _tag: "Applied" } | { readonly _tag: "Replayed"; readonly answer: string }

export const applied: Applied = { _tag: "Applied" }

/** The one way to change anything. */
export class Journal extends Context.Service<
  Journal,
  {
    /**
     * Applies all of `change` or nothing. Applying the same Change twice is applying it once; the same id with other content is refused.
     * First come, first served for each company: a later small one may pass an earlier too-large one's refusal, never the other way round.
     */
    readonly commit: <C extends Any>(change: C) => Effect.Effect<Applied, RefusalOf<C> | StoreUnavailable>
  }
>()("@satrail/core/ledger/Journal") {}
