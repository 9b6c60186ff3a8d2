// Components of both consoles. They are plain functions that return elements, so a page is the same on the server and in a script.
//   Table.ts: tables whose rows become cards on a phone.    Chart.ts: lines and bars, with tooltips and a table.
//   Frame.ts: navigation, search, breadcrumb, title with status, actions; `sides` puts facts to the right.
//   Here: panel, status, amount, date, banner, note, confirm, timeline, facts, chips, empty states, fields.
// Styles: browser/console/console.css, one class per component. Every row is a link. A status has a shape, a color and a word.
import { type ComponentChild, type ComponentChildren, h } from "preact"
import type { Format } from "./Format.ts"
import * as Formats from "./Format.ts"

const icons = {
  home: "M2.5 7 8 2.5 13.5 7v6.5h-4V10h-3v3.5h-4z",
  payments: "M5 13V3m0 0L2.5 5.5M5 3l2.5 2.5M11 3v10m0 0 2.5-2.5M11 13l-2.5-2.5",
  checkouts: "M2.5 2.5H7V7H2.5zM9 2.5h4.5V7H9zM2.5 9H7v4.5H2.5zM9 9h2v2m2.5-2v4.5H9",
  send: "M2 8 14 2.5 10.5 14 7.5 9.5zM7.5 9.5 14 2.5",
  refund: "M5.5 2.5 2 6l3.5 3.5M2 6h7.5a4 4 0 0 1 0 8H5",
  receive: "M8 2v9M4.5 7.5 8 11l3.5-3.5M2.5 13.5h11",
  book: "M4 1.5h5.5l3 3v10H4zM6 7.5h4.5M6 10h4.5M6 12h2.5",
  key: "M8 11a3 3 0 1 1-6 0a3 3 0 0 1 6 0zM7.2 8.8l6.3-6.3M10.5 5.5l2 2",
  hook: "M8 2v5a3.5 3.5 0 1 1-5 3M8 2 5.5 4.5M8 2l2.5 2.5",
  at: "M10.5 8a2.5 2.5 0 1 1-5 0a2.5 2.5 0 0 1 5 0zM10.5 5.5V9c0 2 3 2 3-1a5.5 5.5 0 1 0-2.2 4.4",
  ticket: "M2 4.5h12v2.2a1.4 1.4 0 0 0 0 2.6v2.2H2V9.3a1.4 1.4 0 0 0 0-2.6zM9.5 4.5v7",
  list: "M5.5 4h8M5.5 8h8M5.5 12h8M2.5 4h.5M2.5 8h.5M2.5 12h.5",
  people:
    "M8.5 5.5a2.5 2.5 0 1 1-5 0a2.5 2.5 0 0 1 5 0zM1.5 13.5c0-5 9-5 9 0M10.5 3.2a2.5 2.5 0 0 1 0 4.6M12 9.8c1.6.5 2.5 1.7 2.5 3.7",
  gauge: "M2 12a6 6 0 1 1 12 0M8 12l3-4.5",
  clock: "M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0zM8 4.5V8l2.5 1.5",
  gear: "M10 8a2 2 0 1 1-4 0a2 2 0 0 1 4 0zM8 1.8v2M8 12.2v2M1.8 8h2M12.2 8h2M3.6 3.6 5 5M11 11l1.4 1.4M12.4 3.6 11 5M5 11l-1.4 1.4",
  search: "M11.5 7a4.5 4.5 0 1 1-9 0a4.5 4.5 0 0 1 9 0zM10.5 10.5 14 14",
  menu: "M2 4.5h12M2 8h12M2 11.5h12",
  close: "m4 4 8 8M12 4l-8 8",
  plus: "M8 3v10M3 8h10",
  download: "M8 2v8.5M4.5 7 8 10.5 11.5 7M2.5 13.5h11",
  copy: "M7 5.5h5A1.5 1.5 0 0 1 13.5 7v5a1.5 1.5 0 0 1-1.5 1.5H7A1.5 1.5 0 0 1 5.5 12V7A1.5 1.5 0 0 1 7 5.5zM10.5 3.5v-1h-8v8h1",
  warn: "M8 2.2 14.5 13.5h-13zM8 6.5v3.5M8 11.5v.6",
  bad: "M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0zM8 4.5V9M8 11v.6",
  tick: "m3 8.5 3.2 3.2L13 5",
  pulse: "M1.5 8.5h3l2-5.5 3 10 2-4.5h3",
  hourglass: "M4 2h8M4 14h8M5 2c0 4 6 4 6 12M11 2c0 4-6 4-6 12",
  companies: "M2.5 13.5v-11h7v11M9.5 6.5h4v7M1.5 13.5h13M5 5.5h2M5 8.5h2",
  nodes:
    "M5.5 8a2 2 0 1 1-4 0a2 2 0 0 1 4 0zM14.5 3.5a2 2 0 1 1-4 0a2 2 0 0 1 4 0zM14.5 12.5a2 2 0 1 1-4 0a2 2 0 0 1 4 0zM5.3 7.1l5.4-2.7M5.3 8.9l5.4 2.7",
  scales: "M8 2v12M4.5 14h7M2.5 4.5h11M4 4.5 2 9.5h4zM12 4.5l-2 5h4z",
  tray: "M2 9.5 4 3h8l2 6.5V13H2zM2 9.5h3.5l1 1.5h3l1-1.5H14",
  pause: "M5.5 3v10M10.5 3v10",
  frozen: "M8 1.5v13M2.4 4.8l11.2 6.4M13.6 4.8 2.4 11.2",
  lock: "M4 7h8v6.5H4zM5.5 7V5a2.5 2.5 0 0 1 5 0v2"
} as const
export type Icon = keyof typeof icons

