import { Schema } from "effect"

// Some changes take two operators: one requests, and another approves.

/** An operator who requests or approves a change, identified by their token. */
export interface Operator {
  readonly id: string
  readonly name: string
}

/** Time for which a request waits for the second operator. */
export const waitMillis = 24 * 3_600_000

/** The operator who requests a change cannot approve it. */
export class SameOperator extends Schema.TaggedError<SameOperator>()("SameOperator", {
  id: Schema.String,
  name: Schema.String
}) {}

/** The key, person or operator who requested this no longer has the access that the request needs. */
export class RequesterGone extends Schema.TaggedError<RequesterGone>()("RequesterGone", {
  id: Schema.String
}) {}

const nameOf = (name: string): string => name.normalize("NFKC").trim().toLowerCase()

/** Returns whether two tokens may belong to the same person, judging by their ids and names. */
export const isSame = (a: Operator, b: Operator): boolean =>
  a.id === b.id || nameOf(a.name) === nameOf(b.name)
