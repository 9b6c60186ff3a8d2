import type * as Msat from "@satrail/bitcoin/Msat"
import * as Measure from "@satrail/core/base/Measure"
import { accounts } from "@satrail/core/ledger/Change"
import { LightningBooks } from "@satrail/core/nodes/LightningBooks"
import { Cause } from "@satrail/core/reports/reconciliation/Difference"
import type { Reconciliation } from "@satrail/core/reports/reconciliation/Reconciliation"
import { Clock, Effect, Metric, Option } from "effect"
import * as Scalars from "../wire/Scalars.ts"
import { countByCause } from "./Reconciliation.ts"

const gauges = {
  owned: Measure.gauge("satrail_owned_sats", "Reported balance of the node, or of the hot wallet (chain)", [
    "account"
  ]),
  own: Measure.gauge("satrail_own_funds_sats", "Operator equity", ["account"]),
  unexplained: Measure.gauge(
    "satrail_unexplained_sats",
    "Balance that neither operator equity nor the ledger explains; negative if money is missing",
    ["account"]
  ),
  assets: Measure.gauge("satrail_assets_sats", "Combined balance of node and wallet")({}),
  liabilities: Measure.gauge("satrail_liabilities_sats", "Total balance of all companies")({}),
  account: Measure.gauge("satrail_account_sats", "Balance of a ledger account", ["account"]),
  differences: Measure.gauge(
    "satrail_differences",
    "Discrepancies between the ledger and the records of the node and the chain",
    ["cause"]
  ),
  age: Measure.gauge(
    "satrail_reconciliation_age_seconds",
    "Age of the last reconciliation run; before the first, the time since the process started; negative if the clocks of two processes differ"
  )({}),
  waiting: Measure.gauge("satrail_waiting", "Backlog: items", ["kind"]),
  waitingSats: Measure.gauge("satrail_waiting_sats", "Backlog: satoshis, including fees", ["kind"]),
  waitingAge: Measure.gauge("satrail_waiting_seconds", "Backlog: age of the oldest item; 0 if empty", [
    "kind"
  ])
}

/** The time since which this process should have reconciled; null if it cannot read the node's statement. */
export const sinceMillis = Effect.zipWith(
  Effect.serviceOption(LightningBooks),
  Clock.currentTimeMillis,
  (books, nowMillis) => (Option.isNone(books) ? null : nowMillis)
)

/**
 * Updates the gauges from the store, so that every process shows the same values. While the store is
 * unavailable they keep their values.
 */
export const refresh = ({ last, waiting }: Reconciliation["Service"], sinceMillis: number | null) =>
  Effect.gen(function* () {
    const sats = (of: Metric.Metric<number, unknown>, amount: Msat.Msat) =>
      Metric.update(of, Scalars.exactSats(amount))
    const all = yield* waiting
    const report = Option.getOrUndefined(yield* last)
    // Read after the report, so that a run in between has a positive age.
    const nowMillis = yield* Clock.currentTimeMillis
    for (const [kind, { count, amount, oldestAtMillis }] of Object.entries(all)) {
      yield* Metric.update(gauges.waiting({ kind }), count)
      yield* sats(gauges.waitingSats({ kind }), amount)
      yield* Metric.update(
        gauges.waitingAge({ kind }),
        oldestAtMillis === null ? 0 : Math.max(0, nowMillis - oldestAtMillis) / 1000
      )
    }
    const ranAtMillis = report?.atMillis ?? sinceMillis
    // Negative if the clock of the process that ran it is ahead of this one's, which an alarm reports.
    if (ranAtMillis !== null) yield* Metric.update(gauges.age, (nowMillis - ranAtMillis) / 1000)
    if (report === undefined) return
    yield* sats(gauges.assets, report.assets)
    yield* sats(gauges.liabilities, report.liabilities)
    for (const account of ["node", "chain"] as const) {
      const { owned, own, unexplained } = report[account]
      yield* sats(gauges.owned({ account }), owned)
      if (own !== null) yield* sats(gauges.own({ account }), own)
      yield* sats(gauges.unexplained({ account }), unexplained)
    }
    for (const account of accounts) yield* sats(gauges.account({ account }), report.accounts[account])
    const counts = countByCause(report.differences)
    for (const cause of Cause.literals)
      yield* Metric.update(gauges.differences({ cause }), counts[cause] ?? 0)
  }).pipe(
    Effect.catchTag("StoreUnavailable", (outage) =>
      Effect.logWarning("metrics: backlog and discrepancies unavailable", outage)
    )
  )
