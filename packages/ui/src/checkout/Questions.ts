import { h } from "preact"
import { bdi, failure, search, sentence, type Shown } from "./Parts.ts"
import { percent, priced, tip, tipped } from "./Words.ts"

// The seller's questions before the payment: a tip, and an email address for the receipt.

const tips = ({ page, say }: Shown) => {
  const { locale, price } = page
  const choice = (value: number) =>
    h(
      "label",
      { class: "choice" },
      h("input", {
        class: "visually-hidden",
        type: "radio",
        name: "tip",
        id: `tip-${value}`,
        value: String(value),
        checked: value === page.tipPercent
      }),
      value === 0
        ? say.noTip
        : [bdi(percent(value, locale)), h("small", null, bdi(priced(tip(price, value), locale)[0] ?? ""))]
    )
  return [
    h(
      "fieldset",
      { class: "field" },
      h("legend", { class: "visually-hidden" }, say.tip),
      h("div", { class: "choices" }, page.tips.map(choice))
    ),
    h(
      "p",
      { class: "total" },
      h("span", null, say.total),
      page.tips.map((value) =>
        h("output", { class: `tip-${value}` }, bdi(priced(tipped(price, value), locale)[0] ?? ""))
      )
    )
  ]
}

const email = ({ page, say }: Shown) =>
  h(
    "div",
    { class: "field" },
    h("label", { for: "email" }, say.email, " ", h("span", { class: "optional" }, say.optional)),
    h("input", {
      class: "input",
      id: "email",
      name: "email",
      type: "email",
      // A browser also accepts ann@example, which the service does not.
      pattern: ".+@.+\\..+",
      title: "name@example.com",
      maxLength: 254,
      autoComplete: "email",
      "aria-describedby": "email-note"
    }),
    h("p", { class: "hint", id: "email-note" }, sentence(say.emailNote, bdi(page.seller)))
  )

/** Whether the page asks now. The payer can come back to the questions until something was paid. */
export const isAsking = ({ state, visit }: Shown): boolean =>
  state.questions === "due" || (state.questions === "answered" && visit.isAsked)

export const questions = (shown: Shown) => {
  const { page, say, visit } = shown
  const asksTip = page.tips.length > 0
  return h(
    "section",
    { class: "way", "aria-label": asksTip ? say.tip : say.receipt },
    h(
      "form",
      { class: "form", method: "post", action: `${page.answerUrl}${search(visit, { isAsked: false })}` },
      h("h1", { class: "headline" }, asksTip ? say.tipAsk : say.receiptAsk),
      failure(shown),
      asksTip && tips(shown),
      page.asksEmail && email(shown),
      h("button", { class: "button primary" }, say.goOn)
    )
  )
}
