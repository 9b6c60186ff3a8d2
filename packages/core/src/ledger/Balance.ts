import * as Msat from "@satrail/bitcoin/Msat"
import { Schema } from "effect"
import * as CompanyId from "../base/CompanyId.ts"
import type { Posting } from "./Change.ts"

/** What a company owns. `posted` is all of it, `held` the part that pending withdrawals and open vouchers have reserved. */
export interface Balance {
  readonly posted: Msat.Msat
  readonly held: Msat.Msat
}

/**
 * The company has less available than amount and fee together. Nothing was held. `available` is what there was right after the refusal, for people to read:
 * a store compares, and leaves it out.
 */
export class InsufficientBalance extends Schema.TaggedError<InsufficientBalance>()("InsufficientBalance", {
  companyId: CompanyId.CompanyId,
  needed: Msat.Msat,
  available: Schema.optionalKey(Msat.Msat)
}) {}

export const empty: Balance = { posted: Msat.zero, held: Msat.zero }

/** What may be withdrawn now: of 1000 posted with 300 held, 700. */
export const available = (balance: Balance): Msat.Msat => Msat.make(balance.posted - balance.held)

/** What `postings` do to their company: a hold moves 0 posted and +n held, posting it moves -n and -n. */
export const effect = (postings: ReadonlyArray<Posting>): Balance => {
  let posted = 0n
  let held = 0n
  for (const { from, to, amount } of postings) {
    if (from === "held") held -= amount
    if (to === "held") held += amount
    if (from === "available" || from === "held") posted -= amount
    if (to === "available" || to === "held") posted += amount
  }
  return { posted: Msat.make(posted), held: Msat.make(held) }
}

/** What `postings` take out of `available`: this much must be there. A credit needs less than nothing. */
export const need = (postings: ReadonlyArray<Posting>): Msat.Msat => {
  const { posted, held } = effect(postings)
  return Msat.make(held - posted)
}

/** Two balances, or a balance and an effect on it, together. */
export const add = (a: Balance, b: Balance): Balance => ({
  posted: Msat.make(a.posted + b.posted),
  held: Msat.make(a.held + b.held)
})
