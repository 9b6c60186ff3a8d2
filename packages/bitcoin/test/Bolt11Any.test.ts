import { hex } from "@scure/base"
import { assert, describe, it } from "@effect/vitest"
import * as oracle from "bolt11"
import { Arbitrary, Result, Schema } from "effect"
import * as BitcoinAddress from "../src/BitcoinAddress.ts"
import * as Bolt11 from "../src/Bolt11.ts"
import * as Msat from "../src/Msat.ts"
import * as Network from "../src/Network.ts"
import * as PaymentHash from "../src/PaymentHash.ts"

// The key of BOLT 11's examples.
const key = hex.decode("e126f68f7eafcc8b74f54d269fe206be715000f94dac067d1c04a8ca3b2db734")
const payee = "03e7156ae33b0a208d0744199163177e909e80176e55d97a2f221ede0f934dd9ad"

const integer = (minimum: number, maximum: number) =>
  Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum, maximum })))
const bytes = (length: number) =>
  Arbitrary.map(Arbitrary.array(integer(0, 255), { minLength: length, maxLength: length }), (all) =>
    hex.encode(Uint8Array.from(all))
  )
const optionally = <A>(one: Arbitrary.Arbitrary<A>) => Arbitrary.array(one, { maxLength: 1 })

/** Invoices of every shape. A list of at most one element is an optional field. */
const drafts = Arbitrary.map(
  Arbitrary.all({
    network: Arbitrary.schema(Network.Network),
    amount: optionally(
      Arbitrary.schema(Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 1n, maximum: Msat.max })))
    ),
    timestampSeconds: integer(1, 2 ** 35 - 1),
    expirySeconds: optionally(integer(1, 31_536_000)),
    paymentHash: bytes(32),
    paymentSecret: bytes(32),
    description: Arbitrary.schema(Schema.String.check(Schema.isMaxLength(200))),
    descriptionHash: optionally(bytes(32)),
    minFinalCltvExpiry: integer(1, 2016),
    metadata: optionally(
      Arbitrary.map(Arbitrary.array(integer(0, 255), { minLength: 1, maxLength: 40 }), (all) =>
        hex.encode(Uint8Array.from(all))
      )
    ),
    declared: Arbitrary.schema(Schema.Boolean),
    optionalFeature: integer(0, 60),
    fallback: Arbitrary.all({ kind: Arbitrary.schema(BitcoinAddress.Kind), payload: bytes(32) }),
    fallbacks: integer(0, 1),
    routes: Arbitrary.array(
      Arbitrary.array(
        Arbitrary.all({
          block: integer(0, 2 ** 24 - 1),
          output: integer(0, 2 ** 16 - 1),
          feeBaseMsat: integer(0, 2 ** 32 - 1),
          feeProportionalMillionths: integer(0, 2 ** 32 - 1),
          cltvExpiryDelta: integer(0, 2 ** 16 - 1)
        }),
        { minLength: 1, maxLength: 3 }
      ),
      { maxLength: 2 }
    )
  }),
  (parts): Bolt11.Draft => {
    const payload = hex.decode(parts.fallback.payload)
    const address =
      BitcoinAddress.fromPayload(parts.fallback.kind, payload, parts.network) ??
      BitcoinAddress.fromPayload(parts.fallback.kind, payload.subarray(0, 20), parts.network)
    return {
      network: parts.network,
      timestampSeconds: parts.timestampSeconds,
      paymentHash: PaymentHash.make(parts.paymentHash),
      paymentSecret: parts.paymentSecret,
      minFinalCltvExpiry: parts.minFinalCltvExpiry,
      features: [8, 14, 17, 61 + parts.optionalFeature * 2],
      fallbacks: parts.fallbacks === 1 && address !== undefined ? [address] : [],
      routes: parts.routes.map((route) =>
        route.map(({ block, output, feeBaseMsat, ...hop }) => ({
          ...hop,
          pubkey: payee,
          shortChannelId: `${block}x${block % 3000}x${output}`,
          feeBaseMsat: Msat.make(BigInt(feeBaseMsat))
        }))
      ),
      ...(parts.amount.length > 0 && { amount: Msat.make(parts.amount[0] ?? 0n) }),
      ...(parts.expirySeconds[0] !== undefined && { expirySeconds: parts.expirySeconds[0] }),
      // A lone surrogate has no UTF-8 encoding, so it can't be read back.
      ...(parts.descriptionHash[0] === undefined
        ? { description: parts.description.toWellFormed() }
        : { descriptionHash: parts.descriptionHash[0] }),
      ...(parts.metadata[0] !== undefined && { metadata: parts.metadata[0] }),
      ...(parts.declared && { payee })
    }
  }
)

