import type { Type } from "./Event.ts"
import type { InsufficientBalance } from "./Balance.ts"
import type { Account, Fence, Leg, Once, Parts, Posting } from "./Change.ts"
import type { Conflict, IdempotencyMismatch, StaleFence } from "./Journal.ts"
import type { FeesMoved } from "./FeesMoved.ts"
import type { CompanyFrozen } from "./Freeze.ts"
import type { LimitExceeded } from "./Limit.ts"
import type { Insert, Transition, Writes } from "./Noun.ts"

/** A leg that takes nothing from `available`: nothing can be wanting for it. */
export interface Giving extends Leg {
  readonly postings: ReadonlyArray<Posting & { readonly from: Exclude<Account, "available"> }>
}

/**
 * What a Change may carry: postings that take from `available` (`money`) and are counted against limits (`limits`), or only others (`credit`), an idempotency key, a fence, that a freeze of its company refuses it (`freeze`), or a change of its fees (`fees`). All but `credit` can
 * refuse it.
 */
export type May = "money" | "limits" | "freeze" | "fees" | "credit" | "once" | "fence"

type Judged<W> =
  W extends Insert<infer _A, infer Taken, infer Other>
    ? ([Taken] extends [never] ? Conflict : Taken) | ([Other] extends [never] ? Conflict : Other)
    : W extends Transition<infer _A, infer Refused>
      ? Refused
      : never

/** How the rules may say no to it: what its first write is refused with, and what it carries. */
type RefusedWith<W extends Writes, M extends May> =
  | (W extends readonly [infer First, ...ReadonlyArray<unknown>] ? Judged<First> : never)
  | ("money" extends M ? InsufficientBalance : never)
  | ("limits" extends M ? LimitExceeded : never)
  | ("freeze" extends M ? CompanyFrozen : never)
  | ("fees" extends M ? FeesMoved : never)
  | ("once" extends M ? IdempotencyMismatch : never)
  | ("fence" extends M ? StaleFence : never)

/**
 * A Change that says what it writes, the first of it to the record of its own id, as values that a store interprets: no store has code for a kind of it.
 * Its refusals follow from its writes and from what it may carry; what it may not carry does not compile. `Published` are the types of event that it may publish.
 */
export interface Written<Tag extends string, W extends Writes, M extends May = never, Published extends string = Type> extends Omit<
  Parts<Tag, RefusedWith<W, M>, Published>,
  "legs" | "once" | "fence"
> {
  readonly writes: W
  readonly legs: ReadonlyArray<"money" extends M ? Leg : "credit" extends M ? Giving : never>
  readonly once?: "once" extends M ? Once : never
  readonly fence?: "fence" extends M ? Fence : never
}

/** One of them, of whichever kind: what a store handles. */
export interface Any extends Parts<string, { readonly _tag: string }, string> {
  readonly writes: Writes
}

/** Whether a Change says what it writes: what does not is a program of each store. */
export const is = <C extends object>(change: C): change is C & Any => "writes" in change
