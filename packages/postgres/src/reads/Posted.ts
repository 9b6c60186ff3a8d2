import type { Feature } from "@satrail/core/ledger/Feature"
import * as Lists from "../statements/Lists.ts"
import * as Table from "../statements/Table.ts"
import * as Described from "./Described.ts"

// The postings of features' records, as declared by the features (Posts).

const postsOf = (features: ReadonlyArray<Feature>) =>
  features.flatMap(({ posts = [] }) =>
    posts.map(({ noun, of, in: status, debits, amount, transfer, atMillis, ...post }) => {
      const column = (member: string | undefined, otherwise: string) =>
        member === undefined ? otherwise : Table.columnOf(member)
      return {
        from: post.from,
        type: post.type,
        rail: post.rail === null ? "null" : `'${post.rail}'`,
        table: `satrail.${noun.name}`,
        company: Table.columnOf(of),
        isPosted: (row: string) => (status === undefined ? "" : ` and ${row}.status = '${status}'`),
        amount: (row: string) => `${debits ? "-" : ""}${row}.${Table.columnOf(amount)}`,
        transfer: Table.columnOf(transfer),
        at: Table.columnOf(atMillis),
        isTimeInId: post.isTimeInId,
        reason: column(post.reason, "null"),
        recipient: post.recipient === undefined ? "''" : `${Table.columnOf(post.recipient)}::text`,
        described: column(post.description, "null::text"),
        metadata: column(post.metadata, "'{}'::json")
      }
    })
  )

/**
 * Selects the accounts that each record of a company credited or debited, as parts of a union of (transfer,
 * account, amount).
 */
export const ofCompany = (features: ReadonlyArray<Feature>, companyId: string): string =>
  postsOf(features)
    .map(
      ({ table, company, isPosted, amount, transfer, from }) => `union all
    select p.${transfer}, v.* from (select * from ${table} p where p.${company} = ${companyId}${isPosted("p")}) p
    cross join lateral (values ('available', ${amount("p")}), ('${from}', -(${amount("p")}))) as v(account, amount)`
    )
    .join("\n    ")

/** The records as transactions, listed by posting time. */
export const transactions = (features: ReadonlyArray<Feature>): ReadonlyArray<string> =>
  postsOf(features).map((one) => {
    const { table, company, isPosted, amount, reason, at, type, rail, recipient, described, metadata } = one
    const isOf = one.isTimeInId
      ? `r.${company} = {company}::uuid and r.id < {beforeId}::uuid and r.id >= {fromId}::uuid`
      : `uuid_send(r.${company}) = uuid_send({company}::uuid)`
    return Lists.part({
      columns: `id, ${company}, ${amount("r")}, ${recipient} as recipient, ${rail} as rail, '${type}' as type, 0 as fee, 'settled' as status, ${reason},
      ${metadata}, null as failure, ${Described.links(features)}, ${described} as own_description, ${at}`,
      from: `${table} r`,
      where: `${isOf}${isPosted("r")}
    and (r.${at}, r.id) < ({startMillis}::bigint, {startId}::uuid)
    and r.${at} > {createdAfter}::bigint and coalesce({type} = '${type}', true)`,
      order: one.isTimeInId ? "r.id desc" : `r.${at} desc, r.id desc`,
      picked: `coalesce({status} = 'settled', true) and ${rail === "null" ? "{rail}::text is null" : `coalesce({rail} = ${rail}, true)`}`
    })
  })

/** Selects the records `a` of these transfers, which have another company, as further parts of a union of subjects. */
export const subjects = (features: ReadonlyArray<Feature>, nulls: string): string =>
  postsOf(features)
    .filter(({ rail }) => rail !== "null")
    .map(
      ({ table, company, amount, transfer, type, rail, recipient, metadata }) => `
union all
select r.${transfer}::text, '${type}', (${amount("r")})::text, r.id::text, ${rail}, ${recipient}, null, null, null, ${nulls}, null, null, null, null, ${metadata}::text
from asked a join ${table} r on r.${transfer} = a.id and r.${company}::text = $1::text`
    )
    .join("")