// A fixed seed, so that every run tests the same invoices. A failure prints the smallest failing draft.
const arbitrary = { seed: 11, runs: 100 }

describe("BOLT 11, any invoice", () => {
  it.prop(
    "BOLT 11: parsing any invoice that we write returns the same fields",
    { draft: drafts },
    ({ draft }) => {
      const paymentRequest = Result.getOrThrow(Bolt11.encode(draft, Bolt11.signWith(key)))
      assert.deepStrictEqual(
        Result.getOrThrow(Bolt11.decode(paymentRequest)),
        {
          expirySeconds: Bolt11.defaultExpirySeconds,
          ...draft,
          payee,
          paymentRequest
        },
        paymentRequest
      )
      assert.deepStrictEqual(Bolt11.decode(paymentRequest.toUpperCase()), Bolt11.decode(paymentRequest))
    },
    { arbitrary }
  )

  it.prop(
    "BOLT 11: an invoice with one changed character is rejected",
    { draft: drafts, at: integer(0, 10_000), to: integer(1, 31) },
    ({ draft, at, to }) => {
      const letters = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
      const invoice = Result.getOrThrow(Bolt11.encode(draft, Bolt11.signWith(key)))
      const index = at % invoice.length
      const letter = letters[(letters.indexOf(invoice[index] ?? "") + to + 32) % 32] ?? "q"
      if (letter === invoice[index]) return
      assert.isTrue(
        Result.isFailure(Bolt11.decode(invoice.slice(0, index) + letter + invoice.slice(index + 1))),
        `${invoice} at ${index}`
      )
    },
    { arbitrary }
  )

  it.prop(
    "BOLT 11: the bolt11 library reads our invoices the same way",
    { draft: drafts },
    ({ draft }) => {
      const invoice = Result.getOrThrow(Bolt11.encode(draft, Bolt11.signWith(key)))
      assert.deepStrictEqual(oracleReads(invoice, draft.network), oursReads(invoice), invoice)
    },
    { arbitrary }
  )

  it.prop(
    "BOLT 11: invoices written by the bolt11 library can be read",
    { draft: drafts },
    ({ draft }) => {
      const written = oracleWrites(draft)
      assert.deepStrictEqual(oursReads(written), oracleReads(written, draft.network), written)
    },
    { arbitrary }
  )
})

/** A network in the form that the reference library requires. The library has no signet. */
const oracleNetwork = (network: Network.Network) => {
  const { invoicePrefix, p2pkhVersion, p2shVersion } = Network.parameters[network]
  return {
    bech32: invoicePrefix.slice(2),
    pubKeyHash: p2pkhVersion,
    scriptHash: p2shVersion,
    validWitnessVersions: [0, 1]
  }
}

/** The parts of an invoice that both libraries return. */
interface Reading {
  readonly amount: string | undefined
  readonly timestampSeconds: number | undefined
  readonly payee: string | undefined
  readonly features: ReadonlyArray<number>
  readonly fields: ReadonlyArray<readonly [name: string, value: unknown]>
}

const channelId = (shortChannelId: string) => {
  const [block = 0n, transaction = 0n, output = 0n] = shortChannelId.split("x").map(BigInt)
  return ((block << 40n) | (transaction << 16n) | output).toString(16).padStart(16, "0")
}

const sorted = (fields: Record<string, unknown>) =>
  Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))

