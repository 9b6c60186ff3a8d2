import { Context } from "effect"
import type { Slots } from "@satrail/core/ledger/TurnQueue"

interface Limits {
  readonly requestBytes: number
  /** Maximum number of relays that a receipt is sent to. */
  readonly relays: number
  /** Time after a zap for which its receipt is offered to relays that have not accepted it yet. */
  readonly publishForMillis: number
  /**
   * Maximum number of receipts that each process sends at a time. A lane is a Lightning address. Payers choose the
   * relays, so slow relays must not delay receipts of other addresses.
   */
  readonly slots: Slots
}

export const defaults: Limits = {
  requestBytes: 8192,
  relays: 10,
  publishForMillis: 3600 * 1000,
  slots: { atOnce: 64, perCompany: 32, perLane: 4 }
}

/** Limits of zaps. */
export class ZapOptions extends Context.Reference<Limits>("@satrail/features/zaps/core/ZapOptions", {
  defaultValue: () => defaults
}) {}
