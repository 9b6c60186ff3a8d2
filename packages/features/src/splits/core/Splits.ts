import * as Msat from "@satrail/bitcoin/Msat"
import { Context, Effect, Layer, Option } from "effect"
import { AccountReads } from "@satrail/core/accounts/AccountReads"
import type { CompanyId } from "@satrail/core/base/CompanyId"
import { Entropy } from "@satrail/core/base/Entropy"
import * as Id from "@satrail/core/base/Id"
import { Invalid } from "@satrail/core/base/Invalid"
import * as Percent from "@satrail/core/base/Percent"
import { found, type NotFound, type StoreUnavailable } from "@satrail/core/ledger/Journal"
import { NounReads } from "@satrail/core/ledger/NounReads"
import { CreditShares } from "@satrail/core/receiving/CreditShares"
import * as Deposit from "@satrail/core/receiving/Deposit"
import { maxSplits, type Split } from "@satrail/core/receiving/Purpose"
import * as Transfer from "../../transfers/core/Transfer.ts"
import * as Share from "./Share.ts"

/** A share of a deposit. */
export interface Part extends Split {
  /** The transfer that credited it; null if there is none. */
  readonly transferId: string | null
  /** The amount that the payee received, in msat. */
  readonly amount: Msat.Msat
}

/** A deposit with its shares. */
export interface Shared {
  /** Id of the deposit. */
  readonly id: string
  readonly companyId: CompanyId
  readonly parts: ReadonlyArray<Part>
}

/** Reads the shares of deposits. */
export class Splits extends Context.Service<
  Splits,
  {
    /** Returns a deposit's shares in the order of its splits; none if it has no splits. */
    readonly ofDeposit: (
      companyId: CompanyId,
      depositId: string
    ) => Effect.Effect<Shared, NotFound | StoreUnavailable>
  }
>()("@satrail/features/splits/core/Splits") {}

const invalid = (row: number, member: string, message: string) =>
  new Invalid({ path: `splits.${row}.${member}`, message })

/** Returns the transfer of each share; undefined for a share that was not transferred. */
const transfersOf = (
  { named }: NounReads["Service"],
  { id, splits }: Pick<Deposit.Deposit, "id" | "splits">
) =>
  Effect.forEach(
    splits ?? [],
    ({ companyId: recipientId }) =>
      Effect.map(named(Transfer.noun, { depositId: id, recipientId }), Option.getOrUndefined),
    { concurrency: "unbounded" }
  )

/** Reads the shares of a deposit. */
export const shared = Effect.fnUntraced(function* (deposit: Deposit.Deposit) {
  const transfers = yield* transfersOf(yield* NounReads, deposit)
  const parts = (deposit.splits ?? []).map((split, row): Part => {
    const transfer = transfers[row]
    return { ...split, transferId: transfer?.id ?? null, amount: transfer?.amount ?? Msat.zero }
  })
  return { id: deposit.id, companyId: deposit.companyId, parts } satisfies Shared
})

export const make = Effect.gen(function* () {
  const nouns = yield* NounReads
  return Splits.of({
    ofDeposit: (companyId, depositId) =>
      found("deposit", depositId, nouns.get(Deposit.noun, companyId, depositId)).pipe(
        Effect.flatMap(shared),
        Effect.provideService(NounReads, nouns)
      )
  })
})

export const layer = Layer.effect(Splits, make)

/** Shares each deposit that has splits. */
export const layerShares = Layer.effect(
  CreditShares,
  Effect.gen(function* () {
    const accounts = yield* AccountReads
    const nouns = yield* NounReads
    const entropy = yield* Entropy

    /** Returns whether the deposit was credited before a reorganization. Its payees keep their shares. */
    const wasShared = (deposit: Deposit.Deposit) =>
      deposit.chainTxId === null
        ? Effect.succeed(false)
        : Effect.map(transfersOf(nouns, deposit), (found) => found.some((one) => one !== undefined))

    return {
      check: Effect.fnUntraced(function* (companyId, splits) {
        if (splits.length === 0 || splits.length > maxSplits)
          return yield* new Invalid({ path: "splits", message: `must have 1 to ${maxSplits} rows` })
        const payees = new Set<CompanyId>()
        let total = 0
        for (const [row, { companyId: payee, basisPoints }] of splits.entries()) {
          if (payee === companyId)
            return yield* invalid(row, "company_id", "must be another account, not your own")
          if (payees.has(payee)) return yield* invalid(row, "company_id", "must not be repeated")
          payees.add(payee)
          total += basisPoints
          if (total > Percent.whole)
            return yield* invalid(
              row,
              "share",
              `must leave the total at 100% at most (got ${Percent.format(total)})`
            )
          if (Option.isNone(yield* accounts.company(payee)))
            return yield* invalid(row, "company_id", "must be an account of this service")
        }
      }),
      sharesOf: Effect.fnUntraced(function* (deposit, atMillis) {
        const splits = deposit.splits ?? []
        if (yield* wasShared(deposit)) return undefined
        const frozen = yield* Effect.filter(
          splits,
          ({ companyId }) =>
            Effect.map(
              accounts.company(companyId),
              Option.exists((payee) => payee.frozen !== null)
            ),
          { concurrency: "unbounded" }
        )
        const transfers = splits
          .filter((split) => !frozen.includes(split) && Share.amountOf(deposit.amount, split) > 0n)
          .map((split) => Share.transfer(deposit, split, Id.fromMillis(atMillis, entropy), atMillis))
        return Share.shares(
          deposit,
          transfers,
          frozen.map(({ companyId }) => companyId)
        )
      })
    }
  })
)
