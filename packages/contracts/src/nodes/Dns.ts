import { assert } from "@effect/vitest"
import { Dns } from "@satrail/core/base/Dns"
import { Context, Effect } from "effect"
import * as Contract from "../Contract.ts"
import { hex } from "../Fixtures.ts"

/** The contract's peer: a domain name system with records set by the test. */
export class Peer extends Context.Service<
  Peer,
  {
    /** Sets the TXT records of a name, signed (DNSSEC) or not. Replaces earlier ones. */
    readonly set: (
      name: string,
      texts: ReadonlyArray<string>,
      isSigned: boolean
    ) => Effect.Effect<void, unknown>
    /** Cuts the connection to the resolver, and restores it. */
    readonly cut: Effect.Effect<void, unknown>
    readonly mend: Effect.Effect<void, unknown>
  }
>()("@satrail/contracts/nodes/Dns/Peer") {}

/** A new name without records. */
const fresh = Effect.map(hex(8), (one) => `a${one}.user._bitcoin-payment.shop.example`)

const published = Effect.fnUntraced(function* (texts: ReadonlyArray<string>, isSigned = true) {
  const name = yield* fresh
  yield* (yield* Peer).set(name, texts, isSigned)
  return name
})

const validated = Effect.fnUntraced(function* (name: string) {
  const { validated } = yield* Dns
  return yield* validated === undefined ? Effect.die("this Dns has no validating resolver") : validated(name)
})

const uri = "bitcoin:?lno=lno1abc"

/** Guarantees that a forged response cannot redirect a payment, and that no payment is lost. */
export const money = {
  "signed responses are reported as signed, and unsigned ones as unsigned": Effect.gen(function* () {
    assert.deepStrictEqual(yield* validated(yield* published([uri])), { texts: [uri], isSigned: true })
    assert.deepStrictEqual(yield* validated(yield* published([uri], false)), {
      texts: [uri],
      isSigned: false
    })
  }),
  "a failed lookup is an error and is never mistaken for a missing record": Effect.gen(function* () {
    const name = yield* published([uri])
    const peer = yield* Peer
    const errors = yield* Contract.withoutWire(
      peer,
      Effect.all([Effect.flip(validated(name)), Effect.flip(validated(yield* fresh))])
    )
    assert.deepStrictEqual(
      errors.map(({ _tag }) => _tag),
      ["DnsUnavailable", "DnsUnavailable"]
    )
    assert.deepStrictEqual((yield* validated(name)).texts, [uri])
  }),
  "a name with two records returns both": Effect.gen(function* () {
    const { texts } = yield* validated(yield* published([uri, "bitcoin:?lno=lno1evil"]))
    assert.deepStrictEqual(texts.toSorted(), [uri, "bitcoin:?lno=lno1evil"])
  }),
  "a record is returned for its own name only": Effect.gen(function* () {
    const [one, other] = [yield* published([uri]), yield* published(["bitcoin:?lno=lno1other"])]
    assert.deepStrictEqual(
      [(yield* validated(one)).texts, (yield* validated(other)).texts],
      [[uri], ["bitcoin:?lno=lno1other"]]
    )
    assert.deepStrictEqual((yield* validated(`x${one}`)).texts, [])
  }),
  "a replaced record is returned with its new value": Effect.gen(function* () {
    const name = yield* published([uri])
    yield* validated(name)
    yield* (yield* Peer).set(name, ["bitcoin:?lno=lno1new"], false)
    assert.deepStrictEqual(yield* validated(name), { texts: ["bitcoin:?lno=lno1new"], isSigned: false })
  })
} satisfies Contract.Promises<Dns | Peer>

/** Other guarantees. */
export const other = {
  "a name without records returns none": Effect.gen(function* () {
    assert.deepStrictEqual((yield* validated(yield* fresh)).texts, [])
  }),
  "a record that consists of several strings is returned as one string": Effect.gen(function* () {
    const long = `bitcoin:?lno=lno1${"q".repeat(900)}`
    assert.deepStrictEqual((yield* validated(yield* published([long]))).texts, [long])
  }),
  "names are case-insensitive": Effect.gen(function* () {
    assert.deepStrictEqual((yield* validated((yield* published([uri])).toUpperCase())).texts, [uri])
  })
} satisfies Contract.Promises<Dns | Peer>

/** The contract of a Dns that queries a validating resolver. */
export const promises = { ...money, ...other }

/** Runs the contract against a layer whose Dns has `validated`, and its peer. */
export const suite = Contract.suite<Dns | Peer, typeof money, typeof other>("Dns", { money, other })
