import { assert, describe, it } from "@effect/vitest"
import { bothWays, expected, type Invalid, refusal, type Valid } from "./Addresses.ts"

describe("BIP 350, valid addresses", () => {
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
    ]
  ]
  for (const vector of valid)
    it(`BIP 350: the address ${vector[0]} is valid`, () => assert.deepStrictEqual(bothWays(vector), expected(vector)))
})

// The standard allows payments to these addresses. No rules protect such an output yet, so anyone could take
// the money.
describe("BIP 350, valid addresses of future witness versions", () => {
  for (const address of [
    "bc1pw508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7kt5nd6y",
    "BC1SW50QGDZ25J",
    "bc1zw508d6qejxtdg4y5r3zarvaryvaxxpcs"
  ]) {
    it(`BIP 350: the address ${address} is rejected because its witness version has no rules yet`, () =>
      assert.strictEqual(refusal(address, "mainnet"), "unknown_witness_version"))
  }
  it("BIP 350: a pay-to-anchor address is rejected on every network", () => {
    assert.strictEqual(refusal("bc1pfeessrawgf", "mainnet"), "pay_to_anchor")
    assert.strictEqual(refusal("bcrt1pfeesnyr2tx", "regtest"), "pay_to_anchor")
  })
})

describe("BIP 350, invalid addresses", () => {
  const invalid: ReadonlyArray<Invalid> = [
    ["invalid human-readable part", "tc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq5zuyut", "mainnet", "unknown_prefix"],
    ["bech32 instead of bech32m", "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd", "mainnet", "checksum"],
    ["bech32 instead of bech32m", "tb1z0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqglt7rf", "testnet", "checksum"],
    ["bech32 instead of bech32m", "BC1S0XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ54WELL", "mainnet", "checksum"],
    ["bech32m instead of bech32", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kemeawh", "mainnet", "checksum"],
    ["bech32m instead of bech32", "tb1q0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq24jc47", "testnet", "checksum"],
    ["invalid character in checksum", "bc1p38j9r5y49hruaue7wxjce0updqjuyyx0kh56v8s25huc6995vvpql3jow4", "mainnet", "malformed"],
    ["invalid witness version", "BC130XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ7ZWS8R", "mainnet", "malformed"],
    ["invalid program length (1 byte)", "bc1pw5dgrnzv", "mainnet", "program_length"],
    [
      "invalid program length (41 bytes)",
      "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v8n0nx0muaewav253zgeav",
      "mainnet",
      "program_length"
    ],
    ["invalid program length for version 0", "BC1QR508D6QEJXTDG4Y5R3ZARVARYV98GJ9P", "mainnet", "program_length"],
    ["mixed case", "tb1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq47Zagq", "testnet", "malformed"],
    ["zero padding of more than 4 bits", "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v07qwwzcrf", "mainnet", "malformed"],
    ["non-zero padding", "tb1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vpggkg4j", "testnet", "malformed"],
    ["empty data section", "bc1gmk9yu", "mainnet", "malformed"]
  ]
  for (const [why, address, network, reason] of invalid) {
    it(`BIP 350: the address ${address} is rejected (${why})`, () => assert.strictEqual(refusal(address, network), reason))
  }
})
