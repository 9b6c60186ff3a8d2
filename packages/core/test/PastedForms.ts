import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Bolt12 from "@satrail/bitcoin/Bolt12"
import * as Lnurl from "@satrail/bitcoin/Lnurl"
import * as Msat from "@satrail/bitcoin/Msat"
import type { Network } from "@satrail/bitcoin/Network"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import { hex } from "@scure/base"
import { Result } from "effect"
import type { DestinationInvalid } from "../src/sending/Destination.ts"

// The forms in which people give a destination: the table that Destination's tests walk and that
// docs/reference/destinations.md shows.

const invoice = (network: Network, hash: string, amount?: Msat.Msat) =>
  Result.getOrThrow(
    Bolt11.encode(
      {
        network,
        timestampSeconds: 1_700_000_000,
        paymentHash: PaymentHash.make(hash.repeat(32)),
        paymentSecret: "33".repeat(32),
        description: "tea",
        ...(amount !== undefined && { amount })
      },
      Bolt11.signWith(hex.decode("e126f68f7eafcc8b74f54d269fe206be715000f94dac067d1c04a8ca3b2db734"))
    )
  )

const offer = (draft: Partial<Bolt12.Draft>) =>
  Result.getOrThrow(
    Bolt12.encode({
      networks: ["mainnet"],
      issuerId: "02eec7245d6b7d2ccb30380bfbe2a3648cd7a942653f5aa340edcea1f283686619",
      ...draft
    })
  )

/** The parts of which the forms consist, all on mainnet unless named otherwise. The invoices are for 1,000 sats. */
export const parts = {
  invoice: invoice("mainnet", "22", Msat.fromSats(1000)),
  invoice2: invoice("mainnet", "44", Msat.fromSats(1000)),
  open_invoice: invoice("mainnet", "55"),
  dearer_invoice: invoice("mainnet", "66", Msat.fromSats(2000)),
  signet_invoice: invoice("signet", "22", Msat.fromSats(1000)),
  lnurl: Lnurl.encode("https://service.com/api?q=1"),
  lnurl2: Lnurl.encode("https://service.com/api?q=2"),
  login: Lnurl.encode("https://service.com/api?tag=login&k1=00"),
  offer: offer({ description: "tea" }),
  offer2: offer({ description: "coffee" }),
  signet_offer: offer({ networks: ["signet"] }),
  address: "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",
  address2: "bc1qztwy6xen3zdtt7z0vrgapmjtfz8acjkfp5fp7l",
  old_address: "1RustyRX2oai4EYYDpQGWvEL62BBGqN9T",
  signet_address: "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx"
} as const
type Part = keyof typeof parts
const isPart = (name: string): name is Part => name in parts

/** Replaces `{part}` by the part, `{PART}` by it in upper case, and `{part/1}` and `{part/2}` by its halves. */
export const filled = (form: string): string =>
  form.replaceAll(/\{(\w+)(?:\/([12]))?\}/g, (_, name: string, half: string | undefined) => {
    const lower = name.toLowerCase()
    if (!isPart(lower)) throw new Error(`no part ${name}`)
    const text = name === lower ? parts[lower] : parts[lower].toUpperCase()
    const middle = Math.floor(text.length / 2)
    return half === undefined ? text : half === "1" ? text.slice(0, middle) : text.slice(middle)
  })

export interface Accepted {
  readonly form: string
  /** Best first. */
  readonly methods: ReadonlyArray<string>
}

const each = (methods: string, ...forms: ReadonlyArray<string>): ReadonlyArray<Accepted> =>
  forms.map((form) => ({ form, methods: methods.split(" ") }))

