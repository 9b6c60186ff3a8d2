import type { Feature } from "@satrail/core/ledger/Feature"
import * as Table from "../statements/Table.ts"

// Sums over features' records that other records store, as declared by the features (Feature.KeptSum).

/** Selects a company's stored sums that differ from the records, as parts of the union of faults. */
export const faults = (features: ReadonlyArray<Feature>, companyId: string): string =>
  features
    .flatMap(({ keptSums = [] }) => keptSums)
    .map(({ fault, noun, in: statuses, amount, by, ofCompany, of, as }) => {
      const counted =
        statuses === undefined
          ? ""
          : ` and r.status in (${statuses.map((status) => `'${status}'`).join(", ")})`
      const [sum, kept] = [`coalesce(r.amount, 0)`, `k.${Table.columnOf(as)}`]
      return `union all
  select '${fault}', k.id, null, ${sum}, ${kept}
  from (select * from satrail.${of.name} k where k.company_id = ${companyId}) k left join (
    select r.${Table.columnOf(by)} as id, sum(r.${Table.columnOf(amount)}) as amount from satrail.${noun.name} r
    where r.${Table.columnOf(ofCompany)} = ${companyId}${counted} group by 1
  ) r using (id) where ${kept} <> ${sum}`
    })
    .join("\n  ")
