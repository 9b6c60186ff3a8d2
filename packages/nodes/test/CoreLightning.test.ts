import { assert, describe, it } from "@effect/vitest"
import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Msat from "@satrail/bitcoin/Msat"
import { eventually } from "@satrail/contracts/Eventually"
import * as ReceiverContract from "@satrail/contracts/LightningReceiver"
import * as SenderContract from "@satrail/contracts/LightningSender"
import * as WireContract from "@satrail/contracts/LightningWire"
import { LightningReceiver } from "@satrail/core/nodes/LightningReceiver"
import { LightningSender } from "@satrail/core/nodes/LightningSender"
import { Clock, Context, Effect, Fiber, Layer, Redacted, References, Result } from "effect"
import * as CoreLightning from "../src/CoreLightning.ts"
import * as Asleep from "./Asleep.ts"
import * as LightningDaemon from "./LightningDaemon.ts"

// No Core Lightning has run here: what it is held to is a pretend one, that does what the real one's documentation and issues say of it.

class Daemon extends Context.Service<Daemon, Awaited<ReturnType<typeof LightningDaemon.make>>>()("test/Daemon") {}

const daemon = Layer.effect(
  Daemon,
  Effect.acquireRelease(Effect.promise(LightningDaemon.make), ({ end }) => Effect.sync(end))
)

const rune = Redacted.make(LightningDaemon.rune)

const backend = Layer.unwrap(
  Effect.map(Daemon, ({ url }) =>
    Layer.merge(
      CoreLightning.layerReceiver({ url, rune, invoiceSecret: Redacted.make("of the tests") }),
      CoreLightning.layerSender({ url, rune })
    )
  )
)

const peers = Layer.merge(
  Layer.effect(
    ReceiverContract.Peer,
    Effect.map(Daemon, ({ pay }) => ({
      pay: (paymentRequest, amount) => Effect.try({ try: () => pay(paymentRequest, amount), catch: (cause) => cause })
    }))
  ),
  Layer.effect(
    SenderContract.Peer,
    Effect.map(Daemon, (daemon) => ({
      invoice: ({ amount, behaviour }) => Effect.sync(() => daemon.payee(behaviour, amount)),
      unreachable: (amount) => Effect.sync(() => daemon.hermit(amount)),
      received: (hash) => Effect.sync(() => Msat.make(daemon.received(hash))),
      release: (hash, outcome) => Effect.sync(() => daemon.release(hash, outcome)),
      cut: Effect.sync(daemon.cut),
      mend: Effect.sync(daemon.mend)
    }))
  )
)

const layer = Layer.merge(backend, peers).pipe(Layer.provideMerge(daemon))

ReceiverContract.suite("core lightning, pretend", layer, {
  skip: { "the hash of a description is in the invoice as it was given (LUD-06)": "it takes a description, and hashes that itself" }
})
SenderContract.suite("core lightning, pretend", layer)

const target = Layer.effect(
  WireContract.Target,
  Effect.map(Daemon, (daemon) => ({
    url: daemon.url,
    adapter: (url, deadlineMillis) =>
      Layer.merge(
        CoreLightning.layerReceiver({ url, rune, invoiceSecret: Redacted.make("of the tests"), deadlineMillis }),
        CoreLightning.layerSender({ url, rune, deadlineMillis, retrySeconds: 1 })
      )
  }))
)
const quiet = Layer.succeed(References.MinimumLogLevel, "None")

WireContract.suite("core lightning, pretend", Layer.mergeAll(target, peers, quiet).pipe(Layer.provideMerge(daemon)))

const asking = (paymentRequest: string) => ({
  invoice: Result.getOrThrow(Bolt11.decode(paymentRequest)),
  amount: Msat.fromSats(1000),
  feeLimit: Msat.fromSats(10)
})

