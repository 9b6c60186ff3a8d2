import { Offers } from "@satrail/core/features/offers/Offers"
import { type Asked, Prices } from "@satrail/core/nodes/Prices"
import * as Http from "@satrail/http/features/offers/Offers"
import { Effect } from "effect"
import { type First, made, type Of } from "../Sharing.ts"
import { listed, page } from "../Pages.ts"

export const defaults = {
  offers: { create: [{ asked: null, description: "", lightningAddressId: null, metadata: {} }], list: [undefined, page] }
} as const
export const options = {
  offers: { create: ["amount company description idempotencyKey lightningAddressId metadata"], list: [undefined, listed] }
} as const

type OfferAsk = First<Offers["Service"]["create"]>
export const shared = (of: Of) => ({
  offers: {
    /** Creates an offer, whose payments must have at least `amount`. Without an amount, the payer decides. */
    create: Effect.fnUntraced(function* ({
      asked,
      description,
      ...others
    }: Omit<OfferAsk, "amount" | "memo"> & { readonly asked: Asked | null; readonly description: string }) {
      const amount = asked === null ? null : (yield* of(Prices).price(asked)).amount
      return yield* of(Offers).create({ ...others, memo: description, amount })
    })
  }
})
export const views = { offers: made(Http.view.of) } as const
