import { h } from "preact"
import { Refused } from "@satrail/ui/console/Api"
import * as Formats from "@satrail/ui/console/Format"
import { numberIn, text, type Visit } from "@satrail/ui/console/Page"
import { checks, choice, entry, type Fact, factPanel, type Input } from "@satrail/ui/console/Parts"
import type { Checkout, CreateCheckout } from "@satrail/ui/console/wire"

const languages = [
  ["auto", "The customer’s language"],
  ["en", "English"],
  ["de", "Deutsch"],
  ["es", "Español"],
  ["fr", "Français"],
  ["pt", "Português"],
  ["ar", "العربية"]
] as const

const choices = [
  ["new_quote", "New quote", "The customer can get a new price after the checkout has expired"],
  ["tip", "Tip", "The customer can add one"],
  ["email", "Email address", "The customer can leave one for a receipt, which you send"]
] as const

const texts = [
  {
    label: "Contact",
    name: "contact",
    hint: "Your email address or https URL, shown if the customer may need help"
  },
  { label: "URL after payment", name: "return_url", hint: "The page links to it once the checkout is paid" },
  { label: "URL if canceled", name: "cancel_url", hint: "The page links to it while the checkout is open" },
  {
    label: "Embedding site",
    name: "embed_origin",
    hint: "The only site that can show the checkout in a frame, such as https://shop.example"
  },
  { label: "Button color", name: "color", hint: "As #rrggbb, such as #1d4ed8" }
] as const satisfies ReadonlyArray<Input>

const minuteSeconds = 60

const numbers = [
  { label: "Time to pay, minutes", name: "expiry_minutes", hint: "1 to 10,080 (7 days). Default: 60" },
  { label: "Accepted underpayment, %", name: "tolerance_percent", hint: "0 to 50. Default: 0" }
] as const satisfies ReadonlyArray<Input>

/** The fields that few checkouts need. They are open if any of them is filled in, so that an error is next to its field. */
export const optionFields = (visit: Visit) => {
  const { form: given } = visit
  const named = (one: Input) => entry(visit, { ...one, optional: true })
  const locale = given.get("locale") ?? "auto"
  const isOpen =
    given.has("options") ||
    locale !== "auto" ||
    [...numbers, ...texts].some(({ name }) => (given.get(name) ?? "") !== "")
  return h(
    "details",
    { class: "more", open: isOpen },
    h("summary", null, "More options"),
    h(
      "div",
      { class: "fields" },
      checks("Let the customer choose", "checkbox", "options", choices, given.getAll("options")),
      numbers.map((one) => named({ ...one, inputMode: "numeric" })),
      choice("Language of the page", "locale", languages, locale),
      texts.map(named)
    )
  )
}

/** Returns the options of a form, without empty fields. */
export const optionsOf = (visit: Visit): Omit<CreateCheckout, "amount"> => {
  const [minutes, tolerance] = numbers.map(({ label, name }) => {
    const problem = `${label} must be a whole number`
    const given = numberIn(visit, name, problem)
    if (given !== undefined && !Number.isInteger(given))
      throw new Refused(400, "malformed", `${problem} (got ${text(visit, name)})`)
    return given
  })
  const chosen = choices.flatMap(([name]) => (visit.form.getAll("options").includes(name) ? [name] : []))
  const locale = languages.find(([name]) => name === text(visit, "locale"))
  return {
    ...Object.fromEntries(
      texts.flatMap(({ name }) => (text(visit, name) === "" ? [] : [[name, text(visit, name)]]))
    ),
    ...(minutes !== undefined && { expiry_seconds: minutes * minuteSeconds }),
    ...(tolerance !== undefined && { tolerance_percent: tolerance }),
    ...(chosen.length > 0 && { options: chosen }),
    ...(locale !== undefined && { locale: locale[0] })
  }
}

export const optionsPanel = ({
  options,
  locale,
  tolerance_percent,
  tip_sats,
  payer_email,
  ...checkout
}: Checkout) =>
  factPanel("Options", [
    [
      "Customer can",
      options.length === 0
        ? "only pay"
        : choices.flatMap(([name, title]) => (options.includes(name) ? [title] : [])).join(", ")
    ],
    tip_sats === null ? null : ["Tip", Formats.inSats(tip_sats)],
    payer_email === null ? null : ["Email address", payer_email],
    tolerance_percent === 0 ? null : ["Accepted underpayment", `${tolerance_percent}%`],
    ["Language", languages.find(([name]) => name === locale)?.[1] ?? locale],
    ...texts.map(({ label, name }): Fact | null => (checkout[name] === null ? null : [label, checkout[name]]))
  ])
