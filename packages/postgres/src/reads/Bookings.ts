import * as Msat from "@satrail/bitcoin/Msat"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as Metadata from "@satrail/core/base/Metadata"
import type { Feature } from "@satrail/core/ledger/Feature"
import { ListedRail } from "@satrail/core/ledger/Rail"
import * as Tally from "@satrail/core/ledger/Tally"
import * as Purpose from "@satrail/core/receiving/Purpose"
import type * as Booking from "@satrail/core/reports/Booking"
import * as Cause from "@satrail/core/sending/Cause"
import { Effect, Schema, Struct } from "effect"
import * as Decoding from "../statements/Decoding.ts"
import * as Reads from "../statements/Reads.ts"
import * as Table from "../statements/Table.ts"
import * as Posted from "./Posted.ts"
import * as Stored from "./Stored.ts"
import * as Rated from "@satrail/core/base/Rated"

export const Account = Schema.Literals(Struct.keys(Tally.nothing))

const decodeSum = Schema.decodeUnknownSync(
  Schema.Struct({
    isWithin: Schema.Literals(["true", "false"]),
    last: Schema.BigIntFromString,
    from: Account,
    to: Account,
    amount: Msat.FromString,
    count: Schema.FiniteFromString
  })
)

// A company's entry ids are assigned while its balance is locked, and the lock lasts until the commit. A reader
// that sees one entry sees all earlier ones of that company.
const sums = Reads.many("Records.bookedSums", {
  isHeavy: true,
  recounts: true,
  text: `
select (at_millis >= $2::bigint)::text as "isWithin", max(id)::text as last, from_account as "from", to_account as "to",
  sum(amount)::text as amount, count(*)::text as count
from satrail.entries where company_id = $1::uuid and at_millis < $3::bigint group by at_millis >= $2::bigint, from_account, to_account`,
  values: (companyId: CompanyId.CompanyId, { fromMillis, untilMillis }: Booking.Period) => [
    companyId,
    String(fromMillis),
    String(untilMillis)
  ],
  read: decodeSum
})

/**
 * Maximum number of entries checked per page. Entries outside the period cost little, so no page is slow.
 */
const looks = 20_000

const same = (text: string) => text
const isTrue = Schema.Literals(["true", "false"])
const entryOf = Decoding.make(
  Schema.Struct({
    id: Schema.BigInt,
    transferId: Schema.String,
    from: Account,
    to: Account,
    amount: Msat.Msat,
    atMillis: Schema.Int,
    isPicked: isTrue,
    isLast: isTrue
  }),
  [
    { member: "id", read: BigInt },
    { member: "transferId", read: same },
    { member: "from", read: same },
    { member: "to", read: same },
    { member: "amount", read: BigInt },
    { member: "atMillis", read: Number },
    { member: "isPicked", read: same },
    { member: "isLast", read: same }
  ]
)

const entries = Reads.values("Records.bookedEntries", {
  text: `
select id::text, transfer_id::text as "transferId", from_account as "from", to_account as "to", amount::text, at_millis::text as "atMillis",
  is_picked::text as "isPicked", is_last::text as "isLast"
from (
  select e.*, row_number() over (order by e.id) = ${looks} as is_last, at_millis >= $4::bigint and at_millis < $5::bigint
    and (from_account in ('available', 'held')) <> (to_account in ('available', 'held')) as is_picked
  from (
    select * from satrail.entries where company_id = $1::uuid and id > $2::bigint and id <= $3::bigint order by id limit ${looks}
  ) e
) e where is_picked or is_last order by e.id limit $6::bigint`,
  values: ({ companyId, after, upTo, fromMillis, untilMillis, limit }: Booking.Query) => [
    companyId,
    String(after),
    String(upTo),
    String(fromMillis),
    String(untilMillis),
    String(limit)
  ]
})

const Text = Schema.NullOr(Schema.String)

const texts = [
  "transferId",
  "type",
  "amount",
  "id",
  "rail",
  "recipient",
  "paymentHash",
  "chainTxId",
  "invoiceId",
  ...Struct.keys({ ...Purpose.references, ...Cause.members }),
  "rate"
]
const subjectOf = Decoding.make<Booking.Subject>(
  Schema.Struct({
    transferId: Schema.String,
    type: Schema.String,
    amount: Schema.NullOr(Msat.Msat),
    id: Schema.String,
    rail: ListedRail,
    recipient: Schema.String,
    paymentHash: Text,
    chainTxId: Text,
    invoiceId: Text,
    ...Purpose.references,
    ...Cause.members,
    ...Rated.members,
    metadata: Metadata.Metadata
  }),
  [
    ...texts.map((member) => ({ member, read: member === "amount" ? BigInt : same })),
    { member: "rateAtMillis", read: Number },
    { member: "fiatCurrency", read: same },
    { member: "rateSource", read: same },
    {
      member: "metadata",
      read: (text: string): unknown => (text === "{}" ? Metadata.empty : JSON.parse(text))
    }
  ]
)

