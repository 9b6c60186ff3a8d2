import { type ComponentChildren, h } from "preact"
import { type Content, page } from "../Html.ts"
import type { Preferences } from "./Format.ts"
import type { Shown } from "./Page.ts"
import { dot, type Icon, icon, status, type Badge } from "./Parts.ts"

/** The files that a page loads, relative to the page. */
export interface Files {
  /** In order: the design tokens shared by all pages, then the console's styles. */
  readonly styles: ReadonlyArray<string>
  readonly script: string
  readonly icon: string
}

export interface Entry {
  readonly name: string
  readonly path: string
  readonly text: string
  readonly glyph: Icon
  /** Set if something on the page needs attention. */
  readonly badge?: Badge | undefined
  /** Number of records on the page. */
  readonly count?: number
}

export interface Section {
  readonly title?: string
  readonly entries: ReadonlyArray<Entry>
}

/** The frame around every page. */
export interface Around {
  readonly files: Files
  readonly to: (path: string) => string
  readonly beside: (path: string) => string
  readonly preferences: Preferences
  /** The company or operator whose console this is, with the service's name shown below. */
  readonly owner: string
  readonly at: string
  readonly user: string
  readonly role: string
  readonly sections: ReadonlyArray<Section>
  readonly nav: string
  /** The current search text. */
  readonly sought: string
  /** The search box's placeholder. Empty if there is no search. */
  readonly placeholder: string
  /** Text shown beside the search box, such as the price of bitcoin. */
  readonly rate: string
  /** The currency of values, and those that can be chosen. */
  readonly currency: string
  readonly currencies: ReadonlyArray<string>
  readonly banners: ComponentChildren
  /** The interval in milliseconds at which live pages refresh. If it is empty, they refresh when events arrive. */
  readonly live: string
  /** The path and query of this page, to which the user returns after choosing a theme or currency. */
  readonly path: string
}

const brand = ({ owner, at, to }: Around) =>
  h(
    "a",
    { class: "brand", href: to("") },
    h("b", { class: "mark", "aria-hidden": true }, [...owner.trim()][0]?.toUpperCase() ?? ""),
    h("span", null, h("bdi", null, owner), h("small", null, at))
  )

const themes = [
  ["system", "System"],
  ["light", "Light"],
  ["dark", "Dark"]
] as const

const initials = (name: string): string =>
  name
    .split(/\s+/)
    .slice(0, 2)
    .map((word) => [...word][0]?.toUpperCase() ?? "")
    .join("")

const currencyForm = ({ beside, path, currency, currencies }: Around) =>
  h(
    "form",
    { class: "currency", method: "post", action: beside("console/theme") },
    h("input", { type: "hidden", name: "back", value: path }),
    h("label", { class: "visually-hidden", for: "currency-shown" }, "Currency of values"),
    h(
      "select",
      { id: "currency-shown", name: "currency" },
      currencies.map((one) => h("option", { value: one, selected: one === currency }, one.toUpperCase()))
    ),
    h("button", { class: "btn quiet" }, "Change currency")
  )

const me = (around: Around) => {
  const { user, role, beside, preferences, path, currencies } = around
  return h(
    "div",
    { class: "me" },
    h(
      "div",
      null,
      h("span", { class: "face", "aria-hidden": true }, initials(user)),
      h("p", null, h("span", { class: "strong" }, h("bdi", null, user)), h("span", { class: "sub" }, role)),
      h(
        "form",
        { method: "post", action: beside("console/sign-out"), class: "inline" },
        h("button", { class: "link" }, "Sign out")
      ),
      h(
        "form",
        { class: "theme", method: "post", action: beside("console/theme"), "aria-label": "Theme" },
        h("input", { type: "hidden", name: "back", value: path }),
        themes.map(([value, text]) =>
          h("button", { name: "theme", value, "aria-pressed": preferences.theme === value }, text)
        )
      ),
      currencies.length > 1 && currencyForm(around)
    )
  )
}

