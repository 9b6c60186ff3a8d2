import { assert, describe, it } from "@effect/vitest"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as TxId from "@satrail/bitcoin/TxId"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import * as SecretHash from "@satrail/core/base/SecretHash"
import type { StoreUnavailable } from "@satrail/core/ledger/Journal"
import * as Transfer from "@satrail/features/transfers/core/Transfer"
import * as Voucher from "@satrail/features/vouchers/core/Voucher"
import * as Noun from "@satrail/core/ledger/Noun"
import * as Search from "@satrail/core/reports/Search"
import * as Nouns from "@satrail/service/core/Nouns"
import { type AllReads, Records } from "@satrail/core/service/Records"
import { Effect, type Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Invoice from "@satrail/core/receiving/Invoice"
import * as LightningAddress from "@satrail/core/receiving/LightningAddress"
import * as OnChainAddress from "@satrail/core/receiving/OnChainAddress"
import { kinds } from "../src/journal/Journal.ts"
import * as Migrations from "@satrail/service/postgres/migrations/Migrations"
import * as PgliteClient from "../src/client/PgliteClient.ts"
import * as RecordsSql from "@satrail/service/postgres/Records"
import type { Carried } from "../src/statements/Statements.ts"
import * as TasksSql from "../src/Tasks.ts"
import * as Writes from "../src/statements/Writes.ts"
import * as Database from "./Database.ts"

// Checks how statements find their rows in a database without planner statistics, because an embedded database
// may never have any. The rows a plan reads must not grow with a company's data, whatever the planner assumes.
// So the tests check plans rather than times.

interface Node {
  readonly "Node Type": string
  readonly "Relation Name"?: string
  readonly "Index Name"?: string
  readonly Plans?: ReadonlyArray<Node>
}

const nodesOf = (node: Node): ReadonlyArray<Node> => [node, ...(node.Plans ?? []).flatMap(nodesOf)]

/** The generic plan, which a prepared statement uses from its sixth execution. */
const planOf = Effect.fnUntraced(function* (text: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe(`prepare looked_at as ${text}`).unprepared
  const parameters = new Set(text.match(/\$\d+/g)).size
  const values = Array.from({ length: parameters }, () => "null").join(", ")
  const [row] = yield* sql.unsafe<{ readonly "QUERY PLAN": unknown }>(
    `explain (format json) execute looked_at${parameters === 0 ? "" : `(${values})`}`
  )
  yield* sql.unsafe("deallocate looked_at").unprepared
  const plan = row?.["QUERY PLAN"]
  const [{ Plan }]: readonly [{ readonly Plan: Node }] = JSON.parse(
    typeof plan === "string" ? plan : JSON.stringify(plan)
  )
  return nodesOf(Plan)
})

/** A client that records its queries. */
const writing = (sql: SqlClient.SqlClient, texts: Set<string>) =>
  new Proxy(sql, {
    get: (target, name, receiver) =>
      name === "unsafe"
        ? (text: string, values: ReadonlyArray<unknown>) => {
            texts.add(text)
            return target.unsafe(text, values)
          }
        : Reflect.get(target, name, receiver)
  })

/** The text of the first query of `read`. */
const textOf = Effect.fnUntraced(function* (
  read: (records: AllReads) => Effect.Effect<unknown, StoreUnavailable>
) {
  const texts = new Set<string>()
  const reads = yield* Effect.provideService(
    RecordsSql.make,
    SqlClient.SqlClient,
    writing(yield* SqlClient.SqlClient, texts)
  )
  const records = yield* Effect.provideContext(Records, reads)
  texts.clear()
  yield* read(records)
  return [...texts][0] ?? assert.fail("no query was recorded")
})

/** The indexes that a read uses. */
const indexesOf = Effect.fnUntraced(function* (
  read: (records: AllReads) => Effect.Effect<unknown, StoreUnavailable>
) {
  const text = yield* textOf(read)
  const sql = yield* SqlClient.SqlClient
  const nodes = yield* sql.withTransaction(
    Effect.andThen(sql.unsafe("set local plan_cache_mode = force_generic_plan").unprepared, planOf(text))
  )
  return nodes
    .flatMap(({ "Node Type": type, "Index Name": index }) =>
      index === undefined ? [] : [type === "Index Only Scan" ? `${index} alone` : index]
    )
    .toSorted()
})

const one = CompanyId.operator
const page = { atMillis: 0, limit: 10, before: null }

/** The indexes used to read the descriptions of a page's rows. */
const describing = ["checkouts_pkey", "invoices_pkey", "refunds_pkey"]

/**
 * Reads that do not use a unique key, with their indexes. Each index serves one read: it contains just the
 * requested rows in the requested order.
 */
const lists: ReadonlyArray<
  readonly [
    read: (records: AllReads) => Effect.Effect<unknown, StoreUnavailable>,
    indexes: ReadonlyArray<string>
  ]
> = [
  [
    ({ transactions }) => transactions(one, { limit: 10 }),
    [
      "adjustments_booked",
      "deposits_listed",
      "transfers_pkey",
      "transfers_received",
      "withdrawals_listed",
      ...describing
    ]
  ],
  [
    ({ search }) => search(one, { limit: 10, label: { key: "a", value: "b" } }, 100),
    [
      "deposits_labels_pkey alone",
      "deposits_pkey",
      "withdrawals_labels_pkey alone",
      "withdrawals_pkey",
      ...describing
    ]
  ],
  [
    ({ search }) => search(one, { limit: 10, paymentHash: PaymentHash.make("00".repeat(32)) }, 100),
    [
      "deposits_listed",
      "invoices_payment_hash_key",
      "withdrawals_payment_hash",
      "withdrawals_reported_hash",
      ...describing
    ]
  ],
  [
    ({ search }) => search(one, { limit: 10, lightningInvoiceId: one }, 100),
    ["deposits_listed", "invoices_pkey", ...describing]
  ],
  [
    ({ search }) => search(one, { limit: 10, chainTxId: TxId.make("00".repeat(32)) }, 100),
    ["deposits_outpoint", "withdrawals_by_transaction", ...describing]
  ],
  [({ invoicesOf }) => invoicesOf(one, { ...page, standing: "open" }, 100), ["invoices_pkey"]],
  [
    ({ invoicesOf }) => invoicesOf(one, { ...page, label: { key: "a", value: "b" } }, 100),
    ["invoices_labels_pkey alone", "invoices_pkey"]
  ],
  [({ invoicesOf }) => invoicesOf(one, { ...page, lightningAddressId: one }, 100), ["invoices_of_address"]],
  [
    ({ invoicesOf }) => invoicesOf(one, { ...page, paymentHash: PaymentHash.make("00".repeat(32)) }, 100),
    ["invoices_payment_hash_key"]
  ],
  [({ offerByText }) => offerByText("lno1"), ["offers_offer"]],
  [({ newestFirst }) => newestFirst(OnChainAddress.noun, one, null, 10), ["on_chain_addresses_pkey"]],
  [({ depositOfInvoice }) => depositOfInvoice(one, one), ["deposits_listed", "invoices_pkey"]],
  [({ invoiceWithDeposit }) => invoiceWithDeposit(one, one), ["deposits_listed", "invoices_pkey"]],
  [({ companiesAsked }) => companiesAsked({ limit: 10, before: null, text: "a" }, 100), ["companies_pkey"]],
  [
    ({ companiesAsked }) => companiesAsked({ limit: 10, before: null, status: "frozen" }, 100),
    ["companies_frozen"]
  ],
  [({ keysOf }) => keysOf(one, null, 10), ["api_keys_listed"]],
  [({ standings }) => standings([one], 0), ["api_keys_pkey", "balances_pkey"]],
  [({ job }) => job(one, one), ["tasks_pkey", "tasks_pkey", "withdrawals_pkey"]],
  [({ withdrawalById }) => withdrawalById(one), ["withdrawals_anywhere"]],
  [({ settledOverLightning }) => settledOverLightning(0, 1), ["withdrawals_anywhere"]],
  [({ depositById }) => depositById(one), ["deposits_anywhere"]],
  [({ unlinkedAudit }) => unlinkedAudit(10), ["audit_entries_pkey", "audit_links_pkey alone", "epoch_pkey"]],
  [({ auditHeads }) => auditHeads([one]), ["audit_links_of", "audit_links_pkey"]],
  [({ auditOf }) => auditOf(one, null, 10), ["audit_entries_pkey", "audit_links_of"]],
  [({ auditOf }) => auditOf(null, null, 10), ["audit_entries_pkey", "audit_links_pkey"]],
  [({ auditChain }) => auditChain(0n, 10), ["audit_entries_pkey", "audit_links_pkey"]],
  [({ refundsOf }) => refundsOf(one, one, 10), ["refunds_of_checkout"]],
  [({ ofDeposit }) => ofDeposit(one, one, one, 10), ["refunds_of_deposit"]],
  [({ openVouchersBy }) => openVouchersBy(null, "a", 10), ["vouchers_open_by_maker"]],
  [({ depositsFor }) => depositsFor(one, one, 10), ["deposits_of_checkout"]],
  [({ adjustment }) => adjustment(one), ["adjustments_anywhere"]],
  [({ adjustments }) => adjustments({ after: null, limit: 10, status: "pending" }), ["adjustments_listed"]],
  [({ unmatchedById }) => unmatchedById(one), ["unmatched_anywhere"]],
  [
    ({ suspended }) => suspended(null, 10, "open"),
    ["suspense_assignments_unmatched_id_key", "unmatched_listed"]
  ],
  [({ funds }) => funds(one), ["balances_pkey", "deposits_pending alone"]],
  [
    ({ bookedEntries }) =>
      bookedEntries({ companyId: one, after: 0n, upTo: 9n, fromMillis: 0, untilMillis: 9, limit: 10 }),
    ["entries_pkey"]
  ],
  [
    ({ found }) => found(one, Search.sought("a") ?? assert.fail()),
    [
      "checkouts_order",
      "checkouts_payer",
      "checkouts_pkey",
      "checkouts_pkey",
      "checkouts_pkey alone",
      "checkouts_public_id",
      "deposits_amount",
      "deposits_labels_pkey alone",
      "deposits_of_recipient",
      "deposits_of_transfer",
      "deposits_outpoint",
      "deposits_pkey alone",
      "invoices_labels_pkey alone",
      "invoices_payment_hash_key",
      "invoices_payment_hash_key",
      "invoices_payment_hash_key",
      "invoices_pkey",
      "invoices_pkey",
      "invoices_pkey alone",
      "lightning_addresses_handle_domain_key",
      "on_chain_addresses_address_key",
      "refunds_pkey",
      "refunds_pkey alone",
      "vouchers_of_transfer",
      "vouchers_pkey",
      "vouchers_pkey alone",
      "withdrawals_amount",
      "withdrawals_by_transaction",
      "withdrawals_labels_pkey alone",
      "withdrawals_of_recipient",
      "withdrawals_of_transfer",
      "withdrawals_payment_hash",
      "withdrawals_payment_hash",
      "withdrawals_payment_hash",
      "withdrawals_pkey",
      "withdrawals_pkey",
      "withdrawals_pkey alone",
      "withdrawals_reported_hash",
      "withdrawals_reported_hash",
      "withdrawals_reported_hash"
    ]
  ],
  [({ postingsOf }) => postingsOf(one, one), ["entries_of_transfer"]],
  [({ turnedSince }) => turnedSince(one, [2 ** 42]), ["entries_pkey"]],
  [
    ({ subjects }) => subjects(one, [one]),
    [
      "checkouts_pkey",
      "deposits_of_transfer",
      "invoices_pkey",
      "transfers_ledger_tx",
      "transfers_ledger_tx",
      "withdrawals_of_transfer"
    ]
  ]
]

const listing = Effect.forEach(lists, ([read]) => indexesOf(read))

/**
 * The indexes that a fair claim uses: the index of turns and the key. It must not read other companies' waiting
 * tasks.
 */
const turning = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const texts = new Set<string>()
  const tasks = yield* Effect.provideService(TasksSql.make, SqlClient.SqlClient, writing(sql, texts))
  const full = { companies: [], lanes: [] }
  yield* tasks.claimInTurn({
    kind: "plans",
    nowMillis: 0,
    leaseMillis: 1,
    limit: 1,
    perLane: 1,
    after: null,
    full
  })
  const [text] = texts
  const nodes = yield* sql.withTransaction(
    Effect.andThen(
      sql.unsafe("set local plan_cache_mode = force_generic_plan").unprepared,
      planOf(text ?? "")
    )
  )
  const scans = nodes.filter(({ "Node Type": type }) => type.includes("Scan") && type !== "Bitmap Heap Scan")
  const used = scans.flatMap(({ "Index Name": index, "Relation Name": table }) =>
    index === undefined && table === undefined ? [] : [index ?? table]
  )
  return [...new Set(used)].toSorted()
})

