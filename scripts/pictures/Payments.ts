// Draws the life of a payment as an SVG: the statuses of an invoice, a withdrawal and an on-chain deposit.
import { frame, make, type Palette } from "./Drawing.ts"

const size = { width: 920, height: 580 }
const about =
  "An invoice is open, accepted, then settled and credited once, or expires or is canceled. A withdrawal is held, sent to the node, then settled or failed; while its outcome is unknown it stays pending. An on-chain deposit is pending until it has enough confirmations"

export const draw = (palette: Palette): string => {
  const { card, arrow, label } = make(palette)
  const content = `${label(20, 30, "A Lightning invoice")}
${card(20, 44, 190, "open", "the payer can pay it")}
${arrow("M210 70H252")}
${card(260, 44, 190, "accepted", "a payment is in flight,", "or held until you settle")}
${arrow("M450 70H492")}
${card(500, 44, 190, "settled", "the deposit is credited", "once, in one commit")}
${arrow("M690 70H732")}
${card(740, 44, 160, "invoice.settled", "webhook, feed,", "stream")}
${arrow("M115 95V142")}
${card(20, 150, 190, "expired or canceled", "nothing is credited")}
${arrow("M355 112V176H218")}
${label(364, 150, "the payer gets the money back")}
${label(20, 240, "A withdrawal")}
${card(20, 254, 190, "pending_approval", "only above a threshold;", "amount and fee are held")}
${arrow("M210 288H252")}
${card(260, 254, 190, "pending", "amount and fee are held;", "a job is stored")}
${arrow("M450 288H492")}
${card(500, 254, 190, "pending, dispatched", "the attempt is stored,", "then the node is called")}
${arrow("M690 270H732")}
${card(740, 234, 160, "settled", "proof checked,", "hold becomes a debit")}
${arrow("M690 306H712V360H732")}
${card(740, 326, 160, "failed", "the node's final result;", "hold released")}
${arrow("M560 322V352")}
${card(500, 360, 190, "outcome unknown", "the node is polled until", "it reports a final result")}
${arrow("M630 360V330")}
${arrow("M115 322V352")}
${card(20, 360, 230, "failed", "rejected, or not approved within", "a day; hold released")}
${label(20, 460, "An on-chain deposit")}
${card(20, 474, 190, "pending", "in a block, with too few", "confirmations")}
${arrow("M210 508H252")}
${card(260, 474, 190, "settled", "credited at the depth", "its amount requires")}
${arrow("M450 492H492")}
${card(500, 474, 190, "pending again", "its block was removed;", "the credit is reversed")}
${arrow("M500 524H458")}
${label(475, 562, "confirms again", "middle")}
${arrow("M690 508H732")}
${card(740, 474, 160, "failed", "its coins were spent", "elsewhere")}`
  return frame(palette, size, about, content)
}
