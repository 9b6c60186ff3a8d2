import { assert, describe, it } from "@effect/vitest"
import { hex } from "@scure/base"
import { Result } from "effect"
import * as BitcoinAddress from "../src/BitcoinAddress.ts"
import type { Network } from "../src/Network.ts"

type Reason = BitcoinAddress.BitcoinAddressInvalid["reason"]

/** A valid test vector with its expected values. */
type Valid = readonly [address: string, network: Network, scriptPubKey: string, kind: BitcoinAddress.Kind]

/** An invalid test vector with the reason why it is invalid. */
type Invalid = readonly [why: string, address: string, network: Network, reason: Reason]

const refusal = (address: string, network: Network): Reason | "valid" => {
  const decoded = BitcoinAddress.decode(address, network)
  return Result.isFailure(decoded) ? decoded.failure.reason : "valid"
}

/** Decodes the vector's address and encodes its script. Both results must equal `expected`. */
const bothWays = ([address, network, scriptPubKey]: Valid) =>
  [BitcoinAddress.decode(address, network), BitcoinAddress.fromScript(scriptPubKey, network)].map(
    Result.getOrThrow
  )

/** The expected results of `bothWays`. Segwit addresses are written in lowercase. */
const expected = ([address, network, scriptPubKey, kind]: Valid) => {
  const written = kind === "p2pkh" || kind === "p2sh" ? address : address.toLowerCase()
  const one = { address: written, network, kind, scriptPubKey }
  return [one, one]
}

describe("valid addresses", () => {
  const valid: ReadonlyArray<Valid> = [
    // BIP 350, which repeats the examples of BIP 173.
    [
      "BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4",
      "mainnet",
      "0014751e76e8199196d454941c45d1b3a323f1433bd6",
      "p2wpkh"
    ],
    [
      "tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7",
      "testnet",
      "00201863143c14c5166804bd19203356da136c985678cd4d27a1b8c6329604903262",
      "p2wsh"
    ],
    [
      "tb1qqqqqp399et2xygdj5xreqhjjvcmzhxw4aywxecjdzew6hylgvsesrxh6hy",
      "testnet",
      "0020000000c4a5cad46221b2a187905e5266362b99d5e91c6ce24d165dab93e86433",
      "p2wsh"
    ],
    [
      "tb1pqqqqp399et2xygdj5xreqhjjvcmzhxw4aywxecjdzew6hylgvsesf3hn0c",
      "signet",
      "5120000000c4a5cad46221b2a187905e5266362b99d5e91c6ce24d165dab93e86433",
      "p2tr"
    ],
    [
      "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0",
      "mainnet",
      "512079be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798",
      "p2tr"
    ],
    [
      "1RustyRX2oai4EYYDpQGWvEL62BBGqN9T",
      "mainnet",
      "76a91404b61f7dc1ea0dc99424464cc4064dc564d91e8988ac",
      "p2pkh"
    ],
    [
      "3EktnHQD7RiAE6uzMj2ZifT9YgRrkSgzQX",
      "mainnet",
      "a9148f55563b9a19f321c211e9b9f38cdf686ea0784587",
      "p2sh"
    ]
  ]
  for (const vector of valid)
    it(`bitcoin address: ${vector[0]} is read, and its script is written as the same address`, () =>
      assert.deepStrictEqual(bothWays(vector), expected(vector)))
})

