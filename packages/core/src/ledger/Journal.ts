import { Context, Effect, Option, Schema } from "effect"
import * as Outage from "../base/Outage.ts"
import type { Any, RefusalOf } from "./Change.ts"

/** The key was already used for a request with a different body. */
export class IdempotencyMismatch extends Schema.TaggedError<IdempotencyMismatch>()("IdempotencyMismatch", {
  key: Schema.String
}) {}

/** A Change with this id but different content has already been applied. */
export class Conflict extends Schema.TaggedError<Conflict>()("Conflict", {
  change: Schema.String,
  id: Schema.String
}) {}

/** Another process has since claimed the job. The holder of this claim must stop. */
export class StaleFence extends Schema.TaggedError<StaleFence>()("StaleFence", { taskId: Schema.String }) {}

/** The record does not exist or belongs to another company. The error does not distinguish the two. */
export class NotFound extends Schema.TaggedError<NotFound>()("NotFound", {
  what: Schema.String,
  id: Schema.String
}) {}

/** Returns the record that `read` finds. No store finds a record by text that is not an id. */
export const found = <A, E, R>(
  what: string,
  id: string,
  read: Effect.Effect<Option.Option<A>, E, R>
): Effect.Effect<A, E | NotFound, R> =>
  Effect.flatMap(read, (row) =>
    Option.isSome(row) ? Effect.succeed(row.value) : Effect.fail(new NotFound({ what, id }))
  )

/**
 * The store was unreachable or did not respond. The Change may or may not have been applied, so commit the same
 * Change again. With `overloaded` and `closed`, the Change was rejected before anything was done.
 */
export class StoreUnavailable extends Schema.TaggedError<StoreUnavailable>()("StoreUnavailable", {
  operation: Schema.String,
  /** Defaults to `away`. */
  why: Schema.Literals(["away", "overloaded", "closed"]).pipe(
    Schema.withConstructorDefault(Effect.succeed("away"))
  ),
  cause: Schema.Defect(),
  ...Outage.words
}) {}

/**
 * `Applied` by this call or an earlier one with the same id. `Replayed`: the key was already used, and this is
 * its stored response.
 */
export type Applied = { readonly _tag: "Applied" } | { readonly _tag: "Replayed"; readonly answer: string }

export const applied: Applied = { _tag: "Applied" }

/** The only way to change data. */
export class Journal extends Context.Service<
  Journal,
  {
    /**
     * Applies all of `change` or none of it. Applying the same Change again has no effect; the same id with
     * different content is refused. Each company's Changes are applied in the order in which they arrive. A
     * small Change may succeed after an earlier, larger one was refused, but no Change is refused in favor of
     * a later one.
     */
    readonly commit: <C extends Any>(change: C) => Effect.Effect<Applied, RefusalOf<C> | StoreUnavailable>
  }
>()("@satrail/core/ledger/Journal") {}