describe("core lightning", () => {
  it.layer(layer, { excludeTestServices: true })((it) => {
    it.effect("Core Lightning: all parts failed while the command goes on: not failed", () =>
      Effect.gen(function* () {
        const { lookupPayment, pay } = yield* LightningSender
        const daemon = yield* Daemon
        const asked = asking(daemon.payee("retry", 1_000_000n))
        const paying = yield* Effect.forkChild(pay(asked), { startImmediately: true })
        const { paymentHash } = asked.invoice
        yield* eventually(
          Effect.sync(() => daemon.waits(paymentHash)),
          (waits) => waits
        )
        for (let looks = 0; looks < 5; looks++) assert.deepStrictEqual<unknown>(yield* lookupPayment(paymentHash), { _tag: "pending" })
        daemon.retry(paymentHash)
        assert.strictEqual((yield* Fiber.join(paying))._tag, "settled")
        assert.strictEqual((yield* lookupPayment(paymentHash))._tag, "settled")
      })
    )

    it.effect("Core Lightning: after a restart, all parts failed is pending until the command must have ended", () =>
      Effect.gen(function* () {
        const { pay } = yield* LightningSender
        const daemon = yield* Daemon
        const asked = asking(daemon.payee("fail", 1_000_000n))
        assert.deepStrictEqual<unknown>(yield* pay(asked), { _tag: "failed", reason: "incorrect_payment_details" })
        const restarted = yield* Effect.provideContext(
          LightningSender,
          yield* Layer.build(Layer.fresh(CoreLightning.layerSender({ url: daemon.url, rune })))
        )
        assert.deepStrictEqual<unknown>(yield* restarted.lookupPayment(asked.invoice.paymentHash), { _tag: "pending" })
      }).pipe(Effect.scoped)
    )

    it.effect("Core Lightning: a payment that is under way is not begun again", () =>
      Effect.gen(function* () {
        const { pay } = yield* LightningSender
        const daemon = yield* Daemon
        const asked = asking(daemon.payee("hold", 1_000_000n))
        yield* pay(asked)
        const before = daemon.commands()
        const restarted = yield* Effect.provideContext(
          LightningSender,
          yield* Layer.build(Layer.fresh(CoreLightning.layerSender({ url: daemon.url, rune })))
        )
        assert.deepStrictEqual<unknown>(yield* restarted.pay(asked), { _tag: "pending" })
        assert.strictEqual(daemon.commands(), before)
      }).pipe(Effect.scoped)
    )

    it.effect("Core Lightning: a process that slept longer than a call may take sends no payment", () =>
      Effect.gen(function* () {
        const { pay } = yield* LightningSender
        const daemon = yield* Daemon
        const asked = asking(daemon.payee("settle", 1_000_000n))
        const before = daemon.commands()
        // It falls asleep as soon as it has looked at the clock once.
        let looks = 0
        const clock = Asleep.clock(() => (looks++ === 0 ? 0 : 61_000))
        assert.deepStrictEqual<unknown>(yield* Effect.provideServiceEffect(pay(asked), Clock.Clock, clock), { _tag: "notSent" })
        assert.strictEqual(daemon.commands(), before)
        assert.strictEqual((yield* pay(asked))._tag, "settled")
      }).pipe(Effect.provideService(References.MinimumLogLevel, "None"))
    )

    it.effect("Core Lightning: a rune without the permission is an outage, and decides nothing", () =>
      Effect.gen(function* () {
        const daemon = yield* Daemon
        const asked = asking(daemon.payee("settle", 1_000_000n))
        const options = { url: daemon.url, rune: Redacted.make("another") }
        for (const refused of [options, { ...options, rune: Redacted.make(LightningDaemon.readOnlyRune) }]) {
          const sender = yield* Effect.provideContext(LightningSender, yield* Layer.build(Layer.fresh(CoreLightning.layerSender(refused))))
          assert.deepStrictEqual<unknown>(yield* sender.pay(asked), { _tag: "notSent" })
        }
        const receiver = CoreLightning.layerReceiver({ ...options, invoiceSecret: Redacted.make("") })
        const error = yield* Effect.flip(Effect.provide(LightningReceiver, Layer.fresh(receiver)))
        assert.strictEqual(error._tag, "NodeUnavailable")
        assert.notInclude(JSON.stringify(error), "another")
      }).pipe(Effect.scoped, Effect.provideService(References.MinimumLogLevel, "None"))
    )
  })
})
