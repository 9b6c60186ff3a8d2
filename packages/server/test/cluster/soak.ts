// Runs a mixed load on three processes over one PostgreSQL for --minutes and kills one of them every minute.
// At the end the books must be sound. Writes memory, latency and table sizes as Markdown to --out or standard
// output. With --failover the database has a synchronous standby, and after each third of the run the
// primary's machine dies: the standby takes over, and the old primary becomes its standby.
import * as Msat from "@satrail/bitcoin/Msat"
import * as PgClient from "@satrail/postgres/client/PgClient"
import { Effect, ManagedRuntime, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { readFileSync, writeFileSync } from "node:fs"
import os from "node:os"
import { setTimeout as pass } from "node:timers/promises"
import { parseArgs } from "node:util"
import * as Customer from "../Customer.ts"
import { type Company, eventually } from "../Service.ts"
import * as Cluster from "./Cluster.ts"
import * as Failover from "./Failover.ts"

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "30" },
    out: { type: "string" },
    failover: { type: "boolean", default: false }
  }
})
const minutes = Number(values.minutes)
if (!(minutes >= 1 && minutes <= 24 * 60))
  throw new Error(`--minutes must be a number from 1 to 1440, got ${values.minutes}`)

const callers = 12
/** How long each caller waits between requests. The load is realistic, far below the machine's capacity. */
const pauseMillis = 100
const killEveryMillis = 60_000
const sampleEveryMillis = 5000
const thirds = 3

const startedAt = Date.now()
const endsAt = startedAt + minutes * 60_000
const isOver = () => Date.now() >= endsAt
/** The current third of the run. */
const third = () => Math.min(thirds - 1, Math.floor(((Date.now() - startedAt) / (minutes * 60_000)) * thirds))

const say = (text: string) => process.stderr.write(`${text}\n`)

// ---- the report

const latencies = new Map<string, ReadonlyArray<Array<number>>>()
const answers = new Map<number, number>()
/** Memory in MiB, of the process that is never killed and of the others. */
const memory: { readonly [who in "spared" | "killed"]: ReadonlyArray<Array<number>> } = {
  spared: [[], [], []],
  killed: [[], [], []]
}

/** The time of the last successful response, and the longest time without one. */
let answeredAt = Date.now()
let longestMillis = 0

const timed = async <A extends { readonly status: number }>(
  what: string,
  asking: () => Promise<A>
): Promise<A> => {
  const before = performance.now()
  const answer = await asking()
  if (!latencies.has(what)) latencies.set(what, [[], [], []])
  latencies.get(what)?.[third()]?.push(performance.now() - before)
  answers.set(answer.status, (answers.get(answer.status) ?? 0) + 1)
  if (answer.status < 300) {
    longestMillis = Math.max(longestMillis, Date.now() - answeredAt)
    answeredAt = Date.now()
  }
  return answer
}

const quantile = (sample: ReadonlyArray<number>, q: number): string =>
  sample.length === 0
    ? "–"
    : (
        sample.toSorted((a, b) => a - b)[Math.min(sample.length - 1, Math.floor(sample.length * q))] ?? 0
      ).toFixed(1)

const residentMebibytes = (pid: number): number | undefined => {
  try {
    const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]
    return kibibytes === undefined ? undefined : Number(kibibytes) / 1024
  } catch {
    return undefined // the process has exited, or this is not Linux
  }
}

interface Table {
  readonly name: string
  readonly live: number
  readonly dead: number
  readonly vacuums: number
  readonly bytes: number
}

// ---- the load

// The database has its default durability, claims have their real length, and Node has this program's
// options, as with `npm start`.
const servers = values.failover ? await Failover.make(true) : undefined
const cluster = await Cluster.make({
  ...(servers && { postgres: async () => servers.postgres }),
  more: { SATRAIL_LOG_LEVEL: "error" },
  nodeOptions: [
    ...process.execArgv,
    "--no-allocation-site-pretenuring",
    "--heap-growing-percent=50",
    "--semi-space-growth-factor=8",
    "--expose-gc"
  ],
  settings: [],
  clocksMove: false
})
const database = ManagedRuntime.make(
  PgClient.layer({ url: Redacted.make(cluster.postgres.url), maxConnections: 1 })
)

