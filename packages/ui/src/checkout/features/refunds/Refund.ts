import { h } from "preact"
import { bdi, code, link, sentence, type Shown, time } from "../../Parts.ts"
import { Qr } from "../../Qr.ts"
import type { Refund } from "../../State.ts"
import { sats } from "../../Words.ts"

/** A refund, and the code to claim it. */
export const refund = ({ page, say }: Shown, { sats: amount, status, lnurl, expiresAtMillis }: Refund) => {
  const text = bdi(sats(amount, page.locale))
  if (status === "pending") return h("p", { class: "notice" }, sentence(say.refundPending, text))
  if (status === "completed") return h("p", { class: "notice" }, sentence(say.refundDone, text))
  if (lnurl === null) return h("p", { class: "notice" }, sentence(say.refundAsk, text))
  const url = `lightning:${lnurl}`
  return h(
    "section",
    { class: "note refund", "aria-label": say.refundLink },
    h("h2", null, sentence(say.refundOpen, text)),
    h("div", { class: "tile" }, h(Qr, { text: url, label: say.refundCode })),
    link(url, say.refundTake, "button primary"),
    code(lnurl, say.copyLink),
    h(
      "p",
      null,
      say.refundSecret,
      expiresAtMillis !== null && [" ", sentence(say.refundUntil, time(expiresAtMillis, "long", page.locale))]
    )
  )
}
