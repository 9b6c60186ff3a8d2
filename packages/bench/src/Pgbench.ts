import { Effect } from "effect"
import { execFile } from "node:child_process"
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import path from "node:path"
import * as Fill from "./Fill.ts"
import { percentile, warmupMillis } from "./Load.ts"
import { BenchFailed } from "./Program.ts"

// PostgreSQL's own benchmark program. It does the same work as the service on the same tables, in plain SQL and
// without group commit.

export interface Pgbench {
  readonly program: string
  readonly url: string
  /** A folder for scripts and logs. */
  readonly directory: string
}

export interface Script {
  readonly text: string
  readonly clients: number
  /** Operations in one run of the script. 1 by default. */
  readonly operations?: number
}

// Uses the expression of the index on lists (postgres/src/migrations/Baseline.ts).
const newest = (type: string, table: string, fee: string) => `(
  select id, company_id, amount, recipient, rail, '${type}' as type, ${fee} as fee, status, created_at_millis from ${table}
  where uuid_send(company_id) = uuid_send('${Fill.id(Fill.kinds.company, Fill.busy)}'::uuid) order by created_at_millis desc, id desc limit 50
)`

const list = `select * from (${newest("withdrawal", "satrail.withdrawals", "service_fee + network_allowance")}
  union all ${newest("deposit", "satrail.deposits", "0")}
) t order by created_at_millis desc, id desc limit 50;`

// The number of clients at which scripts are fastest if the clients don't share a row.
const clients = 16

export const scripts = {
  createInvoice: { text: `select bench.create_invoice(${Fill.busy});`, clients },
  list: { text: list.replaceAll("\n", " "), clients },
  confirmSpread: { text: `\\set c random(1, ${Fill.spread})\nselect bench.confirm(:c);`, clients },
  confirm: { text: `select bench.confirm(${Fill.busy});`, clients: 64 },
  confirmMany: { text: `select bench.confirm_many(${Fill.busy}, 128);`, clients: 1, operations: 128 },
  settle: { text: "select bench.settle();", clients }
} satisfies Record<string, Script>

/**
 * Returns the rate and latencies in a pgbench log, without the warm-up. The third word of a line is a latency
 * in µs (if a rate was set, measured from the time the transaction was due). The fifth and sixth words are the
 * time at which the transaction ended, in seconds and µs.
 */
export const read = (log: string, operations: number, warmup = warmupMillis) => {
  const ended = log.split("\n").flatMap((line) => {
    const [, , micros, , seconds, rest] = line.split(" ")
    return rest === undefined
      ? []
      : { millis: Number(micros) / 1000, at: Number(seconds) * 1000 + Number(rest) / 1000 }
  })
  const from = ended.reduce((first, { at, millis }) => Math.min(first, at - millis), Infinity) + warmup
  const counted = ended.filter(({ at }) => at >= from)
  const last = counted.reduce((latest, { at }) => Math.max(latest, at), 0)
  if (last <= from) return undefined
  const sorted = Float64Array.from(counted, ({ millis }) => millis).toSorted()
  return {
    perSecond: (counted.length * operations * 1000) / (last - from),
    p50Millis: percentile(sorted, 0.5),
    p99Millis: percentile(sorted, 0.99)
  }
}

/** Runs a script at maximum speed, or at random times (Poisson) at this rate. */
export const run = (
  { program, url, directory }: Pgbench,
  { text, clients, operations = 1 }: Script,
  seconds: number,
  perSecond?: number
): Effect.Effect<NonNullable<ReturnType<typeof read>>, BenchFailed> =>
  Effect.callback((resume) => {
    const own = mkdtempSync(path.join(directory, "pgbench-"))
    const script = path.join(own, "script.sql")
    writeFileSync(script, text)
    const load =
      `-n -M prepared -c ${clients} -j ${Math.min(2, clients)} -T ${Math.ceil(seconds + warmupMillis / 1000)}`.split(
        " "
      )
    const rate = perSecond === undefined ? [] : ["-R", String(Math.max(1, perSecond / operations))]
    const args = [...load, ...rate, "-l", "--log-prefix", path.join(own, "log"), "-f", script, url]
    const child = execFile(program, args, (error, _, said) => {
      const log = globSync(path.join(own, "log.*")).map((file) => readFileSync(file, "utf8"))
      const outcome = error === null ? read(log.join(""), operations) : undefined
      rmSync(own, { recursive: true, force: true })
      resume(
        outcome === undefined
          ? Effect.fail(new BenchFailed({ message: `pgbench: ${said.trim() || String(error)}` }))
          : Effect.succeed(outcome)
      )
    })
    return Effect.sync(() => child.kill())
  })
