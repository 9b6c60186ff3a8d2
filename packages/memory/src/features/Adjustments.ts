import * as Adjustment from "@satrail/core/features/adjustments/Adjustment"
import type { AdjustmentReads } from "@satrail/core/features/adjustments/AdjustmentReads"
import { HashMap } from "effect"
import { newest } from "../Lists.ts"
import type { Read } from "../Reading.ts"
import * as State from "../State.ts"

export const make = (read: Read): AdjustmentReads["Service"] => ({
  adjustment: (id) => read((now) => HashMap.get(State.of(now, Adjustment.noun), id)),
  adjustments: ({ after, limit, status }) =>
    read((now) =>
      State.all(now, Adjustment.noun)
        .filter((one) => (after === null || newest(after, one) < 0) && (status === null || one.status === status))
        .toSorted(newest)
        .slice(0, limit)
    )
})
