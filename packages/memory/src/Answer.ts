import type { AnswersForgotten } from "@satrail/core/ledger/Answer"
import { HashMap } from "effect"
import type { Kind } from "./Program.ts"

const forgotten: Kind<AnswersForgotten> = {
  before: () => undefined,
  move: (state, { atMillis }) => ({
    ...state,
    answers: HashMap.filter(state.answers, (kept) => kept.forgetAtMillis === null || kept.forgetAtMillis > atMillis)
  })
}

export const kinds = { AnswersForgotten: forgotten }
