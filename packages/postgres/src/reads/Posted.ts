import type { Feature } from "@satrail/core/ledger/Feature"
import * as Lists from "../statements/Lists.ts"
import * as Table from "../statements/Table.ts"
import * as Described from "./Described.ts"

// The postings of features' records, as declared by the features (Posts).

const postsOf = (features: ReadonlyArray<Feature>) =>
  features.flatMap(({ posts = [] }) =>
    posts.map(({ noun, amount, transfer, reason, atMillis, ...post }) => ({
      ...post,
      table: `satrail.${noun.name}`,
      amount: Table.columnOf(amount),
      transfer: Table.columnOf(transfer),
      reason: Table.columnOf(reason),
      at: Table.columnOf(atMillis)
    }))
  )

/**
 * Selects the accounts that each record of a company credited or debited, as parts of a union of (transfer,
 * account, amount).
 */
export const ofCompany = (features: ReadonlyArray<Feature>, companyId: string): string =>
  postsOf(features)
    .map(
      ({ table, in: status, amount, transfer, from }) => `union all
    select p.${transfer}, v.* from (select * from ${table} p where p.company_id = ${companyId} and p.status = '${status}') p
    cross join lateral (values ('available', p.${amount}), ('${from}', -p.${amount})) as v(account, amount)`
    )
    .join("\n    ")

/** The records as transactions without a rail, listed by posting time. */
export const transactions = (features: ReadonlyArray<Feature>): ReadonlyArray<string> =>
  postsOf(features).map(({ table, in: status, amount, reason, at, type }) =>
    Lists.part({
      columns: `id, company_id, ${amount}, '' as recipient, null as rail, '${type}' as type, 0 as fee, 'settled' as status, ${reason},
      '{}'::json as metadata, null as failure, ${Described.links(features)}, ${at}`,
      from: `${table} r`,
      where: `uuid_send(r.company_id) = uuid_send({company}::uuid) and r.status = '${status}'
    and (r.${at}, r.id) < ({startMillis}::bigint, {startId}::uuid)
    and r.${at} > {createdAfter}::bigint and coalesce({type} = '${type}', true)`,
      order: `r.${at} desc, r.id desc`,
      picked: "coalesce({status} = 'settled', true) and {rail}::text is null"
    })
  )
