import { Effect } from "effect"
import * as CompanyId from "../base/CompanyId.ts"
import type * as Change from "./Change.ts"
import type { IdempotencyMismatch } from "./Journal.ts"

/** What was answered to the first request with a key, and what that request was. */
export interface Answer {
  readonly fingerprint: string
  readonly answer: string
}

/** How long a key is remembered. A withdrawal's is never forgotten. */
export const keptMillis = 30 * 24 * 3600 * 1000

/**
 * A request that may be repeated: whose key it is, a digest of what was sent with it, and how its result will be rendered. What `render` gives is stored
 * as it is: a secret in it, such as a voucher's link, must be encrypted there.
 */
export interface Request<A> {
  readonly key: string
  readonly fingerprint: string
  readonly render: (result: A) => string
}

/** What a creation came to: made now, or made before by a request with the same key, whose rendered answer this is. */
export type Outcome<A> = { readonly _tag: "Made"; readonly value: A } | { readonly _tag: "Replayed"; readonly answer: string }

/** What a creation without a key made: only a request with one can be a replay. */
export const made = <A>(outcome: Outcome<A>): Effect.Effect<A> =>
  outcome._tag === "Made"
    ? Effect.succeed(outcome.value)
    : Effect.die("this answers a request with a key, whose value is in the rendered answer")

/** Nothing else happens: what was asked for was so already. */
export interface AnswerKept extends Change.Parts<"AnswerKept", IdempotencyMismatch> {}
export interface AnswersForgotten extends Change.Parts<"AnswersForgotten"> {}

/** The part of a Change that makes it happen once. */
export const once = <A>(
  owner: CompanyId.CompanyId,
  request: Request<A> | undefined,
  value: A,
  forgetAtMillis: number | null
): Change.Once | undefined =>
  request && { owner, key: request.key, fingerprint: request.fingerprint, answer: request.render(value), forgetAtMillis }

/** The answer to a request that had nothing left to do is kept like any other: the same key gets the same again. */
export const kept = (id: string, companyId: CompanyId.CompanyId, atMillis: number, once: Change.Once): AnswerKept => ({
  _tag: "AnswerKept",
  id,
  companyId,
  atMillis,
  legs: [],
  once
})

/** Every answer whose time is over by `atMillis` is forgotten. */
export const forgotten = (id: string, atMillis: number): AnswersForgotten => ({
  _tag: "AnswersForgotten",
  id,
  companyId: CompanyId.operator,
  atMillis,
  legs: []
})
