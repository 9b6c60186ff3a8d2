import { assert } from "@effect/vitest"
import { Names } from "@satrail/core/base/Names"
import { Context, Effect } from "effect"
import * as Contract from "./Contract.ts"
import { hex } from "./Fixtures.ts"

/** The other side: a domain name system whose records the test sets. */
export class Peer extends Context.Service<
  Peer,
  {
    /** The TXT records of a name, in place of earlier ones, signed (DNSSEC) or not. */
    readonly set: (name: string, texts: ReadonlyArray<string>, isSigned: boolean) => Effect.Effect<void, unknown>
    /** Cuts the wire to whoever is asked, and mends it. */
    readonly cut: Effect.Effect<void, unknown>
    readonly mend: Effect.Effect<void, unknown>
  }
>()("@satrail/contracts/Names/Peer") {}

/** A name that had no record before. */
const fresh = Effect.map(hex(8), (one) => `a${one}.user._bitcoin-payment.shop.example`)

const published = Effect.fnUntraced(function* (texts: ReadonlyArray<string>, isSigned = true) {
  const name = yield* fresh
  yield* (yield* Peer).set(name, texts, isSigned)
  return name
})

const validated = Effect.fnUntraced(function* (name: string) {
  const { validated } = yield* Names
  return yield* validated === undefined ? Effect.die("it asks no resolver that validates") : validated(name)
})

const uri = "bitcoin:?lno=lno1abc"

/** What prevents a payment to whoever can forge an answer, or none. */
export const money = {
  "what is signed is said to be, and what is not signed is not": Effect.gen(function* () {
    assert.deepStrictEqual(yield* validated(yield* published([uri])), { texts: [uri], isSigned: true })
    assert.deepStrictEqual(yield* validated(yield* published([uri], false)), { texts: [uri], isSigned: false })
  }),
  "no answer is not one that there is no record": Effect.gen(function* () {
    const name = yield* published([uri])
    const peer = yield* Peer
    const errors = yield* Contract.withoutWire(peer, Effect.all([Effect.flip(validated(name)), Effect.flip(validated(yield* fresh))]))
    assert.deepStrictEqual(
      errors.map(({ _tag }) => _tag),
      ["NamesUnavailable", "NamesUnavailable"]
    )
    assert.deepStrictEqual((yield* validated(name)).texts, [uri])
  }),
  "two records are two": Effect.gen(function* () {
    const { texts } = yield* validated(yield* published([uri, "bitcoin:?lno=lno1evil"]))
    assert.deepStrictEqual(texts.toSorted(), [uri, "bitcoin:?lno=lno1evil"])
  }),
  "a record is one name's": Effect.gen(function* () {
    const [one, other] = [yield* published([uri]), yield* published(["bitcoin:?lno=lno1other"])]
    assert.deepStrictEqual([(yield* validated(one)).texts, (yield* validated(other)).texts], [[uri], ["bitcoin:?lno=lno1other"]])
    assert.deepStrictEqual((yield* validated(`x${one}`)).texts, [])
  }),
  "a record that was exchanged is the new one": Effect.gen(function* () {
    const name = yield* published([uri])
    yield* validated(name)
    yield* (yield* Peer).set(name, ["bitcoin:?lno=lno1new"], false)
    assert.deepStrictEqual(yield* validated(name), { texts: ["bitcoin:?lno=lno1new"], isSigned: false })
  })
} satisfies Contract.Promises<Names | Peer>

/** The rest. */
export const other = {
  "a name without records has none": Effect.gen(function* () {
    assert.deepStrictEqual((yield* validated(yield* fresh)).texts, [])
  }),
  "a record of several strings is whole": Effect.gen(function* () {
    const long = `bitcoin:?lno=lno1${"q".repeat(900)}`
    assert.deepStrictEqual((yield* validated(yield* published([long]))).texts, [long])
  }),
  "letter case of a name does not matter": Effect.gen(function* () {
    assert.deepStrictEqual((yield* validated((yield* published([uri])).toUpperCase())).texts, [uri])
  })
} satisfies Contract.Promises<Names | Peer>

/** What every Names promises that asks a resolver that validates. */
export const promises = { ...money, ...other }

/** Holds a layer with `validated`, and the peer that comes with it, to every promise. */
export const suite = Contract.suite<Names | Peer, typeof money, typeof other>("Names", { money, other })
