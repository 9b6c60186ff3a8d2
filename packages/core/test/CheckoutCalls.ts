import { Effect } from "effect"
import type { Company } from "../src/accounts/Company.ts"
import { type Ask, Checkouts } from "../src/features/checkouts/Checkouts.ts"
import { asked, made } from "./World.ts"

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
