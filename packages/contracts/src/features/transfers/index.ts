import * as Id from "@satrail/core/base/Id"
import * as Transfer from "@satrail/features/transfers/core/Transfer"
import { Effect } from "effect"
import { committed, companyWith } from "../../Fixtures.ts"
import { subjectOf } from "../../Subject.ts"
import * as Feature from "../Feature.ts"
import { returnOf, transfer } from "./Fixtures.ts"
import * as Journal from "./Journal.ts"

export const transfers = Feature.make({
  money: Journal.money,
  other: Journal.other,
  subjects: {
    // A return has every field but `depositId`.
    transfers: subjectOf(
      Transfer.noun,
      Effect.fnUntraced(function* (companyId) {
        const original = yield* transfer(yield* companyWith(10), companyId, 1)
        yield* committed(Transfer.sent(original))
        return Transfer.returned(original, {
          ...(yield* returnOf(original, 1)),
          depositId: yield* Id.make
        })
      })
    )
  },
  spends: [
    Effect.fnUntraced(function* (companyId, sats) {
      return Transfer.sent(yield* transfer(companyId, yield* companyWith(10), sats))
    })
  ],
  everyState: Effect.fnUntraced(function* (companyId) {
    const other = yield* companyWith(100)
    const [sent, received] = [yield* transfer(companyId, other, 50), yield* transfer(other, companyId, 50)]
    yield* committed(Transfer.sent(sent), Transfer.sent(received))
    yield* committed(Transfer.returned(received, yield* returnOf(received, 20)))
  })
})
