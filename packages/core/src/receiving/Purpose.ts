import { Schema } from "effect"
import * as Noun from "../ledger/Noun.ts"

/** Fields of invoices, addresses and deposits that identify the feature's record they were created for. */
export const members = {
  /** The checkout that offers this invoice or address as a payment method, or that this deposit paid. */
  checkoutId: Schema.NullOr(Noun.Id)
}

export const Purpose = Schema.Struct(members)
export interface Purpose extends Schema.Schema.Type<typeof Purpose> {}

/** For records that were not created for a feature's record. */
export const none: Purpose = { checkoutId: null }

/** Copies these fields from a record. Omitted fields are null. */
export const of = ({ checkoutId = null }: Partial<Purpose>): Purpose => ({ checkoutId })

/** Returns the id of the record that collects several payments until a deadline (see `DepositsOf`), or null. */
export const collectorOf = ({ checkoutId }: Purpose): string | null => checkoutId
