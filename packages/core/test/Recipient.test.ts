import { sha256 } from "@satrail/bitcoin/Sha256"
import * as BitcoinAddress from "@satrail/bitcoin/BitcoinAddress"
import type { Bolt11 } from "@satrail/bitcoin/Bolt11"
import type { Bolt12 } from "@satrail/bitcoin/Bolt12"
import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import { assert, describe, it } from "@effect/vitest"
import { invoice } from "@satrail/contracts/Rows"
import { Result } from "effect"
import * as CompanyId from "../src/base/CompanyId.ts"
import * as Recipient from "../src/sending/Recipient.ts"
import { payTerms, settings } from "./Rows.ts"

const nowMillis = 1_700_000_000_000

/** An invoice whose signature counts as verified. The rules under test only use its other fields. */
const bolt11 = (fields: Partial<Bolt11> = {}): Bolt11 => ({
  paymentRequest: "lnbcrt1…",
  network: "regtest",
  amount: Msat.fromSats(100),
  timestampSeconds: nowMillis / 1000,
  expirySeconds: 3600,
  paymentHash: PaymentHash.make("11".repeat(32)),
  paymentSecret: "22".repeat(32),
  payee: "02".repeat(33),
  description: "tea",
  minFinalCltvExpiry: 18,
  routes: [],
  fallbacks: [],
  features: [],
  ...fields
})
const outside = (fields: Partial<Bolt11> = {}): Recipient.Recipient => ({
  _tag: "Invoice",
  bolt11: bolt11(fields)
})
const own = (fields: Parameters<typeof invoice>[0] = {}): Recipient.Recipient => ({
  _tag: "OwnInvoice",
  bolt11: bolt11(),
  invoice: invoice({ expiresAtMillis: nowMillis + 1000, ...fields })
})
const address = (kind: BitcoinAddress.Kind): Recipient.Recipient => ({
  _tag: "Address",
  address: { address: "bcrt1…", network: "regtest", kind, scriptPubKey: "" }
})
const bolt12 = (fields: Partial<Bolt12> = {}): Recipient.Recipient => ({
  _tag: "Bolt12",
  bolt12: {
    offer: "lno1…",
    networks: ["regtest"],
    issuerId: "02".repeat(33),
    introductions: [],
    features: [],
    ...fields
  }
})
const asks: Recipient.Recipient = { _tag: "LnurlPay", terms: payTerms() } // 10 to 1000 sats
const fractions: Recipient.Recipient = {
  _tag: "LnurlPay",
  terms: payTerms({ min: Msat.make(1_500n), max: Msat.make(2_500n) })
}

const table: ReadonlyArray<readonly [what: string, Recipient.Recipient, sats: number, verdict: string]> = [
  ["an invoice with time left", outside(), 100, "ok"],
  ["an invoice with just ten seconds left", outside({ expirySeconds: 10 }), 100, "ok"],
  ["an invoice with less than ten seconds left", outside({ expirySeconds: 9 }), 100, "invoice_expired"],
  ["an invoice that expired long ago", outside({ timestampSeconds: 0 }), 100, "invoice_expired"],
  ["an invoice that holds the funds for 500 blocks", outside({ minFinalCltvExpiry: 500 }), 100, "ok"],
  [
    "an invoice that holds the funds for 501 blocks",
    outside({ minFinalCltvExpiry: 501 }),
    100,
    "final_cltv_too_long"
  ],
  ["a BOLT 12 offer of any amount", bolt12(), 100, "ok"],
  ["the amount of a BOLT 12 offer", bolt12({ amount: Msat.fromSats(100) }), 100, "ok"],
  ["more than the amount of a BOLT 12 offer", bolt12({ amount: Msat.fromSats(100) }), 101, "ok"],
  [
    "less than the amount of a BOLT 12 offer",
    bolt12({ amount: Msat.make(100_001n) }),
    100,
    "amount_out_of_range"
  ],
  [
    "a BOLT 12 offer with just ten seconds left",
    bolt12({ absoluteExpirySeconds: nowMillis / 1000 + 10 }),
    100,
    "ok"
  ],
  [
    "a BOLT 12 offer with less than ten seconds left",
    bolt12({ absoluteExpirySeconds: nowMillis / 1000 + 9 }),
    100,
    "invoice_expired"
  ],
  ["our own invoice", own(), 100, "ok"],
  ["our own paid invoice", own({ status: "settled" }), 100, "invoice_not_payable"],
  [
    "our own invoice that another withdrawal is paying",
    own({ status: "claimed" }),
    100,
    "invoice_not_payable"
  ],
  ["our own invoice marked as expired", own({ status: "expired" }), 100, "invoice_expired"],
  ["our own invoice at its expiry time", own({ expiresAtMillis: nowMillis }), 100, "invoice_expired"],
  ["an LNURL's minimum", asks, 10, "ok"],
  ["an LNURL's maximum", asks, 1000, "ok"],
  ["less than an LNURL's minimum", asks, 9, "amount_out_of_range"],
  ["more than an LNURL's maximum", asks, 1001, "amount_out_of_range"],
  ["a whole sat between two fractions", fractions, 2, "ok"],
  ["a sat below a fraction", fractions, 1, "amount_out_of_range"],
  ["a sat above a fraction", fractions, 3, "amount_out_of_range"],
  [
    "any amount for our own address",
    {
      _tag: "OwnChainAddress",
      onChainAddress: {
        id: "",
        companyId: CompanyId.make(""),
        nodeId: "",
        address: "",
        scriptPubKey: "",
        type: "taproot",
        index: 0,
        metadata: {},
        checkoutId: null,
        splits: null,
        createdAtMillis: 0
      }
    },
    1,
    "ok"
  ],
  ...(["p2pkh", "p2sh", "p2wpkh", "p2wsh", "p2tr"] as const).flatMap((kind) => {
    const dust = Number(BitcoinAddress.dustLimitSats(kind))
    return [
      [`the dust limit of ${kind}`, address(kind), dust, "ok"],
      [`less than the dust limit of ${kind}`, address(kind), dust - 1, "dust"]
    ] as const
  })
]