describe("invalid addresses", () => {
  const superseded = "invalid since BIP 350, which changed the checksum of all witness versions after 0"
  // The standard allows payments to these addresses. No rules protect such an output yet, so anyone could take
  // the money.
  const future = "its witness version has no rules yet"
  const invalid: ReadonlyArray<Invalid> = [
    [
      superseded,
      "bc1pw508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7k7grplx",
      "mainnet",
      "checksum"
    ],
    [superseded, "BC1SW50QA3JX3S", "mainnet", "checksum"],
    [superseded, "bc1zw508d6qejxtdg4y5r3zarvaryvg6kdaj", "mainnet", "checksum"],
    // BIP 173
    [
      "invalid human-readable part",
      "tc1qw508d6qejxtdg4y5r3zarvary0c5xw7kg3g4ty",
      "mainnet",
      "unknown_prefix"
    ],
    ["invalid checksum", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5", "mainnet", "checksum"],
    ["invalid witness version", "BC13W508D6QEJXTDG4Y5R3ZARVARY0C5XW7KN40WF2", "mainnet", "malformed"],
    ["invalid program length (1 byte); bech32", "bc1rw5uspcuh", "mainnet", "checksum"],
    [
      "invalid program length (41 bytes); bech32",
      "bc10w508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7kw5rljs90",
      "mainnet",
      "checksum"
    ],
    ["mixed case", "tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sL5k7", "testnet", "malformed"],
    ["zero padding of more than 4 bits", "bc1zw508d6qejxtdg4y5r3zarvaryvqyzf3du", "mainnet", "malformed"],
    [
      "non-zero padding",
      "tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3pjxtptv",
      "testnet",
      "malformed"
    ],
    // BIP 350
    [
      "invalid human-readable part",
      "tc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq5zuyut",
      "mainnet",
      "unknown_prefix"
    ],
    [
      "bech32 instead of bech32m",
      "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd",
      "mainnet",
      "checksum"
    ],
    [
      "bech32 instead of bech32m",
      "tb1z0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqglt7rf",
      "testnet",
      "checksum"
    ],
    [
      "bech32 instead of bech32m",
      "BC1S0XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ54WELL",
      "mainnet",
      "checksum"
    ],
    ["bech32m instead of bech32", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kemeawh", "mainnet", "checksum"],
    [
      "bech32m instead of bech32",
      "tb1q0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq24jc47",
      "testnet",
      "checksum"
    ],
    [
      "invalid character in checksum",
      "bc1p38j9r5y49hruaue7wxjce0updqjuyyx0kh56v8s25huc6995vvpql3jow4",
      "mainnet",
      "malformed"
    ],
    [
      "invalid witness version",
      "BC130XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ7ZWS8R",
      "mainnet",
      "malformed"
    ],
    ["invalid program length (1 byte)", "bc1pw5dgrnzv", "mainnet", "program_length"],
    [
      "invalid program length (41 bytes)",
      "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v8n0nx0muaewav253zgeav",
      "mainnet",
      "program_length"
    ],
    [
      "invalid program length for version 0",
      "BC1QR508D6QEJXTDG4Y5R3ZARVARYV98GJ9P",
      "mainnet",
      "program_length"
    ],
    ["mixed case", "tb1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq47Zagq", "testnet", "malformed"],
    [
      "zero padding of more than 4 bits",
      "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v07qwwzcrf",
      "mainnet",
      "malformed"
    ],
    [
      "non-zero padding",
      "tb1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vpggkg4j",
      "testnet",
      "malformed"
    ],
    ["empty data section", "bc1gmk9yu", "mainnet", "malformed"],
    [
      future,
      "bc1pw508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7kt5nd6y",
      "mainnet",
      "unknown_witness_version"
    ],
    [future, "BC1SW50QGDZ25J", "mainnet", "unknown_witness_version"],
    [future, "bc1zw508d6qejxtdg4y5r3zarvaryvaxxpcs", "mainnet", "unknown_witness_version"],
    [
      future,
      "bc1z0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq2tdauy",
      "mainnet",
      "unknown_witness_version"
    ],
    ["pay to anchor", "bc1pfeessrawgf", "mainnet", "pay_to_anchor"],
    ["pay to anchor", "bcrt1pfeesnyr2tx", "regtest", "pay_to_anchor"],
    // base58
    ["typing error", "1RustyRX2oai4EYYDpQGWvEL62BBGqN9U", "mainnet", "checksum"],
    ["lower case", "1rustyrx2oai4eyydpqgwvel62bbgqn9t", "mainnet", "malformed"],
    ["another chain", "LVg2kJoFNg45Nbpy53h7Fe1wKyeXVRhMH9", "mainnet", "unknown_prefix"],
    ["nothing", "", "mainnet", "malformed"],
    ["too long", "1".repeat(91), "mainnet", "malformed"]
  ]
  for (const [why, address, network, reason] of invalid)
    it(`bitcoin address: ${address.slice(0, 74)} is rejected (${why})`, () =>
      assert.strictEqual(refusal(address, network), reason))
})

describe("an address of another network", () => {
  const elsewhere = (address: string, network: Network) => {
    const decoded = BitcoinAddress.decode(address, network)
    return Result.isFailure(decoded)
      ? [decoded.failure.reason, ...decoded.failure.networks]
      : decoded.success.kind
  }
  it("bitcoin address: an address of another network is rejected with the names of its networks", () => {
    const mainnet = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"
    const test = "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx"
    assert.deepStrictEqual(elsewhere(mainnet, "regtest"), ["wrong_network", "mainnet"])
    assert.deepStrictEqual(elsewhere(test, "mainnet"), ["wrong_network", "testnet", "signet"])
    assert.deepStrictEqual(elsewhere("1BoatSLRHtKNngkdXEeobR76b53LETtpyT", "testnet"), [
      "wrong_network",
      "mainnet"
    ])
    assert.deepStrictEqual(elsewhere("mk2QpYatsKicvFVuTAQLBryyccRXMUaGHP", "mainnet"), [
      "wrong_network",
      "testnet",
      "signet",
      "regtest"
    ])
    // The two networks share their prefix, so both accept the address.
    assert.strictEqual(elsewhere(test, "signet"), "p2wpkh")
    assert.strictEqual(elsewhere(test, "testnet"), "p2wpkh")
  })
})

describe("scripts, keys and dust", () => {
  it("bitcoin address: a script without an address form is rejected", () => {
    for (const script of [
      "",
      "6a0468656c6c6f",
      "0014751e76e8199196d454941c45d1b3a323f1433b",
      "51024e73",
      "0014" + "zz".repeat(20)
    ]) {
      assert.isTrue(Result.isFailure(BitcoinAddress.fromScript(script, "mainnet")), script)
    }
  })
  it("bitcoin address: bytes that are not a public key cannot be converted to an address", () => {
    for (const type of BitcoinAddress.AddressType.literals) {
      // No point on the curve has this x-coordinate.
      assert.throws(() => BitcoinAddress.fromPublicKey(hex.decode(`02${"00".repeat(31)}05`), type, "mainnet"))
      assert.throws(() => BitcoinAddress.fromPublicKey(new Uint8Array(20), type, "mainnet"))
    }
  })
  it("dust: the limit for each script type is the smallest output that nodes relay", () => {
    assert.deepStrictEqual(BitcoinAddress.Kind.literals.map(BitcoinAddress.dustLimitSats), [
      546n,
      540n,
      294n,
      330n,
      330n
    ])
  })
})
