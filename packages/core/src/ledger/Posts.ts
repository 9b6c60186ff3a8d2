import * as Msat from "@satrail/bitcoin/Msat"
import type { Account } from "./Change.ts"
import type { Noun, Row } from "./Noun.ts"
import type { Registered } from "./Registry.ts"

/**
 * A record type whose records credit their company while they have a certain status. A negative amount debits
 * the company. Stores use this to verify the transfer, and to list the record among the company's transactions.
 */
export interface Posts<Type extends string = string> {
  readonly noun: Noun
  readonly in: string
  /** The fields with the amount, the transfer's id, the reason, and the time of the posting. */
  readonly amount: string
  readonly transfer: string
  readonly reason: string
  readonly atMillis: string
  /** The account debited to credit the company's `available`. */
  readonly from: Account
  /** The type of these transactions in a company's list, next to `withdrawal` and `deposit`. */
  readonly type: Type
}

type Members<A, Held> = {
  readonly [member in keyof A & string]: A[member] extends Held ? member : never
}[keyof A & string]

export const posts = <A extends Row & { readonly status: string }, const T extends string>(
  noun: Noun<A>,
  how: Pick<Posts<T>, "from" | "type"> & {
    readonly in: A["status"]
    readonly amount: Members<A, bigint>
    readonly transfer: Members<A, string>
    readonly reason: Members<A, string>
    readonly atMillis: Members<A, number | null>
  }
): Posts<T> => ({ noun, ...how })

type TypeOf<F> = F extends { readonly posts: ReadonlyArray<infer P extends Posts> } ? P["type"] : never

/** Every type of transaction that registered features post. */
export type Type = TypeOf<Registered>

interface Posting {
  readonly posts?: ReadonlyArray<Posts>
}

const all = (features: ReadonlyArray<Posting>): ReadonlyArray<Posts<Type>> =>
  // oxlint-disable-next-line typescript/consistent-type-assertions -- every feature is in a registered list
  features.flatMap(({ posts = [] }) => posts) as never

/** Returns the types of transactions that these features post. */
export const types = (features: ReadonlyArray<Posting>): ReadonlyArray<Type> => [
  ...new Set(all(features).map(({ type }) => type))
]

export interface Posted extends Pick<Posts<Type>, "from" | "type"> {
  readonly row: Row
  readonly transferId: string
  readonly amount: Msat.Msat
  readonly reason: string
  readonly atMillis: number
}

/** Returns the postings of the records that `records` returns, for a store without tables. */
export const posted = (
  features: ReadonlyArray<Posting>,
  records: (noun: Noun) => ReadonlyArray<Row>
): ReadonlyArray<Posted> =>
  all(features).flatMap(({ noun, in: status, from, type, ...members }) =>
    records(noun)
      .filter((row) => Reflect.get(row, "status") === status)
      .map((row) => ({
        row,
        from,
        type,
        transferId: String(Reflect.get(row, members.transfer)),
        amount: Msat.make(BigInt(Reflect.get(row, members.amount))),
        reason: String(Reflect.get(row, members.reason)),
        atMillis: Number(Reflect.get(row, members.atMillis))
      }))
  )