/** Accepted forms, with the payment methods in each. */
export const accepted: { readonly [group: string]: ReadonlyArray<Accepted> } = {
  "Plain text": [
    ...each("{invoice}", "{invoice}", "{INVOICE}"),
    ...each("{lnurl}", "{lnurl}", "{LNURL}"),
    ...each(
      "lnurlp://service.com/x",
      "lnurlp://service.com/x",
      "LNURLP://Service.com/x",
      "lnurlp:service.com/x"
    ),
    ...each("{offer}", "{offer}", "{OFFER}", "{offer/1}+{offer/2}", "{offer/1}+\n  {offer/2}"),
    ...each("alice@example.com", "alice@example.com", "Alice@Example.com"),
    ...each("₿alice@example.com", "₿alice@example.com"),
    ...each("{address}", "{address}", "{ADDRESS}"),
    ...each("{old_address}", "{old_address}")
  ],
  "URI schemes": [
    ...each(
      "{invoice}",
      "lightning:{invoice}",
      "LIGHTNING:{INVOICE}",
      "lightning://{invoice}",
      "lightning://{invoice}/",
      "Lightning: {invoice}",
      "web+lightning:{invoice}",
      "lightning:{invoice}?utm_source=mail",
      "LIGHTNING:{INVOICE}?label=tea#top",
      "{invoice}?utm_source=mail",
      "lightning:{invoice}?amount=1000",
      "lightning:{invoice}?amount=0.00001",
      "{invoice}?amount=1000000&label=tea",
      "bitcoin:{invoice}",
      "BITCOIN:{INVOICE}?AMOUNT=0.00001",
      "lightning:lightning:{invoice}",
      "bitcoin:lightning:{invoice}"
    ),
    ...each(
      "{open_invoice}",
      "lightning:{open_invoice}?amount=0.00001",
      "bitcoin:{open_invoice}?amount=0.00001"
    ),
    ...each(
      "{lnurl}",
      "lightning:{lnurl}",
      "lightning://{LNURL}",
      "lnurl:{LNURL}",
      "LNURL:{LNURL}",
      "lnurl://{lnurl}",
      "lnurlp:{lnurl}",
      "bitcoin:{LNURL}",
      "{lnurl}?utm_source=mail",
      "lightning:{lnurl}?amount=0.00001"
    ),
    ...each(
      "lnurlp://service.com/x",
      "lightning:lnurlp://service.com/x",
      "lightning:LNURLP:service.com/x",
      "web+lnurlp://service.com/x",
      "lnurlp:https://service.com/x"
    ),
    ...each("{offer}", "lightning:{offer}", "bitcoin:{offer}", "lightning:{offer}?amount=0.00001"),
    ...each(
      "alice@example.com",
      "lightning:alice@example.com",
      "lightning:alice%40example.com",
      "mailto:alice@example.com",
      "MAILTO:Alice@Example.com?subject=tea",
      "acct:alice@example.com",
      "bitcoin:alice@example.com",
      "lnurlp:alice@example.com",
      "lnurlp://alice@example.com",
      "lnurl:alice@example.com",
      "lightning:alice@example.com?label=tea",
      "alice@example.com?amount=0.00001",
      "alice@example.com/",
      "@alice@example.com"
    ),
    ...each(
      "₿alice@example.com",
      "lightning:₿alice@example.com",
      "lightning:%E2%82%BFalice@example.com",
      "%e2%82%bfALICE@Example.com.",
      "bitcoin:₿alice@example.com",
      "bitcoin:%E2%82%BFalice@example.com"
    ),
    ...each(
      "{address}",
      "bitcoin:{address}",
      "BITCOIN:{ADDRESS}",
      "bitcoin://{address}",
      "bitcoin://{address}/",
      "bitcoin: {address}",
      "web+bitcoin:{address}",
      "bitcoin:{address}#top",
      "bitcoin:{address}?amount=0.00001#top",
      "bitcoin:bitcoin:{address}",
      "lightning:bitcoin:{address}",
      "{address}?amount=0.00001",
      "{ADDRESS}?label=tea&amount=0.00001"
    )
  ],
  "bitcoin: URIs with several methods": [
    ...each(
      "{invoice} {address}",
      "bitcoin:{address}?amount=0.00001&lightning={invoice}",
      "BITCOIN:{ADDRESS}?AMOUNT=0.00001&LIGHTNING={INVOICE}",
      "bitcoin:?lightning={invoice}&bc={address}",
      "bitcoin://{address}/?lightning={invoice}",
      "bitcoin:{address}?lightning=lightning:{invoice}",
      "bitcoin:{address}?amount=0.00001&amp;lightning={invoice}",
      "{address}?amount=0.00001&lightning={invoice}",
      "lightning:bitcoin:{address}?lightning={invoice}"
    ),
    ...each(
      "{offer} {invoice} {address}",
      "bitcoin:{address}?lightning={invoice}&lno={offer}",
      "bitcoin:?lno={offer}&bc={address}&lightning={invoice}"
    ),
    ...each("{address} {lnurl}", "bitcoin:{address}?lightning={LNURL}"),
    ...each("{lnurl}", "bitcoin:?lightning={lnurl}"),
    ...each(
      "{address} {address2}",
      "bitcoin:{address}?bc={address2}",
      "bitcoin:?bc={address}&bc={address2}",
      "bitcoin:?bc={address}&BC={ADDRESS2}"
    ),
    ...each("{offer} {offer2}", "bitcoin:?lno={offer}&lno={offer2}"),
    ...each(
      "{invoice} {invoice2}",
      "bitcoin:?lightning={invoice}&lightning={invoice2}",
      "bitcoin:{invoice}?lightning={invoice2}"
    ),
    ...each("{offer} {invoice}", "bitcoin:{invoice}?lno={offer}", "bitcoin:{offer}?lightning={invoice}"),
    ...each(
      "{address}",
      "bitcoin:{address}?something=1&something=2",
      "bitcoin:{address}?label=caf%C3%A9&message=a+b",
      "bitcoin:{address}?label=two coffees&amount=0.00001",
      "bitcoin:?tb={signet_address}&bc={address}",
      "bitcoin:%62{address/1}{address/2}".replace("{address/1}", parts.address.slice(1, 21))
    ),
    ...each(
      "{address}",
      "bitcoin:{address}?lightning={signet_invoice}",
      "bitcoin:{address}?lightning=lnbc1nonsense",
      "bitcoin:{address}?lno={signet_offer}",
      "bitcoin:{address}?lightning={login}"
    ),
    ...each(
      "{invoice}",
      "bitcoin:?lightning={invoice}&lno=lno1nonsense",
      "bitcoin:{signet_address}?lightning={invoice}"
    )
  ],
  "Web addresses with a `lightning` parameter (LUD-01)": [
    ...each(
      "{lnurl}",
      "https://shop.example/tip?id=1&lightning={LNURL}",
      "https://shop.example/tip?lightning={lnurl}&id=1",
      "https://shop.example/tip?LIGHTNING={LNURL}",
      "http://shop.example/?lightning={lnurl}#top",
      "https://shop.example/#/tip?lightning={lnurl}",
      "https://shop.example/?lightning={lnurl}&lightning={LNURL}",
      "https://shop.example/?lightning=lightning%3A{lnurl}",
      "https://shop.example/?lightning=%20{lnurl}",
      "https://shop.example/#lightning={lnurl}&amp;utm_source=mail"
    ),
    ...each("lnurlp://service.com/x", "https://shop.example/?lightning=lnurlp%3A%2F%2Fservice.com%2Fx"),
    ...each("{invoice}", "https://shop.example/?lightning={invoice}"),
    ...each(
      "alice@example.com",
      "https://shop.example/?lightning=alice@example.com",
      "https://example.com/.well-known/lnurlp/alice"
    )
  ],
  "Text around and inside": [
    ...each(
      "{invoice}",
      " \r\n{invoice}\t",
      "<{invoice}>",
      "“{invoice}”",
      "({invoice}).",
      "`{invoice}`,",
      "«lightning:{invoice}»!",
      "{invoice/1}\r\n{invoice/2}",
      "lightning:{invoice/1} {invoice/2}",
      "{invoice/1}\u200b{invoice/2}",
      "\ufeff{invoice}",
      "{invoice/1}\u00ad{invoice/2}",
      "\u2068{invoice}\u2069",
      "\u00a0{invoice}\u3000",
      "👉 {invoice}",
      "✅ {invoice} 👍🏽",
      "1️⃣ {invoice}",
      "• {invoice}",
      "- {invoice}",
      "#{invoice}",
      "> {invoice}",
      "> {invoice/1}\r\n> {invoice/2}",
      "| {invoice} |",
      "__{invoice}__",
      "```\n{invoice}\n```",
      "&lt;{invoice}&gt;",
      '\\"{invoice}\\"',
      "{invoice}\\n",
      "{invoice}:",
      "{invoice}/"
    ),
    ...each("{lnurl}", "{LNURL/1}\n{LNURL/2}", "https://shop.example/tip?lightning={lnurl/1}\n{lnurl/2}"),
    ...each("{offer}", "{offer/1}\n{offer/2}"),
    ...each(
      "{address}",
      "{address/1} {address/2}",
      "{address/1}\u2060{address/2}",
      "bitcoin:{address/1}\n{address/2}",
      "bitcoin:{address}?lightning={signet_invoice/1}\n{signet_invoice/2}"
    ),
    ...each("{old_address}", "{old_address/1} {old_address/2}", "₿ {old_address}", "→ {old_address}"),
    ...each(
      "{invoice} {address}",
      "bitcoin:{address}\n?amount=0.00001\n&lightning={invoice/1}\n{invoice/2}",
      "> bitcoin:{address}?amount=0.00001&\n> lightning={invoice}"
    ),
    ...each(
      "alice@example.com",
      "alice@exam\u200bple.com",
      "<alice@example.com>,",
      "alice@example.com.",
      "ａｌｉｃｅ＠ｅｘａｍｐｌｅ．ｃｏｍ",
      "\u202aalice@example.com\u202c",
      "‘alice@example.com’",
      "⚡alice@example.com",
      "alice@example.com⚡",
      "⚡️ alice@example.com ⚡️",
      "🧡alice@example.com",
      "👨‍👩‍👧 alice@example.com 🇩🇪",
      "* alice@example.com",
      "_alice@example.com_"
    ),
    ...each("₿alice@example.com", "\u200f₿alice@example.com;")
  ],
  "Percent-encoding": [
    ...each(
      "{invoice}",
      "lightning%3A{invoice}",
      "LIGHTNING%3A%2F%2F{INVOICE}",
      "{invoice}%0A",
      "%20{invoice}"
    ),
    ...each(
      "{address}",
      "bitcoin%3A{address}%3Famount%3D0.00001",
      "bitcoin:{address}%3Famount=0.00001",
      "bitcoin:{address}%20",
      "bitcoin:{address}%0D%0A?amount=0.00001"
    ),
    ...each("{invoice} {address}", "bitcoin%3A{address}%3Famount%3D0.00001%26lightning%3D{invoice}"),
    ...each("{lnurl}", "https%3A%2F%2Fshop.example%2F%3Flightning%3D{lnurl}"),
    ...each("alice@example.com", "alice%40example.com")
  ]
}

