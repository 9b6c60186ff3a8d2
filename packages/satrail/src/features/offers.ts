import { Offers } from "@satrail/features/offers/core/Offers"
import { type Asked, Prices } from "@satrail/core/nodes/Prices"
import * as Http from "@satrail/features/offers/http/Offers"
import { Effect } from "effect"
import { type First, made, type Of } from "../Sharing.ts"
import { page } from "../Pages.ts"
import {
  anyAmount,
  company,
  fields,
  idempotencyKey,
  ids,
  listOf,
  maybe,
  metadata,
  period,
  text
} from "../Fields.ts"

export const defaults = {
  offers: {
    create: [{ asked: null, description: "", lightningAddressId: null, metadata: {} }],
    list: [undefined, page]
  }
} as const
export const parameters = {
  offers: {
    create: [
      fields({
        company,
        amount: anyAmount,
        idempotencyKey,
        ...maybe({ description: text, lightningAddressId: text, metadata })
      })
    ],
    get: ids,
    list: [company, listOf(period)]
  }
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
