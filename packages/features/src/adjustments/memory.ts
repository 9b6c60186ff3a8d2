import * as Adjustment from "./core/Adjustment.ts"
import type { AdjustmentReads } from "./core/AdjustmentReads.ts"
import { HashMap } from "effect"
import { newestByTime, type Read } from "@satrail/memory/Reading"
import * as State from "@satrail/memory/State"

export const make = (read: Read): AdjustmentReads["Service"] => ({
  adjustment: (id) => read((now) => HashMap.get(State.of(now, Adjustment.noun), id)),
  adjustments: ({ after, limit, status }) =>
    read((now) =>
      newestByTime(
        State.all(now, Adjustment.noun).filter((one) => status === null || one.status === status),
        after,
        limit
      )
    )
})
