import type * as Journal from "@satrail/core/ledger/Journal"
import * as Changes from "@satrail/core/service/Changes"
import type { Change } from "@satrail/core/service/Changes"
import { Context, Effect } from "effect"
import { Asking } from "./Wire.ts"

/** A Change that the store says it applied, and for which request of a customer. */
export interface Applied {
  readonly change: Change
  readonly asking: number | null
}

/** Looks at everything that is committed. */
export interface Watch {
  readonly journal: Journal.Journal["Service"]
  /** What was applied since this was last asked. */
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
