import * as Msat from "@satrail/bitcoin/Msat"
import { Effect, Result } from "effect"
import { Bounds } from "../accounts/Bounds.ts"
import type { Sender } from "../accounts/Company.ts"
import * as Fee from "../accounts/Fee.ts"
import { Fees } from "../accounts/Fees.ts"
import * as Balance from "../ledger/Balance.ts"
import { LedgerReads } from "../ledger/LedgerReads.ts"
import type { Asked } from "../nodes/Prices.ts"
import { type Recipient, way } from "./Recipient.ts"

/** Asks for the largest amount in whole sats that the balance covers with its fee, except for `keep`. */
export interface Max {
  readonly keep: Msat.Msat
}

/** Keeps nothing. */
export const everything: Max = { keep: Msat.zero }

export const isMax = (asked: Asked | Max | undefined): asked is Max => asked !== undefined && "keep" in asked

/** Repeats a commit of such an amount that the balance no longer covers, because other money moved meanwhile. */
export const retried =
  (asked: Asked | Max | undefined) =>
  <A, E, R>(confirm: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    isMax(asked)
      ? Effect.retry(confirm, { times: 2, while: (error) => error instanceof Balance.InsufficientBalance })
      : confirm

/**
 * Reads a company's balance and fee rates. Returns the largest amount by the way in which it is paid, and that amount's
 * fee for a payee. Fails if the balance does not cover the smallest amount.
 */
export const make = Effect.gen(function* () {
  const ledger = yield* LedgerReads
  const fees = yield* Fees
  const { minAmount } = yield* Bounds

  return Effect.fnUntraced(function* (company: Sender, { keep }: Max) {
    const available = Balance.available(yield* ledger.balance(company.id))
    const funds = Msat.make(available > keep ? available - keep : 0n)
    const ratesBy = {
      internal: yield* Effect.result(fees.rates({ company, way: "internal" })),
      lightning: yield* Effect.result(fees.rates({ company, way: "lightning" })),
      on_chain: yield* Effect.result(fees.rates({ company, way: "on_chain" }))
    }
    const short = (rates: Fee.Rates) =>
      new Balance.InsufficientBalance({
        companyId: company.id,
        needed: Msat.make(keep + minAmount + Fee.total(Fee.quote(rates, minAmount))),
        available
      })
    const isCovered = (rates: Fee.Rates) => Fee.largest(rates, funds) >= minAmount
    const known = Object.values(ratesBy).filter(Result.isSuccess)
    const [first] = known
    if (first !== undefined && !known.some(({ success }) => isCovered(success)))
      return yield* short(first.success)
    return {
      // Without a rate, `fee` fails.
      amount: (by: keyof typeof ratesBy): Msat.Msat => {
        const { [by]: rates } = ratesBy
        return Result.isSuccess(rates) ? Fee.largest(rates.success, funds) : funds
      },
      fee: Effect.fnUntraced(function* (recipient: Recipient) {
        const rates = yield* Effect.fromResult(ratesBy[way(recipient)])
        return isCovered(rates) ? Fee.quote(rates, Fee.largest(rates, funds)) : yield* short(rates)
      })
    }
  })
})
