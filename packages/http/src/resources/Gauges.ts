import type * as Msat from "@satrail/bitcoin/Msat"
import type { Account } from "@satrail/core/ledger/Change"
import * as Waiting from "@satrail/core/ledger/Waiting"
import { Cause } from "@satrail/core/reports/reconciliation/Difference"
import type { Reconciliation } from "@satrail/core/reports/reconciliation/Reconciliation"
import { Clock, Effect, Metric, Option } from "effect"
import * as Scalars from "../Scalars.ts"
import { countByCause } from "./Reconciliation.ts"

const gauge = (name: string, description: string) => Metric.gauge(`satrail_${name}`, { description })

const gauges = {
  owned: gauge("owned_sats", "Balance by the node or the chain"),
  own: gauge("own_funds_sats", "Operator equity"),
  unexplained: gauge("unexplained_sats", "Owned beyond operator equity and ledger; negative where money is missing"),
  assets: gauge("assets_sats", "Balance of node and wallet together"),
  liabilities: gauge("liabilities_sats", "Balances of all companies together"),
  account: gauge("account_sats", "Balance of a ledger account"),
  differences: gauge("differences", "Discrepancies between the ledger and the statements of node and chain"),
  age: gauge("reconciliation_age_seconds", "Age of the last reconciliation run"),
  waiting: gauge("waiting", "Backlog: items"),
  waitingSats: gauge("waiting_sats", "Backlog: satoshis, with fees"),
  waitingAge: gauge("waiting_seconds", "Backlog: age of the oldest item; 0 without any")
}

const set = (of: Metric.Metric<number, unknown>, value: number, attributes: Readonly<Record<string, string>> = {}) =>
  Metric.update(Metric.withAttributes(of, attributes), value)

const accounts: ReadonlyArray<Account> = [
  "available",
  "held",
  "node",
  "chain",
  "service_fees",
  "network_fees",
  "suspense",
  "loss",
  "internal"
]

/** Brings the gauges to what is in the store now: every process shows the same. During an outage of the store they keep their values. */
export const refresh = ({ last, waiting }: Reconciliation["Service"]) =>
  Effect.gen(function* () {
    const nowMillis = yield* Clock.currentTimeMillis
    const sats = (of: Metric.Metric<number, unknown>, amount: Msat.Msat, attributes: Readonly<Record<string, string>> = {}) =>
      set(of, Scalars.exactSats(amount), attributes)
    const all = yield* waiting
    for (const kind of Waiting.kinds) {
      const { count, amount, oldestAtMillis } = all[kind]
      yield* set(gauges.waiting, count, { kind })
      yield* sats(gauges.waitingSats, amount, { kind })
      yield* set(gauges.waitingAge, oldestAtMillis === null ? 0 : Math.max(0, nowMillis - oldestAtMillis) / 1000, { kind })
    }
    const report = Option.getOrUndefined(yield* last)
    if (report === undefined) return
    yield* set(gauges.age, Math.max(0, nowMillis - report.atMillis) / 1000)
    yield* sats(gauges.assets, report.assets)
    yield* sats(gauges.liabilities, report.liabilities)
    for (const account of ["node", "chain"] as const) {
      const { owned, own, unexplained } = report[account]
      yield* sats(gauges.owned, owned, { account })
      if (own !== null) yield* sats(gauges.own, own, { account })
      yield* sats(gauges.unexplained, unexplained, { account })
    }
    for (const account of accounts) yield* sats(gauges.account, report.accounts[account], { account })
    const counts = countByCause(report.differences)
    for (const cause of Cause.literals) yield* set(gauges.differences, counts[cause] ?? 0, { cause })
  }).pipe(Effect.catchTag("StoreUnavailable", (outage) => Effect.logWarning("metrics: backlog and discrepancies unavailable", outage)))
