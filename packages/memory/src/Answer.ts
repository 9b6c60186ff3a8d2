import type { AnswerKept, AnswersForgotten } from "@satrail/core/ledger/Answer"
import { HashMap } from "effect"
import type { Kind } from "./Program.ts"

const forgotten: Kind<AnswersForgotten> = {
  before: () => undefined,
  move: (state, { atMillis }) => ({
    ...state,
    answers: HashMap.filter(state.answers, (kept) => kept.forgetAtMillis === null || kept.forgetAtMillis > atMillis)
  })
}

/** Changes no record. Only the Change's `once` has an effect. */
const kept: Kind<AnswerKept> = { before: () => undefined, move: (state) => state }

export const kinds = { AnswerKept: kept, AnswersForgotten: forgotten }
