import type { Feature } from "@satrail/core/ledger/Feature"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as Descriptions from "@satrail/core/reports/Descriptions"
import * as Search from "@satrail/core/reports/Search"
import { Schema } from "effect"
import * as Labels from "../statements/Labels.ts"
import * as Reads from "../statements/Reads.ts"
import * as Table from "../statements/Table.ts"
import * as Stored from "./Stored.ts"

// Every kind of match reads its own index, and at most a few rows of it.

const Hit = Schema.Struct({
  kind: Schema.String,
  id: Schema.String,
  by: Schema.Literals(Search.ways)
})

const each = `limit ${Search.limits.each}`

const part = (
  table: string,
  by: Search.Hit["by"],
  where: string,
  order = "r.id desc",
  from = `satrail.${table}`
) =>
  `(select '${table}' as kind, r.id, ${Search.ways.indexOf(by)} as way, '${by}' as by from ${from} r where ${where} order by ${order} ${each})`

const byId = (table: string) =>
  part(table, "id", "r.company_id = $1::uuid and r.id >= $3::uuid and r.id <= $4::uuid")

/** Records whose order id begins with the text. */
const byOrder = (table: string, column: string) => {
  const order = `lower(r.${column}) collate "C"`
  const isOrder = `${order} >= lower($2::text) and ${order} < lower($2::text) || chr(1114111)`
  return part(table, "order", `uuid_send(r.company_id) = uuid_send($1::uuid) and ${isOrder}`, order)
}

/** Records with this value in their metadata, whatever its key. */
const byValue = (table: string) => {
  const isValue = `r.company_id = $1::uuid and r.label = ${Labels.numberOf("''", "lower($2::text)")}`
  return part(table, "text", isValue, undefined, `satrail.${table}_labels`)
}

/** The newest records whose description contains the text. */
const byDescription = (table: string, column: string) => {
  const newest = `(select d.id, d.${column} from satrail.${table} d where d.company_id = $1::uuid order by d.id desc limit ${Search.limits.looks})`
  return part(table, "text", `position(lower($2::text) in lower(r.${column})) > 0`, undefined, newest)
}

const byAmount = (table: string) =>
  part(
    table,
    "amount",
    "uuid_send(r.company_id) = uuid_send($1::uuid) and r.amount >= $6::bigint and r.amount <= $7::bigint",
    "r.amount"
  )

// Compare the company as text, so that the planner cannot use its key instead of the intended index.
const ofCompany = "r.company_id::text = $1::uuid::text"

const byTransaction = (table: string) =>
  part(table, "transaction", `r.chain_tx_id = $5::text and ${ofCompany}`, "r.id::text desc")

const byHash = (table: string, column: string, hash: string) =>
  part(table, "hash", `r.${column} = ${hash}::text and ${ofCompany}`, "r.id::text desc")

/** Addresses are unique, so at most one row is read. */
const byAddress = part(
  "on_chain_addresses",
  "recipient",
  `r.address = $8::text and ${ofCompany}`,
  "r.id::text desc"
)
const byLightningAddress = part(
  "lightning_addresses",
  "recipient",
  `r.handle = split_part($10::text, '@', 1) and r.domain = split_part($10::text, '@', 2) and ${ofCompany}`,
  "r.id::text desc"
)

/** On-chain payments to the address. Addresses may be long names, so the index has their hash. */
const byChainRecipient = (table: string) => {
  const isRecipient =
    "hashtextextended(r.recipient, 0) = hashtextextended($8::text, 0) and r.recipient = $8::text"
  const ofCompany = "uuid_send(r.company_id) = uuid_send($1::uuid)"
  return part(
    table,
    "recipient",
    `${ofCompany} and r.rail = 'on_chain' and ${isRecipient}`,
    "uuid_send(r.id) desc"
  )
}

/** The newest withdrawals to the payee, whatever it is called. */
const byPayee = part(
  "withdrawals",
  "recipient",
  "r.recipient in ($8::text, $9::text, $10::text) or r.payment_request in ($8::text, $9::text)",
  undefined,
  `(
    select d.id, d.recipient, d.payment_request from satrail.withdrawals d
    where d.company_id = $1::uuid and coalesce($8::text, $9::text, $10::text) is not null order by d.id desc limit ${Search.limits.looks}
  )`
)

const textOf = (features: ReadonlyArray<Feature>): string => `
select distinct on (kind, id) kind, id::text, by from (
${[
  ...Descriptions.ordered(features).flatMap(({ noun: { name }, orderId, description }) => [
    byOrder(name, Table.columnOf(orderId)),
    byDescription(name, Table.columnOf(description)),
    byId(name)
  ]),
  ...["invoices", "deposits", "withdrawals"].flatMap((table) => [byValue(table), byId(table)]),
  byDescription("invoices", "memo"),
  ...["$5", "$11"].flatMap((hash) => [
    byHash("invoices", "payment_hash", hash),
    byHash("withdrawals", "payment_hash", hash),
    byHash("withdrawals", "reported_hash", hash)
  ]),
  ...["deposits", "withdrawals"].flatMap((table) => [
    byTransaction(table),
    byAmount(table),
    byChainRecipient(table)
  ]),
  byAddress,
  byLightningAddress,
  byPayee
].join("\nunion all\n")}
) found order by kind, id, way`

export const found = Stored.by((features) =>
  Reads.many("Records.found", {
    isHeavy: true,
    text: textOf(features),
    values: (
      companyId: CompanyId.CompanyId,
      { text, ids, hash, preimageHash, amounts, ...payee }: Search.Sought
    ) => [
      companyId,
      text,
      ids?.[0] ?? null,
      ids?.[1] ?? null,
      hash,
      amounts === null ? null : String(amounts[0]),
      amounts === null ? null : String(amounts[1]),
      payee.address,
      payee.recipient,
      payee.lightningAddress,
      preimageHash
    ],
    read: Schema.decodeUnknownSync(Hit)
  })
)
