import { type ComponentChildren, h } from "preact"
import { type Moment, moment } from "./Clock.ts"
import type { Locale, Page, State, Visit } from "./State.ts"
import { named, type Words } from "./Words.ts"

/** All inputs of a part of the page. */
export interface Shown {
  readonly page: Page
  readonly state: State
  readonly say: Words
  readonly visit: Visit
}

const icons = {
  copy: "M7 7V4.5A1.5 1.5 0 0 1 8.5 3h7A1.5 1.5 0 0 1 17 4.5v7a1.5 1.5 0 0 1-1.5 1.5H13M4.5 7h7A1.5 1.5 0 0 1 13 8.5v7a1.5 1.5 0 0 1-1.5 1.5h-7A1.5 1.5 0 0 1 3 15.5v-7A1.5 1.5 0 0 1 4.5 7z",
  tick: "M4.5 10.5l3.7 3.7L15.5 6",
  clock: "M10 5.5V10l3 2M17 10a7 7 0 1 1-14 0a7 7 0 0 1 14 0z",
  barred: "M17 10a7 7 0 1 1-14 0a7 7 0 0 1 14 0zM5 15L15 5",
  search: "M13 8.5a4.5 4.5 0 1 1-9 0a4.5 4.5 0 0 1 9 0zM12 12l4.5 4.5",
  block: "M10 2.5l6.5 3.75v7.5L10 17.5l-6.5-3.75v-7.5zM3.5 6.25L10 10l6.5-3.75M10 10v7.5",
  away: "M8 4.5H4.5v11h11V12M11.5 4h4.5v4.5M16 4l-6.5 6.5",
  close: "M5 5l10 10M15 5L5 15"
} as const
export type Icon = keyof typeof icons

export const icon = (name: Icon) =>
  h("svg", { class: "icon", viewBox: "0 0 20 20", "aria-hidden": true }, h("path", { d: icons[name] }))

/** A link that opens outside the page's frame, if the page is in one. Null without a URL. */
export const link = (url: string | null, text: ComponentChildren, kind = "button") =>
  url === null ? null : h("a", { class: kind, href: url, target: "_top", rel: "noreferrer" }, text)

export const bdi = (text: string) => h("bdi", null, text)

export const hiddenLabel = (text: string, locale: Locale) =>
  h("span", { class: "visually-hidden" }, named(text, "", locale))

/** A sentence with elements in its placeholders. */
export const sentence = (
  text: string,
  ...values: ReadonlyArray<ComponentChildren>
): ReadonlyArray<ComponentChildren> =>
  text.split(/\{(\d)\}/).map((part, at) => (at % 2 === 0 ? part : (values[Number(part) - 1] ?? "")))

/** A time in UTC until a script rewrites it. */
export const time = (millis: number, kind: Moment, locale: Locale) =>
  h(
    "time",
    { dateTime: new Date(millis).toISOString(), "data-moment": kind },
    moment(millis, kind, locale, "UTC")
  )

/** The number of characters at a code's end that are always visible. */
const tailCharacters = 8

/** A code on one line. The style truncates it, but selecting or copying it yields the whole code. */
export const code = (text: string, copyLabel: string, beside: ComponentChildren = null) =>
  h(
    "div",
    { class: "code" },
    h(
      "code",
      { dir: "ltr", translate: false },
      h("span", null, text.slice(0, -tailCharacters)),
      h("span", null, text.slice(-tailCharacters))
    ),
    beside,
    h(
      "button",
      { type: "button", class: "copy live", "data-copy": true, "aria-label": copyLabel, title: copyLabel },
      icon("copy")
    )
  )

/** A collapsed part of the page. Opening one closes the others. */
export const fold = (summary: string, key: string, ...children: ReadonlyArray<ComponentChildren>) =>
  h(
    "details",
    { name: "ways", id: `fold-${key}` },
    h("summary", null, summary),
    h("div", { class: "fold" }, children)
  )

/** The first character of a name, in the seller's color. */
export const seller = (name: string) => {
  const [first] = new Intl.Segmenter().segment(name.trim())
  return h(
    "p",
    { class: "seller" },
    h("span", { class: "monogram", "aria-hidden": true }, first?.segment.toUpperCase() ?? ""),
    h("span", null, bdi(name))
  )
}

/** Says that the visitor's last choice could not be stored. */
export const failure = ({ say, visit }: Pick<Shown, "say" | "visit">) =>
  visit.hasFailed && h("p", { class: "hint wrong", role: "alert" }, say.failed)

/** The URL of this page with some of the visitor's options changed. */
export const search = (visit: Visit, change: Partial<Visit>): string => {
  const chosen = { ...visit, ...change }
  const query = new URLSearchParams()
  if (chosen.language !== null) query.set("lang", chosen.language)
  if (chosen.way !== "any") query.set("way", chosen.way)
  if (chosen.isFramed) query.set("frame", "")
  if (chosen.isAsked) query.set("ask", "")
  return `?${query}`
}
