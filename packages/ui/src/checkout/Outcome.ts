import { type ComponentChildren, h } from "preact"
import { refund } from "./features/refunds/Refund.ts"
import { bdi, failure, fold, type Icon, icon, link, search, sentence, type Shown, time } from "./Parts.ts"
import type { Page, State } from "./State.ts"
import { filled, sats, span, worth } from "./Words.ts"

// The right half in every state without a payment due.

/** The headline of an outcome. */
export interface Summary {
  readonly headline: string
  readonly mark: Icon
  /** Empty if the outcome is neither good nor bad. */
  readonly tone: "good" | "warn" | "info" | ""
  readonly lead: ReadonlyArray<ComponentChildren>
}

/** The excess amount, in the price's currency unless it rounds to zero there. */
const overText = ({ page: { fiat, locale }, state: { overSats } }: Shown): string => {
  const [text, zero] = fiat === null ? [null, null] : [worth(overSats, fiat, locale), worth(0, fiat, locale)]
  return text === null || text === zero ? sats(overSats, locale) : text
}

/** When the payments that were credited by then had arrived. An on-chain payment is credited long after it was seen. */
const arrivedAt = ({ payments, paidAtMillis }: State): number | null => {
  const times = payments.flatMap(({ isPending, atMillis }) =>
    isPending || atMillis > (paidAtMillis ?? 0) ? [] : [atMillis]
  )
  return times.length === 0 ? paidAtMillis : Math.max(...times)
}

const late = (shown: Shown): Summary => {
  const { page, state, say } = shown
  const { endedAtMillis, expiresAtMillis } = state
  const arrivedAtMillis = arrivedAt(state)
  const wasCanceled = endedAtMillis !== null && endedAtMillis < expiresAtMillis
  // The seller may cancel a checkout whose payment was seen but not confirmed yet.
  const wasSeen = wasCanceled && arrivedAtMillis !== null && arrivedAtMillis <= endedAtMillis
  const after =
    arrivedAtMillis === null || arrivedAtMillis <= expiresAtMillis
      ? null
      : filled(say.lateAfter, span(arrivedAtMillis - expiresAtMillis, page.locale))
  const over = state.overSats === 0 ? null : filled(say.changeLead, overText(shown))
  const isAsked = state.refunds.length === 0
  const why = wasSeen ? null : wasCanceled ? say.lateCanceled : after
  const lead = [why, over, isAsked ? say.lateSeller : null].filter((part) => part !== null)
  return { headline: wasSeen ? say.canceled : say.late, mark: "clock", tone: "warn", lead: [lead.join(" ")] }
}

const paid = (shown: Shown): Summary => {
  const { page, state, say } = shown
  if (state.isLate) return late(shown)
  const good = { mark: "tick", tone: "good" } as const
  if (state.overSats === 0)
    return { ...good, headline: say.paid, lead: sentence(say.paidLead, bdi(page.seller)) }
  const isOpen = state.refunds.some(({ lnurl }) => lnurl !== null)
  const isAsked = state.refunds.length === 0
  return {
    ...good,
    headline: isOpen ? say.changeOpen : isAsked ? say.change : say.paid,
    lead: [...sentence(say.changeLead, bdi(overText(shown))), ...(isAsked ? [" ", say.changeAsk] : [])]
  }
}

/** Whether the payer has to ask the seller for money: nothing is refunded yet of a late, excess or partial payment. */
const isOwed = ({ status, isLate, overSats, receivedSats, pendingSats, refunds }: State): boolean =>
  refunds.length === 0 && (status === "paid" ? isLate || overSats > 0 : receivedSats + pendingSats > 0)

/** The message about money that arrived for an expired or canceled payment; null if none arrived. */
const arrived = ({ page, state, say }: Shown) => {
  const { receivedSats, pendingSats, refunds } = state
  if (receivedSats > 0)
    return sentence(
      refunds.length === 0 ? say.partial : say.partialRefund,
      bdi(sats(receivedSats, page.locale))
    )
  return pendingSats > 0 ? [say.lateSeller] : null
}

const ended = (shown: Shown): Summary => {
  const { page, state, say } = shown
  const money = arrived(shown)
  const tone = money === null ? "" : "warn"
  if (state.status === "canceled")
    return { headline: say.canceled, mark: "barred", tone, lead: money ?? [say.canceledLead] }
  const isQuote = page.fiat !== null
  const until = sentence(
    isQuote ? say.quoteExpiredLead : say.expiredLead,
    time(state.expiresAtMillis, "long", page.locale)
  )
  return {
    headline: isQuote ? say.quoteExpired : say.expired,
    mark: "clock",
    tone,
    lead: [...until, ...(money === null ? (state.isRenewable ? [] : [" ", say.askNewLink]) : [" ", ...money])]
  }
}

/** The message of a page without a payment due. */
export const summaryOf = (shown: Shown): Summary => {
  const { page, state, say } = shown
  if (state.status === "paid") return paid(shown)
  if (state.status === "expired" || state.status === "canceled") return ended(shown)
  const rest = state.restSats > 0 && filled(say.stillDue, sats(state.restSats, page.locale))
  return state.pendingSats > 0
    ? { headline: say.seen, mark: "block", tone: "info", lead: [rest || say.seenLead] }
    : { headline: say.checking, mark: "clock", tone: "info", lead: [say.checkingLead] }
}

