import { createElement as h, type ReactNode, useState } from "react"
import type { CheckoutState } from "./State.ts"
import { type CheckoutOptions, type CheckoutView, useCheckout } from "./useCheckout.ts"

const inSats = (sats: number): string => `${sats.toLocaleString("en")} ${sats === 1 ? "sat" : "sats"}`

/** The English texts of `Checkout`. */
export const english = {
  loading: "Loading…",
  missing: "This payment does not exist.",
  lost: "Connecting…",
  amount: inSats,
  anyAmount: "Any amount",
  due: (sats: number, receivedSats: number): string =>
    `Received ${inSats(receivedSats)}. Still due: ${inSats(sats)}.`,
  qr: "QR code of the payment",
  open: "Open in wallet",
  copy: "Copy",
  copied: "Copied",
  copyFailed: "Couldn't copy. Select the text instead.",
  more: "More ways to pay",
  proceed: "Continue to payment",
  renew: "Get a new payment code",
  seen: (seen: number, needed: number): string => `Payment detected. Confirmations: ${seen} of ${needed}.`,
  pending: "Payment detected. Waiting for confirmation.",
  paid: "Paid. Thank you!",
  expired: "This payment has expired. Please don't send funds.",
  canceled: "This payment was canceled. Please don't send funds.",
  refund: "See your refund"
}
export type Words = typeof english

export interface CheckoutProps extends CheckoutOptions {
  /** A checkout's `url`, or the last part of it together with `service`. */
  readonly id: string
  readonly className?: string | undefined
  /** Replaces some of the English texts. */
  readonly words?: Partial<Words> | undefined
  /** Renders the checkout in place of the built-in markup. */
  readonly children?: ((checkout: CheckoutView) => ReactNode) | undefined
}

export const messageOf = ({ status, state, isLost }: CheckoutView, words: Words): string => {
  if (state === undefined) return status === "missing" ? words.missing : isLost ? words.lost : words.loading
  const { confirmations, pendingSats, asking, receivedSats } = state
  if (status === "paid") return words.paid
  if (status === "canceled") return words.canceled
  // A pending part does not complete the payment.
  if (pendingSats > 0 && asking === null)
    return confirmations === null ? words.pending : words.seen(confirmations.seen, confirmations.needed)
  if (status === "expired") return words.expired
  if (asking === null) return words.loading
  if (asking.sats === null) return words.anyAmount
  return receivedSats > 0 ? words.due(asking.sats, receivedSats) : words.amount(asking.sats)
}

/** Returns whether the payer can claim or request a refund. */
const hasMore = ({ status, refunds, overSats, receivedSats }: CheckoutState): boolean =>
  refunds.length > 0 || overSats > 0 || ((status === "expired" || status === "canceled") && receivedSats > 0)

const Copy = ({ text, words }: { readonly text: string; readonly words: Words }): ReactNode => {
  const [label, setLabel] = useState<"copy" | "copied" | "copyFailed">("copy")
  // On a page without TLS, the clipboard is unavailable and this rejects.
  const copy = async () => navigator.clipboard.writeText(text)
  const onClick = () =>
    void copy().then(
      () => setLabel("copied"),
      () => setLabel("copyFailed")
    )
  return h("button", { type: "button", onClick }, words[label])
}

const Means = ({ view, words }: { readonly view: CheckoutView; readonly words: Words }): ReactNode => {
  const { state, qr } = view
  const asking = state?.asking
  if (asking === null || asking === undefined || state?.questions === "due") return null
  const invoice = asking.invoice ?? asking.address ?? asking.uri
  return h(
    "div",
    { "data-part": "means" },
    h("img", { "data-part": "qr", src: qr, alt: words.qr, width: 256, height: 256 }),
    h("p", null, h("a", { href: asking.uri }, words.open)),
    h("p", null, h("code", null, invoice)),
    h(Copy, { text: invoice, words })
  )
}

/** Returns the text of the link to the checkout's page, or undefined if there is nothing to do there. */
const onPage = (state: CheckoutState, words: Words): string | undefined => {
  if (hasMore(state)) return words.refund
  if (state.isRenewable) return words.renew
  if (state.questions === "due") return words.proceed
  return state.asking === null ? undefined : words.more
}

/**
 * A checkout on your own page: amount, QR code and live status. It has no styles. Style it with `className` and
 * the attributes `data-status` and `data-part`, or render it yourself with a function as its child.
 *
 * @example
 * <Checkout id={checkout.url} onPaid={() => navigate("/thanks")} />
 */
export const Checkout = ({ id, className, words: given, children, ...options }: CheckoutProps): ReactNode => {
  const view = useCheckout(id, options)
  if (children !== undefined) return children(view)
  const words = { ...english, ...given }
  const { state, status, url } = view
  const link = state && onPage(state, words)
  return h(
    "section",
    { className, "data-status": status },
    h("p", { role: "status", "data-part": "message" }, messageOf(view, words)),
    h(Means, { view, words }),
    link === undefined ? null : h("p", null, h("a", { href: url, target: "_blank", rel: "noopener" }, link))
  )
}
