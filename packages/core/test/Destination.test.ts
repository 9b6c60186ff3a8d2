import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Lnurl from "@satrail/bitcoin/Lnurl"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Bolt12 from "@satrail/bitcoin/Bolt12"
import type { Network } from "@satrail/bitcoin/Network"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import { hex } from "@scure/base"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Result, Schema } from "effect"
import * as Destination from "../src/sending/Destination.ts"
import * as Forms from "./PastedForms.ts"

const invoice = (network: Network, amount?: Msat.Msat) =>
  Result.getOrThrow(
    Bolt11.encode(
      {
        network,
        timestampSeconds: 1_700_000_000,
        paymentHash: PaymentHash.make("22".repeat(32)),
        paymentSecret: "33".repeat(32),
        description: "tea",
        ...(amount !== undefined && { amount })
      },
      Bolt11.signWith(hex.decode("e126f68f7eafcc8b74f54d269fe206be715000f94dac067d1c04a8ca3b2db734"))
    )
  )

const offer = (draft: Partial<Bolt12.Draft> = {}) =>
  Result.getOrThrow(
    Bolt12.encode({
      networks: ["mainnet"],
      description: "tea",
      issuerId: "02eec7245d6b7d2ccb30380bfbe2a3648cd7a942653f5aa340edcea1f283686619",
      ...draft
    })
  )

const segwit = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"
const lnurl = Lnurl.encode("https://service.com/api?q=1")
const open = invoice("mainnet")
const priced = invoice("mainnet", Msat.fromSats(2_500))

/** Returns the kind, the recipient and the amount in msat, or the error code. */
const understood = (
  text: string,
  network: Network = "mainnet"
): string | ReadonlyArray<string | bigint | undefined> => {
  const parsed = Destination.parse(text, network)
  if (Result.isFailure(parsed)) return parsed.failure.code
  const destination = parsed.success
  return [
    Destination.recipientType(destination),
    Destination.text(destination),
    Destination.amount(destination)
  ]
}

describe("Destination", () => {
  it("destination: an invoice is read", () => {
    assert.deepStrictEqual(understood(open), ["lightning_invoice", open, undefined])
    for (const text of [
      priced,
      priced.toUpperCase(),
      ` \n${priced}\t`,
      `lightning:${priced}`,
      `LIGHTNING:${priced.toUpperCase()}`
    ]) {
      assert.deepStrictEqual(understood(text), ["lightning_invoice", priced, 2_500_000n], text)
    }
  })

  it("destination: a Lightning address is read", () => {
    for (const text of ["Alice@Example.com", "lightning:alice@example.com", " alice@example.com "]) {
      assert.deepStrictEqual(understood(text), ["lightning_address", "alice@example.com", undefined], text)
    }
    for (const text of ["_@example.com", "-x@example.com", ".x@example.com", "1.x@example.com"])
      assert.deepStrictEqual(understood(text), ["lightning_address", text, undefined], text)
    assert.deepStrictEqual(understood("lnd@example.com"), ["lightning_address", "lnd@example.com", undefined])
  })

  it("destination: a DNS name is read and keeps its ₿ (BIP 353)", () => {
    for (const text of ["₿alice@example.com", " ₿Alice@Example.com ", "lightning:₿alice@example.com"])
      assert.deepStrictEqual(understood(text), ["lightning_address", "₿alice@example.com", undefined], text)
    assert.strictEqual(Destination.domain("lightning_address", "₿alice@example.com"), "example.com")
    for (const text of [
      "₿₿alice@example.com",
      "₿ alice@example.com",
      "alice₿@example.com",
      "₿alice",
      "₿@example.com"
    ])
      assert.isString(understood(text), text)
  })

  it("destination: an LNURL is read", () => {
    for (const text of [lnurl, lnurl.toUpperCase(), `lightning:${lnurl}`])
      assert.deepStrictEqual(understood(text), ["lnurl", lnurl, undefined], text)
    assert.deepStrictEqual(understood("LNURLP://Service.com/x"), [
      "lnurl",
      "lnurlp://service.com/x",
      undefined
    ])
  })

  it("destination: a bitcoin address is read", () => {
    assert.deepStrictEqual(understood(segwit.toUpperCase()), ["chain_address", segwit, undefined])
    assert.deepStrictEqual(understood(`bitcoin:${segwit}`), ["chain_address", segwit, undefined])
    assert.deepStrictEqual(understood(`BITCOIN:${segwit.toUpperCase()}?amount=0.000025`), [
      "chain_address",
      segwit,
      2_500_000n
    ])
    assert.deepStrictEqual(understood("1RustyRX2oai4EYYDpQGWvEL62BBGqN9T"), [
      "chain_address",
      "1RustyRX2oai4EYYDpQGWvEL62BBGqN9T",
      undefined
    ])
  })
})