const side = (around: Around) =>
  h(
    "nav",
    { class: "side", id: "menu", "aria-label": "Main" },
    brand(around),
    h("a", { class: "btn icon close", href: "#main", "aria-label": "Close the menu" }, icon("close")),
    around.sections.map(({ title, entries }) => [
      title !== undefined && h("h2", null, title),
      h(
        "ul",
        null,
        entries.map(({ name, path, text, glyph, badge, count = 0 }) =>
          h(
            "li",
            null,
            h(
              "a",
              { href: around.to(path), ...(name === around.nav && { "aria-current": "page" as const }) },
              icon(glyph),
              text,
              badge !== undefined && h("span", { class: "n" }, dot(badge)),
              count > 0 && h("span", { class: "n" }, count)
            )
          )
        )
      )
    ]),
    me(around)
  )

const bar = (around: Around) =>
  h(
    "header",
    { class: "bar searches" },
    brand(around),
    around.placeholder !== "" &&
      h(
        "form",
        { class: "find", role: "search", method: "post", action: around.to("search") },
        icon("search"),
        h("label", { class: "visually-hidden", for: "q" }, "Search"),
        h("input", {
          type: "search",
          id: "q",
          name: "q",
          value: around.sought,
          placeholder: around.placeholder,
          autocomplete: "off"
        }),
        h("kbd", { class: "live", "aria-hidden": true }, "/")
      ),
    around.rate !== "" && h("span", { class: "rate" }, around.rate),
    h("a", { class: "btn icon opens", href: "#menu", "aria-label": "Menu" }, icon("menu"))
  )

const head = ({ title, figure, status: badge, lead, crumbs = [], actions }: Shown, { to }: Around) =>
  h(
    "div",
    { class: "head" },
    h(
      "div",
      null,
      crumbs.length > 0 &&
        h(
          "p",
          { class: "crumb" },
          crumbs.map(([text, path]) => [h("a", { href: to(path) }, text), " / "]),
          title
        ),
      h(
        "h1",
        { class: figure === undefined ? "" : "figure", id: "title", tabIndex: -1 },
        h("span", null, figure ?? title),
        badge !== undefined && status(badge, "pill")
      ),
      lead !== undefined && h("p", null, lead)
    ),
    actions !== undefined && h("div", { class: "do" }, actions)
  )

type Bare = Pick<Around, "files" | "preferences">

/** A document whose `body` is an element. */
const document = (title: string, { files, preferences: { theme } }: Bare, body: Content): string =>
  page({
    title,
    icon: files.icon,
    theme: theme === "system" ? undefined : theme,
    head: [
      h("meta", { name: "robots", content: "noindex" }),
      h("meta", { name: "description", content: title }),
      files.styles.map((href) => h("link", { rel: "stylesheet", href })),
      h("script", { src: files.script, defer: true })
    ],
    body
  })

export const whole = (shown: Shown, around: Around): string =>
  document(
    `${shown.title} · ${around.owner}`,
    around,
    h("body", { class: "console", ...(shown.isLive === true && { "data-live": around.live }) }, [
      h("a", { class: "skip", href: "#main" }, "Skip to content"),
      h(
        "div",
        { class: "app" },
        side(around),
        h("div", { class: "banners" }, around.banners),
        bar(around),
        h(
          "main",
          { id: "main", tabIndex: -1 },
          h(
            "section",
            { class: "note bad", role: "alert", id: "ended" },
            "Your session has ended. ",
            h("a", { href: "" }, "Sign in")
          ),
          h(
            "section",
            { class: "note", role: "status", id: "away" },
            "The service does not respond. This page may be out of date, and updates once the service responds."
          ),
          head(shown, around),
          shown.body
        )
      ),
      h("p", {
        class: "visually-hidden",
        id: "said",
        role: "status",
        "data-copied": "Copied",
        "data-sending": "Sending…"
      })
    ])
  )

/** A page that needs no sign-in, such as the sign-in page or the outage page. */
export const alone = (title: string, around: Bare, ...children: ReadonlyArray<ComponentChildren>): string =>
  document(
    title,
    around,
    h("body", { class: "console" }, h("main", { id: "main", class: "alone" }, children))
  )