export const icon = (name: Icon, size = 16) =>
  h(
    "svg",
    { class: "glyph", width: size, height: size, viewBox: "0 0 16 16", "aria-hidden": true },
    h("path", { d: icons[name] })
  )

/** `good`: done; `wait`: in progress; `warn`: needs attention; `bad`: failed; `idle`: no longer active; `frozen`; `paused`. */
export type Tone = "good" | "wait" | "warn" | "bad" | "idle" | "frozen" | "paused"

export interface Badge {
  readonly tone: Tone
  readonly text: string
}

export const status = ({ tone, text }: Badge, kind: "" | "pill" = "") =>
  h("span", { class: `st ${tone} ${kind}`.trim() }, text)
/** Shows only the shape; the word is for screen readers. */
export const dot = ({ tone, text }: Badge) =>
  h("span", { class: `st ${tone} bare` }, h("span", { class: "visually-hidden" }, text))

export const soft = (...children: ReadonlyArray<ComponentChildren>) => h("span", { class: "soft" }, children)
export const sub = (...children: ReadonlyArray<ComponentChildren>) => h("span", { class: "sub" }, children)
export const hidden = (text: string) => h("span", { class: "visually-hidden" }, text)

export const when = (millis: number, text: string) =>
  h("time", { dateTime: new Date(millis).toISOString() }, text)
/** Today, 10:40; otherwise Nov 23, 18:20. */
export const date = (say: Format, at: string | null, none = "never") =>
  at === null ? h("span", { class: "soft" }, none) : when(Date.parse(at), say.when(Date.parse(at)))

export const link = (href: string, ...children: ReadonlyArray<ComponentChildren>) =>
  h("a", { href }, children)
export const button = (href: string, children: ComponentChildren, kind = "", glyph?: Icon) =>
  h("a", { class: `btn ${kind}`.trim(), href }, glyph !== undefined && icon(glyph), children)

interface PanelOptions {
  readonly id?: string
  /** Beside the heading. */
  readonly beside?: ComponentChildren
  readonly isRuled?: boolean
  readonly footer?: ComponentChildren
}

/** A panel with a heading. `isRuled` draws a line under it, before a table. */
export const panel = (
  title: string,
  { id, beside, isRuled = false, footer }: PanelOptions,
  ...children: ReadonlyArray<ComponentChildren>
) =>
  h(
    "section",
    { class: "panel", "aria-label": title, id },
    h("header", { class: isRuled ? "ruled" : "" }, h("h2", null, title), beside),
    children,
    footer !== undefined && footer !== false && h("footer", null, footer)
  )

/** A panel without a visible heading. */
export const plain = (label: string, children: ComponentChildren, footer?: ComponentChildren) =>
  h(
    "section",
    { class: "panel", "aria-label": label },
    children,
    footer !== undefined && footer !== false && h("footer", null, footer)
  )

export const body = (...children: ReadonlyArray<ComponentChildren>) => h("div", { class: "body" }, children)
/** The fields of a form, one below the other. */
export const fields = (...children: ReadonlyArray<ComponentChildren>) =>
  body(h("div", { class: "fields" }, children))