const tables = (): Promise<ReadonlyArray<Table>> =>
  database.runPromise(
    Effect.flatMap(
      SqlClient.SqlClient,
      (sql) => sql<Table>`
        select relname as name, n_live_tup::float8 as live, n_dead_tup::float8 as dead, autovacuum_count::float8 as vacuums,
          pg_total_relation_size(relid)::float8 as bytes
        from pg_stat_user_tables where schemaname = 'satrail' order by pg_total_relation_size(relid) desc`
    )
  )

let keys = 0
const key = () => ({ "Idempotency-Key": `soak-${++keys}` })

const caller = async (shop: Company, others: ReadonlyArray<string>) => {
  const address = (await Customer.outside(shop, "lightning_address")).destination
  for (let turn = 0; !isOver(); turn++) {
    switch (turn % 10) {
      case 0: {
        const body = { amount: 3000, currency: "sats" }
        const made = await timed("POST invoice", () =>
          shop.post("/v1/bitcoin/deposit/lightning-invoice", body, key())
        )
        if (made.status === 201)
          await cluster.outside((sandbox) => sandbox.pay({ paymentRequest: made.data.payment_request }))
        break
      }
      case 2:
      case 5:
        await timed("POST confirm, over the network", () => Customer.confirm(shop, address, 1000, key()))
        break
      case 7:
        await timed("POST confirm, internal", () =>
          Customer.confirm(shop, others[turn % others.length] ?? address, 100, key())
        )
        break
      case 8: {
        const again = key()
        await timed("POST confirm, over the network", () => Customer.confirm(shop, address, 500, again))
        await timed("POST confirm, repeated key", () => Customer.confirm(shop, address, 500, again))
        break
      }
      case 9:
        if (turn % 100 === 99) {
          const made = await timed("POST on-chain address", () =>
            shop.post("/v1/bitcoin/deposit/on-chain", {}, key())
          )
          if (made.status === 201)
            await cluster.outside((sandbox) =>
              sandbox.send({ address: made.data.address.address, amount: Msat.fromSats(10_000) })
            )
          break
        }
        await timed("GET the newest 50", () => shop.get("/v1/transactions?limit=50"))
        break
      default:
        await timed("GET balance", () => shop.get("/v1/transactions/balance"))
    }
    await pass(pauseMillis * (0.5 + Math.random()))
  }
}

const every = async (millis: number, work: () => Promise<unknown>) => {
  for (let due = startedAt + millis; due < endsAt; due += millis) {
    await pass(Math.max(0, due - Date.now()))
    await work()
  }
}

/** Kills the last two processes in turn. The first one runs for the whole test. */
let kills = 0
const kill = async () => {
  cluster.alive()[1 + (kills++ % 2)]?.running.kill("SIGKILL")
  say(
    `${Math.round((Date.now() - startedAt) / 60_000)} min: ${keys} keys, ${kills} killed, answers ${JSON.stringify([...answers])}`
  )
}

/** The primary's machine dies, the standby takes over, and the old primary follows it. */
const failOver = async (
  { first, second, clients, replication, ask, synchronize }: Failover.Servers,
  isFirst: boolean
) => {
  const [primary, standby] = isFirst ? [first, second] : [second, first]
  say(
    `${Math.round((Date.now() - startedAt) / 60_000)} min: the primary's machine dies, answers ${JSON.stringify([...answers])}`
  )
  if (isFirst) {
    replication.close()
    clients.close()
  }
  await primary.stop("immediate")
  await standby.promote()
  if (!isFirst) clients.open()
  // The old machine comes back as a primary. Clients with a stale configuration use it until it becomes a
  // standby.
  await primary.restart()
  await primary.stop("fast")
  await primary.follow(standby.port)
  await primary.restart()
  if (isFirst) replication.open()
  synchronize(standby)
  await eventually(
    "a synchronous standby",
    async () => ask(standby, "select count(*) from pg_stat_replication where sync_state = 'quorum'"),
    (count) => count === "1"
  )
}

const failovers = async () => {
  if (servers === undefined) return 0
  for (const [nth, isFirst] of [true, false].entries()) {
    // Schedule the failover between two kills: a process that starts without a database exits, and this
    // program has no supervisor to restart it.
    await pass(
      Math.max(0, startedAt + ((nth + 1) / thirds) * minutes * 60_000 + killEveryMillis / 2 - Date.now())
    )
    await failOver(servers, isFirst)
  }
  return 2
}

