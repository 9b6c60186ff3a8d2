import { Schema } from "effect"
import * as Noun from "../ledger/Noun.ts"

/** Fields of invoices, addresses and deposits that name the feature's record for which they exist. */
export const members = {
  /** The checkout that offers this invoice or address as a payment method, or that this deposit paid. */
  checkoutId: Schema.NullOr(Noun.Id)
}

export const Purpose = Schema.Struct(members)
export interface Purpose extends Schema.Schema.Type<typeof Purpose> {}

/** The fields of a record that exists for no other. */
export const none: Purpose = { checkoutId: null }

/** Returns the fields of a record that exists for the same one. Omitted fields are null. */
export const of = ({ checkoutId = null }: Partial<Purpose>): Purpose => ({ checkoutId })
