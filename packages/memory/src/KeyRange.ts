import * as KeyRange from "@satrail/core/receiving/KeyRange"
import { HashMap } from "effect"
import { creation, type Kind } from "./Program.ts"
import * as State from "./State.ts"

const reserved: Kind<KeyRange.KeyRangeReserved> = {
  before: (state, change) => creation(change, KeyRange.members, state.keyRanges, change.keyRange),
  move: (state, { id, keyRange }) => {
    const { wallet, first } = keyRange
    return State.nextKey(state, keyRange) === first
      ? { ...state, keyRanges: HashMap.set(state.keyRanges, id, keyRange) }
      : new KeyRange.KeyRangeTaken({ wallet, first })
  }
}

export const kinds = { KeyRangeReserved: reserved }
