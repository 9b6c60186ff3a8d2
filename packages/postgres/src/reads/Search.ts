import type { Feature } from "@satrail/core/ledger/Feature"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Descriptions from "@satrail/core/reports/Descriptions"
import * as Search from "@satrail/core/reports/Search"
import { Effect, Schema } from "effect"
import * as Labels from "../statements/Labels.ts"
import * as Reads from "../statements/Reads.ts"
import * as Table from "../statements/Table.ts"
import * as Stored from "./Stored.ts"

// Every kind of match reads its own index, and at most a few rows of it. A search of all companies reads an index that
// begins with the company once for each company.

const Hit = Schema.Struct({
  kind: Schema.String,
  companyId: CompanyId.CompanyId,
  id: Schema.String,
  by: Schema.Literals(Search.ways)
})

const each = `limit ${Search.limits.each}`

/** A way of matching: in one company, and in all of them unless it would read too much. */
interface Part {
  readonly own: string
  readonly anywhere?: string
}

const part = (
  table: string,
  by: Search.Hit["by"],
  where: string,
  order = "r.id desc",
  from = `satrail.${table}`
) =>
  `(select '${table}' as kind, r.company_id, r.id, ${Search.ways.indexOf(by)} as way, '${by}' as by from ${from} r where ${where} order by ${order} ${each})`

const given = "$1::uuid"

/** A match by an index that begins with the company. */
const ofEach = (make: (company: string) => string): Part => ({
  own: make(given),
  anywhere: `(select p.* from satrail.companies c cross join lateral ${make("c.id")} p order by p.id desc ${each})`
})

// Compare the company as text, so that the planner cannot use its key instead of the intended index.
const ofCompany = `and r.company_id::text = ${given}::text`

/** A match by an index of all companies. */
const ofAll = (make: (ofCompany: string) => string): Part => ({ own: make(ofCompany), anywhere: make("") })

const isId = (column: string) => `${column} >= $3::uuid and ${column} <= $4::uuid`

const byId = (table: string) =>
  ofEach((company) => part(table, "id", `r.company_id = ${company} and ${isId("r.id")}`))

const byTransfer = (table: string) =>
  ofAll((ofCompany) => part(table, "id", `${isId("r.ledger_tx_id")} ${ofCompany}`, "r.id::text desc"))

/** Records with a text that begins with the search text, such as an order id. */
const byBeginning = (table: string, by: Search.Hit["by"], column: string) => {
  const text = `lower(r.${column}) collate "C"`
  const isText = `${text} >= lower($2::text) and ${text} < lower($2::text) || chr(1114111)`
  return ofEach((company) =>
    part(table, by, `uuid_send(r.company_id) = uuid_send(${company}) and ${isText}`, text)
  )
}

/** Records with this value in their metadata, whatever its key. */
const byLabel = (table: string) =>
  ofEach((company) => {
    const isLabel = `r.company_id = ${company} and r.label = ${Labels.numberOf("''", "lower($2::text)")}`
    return part(table, "text", isLabel, undefined, `satrail.${table}_labels`)
  })

/** A company's newest records, with these columns. */
const newest = (table: string, ...columns: ReadonlyArray<string>) =>
  `(select ${["id", "company_id", ...columns].map((column) => `d.${column}`).join(", ")} from satrail.${table} d where d.company_id = ${given} order by d.id desc limit ${Search.limits.looks})`

/** The newest records whose description contains the text. */
const byDescription = (table: string, column: string): Part => ({
  own: part(
    table,
    "text",
    `position(lower($2::text) in lower(r.${column})) > 0`,
    undefined,
    newest(table, column)
  )
})

const isCurrency = "($13::text is null or r.fiat_currency = $13::text)"

/** The newest records for which this amount of fiat was requested. */
const byFiat = (table: string, column: string): Part => ({
  own: part(
    table,
    "value",
    `r.${column} = $12::text and ${isCurrency}`,
    undefined,
    newest(table, column, "fiat_currency")
  )
})

/** The newest records worth this amount of fiat at their rate, like `Search.isWorth`. */
const byWorth = (table: string): Part => {
  const off = "abs(r.amount * r.rate::numeric / 100000000000 - $12::numeric)"
  const isWorth = `case when r.rate ~ '${Search.isRate.source}' then ${off} <= greatest(0.005, r.rate::numeric / 100000000) else false end`
  return {
    own: part(
      table,
      "value",
      `$12::text is not null and ${isCurrency} and ${isWorth}`,
      undefined,
      newest(table, "amount", "rate", "fiat_currency")
    )
  }
}

const byAmount = (table: string): Part => ({
  own: part(
    table,
    "amount",
    `uuid_send(r.company_id) = uuid_send(${given}) and r.amount >= $6::bigint and r.amount <= $7::bigint`,
    "r.amount"
  )
})

/** Records with a text in hex that begins with the search text. */
const byHex = (table: string, by: Search.Hit["by"], column: string) =>
  ofAll((ofCompany) =>
    part(table, by, `r.${column} >= $14::text and r.${column} < $15::text ${ofCompany}`, "r.id::text desc")
  )

