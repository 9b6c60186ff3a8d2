import { Effect, Option } from "effect"
import type * as CompanyId from "../base/CompanyId.ts"
import { Features } from "../ledger/Features.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import type { Noun } from "../ledger/Noun.ts"
import { NounReads } from "../ledger/NounReads.ts"
import * as Deposit from "../receiving/Deposit.ts"
import * as Invoice from "../receiving/Invoice.ts"
import * as OnChainAddress from "../receiving/OnChainAddress.ts"
import * as Withdrawal from "../sending/Withdrawal.ts"
import * as Descriptions from "./Descriptions.ts"
import { ReportReads } from "./ReportReads.ts"
import * as Search from "./Search.ts"

type Read<A> = Effect.Effect<A, StoreUnavailable>

/** Number of records whose payments are read at the same time. */
const atOnce = 8

const distinctOf = (hits: ReadonlyArray<Search.Hit>): ReadonlyArray<Search.Hit> => [
  ...new Map(hits.map((hit) => [hit.id, hit])).values()
]

/** Makes the searches. `depositsToward` returns the deposits of a record. */
export const make = Effect.fnUntraced(function* (
  depositsToward: (
    companyId: CompanyId.CompanyId,
    record: Pick<Search.Hit, "kind" | "id">
  ) => Read<ReadonlyArray<Deposit.Deposit>>
) {
  const [nouns, reports, features] = [yield* NounReads, yield* ReportReads, yield* Features]
  const linked = features.flatMap(({ linked: own = [] }) => own)

  /** Returns the records of a company, or of all companies, that match a string. */
  const searched = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId | null, text: string) {
    const sought = Search.sought(text)
    const link = Search.linkIn(text)
    const byLink = yield* Effect.forEach(linked, ({ noun, in: find }) =>
      Effect.map(find(link, nouns), (found) =>
        Option.toArray(found).flatMap((row): ReadonlyArray<Search.Hit> =>
          companyId === null || row.companyId === companyId
            ? [{ kind: noun.name, companyId: row.companyId, id: row.id, by: "link" }]
            : []
        )
      )
    )
    const all = [...byLink.flat(), ...(sought === undefined ? [] : yield* reports.found(companyId, sought))]
    /** An invoice or address of another record, such as a checkout, stands for that record. */
    const ownerOf = Effect.fnUntraced(function* (hit: Search.Hit) {
      const noun: Noun | undefined = [Invoice.noun, OnChainAddress.noun].find(({ name }) => name === hit.kind)
      const found = noun === undefined ? Option.none() : yield* nouns.get(noun, hit.companyId, hit.id)
      if (noun === undefined || Option.isNone(found)) return hit
      const owner = Descriptions.of(features, noun).find(
        ({ by }) => Descriptions.textOf(found.value, by) !== null
      )
      return owner === undefined
        ? hit
        : { ...hit, kind: owner.noun.name, id: Descriptions.textOf(found.value, owner.by) ?? hit.id }
    })
    const owned = yield* Effect.forEach(all, ownerOf, { concurrency: "unbounded" })
    // A record that matches itself is shown with its own match.
    return {
      hits: distinctOf([...owned, ...all.filter((hit) => owned.includes(hit))]),
      isAll: Search.isAll(all)
    }
  })

  /** Returns the payments of a record that was found. */
  const paidBy = (hit: Search.Hit): Read<ReadonlyArray<Search.Hit>> =>
    hit.kind === Deposit.noun.name || hit.kind === Withdrawal.noun.name
      ? Effect.succeed([])
      : Effect.map(depositsToward(hit.companyId, hit), (deposits) =>
          deposits.map(({ id }): Search.Hit => ({ ...hit, kind: Deposit.noun.name, id }))
        )

  const searchAll = Effect.fnUntraced(function* (text: string) {
    const { hits, isAll } = yield* searched(null, text)
    const paid = yield* Effect.forEach(hits, paidBy, { concurrency: atOnce })
    return { hits: distinctOf([...hits, ...paid.flat()]), isAll }
  })

  return { searched, searchAll }
})
