import type * as Journal from "@satrail/core/ledger/Journal"
import * as Changes from "@satrail/core/service/Changes"
import type { Change } from "@satrail/core/service/Changes"
import { Context, Effect } from "effect"
import { Asking } from "./Wire.ts"

/** A Change that the store reports as applied, and the customer request for which it was made. */
export interface Applied {
  readonly change: Change
  readonly asking: number | null
}

/** Observes all commits. */
export interface Watch {
  readonly journal: Journal.Journal["Service"]
  /** Returns the Changes applied since the last call. */
  readonly take: () => ReadonlyArray<Applied>
}

export const make = (journal: Journal.Journal["Service"]): Watch => {
  let applied: Array<Applied> = []
  const commit = (change: Change) =>
    Effect.withFiber<Journal.Applied, Changes.Refusal | Journal.StoreUnavailable>((fiber) =>
      Effect.map(journal.commit(change), (answer) => {
        if (answer._tag === "Applied") applied.push({ change, asking: Context.get(fiber.context, Asking) })
        return answer
      })
    )
  return {
    journal: Changes.journal(commit),
    take: () => {
      const taken = applied
      applied = []
      return taken
    }
  }
}
