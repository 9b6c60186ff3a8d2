import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import * as Bip21 from "../src/Bip21.ts"
import * as Msat from "../src/Msat.ts"

const address = "175tWpb8K1S7NmH4Zx6rewF9WQrcZv245W"
const none = { addresses: [], lightning: [], offers: [] }
const read = (text: string) => Result.getOrThrow(Bip21.parse(text, "mainnet"))
const refusal = (text: string) => {
  const parsed = Bip21.parse(text, "mainnet")
  return Result.isFailure(parsed) ? parsed.failure.reason : "valid"
}

describe("BIP 21, examples", () => {
  it("BIP 21: the examples are parsed", () => {
    assert.deepStrictEqual(read(`bitcoin:${address}`), { ...none, addresses: [address] })
    assert.deepStrictEqual(read(`bitcoin:${address}?label=Luke-Jr`), {
      ...none,
      addresses: [address],
      label: "Luke-Jr"
    })
    assert.deepStrictEqual(read(`bitcoin:${address}?amount=20.3&label=Luke-Jr`), {
      ...none,
      addresses: [address],
      amount: Msat.fromSats(2_030_000_000n),
      label: "Luke-Jr"
    })
    assert.deepStrictEqual(
      read(`bitcoin:${address}?amount=50&label=Luke-Jr&message=Donation%20for%20project%20xyz`),
      {
        ...none,
        addresses: [address],
        amount: Msat.fromSats(5_000_000_000n),
        label: "Luke-Jr",
        message: "Donation for project xyz"
      }
    )
    assert.deepStrictEqual(
      read(`bitcoin:${address}?somethingyoudontunderstand=50&somethingelseyoudontget=999`),
      {
        ...none,
        addresses: [address]
      }
    )
  })
  it("BIP 21: an unknown required parameter is rejected", () => {
    assert.strictEqual(
      refusal(`bitcoin:${address}?req-somethingyoudontunderstand=50&req-somethingelseyoudontget=999`),
      "required"
    )
    assert.strictEqual(refusal(`bitcoin:${address}?REQ-x`), "required")
  })
})

describe("BIP 21", () => {
  it("BIP 21: upper case, as in QR codes, is accepted", () => {
    assert.deepStrictEqual(
      read("BITCOIN:BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4?AMOUNT=0.001&LIGHTNING=LNBC1"),
      {
        ...none,
        addresses: ["BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4"],
        amount: Msat.fromSats(100_000),
        lightning: ["LNBC1"]
      }
    )
  })
  it("BIP 21: the address is optional if there is an invoice (BIP 321)", () => {
    assert.deepStrictEqual(read("bitcoin:?lightning=lnbc1"), { ...none, lightning: ["lnbc1"] })
    assert.strictEqual(refusal("bitcoin:"), "nothing_to_pay")
    assert.strictEqual(refusal("bitcoin:?amount=1"), "nothing_to_pay")
    assert.strictEqual(refusal("bitcoin:?lightning="), "nothing_to_pay")
  })
  it("BIP 21: the address may be a parameter named after the network's address prefix (BIP 321)", () => {
    const [segwit, test] = [
      "bc1qztwy6xen3zdtt7z0vrgapmjtfz8acjkfp5fp7l",
      "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx"
    ]
    assert.deepStrictEqual(read(`bitcoin:?bc=${segwit}`), { ...none, addresses: [segwit] })
    assert.deepStrictEqual(read(`bitcoin:?tb=${test}&BC=${segwit.toUpperCase()}`), {
      ...none,
      addresses: [segwit.toUpperCase()]
    })
    assert.deepStrictEqual(read(`bitcoin:${address}?bc=${segwit}`), { ...none, addresses: [address, segwit] })
    assert.strictEqual(refusal(`bitcoin:?tb=${test}`), "nothing_to_pay")
    const signet = Bip21.parse(`bitcoin:?bc=${segwit}&tb=${test}`, "signet")
    assert.deepStrictEqual(Result.getOrThrow(signet), { ...none, addresses: [test] })
  })
  it("BIP 21: the amount is a decimal number of bitcoin, exact to the satoshi", () => {
    for (const [text, sats] of [
      ["50.00", 5_000_000_000n],
      ["050", 5_000_000_000n],
      ["0.00000001", 1n],
      [".5", 50_000_000n],
      ["5.", 500_000_000n]
    ] as const) {
      assert.strictEqual(read(`bitcoin:${address}?amount=${text}`).amount, Msat.fromSats(sats), text)
    }
    for (const text of [
      "",
      ".",
      "0",
      "0.0",
      "-1",
      "+1",
      "1e3",
      "50,000.00",
      "0x1",
      "1.2.3",
      "0.000000001",
      "21000000.1",
      " 1",
      "1%202"
    ]) {
      assert.strictEqual(refusal(`bitcoin:${address}?amount=${text}`), "amount", text)
    }
  })
  it("BIP 321: every parameter may repeat, in any case, except amount, label and message", () => {
    const segwit = "bc1qztwy6xen3zdtt7z0vrgapmjtfz8acjkfp5fp7l"
    for (const [name, list] of [
      ["lightning", "lightning"],
      ["lno", "offers"],
      ["bc", "addresses"]
    ] as const)
      assert.deepStrictEqual(
        read(`bitcoin:?${name}=a&${name.toUpperCase()}=b`),
        { ...none, [list]: ["a", "b"] },
        name
      )
    for (const name of ["pj", "pop", "sp", "tb", "lnurl", "somethingnew"])
      assert.deepStrictEqual(
        read(`bitcoin:${segwit}?${name}=a&${name}=b`),
        { ...none, addresses: [segwit] },
        name
      )
    for (const name of ["amount", "label", "message"])
      for (const other of ["1", "2"])
        assert.strictEqual(
          refusal(`bitcoin:${segwit}?${name}=1&${name.toUpperCase()}=${other}`),
          "duplicate",
          name
        )
  })
  it("BIP 21: bitcoin:// is read like bitcoin:, also with the slash that browsers add after a host", () => {
    for (const text of [`bitcoin://${address}?amount=1`, `BITCOIN://${address}/?amount=1`])
      assert.deepStrictEqual(
        read(text),
        { ...none, addresses: [address], amount: Msat.fromSats(100_000_000n) },
        text
      )
  })
  it("BIP 21: parameters are percent-encoded UTF-8", () => {
    assert.strictEqual(read(`bitcoin:${address}?label=caf%C3%A9+1%262`).label, "café+1&2")
    assert.strictEqual(refusal(`bitcoin:${address}?label=%ff`), "malformed")
    assert.strictEqual(refusal(`bitcoin:${address}?label=%`), "malformed")
  })
})
