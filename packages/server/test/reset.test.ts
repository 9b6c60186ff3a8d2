import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import path from "node:path"
import * as Environment from "../src/deployment/Environment.ts"
import * as Reset from "../src/sandbox/Reset.ts"
import * as Service from "./Service.ts"

let data = ""
beforeEach(() => {
  data = Service.directory()
  for (const name of ["database", "sandbox"]) mkdirSync(path.join(data, name))
  for (const name of ["database/PG_VERSION", "sandbox/clock", "sandbox/sandbox.ndjson", "demo.json"])
    writeFileSync(path.join(data, name), "x")
  writeFileSync(path.join(data, "sandbox/identity"), "this\n")
})
afterEach(() => rmSync(data, { recursive: true, force: true }))

const environment = (more: Record<string, string> = {}) =>
  Result.getOrThrow(Environment.read({ PORT: "0", SATRAIL_DATA: data, ...more }))
const begin = (id: string) => Effect.runSync(Effect.result(Reset.make(environment(), Effect.void).begin(id)))
const finish = (more: Record<string, string> = {}) => Effect.runSync(Reset.finish(environment(more)))

describe("a reset", () => {
  it("sandbox reset: a reset deletes only the sandbox and its embedded database, at the next start", () => {
    assert.isTrue(Result.isSuccess(begin("this")))
    assert.isTrue(
      existsSync(path.join(data, "database/PG_VERSION")),
      "nothing is deleted before the service has stopped"
    )
    assert.isTrue(finish())
    assert.sameMembers(readdirSync(data), ["demo.json", "sandbox"])
    assert.isEmpty(readdirSync(path.join(data, "sandbox")))
    assert.isFalse(finish())
  })

  it("sandbox reset: the next start completes an interrupted reset", () => {
    begin("this")
    rmSync(path.join(data, "database"), { recursive: true })
    rmSync(path.join(data, "sandbox/clock"))
    assert.isTrue(finish())
    assert.isEmpty(readdirSync(path.join(data, "sandbox")))
  })

  it("sandbox reset: a request to reset another sandbox is rejected, and a marker for another sandbox deletes nothing", () => {
    assert.isTrue(Result.isFailure(begin("that")))
    assert.isFalse(existsSync(path.join(data, "reset")))
    writeFileSync(path.join(data, "reset"), "that\n")
    assert.isFalse(finish())
    assert.isTrue(existsSync(path.join(data, "database/PG_VERSION")))
    assert.isFalse(existsSync(path.join(data, "reset")), "the marker is not found again later")
  })

  const real: Record<string, Record<string, string>> = {
    "a PostgreSQL database": { DATABASE_URL: "postgres://somebody@127.0.0.1:1/satrail" },
    "public tickers": { RATES: "tickers" },
    "the web": { RESOLVER: "web" },
    "an Esplora chain": {
      CHAIN: "esplora",
      ESPLORA_URL: "http://127.0.0.1:1",
      CHAIN_SEED: `${"abandon ".repeat(11)}about`
    }
  }
  for (const [what, env] of Object.entries(real)) {
    it(`sandbox reset: with ${what}, nothing is deleted and a reset is not offered`, () => {
      writeFileSync(path.join(data, "reset"), "this\n")
      const read = Environment.read({ PORT: "0", SATRAIL_DATA: data, ...env })
      if (Result.isFailure(read)) return assert.fail(read.failure.message)
      assert.isFalse(Reset.isPossible(read.success))
      assert.isFalse(Effect.runSync(Reset.finish(read.success)))
      assert.isTrue(existsSync(path.join(data, "database/PG_VERSION")))
      assert.isTrue(existsSync(path.join(data, "sandbox/sandbox.ndjson")))
    })
  }
})
