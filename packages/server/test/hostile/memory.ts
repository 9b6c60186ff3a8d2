// Checks that requests from outsiders do not make the heap or any table grow. Sends --calls hostile requests of
// each kind (2000 by default) to one process over PostgreSQL: one round to warm up, then two more. After each
// round, measures the memory after a garbage collection and counts the rows. An increase between the last two
// rounds is growth. Writes Markdown to standard output and exits with 1 if anything grows.
import * as PgClient from "@satrail/postgres/client/PgClient"
import * as PostgresServer from "@satrail/testing/PostgresServer"
import { Effect, ManagedRuntime, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import { existsSync, readFileSync, rmSync } from "node:fs"
import { Agent, request as httpRequest } from "node:http"
import { connect } from "node:net"
import os from "node:os"
import path from "node:path"
import { setTimeout as pass } from "node:timers/promises"
import { parseArgs } from "node:util"
import * as Service from "../Service.ts"

const { values } = parseArgs({ options: { calls: { type: "string", default: "2000" } } })
const calls = Number(values.calls)
if (!(calls >= 1 && calls <= 1_000_000))
  throw new Error(`--calls must be a number from 1 to 1000000, got ${values.calls}`)

/** Number of concurrent requests. */
const atOnce = 32
/** The heap size after a garbage collection varies by this much. */
const noiseMebibytes = 2

const say = (text: string) => process.stderr.write(`${text}\n`)
const hex = (bytes: number) => randomBytes(bytes).toString("hex")

const installation = PostgresServer.find()
if ("missing" in installation) throw new Error(`This requires PostgreSQL: ${installation.missing}`)
const postgres = await PostgresServer.start(installation, { settings: PostgresServer.careless })
const service = Service.make()
const told = path.join(service.data, "memory.json")

// On SIGUSR2 the process collects its garbage and writes its memory use to a file.
const hook = `import { writeFileSync, renameSync } from "node:fs"
process.on("SIGUSR2", () => {
  for (let i = 0; i < 4; i++) gc()
  setTimeout(() => { gc(); writeFileSync(${JSON.stringify(`${told}.new`)}, JSON.stringify(process.memoryUsage())); renameSync(${JSON.stringify(`${told}.new`)}, ${JSON.stringify(told)}) }, 200)
})`
await service.start({
  DATABASE_URL: postgres.url,
  SATRAIL_LOG_LEVEL: "error",
  SATRAIL_PROXIES: "1",
  NODE_OPTIONS: `--expose-gc --import=data:text/javascript,${encodeURIComponent(hook)}`
})
const { port } = new URL(service.url())

interface Memory {
  readonly rss: number
  readonly heapUsed: number
  readonly external: number
}

const memory = async (): Promise<Memory> => {
  await pass(1500) // completion of the requests in flight
  rmSync(told, { force: true })
  process.kill(service.pid(), "SIGUSR2")
  for (let tries = 0; tries < 600 && !existsSync(told); tries++) await pass(50)
  return JSON.parse(readFileSync(told, "utf8"))
}

const database = ManagedRuntime.make(PgClient.layer({ url: Redacted.make(postgres.url), maxConnections: 1 }))
const rows = (): Promise<ReadonlyMap<string, number>> =>
  database.runPromise(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const tables = yield* sql<{
        readonly name: string
      }>`select tablename as name from pg_tables where schemaname = 'satrail' order by 1`
      const counted = yield* Effect.forEach(tables, ({ name }) =>
        Effect.map(
          sql.unsafe<{ readonly count: string }>(`select count(*)::text as count from satrail.${name}`),
          ([row]) => [name, Number(row?.count)] as const
        )
      )
      return new Map(counted)
    })
  )

// ---- requests from outsiders

const agent = new Agent({ keepAlive: true, maxSockets: atOnce })

/** The response's status, or 0 if the connection ended without a response. */
const ask = (
  method: string,
  route: string,
  headers: Readonly<Record<string, string>> = {},
  body?: string
): Promise<number> =>
  new Promise((resolve) => {
    const sent = httpRequest({ agent, host: "127.0.0.1", port, method, path: route, headers }, (answer) => {
      answer.on("error", () => resolve(answer.statusCode ?? 0))
      answer.on("end", () => resolve(answer.statusCode ?? 0))
      answer.resume()
    })
    sent.on("error", () => resolve(0))
    sent.end(body)
  })

