import { Schema } from "effect"
import * as CompanyId from "../base/CompanyId.ts"
import * as Noun from "../ledger/Noun.ts"

/** Fields of invoices, addresses and deposits that identify the feature's record they were created for. */
export const references = {
  /** The checkout that offers this invoice or address as a payment method, or that this deposit paid. */
  checkoutId: Schema.NullOr(Noun.Id)
}

/** The most companies that can share a payment. */
export const maxSplits = 10

/** The share of another company in each payment. */
export const Split = Schema.Struct({
  companyId: CompanyId.CompanyId,
  /** Hundredths of a percent of the amount received: 1250 for 12.5%. */
  basisPoints: Schema.Int
})
export interface Split extends Schema.Schema.Type<typeof Split> {}

/** What a payment is for: the record that it pays, and the companies that get a share of it (`CreditShares`). */
export const members = {
  ...references,
  splits: Schema.NullOr(Schema.Array(Split))
}

const References = Schema.Struct(references)
export interface References extends Schema.Schema.Type<typeof References> {}

export const Purpose = Schema.Struct(members)
export interface Purpose extends Schema.Schema.Type<typeof Purpose> {}

/** Copies the references from a record. Omitted fields are null. */
export const referencesOf = ({ checkoutId = null }: Partial<References>): References => ({ checkoutId })

/** For records that were not created for a feature's record. */
export const noReferences: References = referencesOf({})

/** Copies these fields from a record. Omitted fields are null. */
export const of = ({ splits = null, ...more }: Partial<Purpose>): Purpose => ({
  ...referencesOf(more),
  splits
})

/** For records that were not created for a feature's record, and whose payments are not shared. */
export const none: Purpose = of({})

/** Returns the id of the record that collects several payments until a deadline (see `DepositsOf`), or null. */
export const collectorOf = ({ checkoutId }: References): string | null => checkoutId
