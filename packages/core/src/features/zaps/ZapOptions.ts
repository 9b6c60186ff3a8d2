import { Context } from "effect"

interface Limits {
  readonly requestBytes: number
  /** Maximum number of relays that a receipt is sent to. */
  readonly relays: number
  /** Time after a zap for which its receipt is offered to relays that have not accepted it yet. */
  readonly publishForMillis: number
}

export const defaults: Limits = {
  requestBytes: 8192,
  relays: 10,
  publishForMillis: 3600 * 1000
}

/** Limits of zaps. */
export class ZapOptions extends Context.Reference<Limits>("@satrail/core/features/zaps/ZapOptions", { defaultValue: () => defaults }) {}
