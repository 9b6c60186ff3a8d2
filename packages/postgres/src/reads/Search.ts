import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as Search from "@satrail/core/reports/Search"
import { Schema } from "effect"
import * as Labels from "../statements/Labels.ts"
import * as Reads from "../statements/Reads.ts"

// Every kind of match reads its own index, and at most a few rows of it.

const Hit = Schema.Struct({
  kind: Schema.Literals(["deposit", "withdrawal", "checkout", "invoice"]),
  id: Schema.String,
  by: Schema.Literals(Search.ways)
})

const each = `limit ${Search.limits.each}`

const part = (kind: Search.Hit["kind"], by: Search.Hit["by"], from: string, where: string, order = "r.id desc") =>
  `(select '${kind}' as kind, r.id, ${Search.ways.indexOf(by)} as way, '${by}' as by from ${from} where ${where} order by ${order} ${each})`

const byId = (kind: Search.Hit["kind"], table: string) =>
  part(kind, "id", `satrail.${table} r`, "r.company_id = $1::uuid and r.id >= $3::uuid and r.id <= $4::uuid")

/** Records with this value in their metadata, whatever its key. */
const byValue = (kind: Search.Hit["kind"], table: string) =>
  part(kind, "text", `satrail.${table}_labels r`, `r.company_id = $1::uuid and r.label = ${Labels.numberOf("''", "lower($2::text)")}`)

/** The newest records whose description contains the text. */
const byDescription = (kind: Search.Hit["kind"], table: string, column: string) =>
  part(
    kind,
    "text",
    `(select d.id, d.${column} from satrail.${table} d where d.company_id = $1::uuid order by d.id desc limit ${Search.limits.looks}) r`,
    `position(lower($2::text) in lower(r.${column})) > 0`
  )

const byAmount = (kind: Search.Hit["kind"], table: string) =>
  part(
    kind,
    "amount",
    `satrail.${table} r`,
    "uuid_send(r.company_id) = uuid_send($1::uuid) and r.amount >= $6::bigint and r.amount <= $7::bigint",
    "r.amount"
  )

// Compare the company as text, so that the planner cannot use its key instead of the intended index.
const byTransaction = (kind: Search.Hit["kind"], table: string) =>
  part(kind, "transaction", `satrail.${table} r`, "r.chain_tx_id = $5::text and r.company_id::text = $1::uuid::text", "r.id::text desc")

const ofCompany = "r.company_id::text = $1::uuid::text"

const text = `
select distinct on (kind, id) kind, id::text, by from (
${[
  part(
    "checkout",
    "order",
    "satrail.checkouts r",
    `uuid_send(r.company_id) = uuid_send($1::uuid) and lower(r.order_id) collate "C" >= lower($2::text) and lower(r.order_id) collate "C" < lower($2::text) || chr(1114111)`,
    `lower(r.order_id) collate "C"`
  ),
  byValue("invoice", "invoices"),
  byValue("deposit", "deposits"),
  byValue("withdrawal", "withdrawals"),
  byDescription("checkout", "checkouts", "description"),
  byDescription("invoice", "invoices", "memo"),
  byId("deposit", "deposits"),
  byId("withdrawal", "withdrawals"),
  byId("checkout", "checkouts"),
  byId("invoice", "invoices"),
  part("invoice", "hash", "satrail.invoices r", `r.payment_hash = $5::text and ${ofCompany}`, "r.id::text desc"),
  part("withdrawal", "hash", "satrail.withdrawals r", `r.payment_hash = $5::text and ${ofCompany}`, "r.id::text desc"),
  byTransaction("deposit", "deposits"),
  byTransaction("withdrawal", "withdrawals"),
  byAmount("deposit", "deposits"),
  byAmount("withdrawal", "withdrawals")
].join("\nunion all\n")}
) found order by kind, id, way`

export const found = Reads.many("Records.found", {
  text,
  values: (companyId: CompanyId.CompanyId, { text, ids, hash, amounts }: Search.Sought) => [
    companyId,
    text,
    ids?.[0] ?? null,
    ids?.[1] ?? null,
    hash,
    amounts === null ? null : String(amounts[0]),
    amounts === null ? null : String(amounts[1])
  ],
  read: Schema.decodeUnknownSync(Hit)
})