/** The text of every query for single rows. */
const readTexts = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const texts = new Set<string>()
  const reads = yield* Effect.provideService(RecordsSql.make, SqlClient.SqlClient, writing(sql, texts))
  const records = yield* Effect.provideContext(Records, reads)
  const [id, hash] = [CompanyId.operator, "00".repeat(32)]
  yield* Effect.all([
    records.balance(id),
    records.company(id),
    records.apiKey("a"),
    records.domain("a.example"),
    records.answer(id, "a"),
    records.cursor("a"),
    records.invoice(id, id),
    records.invoiceByHash(PaymentHash.make(hash)),
    records.get(Invoice.unmatchedNoun, id, id),
    records.named(LightningAddress.noun, { handle: "a", domain: "a.example" }),
    records.get(LightningAddress.noun, id, id),
    records.deposit(id, id),
    records.depositByOutpoint(TxId.make(hash), 0),
    records.candidates(id, id),
    records.withdrawal(id, id),
    records.withdrawalByHash(PaymentHash.make(hash)),
    records.get(Voucher.noun, id, id),
    records.named(Voucher.noun, { secretHash: SecretHash.make(hash) })
  ])
  return [...texts].filter((text) => text.includes("$1"))
})

/** Many rows of one company. */
const fill = (rows: number) => `
insert into satrail.companies select gen_random_uuid(), 'x', 'free', 0 from generate_series(1, 100);
insert into satrail.balances select id, 0, 0 from satrail.companies;
insert into satrail.withdrawals (id, company_id, ledger_tx_id, amount, service_fee, network_allowance, recipient, recipient_type, rail, network, metadata,
  status, payment_hash, created_at_millis, updated_at_millis)
select gen_random_uuid(), '${Id.nil}', gen_random_uuid(), 1, 0, 0, 'x', 'lightning_invoice', 'lightning', 'regtest', '{}', 'pending', n::text, n, n
from generate_series(1, ${rows}) n;
insert into satrail.deposits (id, company_id, ledger_tx_id, recipient, amount, network, rail, status, absorbed, revision, created_at_millis, updated_at_millis)
select gen_random_uuid(), '${Id.nil}', gen_random_uuid(), 'x', 1, 'regtest', 'lightning', 'settled', 0, 0, n, n from generate_series(1, ${rows}) n;
insert into satrail.invoices (id, company_id, node_id, memo, amount, payment_hash, payment_request, metadata, status, created_at_millis, expires_at_millis)
select gen_random_uuid(), '${Id.nil}', 'x', '', 1, n::text, 'x', '{}', 'pending', n, n from generate_series(1, ${rows}) n;
insert into satrail.tasks (id, kind, company_id, due_at_millis) select id, 'withdrawal', company_id, 0 from satrail.withdrawals;
insert into satrail.answers select '${Id.nil}', n::text, 'f', 'a', null from generate_series(1, ${rows}) n;
insert into satrail.entries (company_id, transfer_id, from_account, to_account, amount, at_millis)
select '${Id.nil}', gen_random_uuid(), 'a', 'b', 1, n from generate_series(1, ${rows}) n;
insert into satrail.events select n, '${Id.nil}', 'a', 'b', n from generate_series(1, ${rows}) n;
insert into satrail.on_chain_addresses select gen_random_uuid(), '${Id.nil}', 'x', n::text, n::text, 'taproot', n, '{}', n from generate_series(1, ${rows}) n;
insert into satrail.unspent select n::text, 'x', 'x', n, 'taproot', 0, n, 1 from generate_series(1, ${rows}) n;
insert into satrail.coins select n::text, '${Id.nil}', gen_random_uuid() from generate_series(1, ${rows}) n;
insert into satrail.lightning_addresses select gen_random_uuid(), '${Id.nil}', n::text, 'a', '{}', n, n, null, null from generate_series(1, ${rows}) n;
insert into satrail.offers select gen_random_uuid(), '${Id.nil}', 'x', n::text, '', '{}', null, null, n from generate_series(1, ${rows}) n;
insert into satrail.unmatched select gen_random_uuid(), '${Id.nil}', n::text, 1, 'x', n from generate_series(1, ${rows}) n;
insert into satrail.invoices_labels select company_id, 1, id from satrail.invoices;
insert into satrail.deposits_labels select company_id, 1, id from satrail.deposits;
insert into satrail.withdrawals_labels select company_id, 1, id from satrail.withdrawals;
insert into satrail.vouchers select gen_random_uuid(), '${Id.nil}', gen_random_uuid(), 1, 0, 0, '', '{}', null, null, n::text, 'open', null, n, n, n
from generate_series(1, ${rows}) n;
`

