import { h } from "preact"
import { countedMillis, dashes, duration, soonMillis } from "./Clock.ts"
import { priceText } from "./Facts.ts"
import { bdi, hiddenLabel, search, seller, sentence, type Shown, time } from "./Parts.ts"
import { parts, priced, rate, sats, tip } from "./Words.ts"

// The left half: the seller, the description, the amount and the remaining time.

/** Renders `25,000` with a small `sats`, or a price in fiat. */
const figure = (text: string) => {
  const [, digits, unit, isolate = ""] = /^(.*\d)( sats?)(\u2069?)$/.exec(text) ?? []
  return digits === undefined ? bdi(text) : h("bdi", null, digits, h("small", null, unit), isolate)
}

/**
 * Without a script, the ring moves only when the page reloads. A countdown in digits would be outdated, so such
 * a page shows the expiry time instead.
 */
const clock = ({ page, state, say }: Shown) => {
  const { expiresAtMillis, nowMillis } = state
  const leftMillis = Math.max(0, expiresAtMillis - nowMillis)
  const isCounted = leftMillis <= countedMillis
  const until = sentence(say.payBy, time(expiresAtMillis, isCounted ? "time" : "long", page.locale))
  if (!isCounted) return h("p", { class: "time dated" }, until)
  const circle = { cx: 10, cy: 10, r: 8.5 }
  const ring = h(
    "svg",
    { class: "ring", viewBox: "0 0 20 20", "aria-hidden": true },
    h("circle", circle),
    h("circle", {
      class: "left",
      ...circle,
      pathLength: 100,
      "stroke-dasharray": dashes(leftMillis, expiresAtMillis - page.createdAtMillis)
    })
  )
  const [before = "", after = ""] = (page.fiat === null ? say.payWithin : say.rateHeld).split("{1}")
  const wide = (text: string) => text.trim() !== "" && h("span", { class: "wide" }, text)
  return h(
    "p",
    {
      class: leftMillis <= soonMillis ? "time soon" : "time",
      role: "timer",
      "data-from": page.createdAtMillis,
      "data-until": expiresAtMillis,
      "data-now": nowMillis
    },
    ring,
    h("span", { class: "still" }, until),
    h("span", { class: "live" }, wide(before), bdi(duration(leftMillis)), wide(after))
  )
}

const meter = ({ say }: Shown, received: string, total: string, share: number) => {
  const text = sentence(say.receivedOf, received, total).join("")
  return [
    h(
      "svg",
      { class: "meter", role: "img", "aria-label": text, viewBox: "0 0 100 6", preserveAspectRatio: "none" },
      h("rect", { class: "all", width: 100, height: 6 }),
      h("rect", { class: "got", width: Number((100 * share).toFixed(2)), height: 6 })
    ),
    h("p", { class: "sub", "aria-hidden": true }, bdi(text))
  ]
}

/** The tip in the amount, and a link back to the seller's questions. */
const extras = ({ page, state, say, visit }: Shown) => {
  const { price, tipPercent, locale } = page
  const text =
    tipPercent > 0 && sentence(say.includesTip, bdi(priced(tip(price, tipPercent), locale)[0] ?? ""))
  const back =
    state.questions === "answered" && h("a", { href: search(visit, { isAsked: true }) }, say.changeAnswers)
  return (text || back) && h("p", { class: "sub" }, text && h("span", null, text), back)
}

/** The amount due now, the largest text on the page. */
const due = (shown: Shown) => {
  const { page, state, say } = shown
  const { locale, fiat, amountSats, about } = page
  const rest = state.asking?.sats ?? null
  const price = fiat && rate(fiat, locale)
  const below = (first: string | null) =>
    (first !== null || price !== null) &&
    h("p", { class: "sub" }, first !== null && h("b", null, bdi(first)), price !== null && [" ", bdi(price)])
  const sentSats = state.receivedSats + state.pendingSats
  if (sentSats === 0 || rest === null || amountSats === null)
    return [
      h(
        "h1",
        { class: "amount" },
        amountSats !== null && hiddenLabel(say.amountDue, locale),
        figure(priceText(shown))
      ),
      below(fiat !== null && amountSats !== null ? sats(amountSats, locale) : about)
    ]
  const split = fiat && parts(fiat, state.receivedSats, locale)
  const dueFiat = fiat && parts(fiat, sentSats, locale)?.due
  const [before = "", after = ""] = say.stillDue.split("{1}")
  const small = (text: string) => text.trim() !== "" && h("small", null, text)
  return [
    h("h1", { class: "amount" }, small(before), figure(dueFiat ?? sats(rest, locale)), small(after)),
    below(dueFiat ? sats(rest, locale) : null),
    meter(
      shown,
      split?.received ?? sats(state.receivedSats, locale),
      split ? priceText(shown) : sats(amountSats, locale),
      split?.share ?? Math.min(1, state.receivedSats / amountSats)
    ),
    state.pendingSats > 0 &&
      h("p", { class: "sub" }, sentence(say.partSeen, bdi(sats(state.pendingSats, locale))))
  ]
}

/** The bill while a payment is due. `isNamed` is false if the seller is named elsewhere. */
export const bill = (shown: Shown, isNamed: boolean) => {
  const { page, say } = shown
  return h(
    "section",
    { class: "bill", "aria-label": say.order },
    isNamed && seller(page.seller),
    page.description !== "" && h("p", { class: "what" }, bdi(page.description)),
    due(shown),
    extras(shown),
    clock(shown)
  )
}

/** The bill in every other state, where the amount matters less. */
export const quietBill = (shown: Shown, isNamed: boolean) => {
  const { page, state, say } = shown
  const { fiat, amountSats, locale, description } = page
  const isGone = state.status === "expired" || state.status === "canceled"
  const label = state.status === "paid" ? say.amountPaid : say.amount
  return h(
    "section",
    { class: `bill quiet${isGone ? " gone" : ""}`, "aria-label": say.order },
    isNamed && seller(page.seller),
    h("p", { class: "what" }, description === "" ? say.payment : bdi(description)),
    h(
      "p",
      { class: "amount" },
      hiddenLabel(label, locale),
      bdi(amountSats === null ? sats(state.receivedSats, locale) : priceText(shown))
    ),
    fiat !== null &&
      amountSats !== null &&
      state.status !== "paid" &&
      !isGone &&
      h("p", { class: "sub" }, h("b", null, bdi(sats(amountSats, locale))))
  )
}
