import type { AddressType } from "@satrail/bitcoin/BitcoinAddress"
import type { Plan } from "@satrail/core/accounts/Plan"
import type { plots } from "../features/plots.ts"
import type { Asked, Kept, To } from "./Chance.ts"

export { maxSlots, type To } from "./Chance.ts"
import type { Port, Trap } from "../world/Fault.ts"

/** Actions of an operator that pause and resume service. */
export const stopping = [
  "pause sending",
  "pause receiving",
  "freeze",
  "resume sending",
  "resume receiving",
  "unfreeze"
] as const
export type Stopping = (typeof stopping)[number]

/** The operations that a plot's draws return. */
type Drawn<P> = P extends { readonly draws: infer D }
  ? { readonly [tag in keyof D]: D[tag] extends (random: never) => infer A ? A : never }[keyof D]
  : never

export type Act =
  | Drawn<(typeof plots)[number]>
  | { readonly _tag: "OpenCompany"; readonly slot: number; readonly plan: Plan }
  /** If `sats` is null, the payer chooses the amount. */
  | ({ readonly _tag: "CreateInvoice"; readonly sats: number | null; readonly expirySeconds: number } & Kept)
  /** The invoice's company cancels it, paid or not. */
  | { readonly _tag: "CancelInvoice"; readonly slot: number; readonly which: number }
  | ({ readonly _tag: "CreateAddress" } & Kept)
  | ({ readonly _tag: "CreateChainAddress"; readonly type: AddressType } & Kept)
  | ({ readonly _tag: "Withdraw"; readonly to: To; readonly sats: number } & Kept)
  /** Repeats an earlier request. With `isOther`, its key is sent with another body. */
  | { readonly _tag: "Repeat"; readonly slot: number; readonly which: number; readonly isOther: boolean }
  | ({ readonly _tag: "Malformed"; readonly which: number } & Asked)
  | ({ readonly _tag: "Look"; readonly which: number } & Asked)
  | {
      readonly _tag: "Pay"
      readonly which: number
      readonly how: "exact" | "more" | "double"
      readonly isHeld: boolean
    }
  | { readonly _tag: "PayAddress"; readonly slot: number; readonly which: number; readonly sats: number }
  | { readonly _tag: "Release"; readonly which: number; readonly outcome: "settle" | "fail" }
  | {
      readonly _tag: "Send"
      readonly outputs: ReadonlyArray<{ readonly which: number; readonly sats: number }>
    }
  | { readonly _tag: "Mine"; readonly blocks: number }
  | { readonly _tag: "Reorg"; readonly depth: number }
  | { readonly _tag: "DoubleSpend"; readonly which: number }
  | { readonly _tag: "FeeRate"; readonly satsPerVbyte: number }
  | { readonly _tag: "Wait"; readonly millis: number }
  | { readonly _tag: "Jump"; readonly millis: number }
  | { readonly _tag: "Kill"; readonly slot: number; readonly backAfterMillis: number }
  | { readonly _tag: "Freeze"; readonly slot: number; readonly millis: number }
  | { readonly _tag: "Skew"; readonly slot: number; readonly millis: number }
  | { readonly _tag: "TakeAway"; readonly port: Port; readonly millis: number }
  /** For this long, the chain reports blocks but cannot report which block a transaction is in. */
  | { readonly _tag: "IndexBehind"; readonly millis: number }
  | { readonly _tag: "Lay"; readonly trap: Trap }
  | { readonly _tag: "LoseNotice" }
  | { readonly _tag: "RepeatNotices"; readonly times: number }
  | { readonly _tag: "Forget" }
  | { readonly _tag: "RoutesDown"; readonly areDown: boolean }
  | { readonly _tag: "LieOnce" }
  /** A payment of this invoice is held at the node. With `isOwn`, the company keeps the preimage. */
  | ({
      readonly _tag: "CreateHold"
      readonly sats: number
      readonly expirySeconds: number
      readonly isOwn: boolean
    } & Kept)
  | { readonly _tag: "SettleHold"; readonly slot: number; readonly which: number }
  /** If there are no limits, the existing ones are removed. `others` are the features' limits by name. */
  | ({
      readonly _tag: "Limit"
      readonly whose: "company" | "key"
      readonly window: "hour_sats" | "day_sats" | "month_sats"
      readonly sats: number | null
      readonly count: number | null
      readonly others: { readonly [name: string]: number }
    } & Asked)
  | ({ readonly _tag: "Stop"; readonly what: Stopping } & Asked)
  /** Two operators assign a payment in suspense. */
  | ({ readonly _tag: "Assign"; readonly which: number } & Asked)
  | ({
      readonly _tag: "Administer"
      readonly what: "plan" | "domain" | "vouch" | "address" | "delete" | "revoke"
      readonly which: number
    } & Asked)

/**
 * One operation. `seed` determines everything drawn while it runs, so that it stays the same when other
 * operations are removed.
 */
export interface Operation {
  readonly act: Act
  readonly seed: number
  /** Whether the next operation starts immediately, before the effects of this one are complete. */
  readonly rushes: boolean
}

export type Tag = Act["_tag"]

export type ActOf<T extends Tag> = Extract<Act, { readonly _tag: T }>
