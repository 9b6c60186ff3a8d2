import { Clock, Effect } from "effect"
import type * as CompanyId from "../base/CompanyId.ts"
import * as Id from "../base/Id.ts"
import * as Answer from "./Answer.ts"
import type { Outcome, Request } from "./Answer.ts"
import { type Applied, IdempotencyMismatch, type Journal, type StoreUnavailable } from "./Journal.ts"
import type { LedgerReads } from "./LedgerReads.ts"

/**
 * Returns the stored response for this key. Check it before anything else, because a price or invoice may have
 * changed or expired since, but the response must not change. Undefined if there is no stored response or no
 * key.
 */
export const earlier = <A>(
  ledger: LedgerReads["Service"],
  owner: CompanyId.CompanyId,
  request: Request<A> | undefined
): Effect.Effect<Outcome<never> | undefined, IdempotencyMismatch | StoreUnavailable> => {
  if (request === undefined) return Effect.undefined
  return Effect.flatMap(ledger.answer(owner, request.key), (found) => {
    if (found._tag === "None") return Effect.undefined
    return Answer.isSame(found.value, request)
      ? Effect.succeed<Outcome<never>>({ _tag: "Replayed", answer: found.value.answer })
      : Effect.fail(new IdempotencyMismatch({ key: request.key }))
  })
}

/**
 * Returns the stored response if a creation is refused because a repetition, such as in another process, took effect
 * since `earlier`. Use it if the creation's own effect refuses the repetition before the commit.
 */
export const orEarlier =
  <A>(ledger: LedgerReads["Service"], owner: CompanyId.CompanyId, request: Request<A> | undefined) =>
  <E, R>(create: Effect.Effect<Outcome<A>, E, R>) =>
    create.pipe(
      Effect.catch((error) =>
        Effect.flatMap(earlier(ledger, owner, request), (found) =>
          found === undefined ? Effect.fail(error) : Effect.succeed(found)
        )
      )
    )

/**
 * Stores the result of a request that changed nothing, or whose Change stores no response, for later requests
 * with the same key.
 */
export const keep = Effect.fnUntraced(function* <A>(
  journal: Journal["Service"],
  owner: CompanyId.CompanyId,
  request: Request<A> | undefined,
  value: A
): Effect.fn.Return<Outcome<A>, IdempotencyMismatch | StoreUnavailable> {
  const nowMillis = yield* Clock.currentTimeMillis
  const once = Answer.once(owner, request, value, nowMillis + Answer.keptMillis)
  if (once !== undefined) yield* journal.commit(Answer.kept(yield* Id.make, owner, nowMillis, once))
  return { _tag: "Made", value }
})

/** Converts the result of a commit for the caller. */
export const outcome = <A>(applied: Applied, value: A): Outcome<A> =>
  applied._tag === "Replayed" ? { _tag: "Replayed", answer: applied.answer } : { _tag: "Made", value }
