import * as Msat from "@satrail/bitcoin/Msat"
import type { Account } from "./Change.ts"
import type { Noun, Row } from "./Noun.ts"

/** Types of transactions posted by features. Deposits and withdrawals are not included. */
export const types = ["adjustment"] as const
export type Type = (typeof types)[number]

/**
 * A record type whose records credit their company while they have a certain status. A negative amount debits
 * the company. Stores use this to verify the transfer, and to list the record among the company's transactions.
 */
export interface Posts {
  readonly noun: Noun
  readonly in: string
  /** The fields with the amount, the transfer's id, the reason, and the time of the posting. */
  readonly amount: string
  readonly transfer: string
  readonly reason: string
  readonly atMillis: string
  /** The account debited to credit the company's `available`. */
  readonly from: Account
  readonly type: Type
}

type Members<A, Held> = {
  readonly [member in keyof A & string]: A[member] extends Held ? member : never
}[keyof A & string]

export const posts = <A extends Row & { readonly status: string }>(
  noun: Noun<A>,
  how: Pick<Posts, "from" | "type"> & {
    readonly in: A["status"]
    readonly amount: Members<A, bigint>
    readonly transfer: Members<A, string>
    readonly reason: Members<A, string>
    readonly atMillis: Members<A, number | null>
  }
): Posts => ({ noun, ...how })

export interface Posted extends Pick<Posts, "from" | "type"> {
  readonly row: Row
  readonly transferId: string
  readonly amount: Msat.Msat
  readonly reason: string
  readonly atMillis: number
}

/** Returns the postings of the records that `records` returns, for a store without tables. */
export const posted = (
  features: ReadonlyArray<{ readonly posts?: ReadonlyArray<Posts> }>,
  records: (noun: Noun) => ReadonlyArray<Row>
): ReadonlyArray<Posted> =>
  features.flatMap(({ posts = [] }) =>
    posts.flatMap(({ noun, in: status, from, type, ...members }) =>
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
  )
