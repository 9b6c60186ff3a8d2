import * as Msat from "@satrail/bitcoin/Msat"
import * as Checkout from "@satrail/core/receiving/Checkout"
import { Checkouts } from "@satrail/core/receiving/Checkouts"
import { Effect } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { encodeQR } from "qr"
import { type Words, words } from "./CheckoutWords.ts"
import * as Extension from "./Extension.ts"
import * as Html from "./Html.ts"

/** How often a page that waits for something looks again, in seconds. */
export const refreshSeconds = 10

const { style, contentSecurityPolicy } = Html.styled(`
.amount{font-size:2.25rem;line-height:1.2;margin:.5rem 0 0}
.qr{background:#fff;margin:1rem 0;max-width:18rem;padding:1rem}
.qr svg{display:block;height:auto;width:100%}
@media print{a,.qr{display:none}}`)

const filled = (text: string, ...values: ReadonlyArray<string>): string =>
  text.replaceAll(/\{(\d)\}/g, (_, n) => values[Number(n) - 1] ?? "")

/** `21,000 sats`, as the payer's language groups digits. */
const sats = (amount: Msat.Msat, locale: Checkout.Locale): string =>
  `${new Intl.NumberFormat(locale, { numberingSystem: "latn" }).format(Msat.toSatsCeiling(amount))} sats`

/** What a wallet is given: address, amount and invoice in one (BIP 21). */
export const uriOf = (checkout: Checkout.Shown): string => {
  const rest = Checkout.rest(checkout, checkout.received)
  const digits = rest === null ? "" : String(Msat.toSats(rest)).padStart(9, "0")
  const amount = rest === null ? "" : `amount=${digits.slice(0, -8)}.${digits.slice(-8)}&`
  return `bitcoin:${checkout.address}?${amount}lightning=${checkout.paymentRequest}`
}

const link = (url: string | null, text: string): string => (url === null ? "" : `<p><a href="${Html.escaped(url)}">${text}</a></p>`)

/** What is still to be paid, and how. */
const asking = (checkout: Checkout.Shown, say: Words): string => {
  const uri = uriOf(checkout)
  const time = new Date(checkout.expiresAtMillis).toISOString()
  const until = `<time datetime="${time}">${time.slice(0, 16).replace("T", " ")} UTC</time>`
  return `<div class="qr" role="img" aria-label="${say.scan}">${encodeQR(uri, "svg")}</div>
<p>${say.scan}</p>
<p><a href="${Html.escaped(uri)}">${say.open}</a></p>
<p>${filled(say.until, until)}</p>
<h2>${say.lightning}</h2>
<p><code dir="ltr">${Html.escaped(checkout.paymentRequest)}</code></p>
<h2>${say.address}</h2>
<p><code dir="ltr">${Html.escaped(checkout.address)}</code></p>
${link(checkout.cancelUrl, say.back)}`
}

const receipt = (checkout: Checkout.Shown, say: Words): string => {
  const { amount, received, locale, paidAtMillis, returnUrl } = checkout
  const more = amount !== null && received > amount ? filled(say.more, sats(Msat.make(received - amount), locale)) : ""
  const at = paidAtMillis === null ? "" : `<p>${new Date(paidAtMillis).toISOString().slice(0, 16).replace("T", " ")} UTC</p>`
  return `<h2 role="status">${say.paid}</h2>
<p>${filled(say.received, sats(received, locale))} ${more}</p>
${at}${Checkout.isLate(checkout) ? `<p>${say.late}</p>` : ""}
${link(returnUrl, say.goOn)}`
}

/** Whether enough is on its way: then nothing more is asked for. */
const isSeen = (checkout: Checkout.Shown): boolean =>
  checkout.pending > 0n && Msat.sum(checkout.received, checkout.pending) >= Checkout.least(checkout)

const standing = (checkout: Checkout.Shown, say: Words): string => {
  const { status, received, pending, locale, cancelUrl } = checkout
  if (status === "paid") return receipt(checkout, say)
  const waiting = pending > 0n ? `<p role="status">${filled(say.seen, sats(pending, locale))}</p>\n` : ""
  if (status === "expired" || status === "canceled")
    return `${waiting}<p role="status"><strong>${say[status]}</strong></p>\n${link(cancelUrl, say.back)}`
  if (isSeen(checkout) || !checkout.isAsking) return `${waiting}<p><a href="">${say.again}</a></p>`
  const rest = Checkout.rest(checkout, received)
  const missing = rest === null || status === "open" ? "" : filled(say.missing, sats(received, locale), sats(rest, locale))
  return `${waiting}${missing === "" ? "" : `<p role="status"><strong>${missing}</strong></p>\n`}${asking(checkout, say)}`
}

/** The page of a checkout. It says nothing but what a payer must know: no id of ours, no metadata, not who else paid. */
export const page = (checkout: Checkout.Shown): string => {
  const { amount, description, orderId, fiatAmount, fiatCurrency, locale } = checkout
  const say = words[locale]
  const fiat = fiatAmount === null || fiatCurrency === null ? "" : `<p>${Html.escaped(`${fiatAmount} ${fiatCurrency.toUpperCase()}`)}</p>`
  const body = `<main>
<h1>${description === "" ? say.pay : Html.escaped(description)}</h1>
${orderId === null ? "" : `<p>${filled(say.order, Html.escaped(orderId))}</p>`}
<p class="amount">${amount === null ? say.anyAmount : sats(amount, locale)}</p>
${fiat}
${standing(checkout, say)}
</main>`
  return Html.page({ title: say.pay, body, style, lang: locale, dir: locale === "ar" ? "rtl" : "ltr", root: "../" })
}

/** What is final needs no look. */
const isOver = ({ status }: Checkout.Shown): boolean => status === "paid" || status === "canceled"

const answer = (html: string, status: number, looksAgain: boolean) =>
  HttpServerResponse.text(html, {
    status,
    contentType: "text/html; charset=utf-8",
    headers: {
      "content-security-policy": contentSecurityPolicy,
      "referrer-policy": "no-referrer",
      "cache-control": "no-store",
      "x-robots-tag": "noindex",
      ...(looksAgain && { refresh: String(refreshSeconds) })
    }
  })

/** A page that only says something. */
const told = (text: string, status: number, looksAgain: boolean) =>
  answer(Html.page({ title: text, body: `<main><h1>${text}</h1></main>`, style, root: "../" }), status, looksAgain)

const routes = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const checkouts = yield* Checkouts
    const shown = Effect.fnUntraced(function* (id: string) {
      const checkout = yield* checkouts.open(id)
      return answer(page(checkout), 200, !isOver(checkout))
    })
    yield* router.add("GET", "/pay/:id", () =>
      Effect.flatMap(HttpRouter.params, ({ id = "" }) =>
        Effect.catchTags(shown(id), {
          NotFound: () => Effect.succeed(told("There is no such payment", 404, false)),
          StoreUnavailable: (outage) =>
            Effect.as(Effect.logWarning("checkout page: not read", outage), told("This page is away for a moment", 503, true))
        })
      )
    )
  })
)

/** The pages on which checkouts are paid. */
export const extension = Extension.make(routes)