export const heading = ({ headline, mark, tone, lead }: Summary) =>
  h(
    "div",
    { class: "state" },
    h("span", { class: `mark ${tone}`.trim() }, icon(mark)),
    h("h1", { class: "headline", tabIndex: -1 }, headline),
    h("p", { class: "lead" }, lead)
  )

/** The steps of a payment: past, current and next. */
const track = ({ page, state, say }: Shown) => {
  const [newest] = state.payments.filter(({ isPending }) => isPending)
  const { confirmations: depth } = state
  return h(
    "ol",
    { class: "track" },
    h(
      "li",
      { class: "done" },
      say.stepSeen,
      newest !== undefined && [" ", h("span", null, time(newest.atMillis, "time", page.locale))]
    ),
    h(
      "li",
      { class: "now", "aria-current": "step" },
      say.stepBlock,
      depth !== null && [" ", h("span", null, filled(say.depth, String(depth.seen), String(depth.needed)))]
    ),
    h("li", null, say.stepPaid)
  )
}

const explorerOf = ({ payments }: State): string | null =>
  payments.find(({ explorerUrl }) => explorerUrl !== null)?.explorerUrl ?? null

/** Gets a new quote for the same price. */
const renewing = (shown: Shown) => {
  const { page, state, say, visit } = shown
  if (!state.isRenewable || page.renewal === null) return null
  const { url, method } = page.renewal
  const button = h("button", { class: "button primary" }, page.fiat === null ? say.newCode : say.newQuote)
  return h(
    "form",
    { class: "form", method, action: method === "get" ? url : `${url}${search(visit, {})}` },
    failure(shown),
    button
  )
}

/** A link to the seller, for every state in which the payer may need one. It is the filled button if money is owed. */
const contacting = ({ page, state, say }: Shown) => {
  const { contact, reference } = page
  const { status, isLate, overSats, refunds } = state
  if (contact === null || status === "open" || status === "underpaid") return null
  if (status === "paid" && !isLate && overSats === 0 && refunds.length === 0) return null
  const kind = isOwed(state) ? "button primary" : "button"
  if (/^https?:\/\//.test(contact)) return link(contact, say.contactSeller, kind)
  const subject = encodeURIComponent(`${say.reference} ${reference}`)
  return link(
    `mailto:${encodeURIComponent(contact).replace("%40", "@")}?subject=${subject}`,
    say.contactSeller,
    kind
  )
}

/** Help for a payer whose payment does not show, in case it comes late. */
const alreadyPaid = ({ say }: Shown) =>
  h("div", { class: "more" }, fold(say.alreadyPaid, "paid", h("p", null, say.alreadyPaidNote)))

/** The link back to the shop before the price is paid. The page at `returnUrl` itself may thank them for the payment. */
const shopUrl = ({ cancelUrl, returnUrl }: Page): string | null =>
  cancelUrl ?? (returnUrl === null ? null : new URL("/", returnUrl).href)

/** The payer's next links: at most one filled button, and none next to a refund's or the seller's. */
const onward = ({ page, state, say }: Shown) => {
  const isClaimed = state.refunds.some(({ lnurl }) => lnurl !== null)
  const isElsewhere =
    isClaimed || (state.isRenewable && page.renewal !== null) || (isOwed(state) && page.contact !== null)
  const kind = isElsewhere ? "button" : "button primary"
  if (state.status !== "paid") {
    const back =
      state.status === "expired" || state.status === "canceled"
        ? link(shopUrl(page), say.backToShop, kind)
        : null
    const explorer = explorerOf(state)
    const away =
      explorer !== null &&
      h(
        "a",
        { class: "button", href: explorer, target: "_blank", rel: "noreferrer" },
        say.explorer,
        icon("away")
      )
    return [state.pendingSats > 0 && away, back]
  }
  return [
    link(page.returnUrl, say.returnToShop, kind),
    h(
      "div",
      { class: "pair" },
      h("button", { type: "button", class: "button live", "data-print": true }, say.print),
      page.receiptUrl !== null && h("a", { class: "button", href: page.receiptUrl, download: true }, say.save)
    )
  ]
}

export const outcome = (shown: Shown) => {
  const { page, state, say } = shown
  const contact = contacting(shown)
  const isEmpty = state.status === "expired" && state.receivedSats + state.pendingSats === 0
  const isSeen = (state.status === "open" || state.status === "underpaid") && state.pendingSats > 0
  const pending =
    state.pendingSats > 0 &&
    h("p", { class: "notice" }, sentence(say.partSeen, bdi(sats(state.pendingSats, page.locale))))
  return h(
    "section",
    { class: "way", "aria-label": say.payment },
    heading(summaryOf(shown)),
    isSeen ? track(shown) : pending,
    state.refunds.map((one) => refund(shown, one)),
    isOwed(state) && contact,
    renewing(shown),
    onward(shown),
    !isOwed(state) && contact,
    isEmpty && alreadyPaid(shown)
  )
}
