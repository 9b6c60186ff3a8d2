import { Effect } from "effect"
import * as CompanyId from "../base/CompanyId.ts"
import * as Change from "./Change.ts"
import type { IdempotencyMismatch } from "./Journal.ts"

/** The stored response to the first request with an idempotency key, and what identifies that request. */
export interface Answer {
  readonly fingerprint: string
  /** Null if an earlier version stored the response. */
  readonly meaning: string | null
  readonly answer: string
}

/** Time for which a key is stored. A withdrawal's key is stored permanently. */
export const keptMillis = 30 * 24 * 3600 * 1000

/**
 * A request with an idempotency key: the key, digests of the request, and a function that renders its
 * result. The output of `render` is stored as is, so it must encrypt secrets such as a voucher's link.
 */
export interface Request<A> {
  readonly key: string
  /** Digest of the request as it was sent, so that it is recognized after any upgrade. */
  readonly fingerprint: string
  /** Digest of what the request asks for (`Meaning.digest`). A request with the same meaning is the same request, however it is written. */
  readonly meaning?: string
  readonly render: (result: A) => string
}

/** Returns whether a request is the one whose response is stored: sent in the same form, or with the same meaning. */
export const isSame = (
  stored: Pick<Answer, "fingerprint" | "meaning">,
  { fingerprint, meaning }: Pick<Change.Once, "fingerprint" | "meaning">
): boolean => stored.fingerprint === fingerprint || (meaning !== undefined && stored.meaning === meaning)

/**
 * The result of a creation: a new value, or the rendered response to an earlier request with the same key.
 */
export type Outcome<A> =
  | { readonly _tag: "Made"; readonly value: A }
  | { readonly _tag: "Replayed"; readonly answer: string }

/** Returns the value of a request that had no key. Only a request with a key can be a replay. */
export const made = <A>(outcome: Outcome<A>): Effect.Effect<A> =>
  outcome._tag === "Made"
    ? Effect.succeed(outcome.value)
    : Effect.die("a replayed response has no value, only its rendered text")

/** Stores the response to a request that changed nothing, because the requested state already held. */
export interface AnswerKept extends Change.Parts<"AnswerKept", IdempotencyMismatch> {}
export interface AnswersForgotten extends Change.Parts<"AnswersForgotten"> {
  readonly limit: number
}

/** Returns the part of a Change that makes it idempotent. */
export const once = <A>(
  owner: CompanyId.CompanyId,
  request: Request<A> | undefined,
  value: A,
  forgetAtMillis: number | null
): Change.Once | undefined => {
  if (request === undefined) return undefined
  const { render, ...known } = request
  return { owner, ...known, answer: render(value), forgetAtMillis }
}

/** Stores the response to a request that changed nothing, so the same key returns it again. */
export const kept = (
  id: string,
  companyId: CompanyId.CompanyId,
  atMillis: number,
  once: Change.Once
): AnswerKept => ({
  _tag: "AnswerKept",
  ...Change.on({ id, companyId }, atMillis),
  once
})

/** Deletes responses that expired by `atMillis`: the first `limit` to expire. */
export const forgotten = (id: string, atMillis: number, limit: number): AnswersForgotten => ({
  _tag: "AnswersForgotten",
  ...Change.on({ id, companyId: CompanyId.operator }, atMillis),
  limit
})
