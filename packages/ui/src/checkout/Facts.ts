import { h } from "preact"
import { moment } from "./Clock.ts"
import { bdi, code, icon, type Shown, time } from "./Parts.ts"
import type { Payment } from "./State.ts"
import { fiat, named, priced, rate, sats, tip, worth } from "./Words.ts"

// The facts of a payment: rows on the page and lines in the receipt's text.

/** A name and a value. */
interface Fact {
  readonly name: string
  readonly text: string
  /** The time that `text` shows. */
  readonly atMillis?: number
  /** The label of the copy button, if `text` is a code. */
  readonly copy?: string
  readonly url?: string | null
}

/** `€42.50 · 68,219 sats` */
const amounts = (...parts: ReadonlyArray<string | null>): string =>
  parts.filter((part) => part !== null).join(" · ")

/** The price in fiat if it was set in fiat, otherwise in bitcoin. */
export const priceText = ({ page, say }: Shown): string => {
  if (page.fiat !== null) return fiat(page.fiat.amount, page.fiat.currency, page.locale)
  return page.amountSats === null ? say.anyAmount : sats(page.amountSats, page.locale)
}

const amount = ({ page, say }: Shown): ReadonlyArray<Fact> => {
  const { amountSats, price, tipPercent, locale } = page
  if (amountSats === null) return []
  return [
    { name: say.amount, text: amounts(...priced(page, locale)) },
    ...(tipPercent === 0 ? [] : [{ name: say.tip, text: amounts(...priced(tip(price, tipPercent), locale)) }])
  ]
}

const received = ({ page, state, say }: Shown): ReadonlyArray<Fact> => {
  const { fiat: quoted, locale } = page
  if (state.receivedSats === 0) return []
  return [
    {
      name: say.received,
      text: amounts(quoted && worth(state.receivedSats, quoted, locale), sats(state.receivedSats, locale))
    }
  ]
}

const order = ({ page, say }: Shown): ReadonlyArray<Fact> =>
  page.orderId === null ? [] : [{ name: say.order, text: page.orderId }]

/** For a Lightning address, the payment hash is the reference. */
const reference = ({ page, state, say }: Shown): ReadonlyArray<Fact> =>
  state.payments.some((payment) => payment.reference === page.reference)
    ? []
    : [{ name: say.reference, text: page.reference, copy: say.copyReference }]

const moments = ({ page }: Shown, name: string, atMillis: number | null): ReadonlyArray<Fact> =>
  atMillis === null ? [] : [{ name, text: moment(atMillis, "long", page.locale, "UTC"), atMillis }]

const payments = ({ state, say }: Shown): ReadonlyArray<Fact> =>
  state.payments.flatMap(({ way, reference: text, explorerUrl: url }: Payment) => {
    if (text === null) return []
    return way === "chain"
      ? [{ name: say.transaction, text, copy: say.copyTransaction, url }]
      : [{ name: say.hash, text, copy: say.copyHash }]
  })

const ways = ({ state, say }: Shown): ReadonlyArray<Fact> => {
  const used = [...new Set(state.payments.map(({ way }) => say[way]))]
  return used.length === 0 ? [] : [{ name: say.paidWith, text: used.join(" + ") }]
}

const paid = (shown: Shown): ReadonlyArray<Fact> => {
  const { page, state, say } = shown
  const price = page.fiat && rate(page.fiat, page.locale)
  const isExact = page.amountSats === state.receivedSats
  return [
    ...moments(shown, say.date, state.paidAtMillis),
    ...amount(shown),
    ...(isExact ? [] : received(shown)),
    ...(price === null ? [] : [{ name: say.rate, text: price }]),
    ...(state.isLate ? moments(shown, say.expiredAt, state.endedAtMillis) : []),
    ...order(shown),
    ...ways(shown),
    ...payments(shown),
    ...reference(shown)
  ]
}

/** The facts in every state except paid. */
const unpaid = (shown: Shown): ReadonlyArray<Fact> => [
  ...(shown.state.asking === null ? [...received(shown), ...order(shown), ...payments(shown)] : order(shown)),
  ...reference(shown)
]

const row = ({ name, text, atMillis, copy, url }: Fact, { page, say }: Shown) => {
  if (copy === undefined)
    return h(
      "div",
      null,
      h("dt", null, name),
      h("dd", null, atMillis === undefined ? bdi(text) : time(atMillis, "long", page.locale))
    )
  const away =
    typeof url === "string"
      ? h(
          "a",
          {
            class: "copy",
            href: url,
            target: "_blank",
            rel: "noreferrer",
            "aria-label": say.explorer,
            title: say.explorer
          },
          icon("away")
        )
      : null
  return h("div", { class: "long" }, h("dt", null, name), h("dd", null, code(text, copy, away)))
}

export const facts = (shown: Shown) => {
  const all = shown.state.status === "paid" ? paid(shown) : unpaid(shown)
  return h(
    "dl",
    { class: "rows facts" },
    all.map((fact) => row(fact, shown))
  )
}

/** The receipt as text, with times in UTC. */
export const receiptText = (shown: Shown): string => {
  const { page, say } = shown
  const lines = [
    { name: say.seller, text: page.seller },
    ...(page.description === "" ? [] : [{ name: say.payment, text: page.description }]),
    ...paid(shown)
  ]
  const plain = (text: string) => text.replaceAll(/[\u2066-\u2069\r\n]/g, " ").trim()
  const test = page.isTest ? `${say.test}\n\n` : ""
  return `${say.receipt}\n\n${test}${lines.map(({ name, text }) => named(name, plain(text), page.locale)).join("\n")}\n`
}
