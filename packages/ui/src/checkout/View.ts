import { type ComponentChildren, Fragment, h } from "preact"
import type { Live, Tab } from "./Live.ts"
import { Qr } from "./Qr.ts"
import type { Asking, Page, Refund, State } from "./State.ts"
import { duration, filled, instant, sats, type Words } from "./Words.ts"

/** What every part of the page knows. `live` is null where no script runs. */
export interface Shown {
  readonly page: Page
  readonly state: State
  readonly say: Words
  readonly live: Live | null
}

/** Out of a frame, if the page is in one. */
const link = (url: string | null, text: string, kind: string) =>
  url === null ? null : h("a", { class: kind, href: url, target: "_top", rel: "noreferrer" }, text)

const button = (text: string, onClick: () => void, kind: string) => h("button", { type: "button", class: kind, onClick }, text)

/** Whether enough is on its way: then nothing more is asked for. */
const isWaiting = ({ status, asking }: State): boolean => asking === null && (status === "open" || status === "underpaid")

/** A text to be copied, whole: a payer may also select it. */
const field = ({ say, live }: Shown, name: string, text: string, copy: string) =>
  h(
    "div",
    { class: "field" },
    h("dt", null, name),
    h("dd", null, h("code", { dir: "ltr" }, text), live && button(live.copied === text ? say.copied : copy, () => live.copy(text), "copy"))
  )

const decimal = (amountSats: number): string => {
  const digits = String(amountSats).padStart(9, "0")
  return `${digits.slice(0, -8)}.${digits.slice(-8)}`
}

/** What each way to pay has a code for. */
const codes = ({ uri, invoice, address, sats }: Asking): Readonly<Record<Tab, string | null>> => ({
  all: uri,
  lightning: invoice === null ? null : `lightning:${invoice.toUpperCase()}`,
  chain: address === null ? null : `bitcoin:${address}${sats === null ? "" : `?amount=${decimal(sats)}`}`
})

/** Tabs as the WAI-ARIA pattern has them: arrows move, one of them is reached by Tab. */
const tabs = ({ say, live }: Shown, asking: Asking) => {
  if (live === null || asking.invoice === null || asking.address === null) return null
  const names: ReadonlyArray<readonly [Tab, string]> = [
    ["all", say.wayAll],
    ["lightning", "Lightning"],
    ["chain", say.chain]
  ]
  const onKeyDown = (event: KeyboardEvent) => {
    const at = names.findIndex(([tab]) => tab === live.tab)
    const isRtl = document.documentElement.dir === "rtl"
    const step = { ArrowRight: isRtl ? -1 : 1, ArrowLeft: isRtl ? 1 : -1 }[event.key]
    const [next] = names[(at + (step ?? 0) + names.length) % names.length] ?? []
    if (step === undefined || next === undefined) return
    event.preventDefault()
    live.choose(next)
    document.getElementById(`tab-${next}`)?.focus()
  }
  return h(
    "div",
    { class: "tabs", role: "tablist", "aria-label": say.ways, onKeyDown },
    names.map(([tab, name]) => {
      const isChosen = tab === live.tab
      const onClick = () => live.choose(tab)
      const roles = { role: "tab", id: `tab-${tab}`, "aria-selected": isChosen, "aria-controls": "way", tabIndex: isChosen ? 0 : -1 }
      return h("button", { type: "button", key: tab, onClick, ...roles }, name)
    })
  )
}

/** What is still to be paid, and how. */
const asked = (shown: Shown, asking: Asking) => {
  const { page, state, say, live } = shown
  const tab = live?.tab ?? "all"
  const code = codes(asking)[tab] ?? asking.uri
  const { invoice, address } = asking
  const isTabbed = live !== null && invoice !== null && address !== null
  const until = h("time", { dateTime: new Date(state.expiresAtMillis).toISOString() }, instant(state.expiresAtMillis))
  const [before = "", after = ""] = say.until.split("{1}")
  return h(
    Fragment,
    null,
    tabs(shown, asking),
    h(
      "div",
      { id: "way", ...(isTabbed && { role: "tabpanel", "aria-labelledby": `tab-${tab}` }) },
      h(Qr, { text: code, label: say.scan }),
      h("p", { class: "hint" }, say.scan),
      link(code, say.open, "main"),
      h(
        "dl",
        null,
        tab !== "chain" && invoice !== null && field(shown, say.lightning, invoice, say.copyInvoice),
        tab !== "lightning" && address !== null && field(shown, say.address, address, say.copyAddress),
        tab === "chain" && asking.sats !== null && field(shown, say.amount, decimal(asking.sats), say.copyAmount)
      )
    ),
    live?.webln && invoice !== null && button(say.webln, () => live.webln?.(invoice), "second"),
    page.sandboxUrl !== null &&
      h(
        "div",
        { class: "sandbox" },
        h("p", null, say.noMoney),
        live?.sandbox && [
          invoice !== null && button(`${say.sandbox} · Lightning`, () => live.sandbox?.("lightning"), "second"),
          address !== null && asking.sats !== null && button(`${say.sandbox} · ${say.chain}`, () => live.sandbox?.("chain"), "second")
        ]
      ),
    live === null
      ? h("p", { class: "until" }, before, until, after)
      : h("p", { class: "until", role: "timer" }, filled(say.left, duration(live.leftMillis))),
    live?.close ? button(say.close, live.close, "quiet") : link(page.cancelUrl, say.back, "quiet")
  )
}

const row = (name: string, value: ComponentChildren) => h("div", { class: "row" }, h("dt", null, name), h("dd", null, value))

