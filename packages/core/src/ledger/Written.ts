import type { Type } from "./Event.ts"
import type { InsufficientBalance } from "./Balance.ts"
import type { Account, Fence, Leg, Once, Parts, Posting } from "./Change.ts"
import type { Conflict, IdempotencyMismatch, StaleFence } from "./Journal.ts"
import type { FeesMoved } from "./FeesMoved.ts"
import type { CompanyFrozen } from "./Freeze.ts"
import type { LimitExceeded } from "./Limit.ts"
import type { Follow, Insert, Transition, Writes } from "./Noun.ts"

/** A leg that takes nothing from `available`, so it needs no balance. */
export interface Giving extends Leg {
  readonly postings: ReadonlyArray<Posting & { readonly from: Exclude<Account, "available"> }>
}

/**
 * The optional parts of a Change: postings that debit `available` (`money`) or take nothing from it (`credit`),
 * a count toward limits (`limits`), an idempotency key (`once`), a fence (`fence`), a check for a freeze
 * (`freeze`), and a check of the fees (`fees`). All but `credit` can lead to a refusal.
 */
export type May = "money" | "limits" | "freeze" | "fees" | "credit" | "once" | "fence"

type Judged<W> =
  W extends Insert<infer _A, infer Taken, infer Other>
    ? ([Taken] extends [never] ? Conflict : Taken) | ([Other] extends [never] ? Conflict : Other)
    : W extends Transition<infer _A, infer Refused>
      ? Refused
      : never

/** Refusals of the first write and of the optional parts. */
type RefusedWith<W extends Writes, M extends May> =
  | (W extends readonly [infer First, ...ReadonlyArray<unknown>] ? Judged<First> : never)
  | ("money" extends M ? InsufficientBalance : never)
  | ("limits" extends M ? LimitExceeded : never)
  | ("freeze" extends M ? CompanyFrozen : never)
  | ("fees" extends M ? FeesMoved : never)
  | ("once" extends M ? IdempotencyMismatch : never)
  | ("fence" extends M ? StaleFence : never)

/**
 * A Change that lists its writes as values, which every store interprets, so stores need no code for its kind.
 * The first write is to the record with the Change's id. The Change's refusals follow from its writes and from
 * the parts in `M`. Parts that are not in `M` do not compile. `Published` are the types of event that it may
 * publish.
 */
export interface Written<
  Tag extends string,
  W extends Writes,
  M extends May = never,
  Published extends string = Type
> extends Omit<Parts<Tag, RefusedWith<W, M>, Published>, "legs" | "once" | "fence"> {
  readonly writes: W
  readonly legs: ReadonlyArray<"money" extends M ? Leg : "credit" extends M ? Giving : never>
  readonly once?: "once" extends M ? Once : never
  readonly fence?: "fence" extends M ? Fence : never
}

/** A written Change of any kind, as stores handle it. */
export interface Any extends Parts<string, { readonly _tag: string }, string> {
  readonly writes: Writes
}

/** Makes a Change of the record of its first write, without postings. */
export const written = <
  C extends Any & { readonly writes: readonly [Insert | Transition, ...ReadonlyArray<Follow>] }
>(
  tag: C["_tag"],
  atMillis: number,
  writes: C["writes"],
  parts?: Omit<C, "_tag" | "id" | "companyId" | "atMillis" | "legs" | "writes">
): C => {
  const [first] = writes
  const { id, companyId } = first._tag === "Insert" ? first.record : first.found
  // oxlint-disable-next-line typescript/consistent-type-assertions -- `C` has no other required parts
  return { _tag: tag, id, companyId, atMillis, legs: [], writes, ...parts } as never
}

/** Returns whether a Change lists its writes. Stores have code for all others. */
export const is = <C extends object>(change: C): change is C & Any => "writes" in change
