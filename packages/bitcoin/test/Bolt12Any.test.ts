import { bech32 } from "@scure/base"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Result, Schema } from "effect"
import * as Bolt12 from "../src/Bolt12.ts"
import * as Field from "../src/Bolt12Field.ts"
import * as Msat from "../src/Msat.ts"
import * as Network from "../src/Network.ts"

const integer = (minimum: number, maximum: number) =>
  Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum, maximum })))
const optionally = <A>(one: Arbitrary.Arbitrary<A>) => Arbitrary.array(one, { maxLength: 1 })
const bigints = (maximum: bigint) =>
  Arbitrary.schema(Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 1n, maximum })))
const text = Arbitrary.map(Arbitrary.schema(Schema.String.check(Schema.isMaxLength(60))), (one) =>
  one.toWellFormed()
)

const drafts = Arbitrary.map(
  Arbitrary.all({
    network: Arbitrary.schema(Network.Network),
    amount: optionally(bigints(Msat.max)),
    price: optionally(bigints(2n ** 64n - 1n)),
    description: text,
    absoluteExpirySeconds: optionally(integer(0, 2 ** 52)),
    issuer: optionally(text),
    quantityMax: optionally(bigints(2n ** 64n - 1n)),
    metadata: optionally(integer(0, 255)),
    features: Arbitrary.array(integer(0, 90), { maxLength: 1 })
  }),
  ({
    network,
    amount,
    price,
    description,
    absoluteExpirySeconds,
    issuer,
    quantityMax,
    metadata,
    features
  }): Bolt12.Draft => ({
    networks: [network],
    issuerId: "02eec7245d6b7d2ccb30380bfbe2a3648cd7a942653f5aa340edcea1f283686619",
    description,
    features: features.map((one) => one * 2 + 1),
    ...(amount[0] !== undefined && { amount: Msat.make(amount[0]) }),
    ...(amount[0] === undefined &&
      price[0] !== undefined && { price: { currency: "EUR", amount: price[0] } }),
    ...(absoluteExpirySeconds[0] !== undefined && { absoluteExpirySeconds: absoluteExpirySeconds[0] }),
    ...(issuer[0] !== undefined && { issuer: issuer[0] }),
    ...(quantityMax[0] !== undefined && { quantityMax: quantityMax[0] }),
    ...(metadata[0] !== undefined && { metadata: metadata[0].toString(16).padStart(2, "0").repeat(12) })
  })
)

const write = (bytes: ReadonlyArray<number>) => {
  const letters = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
  return `lno1${bech32
    .toWords(Uint8Array.from(bytes))
    .map((word) => letters[word])
    .join("")}`
}

const arbitrary = { seed: 12, runs: 300 }

describe("BOLT 12, any offer", () => {
  it.prop(
    "BOLT 12: parsing any offer that we write returns the same fields",
    { draft: drafts },
    ({ draft }) => {
      const offer = Result.getOrThrow(Bolt12.encode(draft))
      assert.deepStrictEqual(Result.getOrThrow(Bolt12.decode(offer)), {
        ...draft,
        features: draft.features ?? [],
        introductions: [],
        offer
      })
      assert.deepStrictEqual(Bolt12.decode(offer.toUpperCase()), Bolt12.decode(offer))
    },
    { arbitrary }
  )

  it.prop(
    "BOLT 12: the parser never throws, whatever bytes it is given",
    { bytes: Arbitrary.array(integer(0, 255), { maxLength: 300 }) },
    ({ bytes }) => {
      assert.isDefined(Bolt12.decode(write(bytes)))
    },
    { arbitrary }
  )

  it.prop(
    "BOLT 12: an offer with a changed byte or a missing end is read or rejected, and the parser never throws",
    { draft: drafts, at: integer(0, 10_000), to: integer(0, 255), length: integer(0, 10_000) },
    ({ draft, at, to, length }) => {
      const offer = Result.getOrThrow(Bolt12.encode(draft))
      const words = Array.from(offer.slice(4), (letter) => "qpzry9x8gf2tvdw0s3jn54khce6mua7l".indexOf(letter))
      const bytes = [...bech32.fromWords(words)]
      bytes[at % bytes.length] = to
      assert.isDefined(Bolt12.decode(write(bytes)))
      assert.isDefined(Bolt12.decode(write(bytes.slice(0, length % (bytes.length + 1)))))
    },
    { arbitrary }
  )

  it.prop(
    "BOLT 12: the parser never throws, whatever text it is given",
    { some: Arbitrary.schema(Schema.String.check(Schema.isMaxLength(200))) },
    ({ some }) => {
      assert.isDefined(Bolt12.decode(some))
      assert.isDefined(Bolt12.decode(`lno1${some}`))
    },
    { arbitrary }
  )

  it("BOLT 12: fields that are repeated or not in ascending order are rejected", () => {
    const read = (...types: ReadonlyArray<bigint>) =>
      Field.read(Field.write(types.map((type) => ({ type, data: Uint8Array.of(1) }))))
    assert.strictEqual(read(8n, 10n)?.length, 2)
    assert.isUndefined(read(8n, 8n))
    assert.isUndefined(read(10n, 8n))
  })

  it("BOLT 12: a string longer than any offer is rejected before it is parsed", () => {
    for (const long of [
      "+ ".repeat(1_000_000),
      `lno1${"q".repeat(10_000_000)}`,
      `lno1${"+".repeat(1_000_000)}`
    ]) {
      const refused = Bolt12.decode(long)
      assert.strictEqual(
        Result.isFailure(refused) && refused.failure.message,
        "An offer must have at most 4096 characters"
      )
    }
  })

  it("BOLT 12: the longest texts are read quickly, whatever they contain", () => {
    const rest = Bolt12.maxLength - 4
    // CPU time, which does not depend on the machine's load.
    const started = process.threadCpuUsage()
    for (const filler of ["q", "+ ", "+", "p", "l", "+q", "zz", "x "]) {
      assert.isDefined(Bolt12.decode(`lno1${filler.repeat(rest / filler.length)}`))
    }
    const { user, system } = process.threadCpuUsage(started)
    assert.isBelow((user + system) / 1000, 1000)
  })
})
