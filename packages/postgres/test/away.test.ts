import { assert, describe, it } from "@effect/vitest"
import { created, found, open } from "@satrail/contracts/Fixtures"
import { Records } from "@satrail/core/service/Records"
import { Effect, Layer } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import os from "node:os"
import path from "node:path"
import * as Commits from "../src/journal/Commits.ts"
import * as Storage from "@satrail/service/postgres/Storage"
import * as Database from "./Database.ts"

const directory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(path.join(os.tmpdir(), "satrail-away-"))),
  (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
)

const story = (isAway: { now: boolean }) =>
  Effect.gen(function* () {
    const [records, commits] = [yield* Records, yield* Commits.Commits]
    const company = yield* open
    const row = yield* created(company, 1)
    isAway.now = true
    const asked = [
      Effect.asVoid(found(records.invoice(company, row.id))),
      Effect.asVoid(created(company, 2)),
      Effect.asVoid(records.trialBalance)
    ]
    for (const one of asked) {
      const error = yield* Effect.flip(one)
      assert.deepInclude(error, {
        _tag: "StoreUnavailable",
        why: "away",
        reason: "the database does not respond"
      })
    }
    assert.strictEqual((yield* Effect.flip(commits.check))._tag, "StoreUnavailable")
    isAway.now = false
    assert.deepStrictEqual(yield* found(records.invoice(company, row.id)), row)
    yield* created(company, 3)
    yield* commits.check
  })

describe("a simulated database outage", () => {
  it.live(
    "PGlite: while the database is down, reads and commits fail as in an outage, and afterward nothing has changed",
    () =>
      Effect.gen(function* () {
        const isAway = { now: false }
        const storage = Storage.layerEmbedded({ directory: yield* directory, isAway: () => isAway.now })
        yield* Effect.provide(story(isAway), storage)
      })
  )

  it.live.skipIf(Database.server === undefined)(
    "postgres: while the database is down, reads and commits fail as in an outage, and nothing has changed once the database is back (skipped without a server)",
    () =>
      Effect.gen(function* () {
        const isAway = { now: false }
        const storage = Layer.unwrap(
          Effect.map(Database.make, (url) => Storage.layer({ url, isAway: () => isAway.now }))
        )
        yield* Effect.provide(story(isAway), storage)
      })
  )
})