/** Sends bytes that need not be HTTP. Returns the response's status, or 0 if the connection ended without one. */
const raw = (text: string | Uint8Array): Promise<number> =>
  new Promise((resolve) => {
    let answer = ""
    const socket = connect(Number(port), "127.0.0.1", () => socket.end(text))
    socket.setTimeout(5000, () => socket.destroy())
    socket.setEncoding("latin1").on("data", (part: string) => (answer += part.slice(0, 64)))
    socket.on("error", () => {})
    socket.on("close", () => resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0)))
  })

const company = await service.company("paid")
const { data: address } = await company.post("/v1/bitcoin/deposit/lightning-address", {})
const [user = "", domain = ""] = String(address.address).split("@")
const host = { host: domain }
const keyId = company.key.slice(0, company.key.lastIndexOf("_") + 1)
const json = { "content-type": "application/json" }
const oversized = JSON.stringify({ name: "x".repeat(100_000) })
const stranger = () => ({ ...host, "x-forwarded-for": `2001:db8:${hex(2)}:${hex(2)}::1` })

const kinds: Readonly<Record<string, (at: number) => Promise<number>>> = {
  "LNURL-pay offer": () => ask("GET", `/.well-known/lnurlp/${user}`, host),
  "LNURL-pay offer of an unknown address": () => ask("GET", `/.well-known/lnurlp/${hex(8)}`, host),
  "LNURL-pay at any domain": () =>
    ask("GET", `/lnurlp/${hex(6)}.example/${hex(4)}`, { host: `${hex(6)}.example` }),
  "LNURL-pay callback, one caller": () => ask("GET", `/lnurlp/${domain}/${user}/callback?amount=21000`, host),
  "LNURL-pay callback, a new caller each time": () =>
    ask("GET", `/lnurlp/${domain}/${user}/callback?amount=21000&comment=${hex(50)}`, stranger()),
  "LNURL-pay verify": () => ask("GET", `/lnurlp/${domain}/${user}/verify/${hex(32)}`, host),
  "LNURL-withdraw": () => ask("GET", `/lnurlw?k1=${hex(32)}`, stranger()),
  "LNURL-withdraw callback": () =>
    ask("GET", `/lnurlw/callback?k1=${hex(32)}&pr=lnbcrt1${hex(200)}`, stranger()),
  "/.well-known/*": () => ask("GET", `/.well-known/${hex(12)}`, host),
  "/docs": () => ask("GET", "/docs"),
  "/openapi.json": () => ask("GET", "/openapi.json"),
  "/healthz": () => ask("GET", "/healthz"),
  "/readyz": () => ask("GET", "/readyz"),
  "unknown paths": () => ask("GET", `/${hex(8)}/${hex(8)}?${hex(8)}=${hex(8)}`),
  "unknown methods": (at) =>
    ask(["DELETE", "PUT", "PATCH", "TRACE", "PROPFIND"][at % 5] ?? "PUT", `/v1/${hex(4)}`),
  "/v1 with unknown keys": () =>
    ask("GET", "/v1/transactions", {
      authorization: `Bearer sr_regtest_${hex(6).replaceAll("0", "1")}_${"1".repeat(43)}`
    }),
  "/v1 with a wrong secret": () =>
    ask("GET", "/v1/transactions/balance", { authorization: `Bearer ${keyId}${"1".repeat(43)}` }),
  "/v1 with other text as a key": () =>
    ask("GET", "/v1/transactions/balance", { authorization: `Bearer ${hex(100)}` }),
  "/operator with a wrong token": () =>
    ask("GET", "/operator/metrics", { authorization: `Bearer ${hex(32)}` }),
  "oversized bodies": () => ask("POST", "/v1/vouchers", json, oversized),
  "bodies that are not JSON": () => ask("POST", "/v1/bitcoin/withdraw/confirm", json, hex(1000)),
  "an Idempotency-Key without a key": () =>
    ask("POST", "/v1/vouchers", { ...json, "idempotency-key": hex(16) }, "{}"),
  "many headers": () =>
    ask(
      "GET",
      "/healthz",
      Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`x-${at}-${hex(4)}`, hex(8)]))
    ),
  "bytes that are not HTTP": () => raw(randomBytes(200)),
  "interrupted requests": () =>
    raw(`POST /v1/vouchers HTTP/1.1\r\nHost: ${domain}\r\nContent-Length: 1000\r\n\r\n{"amount":`)
}

