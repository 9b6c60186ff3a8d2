import { type ComponentChildren, h } from "preact"
import { code, fold, link, search, type Shown } from "./Parts.ts"
import { Qr } from "./Qr.ts"
import type { Asking, Way } from "./State.ts"
import { btc, type Words } from "./Words.ts"

// The right half while a payment is due: the code, one button, and everything else collapsed.

/** The code for each way to pay, or null if the way is unavailable. */
const codes = ({ uri, invoice, address, sats }: Asking): Readonly<Record<Way, string | null>> => ({
  any: uri,
  lightning: invoice === null ? null : `lightning:${invoice.toUpperCase()}`,
  chain: address === null ? null : `bitcoin:${address}${sats === null ? "" : `?amount=${btc(sats)}`}`
})

/** Wallets with their own URL scheme for Lightning invoices. */
const wallets: ReadonlyArray<readonly [name: string, prefix: string]> = [
  ["Phoenix", "phoenix://"],
  ["Zeus", "zeusln:lightning:"],
  ["BlueWallet", "bluewallet:lightning:"],
  ["Muun", "muun:"],
  ["Cash App", "https://cash.app/launch/lightning/"],
  ["Strike", "strike:lightning:"]
]

const labeled = (label: string, element: ComponentChildren) =>
  h("div", null, h("p", { class: "label" }, label), element)

const byAddress = ({ say, visit }: Shown, address: string, sats: number | null) =>
  fold(
    say.byAddress,
    "address",
    labeled(say.address, code(address, say.copyAddress)),
    sats !== null && labeled(say.exactAmount, code(`${btc(sats)} BTC`, say.copyAmount)),
    h("p", null, say.addressNote),
    visit.way !== "chain" && h("a", { href: search(visit, { way: "chain" }) }, say.asCode)
  )

const byLightning = ({ say, visit }: Shown, invoice: string) =>
  fold(
    say.byLightning,
    "lightning",
    labeled(say.invoice, code(invoice, say.copyInvoice)),
    h("p", null, say.lightningNote),
    visit.way !== "lightning" && h("a", { href: search(visit, { way: "lightning" }) }, say.asCode)
  )

/** Only for phones, because these schemes do nothing on a desktop. */
const choosing = (say: Words, invoice: string) =>
  h(
    "div",
    { class: "handheld" },
    fold(
      say.wallets,
      "wallets",
      h(
        "ul",
        { class: "wallets" },
        wallets.map(([name, prefix]) => h("li", null, link(`${prefix}${invoice}`, name)))
      ),
      h("p", null, say.walletsNote)
    )
  )

const explained = (say: Words) =>
  fold(
    say.how,
    "how",
    h(
      "ol",
      { class: "steps" },
      h("li", null, say.howOpen),
      h("li", null, say.howScan),
      h("li", null, say.howConfirm)
    ),
    h("p", null, say.howNote)
  )

export const asked = (shown: Shown, asking: Asking) => {
  const { say, visit } = shown
  const { invoice, address, sats } = asking
  const all = codes(asking)
  const way = all[visit.way] === null ? "any" : visit.way
  const url = all[way] ?? asking.uri
  const hint =
    way === "chain" || invoice === null
      ? say.scanChain
      : way === "lightning" || address === null
        ? say.scanLightning
        : say.scan
  const first = way === "chain" || invoice === null ? address : invoice
  return h(
    "section",
    { class: "way", "aria-label": say.payment },
    h("div", { class: "tile" }, h(Qr, { text: url, label: say.code })),
    h(
      "p",
      { class: "hint" },
      hint,
      way !== "any" && [h("br", null), h("a", { href: search(visit, { way: "any" }) }, say.anyCode)]
    ),
    link(url, say.open, "button primary"),
    invoice !== null &&
      h("button", { type: "button", class: "button", hidden: true, "data-webln": invoice }, say.webln),
    first !== null && code(first, first === address ? say.copyAddress : say.copyInvoice),
    h(
      "div",
      { class: "more" },
      address !== null && byAddress(shown, address, sats),
      address !== null && invoice !== null && byLightning(shown, invoice),
      invoice !== null && choosing(say, invoice),
      explained(say)
    )
  )
}