export const stack = (...children: ReadonlyArray<ComponentChildren>) => h("div", { class: "stack" }, children)
/** Two columns of the same width. */
export const two = (...children: ReadonlyArray<ComponentChildren>) => h("div", { class: "two" }, children)
/** The main column, with facts to the right. */
export const sides = (main: ComponentChildren, facts: ComponentChildren) =>
  h("div", { class: "wide-left" }, main, facts)

export type Fact = readonly [name: string, value: ComponentChildren]
/** Names and values. A null fact is omitted. `sums` aligns numbers to the right. */
export const facts = (of: ReadonlyArray<Fact | null>, kind: "" | "sums" = "") =>
  h(
    "dl",
    { class: `facts ${kind}`.trim() },
    of.map(
      (fact) => fact !== null && h("div", { key: fact[0] }, h("dt", null, fact[0]), h("dd", null, fact[1]))
    )
  )

/** A panel of names and values. */
export const factPanel = (title: string, of: ReadonlyArray<Fact | null>, kind?: "sums") =>
  panel(title, {}, body(facts(of, kind)))

/** A button that copies a string. It requires the script. */
export const copy = (text: string, label: string) =>
  h(
    "button",
    { class: "copy live", type: "button", "data-copy": text, "aria-label": `Copy the ${label}` },
    icon("copy", 14)
  )
/** A string that is shown shortened but copied in full. An address such as ann@example.com is not shortened. */
export const copied = (text: string, label: string) => [
  h("code", { title: text }, text.includes("@") ? text : Formats.shortened(text)),
  " ",
  copy(text, label)
]

/** The fact that a record has this id, hash or address; null if it has none. */
export const copiedFact = (name: string, value: string | null | undefined): Fact | null =>
  value === null || value === undefined || value === "" ? null : [name, copied(value, name.toLowerCase())]

/** Figures side by side. `sums` are below each other on a phone. */
export const cover = (
  label: string,
  of: ReadonlyArray<readonly [name: string, figure: ComponentChildren, more?: ComponentChildren]>,
  kind: "" | "sums" = ""
) =>
  plain(
    label,
    h(
      "dl",
      { class: `cover ${kind}`.trim() },
      of.map(([name, figure, more]) =>
        h(
          "div",
          { key: name },
          h("dt", null, name),
          h("dd", null, figure, more !== undefined && h("small", null, more))
        )
      )
    )
  )

/** Steps to take, in order, or `plain` statements without numbers. */
export const todo = (of: ReadonlyArray<ComponentChildren>, kind: "" | "plain" = "") =>
  h(
    "ul",
    { class: `todo ${kind}`.trim() },
    of.map((one) => h("li", null, h("span", null, one)))
  )

/** A message about this page. `info` is neutral, `bad` an error. */
export const note = (tone: "" | "bad" | "info", strong: string, ...more: ReadonlyArray<ComponentChildren>) =>
  h(
    "section",
    { class: `note ${tone}`.trim(), role: tone === "bad" ? "alert" : "status" },
    h("strong", null, strong),
    more
  )

/** A message shown on every page, with an action. */
export const banner = (strong: string, words: ComponentChildren, action: ComponentChild = null) =>
  h("div", { class: "banner", role: "status" }, h("p", null, h("strong", null, strong), " ", words), action)

/** An empty state: what is missing, why, and one action. */
export const empty = (
  glyph: Icon | "good",
  title: string,
  text: ComponentChildren,
  ...actions: ReadonlyArray<ComponentChildren>
) =>
  h(
    "div",
    { class: "empty" },
    glyph === "good"
      ? h("span", { class: "sign good" }, icon("tick"))
      : h("span", { class: "sign" }, icon(glyph)),
    h("h2", null, title),
    h("p", null, text),
    actions.length > 0 && h("div", { class: "do" }, actions)
  )

export interface Moment {
  readonly tone?: "good" | "wait" | "bad"
  readonly text: ComponentChildren
  readonly atMillis?: number | null
  readonly more?: ComponentChildren
}

/** Oldest first. */
export const timeline = (say: Format, of: ReadonlyArray<Moment>) =>
  h(
    "ol",
    { class: "timeline" },
    of.map(({ tone, text, atMillis, more }) =>
      h(
        "li",
        { class: tone ?? "" },
        h("span", null, text),
        typeof atMillis === "number"
          ? when(atMillis, say.dayKey(atMillis) === say.today ? say.seconds(atMillis) : say.when(atMillis))
          : h("span", null),
        more !== undefined && sub(more)
      )
    )
  )