const byHash = (table: string, column: string, hash: string) =>
  ofAll((ofCompany) => part(table, "hash", `r.${column} = ${hash}::text ${ofCompany}`, "r.id::text desc"))

/** Addresses are unique, so at most one row is read. */
const byAddress = ofAll((ofCompany) =>
  part("on_chain_addresses", "recipient", `r.address = $8::text ${ofCompany}`, "r.id::text desc")
)
const byLightningAddress = ofAll((ofCompany) =>
  part(
    "lightning_addresses",
    "recipient",
    `r.handle = split_part($10::text, '@', 1) and r.domain = split_part($10::text, '@', 2) ${ofCompany}`,
    "r.id::text desc"
  )
)

/** On-chain payments to the address. Addresses may be long names, so the index has their hash. */
const byChainRecipient = (table: string) => {
  const isRecipient =
    "hashtextextended(r.recipient, 0) = hashtextextended($8::text, 0) and r.recipient = $8::text"
  return ofEach((company) =>
    part(
      table,
      "recipient",
      `uuid_send(r.company_id) = uuid_send(${company}) and r.rail = 'on_chain' and ${isRecipient}`,
      "uuid_send(r.id) desc"
    )
  )
}

/** The newest withdrawals to the payee, whatever it is called. */
const byPayee: Part = {
  own: part(
    "withdrawals",
    "recipient",
    "coalesce($8::text, $9::text, $10::text) is not null and (r.recipient in ($8::text, $9::text, $10::text) or r.payment_request in ($8::text, $9::text))",
    undefined,
    newest("withdrawals", "recipient", "payment_request")
  )
}

const partsOf = (features: ReadonlyArray<Feature>): ReadonlyArray<Part> => [
  ...Descriptions.sought(features).flatMap(
    ({ noun: { name }, orderId, reference, email, fiat, description, transfer }) => [
      ...(orderId === undefined ? [] : [byBeginning(name, "order", Table.columnOf(orderId))]),
      ...(reference === undefined ? [] : [byHex(name, "reference", Table.columnOf(reference))]),
      ...(email === undefined ? [] : [byBeginning(name, "email", Table.columnOf(email))]),
      ...(fiat === undefined ? [] : [byFiat(name, Table.columnOf(fiat))]),
      ...(description === undefined ? [] : [byDescription(name, Table.columnOf(description))]),
      ...(transfer === undefined ? [] : [byTransfer(name)]),
      byId(name)
    ]
  ),
  ...["invoices", "deposits", "withdrawals"].flatMap((table) => [byLabel(table), byId(table)]),
  byDescription("invoices", "memo"),
  ...["$5", "$11"].flatMap((hash) => [
    byHash("invoices", "payment_hash", hash),
    byHash("withdrawals", "payment_hash", hash),
    byHash("withdrawals", "reported_hash", hash)
  ]),
  byHex("invoices", "hash", "payment_hash"),
  byHex("withdrawals", "hash", "payment_hash"),
  byHex("withdrawals", "hash", "reported_hash"),
  ...["invoices", "withdrawals"].map(byWorth),
  ...["deposits", "withdrawals"].flatMap((table) => [
    byTransfer(table),
    byHex(table, "transaction", "chain_tx_id"),
    byAmount(table),
    byChainRecipient(table)
  ]),
  byAddress,
  byLightningAddress,
  byPayee
]

const textOf = (parts: ReadonlyArray<string>): string => `
select distinct on (kind, id) kind, company_id::text as "companyId", id::text, by from (
${parts.join("\nunion all\n")}
) found order by kind, id, way`

// Both statements have the same parameters, so the second one names those that it does not use.
const unused = `(select '' as kind, null::uuid as company_id, null::uuid as id, 0 as way, '' as by
  where num_nulls(${given}, $6::bigint, $7::bigint, $9::text, $12::text, $13::text) < 0)`

const read = (features: ReadonlyArray<Feature>, isAnywhere: boolean) => {
  const parts = partsOf(features)
  return Reads.many(isAnywhere ? "Records.foundAnywhere" : "Records.found", {
    isHeavy: true,
    text: textOf(
      isAnywhere ? [...parts.flatMap(({ anywhere }) => anywhere ?? []), unused] : parts.map(({ own }) => own)
    ),
    values: (
      companyId: CompanyId.CompanyId | null,
      { text, ids, hash, preimageHash, amounts, fiat, hexes, ...payee }: Search.Sought
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
      preimageHash,
      fiat?.amount ?? null,
      fiat?.currency ?? null,
      hexes?.[0] ?? null,
      hexes?.[1] ?? null
    ],
    read: Schema.decodeUnknownSync(Hit)
  })
}

export const found = Stored.by((features) =>
  Effect.gen(function* () {
    const [own, anywhere] = [yield* read(features, false), yield* read(features, true)]
    return (companyId: CompanyId.CompanyId | null, sought: Search.Sought) =>
      (companyId === null ? anywhere : own)(companyId, sought)
  })
)
