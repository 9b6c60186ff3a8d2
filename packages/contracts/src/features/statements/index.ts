import * as MonthEnd from "@satrail/features/statements/core/MonthEnd"
import { Effect } from "effect"
import { subjectOf } from "../../Subject.ts"
import * as Feature from "../Feature.ts"
import { money, monthEnd } from "./MonthEnds.ts"

export const statements = Feature.make({
  money: {},
  other: {},
  books: money,
  subjects: {
    month_ends: subjectOf(MonthEnd.noun, (companyId) =>
      Effect.map(monthEnd(companyId), (row) =>
        MonthEnd.closed({ ...row, number: 1 + Number.parseInt(row.id.slice(-7), 16) })
      )
    )
  }
})
