import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as KJ from "/tmp/kb/kernel/src/postgres/Journal.ts"
import * as KC from "/tmp/kb/kernel/src/core/Change.ts"
import * as KCore from "/tmp/kb/kernel/src/core/Journal.ts"
import * as KSchema from "/tmp/kb/kernel/src/postgres/Schema.ts"
import * as KPg from "/tmp/kb/kernel/src/postgres/PgClient.ts"
import * as PgClient from "./src/PgClient.ts"
import * as PgJournal from "./src/Journal.ts"
import * as Migrations from "./src/Migrations.ts"
import * as Core from "@satrail/core/Journal"
import * as W from "@satrail/core/Withdrawal"
import * as I from "@satrail/core/Invoice"
import * as Msat from "@satrail/core/Msat"
import * as Id from "@satrail/core/Id"
import { randomBytes } from "node:crypto"

const rounds = Number(process.argv[2] ?? 3), millis = Number(process.argv[3] ?? 1500)
const admin = PgClient.layer({ url: Redacted.make("postgres://postgres@127.0.0.1:54431/postgres"), maxConnections: 1 })
const recreate = (n: string) => Effect.flatMap(SqlClient.SqlClient, (sql) => Effect.andThen(sql.unsafe(`drop database if exists ${n} with (force)`).unprepared, sql.unsafe(`create database ${n}`).unprepared)).pipe(Effect.provide(admin))
const urlOf = (n: string) => Redacted.make(`postgres://postgres@127.0.0.1:54431/${n}`)
const company = (i: number) => `00000000-0000-7000-8000-${i.toString(16).padStart(12, "0")}`
const id = () => Id.fromMillis(Date.now(), (n) => randomBytes(n))

const kreq = () => (c: string) => KC.withdrawalRequested({ id: id(), companyId: c, amount: 1_000_000n as never, fee: 6_000n as never, recipient: "lnbc10u1pdestinationdestinationdestination", status: "pending", createdAtMillis: Date.now() })
const kinv = () => (c: string) => KC.invoiceCreated({ id: id(), companyId: c, amount: 1_000_000n as never, status: "pending", createdAtMillis: Date.now() })
const mreq = () => (c: string) => { const t = Date.now(); return W.requested({ id: id(), companyId: c, ledgerTxId: id(), amount: Msat.make(1_000_000n), serviceFee: Msat.make(5_000n), networkAllowance: Msat.make(1_000n), recipient: "lnbc10u1pdestinationdestinationdestination", recipientType: "lightning_invoice", rail: "lightning", network: "regtest", metadata: {}, rate: null, status: "pending", paymentHash: null, paymentRequest: null, chainTxId: null, rawTx: null, dispatchedAtMillis: null, preimage: null, networkFee: null, paymentIndex: null, failure: null, createdAtMillis: t, updatedAtMillis: t }) }
const minv = () => (c: string) => { const t = Date.now(); return I.created({ id: id(), companyId: c, nodeId: "02".repeat(33), memo: "coffee", amount: Msat.make(1_000_000n), paymentHash: randomBytes(32).toString("hex"), paymentRequest: "lnbcrt" + "a".repeat(280), metadata: {}, lightningAddressId: null, rate: null, status: "pending", received: null, preimage: null, claimedBy: null, createdAtMillis: t, expiresAtMillis: t + 3600_000, settledAtMillis: null }) }

const drive = Effect.fnUntraced(function*(commit: (c: never) => Effect.Effect<unknown, unknown>, make: (c: string) => unknown, callers: number, pick: () => string) {
  const lat: number[] = []; const cpu = process.cpuUsage(); const start = performance.now()
  const caller = Effect.gen(function*() { while (performance.now() - start < millis) { const t = performance.now(); yield* commit(make(pick()) as never); lat.push(performance.now() - t) } })
  yield* Effect.all(Array.from({ length: callers }, () => caller), { concurrency: "unbounded", discard: true })
  const s = (performance.now() - start) / 1000; const u = process.cpuUsage(cpu); lat.sort((a, b) => a - b)
  return { rate: lat.length / s, p50: lat[lat.length >> 1]!, p99: lat[Math.floor(lat.length * .99)]!, cpu: (u.user + u.system) / lat.length }
})
const program = Effect.gen(function*() {
  yield* recreate("bench_k"); yield* recreate("bench_m")
  const kctx = yield* Layer.build(KJ.layer().pipe(Layer.provideMerge(KPg.layer({ url: urlOf("bench_k"), maxConnections: 16 }))))
  const mctx = yield* Layer.build(PgJournal.layer().pipe(Layer.provideMerge(PgClient.layer({ url: urlOf("bench_m"), maxConnections: 16 }))))
  yield* Effect.provide(KSchema.migrate, kctx); yield* Effect.provide(Migrations.migrate, mctx)
  const fund = (prefix: string) => Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(`insert into ${prefix}balances (company_id, posted) select ('00000000-0000-7000-8000-' || lpad(to_hex(i), 12, '0'))::uuid, 9000000000000000 from generate_series(1, 1001) i`).unprepared)
  yield* Effect.provide(fund(""), kctx); yield* Effect.provide(fund("satrail."), mctx)
  const k = (yield* Effect.provide(KCore.Journal, kctx)).commit, m = (yield* Effect.provide(Core.Journal, mctx)).commit
  const one = () => company(1001), thousand = () => company(1 + Math.floor(Math.random() * 1000))
  const seen: Record<string, any[]> = {}
  for (let r = 0; r < rounds; r++) for (const [pn, pick] of [["one", one], ["thousand", thousand]] as const) for (const callers of [1, 64, 256]) for (const [name, commit, make] of [["kernel request", k, kreq()], ["ours request", m, mreq()], ["kernel invoice", k, kinv()], ["ours invoice", m, minv()]] as const)
    (seen[`${pn}@${callers} ${name}`] ??= []).push(yield* drive(commit as never, make, callers, pick))
  const med = (v: number[]) => [...v].sort((a, b) => a - b)[v.length >> 1]!
  console.table(Object.entries(seen).map(([name, rs]) => ({ name, rate: Math.round(med(rs.map((x) => x.rate))), p50: +med(rs.map((x) => x.p50)).toFixed(2), p99: +med(rs.map((x) => x.p99)).toFixed(2), cpu: +med(rs.map((x) => x.cpu)).toFixed(1) })))
})
Effect.runPromise(Effect.scoped(program) as never)
