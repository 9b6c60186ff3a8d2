import * as Msat from "@satrail/bitcoin/Msat"
import * as Preimage from "@satrail/bitcoin/Preimage"
import type { Payment } from "@satrail/core/nodes/LightningSender"
import { Schema } from "effect"
import { Amount } from "./CoreLightningRest.ts"

/** A part of a payment, as `listsendpays` has it. */
export const Part = Schema.Struct({
  status: Schema.Literals(["pending", "complete", "failed"]),
  amount_msat: Schema.optionalKey(Amount),
  amount_sent_msat: Amount,
  payment_preimage: Schema.optionalKey(Preimage.Preimage),
  created_at: Schema.Int,
  groupid: Schema.Int,
  partid: Schema.optionalKey(Schema.Int)
})
export type Part = typeof Part.Type
/** All parts there ever were of a payment, the oldest first. */
export const Parts = Schema.Struct({ payments: Schema.Array(Part) })

/** What the parts of a payment say of it: of those that all failed, that they did, and not why; of none, that there are none. */
export type Verdict = Extract<Payment, { readonly _tag: "pending" | "settled" }> | { readonly _tag: "failed" } | { readonly _tag: "none" }

/**
 * Only when no command can add another part does it mean anything that all have failed. While a command runs all its parts can have failed and another one
 * be tried, and it lives on in the node when its caller is dead: it is over when its end was seen (`hasEnded`), or when its last part began more than
 * `commandMillis` ago.
 */
export const verdictOf = (
  parts: ReadonlyArray<Part>,
  { hasEnded, nowMillis, commandMillis }: { readonly hasEnded: boolean; readonly nowMillis: number; readonly commandMillis: number }
): Verdict => {
  if (parts.some(({ status }) => status === "pending")) return { _tag: "pending" }
  const complete = parts.filter(({ status }) => status === "complete")
  const preimage = complete.find(({ payment_preimage }) => payment_preimage !== undefined)?.payment_preimage
  if (preimage !== undefined) {
    const fee = complete.reduce((sum, part) => sum + part.amount_sent_msat - (part.amount_msat ?? part.amount_sent_msat), 0n)
    return { _tag: "settled", preimage, fee: Msat.make(fee), index: null }
  }
  // Paid, and the proof is still to come: whatever else the node says, that is no failure.
  if (complete.length > 0) return { _tag: "pending" }
  if (hasEnded) return { _tag: "failed" }
  if (parts.length === 0) return { _tag: "none" }
  return { _tag: parts.every(({ created_at }) => nowMillis > created_at * 1000 + commandMillis) ? "failed" : "pending" }
}