const spared = cluster.alive()[0]?.running.pid
const sample = async () => {
  for (const { running } of cluster.alive()) {
    const mebibytes = residentMebibytes(running.pid)
    if (mebibytes !== undefined)
      memory[running.pid === spared ? "spared" : "killed"][third()]?.push(mebibytes)
  }
}

const companies = await Customer.times(callers, () => cluster.company())
const handles = await Promise.all(
  companies.map(
    async (company) =>
      (await Customer.data(201, company.post("/v1/bitcoin/deposit/lightning-address", {}))).address
  )
)
for (const company of companies) await Customer.fund(company, 200_000)
const before = await tables()
answeredAt = Date.now()
const [failedOver] = await Promise.all([
  failovers(),
  ...companies.map((company) => caller(company, handles)),
  every(killEveryMillis, kill),
  every(sampleEveryMillis, sample),
  every(10_000, () => cluster.outside((sandbox) => sandbox.mine(1)))
])

// ---- the end

await cluster.complete()
for (let tries = 0; tries < 12; tries++) {
  await cluster.outside((sandbox) => sandbox.mine(1))
  const pending = (
    await Promise.all(companies.map((company) => Customer.transactions(company, "status=pending&limit=1000")))
  ).flat()
  if (pending.length === 0) break
  await pass(5000)
}
const after = await tables()
const failed = (
  await Promise.all(companies.map((company) => Customer.transactions(company, "status=failed&limit=1000")))
).flat().length
await database.dispose()
let books = "right"
try {
  await cluster.audit()
} catch (cause) {
  books = `WRONG: ${String(cause)}`
}
await cluster.end()

const mebibytes = (bytes: number) => (bytes / 1024 / 1024).toFixed(1)
const requests = [...answers.values()].reduce((sum, count) => sum + count, 0)
const report = [
  `${minutes} minutes, ${requests} requests by ${callers} callers, a process killed with SIGKILL every minute (${kills} times), on ` +
    `${os.availableParallelism()} × ${os.cpus()[0]?.model ?? "unknown"}, Node ${process.versions.node}.` +
    (failedOver === 0
      ? ""
      : ` The primary's machine died ${failedOver} times, and its standby took over each time.`),
  "",
  `- The books at the end: **${books}**.`,
  `- The longest time without a successful response: ${(longestMillis / 1000).toFixed(1)} s.`,
  `- Answers by status: ${[...answers]
    .toSorted()
    .map(([status, count]) => `${status}: ${count}`)
    .join(", ")}. Withdrawals that failed: ${failed}.`,
  "",
  "| latency, ms | requests | p50, first third | p50, last third | p99, first third | p99, last third |",
  "|---|---|---|---|---|---|",
  ...[...latencies]
    .toSorted()
    .map(
      ([what, [first = [], middle = [], last = []]]) =>
        `| ${what} | ${first.length + middle.length + last.length} | ${quantile(first, 0.5)} | ${quantile(last, 0.5)} | ${quantile(first, 0.99)} | ${quantile(last, 0.99)} |`
    ),
  "",
  "| memory, MiB | median, first third | median, middle | median, last third | most |",
  "|---|---|---|---|---|",
  ...(["spared", "killed"] as const).map((who) => {
    const [first = [], middle = [], last = []] = memory[who]
    const name = who === "spared" ? "the process that was never killed" : "the others, with their successors"
    return `| ${name} | ${quantile(first, 0.5)} | ${quantile(middle, 0.5)} | ${quantile(last, 0.5)} | ${quantile([...first, ...middle, ...last], 1)} |`
  }),
  "",
  "| table | rows | dead | autovacuums | MiB at first | MiB at last | bytes a row |",
  "|---|---|---|---|---|---|---|",
  ...after.map(({ name, live, dead, vacuums, bytes }) => {
    const first = before.find((one) => one.name === name)?.bytes ?? 0
    return `| ${name} | ${live} | ${dead} | ${vacuums} | ${mebibytes(first)} | ${mebibytes(bytes)} | ${live === 0 ? "–" : Math.round(bytes / live)} |`
  }),
  ""
].join("\n")
if (values.out === undefined) process.stdout.write(report)
else writeFileSync(values.out, report)
process.exitCode = books === "right" ? 0 : 1