// Compare the company as text, so that the planner cannot use its key instead of the intended index.
const ofTransfer = (table: string) => `
  select * from satrail.${table} t where t.ledger_tx_id = a.id and t.company_id::text = $1::text limit 1`

/** Returns the columns of the features' records that a payment refers to. The other payment type's are null. */
const refers = (members: object, isOwn: boolean) =>
  Object.keys(members)
    .map((member) => `${isOwn ? `r.${Table.columnOf(member)}::text` : "null"} as "${member}"`)
    .join(", ")

/** Features' records that a deposit refers to, and whose rate applies to it (Feature.Rates). */
const ratedBy = (features: ReadonlyArray<Feature>) =>
  features
    .flatMap(({ rates = [] }) => rates)
    .map(({ noun, by }, n) => ({
      alias: `f${n}`,
      join: `
left join lateral (select * from satrail.${noun.name} t where t.company_id = r.company_id and t.id = r.${Table.columnOf(by)} limit 1) f${n} on true`
    }))
const subjects = Stored.by((features) => {
  const rated = ratedBy(features)
  const ofRated = (column: string) => rated.map(({ alias }) => `, ${alias}.${column}`).join("")
  const read = Reads.values("Records.subjects", {
    text: `
with asked as materialized (select value::uuid as id from json_array_elements_text($2))
select r.ledger_tx_id::text as "transferId", 'withdrawal' as type, null::text as amount, r.id::text, r.rail, r.recipient, coalesce(r.payment_hash, r.reported_hash) as "paymentHash",
  r.chain_tx_id as "chainTxId", null as "invoiceId", ${refers(Purpose.references, false)}, ${refers(Cause.members, true)},
  r.rate, r.rate_at_millis::text as "rateAtMillis", r.fiat_currency as "fiatCurrency", r.rate_source as "rateSource", r.metadata::text
from asked a cross join lateral (${ofTransfer("withdrawals")}) r
union all
select r.ledger_tx_id::text, 'deposit', null, r.id::text, r.rail, r.recipient, i.payment_hash,
  r.chain_tx_id, r.lightning_invoice_id::text, ${refers(Purpose.references, true)}, ${refers(Cause.members, false)},
  coalesce(i.rate${ofRated("rate")}), coalesce(i.rate_at_millis${ofRated("rate_at_millis")})::text,
  coalesce(i.fiat_currency${ofRated("fiat_currency")}), coalesce(i.rate_source${ofRated("rate_source")}), r.metadata::text
from asked a cross join lateral (${ofTransfer("deposits")}) r
left join lateral (select * from satrail.invoices t where t.company_id = r.company_id and t.id = r.lightning_invoice_id limit 1) i on true${rated.map(({ join }) => join).join("")}${Posted.subjects(features, `${refers(Purpose.references, false)}, ${refers(Cause.members, false)}`)}`,
    values: (companyId: CompanyId.CompanyId, transferIds: ReadonlyArray<string>) => [
      companyId,
      Reads.list("uuid", transferIds)
    ]
  })
  return Reads.mapped(read, (rows) => rows.map(subjectOf))
})

export const reads = {
  bookedSums: Reads.mapped(sums, (rows): Booking.Sums => {
    const ofPart = (part: "true" | "false") =>
      rows.flatMap(({ isWithin, from, to, amount, count }) =>
        isWithin === part ? [{ from, to, amount, count }] : []
      )
    return {
      last: rows.reduce((last, row) => (row.last > last ? row.last : last), 0n),
      before: ofPart("false"),
      within: ofPart("true")
    }
  }),
  bookedEntries: Effect.map(
    entries,
    (read) => (query: Booking.Query) =>
      Effect.map(read(query), (found): Booking.Found => {
        const rows = found.map(entryOf)
        const picked = rows.flatMap(({ isPicked, isLast: _, ...entry }) =>
          isPicked === "true" ? [entry] : []
        )
        // If the page is full or the last entry checked is marked, there may be more.
        const isStopped = rows.length === query.limit || rows.some(({ isLast }) => isLast === "true")
        return { entries: picked, lookedTo: isStopped ? (rows.at(-1)?.id ?? null) : null }
      })
  ),
  subjects
}