/**
 * Lookups that do not use a row's key, each with its dedicated index: a page of expired responses, the
 * replacements of a withdrawal, settlements.
 */
const others: Readonly<Record<string, string>> = {
  AnswersForgotten: "answers_forgotten",
  WithdrawalReplaced: "withdrawals_follow",
  PayoutBuried: "candidates_settled"
}

/** Changes with every optional part, and Changes that contain only a row. */
const carrying = (each: boolean, money: Carried["money"] = each ? "many" : "none"): Carried => ({
  money,
  takes: each,
  once: each,
  fence: each,
  enqueues: each ? "many" : "one",
  completes: each ? "many" : "one",
  cursor: each,
  event: each,
  eventsForOthers: each,
  unlessFeesMoved: each,
  counts: each,
  unlessFrozen: each,
  audit: each,
  inserts: each ? [Transfer.noun] : [],
  absent: []
})

const carried = [
  carrying(true),
  carrying(false),
  carrying(true, ["available", "held"]),
  carrying(false, ["node", "available"])
]

const row = { id: Id.nil, companyId: CompanyId.operator }

/** The statements that are derived for Changes: one for each verb of each record type. */
const written: ReadonlyArray<readonly [string, Noun.Writes]> = [
  ...Nouns.all.flatMap((noun) =>
    "unique" in noun ? [[`insert ${noun.name}`, [Noun.insert(noun, row)]] as const] : []
  ),
  ...Nouns.moves.map((move) => [move.key, [{ _tag: "Transition", move, found: row, set: {} }]] as const)
]