/** What was paid, on paper too. */
const receipt = ({ page, state, say, live }: Shown) => {
  const { locale, seller, orderId, fiat, amountSats, reference } = page
  const { overSats, receivedSats, paidAtMillis, isLate } = state
  const isAsked = state.refunds.length === 0
  const more = overSats > 0 ? [filled(say.more, sats(overSats, locale)), isAsked && say.overpaid].filter(Boolean).join(" ") : null
  return h(
    Fragment,
    null,
    h("p", { class: "mark", "aria-hidden": true }, "✓"),
    isLate && h("p", null, isAsked ? `${say.late} ${say.lateAsk}` : say.late),
    more !== null && h("p", { class: "note" }, more),
    h(
      "dl",
      { class: "receipt", "aria-label": say.receipt },
      seller !== null && row(say.seller, seller),
      amountSats !== null && row(say.amount, fiat === null ? sats(amountSats, locale) : `${fiat} · ${sats(amountSats, locale)}`),
      orderId !== null && row(filled(say.order, "").trim(), orderId),
      paidAtMillis !== null && row(say.paidAt, instant(paidAtMillis)),
      row(say.reference, h("code", { dir: "ltr" }, reference)),
      row(filled(say.received, "").replace(/[\s:]+$/, ""), sats(receivedSats, locale))
    ),
    link(page.returnUrl, say.goOn, "main"),
    live && button(say.print, live.print, "second"),
    live?.close && button(say.close, live.close, "quiet")
  )
}

const seen = ({ page, state, say }: Shown) => state.pendingSats > 0 && h("p", null, filled(say.seen, sats(state.pendingSats, page.locale)))

const depth = ({ state, say }: Shown) =>
  state.confirmations &&
  h("p", { class: "depth" }, filled(say.confirmations, String(state.confirmations.seen), String(state.confirmations.needed)))

/** In one sentence where it stands. A screen reader hears it whenever it changes. */
const standing = (shown: Shown) => {
  const { page, state, say } = shown
  const { status, receivedSats, refunds, asking } = state
  const { locale } = page
  if (status === "paid") return h("h2", null, say.paid)
  if (status === "expired" || status === "canceled")
    return h(
      Fragment,
      null,
      seen(shown),
      h("h2", null, say[status]),
      receivedSats > 0 && h("p", { class: "note" }, filled(refunds.length === 0 ? say.partial : say.received, sats(receivedSats, locale)))
    )
  const rest = asking?.sats ?? null
  return h(
    Fragment,
    null,
    seen(shown),
    depth(shown),
    status === "underpaid" &&
      rest !== null &&
      h("p", { class: "note" }, filled(say.missing, sats(receivedSats, locale), sats(rest, locale))),
    isWaiting(state) && h("p", { class: "waiting" }, say.waiting)
  )
}

/** What comes back, and how it is claimed. */
const refunded = (shown: Shown, { sats: amount, status, lnurl, expiresAtMillis }: Refund) => {
  const { page, say } = shown
  const text = sats(amount, page.locale)
  if (status === "pending") return h("p", { class: "note" }, filled(say.refundPending, text))
  if (status === "completed") return h("p", { class: "note" }, filled(say.refundDone, text))
  if (lnurl === null) return h("p", { class: "note" }, filled(say.refundAsk, text))
  const url = `lightning:${lnurl}`
  return h(
    "section",
    { class: "refund", key: lnurl, "aria-label": say.refundLink },
    h("p", { class: "note" }, filled(say.refundOpen, text), " ", say.refundSecret),
    h(Qr, { text: url, label: say.refundScan }),
    h("p", { class: "hint" }, say.refundScan),
    link(url, say.open, "main"),
    h("dl", null, field(shown, say.refundLink, lnurl, say.copyLink)),
    expiresAtMillis !== null && h("p", { class: "until" }, filled(say.refundUntil, instant(expiresAtMillis)))
  )
}

/** What it is over, and where the payer can go. */
const over = ({ page, say, live }: Shown) =>
  h(
    Fragment,
    null,
    h("dl", { class: "receipt" }, row(say.reference, h("code", { dir: "ltr" }, page.reference))),
    live?.close ? button(say.close, live.close, "quiet") : link(page.cancelUrl, say.back, "quiet")
  )

const body = (shown: Shown) => {
  const { status, asking } = shown.state
  if (status === "paid") return receipt(shown)
  if (status === "expired" || status === "canceled") return over(shown)
  if (asking !== null) return asked(shown, asking)
  return shown.live === null ? h("p", null, h("a", { href: "" }, shown.say.again)) : null
}

/** The page of a payment, whatever its state. The same on the server and in the browser. */
export const View = (shown: Shown) => {
  const { page, state, say, live } = shown
  const { description, orderId, amountSats, fiat, locale } = page
  return h(
    "main",
    { class: `card ${state.status}` },
    h("h1", null, description === "" ? say.pay : description),
    orderId !== null && h("p", { class: "order" }, filled(say.order, orderId)),
    h("p", { class: "amount" }, amountSats === null ? say.anyAmount : sats(amountSats, locale)),
    fiat !== null && h("p", { class: "fiat" }, fiat),
    h("div", { class: "standing", role: "status" }, standing(shown)),
    state.refunds.map((refund) => refunded(shown, refund)),
    live !== null && h("p", { class: "lost", role: "status" }, live.isLost && say.lost),
    live !== null && h("p", { class: "hidden", role: "status" }, live.copied !== null && say.copied),
    body(shown)
  )
}
