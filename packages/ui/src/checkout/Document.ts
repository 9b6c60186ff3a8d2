import { type ComponentChildren, h } from "preact"
import * as Html from "../Html.ts"
import { form } from "./Form.ts"
import { receiptText } from "./Facts.ts"
import { heading } from "./Outcome.ts"
import { type Form, isOver, type Locale, type Page, plainVisit, type State, type Visit } from "./State.ts"
import { foot, title, View } from "./View.ts"
import { type Words, words } from "./Words.ts"

/** The files that a page loads, relative to the page. */
export interface Files {
  /** In order: the tokens of all pages, then the checkout's. */
  readonly styles: ReadonlyArray<string>
  readonly script: string
  readonly icon: string
  /** A style sheet with the company's color. */
  readonly color: string | null
}

/** How often a page without a script reloads while its state may change, in seconds. */
export const refreshSeconds = 10

interface Whole {
  readonly locale: Locale
  readonly title: string
  readonly files: Files
  /** Whether a page without a script reloads itself. */
  readonly reloads: boolean
  readonly body?: Readonly<Record<string, string | undefined>>
}

const whole = (
  { locale, title, files, reloads, body = {} }: Whole,
  ...children: ReadonlyArray<ComponentChildren>
): string => {
  const { styles, script, icon, color } = files
  const say = words[locale]
  const head = [
    h("meta", { name: "description", content: title }),
    h("meta", { name: "color-scheme", content: "light dark" }),
    styles.map((href) => h("link", { rel: "stylesheet", href })),
    color !== null && h("link", { rel: "stylesheet", href: color }),
    reloads && h("noscript", null, h("meta", { "http-equiv": "refresh", content: String(refreshSeconds) })),
    h("script", { src: script, defer: true })
  ]
  const statuses = [
    h("p", { class: "visually-hidden", id: "said", role: "status", "data-copied": say.copied }),
    h("p", { class: "lost", id: "lost", role: "status", "data-lost": say.lost })
  ]
  return Html.page({
    title,
    icon,
    lang: locale,
    dir: locale === "ar" ? "rtl" : "ltr",
    head,
    body: h("body", { ...body, class: `checkout ${body["class"] ?? ""}`.trim() }, children, statuses)
  })
}

const testing = (say: Words) => h("aside", { class: "test" }, say.test)

/**
 * The complete payment page, which works without a script. `version` identifies the state, as in the stream
 * of states.
 */
export const page = (
  page: Page,
  state: State,
  files: Files,
  { version = "", visit = plainVisit }: { readonly version?: string; readonly visit?: Visit } = {}
): string => {
  const say = words[page.locale]
  const shown = { page, state, say, visit }
  const body = {
    class: visit.isFramed ? "framed" : "",
    "data-state": page.stateUrl,
    "data-streamed": page.isStreamed ? "" : undefined,
    "data-frame": page.embedOrigin ?? undefined
  }
  return whole(
    { locale: page.locale, title: title(shown), files, reloads: !isOver(state), body },
    page.isTest && testing(say),
    h(View, { ...shown, version })
  )
}

/** The receipt of a payment as plain text. */
export const receipt = (page: Page, state: State): string =>
  receiptText({ page, state, say: words[page.locale], visit: plainVisit })

/** A page shown when the payment does not exist or cannot be read now. */
export const notice = (
  locale: Locale,
  what: "unknown" | "away",
  files: Files,
  visit: Visit = plainVisit
): string => {
  const say = words[locale]
  const isUnknown = what === "unknown"
  const steps = h(
    "section",
    { class: "way", "aria-labelledby": "next" },
    h("h2", { id: "next" }, say.next),
    h(
      "ol",
      { class: "steps" },
      h("li", null, say.nextCopy),
      h("li", null, say.nextAsk),
      h("li", null, say.nextPaid)
    )
  )
  const lead = isUnknown ? say.unknownLead : say.awayLead
  return whole(
    {
      locale,
      title: say[what],
      files,
      reloads: !isUnknown,
      ...(!isUnknown && { body: { "data-reload": "" } })
    },
    h(
      "main",
      { class: "split" },
      h(
        "section",
        { class: "bill quiet told", "aria-label": say.payment },
        heading({ headline: say[what], mark: isUnknown ? "search" : "clock", tone: "", lead: [lead] })
      ),
      isUnknown ? steps : h("section", { class: "way" }),
      foot(locale, say, visit)
    )
  )
}

/** A page that asks for an amount without any script. */
export const ask = (asked: Form, files: Files, visit: Visit = plainVisit): string => {
  const say = words[asked.locale]
  return whole(
    { locale: asked.locale, title: `${say.pay} · ${asked.to}`, files, reloads: false },
    asked.isTest && testing(say),
    h("main", { class: "split" }, form(asked, say, visit), foot(asked.locale, say, visit))
  )
}