/** The parts of a plan that do not find rows by key: "statement: table by index". */
const growing = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const unique = yield* sql<{ readonly name: string }>`
    select c.relname as name from pg_index i join pg_class c on c.oid = i.indexrelid join pg_namespace s on s.oid = c.relnamespace
    where s.nspname = 'satrail' and i.indisunique`
  const keys = new Set(unique.map(({ name }) => name))
  yield* sql.unsafe("set local plan_cache_mode = force_generic_plan").unprepared
  const statements = [
    ...Object.entries(kinds).flatMap(([tag, { statement }]) =>
      carried.map((one) => [tag, statement(one).text] as const)
    ),
    ...written.flatMap(([name, writes]) =>
      carried.map((one) => [name, Writes.kindOf(writes).statement(one).text] as const)
    ),
    ...(yield* readTexts).map(
      (text) => [text.trim().split("cross join").at(-1)?.slice(0, 300) ?? text, text] as const
    )
  ]
  const found: Array<string> = []
  for (const [what, text] of statements) {
    for (const { "Node Type": type, "Relation Name": table, "Index Name": index } of yield* planOf(text)) {
      if (table === undefined && index === undefined) continue
      // Skip writes, rows found by address, and bitmap heap scans, whose index scan is listed separately.
      if (type === "ModifyTable" || type === "Tid Scan" || type === "Bitmap Heap Scan") continue
      if (index !== undefined && others[what] === index) continue
      if (index === undefined || !keys.has(index))
        found.push(`${what}: ${type} ${table ?? ""} by ${index ?? "nothing"}`)
    }
  }
  return found
}).pipe((look) => Effect.flatMap(SqlClient.SqlClient, (sql) => sql.withTransaction(look)))

