import * as Msat from "@satrail/bitcoin/Msat"
import type { CompanyId } from "../base/CompanyId.ts"
import * as Metadata from "../base/Metadata.ts"
import type { Account } from "./Change.ts"
import type { Noun, Row } from "./Noun.ts"
import type { ListedRail } from "./Rail.ts"
import type { Registered } from "./Registry.ts"

/**
 * Postings of a record type: each record credits a company, or debits it if the amount is negative or `debits` is true.
 * A record that moves money between two companies has two declarations, one for each. Stores use them to verify the
 * transfer, and to list the record among the company's transactions.
 */
export interface Posts<Type extends string = string> {
  readonly noun: Noun
  /** The status of records that are posted; undefined if all are, from their creation on. */
  readonly in?: string | undefined
  /** The field with the company whose postings these are. */
  readonly of: string
  readonly debits: boolean
  /** The fields with the amount, the transfer's id, and the time of the posting. */
  readonly amount: string
  readonly transfer: string
  readonly atMillis: string
  /** True if a record's id contains that time, so that the table's key lists a company's records. */
  readonly isTimeInId: boolean
  /** Fields that the list shows. Absent: null, or empty. `recipient` has the other company. */
  readonly reason?: string | undefined
  readonly recipient?: string | undefined
  readonly description?: string | undefined
  readonly metadata?: string | undefined
  /** The account debited to credit the company's `available`. */
  readonly from: Account
  /** The type of these transactions in a company's list, next to `withdrawal` and `deposit`. */
  readonly type: Type
  readonly rail: ListedRail | null
}

type Members<A, Held> = {
  readonly [member in keyof A & string]: A[member] extends Held ? member : never
}[keyof A & string]

export const posts = <A extends Row, const T extends string>(
  noun: Noun<A>,
  how: Pick<Posts<T>, "from" | "type"> &
    Partial<Pick<Posts, "debits" | "rail" | "isTimeInId">> & {
      readonly in?: A extends { readonly status: infer S } ? S & string : never
      /** Default: the company that owns the record. */
      readonly of?: Members<A, CompanyId>
      readonly amount: Members<A, bigint>
      readonly transfer: Members<A, string>
      readonly atMillis: Members<A, number | null>
      readonly reason?: Members<A, string>
      readonly recipient?: Members<A, string>
      readonly description?: Members<A, string>
      readonly metadata?: Members<A, Metadata.Metadata>
    }
): Posts<T> => ({ of: "companyId", debits: false, isTimeInId: false, rail: null, ...how, noun })

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

export interface Posted extends Pick<Posts<Type>, "from" | "type" | "rail"> {
  readonly companyId: CompanyId
  readonly id: string
  readonly transferId: string
  /** Negative if it debits the company. */
  readonly amount: Msat.Msat
  readonly reason: string | null
  readonly recipient: string
  readonly description: string
  readonly metadata: Metadata.Metadata
  readonly atMillis: number
}

/** Returns a company's postings of the records that `records` returns, for a store without tables. */
export const posted = (
  features: ReadonlyArray<Posting>,
  companyId: CompanyId,
  records: (noun: Noun) => ReadonlyArray<Row>
): ReadonlyArray<Posted> =>
  all(features).flatMap(({ noun, in: status, of, debits, from, type, rail, ...members }) =>
    records(noun)
      .filter(
        (row) =>
          Reflect.get(row, of) === companyId &&
          (status === undefined || Reflect.get(row, "status") === status)
      )
      .map((row) => {
        const textOf = (member: string | undefined) =>
          member === undefined ? null : String(Reflect.get(row, member))
        const amount = BigInt(Reflect.get(row, members.amount))
        return {
          companyId,
          id: row.id,
          from,
          type,
          rail,
          transferId: String(Reflect.get(row, members.transfer)),
          amount: Msat.make(debits ? -amount : amount),
          reason: textOf(members.reason),
          recipient: textOf(members.recipient) ?? "",
          description: textOf(members.description) ?? "",
          metadata: members.metadata === undefined ? Metadata.empty : Reflect.get(row, members.metadata),
          atMillis: Number(Reflect.get(row, members.atMillis))
        }
      })
  )