export interface Chip {
  readonly text: string
  /** A link to the page without this filter, or with it. */
  readonly href: string
  readonly isOn: boolean
}

/** Filters: one per URL parameter. */
export const chips = (of: ReadonlyArray<Chip>) =>
  h(
    "div",
    { class: "chips run", role: "group", "aria-label": "Filters", tabIndex: 0 },
    of.map(({ text, href, isOn }) =>
      isOn
        ? h(
            "a",
            { class: "chip on", href, "aria-label": `Remove the filter ${text}` },
            text,
            " ",
            icon("close", 12)
          )
        : h("a", { class: "chip add", href }, icon("plus", 12), text)
    )
  )

/** Alternatives, one of which is selected. */
export const segments = (label: string, of: ReadonlyArray<Chip>) =>
  h(
    "nav",
    { class: "segments", "aria-label": label },
    of.map(({ text, href, isOn }) => h("a", { href, ...(isOn && { "aria-current": "true" as const }) }, text))
  )

export interface Concern {
  readonly tone: "bad" | "warn"
  readonly title: string
  readonly text: string
  readonly href: string
  readonly action: string
}

/** Problems, shown before everything else. */
export const attention = (of: ReadonlyArray<Concern>) =>
  h(
    "section",
    { class: "panel", "aria-labelledby": "attention" },
    h(
      "header",
      { class: "ruled" },
      h("h2", { id: "attention" }, "Needs attention ", h("span", { class: "faint" }, of.length))
    ),
    h(
      "ul",
      { class: "attention" },
      of.map(({ tone, title, text, href, action }) =>
        h(
          "li",
          null,
          h("span", { class: `sign ${tone === "bad" ? "bad" : ""}`.trim() }, icon(tone)),
          h("p", null, h("span", { class: "strong" }, title), sub(text)),
          h("a", { class: "btn", href }, action, hidden(`: ${title}`))
        )
      )
    )
  )

/** A bar that shows how much of a limit is used. From 80 %, it is a warning. */
export const meter = (
  say: Format,
  name: string,
  { left, of, isSats = true }: { left: number; of: number; isSats?: boolean }
) => {
  const used = of <= 0 ? 100 : Math.min(100, Math.max(0, ((of - left) / of) * 100))
  const text = `${Math.round(used)}% of ${Formats.sats(of)} used`
  return h(
    "div",
    { class: "limit" },
    h("span", null, name),
    h("span", { class: "num" }, h("b", { class: "strong" }, Formats.sats(left)), " left"),
    h(
      "svg",
      {
        class: "meter",
        viewBox: "0 0 100 8",
        preserveAspectRatio: "none",
        role: "img",
        "aria-label": `${Math.round(used)}% used`
      },
      h("rect", { class: used >= 80 ? "m-warn" : "m-1", x: 0, width: used, height: 8 })
    ),
    h("span", { class: "faint" }, used >= 80 ? status({ tone: "warn", text }) : text),
    h("span", { class: "num faint" }, isSats ? say.fiat(left) : "")
  )
}

export interface Input {
  readonly label: string
  readonly name: string
  /** Distinguishes fields of the same name on one page. */
  readonly id?: string
  readonly hint?: string
  readonly optional?: boolean
  readonly type?: string
  readonly value?: string | undefined
  readonly inputMode?: "numeric" | "decimal"
  readonly pattern?: string
  readonly maxLength?: number
  readonly required?: boolean
  readonly autocomplete?: string
}

export const field = ({
  label,
  name,
  id = name,
  hint,
  optional = false,
  value,
  type = "text",
  autocomplete = "off",
  ...input
}: Input) =>
  h(
    "div",
    null,
    h("label", { for: id }, label, optional && soft(" optional")),
    h("input", {
      ...input,
      id,
      name,
      type,
      value: value ?? "",
      autocomplete,
      spellcheck: false,
      ...(hint !== undefined && { "aria-describedby": `${id}-hint` })
    }),
    hint !== undefined && h("p", { class: "hint", id: `${id}-hint` }, hint)
  )

