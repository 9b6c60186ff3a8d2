import * as Fill from "./Fill.ts"
import type { Script } from "./Pgbench.ts"

// By the expression that the index of lists has (postgres/src/migrations/Baseline.ts).
const newest = (type: string, table: string, fee: string) => `(
  select id, company_id, amount, recipient, rail, '${type}' as type, ${fee} as fee, status, created_at_millis from ${table}
  where uuid_send(company_id) = uuid_send('${Fill.id(Fill.kinds.company, Fill.busy)}'::uuid) order by created_at_millis desc, id desc limit 50
)`

const list = `select * from (${newest("withdrawal", "satrail.withdrawals", "service_fee + network_allowance")}
  union all ${newest("deposit", "satrail.deposits", "0")}
) t order by created_at_millis desc, id desc limit 50;`

const pick = `\\set c random(1, ${Fill.spread})\n`

// As many clients as it is fastest with: more only wait for each other.
const clients = 16

const [spread, busy] = Fill.kinds.opens

/** What PostgreSQL itself does on the same tables, in plain SQL without group commit. */
export const scripts = {
  createInvoice: { name: "pgbench, one invoice a transaction", text: `select bench.create_invoice(${Fill.busy});`, clients },
  list: { name: "pgbench, one list a query", text: list.replaceAll("\n", " "), clients },
  confirmSpread: { name: "pgbench, one confirm a transaction, 1000 companies", text: `${pick}select bench.confirm(:c);`, clients },
  confirm: { name: "pgbench, one confirm a transaction, one company", text: `select bench.confirm(${Fill.busy});`, clients: 64 },
  settleSpread: { name: "pgbench, one settlement a transaction, 1000 companies", text: `select bench.settle(${spread});`, clients },
  settle: { name: "pgbench, one settlement a transaction, one company", text: `select bench.settle(${busy});`, clients: 64 },
  confirmMany: {
    name: "pgbench, 128 confirms a transaction",
    text: `select bench.confirm_many(${Fill.busy}, 128);`,
    clients: 1,
    operations: 128
  }
} satisfies Record<string, Script>