describe("A recipient", () => {
  for (const [what, recipient, sats, verdict] of table) {
    it(`recipient: ${what} is ${verdict === "ok" ? "accepted" : `refused (${verdict})`}`, () => {
      const checked = Recipient.check(recipient, Msat.fromSats(sats), settings, nowMillis)
      assert.strictEqual(Result.isFailure(checked) ? checked.failure.code : "ok", verdict)
    })
  }

  it("recipient: the dust limit for each kind of output matches that of the network's nodes", () => {
    assert.deepStrictEqual(
      (["p2pkh", "p2sh", "p2wpkh", "p2wsh", "p2tr"] as const).map(BitcoinAddress.dustLimitSats),
      [546n, 540n, 294n, 330n, 330n]
    )
  })

  it("recipient: a recipient is either internal or external, and is paid either over Lightning or on-chain", () => {
    const seen = [outside(), own(), asks, address("p2tr")].map((one) => [
      Recipient.isInternal(one),
      Recipient.rail(one)
    ])
    assert.deepStrictEqual(seen, [
      [false, "lightning"],
      [true, "lightning"],
      [false, "lightning"],
      [false, "on_chain"]
    ])
  })
})

describe("An invoice from a payee's server", () => {
  const amount = Msat.fromSats(100)
  const fetched = (fields: Partial<Bolt11>) =>
    Recipient.checkFetched(bolt11(fields), payTerms(), amount, settings, nowMillis)
  const hash = sha256.hex(payTerms().metadata)

  it("recipient's invoice: an invoice for this payment is accepted", () => {
    assert.isTrue(Result.isSuccess(fetched({})))
    assert.isTrue(Result.isSuccess(fetched({ descriptionHash: hash })))
  })

  it("C39: recipient: an invoice is refused if it has no amount, or if its amount differs by even one msat", () => {
    for (const other of [99_999n, 100_001n, 1n, 200_000n])
      assert.isTrue(Result.isFailure(fetched({ amount: Msat.make(other) })), String(other))
    const { amount: _, ...open } = bolt11()
    assert.isTrue(Result.isFailure(Recipient.checkFetched(open, payTerms(), amount, settings, nowMillis)))
  })

  it("recipient's invoice: an invoice is refused if it is for another network or description, or about to expire", () => {
    assert.isTrue(Result.isFailure(fetched({ network: "mainnet" })))
    assert.isTrue(
      Result.isFailure(
        fetched({ descriptionHash: hash.replace(/^./, (first) => (first === "0" ? "1" : "0")) })
      )
    )
    assert.isTrue(Result.isFailure(fetched({ expirySeconds: 9 })))
    assert.isTrue(Result.isFailure(fetched({ minFinalCltvExpiry: 2016 })))
  })
})