const everyTable = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) =>
    sql<{
      readonly name: string
    }>`select tablename as name from pg_tables where schemaname = 'satrail' and tablename not in ('migrations', 'epoch')`
)

const suite = (name: string, client: Layer.Layer<SqlClient.SqlClient, unknown>) =>
  it.live(
    `plans: every commit and single-row read uses a unique index, whether the database is empty, never analyzed, or analyzed before it was filled (${name})`,
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* Migrations.migrate
        const tables = (yield* everyTable).map(({ name }) => `satrail.${name}`)
        for (const table of tables) yield* sql.unsafe(`alter table ${table} set (autovacuum_enabled = false)`)
        const turns = ["tasks_pkey", "tasks_turns"]
        const indexes = lists.map(([, indexes]) => indexes.toSorted())
        assert.deepStrictEqual({ empty: yield* growing }, { empty: [] })
        yield* sql.unsafe(fill(3_000)).unprepared
        assert.deepStrictEqual(yield* turning, turns)
        assert.deepStrictEqual({ "never analysed": yield* growing }, { "never analysed": [] })
        assert.deepStrictEqual(yield* listing, indexes)
        yield* sql.unsafe(`truncate ${tables.join(", ")}; analyze; ${fill(3_000)}`).unprepared
        assert.deepStrictEqual({ "analysed before": yield* growing }, { "analysed before": [] })
        assert.deepStrictEqual(yield* listing, indexes)
        assert.deepStrictEqual(yield* turning, turns)
        yield* sql.unsafe("analyze").unprepared
        assert.deepStrictEqual(yield* turning, turns)
      }).pipe(Effect.provide(client)),
    240_000
  )

describe("plans", () => {
  suite("pglite", PgliteClient.layer())
  if (Database.server !== undefined) suite("postgres", Database.layer)
})