function oracleReads(invoice: string, network: Network.Network): Reading {
  const decoded = oracle.decode(invoice, oracleNetwork(network))
  const tags = decoded.tagsObject
  const bits = tags.feature_bits
  const extra = bits?.extra_bits ?? { start_bit: 0, bits: [] }
  const named = [bits?.var_onion_optin?.required, bits?.payment_secret?.required, bits?.basic_mpp?.supported]
  return {
    amount: decoded.millisatoshis ?? undefined,
    timestampSeconds: decoded.timestamp,
    payee: decoded.payeeNodeKey,
    features: [
      ...[8, 14, 17].filter((_, index) => named[index]),
      ...extra.bits.flatMap((set, index) => (set ? [extra.start_bit + index] : []))
    ],
    fields: sorted({
      paymentHash: tags.payment_hash,
      paymentSecret: tags.payment_secret,
      description: tags.description,
      descriptionHash: tags.purpose_commit_hash,
      expirySeconds: tags.expire_time ?? 3600,
      minFinalCltvExpiry: tags.min_final_cltv_expiry,
      fallback: tags.fallback_address?.addressHash,
      routes: decoded.tags.filter(({ tagName }) => tagName === "routing_info").map(({ data }) => data)
    })
  }
}

function oursReads(invoice: string): Reading {
  const decoded = Result.getOrThrow(Bolt11.decode(invoice))
  const [address] = decoded.fallbacks
  return {
    amount: decoded.amount?.toString(),
    timestampSeconds: decoded.timestampSeconds,
    payee: decoded.payee,
    features: decoded.features,
    fields: sorted({
      paymentHash: decoded.paymentHash,
      paymentSecret: decoded.paymentSecret,
      description: decoded.description,
      descriptionHash: decoded.descriptionHash,
      expirySeconds: decoded.expirySeconds,
      minFinalCltvExpiry: decoded.minFinalCltvExpiry,
      fallback: address && hex.encode(BitcoinAddress.payload(address)),
      routes: decoded.routes.map((route) =>
        route.map((hop) => ({
          pubkey: hop.pubkey,
          short_channel_id: channelId(hop.shortChannelId),
          fee_base_msat: Number(hop.feeBaseMsat),
          fee_proportional_millionths: hop.feeProportionalMillionths,
          cltv_expiry_delta: hop.cltvExpiryDelta
        }))
      )
    })
  }
}

function oracleWrites(draft: Bolt11.Draft): string {
  const [address] = draft.fallbacks ?? []
  const tags = [
    { tagName: "payment_hash", data: draft.paymentHash },
    { tagName: "payment_secret", data: draft.paymentSecret },
    ...(draft.description === undefined ? [] : [{ tagName: "description", data: draft.description }]),
    ...(draft.descriptionHash === undefined
      ? []
      : [{ tagName: "purpose_commit_hash", data: draft.descriptionHash }]),
    ...(draft.expirySeconds === undefined ? [] : [{ tagName: "expire_time", data: draft.expirySeconds }]),
    { tagName: "min_final_cltv_expiry", data: draft.minFinalCltvExpiry ?? 18 },
    {
      tagName: "feature_bits",
      data: {
        word_length: 4,
        var_onion_optin: { required: true },
        payment_secret: { required: true },
        basic_mpp: { supported: true }
      }
    },
    ...(address === undefined || address.kind === "p2tr"
      ? []
      : [
          {
            tagName: "fallback_address",
            data: {
              code: { p2pkh: 17, p2sh: 18, p2wpkh: 0, p2wsh: 0 }[address.kind],
              address: address.address,
              addressHash: hex.encode(BitcoinAddress.payload(address))
            }
          }
        ]),
    ...(draft.routes ?? []).map((route) => ({
      tagName: "routing_info",
      data: route.map((hop) => ({
        pubkey: hop.pubkey,
        short_channel_id: channelId(hop.shortChannelId),
        fee_base_msat: Number(hop.feeBaseMsat),
        fee_proportional_millionths: hop.feeProportionalMillionths,
        cltv_expiry_delta: hop.cltvExpiryDelta
      }))
    }))
  ]
  const unsigned = oracle.encode(
    {
      network: oracleNetwork(draft.network),
      timestamp: draft.timestampSeconds,
      ...(draft.amount !== undefined && { millisatoshis: draft.amount.toString() }),
      tags
    },
    false
  )
  return oracle.sign(unsigned, hex.encode(key)).paymentRequest ?? ""
}