describe("Destination, bitcoin: URIs with an invoice", () => {
  it("bitcoin URI: the invoice in a URI is preferred to the address", () => {
    assert.deepStrictEqual(understood(`bitcoin:${segwit}?amount=0.000025&lightning=${priced}`), [
      "lightning_invoice",
      priced,
      2_500_000n
    ])
    assert.deepStrictEqual(understood(`bitcoin:?lightning=${priced.toUpperCase()}`), [
      "lightning_invoice",
      priced,
      2_500_000n
    ])
  })
  it("bitcoin URI: the amount in a URI applies to an invoice without an amount", () => {
    assert.deepStrictEqual(understood(`bitcoin:${segwit}?amount=0.000025&lightning=${open}`), [
      "lightning_invoice",
      open,
      2_500_000n
    ])
  })
  it("bitcoin URI: the amount in a URI may be an invoice's amount in millisatoshis, rounded either up or down", () => {
    const odd = invoice("mainnet", Msat.make(2_500_001n))
    assert.deepStrictEqual(understood(`bitcoin:${segwit}?amount=0.000025&lightning=${odd}`), [
      "lightning_invoice",
      odd,
      2_500_001n
    ])
    assert.deepStrictEqual(understood(`bitcoin:${segwit}?amount=0.00002501&lightning=${odd}`), [
      "lightning_invoice",
      odd,
      2_500_001n
    ])
  })
  it("bitcoin URI: a URI is refused if it and its invoice specify different amounts", () => {
    assert.strictEqual(understood(`bitcoin:${segwit}?amount=0.000026&lightning=${priced}`), "amount_mismatch")
    assert.strictEqual(understood(`bitcoin:?amount=0.000026&lightning=${priced}`), "amount_mismatch")
  })
  it("bitcoin URI: the LNURL in a URI is used when there is no address", () => {
    assert.deepStrictEqual(understood(`bitcoin:?amount=0.000025&lightning=${lnurl.toUpperCase()}`), [
      "lnurl",
      lnurl,
      2_500_000n
    ])
    assert.deepStrictEqual(understood(`bitcoin:?lightning=lnurlp://wallet.example/tea`), [
      "lnurl",
      "lnurlp://wallet.example/tea",
      undefined
    ])
  })

  it("bitcoin URI: the address in a URI is used when the invoice is not usable here", () => {
    for (const bad of [invoice("signet"), "lnbc1xyz", lnurl]) {
      assert.deepStrictEqual(
        understood(`bitcoin:${segwit}?amount=0.000025&lightning=${bad}`),
        ["chain_address", segwit, 2_500_000n],
        bad
      )
    }
    assert.strictEqual(understood("bitcoin:?lightning=lnbc1xyz"), "invalid_invoice")
    assert.strictEqual(understood(`bitcoin:?lightning=${invoice("signet")}`), "wrong_network")
  })
})

describe("Destination, BOLT 12 offers", () => {
  const tea = offer({ amount: Msat.fromSats(1000) })

  it("destination: an offer is read in upper or lower case, split by `+`, after lightning:, or in a bitcoin: URI", () => {
    const texts = [
      tea,
      tea.toUpperCase(),
      ` ${tea.slice(0, 9)}+\n  ${tea.slice(9)} `,
      `lightning:${tea}`,
      `bitcoin:?lno=${tea}`,
      `BITCOIN:?LNO=${tea.toUpperCase()}`
    ]
    for (const text of texts)
      assert.deepStrictEqual(understood(text), ["bolt12_offer", tea, 1_000_000n], text)
    assert.deepStrictEqual(understood(offer({ quantityMax: 5n })), [
      "bolt12_offer",
      offer({ quantityMax: 5n }),
      undefined
    ])
  })

  it("destination: an offer's amount is the minimum to send, but an amount in a bitcoin: URI is exact", () => {
    const isLeast = (text: string) =>
      Destination.isLeast(Result.getOrThrow(Destination.parse(text, "mainnet")))
    assert.isTrue(isLeast(tea))
    assert.isFalse(isLeast(`bitcoin:?amount=0.00002&lno=${tea}`))
    assert.isFalse(isLeast(priced))
    assert.deepStrictEqual(understood(`bitcoin:?amount=0.00002&lno=${tea}`), [
      "bolt12_offer",
      tea,
      2_000_000n
    ])
    assert.deepStrictEqual(understood(`bitcoin:?amount=0.00002&lno=${offer()}`), [
      "bolt12_offer",
      offer(),
      2_000_000n
    ])
    const odd = offer({ amount: Msat.make(1_000_500n) })
    assert.deepStrictEqual(understood(`bitcoin:?amount=0.00001&lno=${odd}`), [
      "bolt12_offer",
      odd,
      1_000_500n
    ])
  })

  it("bitcoin URI: the offer in a URI is preferred to the invoice and address; an unusable offer is skipped", () => {
    const uri = `bitcoin:${segwit}?amount=0.000025&lightning=${priced}&lno=`
    assert.deepStrictEqual(understood(`${uri}${tea}`), ["bolt12_offer", tea, 2_500_000n])
    for (const bad of [
      offer({ networks: ["testnet"] }),
      offer({ price: { currency: "USD", amount: 1n } }),
      "lno1xyz",
      ""
    ])
      assert.deepStrictEqual(understood(`${uri}${bad}`), ["lightning_invoice", priced, 2_500_000n], bad)
    assert.strictEqual(understood(`${uri}${offer({ amount: Msat.fromSats(2501) })}`), "amount_mismatch")
  })
})

