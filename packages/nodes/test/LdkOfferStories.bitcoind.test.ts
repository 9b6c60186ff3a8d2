import { assert, it } from "@effect/vitest"
import * as Bolt12 from "@satrail/bitcoin/Bolt12"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Preimage from "@satrail/bitcoin/Preimage"
import { eventually, Patience } from "@satrail/contracts/Eventually"
import { LightningBooks } from "@satrail/core/nodes/LightningBooks"
import { OfferSender } from "@satrail/core/nodes/OfferSender"
import * as LdkIssuer from "@satrail/regtest/LdkIssuer"
import * as LdkNetwork from "@satrail/regtest/LdkNetwork"
import * as Real from "@satrail/regtest/Real"
import { Effect, Layer, Result } from "effect"
import { globSync, readFileSync, rmSync } from "node:fs"
import { adapter, amount, resting, returns, undecided, usable } from "./LdkReturns.ts"

// Payments to erin's offer when dora's process is killed at a chosen step.

const layer = Layer.provideMerge(
  Layer.merge(
    adapter,
    // An attempt that LDK may have recorded stays in doubt for a minute after the restart.
    Layer.succeed(Patience, { tries: 6000, spacedMillis: 50 })
  ),
  LdkIssuer.layer
)

const asking = Effect.gen(function* () {
  const { offer } = yield* LdkIssuer.LdkIssuer
  const read = Result.getOrThrow(Bolt12.decode(yield* offer()))
  return { attempt: crypto.randomUUID(), offer: read, amount, feeLimit: Msat.fromSats(1_000) }
})
type Asked = Effect.Success<typeof asking>

const ends = Effect.fnUntraced(function* ({ attempt }: Pick<Asked, "attempt">) {
  const { lookupOffer } = yield* OfferSender
  return yield* eventually(
    lookupOffer(attempt),
    ({ _tag }) => _tag === "settled" || _tag === "failed" || _tag === "notFound"
  )
})

/** Asserts that the amounts dora spent and erin received match the attempt's result, to the msat. */
const adds = Effect.fnUntraced(function* (
  asked: Asked,
  before: bigint,
  payment: Effect.Success<ReturnType<typeof ends>>
) {
  const { received } = yield* LdkIssuer.LdkIssuer
  const isSettled = payment._tag === "settled"
  assert.strictEqual(yield* received(asked.offer.offer), isSettled ? amount : 0n)
  assert.strictEqual(before - (yield* resting), isSettled ? amount + payment.fee : 0n)
  if (isSettled) assert.isTrue(Preimage.proves(payment.preimage, payment.paymentHash))
})

/** Deletes LDK's record of an attempt, as if the process had died before writing it. */
const unrecorded = Effect.fnUntraced(function* ({ attempt }: Asked) {
  const { dora } = yield* LdkNetwork.LdkNetwork
  const files = globSync(`${dora.store}/ldk/*/payments/*`).filter((file) =>
    readFileSync(file).includes(attempt)
  )
  assert.strictEqual(files.length, 1)
  for (const file of files) rmSync(file)
})

Real.suite("ldk, when its process is killed while it pays an offer", ["bitcoind", "lnd", "ldk"], () => {
  it.layer(layer, { excludeTestServices: true })((it) => {
    for (const [step, isSent] of [
      ["intent", false],
      ["sent", true],
      ["succeeded", true]
    ] as const) {
      it.effect(
        `C3: ldk: if the process is killed at "${step}", a payment by offer is paid once or was never sent`,
        () =>
          Effect.gen(function* () {
            const { dora } = yield* LdkNetwork.LdkNetwork
            const { lookupOffer, payOffer } = yield* OfferSender
            yield* usable
            yield* returns({ LDK_DIE_AT: step }, "SIGTERM")
            const before = yield* resting
            const asked = yield* asking
            undecided(yield* payOffer(asked))
            yield* Effect.flip(dora.died)
            assert.strictEqual((yield* lookupOffer(asked.attempt))._tag, "unknown")
            yield* returns()
            const payment = yield* ends(asked)
            assert.strictEqual(payment._tag, isSent ? "settled" : "notFound")
            yield* adds(asked, before, payment)
            // A repeated request pays the attempt unless it has already been paid.
            yield* payOffer(asked)
            yield* adds(asked, before, yield* ends(asked))
          })
      )
    }
    it.effect(
      "C3: ldk: an attempt whose id LDK failed to write stays pending, blocks other attempts, and gets the outcome that LDK reports",
      () =>
        Effect.gen(function* () {
          const { bob } = yield* LdkIssuer.LdkIssuer
          const { dora } = yield* LdkNetwork.LdkNetwork
          const { lookupOffer, payOffer } = yield* OfferSender
          for (const word of ["RESUME", "FAIL"] as const) {
            yield* returns({ LDK_DIE_AT: "sent" }, "SIGTERM")
            const before = yield* resting
            const asked = yield* asking
            yield* bob.from({ held: asked.attempt })
            yield* payOffer(asked)
            yield* Effect.flip(dora.died)
            yield* unrecorded(asked)
            yield* returns()
            assert.deepStrictEqual<unknown>(yield* lookupOffer(asked.attempt), { _tag: "pending" })
            assert.deepStrictEqual<unknown>(yield* payOffer(yield* asking), { _tag: "notSent" })
            assert.notInclude(["failed", "settled"], (yield* payOffer(asked))._tag)
            yield* bob.from("RESUME")
            yield* bob.release(asked.attempt, word)
            const payment = yield* ends(asked)
            assert.strictEqual(payment._tag, word === "RESUME" ? "settled" : "failed")
            yield* adds(asked, before, payment)
          }
          const next = yield* asking
          yield* payOffer(next)
          assert.strictEqual((yield* ends(next))._tag, "settled")
        })
    )
    it.effect("ldk: the books list an offer payment with the id of its attempt", () =>
      Effect.gen(function* () {
        const { sent } = yield* LightningBooks
        const { payOffer } = yield* OfferSender
        const place = (yield* sent(null)).cursor
        const asked = yield* asking
        yield* payOffer(asked)
        const payment = yield* ends(asked)
        if (payment._tag !== "settled") return assert.fail(payment._tag)
        const { fee, paymentHash } = payment
        assert.deepStrictEqual((yield* sent(place)).lines, [
          { attempt: asked.attempt, paymentHash, amount, fee, state: "settled" }
        ])
      })
    )
  })
})