export interface Refused {
  readonly form: string
  readonly code: DestinationInvalid["code"]
}

const all = (code: Refused["code"], ...forms: ReadonlyArray<string>): ReadonlyArray<Refused> =>
  forms.map((form) => ({ form, code }))

/** Refused forms, with the error of each. */
export const refused: { readonly [group: string]: ReadonlyArray<Refused> } = {
  "More than one payment": [
    ...all(
      "unrecognised",
      "{invoice} {invoice2}",
      "{address}\n{address2}",
      "{address} {address}",
      "{old_address} {old_address}",
      "{lnurl} {lnurl2}",
      "{offer}\n{offer2}",
      "lightning:{invoice} bitcoin:{address}",
      "{invoice} {address}",
      "bitcoin:{address} bitcoin:{address2}",
      "bitcoin:{address}?label=a bitcoin:{address2}",
      "bitcoin:{address}?lightning={invoice} alice@example.com",
      "https://a.example/?lightning={lnurl}&lightning={lnurl2}",
      "https://a.example/?lightning={lnurl}&x=1 https://b.example/?lightning={lnurl2}",
      "{invoice},{invoice2}",
      "• {invoice}\n• {invoice2}",
      "> {invoice}\n> {address}",
      "alice@example.com bob@example.com",
      "alice@example.com,bob@example.com",
      "mailto:alice@example.com,bob@example.com",
      "mailto:alice@example.com?cc=bob@example.com",
      "{address} alice@example.com",
      "lightning:{invoice}\nalice@example.com",
      "lightning:{invoice}?lightning={invoice2}"
    ),
    ...all(
      "amount_mismatch",
      "bitcoin:{address}?amount=0.00002&lightning={invoice}",
      "bitcoin:?lightning={invoice}&lightning={dearer_invoice}",
      "lightning:{invoice}?amount=1",
      "lightning:{invoice}?amount=0.00002",
      "bitcoin:{invoice}?amount=0.00002"
    ),
    ...all(
      "invalid_uri",
      "bitcoin:{address}?amount=1&amount=1",
      "bitcoin:{address}?amount=0.1&AMOUNT=0.2",
      "bitcoin:{address}?label=a&label=b",
      "bitcoin:{address}?amount=0.1 5",
      "bitcoin:{address}?amount=0.1\n5",
      "bitcoin:{address}?amount=0.1\n> 5",
      "lightning:{invoice}?amount=0.00001&amount=0.00001"
    )
  ],
  "Cut off or invalid": [
    ...all(
      "invalid_invoice",
      "{invoice/1}",
      "{invoice}q",
      "{invoice}…",
      "lightning:{invoice/2}{invoice/1}".replace("{invoice/2}", "lnbc1")
    ),
    ...all(
      "invalid_lightning_address",
      "alice@example.co…",
      "alice@example.co...",
      "₿₿alice@example.com",
      "alice@example.com/shop",
      "alice@example.com:8080",
      "alice @example.com",
      "نامه\u200cای@example.com",
      "a@نامه\u200cای.com"
    ),
    ...all(
      "invalid_lnurl",
      "{lnurl/1}",
      "lnurl:{address}",
      "lnurl:",
      "lnurl://service.com/x",
      "lnurlp://service.com/x y"
    ),
    ...all("invalid_address", "{address}q", "bitcoin:nothing", "bitcoin:{address} thanks"),
    ...all(
      "invalid_uri",
      "bitcoin:",
      "bitcoin:?amount=1",
      "bitcoin:{address}?label=%",
      "bitcoin:{address}?amount=1e3",
      "bitcoin:{address}?label=Order #12&amount=1",
      "lightning:{open_invoice}?amount=1000",
      "lightning:{lnurl}?amount=1000",
      "alice@example.com?amount=1000",
      "lightning:{invoice}?req-new=1"
    ),
    ...all(
      "unrecognised",
      "hello",
      "lightning:",
      "lightning:{address}",
      "user:alice@example.com",
      "[pay](lightning:{invoice})",
      "[{invoice}](lightning:{invoice})",
      "[alice@example.com](lightning:bob@example.com)",
      "<a href='lightning:{invoice}'>",
      "Pay {invoice}",
      "Invoice: {invoice}",
      "{invoice}\n\nSent from my phone",
      "{address}\n0.001 BTC",
      "alice@example.com\nbob",
      "₿ alice@example.com"
    )
  ],
  "Another network, or not payable": [
    ...all(
      "wrong_network",
      "{signet_invoice}",
      "lightning://{SIGNET_INVOICE}",
      "{signet_address}",
      "bitcoin:{signet_address}",
      "bitcoin:{signet_address}?lightning={signet_invoice}",
      "{signet_offer}"
    ),
    ...all(
      "unsupported",
      "{login}",
      "lightning:{LOGIN}",
      "https://shop.example/?lightning={login}",
      "keyauth://service.com/x",
      "keyauth:service.com/x",
      "lnurlw://service.com/x",
      "lnurlw:{lnurl}",
      "LNURLC://service.com/x",
      "web+keyauth://service.com/x",
      "lightning:lnurlw://service.com/x",
      "https://service.com/x",
      "https://service.com/x?address={address}",
      "lightning:https://service.com/x",
      "03e7156ae33b0a208d0744199163177e909e80176e55d97a2f221ede0f934dd9ad",
      "xpub6BgBgsespWvERF3LHQu6CnqdvfEvtMcQjYrcRzx53QJjSxarj2afYWcLteoGVky7D3UKDP9QyrLprQ3VCECoY49yfdDEHGCtMMj92pReUsQ",
      "npub10elfcs4fr0l0r8af98jlmgdh9c8tcxjvz9qkw038js35mp4dma8qzvjptg",
      "nostr:npub10elfcs4fr0l0r8af98jlmgdh9c8tcxjvz9qkw038js35mp4dma8qzvjptg",
      "ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9",
      "0x71C7656EC7ab88b098defB751B7401B5f6d8976F",
      "bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a",
      "ethereum:0x71C7656EC7ab88b098defB751B7401B5f6d8976F",
      "monero:48edfHu7V9Z84YzzMa6fUueoELZ9ZRXq9VetWzYGzKt52XU5xvqgzYnDK9URnRoJMk1j8nLwEVsaSWJ4fhdUyZijBGUicoD",
      "sp1qqgste7k9hx0qftg6qmwlkqtwuy6cycyavzmzj85c6qdfhjdpdjtdgqjuexzk6murw56suy3e0rd2cgqvycxttddwsvgxe2usfpxumr70xc9pkqwv"
    ),
    ...all("invalid_uri", "bitcoin:{address}?req-new=1", "bitcoin:?tb={signet_address}")
  ]
}
