import { Effect, Option } from "effect"
import type * as CompanyId from "../base/CompanyId.ts"
import { all as features } from "../features/index.ts"
import type { Row } from "../ledger/Noun.ts"
import { NounReads } from "../ledger/NounReads.ts"
import * as Invoice from "../receiving/Invoice.ts"

/** The records that a payment belongs to. Features may add others. */
interface Subject {
  readonly invoiceId: string | null
}

const describing = features.flatMap(({ describes = [] }) => describes)

const textOf = (row: Row, member: string): string | null => {
  const text: unknown = Reflect.get(row, member)
  return typeof text === "string" ? text : null
}

/**
 * Makes a function that returns the description and the order id of a payment: those of its feature's record,
 * or else of its invoice.
 */
export const make = Effect.gen(function* () {
  const nouns = yield* NounReads

  return Effect.fnUntraced(function* (companyId: CompanyId.CompanyId, subject: Subject) {
    for (const { noun, by, description, orderId } of describing) {
      const id: unknown = Reflect.get(subject, by)
      const found = typeof id === "string" ? yield* nouns.get(noun, companyId, id) : Option.none()
      if (Option.isSome(found))
        return {
          description: textOf(found.value, description) ?? "",
          orderId: orderId === undefined ? null : textOf(found.value, orderId)
        }
    }
    const { invoiceId } = subject
    const invoice = invoiceId === null ? Option.none() : yield* nouns.get(Invoice.noun, companyId, invoiceId)
    return { description: Option.isSome(invoice) ? invoice.value.memo : "", orderId: null }
  })
})
