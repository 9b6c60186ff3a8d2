import type { Feature, Holds } from "@satrail/core/ledger/Feature"
import * as Table from "../statements/Table.ts"

// The holds of features' records, as declared by the features (Feature.Holds).

const columns = (alias: string, members: ReadonlyArray<string>) =>
  members.map((member) => `${alias}.${Table.columnOf(member)}`).join(" + ")

/** Selects no rows, in the columns of the two queries below. A union must have a part. */
const none = {
  ofCompany: "select null::uuid as transfer_id, 0::bigint as whole where false",
  waiting:
    "select null, null::uuid, null::uuid, null::bigint, null::bigint, null, null, null::bigint, null::integer where false"
}

/** Queries of the records with these holds. Without features that hold money, they select no rows. */
export const make = (held: ReadonlyArray<Holds>) => ({
  /** Selects a company's records that hold money, with the transfer and the amount. */
  ofCompany: (companyId: string): string =>
    held
      .map(
        ({ noun, in: status, members, transfer }) =>
          `select h.${Table.columnOf(transfer)} as transfer_id, ${columns("h", members)} as whole from satrail.${noun.name} h where h.company_id = ${companyId} and h.status = '${status}'`
      )
      .join(" union all ") || none.ofCompany,
  /** Selects the same for all companies, as waiting items. */
  waiting:
    held
      .map(
        ({ noun, in: status, members, waits }) => `
  select '${waits.kind}', h.id, h.company_id, h.created_at_millis, ${columns("h", members)}, k.kind, k.lane, k.due_at_millis, k.attempts
  from satrail.tasks k join satrail.${noun.name} h on h.company_id = k.company_id and h.id = k.id where k.kind = '${waits.task}' and h.status = '${status}'`
      )
      .join(" union all ") || none.waiting
})

/** The same, for the holds of these features. */
export const of = (features: ReadonlyArray<Feature>) => make(features.flatMap(({ holds = [] }) => holds))
