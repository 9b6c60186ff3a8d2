import { assert, it } from "@effect/vitest"
import * as Random from "@satrail/testing/Random"
import { eventually, programsMillis } from "@satrail/testing/Waiting"
import { Effect, Redacted } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import os from "node:os"
import path from "node:path"
import { setTimeout } from "node:timers/promises"
import type pg from "pg"
import * as Database from "../../postgres/test/Database.ts"

const orders = 250
const kills = 20
const seed = Number(process.env["KILLED_SEED"] ?? Date.now() % 1_000_000)

const program = path.join(process.env["SATRAIL_TEST_PROGRAMS"] ?? "", "killed.mjs")

const temporary = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(path.join(os.tmpdir(), "satrail-killed-"))),
  (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
)

const tables = `
  create schema shop;
  create table shop.orders (id text primary key, paid int not null default 0);
  create table shop.place (name text primary key, event text not null);
  insert into shop.orders select n from generate_series(0, ${orders - 1}) n`

const linesOf = (log: string) => (existsSync(log) ? readFileSync(log, "utf8").split("\n").slice(0, -1) : [])

const end = async (child: ChildProcess, signal: NodeJS.Signals) => {
  const exited = child.exitCode === null && child.signalCode === null ? once(child, "exit") : undefined
  child.kill(signal)
  await exited
}

/** Runs the shop and kills it repeatedly while it handles events, then lets it finish. */
const story = async (directory: string, url: string, pool: pg.Pool) => {
  const random = Random.make(seed)
  const log = path.join(directory, "log")
  const start = () =>
    spawn(process.execPath, [program, path.join(directory, "data"), url, log, String(orders)], {
      stdio: ["ignore", "inherit", "inherit"]
    })
  for (let kill = 0; kill < kills; kill++) {
    const child = start()
    const wanted = Math.min(
      linesOf(log).length + random.between(1, Math.ceil((2 * orders) / kills) - 2),
      2 * orders
    )
    await eventually(
      `line ${wanted} before kill ${kill + 1}`,
      async () => linesOf(log).length,
      (count) => count >= wanted
    )
    await setTimeout(random.between(0, 40))
    await end(child, "SIGKILL")
  }
  const last = start()
  const isDone = async () => {
    const { rows } = await pool.query<{ unpaid: number }>(
      "select count(*)::int as unpaid from shop.orders where paid = 0"
    )
    return { unpaid: rows[0]?.unpaid, handled: new Set(linesOf(log)).size }
  }
  await eventually(
    "every order is paid and every event handled",
    isDone,
    ({ unpaid, handled }) => unpaid === 0 && handled === 2 * orders
  )
  await end(last, "SIGTERM")
  return linesOf(log)
}

it.live.skipIf(Database.server === undefined)(
  `events: ${2 * orders} events are handled at least once and in order, and each order is marked once, although the process is killed ${kills} times`,
  () =>
    Effect.gen(function* () {
      console.log(`seed ${seed} (KILLED_SEED)`)
      const url = Redacted.value(yield* Database.make)
      const pool = yield* Database.hostsPool({ connectionString: url, max: 2 })
      yield* Effect.promise(() => pool.query(tables))
      const directory = yield* temporary
      const lines = yield* Effect.promise(() => story(directory, url, pool))
      const bySubject = Map.groupBy(lines, (line) => line.split(" ")[0])
      assert.strictEqual(bySubject.size, orders)
      for (const [subject = "", told] of bySubject) {
        const [created, settled] = [`${subject} invoice.created`, `${subject} invoice.settled`]
        assert.strictEqual(told[0], created, told.join(", "))
        assert.strictEqual(told.at(-1), settled, told.join(", "))
      }
      const { rows } = yield* Effect.promise(() =>
        pool.query<{ paid: number; orders: number }>(
          "select paid, count(*)::int as orders from shop.orders group by paid"
        )
      )
      assert.deepStrictEqual(rows, [{ paid: 1, orders }])
      console.log(`${lines.length} calls for ${2 * orders} events`)
    }),
  programsMillis
)
