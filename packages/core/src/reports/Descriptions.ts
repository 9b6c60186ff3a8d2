import { Effect, Option } from "effect"
import { all as features } from "../features/index.ts"
import type { Describes } from "../ledger/Feature.ts"
import type { Members, Row } from "../ledger/Noun.ts"
import { NounReads } from "../ledger/NounReads.ts"
import * as Invoice from "../receiving/Invoice.ts"

/** Record types that describe payments. If a payment refers to several of them, the first one here describes it. */
export const all: ReadonlyArray<Describes> = [
  ...features.flatMap(({ describes = [] }) => describes),
  { noun: Invoice.noun, by: "lightningInvoiceId", description: "memo" }
]

/** Record types with an order id. A search finds them. */
export const ordered = all.flatMap(({ orderId, ...one }) => (orderId === undefined ? [] : [{ ...one, orderId }]))

/**
 * Returns the record types that describe payments of this type: deposits or withdrawals. References that can
 * change, such as a deposit's newest refund, are left out.
 */
export const of = ({ members, moving }: Members): ReadonlyArray<Describes> =>
  all.filter(({ by }) => members.some(([member]) => member === by) && !moving.has(by))

/** Returns the text in a field of a record; null if there is none. */
export const textOf = (row: Row, member: string): string | null => {
  const text: unknown = Reflect.get(row, member)
  return typeof text === "string" ? text : null
}

/**
 * Makes a function that returns a payment's description and order id. They come from the feature's record that
 * the payment refers to, or else from its invoice.
 */
export const make = Effect.gen(function* () {
  const nouns = yield* NounReads

  return Effect.fnUntraced(function* (kind: Members, payment: Row) {
    for (const { noun, by, description, orderId } of of(kind)) {
      const id = textOf(payment, by)
      const found = id === null ? Option.none() : yield* nouns.get(noun, payment.companyId, id)
      if (Option.isSome(found))
        return {
          description: textOf(found.value, description) ?? "",
          orderId: orderId === undefined ? null : textOf(found.value, orderId)
        }
    }
    return { description: "", orderId: null }
  })
})
