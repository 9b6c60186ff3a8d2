import * as Adjustment from "@satrail/core/features/adjustments/Adjustment"
import type { AdjustmentReads } from "@satrail/core/features/adjustments/AdjustmentReads"
import { HashMap } from "effect"
import { newestByTime, type Read } from "../Reading.ts"
import * as State from "../State.ts"

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
