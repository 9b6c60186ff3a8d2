import { assert, it } from "@effect/vitest"
import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Msat from "@satrail/bitcoin/Msat"
import { LightningReceiver } from "@satrail/core/nodes/LightningReceiver"
import { LightningSender } from "@satrail/core/nodes/LightningSender"
import { Effect, HashMap, Result } from "effect"
import { TestClock } from "effect/testing"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import * as Lightning from "../src/Lightning.ts"
import * as Sandbox from "../src/Sandbox.ts"
import { type Ports, state } from "./Story.ts"

const directory = Effect.acquireRelease(
  Effect.sync(() => Fs.mkdtempSync(Path.join(Os.tmpdir(), "sandbox-"))),
  (path) => Effect.sync(() => Fs.rmSync(path, { recursive: true }))
)

const run = <A, E>(effect: Effect.Effect<A, E, Ports>, path?: string) =>
  Effect.provide(effect, Sandbox.layer({ seed: "forget", network: "regtest", directory: path }), {
    local: true
  })

const invoice = (id: string) =>
  Effect.flatMap(LightningReceiver, ({ createInvoice }) =>
    createInvoice({
      id,
      amount: Msat.fromSats(21),
      description: { _tag: "Text", text: "tea" },
      expirySeconds: 3600
    })
  )
const sizes = Effect.map(
  Effect.flatMap(Sandbox.Sandbox, ({ state }) => state),
  ({ lightning }) => [HashMap.size(lightning.invoices), HashMap.size(lightning.payeeInvoices)]
)
const payTo = (paymentRequest: string) =>
  Effect.flatMap(LightningSender, ({ pay }) =>
    pay({
      invoice: Result.getOrThrow(Bolt11.decode(paymentRequest)),
      amount: Msat.fromSats(50),
      feeLimit: Msat.fromSats(50)
    })
  )
const many = (prefix: string, count: number) =>
  Effect.forEach(
    Array.from({ length: count }, (_, at) => `${prefix} ${at}`),
    invoice
  )
const keptDays = Lightning.keptDays + 1

it.effect(
  "sandbox: an unpaid invoice is deleted a week after it expires; a paid, held or payable invoice is kept",
  () =>
    run(
      Effect.gen(function* () {
        const sandbox = yield* Sandbox.Sandbox
        const { lookupInvoice, cancelInvoice } = yield* LightningReceiver
        const [unpaid, canceled, paid, held] = [
          yield* invoice("unpaid"),
          yield* invoice("canceled"),
          yield* invoice("paid"),
          yield* invoice("held")
        ]
        yield* cancelInvoice(canceled.paymentHash)
        yield* sandbox.pay({ paymentRequest: paid.paymentRequest })
        yield* sandbox.pay({ paymentRequest: held.paymentRequest, hold: true })
        const outside = (behaviour: Sandbox.Behaviour) =>
          sandbox.destination({ type: "lightning_invoice", amount: Msat.fromSats(50), behaviour })
        const [theirs, pending] = [yield* outside("settle"), yield* outside("hold")]
        yield* payTo((yield* outside("settle")).destination)
        yield* payTo(pending.destination)
        yield* TestClock.adjust(`${keptDays - 1} days`)
        yield* invoice("an hour before a week has passed")
        assert.deepStrictEqual(yield* sizes, [5, 3])
        yield* TestClock.adjust("1 day")
        yield* invoice("later")
        const states = yield* Effect.forEach([unpaid, canceled, paid, held], ({ paymentHash }) =>
          lookupInvoice(paymentHash)
        )
        assert.deepStrictEqual(
          states.map(({ _tag }) => _tag),
          ["unknown", "unknown", "settled", "accepted"]
        )
        assert.deepStrictEqual(yield* sizes, [4, 2])
        assert.strictEqual(
          (yield* Effect.flip(sandbox.pay({ paymentRequest: theirs.destination }))).reason,
          "invoice_expired"
        )
        // A payment that was pending the whole time still completes.
        yield* sandbox.release({
          paymentHash: pending.paymentHash ?? assert.fail("an invoice must have a hash"),
          outcome: "settle"
        })
        assert.isTrue(Lightning.isWhole((yield* sandbox.state).lightning))
      })
    )
)

it.effect(
  "sandbox journal: deleted invoices are removed from the journal, while running and across restarts, and the state stays the same",
  () =>
    Effect.gen(function* () {
      const path = yield* directory
      const log = Path.join(path, "sandbox.ndjson")
      const lines = () => Fs.readFileSync(log, "utf8").trimEnd().split("\n").length
      const numbers = yield* run(
        Effect.gen(function* () {
          yield* many("first", 1500)
          const { destination } = yield* (yield* Sandbox.Sandbox).destination({
            type: "lightning_invoice",
            amount: Msat.fromSats(50)
          })
          assert.strictEqual(lines(), 1502)
          yield* TestClock.adjust(`${keptDays} days`)
          yield* invoice("second")
          // The header, the last external invoice (which records the count of external invoices), and the new
          // one.
          assert.strictEqual(lines(), 3)
          yield* invoice("third")
          return { destination, after: yield* state }
        }),
        path
      )
      assert.strictEqual(lines(), 4)
      const again = yield* run(
        Effect.gen(function* () {
          const now = yield* state
          const { destination } = yield* (yield* Sandbox.Sandbox).destination({
            type: "lightning_invoice",
            amount: Msat.fromSats(50)
          })
          return { destination, now }
        }),
        path
      )
      assert.deepStrictEqual(again.now, numbers.after)
      const hashOf = (text: string) => Result.getOrThrow(Bolt11.decode(text)).paymentHash
      assert.notStrictEqual(hashOf(again.destination), hashOf(numbers.destination), "no number is used twice")
    })
)

it.effect(
  "sandbox journal: if a process dies before it removes the entries of deleted invoices, the next start removes them",
  () =>
    Effect.gen(function* () {
      const path = yield* directory
      const log = Path.join(path, "sandbox.ndjson")
      yield* run(many("first", 1200), path)
      const before = Fs.readFileSync(log)
      const after = yield* run(
        Effect.gen(function* () {
          yield* TestClock.adjust(`${keptDays} days`)
          yield* invoice("later")
          return yield* state
        }),
        path
      )
      const last = Fs.readFileSync(log, "utf8").trimEnd().split("\n").at(-1)
      // Simulates a process that died after it wrote the invoice and before it wrote the effects.
      Fs.writeFileSync(log, Buffer.concat([before, Buffer.from(`${last}\n`)]))
      assert.deepStrictEqual(yield* run(state, path), after)
      assert.strictEqual(Fs.readFileSync(log, "utf8").trimEnd().split("\n").length, 2)
    })
)
