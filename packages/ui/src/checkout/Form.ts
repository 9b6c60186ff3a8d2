import { Fragment, h } from "preact"
import { bdi, search, seller } from "./Parts.ts"
import type { Form, Visit } from "./State.ts"
import { amountText, fiat, filled, sats, smallest, type Words } from "./Words.ts"

const units = ({ fiat: offered, unit }: Form, say: Words) => {
  if (offered === null)
    return h("span", { class: "unit" }, "sats", h("input", { type: "hidden", name: "unit", value: "sats" }))
  const choice = (value: "fiat" | "sats", text: string) =>
    h(
      "label",
      null,
      h("input", { class: "visually-hidden", type: "radio", name: "unit", value, checked: unit === value }),
      text
    )
  return h(
    "fieldset",
    { class: "segment" },
    h("legend", { class: "visually-hidden" }, say.unit),
    choice("fiat", offered.currency.toUpperCase()),
    choice("sats", "sats"),
    h("input", { type: "hidden", name: "currency", value: offered.currency })
  )
}

/** Why the amount was refused, in the unit in which it was entered; null if the range says it. */
const reason = ({ wrong, unit, fiat: offered, locale }: Form, say: Words): string | null => {
  const isFiat = unit === "fiat" && offered !== null
  if (wrong === "number")
    return filled(say.wrongNumber, isFiat ? amountText("1234.5", offered.currency, locale) : "1234")
  if (wrong === "decimals")
    return filled(
      say.wrongDecimals,
      isFiat ? fiat(smallest(offered.currency), offered.currency, locale) : sats(1, locale)
    )
  return null
}

const limits = (asked: Form, say: Words) => {
  const { fiat: offered, minSats, maxSats, locale, wrong } = asked
  const words = wrong === "range" ? say.wrong : say.range
  const inSats = filled(words, sats(minSats, locale), sats(maxSats, locale))
  const inFiat =
    offered &&
    filled(words, fiat(offered.min, offered.currency, locale), fiat(offered.max, offered.currency, locale))
  const why = reason(asked, say)
  return h(
    "p",
    { class: wrong === null ? "hint" : "hint wrong", id: "range" },
    why !== null && [why, " "],
    inFiat !== null && h("span", { class: "in-fiat" }, inFiat, " ", say.satsLater),
    h("span", { class: "in-sats" }, inSats)
  )
}

export const form = (asked: Form, say: Words, visit: Visit) => {
  const { to, amount, message, messageCharacters, wrong, action } = asked
  const input = {
    class: "input big",
    id: "amount",
    name: "amount",
    value: amount,
    inputMode: "decimal",
    autoComplete: "off",
    required: true,
    "aria-describedby": "range",
    ...(wrong !== null && { "aria-invalid": true })
  } as const
  const messageField = h(
    "div",
    { class: "field" },
    h("label", { for: "message" }, say.message, " ", h("span", { class: "optional" }, say.optional)),
    h("input", {
      class: "input",
      id: "message",
      name: "message",
      value: message,
      maxLength: messageCharacters,
      autoComplete: "off"
    })
  )
  return h(
    Fragment,
    null,
    h(
      "section",
      { class: "bill person", "aria-label": say.recipient },
      seller(to.split("@")[0] ?? to),
      h("p", { class: "handle" }, bdi(to))
    ),
    h(
      "section",
      { class: "way", "aria-label": say.payment },
      h(
        "form",
        { class: "form", method: "post", action: `${action}${search(visit, {})}` },
        h("h1", { class: "headline" }, say.choose),
        h(
          "div",
          { class: "field" },
          h("label", { class: "visually-hidden", for: "amount" }, say.amount),
          h("div", { class: "sum" }, h("input", input), units(asked, say)),
          limits(asked, say)
        ),
        messageCharacters > 0 && messageField,
        h("button", { class: "button primary" }, say.goOn)
      )
    )
  )
}
