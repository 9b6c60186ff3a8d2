import type { Feature } from "@satrail/core/ledger/Feature"
import type * as Noun from "@satrail/core/ledger/Noun"
import * as Descriptions from "@satrail/core/reports/Descriptions"
import * as Table from "../statements/Table.ts"

// Descriptions of payments. `Descriptions` declares the record types that have them.

/** Returns the columns that refer to those records, the same for all payments: `checkout_id, null::uuid as refund_id`. */
export const links = (features: ReadonlyArray<Feature>, kind?: Noun.Members): string => {
  const own = kind === undefined ? [] : Descriptions.of(features, kind)
  return Descriptions.all(features)
    .map((one) => (own.includes(one) ? Table.columnOf(one.by) : `null::uuid as ${Table.columnOf(one.by)}`))
    .join(", ")
}

/** The description of a payment `t` with those columns, or a posting's `own_description`. */
export const column = (features: ReadonlyArray<Feature>): string =>
  `coalesce(t.own_description, ${Descriptions.all(features)
    .map(
      ({ noun, by, description }) =>
        `case when t.${Table.columnOf(by)} is not null then (select d.${Table.columnOf(description)} from satrail.${noun.name} d where d.company_id = t.company_id and d.id = t.${Table.columnOf(by)}) end`
    )
    .join(", ")}, '') as description`