const statuses = new Map<string, Map<number, number>>()

const send = async (kind: string, count: number) => {
  let next = 0
  const seen = statuses.get(kind) ?? new Map<number, number>()
  statuses.set(kind, seen)
  const one = kinds[kind] ?? (() => Promise.resolve(0))
  const worker = async () => {
    while (next < count) {
      const status = await one(next++)
      seen.set(status, (seen.get(status) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}

const round = async (count: number) => {
  const looks = new Map<string, Memory>()
  for (const kind of Object.keys(kinds)) {
    await send(kind, count)
    looks.set(kind, await memory())
  }
  return looks
}

const mebibytes = (bytes: number) => (bytes / 1024 / 1024).toFixed(1)

say("warming up")
await round(Math.ceil(calls / 4))
const rowsBefore = await rows()
statuses.clear()
say("the first round")
const first = await round(calls)
const rowsBetween = await rows()
say("the second round")
const second = await round(calls)
const rowsAfter = await rows()
await database.dispose()
await service.stop("SIGTERM")
await service.end()
await postgres.end()

// ---- the result

const last = (round: ReadonlyMap<string, Memory>) =>
  [...round.values()].at(-1) ?? { rss: 0, heapUsed: 0, external: 0 }
const grown =
  (last(second).heapUsed - last(first).heapUsed + last(second).external - last(first).external) / 1024 / 1024
// Wallets may leave unpaid invoices at an address, which are deleted minutes later, as core's tests check.
// Nothing else may grow.
const mayGrow = new Set(["invoices", "tasks"])
const more = [...rowsAfter].flatMap(([name, count]) => {
  const before = rowsBefore.get(name) ?? 0
  return count === before ? [] : [{ name, before, between: rowsBetween.get(name) ?? 0, count }]
})
const bad = [
  ...(grown > noiseMebibytes
    ? [`the heap is ${grown.toFixed(1)} MiB larger after the second round than after the first`]
    : []),
  ...more
    .filter(({ name, before, count }) => count > before && !mayGrow.has(name))
    .map(({ name }) => `rows of ${name}`),
  ...more
    .filter(({ name, count }) => name === "invoices" && count > 1200)
    .map(({ count }) => `${count} unpaid invoices at one address`)
]
process.stdout.write(
  [
    `${calls} calls of each of ${Object.keys(kinds).length} kinds, twice, on ${os.availableParallelism()} × ${os.cpus()[0]?.model ?? "unknown"}, Node ${process.versions.node}.`,
    "",
    "| hostile call | responses | heap, MiB, first round | second | RSS, MiB, first round | second |",
    "|---|---|---|---|---|---|",
    ...Object.keys(kinds).map((kind) => {
      const answers = [...(statuses.get(kind) ?? [])]
        .toSorted(([a], [b]) => a - b)
        .map(([status, count]) => `${status}: ${count}`)
      const [one, two] = [first.get(kind), second.get(kind)]
      const cells = [one?.heapUsed, two?.heapUsed, one?.rss, two?.rss].map((bytes) => mebibytes(bytes ?? 0))
      return `| ${kind} | ${answers.join(", ")} | ${cells.join(" | ")} |`
    }),
    "",
    "| table whose rows changed | before | after the first round | after the second |",
    "|---|---|---|---|",
    ...more.map(({ name, before, between, count }) => `| ${name} | ${before} | ${between} | ${count} |`),
    "",
    bad.length === 0 ? "Nothing grows." : `GROWS: ${bad.join("; ")}.`,
    ""
  ].join("\n")
)
process.exitCode = bad.length === 0 ? 0 : 1
