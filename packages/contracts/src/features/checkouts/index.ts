import * as Id from "@satrail/core/base/Id"
import * as Checkout from "@satrail/features/checkouts/core/Checkout"
import { Effect } from "effect"
import * as Feature from "../Feature.ts"
import { past } from "../../Fixtures.ts"
import { subjectOf } from "../../Subject.ts"
import { row } from "./Fixtures.ts"
import * as Journal from "./Journal.ts"

export const checkouts = Feature.make({
  money: Journal.money,
  other: Journal.other,
  records: { ...Journal.searches, ...Journal.listed },
  subjects: {
    checkouts: subjectOf(
      Checkout.noun,
      Effect.fnUntraced(function* (companyId) {
        const createdAtMillis = yield* past
        const [id, invoiceId, onChainAddressId, publicId] = [
          yield* Id.make,
          yield* Id.make,
          yield* Id.make,
          yield* Id.make
        ]
        const times = {
          createdAtMillis,
          updatedAtMillis: createdAtMillis,
          expiresAtMillis: createdAtMillis + 1000
        }
        return Checkout.created(row({ id, companyId, publicId, invoiceId, onChainAddressId, ...times }))
      }),
      { moved: (row) => Effect.succeed(Checkout.canceled(row, row.createdAtMillis + 1)) }
    )
  }
})
