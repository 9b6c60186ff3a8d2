import { assert, it } from "@effect/vitest"
import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Lnurl from "@satrail/bitcoin/Lnurl"
import * as Msat from "@satrail/bitcoin/Msat"
import { Result } from "effect"
import * as Search from "../src/reports/Search.ts"
import * as Forms from "./PastedForms.ts"

it("search: a blank, overlong or malformed text is not searched for", () => {
  const long = Search.limits.characters + 1
  for (const text of [
    "",
    " \t\n",
    "x".repeat(long),
    "👍".repeat(long),
    "7".repeat(1 << 20),
    "a\0b",
    "\ud800"
  ])
    assert.isUndefined(Search.sought(text), JSON.stringify(text.slice(0, 20)))
  assert.strictEqual(Search.sought(`  ${"👍".repeat(long - 1)}  `)?.text, "👍".repeat(long - 1))
})

it("search: a long run of spaces or punctuation inside a text takes time in proportion to its length", () => {
  // In proportion to the square, a million characters would take an hour.
  for (const mark of [" ", ";", "("]) {
    const text = `x${mark.repeat(1 << 20)}x`
    assert.strictEqual(Search.linkIn(text), text)
  }
})

it("search: an amount must be a whole number of satoshis within the total supply", () => {
  const amounts = (text: string) => Search.sought(text)?.amounts
  assert.deepStrictEqual(amounts("1,000 sats"), [Msat.make(1_000_000n), Msat.make(1_000_999n)])
  assert.deepStrictEqual(amounts("2100000000000000"), [
    Msat.make(2_100_000_000_000_000_000n),
    Msat.make(2_100_000_000_000_000_999n)
  ])
  for (const text of [
    "0",
    "2100000000000001",
    "9007199254740993",
    "1e3",
    "0x10",
    "-1",
    "1.5",
    "٣",
    "9".repeat(200)
  ])
    assert.isNull(amounts(text), text)
})

const invoice =
  "lnbc1pvjluezsp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygspp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqdpl2pkx2ctnv5sxxmmwwd5kgetjypeh2ursdae8g6twvus8g6rfwvs8qun0dfjkxaq9qrsgq357wnc5r2ueh7ck6q93dj32dlqnls087fxdwk8qakdyafkq3yap9us6v52vjjsrvywa6rt52cm9r9zqt8r2t7mlcwspyetp5h2tztugp9lfyql"
const lnurl = Lnurl.encode("https://pay.example/.well-known/lnurlp/shop")

it("search: whatever can be paid is recognized as customers paste it", () => {
  const parsed = (text: string) => {
    const { hash, address, recipient, lightningAddress } = Search.sought(text) ?? assert.fail(text)
    return { hash, address, recipient, lightningAddress }
  }
  const none = { hash: null, address: null, recipient: null, lightningAddress: null }
  const paid = Result.getOrThrow(Bolt11.decode(invoice))
  for (const text of [
    invoice,
    invoice.toUpperCase(),
    `lightning:${invoice}`,
    ` <${invoice}>. `,
    invoice.replace("p", "p\r\n ")
  ])
    assert.deepStrictEqual(parsed(text), { ...none, hash: paid.paymentHash, recipient: invoice }, text)
  assert.isNull(Search.sought(invoice)?.text)

  const address = "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080"
  for (const text of [
    address,
    `${address}.`,
    `bitcoin:${address}?amount=1`,
    `https://explorer.example/regtest/address/${address}?tab=utxo`
  ])
    assert.deepStrictEqual(parsed(text), { ...none, address }, text)
  assert.strictEqual(
    parsed("bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4").address,
    "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"
  )
  const both = parsed(`bitcoin:${address.toUpperCase()}?lightning=${invoice}`)
  assert.deepStrictEqual(both, { ...none, address, recipient: invoice, hash: paid.paymentHash })

  const shop = "shop@pay.example"
  assert.deepStrictEqual(parsed("Shop@Pay.example"), { ...none, recipient: shop, lightningAddress: shop })
  assert.deepStrictEqual(parsed(`LIGHTNING:${lnurl.toUpperCase()}`), {
    ...none,
    recipient: lnurl,
    lightningAddress: shop
  })

  const hash = "ab".repeat(32)
  for (const text of [hash, hash.toUpperCase(), `${hash}:1`, `https://explorer.example/tx/${hash}#vout=1`])
    assert.deepStrictEqual(parsed(text), { ...none, hash }, text)
  for (const text of ["coffee", "lnbc1", `${address}x`, "user@", "https://example.com", "https://"])
    assert.deepStrictEqual(parsed(text), none, text)
})

it("search: every form in which a destination is accepted finds its records", () => {
  for (const { form, methods } of Object.values(Forms.accepted).flat()) {
    const { hash, address, recipient } = Search.sought(Forms.filled(form)) ?? assert.fail(form)
    for (const method of methods.slice(0, 1)) {
      const text = Forms.filled(method)
      if (method.startsWith("{address") || method.startsWith("{old")) assert.strictEqual(address, text, form)
      else
        assert.include(
          [recipient, recipient?.replace("₿", "")],
          text.replace("₿", recipient?.startsWith("₿") === true ? "₿" : ""),
          form
        )
      if (method.startsWith("{invoice")) assert.isNotNull(hash, form)
    }
  }
})

it("search: an id can be found by its first 6 or more digits", () => {
  const ids = (text: string) => Search.sought(text)?.ids
  assert.deepStrictEqual(ids("019C13"), [
    "019c1300-0000-0000-0000-000000000000",
    "019c13ff-ffff-ffff-ffff-ffffffffffff"
  ])
  for (const text of ["0", "019c1", "019c13z", "-".repeat(9), "a".repeat(33)]) assert.isNull(ids(text), text)
})
