import { all as features } from "@satrail/core/features/index"
import type { Holds } from "@satrail/core/ledger/Feature"
import * as Table from "../statements/Table.ts"

// The holds of features' records, as declared by the features (Feature.Holds).

const held: ReadonlyArray<Holds> = features.flatMap(({ holds = [] }) => holds)

const columns = (alias: string, members: ReadonlyArray<string>) => members.map((member) => `${alias}.${Table.columnOf(member)}`).join(" + ")

/** Selects a company's records that hold money, with the transfer and the amount. */
export const ofCompany = (companyId: string): string =>
  held
    .map(
      ({ noun, in: status, members, transfer }) =>
        `select h.${Table.columnOf(transfer)} as transfer_id, ${columns("h", members)} as whole from satrail.${noun.name} h where h.company_id = ${companyId} and h.status = '${status}'`
    )
    .join(" union all ")

/** Selects the same for all companies, as waiting items. */
export const waiting: string = held
  .map(
    ({ noun, in: status, members, waits }) => `
  select '${waits.kind}', h.id, h.company_id, h.created_at_millis, ${columns("h", members)}, k.kind, k.lane, k.due_at_millis, k.attempts
  from satrail.tasks k join satrail.${noun.name} h on h.company_id = k.company_id and h.id = k.id where k.kind = '${waits.task}' and h.status = '${status}'`
  )
  .join(" union all ")