describe("Destination, as people paste it", () => {
  const methods = (text: string) =>
    Result.map(Destination.methods(text, "mainnet"), (all) => all.map(Destination.text))

  for (const [group, forms] of Object.entries(Forms.accepted)) {
    it(`destination: accepted: ${group}`, () => {
      for (const { form, methods: expected } of forms)
        assert.deepStrictEqual(methods(Forms.filled(form)), Result.succeed(expected.map(Forms.filled)), form)
    })
  }

  for (const [group, forms] of Object.entries(Forms.refused)) {
    it(`destination: refused: ${group}`, () => {
      for (const { form, code } of forms) {
        const read = Destination.methods(Forms.filled(form), "mainnet")
        assert.strictEqual(Result.isFailure(read) ? read.failure.code : "accepted", code, form)
      }
    })
  }

  const { invoice, lnurl, offer, address, old_address: old } = Forms.parts
  const prefixed = [invoice, lnurl, offer].flatMap((text) =>
    ["", "lightning:", "LIGHTNING://"].map((scheme) => [scheme + text, text] as const)
  )
  const whole = [
    ...prefixed,
    [address, address],
    [`bitcoin:${address}`, address],
    [old, old],
    [`bitcoin:${invoice}`, undefined]
  ] as const

  it("destination: an invisible character or a line break at any place changes nothing", () => {
    const inside = [
      "\u200b",
      "\u200d",
      "\ufeff",
      "\u00ad",
      "\u2060",
      "\u202e",
      "\ufe0f",
      "\u0007",
      "\u2800",
      "\n",
      "\r\n  ",
      "\u00a0",
      "\u2028"
    ]
    for (const [text, expected] of whole) {
      if (expected === undefined) continue
      // A scheme is not broken over lines.
      const begin = text.length - expected.length
      for (const [n, character] of inside.entries())
        for (let at = begin + n; at <= text.length; at += inside.length * 4 + 1)
          assert.deepStrictEqual(
            methods(text.slice(0, at) + character + text.slice(at)),
            Result.succeed([expected]),
            JSON.stringify([character, at, text])
          )
    }
  })

  it("destination: quotes, brackets and punctuation around any form change nothing", () => {
    const around = [
      ["<", ">"],
      ["(", ")."],
      ["[", "]"],
      ["{", "}"],
      ['"', '"'],
      ["'", "',"],
      ["`", "`"],
      ["“", "”"],
      ["„", "“!"],
      ["«", "»"],
      ["「", "」。"],
      ["（", "）"],
      ["*", "*"],
      ["  ", "?"],
      ["", ";"],
      ["\ufeff", "\u200b"],
      ["👉 ", " 👍🏽"],
      ["🇩🇪", "🧡"],
      ["• ", ""],
      ["- ", " –"],
      ["3. ", ":"],
      ["> ", ""],
      ["| ", " |"],
      ["__", "__"],
      ["&quot;", "&quot;"],
      ['\\"', '\\"']
    ]
    for (const [row, { form, methods: expected }] of Object.values(Forms.accepted).flat().entries())
      for (const [before, after] of around.filter((_, column) => (row + column) % 3 === 0))
        assert.deepStrictEqual(
          methods(`${before}${Forms.filled(form)}${after}`),
          Result.succeed(expected.map(Forms.filled)),
          `${before}${form}${after}`
        )
  })

  it("destination: the invoice in any form is found, also on another network, and several invoices are refused", () => {
    for (const { form, methods: expected } of Object.values(Forms.accepted).flat()) {
      const invoices = expected.filter((one) => /^\{(?:open_)?invoice/.test(one))
      const found = Result.map(
        Destination.invoiceIn(Forms.filled(form)),
        ({ paymentRequest }) => paymentRequest
      )
      if (invoices.length === 1)
        assert.deepStrictEqual(found, Result.succeed(Forms.filled(invoices[0] ?? "")), form)
      else if (!form.includes("signet_invoice")) assert.isTrue(Result.isFailure(found), form)
    }
    assert.isTrue(Result.isSuccess(Destination.invoiceIn(Forms.parts.signet_invoice)))
  })
})

describe("Destination, refusals", () => {
  const cases: ReadonlyArray<readonly [text: string, code: Destination.DestinationInvalid["code"]]> = [
    ["", "unrecognised"],
    ["   ", "unrecognised"],
    ["hello", "unrecognised"],
    ["correct horse battery staple", "unrecognised"],
    [`${segwit} ${segwit}`, "unrecognised"],
    [`lightning:${segwit}`, "unrecognised"],
    ["a".repeat(Destination.maxLength + 1), "unrecognised"],
    [`${priced.slice(0, -1)}q`, "invalid_invoice"],
    ["lnsb1qqqqqq", "invalid_invoice"],
    [`${segwit.slice(0, -1)}5`, "invalid_address"],
    ["1RustyRX2oai4EYYDpQGWvEL62BBGqN9U", "invalid_address"],
    ["bitcoin:nothing", "invalid_address"],
    [`bitcoin:${segwit}?req-x=1`, "invalid_uri"],
    [`bitcoin:${segwit}?amount=1&amount=2`, "invalid_uri"],
    [`bitcoin:${segwit}?amount=-1`, "invalid_uri"],
    [`${lnurl.slice(0, -1)}q`, "invalid_lnurl"],
    [Lnurl.encode("https://127.0.0.1/x"), "invalid_lnurl"],
    ["alice@localhost", "invalid_lightning_address"],
    ["a@127.0.0.1:9200/_x#", "invalid_lightning_address"],
    [invoice("signet"), "wrong_network"],
    [invoice("regtest", Msat.fromSats(1)), "wrong_network"],
    ["tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx", "wrong_network"],
    ["bitcoin:mk2QpYatsKicvFVuTAQLBryyccRXMUaGHP", "wrong_network"],
    [`${offer()}x`, "invalid_offer"],
    [`${offer().slice(0, -10)}`, "invalid_offer"],
    [offer({ networks: ["signet"] }), "wrong_network"],
    [offer({ networks: [] }), "wrong_network"],
    [offer({ price: { currency: "EUR", amount: 500n } }), "unsupported"],
    [`bitcoin:?amount=0.00000999&lno=${offer({ amount: Msat.fromSats(1000) })}`, "amount_mismatch"],
    [`bitcoin:?lno=${offer({ networks: ["regtest"] })}`, "wrong_network"],
    ["lni1pgx9getnwss8vetrw3hhyuckyypwa3eyt44h6txtxquqh7lz5djge4afgfjn7k4rgrkuag0jsd5xvxg", "unsupported"],
    ["lnr1pgx9getnwss8vetrw3hhyuckyypwa3eyt44h6txtxquqh7lz5djge4afgfjn7k4rgrkuag0jsd5xvxg", "unsupported"],
    ["lnurlw://service.com/x", "unsupported"],
    ["KEYAUTH://service.com/x", "unsupported"],
    [Lnurl.encode("https://service.com/x?tag=login"), "unsupported"],
    ["https://service.com/x", "unsupported"],
    ["bc1pfeessrawgf", "unsupported"],
    ["BC1SW50QGDZ25J", "unsupported"],
    ["03e7156ae33b0a208d0744199163177e909e80176e55d97a2f221ede0f934dd9ad", "unsupported"],
    [
      "xpub6BgBgsespWvERF3LHQu6CnqdvfEvtMcQjYrcRzx53QJjSxarj2afYWcLteoGVky7D3UKDP9QyrLprQ3VCECoY49yfdDEHGCtMMj92pReUsQ",
      "unsupported"
    ]
  ]
  for (const [text, code] of cases) {
    it(`destination: ${code}: ${text.slice(0, 60)}`, () => assert.strictEqual(understood(text), code))
  }

  it("destination: the error for another network names both networks", () => {
    const parsed = Destination.parse(invoice("signet"), "mainnet")
    assert.strictEqual(
      Result.isFailure(parsed) && parsed.failure.message,
      "This is a signet invoice, but this service runs on mainnet"
    )
  })

  it.prop(
    "destination: parsing never throws",
    {
      text: Arbitrary.schema(Schema.String),
      beginning: Arbitrary.schema(
        Schema.Literals([
          "",
          "lightning:",
          "bitcoin:",
          "lnbc1",
          "lnurl1",
          "lnurlp://",
          "bc1q",
          "a@",
          "1",
          "bitcoin:?lightning="
        ])
      )
    },
    ({ text, beginning }) => {
      Destination.parse(beginning + text, "mainnet")
    },
    { arbitrary: { seed: 11, runs: 500 } }
  )
})
