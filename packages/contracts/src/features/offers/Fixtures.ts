import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import * as IssuedOffer from "@satrail/features/offers/core/IssuedOffer"
import { Effect } from "effect"
import { past } from "../../Fixtures.ts"

export const offer = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId) {
  const [id, lightningAddressId, createdAtMillis] = [yield* Id.make, yield* Id.make, yield* past]
  const shown = {
    offer: `lno1${id}`,
    memo: "coffee",
    metadata: { shelf: "3" },
    lightningAddress: "satoshi@pay.example.com"
  }
  return IssuedOffer.created({
    id,
    companyId,
    nodeId: "d34db33f",
    ...shown,
    lightningAddressId,
    createdAtMillis
  })
})
