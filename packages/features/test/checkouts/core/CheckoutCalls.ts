import { Effect } from "effect"
import type { Company } from "@satrail/core/accounts/Company"
import { type Ask, Checkouts } from "../../../src/checkouts/core/Checkouts.ts"
import { asked, made } from "../../../../core/test/World.ts"

/** Creates a checkout of 1000 sats, except for these fields. */
export const create = Effect.fnUntraced(function* ({ id: companyId }: Company, fields: Partial<Ask> = {}) {
  return yield* made(
    (yield* Checkouts).create({
      companyId,
      asked: yield* asked(1000),
      description: "tea",
      orderId: null,
      metadata: {},
      expirySeconds: 3600,
      tolerancePercent: 0,
      returnUrl: null,
      cancelUrl: null,
      locale: "en",
      embedOrigin: null,
      color: null,
      options: [],
      contact: null,
      ...fields
    })
  )
})

export const get = ({ companyId, id }: { readonly companyId: Company["id"]; readonly id: string }) =>
  Effect.flatMap(Checkouts, (checkouts) => checkouts.get(companyId, id))
