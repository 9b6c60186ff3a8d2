import { assert, describe, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import { LightningReceiver } from "@satrail/core/nodes/LightningReceiver"
import { Effect, Exit } from "effect"
import { TestClock } from "effect/testing"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import * as Log from "../src/Log.ts"
import * as Sandbox from "../src/Sandbox.ts"
import { type Ports, state, steps } from "./Story.ts"

/** An empty directory that is removed afterward. */
const directory = Effect.acquireRelease(
  Effect.sync(() => Fs.mkdtempSync(Path.join(Os.tmpdir(), "sandbox-"))),
  (path) => Effect.sync(() => Fs.rmSync(path, { recursive: true }))
)

const run = <A, E>(effect: Effect.Effect<A, E, Ports>, options: Partial<Sandbox.Options> = {}) =>
  Effect.provide(effect, Sandbox.layer({ seed: "restart", network: "regtest", ...options }), { local: true })

const logOf = (path: string) => Path.join(path, "sandbox.ndjson")
const lines = (path: string) => Fs.readFileSync(logOf(path), "utf8").trimEnd().split("\n")

const invoices = (from: number, to: number) =>
  Effect.flatMap(LightningReceiver, ({ createInvoice }) =>
    Effect.forEach(
      Array.from({ length: to - from }, (_, at) => from + at),
      (number) =>
        createInvoice({
          id: String(number),
          amount: Msat.fromSats(21),
          description: { _tag: "Text", text: "many" },
          expirySeconds: 3600
        })
    )
  )

describe("events survive a restart", () => {
  it.effect(
    "sandbox: a later start without a directory does not repeat the external invoices of the previous start",
    () =>
      Effect.gen(function* () {
        const ask = { type: "lightning_invoice", amount: Msat.fromSats(50) } as const
        const invoice = run(Effect.flatMap(Sandbox.Sandbox, ({ destination }) => destination(ask)))
        const first = yield* invoice
        yield* TestClock.adjust("1 second")
        assert.notStrictEqual((yield* invoice).paymentHash, first.paymentHash)
      })
  )

  it.effect("sandbox journal: the same seed and steps give the same state", () =>
    Effect.gen(function* () {
      const all = Effect.andThen(
        Effect.forEach(steps, (step) => step),
        state
      )
      const [first, second] = [yield* run(all), yield* run(all)]
      assert.deepStrictEqual(second, first)
      assert.notDeepEqual(yield* run(all, { seed: "another" }), first)
    })
  )

  it.effect("sandbox journal: a restart between any two steps changes nothing", () =>
    Effect.gen(function* () {
      const path = yield* directory
      const whole: Array<unknown> = []
      yield* run(
        Effect.forEach(steps, (step) =>
          Effect.andThen(
            step,
            Effect.map(state, (now) => whole.push(now))
          )
        ),
        { directory: yield* directory }
      )
      for (const [at, step] of steps.entries()) {
        assert.deepStrictEqual(
          yield* run(Effect.andThen(step, state), { directory: path }),
          whole[at],
          `step ${at}`
        )
        assert.deepStrictEqual(
          yield* run(state, { directory: path }),
          whole[at],
          `step ${at}, after a restart`
        )
      }
    })
  )

  it.effect("sandbox journal: an incomplete last line is ignored, wherever it is cut off", () =>
    Effect.gen(function* () {
      const path = yield* directory
      yield* run(
        Effect.forEach(steps.slice(0, 8), (step) => step),
        { directory: path }
      )
      const before = yield* run(state, { directory: path })
      const complete = Fs.readFileSync(logOf(path))
      const next = steps[8] ?? assert.fail("no step")
      yield* run(next, { directory: path })
      const after = Fs.readFileSync(logOf(path))
      // The step consists of two commands: one for the payee's invoice and one for its payment.
      const first = after.indexOf("\n", complete.length) + 1
      for (const end of [complete.length + 1, complete.length + 40, first - 1]) {
        Fs.writeFileSync(logOf(path), after.subarray(0, end))
        assert.deepStrictEqual(yield* run(state, { directory: path }), before, `cut off at byte ${end}`)
        assert.deepStrictEqual(Fs.readFileSync(logOf(path)), complete)
      }
      Fs.writeFileSync(logOf(path), after.subarray(0, after.length - 1))
      yield* run(Effect.void, { directory: path })
      assert.deepStrictEqual(Fs.readFileSync(logOf(path)), after.subarray(0, first))
    })
  )

  it.effect("sandbox journal: a malformed line in the middle is an error", () =>
    Effect.gen(function* () {
      const path = yield* directory
      yield* run(invoices(0, 3), { directory: path })
      const [header = "", first = "", , third = ""] = lines(path)
      Fs.writeFileSync(logOf(path), `${[header, first, "{}", third].join("\n")}\n`)
      const error = yield* Effect.flip(run(state, { directory: path }))
      assert.instanceOf(error, Log.LogUnusable)
    })
  )

  it.effect("sandbox journal: a directory belongs to one seed and network", () =>
    Effect.gen(function* () {
      const path = yield* directory
      yield* run(invoices(0, 1), { directory: path })
      for (const other of [{ seed: "another" }, { network: "signet" as const }]) {
        const error = yield* Effect.flip(run(state, { directory: path, ...other }))
        assert.instanceOf(error, Log.LogUnusable)
      }
      assert.strictEqual(lines(path).length, 2)
    })
  )

  it.effect("sandbox journal: a directory that cannot be created is reported", () =>
    Effect.gen(function* () {
      const path = yield* directory
      Fs.writeFileSync(Path.join(path, "file"), "")
      const error = yield* Effect.flip(run(state, { directory: Path.join(path, "file", "below") }))
      assert.instanceOf(error, Log.LogUnusable)
    })
  )

  it.effect("sandbox journal: a second process in the same directory writes nothing", () =>
    Effect.gen(function* () {
      const path = yield* directory
      yield* run(
        Effect.gen(function* () {
          yield* invoices(0, 1)
          yield* run(invoices(1, 2), { directory: path })
          const exit = yield* Effect.exit(invoices(2, 3))
          assert.isTrue(Exit.hasDies(exit))
        }),
        { directory: path }
      )
      assert.strictEqual(lines(path).length, 3)
    })
  )

  it.effect("sandbox journal: ten thousand invoices are loaded from the journal, not created again", () =>
    Effect.gen(function* () {
      const path = yield* directory
      const first = yield* run(invoices(0, 50), { directory: path })
      // Copies with other ids and hashes. The copies are not derived from this sandbox's secret, so they cannot
      // have been created again.
      const [, ...made] = lines(path)
      const copies = Array.from({ length: 10_000 }, (_, at) =>
        (made[at % made.length] ?? "")
          .replace(/"id":"\d+"/, `"id":"copy ${at}"`)
          .replace(/"paymentHash":"[0-9a-f]{64}"/, `"paymentHash":"${at.toString(16).padStart(64, "0")}"`)
      )
      Fs.appendFileSync(logOf(path), `${copies.join("\n")}\n`)
      const look = Effect.gen(function* () {
        const { lookupInvoice } = yield* LightningReceiver
        assert.deepStrictEqual(
          yield* lookupInvoice(PaymentHash.make((9_999).toString(16).padStart(64, "0"))),
          { _tag: "open" }
        )
        const [again] = yield* invoices(49, 50)
        return again
      })
      assert.deepStrictEqual(yield* run(look, { directory: path }), first[49])
      assert.strictEqual(lines(path).length, 10_051)
    })
  )
})
