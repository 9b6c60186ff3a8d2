import { Schema } from "effect"
import * as Noun from "../ledger/Noun.ts"

/** Members of invoices, addresses and deposits that refer to the feature's record that they serve. */
export const members = {
  /** The checkout that offers this invoice or address as a payment method, or that this deposit paid. */
  checkoutId: Schema.NullOr(Noun.Id)
}

export const Purpose = Schema.Struct(members)
export interface Purpose extends Schema.Schema.Type<typeof Purpose> {}

/** The members of a record that serves no other. */
export const none: Purpose = { checkoutId: null }

/** Returns the members for a record that serves the same one. Omitted members are null. */
export const of = ({ checkoutId = null }: Partial<Purpose>): Purpose => ({ checkoutId })
