import * as Adjustment from "@satrail/features/adjustments/core/Adjustment"
import { Effect } from "effect"
import { subjectOf } from "../../Subject.ts"
import * as Feature from "../Feature.ts"
import { adjustment, approved } from "./Fixtures.ts"
import * as Journal from "./Journal.ts"

export const adjustments = Feature.make({
  money: Journal.money,
  other: Journal.other,
  subjects: {
    adjustments: subjectOf(
      Adjustment.noun,
      (companyId) => Effect.map(adjustment(companyId, 1), (row) => Adjustment.requested(row)),
      {
        booked: (row) => Effect.succeed(approved(row)),
        rejected: (row) =>
          Effect.succeed(Adjustment.rejected(row, { id: "eve", name: "Eve" }, row.createdAtMillis + 1))
      }
    )
  }
})
