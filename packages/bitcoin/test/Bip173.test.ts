import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import * as BitcoinAddress from "../src/BitcoinAddress.ts"
import type { Network } from "../src/Network.ts"
import { bothWays, expected, type Invalid, refusal, type Valid } from "./Addresses.ts"

describe("BIP 173, valid addresses of witness version 0", () => {
  const valid: ReadonlyArray<Valid> = [
    ["BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4", "mainnet", "0014751e76e8199196d454941c45d1b3a323f1433bd6", "p2wpkh"],
    [
      "tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7",
      "testnet",
      "00201863143c14c5166804bd19203356da136c985678cd4d27a1b8c6329604903262",
      "p2wsh"
    ],
    [
      "tb1qqqqqp399et2xygdj5xreqhjjvcmzhxw4aywxecjdzew6hylgvsesrxh6hy",
      "signet",
      "0020000000c4a5cad46221b2a187905e5266362b99d5e91c6ce24d165dab93e86433",
      "p2wsh"
    ]
  ]
  for (const vector of valid)
    it(`BIP 173: the address ${vector[0]} is valid`, () => assert.deepStrictEqual(bothWays(vector), expected(vector)))
})

// BIP 350 replaced bech32 for all later witness versions, so these formerly valid addresses now have a wrong
// checksum.
describe("BIP 173, addresses of later versions that BIP 350 made invalid", () => {
  for (const address of [
    "bc1pw508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7k7grplx",
    "BC1SW50QA3JX3S",
    "bc1zw508d6qejxtdg4y5r3zarvaryvg6kdaj"
  ]) {
    it(`BIP 173: the address ${address} is invalid since BIP 350`, () => assert.strictEqual(refusal(address, "mainnet"), "checksum"))
  }
})

describe("BIP 173, invalid addresses", () => {
  const invalid: ReadonlyArray<Invalid> = [
    ["invalid human-readable part", "tc1qw508d6qejxtdg4y5r3zarvary0c5xw7kg3g4ty", "mainnet", "unknown_prefix"],
    ["invalid checksum", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5", "mainnet", "checksum"],
    ["invalid witness version", "BC13W508D6QEJXTDG4Y5R3ZARVARY0C5XW7KN40WF2", "mainnet", "malformed"],
    ["invalid program length (1 byte); bech32", "bc1rw5uspcuh", "mainnet", "checksum"],
    [
      "invalid program length (41 bytes); bech32",
      "bc10w508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7kw5rljs90",
      "mainnet",
      "checksum"
    ],
    ["invalid program length for version 0", "BC1QR508D6QEJXTDG4Y5R3ZARVARYV98GJ9P", "mainnet", "program_length"],
    ["mixed case", "tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sL5k7", "testnet", "malformed"],
    ["zero padding of more than 4 bits", "bc1zw508d6qejxtdg4y5r3zarvaryvqyzf3du", "mainnet", "malformed"],
    ["non-zero padding", "tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3pjxtptv", "testnet", "malformed"],
    ["empty data section", "bc1gmk9yu", "mainnet", "malformed"]
  ]
  for (const [why, address, network, reason] of invalid) {
    it(`BIP 173: the address ${address} is rejected (${why})`, () => assert.strictEqual(refusal(address, network), reason))
  }
})

describe("an address of another network", () => {
  const elsewhere = (address: string, network: Network) => {
    const decoded = BitcoinAddress.decode(address, network)
    return Result.isFailure(decoded) ? [decoded.failure.reason, ...decoded.failure.networks] : decoded.success.kind
  }
  it("bitcoin address: an address of another network is rejected with the names of its networks", () => {
    const mainnet = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"
    const test = "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx"
    assert.deepStrictEqual(elsewhere(mainnet, "regtest"), ["wrong_network", "mainnet"])
    assert.deepStrictEqual(elsewhere(test, "mainnet"), ["wrong_network", "testnet", "signet"])
    assert.deepStrictEqual(elsewhere("1BoatSLRHtKNngkdXEeobR76b53LETtpyT", "testnet"), ["wrong_network", "mainnet"])
    assert.deepStrictEqual(elsewhere("mk2QpYatsKicvFVuTAQLBryyccRXMUaGHP", "mainnet"), ["wrong_network", "testnet", "signet", "regtest"])
    // The two networks share their prefix, so both accept the address.
    assert.strictEqual(elsewhere(test, "signet"), "p2wpkh")
    assert.strictEqual(elsewhere(test, "testnet"), "p2wpkh")
  })
})

describe("base58 addresses", () => {
  it("base58 address: an address is decoded to a key hash or a script hash, and can be encoded again", () => {
    const vectors: ReadonlyArray<Valid> = [
      ["1RustyRX2oai4EYYDpQGWvEL62BBGqN9T", "mainnet", "76a91404b61f7dc1ea0dc99424464cc4064dc564d91e8988ac", "p2pkh"],
      ["3EktnHQD7RiAE6uzMj2ZifT9YgRrkSgzQX", "mainnet", "a9148f55563b9a19f321c211e9b9f38cdf686ea0784587", "p2sh"]
    ]
    for (const vector of vectors) assert.deepStrictEqual(bothWays(vector), expected(vector))
  })
  it("base58 address: an address is rejected if it has a typo, is for another chain or has another length", () => {
    assert.strictEqual(refusal("1RustyRX2oai4EYYDpQGWvEL62BBGqN9U", "mainnet"), "checksum")
    assert.strictEqual(refusal("1rustyrx2oai4eyydpqgwvel62bbgqn9t", "mainnet"), "malformed")
    assert.strictEqual(refusal("LVg2kJoFNg45Nbpy53h7Fe1wKyeXVRhMH9", "mainnet"), "unknown_prefix")
    assert.strictEqual(refusal("", "mainnet"), "malformed")
    assert.strictEqual(refusal("1".repeat(91), "mainnet"), "malformed")
  })
})

describe("scripts and dust", () => {
  it("bitcoin address: a script without an address form is rejected", () => {
    for (const script of ["", "6a0468656c6c6f", "0014751e76e8199196d454941c45d1b3a323f1433b", "51024e73", "0014" + "zz".repeat(20)]) {
      assert.isTrue(Result.isFailure(BitcoinAddress.fromScript(script, "mainnet")), script)
    }
  })
  it("dust: the limit for each script type is the smallest output that nodes relay", () => {
    assert.deepStrictEqual(BitcoinAddress.Kind.literals.map(BitcoinAddress.dustLimitSats), [546n, 540n, 294n, 330n, 330n])
  })
})
