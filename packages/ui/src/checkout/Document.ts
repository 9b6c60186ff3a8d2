import { type ComponentChildren, h } from "preact"
import { render } from "preact-render-to-string"
import { isOver, type Locale, type Page, type State } from "./State.ts"
import { View } from "./View.ts"
import { filled, number, words } from "./Words.ts"

/** Where the files are that a page loads, from the page, and the icon. */
export interface Files {
  readonly style: string
  readonly script: string
  readonly icon: string
  /** A style sheet with the company's colour. */
  readonly color: string | null
}

/** How often a page without a script looks again while something may change, in seconds. */
export const refreshSeconds = 10

const whole = (
  {
    locale,
    title,
    files,
    looksAgain
  }: { readonly locale: Locale; readonly title: string; readonly files: Files; readonly looksAgain: boolean },
  ...body: ReadonlyArray<ComponentChildren>
): string => {
  const { style, script, icon, color } = files
  const head = h(
    "head",
    null,
    h("meta", { charset: "utf-8" }),
    h("title", null, title),
    h("meta", { name: "viewport", content: "width=device-width, initial-scale=1" }),
    h("link", { rel: "icon", type: "image/svg+xml", href: icon }),
    h("link", { rel: "stylesheet", href: style }),
    color !== null && h("link", { rel: "stylesheet", href: color }),
    // A script hears at once what changes: then nothing is loaded again.
    looksAgain && h("noscript", null, h("meta", { "http-equiv": "refresh", content: String(refreshSeconds) })),
    h("script", { src: script, defer: true })
  )
  return `<!doctype html>\n${render(h("html", { lang: locale, dir: locale === "ar" ? "rtl" : "ltr" }, head, h("body", null, body)))}\n`
}

/** The page of a payment as it is sent: complete without a script, which finds in it what it goes on with. */
export const page = (page: Page, state: State, files: Files): string => {
  const say = words[page.locale]
  const data = JSON.stringify({ page, state, say })
  const root = h("div", { id: "checkout", "data-page": data }, h(View, { page, state, say, live: null }))
  return whole({ locale: page.locale, title: say.pay, files, looksAgain: !isOver(state) }, root)
}

/** A page that only says something. */
export const told = (locale: Locale, sentence: "unknown" | "away", files: Files): string => {
  const text = words[locale][sentence]
  return whole({ locale, title: text, files, looksAgain: sentence === "away" }, h("main", { class: "card" }, h("h1", null, text)))
}

/** What a payer is asked who decides what to pay. */
export interface Asked {
  readonly locale: Locale
  /** Whom: `alice@pay.example.com`. */
  readonly to: string
  readonly minSats: number
  readonly maxSats: number
  /** What was entered and cannot be paid; null the first time. */
  readonly wrong: string | null
  /** Where the form leads, from the page. */
  readonly action: string
}

/** A page that asks for an amount, without any script. */
export const ask = ({ locale, to, minSats, maxSats, wrong, action }: Asked, files: Files): string => {
  const say = words[locale]
  const isWrong = wrong !== null
  const input = {
    id: "sats",
    name: "sats",
    required: true,
    inputMode: "numeric",
    autoComplete: "off",
    "aria-describedby": "range",
    ...(isWrong && { value: wrong, "aria-invalid": true })
  } as const
  const form = h(
    "form",
    { method: "post", action },
    h("label", { for: "sats" }, say.inSats),
    h("input", input),
    h("p", { id: "range", class: isWrong ? "note" : "hint" }, filled(say.range, number(minSats, locale), number(maxSats, locale))),
    h("button", { class: "main" }, say.pay)
  )
  const card = h("main", { class: "card to" }, h("h1", null, filled(say.to, to)), form)
  return whole({ locale, title: say.pay, files, looksAgain: false }, card)
}
