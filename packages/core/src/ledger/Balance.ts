import * as Msat from "@satrail/bitcoin/Msat"
import { Schema } from "effect"
import * as CompanyId from "../base/CompanyId.ts"
import type { Posting } from "./Change.ts"

/**
 * A company's funds. `posted` is the total, and `held` is the part reserved by pending withdrawals and open
 * vouchers.
 */
export interface Balance {
  readonly posted: Msat.Msat
  readonly held: Msat.Msat
}

/**
 * The available balance is less than amount plus fee. Nothing was held. `available` is the balance read after
 * the refusal, for display only. Stores omit it.
 */
export class InsufficientBalance extends Schema.TaggedError<InsufficientBalance>()("InsufficientBalance", {
  companyId: CompanyId.CompanyId,
  needed: Msat.Msat,
  available: Schema.optionalKey(Msat.Msat)
}) {}

export const empty: Balance = { posted: Msat.zero, held: Msat.zero }

/** Returns the amount that can be withdrawn: with 1000 posted and 300 held, 700. */
export const available = (balance: Balance): Msat.Msat => Msat.make(balance.posted - balance.held)

/**
 * Returns the effect of `postings` on their company. A hold of n changes posted by 0 and held by +n; posting
 * that hold changes both by -n.
 */
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

/** Returns the amount that `postings` take from `available`, which the balance must cover. Negative for a credit. */
export const need = (postings: ReadonlyArray<Posting>): Msat.Msat => {
  const { posted, held } = effect(postings)
  return Msat.make(held - posted)
}

/** Adds two balances, or a balance and an effect. */
export const add = (a: Balance, b: Balance): Balance => ({
  posted: Msat.make(a.posted + b.posted),
  held: Msat.make(a.held + b.held)
})
