import { h } from "preact"
import { asked } from "./Asked.ts"
import { bill, quietBill } from "./Bill.ts"
import { facts, priceText } from "./Facts.ts"
import { outcome, summaryOf } from "./Outcome.ts"
import { isAsking, questions } from "./Questions.ts"
import { icon, link, search, seller, sentence, type Shown } from "./Parts.ts"
import { isOver, type Locale, locales, type Visit } from "./State.ts"
import { filled, languages, type Words } from "./Words.ts"

/** The page's title in the browser. */
export const title = (shown: Shown): string => {
  const { page, state, say } = shown
  if (state.asking !== null)
    return page.amountSats === null
      ? `${say.pay} · ${page.seller}`
      : filled(say.payTo, priceText(shown).replaceAll(/[\u2066\u2069]/g, ""), page.seller)
  return `${state.status === "paid" ? "✓ " : ""}${summaryOf(shown).headline} · ${page.seller}`
}

/** The footer with the languages and the service's name. */
export const foot = (locale: Locale, say: Words, visit: Visit, back: ReturnType<typeof link> = null) =>
  h(
    "footer",
    { class: "foot" },
    back,
    h(
      "nav",
      { "aria-label": say.language },
      h(
        "details",
        { class: "languages", id: "languages" },
        h("summary", null, languages[locale]),
        h(
          "ul",
          null,
          locales.map((one) =>
            h(
              "li",
              null,
              h(
                "a",
                {
                  href: search(visit, { language: one }),
                  lang: one,
                  ...(one === locale && { "aria-current": "true" })
                },
                languages[one]
              )
            )
          )
        )
      )
    ),
    h("span", null, sentence(say.powered, h("span", { translate: false }, "satrail")))
  )

/** The header of a framed page, so that the close button is always visible. */
const top = ({ page, say }: Shown) =>
  h(
    "header",
    { class: "top" },
    seller(page.seller),
    h(
      "button",
      { type: "button", class: "close live", "data-close": true, "aria-label": say.close },
      icon("close")
    )
  )

/** Pays from the sandbox, even without a script. */
const sandbox = ({ page, state, say, visit }: Shown) => {
  const { asking } = state
  if (page.sandboxUrl === null || asking === null) return null
  const pay = (way: string, text: string) =>
    h("button", { class: "button", formAction: `${page.sandboxUrl}${search(visit, {})}&pay=${way}` }, text)
  const isPriced = asking.sats !== null
  return h(
    "section",
    { class: "sandbox", "aria-labelledby": "pretend" },
    h("h2", { id: "pretend" }, say.pretend),
    h("p", null, say.pretendNote),
    h(
      "form",
      { class: "pair", method: "post", "data-quiet": true },
      asking.invoice !== null && pay("lightning", say.pretendLightning),
      asking.address !== null && isPriced && pay("chain", say.pretendChain),
      asking.address !== null && isPriced && asking.sats > 1 && pay("less", say.pretendLess),
      asking.invoice !== null && asking.address !== null && isPriced && pay("more", say.pretendMore)
    )
  )
}

/** The page of a payment in any state. `version` identifies the state. */
export const View = ({ version, ...shown }: Shown & { readonly version: string }) => {
  const { page, state, say, visit } = shown
  const { asking } = state
  const { isFramed } = visit
  const isQuestioned = asking !== null && isAsking(shown)
  const isPayable = state.status === "open" || state.status === "underpaid"
  return h(
    "main",
    { class: "split", "data-version": version, "data-status": state.status, "data-over": isOver(state) },
    isFramed && top(shown),
    asking === null || isQuestioned ? quietBill(shown, !isFramed) : bill(shown, !isFramed),
    asking === null ? outcome(shown) : isQuestioned ? questions(shown) : asked(shown, asking),
    !isQuestioned && sandbox(shown),
    facts(shown),
    !isFramed &&
      foot(
        page.locale,
        say,
        visit,
        isPayable ? link(page.cancelUrl, filled(say.backTo, page.seller), "back") : null
      )
  )
}
