import { assert } from "@effect/vitest"
import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Id from "@satrail/core/base/Id"
import { Resolver } from "@satrail/core/nodes/Resolver"
import { Context, Effect, Result } from "effect"
import * as Contract from "../Contract.ts"

/** The contract's peer: a payee's server that the resolver can reach. */
export class Peer extends Context.Service<
  Peer,
  {
    /** Returns the URL of a new payee (LUD-06, LUD-16) who accepts any amount between `min` and `max`. */
    readonly publish: (takes: {
      readonly min: Msat.Msat
      readonly max: Msat.Msat
    }) => Effect.Effect<string, unknown>
    /** The URL of an unknown payee on an existing server. */
    readonly nobody: string
    /** Cuts the connection to the server, and restores it. */
    readonly cut: Effect.Effect<void, unknown>
    readonly mend: Effect.Effect<void, unknown>
  }
>()("@satrail/contracts/nodes/Resolver/Peer") {}

const takes = { min: Msat.fromSats(10), max: Msat.fromSats(5_000) }

const offered = Effect.gen(function* () {
  return yield* (yield* Resolver).offer(yield* (yield* Peer).publish(takes))
})

const invoiced = Effect.fnUntraced(function* (amount: Msat.Msat) {
  const offer = yield* offered
  const invoice = Result.getOrThrow(
    Bolt11.decode((yield* (yield* Resolver).invoice(offer, amount)).paymentRequest)
  )
  return { offer, invoice }
})

const withoutWire = <A, E, R>(use: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Peer, (peer) => Contract.withoutWire(peer, use))

/** Guarantees against wrong and lost payments. */
export const money = {
  "a pay request has the payee's amount limits": Effect.gen(function* () {
    const { min, max } = yield* offered
    assert.deepStrictEqual({ min, max }, takes)
  }),
  "C39: an invoice is for exactly the requested amount, to the millisatoshi": Effect.gen(function* () {
    for (const amount of [takes.min, Msat.make(1_234_567n), takes.max])
      assert.strictEqual((yield* invoiced(amount)).invoice.amount, amount)
  }),
  "the metadata is returned unchanged and hashes to the invoice's description hash": Effect.gen(function* () {
    const { offer, invoice } = yield* invoiced(takes.min)
    const hash = yield* Effect.promise(() =>
      crypto.subtle.digest("SHA-256", new TextEncoder().encode(offer.metadata))
    )
    assert.strictEqual(invoice.descriptionHash, Id.toHex(new Uint8Array(hash)))
  }),
  "every request gets a new invoice": Effect.gen(function* () {
    const { invoice } = yield* Resolver
    const offer = yield* offered
    const invoices = yield* Effect.forEach(Array.from({ length: 4 }), () => invoice(offer, takes.min))
    const hashes = invoices.map(
      ({ paymentRequest }) => Result.getOrThrow(Bolt11.decode(paymentRequest)).paymentHash
    )
    assert.strictEqual(new Set(hashes).size, 4)
  })
} satisfies Contract.Promises<Resolver | Peer>

/** Other guarantees. */
export const other = {
  "an unknown payee is rejected by its server": Effect.gen(function* () {
    const error = yield* Effect.flip((yield* Resolver).offer((yield* Peer).nobody))
    assert.strictEqual(error._tag, "RecipientRefused")
    assert.isAbove(error.reason.length, 0)
  }),
  "a request that the payee does not accept is rejected": Effect.gen(function* () {
    const { invoice } = yield* Resolver
    const offer = yield* offered
    for (const amount of [Msat.make(takes.min - 1n), Msat.make(takes.max + 1n)]) {
      assert.strictEqual((yield* Effect.flip(invoice(offer, amount)))._tag, "RecipientRefused")
    }
  }),
  "a payment to an unreachable server is not reported as rejected": Effect.gen(function* () {
    const { invoice, offer: ask } = yield* Resolver
    const url = yield* (yield* Peer).publish(takes)
    const offer = yield* ask(url)
    const errors = yield* withoutWire(
      Effect.all([Effect.flip(ask(url)), Effect.flip(invoice(offer, takes.min))])
    )
    assert.deepStrictEqual(
      errors.map(({ _tag }) => _tag),
      ["RecipientUnreachable", "RecipientUnreachable"]
    )
    assert.deepStrictEqual(yield* ask(url), offer)
  })
} satisfies Contract.Promises<Resolver | Peer>

/** The guarantees that every Resolver must provide. */
export const promises = { ...money, ...other }

/** Runs the contract against a layer and its peer. */
export const suite = Contract.suite<Resolver | Peer, typeof money, typeof other>("Resolver", { money, other })
