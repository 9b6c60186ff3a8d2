import Pg from "pg"
import { randomBytes } from "node:crypto"
import * as Id from "@satrail/core/Id"
import { kinds as wk } from "./src/Withdrawal.ts"
import { kinds as ik } from "./src/Invoice.ts"
const which = process.argv[2] ?? "req", N = Number(process.argv[3] ?? 128), show = process.argv[4] !== undefined
const c = new Pg.Client({ connectionString: "postgres://postgres@127.0.0.1:54431/" + (process.argv[5] ?? "bench_m"), options: "-c enable_seqscan=off -c jit=off" }); await c.connect()
const id = () => Id.fromMillis(Date.now(), (n) => randomBytes(n))
const statement = which === "req" ? wk.WithdrawalRequested.statement : ik.InvoiceCreated.statement
const co = "00000000-0000-7000-8000-0000000003e9"
const rows = () => Array.from({ length: N }, (_, n) => { const i = id(); const t = Date.now(); return which === "req"
 ? { n, id: i, company_id: co, at_millis: t, transfer_id: i, ledger_tx_id: i, amount: "1000000", service_fee: "5000", network_allowance: "1000", recipient: "lnbc10u1pdestinationdestinationdestination", recipient_type: "lightning_invoice", rail: "lightning", network: "regtest", metadata: {}, status: "pending", created_at_millis: t, updated_at_millis: t, event: "withdrawal.requested", subject: i }
 : { n, id: i, company_id: co, at_millis: t, node_id: "02".repeat(33), memo: "coffee", amount: "1000000", payment_hash: randomBytes(32).toString("hex"), payment_request: "lnbcrt" + "a".repeat(280), metadata: {}, status: "pending", created_at_millis: t, expires_at_millis: t, event: "invoice.created", subject: i } })
const values = () => { const r = rows(); return [JSON.stringify(r), which === "req" ? JSON.stringify(r.map(({ n }) => ({ n, company_id: co, from_account: "available", to_account: "held", amount: "1006000" }))) : "[]"] }
await c.query("set synchronous_commit = off")
const ts: number[] = []
for (let i = 0; i < 200; i++) { const v = values(); const t = performance.now(); await c.query({ name: "x", text: statement, values: v }); if (i >= 20) ts.push(performance.now() - t) }
ts.sort((a,b)=>a-b); console.log(which, N, "median ms", ts[ts.length>>1]!.toFixed(2), "best", ts[0]!.toFixed(2)); console.log((await c.query("select name, generic_plans, custom_plans from pg_prepared_statements")).rows)
if (show) {
await c.query("set plan_cache_mode = force_generic_plan")
await c.query("prepare y as " + statement)
for (let i = 0; i < 3; i++) { const v = values(); const r = await c.query(`explain (analyze, costs off, timing on) execute y('${v[0]}', '${v[1]}')`); if (i === 2) for (const x of r.rows) console.log((x["QUERY PLAN"] as string).slice(0, 170)) }
}
await c.end()
