import { Effect, Option } from "effect"
import type { Describes, Feature } from "../ledger/Feature.ts"
import { Features } from "../ledger/Features.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import type { Members, Noun, Row } from "../ledger/Noun.ts"
import { NounReads } from "../ledger/NounReads.ts"
import * as Invoice from "../receiving/Invoice.ts"

const ofInvoice: Describes = { noun: Invoice.noun, by: "lightningInvoiceId", description: "memo" }

/** Record types that describe payments. If a payment refers to several of them, the first one here describes it. */
export const all = (features: ReadonlyArray<Feature>): ReadonlyArray<Describes> => [
  ...features.flatMap(({ describes = [] }) => describes),
  ofInvoice
]

/** The fields of a record type that a search compares. */
export interface Sought extends Pick<Describes, "noun" | "orderId" | "reference" | "email" | "fiat"> {
  readonly description?: string
  /** The field with the id of its transfer. */
  readonly transfer?: string
}

/** Record types of features that a search finds: those that describe payments, and those found by a link. */
export const sought = (features: ReadonlyArray<Feature>): ReadonlyArray<Sought> => {
  const describing = features.flatMap(({ describes = [] }) => describes)
  const linked = features
    .flatMap(({ linked: own = [] }) => own)
    .filter(({ noun }) => describing.every((one) => one.noun !== noun))
  const has = ({ members }: Noun, name: string) => members.some(([member]) => member === name)
  return [
    ...describing,
    ...linked.map(({ noun }) => ({
      noun,
      ...(has(noun, "description") && { description: "description" }),
      ...(has(noun, "ledgerTxId") && { transfer: "ledgerTxId" })
    }))
  ]
}

/**
 * Returns the record types that describe payments of this type: deposits or withdrawals. References that can
 * change, such as a deposit's newest refund, are left out.
 */
export const of = (
  features: ReadonlyArray<Feature>,
  { members, moving }: Members
): ReadonlyArray<Describes> =>
  all(features).filter(({ by }) => members.some(([member]) => member === by) && !moving.has(by))

/** Returns the text in a field of a record; null if there is none. */
export const textOf = (row: Row, member: string): string | null => {
  const text: unknown = Reflect.get(row, member)
  return typeof text === "string" ? text : null
}

interface Texts {
  readonly description: string
  readonly orderId: string | null
}

/**
 * Makes a function that returns a payment's description and order id. They come from the feature's record that
 * the payment refers to, or else from its invoice. A refund has those of the payment that it returns, unless it
 * has its own.
 */
export const make = Effect.gen(function* () {
  const nouns = yield* NounReads
  const features = yield* Features

  const read = (noun: Noun, { companyId }: Row, id: string | null) =>
    id === null ? Effect.succeedNone : nouns.get(noun, companyId, id)

  const described = Effect.fnUntraced(function* (
    kind: Members,
    payment: Row
  ): Effect.fn.Return<Texts, StoreUnavailable> {
    for (const { noun, by, description, orderId, returns } of of(features, kind)) {
      const found = yield* read(noun, payment, textOf(payment, by))
      if (Option.isNone(found)) continue
      const own = {
        description: textOf(found.value, description) ?? "",
        orderId: orderId === undefined ? null : textOf(found.value, orderId)
      }
      if (returns === undefined) return own
      const returned = yield* read(returns.noun, payment, textOf(found.value, returns.by))
      if (Option.isNone(returned)) return own
      const its = yield* described(returns.noun, returned.value)
      return { description: own.description || its.description, orderId: own.orderId ?? its.orderId }
    }
    return { description: "", orderId: null }
  })
  return described
})
