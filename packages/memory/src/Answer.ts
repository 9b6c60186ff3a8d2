import type { AnswerKept, AnswersForgotten } from "@satrail/core/ledger/Answer"
import { HashMap } from "effect"
import type { Kind } from "./Program.ts"
import { compare } from "./Reading.ts"
import type { State } from "./State.ts"

/** Returns the addresses of the responses that expired by `atMillis`, the first to expire first. */
export const expired = ({ answers }: State, atMillis: number): ReadonlyArray<string> =>
  Array.from(answers, ([address, { forgetAtMillis }]) => [address, forgetAtMillis ?? Infinity] as const)
    .filter(([, millis]) => millis <= atMillis)
    .toSorted(([, a], [, b]) => compare(a, b))
    .map(([address]) => address)

const forgotten: Kind<AnswersForgotten> = {
  before: () => undefined,
  move: (state, { atMillis, limit }) => ({
    ...state,
    answers: HashMap.removeMany(state.answers, expired(state, atMillis).slice(0, limit))
  })
}

/** Changes no record. Only the Change's `once` has an effect. */
const kept: Kind<AnswerKept> = { before: () => undefined, move: (state) => state }

export const kinds = { AnswerKept: kept, AnswersForgotten: forgotten }