/** A field that keeps what the person entered, in a form that was rejected. */
export const entry = ({ form }: { readonly form: URLSearchParams }, { value, ...input }: Input) =>
  field({ ...input, value: form.get(input.name) ?? value })

export type Option = readonly [value: string, label: string, hint?: string]

/** An option that can't be chosen, and why. */
export interface Closed {
  readonly option: Option
  readonly why: string
}

export const choice = (label: string, name: string, options: ReadonlyArray<Option>, value: string) =>
  h(
    "div",
    null,
    h("label", { for: name }, label),
    h(
      "select",
      { id: name, name },
      options.map(([one, text]) => h("option", { value: one, selected: one === value }, text))
    )
  )

/** Radio buttons or check boxes, each with a sentence. */
export const checks = (
  label: string,
  type: "radio" | "checkbox",
  name: string,
  options: ReadonlyArray<Option>,
  chosen: ReadonlyArray<string>,
  closed: ReadonlyArray<Closed> = []
) =>
  h(
    "fieldset",
    null,
    h("legend", { class: "label" }, label),
    options.map(([value, text, hint]) =>
      h(
        "label",
        { class: "check" },
        h("input", { type, name, value, checked: chosen.includes(value) }),
        h("span", null, h("b", null, text), hint !== undefined && soft(hint))
      )
    ),
    closed.map(({ option: [value, text], why }) =>
      h(
        "label",
        { class: "check" },
        h("input", { type, name, value, disabled: true }),
        h("span", null, h("b", null, text), soft(why))
      )
    )
  )

/** A form that posts to a page of the console. `once` makes its request safe to repeat. */
export const form = (
  action: string,
  props: { readonly once?: string; readonly class?: string },
  ...children: ReadonlyArray<ComponentChildren>
) =>
  h(
    "form",
    { method: "post", action, class: props.class },
    props.once !== undefined && h("input", { type: "hidden", name: "once", value: props.once }),
    children
  )

/** A form in one panel: its fields, and the button that sends it. */
export const formPanel = (
  { action, label, ...once }: { readonly action: string; readonly label: string; readonly once?: string },
  children: ComponentChildren
) => form(action, { ...once, class: "form-side" }, plain(label, children))

/** A button that posts to a page of the console, without other fields. */
export const act = (action: string, text: string, kind = "", values: Readonly<Record<string, string>> = {}) =>
  h(
    "form",
    { method: "post", action, class: "inline" },
    Object.entries(values).map(([name, value]) => h("input", { type: "hidden", name, value })),
    h("button", { class: `btn ${kind}`.trim() }, text)
  )

/**
 * Repeats a request that failed because of an outage. A form keeps its fields and its idempotency key, so that
 * nothing is lost and nothing is done twice. An API key must be entered again.
 */
export const again = (given: URLSearchParams | undefined) =>
  given === undefined
    ? button("", "Try again", "main")
    : h(
        "form",
        { method: "post" },
        [...given].map(
          ([name, value]) => name !== "credential" && h("input", { type: "hidden", name, value })
        ),
        h("button", { class: "btn main" }, "Try again")
      )

/** Whether the person confirmed their identity; `passkey` if they still have to, with a passkey. */
export type Confirmed = boolean | "passkey"

/** The button below a form's fields. */
export const submit = (text: string) =>
  h("div", { class: "confirm" }, h("button", { class: "btn main lg" }, text))

/**
 * The confirmation below a summary, in the same panel. The button names the action and the amount. With a passkey, the script
 * prompts for it before it sends the form.
 */
export const confirm = (
  text: string,
  {
    isConfirmed,
    why,
    kind = "main",
    label = "Your API key",
    id = "credential"
  }: { isConfirmed: Confirmed; why?: string; kind?: string; label?: string; id?: string }
) =>
  h(
    "div",
    { class: "confirm" },
    isConfirmed !== true && h("h2", null, icon("lock"), "Confirm it’s you"),
    why !== undefined && h("p", { class: "soft" }, why),
    !isConfirmed &&
      field({
        label,
        name: "credential",
        id,
        type: "password",
        required: true,
        autocomplete: "current-password",
        hint: "Valid for 5 minutes"
      }),
    isConfirmed === "passkey" &&
      h("p", { class: "hint" }, "Your device will ask for your passkey. Valid for 5 minutes"),
    h(
      "button",
      { class: `btn ${kind} lg`, ...(isConfirmed === "passkey" && { "data-passkey": "step-up" }) },
      text
    )
  )
