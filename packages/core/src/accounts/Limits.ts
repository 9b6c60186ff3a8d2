import * as Msat from "@satrail/bitcoin/Msat"
import { Schema } from "effect"
import * as Characters from "../base/Characters.ts"
import type * as CompanyId from "../base/CompanyId.ts"
import * as Limit from "../ledger/Limit.ts"
import { PayeeType } from "../ledger/Rail.ts"

/** Maximum number of recipients, and maximum number of withdrawals per day. */
export const maxRecipients = 50
export const maxTimes = 1_000_000

/** Maximum length of a recipient: an address, a Lightning address or an LNURL. */
export const maxRecipientCharacters = 500

const Sats = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number(Msat.toSats(Msat.max)) }))

/**
 * Sending limits of a key or company. Absent limits do not apply. Amounts are whole sats and include fees.
 * Windows slide; a month is 30 days.
 */
export const Limits = Schema.Struct({
  perWithdrawalSats: Schema.optionalKey(Sats),
  hourSats: Schema.optionalKey(Sats),
  daySats: Schema.optionalKey(Sats),
  monthSats: Schema.optionalKey(Sats),
  /** Maximum number of withdrawals, vouchers and transfers per day. */
  dayCount: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: maxTimes }))),
  /** Withdrawals above this need approval by another key. */
  approvalAboveSats: Schema.optionalKey(Sats),
  recipientTypes: Schema.optionalKey(Schema.Array(PayeeType)),
  /** Bitcoin addresses, Lightning addresses and LNURLs, in any equivalent spelling, and ids of companies. */
  recipients: Schema.optionalKey(
    Schema.Array(Schema.String.check(Characters.atMost(maxRecipientCharacters))).check(
      Schema.isMaxLength(maxRecipients)
    )
  )
})
export interface Limits extends Schema.Schema.Type<typeof Limits> {}

/** Returns new limits, given the current ones. */
export type Update = (now: Limits | null) => Limits | null

const amounts = [
  "perWithdrawalSats",
  "hourSats",
  "daySats",
  "monthSats",
  "dayCount",
  "approvalAboveSats"
] as const

/** Returns whether `before` is unlimited, or contains every entry of `after`. */
const isWithin = (
  before: ReadonlyArray<string> | undefined,
  after: ReadonlyArray<string> | undefined
): boolean => before === undefined || (after !== undefined && after.every((one) => before.includes(one)))

/**
 * Returns whether `after` allows a payment that `before` refused or held for approval. A list with a new entry
 * counts as wider.
 */
export const loosens = (before: Limits | null, after: Limits | null): boolean => {
  const [old, next] = [before ?? {}, after ?? {}]
  return (
    amounts.some((name) => (old[name] ?? Infinity) < (next[name] ?? Infinity)) ||
    !isWithin(old.recipientTypes, next.recipientTypes) ||
    !isWithin(old.recipients, next.recipients)
  )
}

const common = <A>(
  one: ReadonlyArray<A> | undefined,
  other: ReadonlyArray<A> | undefined
): ReadonlyArray<A> | undefined =>
  one === undefined ? other : other === undefined ? one : one.filter((entry) => other.includes(entry))

/** Returns limits that allow only what both limits allow. */
export const both = (one: Limits | null, other: Limits | null): Limits | null => {
  if (one === null || other === null) return one ?? other
  const least = amounts.map(
    (name) => [name, Math.min(one[name] ?? Infinity, other[name] ?? Infinity)] as const
  )
  const types = common(one.recipientTypes, other.recipientTypes)
  const recipients = common(one.recipients, other.recipients)
  return {
    ...Object.fromEntries(least.filter(([, amount]) => amount < Infinity)),
    ...(types !== undefined && { recipientTypes: types }),
    ...(recipients !== undefined && { recipients })
  }
}

/** Returns the limits that have a running total, in msat or as numbers of payments. */
export const mostOf = ({ hourSats, daySats, monthSats, dayCount }: Limits): Limit.Most => ({
  ...(hourSats !== undefined && { hour_sats: Msat.fromSats(hourSats) }),
  ...(daySats !== undefined && { day_sats: Msat.fromSats(daySats) }),
  ...(monthSats !== undefined && { month_sats: Msat.fromSats(monthSats) }),
  ...(dayCount !== undefined && { day_count: BigInt(dayCount) })
})

/** A sender: a company, and its API key if one makes the request. */
export interface Spender {
  readonly company: { readonly id: CompanyId.CompanyId; readonly limits?: Limits | null }
  readonly apiKey?:
    | { readonly id: string; readonly limits: Limits | null; readonly spendsAs: string | null }
    | undefined
}

/** Returns the id under which a key's spending and decisions count. It stays the same when the key is rotated. */
export const countedAs = ({
  id,
  spendsAs
}: Pick<NonNullable<Spender["apiKey"]>, "id" | "spendsAs">): string => spendsAs ?? id

/** Returns each subject that has limits, with the id under which its spending is counted. */
export const limited = ({
  company,
  apiKey
}: Spender): ReadonlyArray<{ readonly subject: string; readonly limits: Limits }> => [
  ...(apiKey?.limits ? [{ subject: countedAs(apiKey), limits: apiKey.limits }] : []),
  ...(company.limits ? [{ subject: company.id, limits: company.limits }] : [])
]

/** Returns the limit usage that a Change by this sender adds. */
export const countsOf = (spender: Spender, atMillis: number): ReadonlyArray<Limit.Count> =>
  limited(spender).map(({ subject, limits }) => ({ subject, atMillis, most: mostOf(limits) }))

/** Returns what remains of each limit that has a running total, in sats or as a number of payments. */
export const leftOf = (
  limits: Limits,
  spent: ReadonlyArray<Limit.Spent>,
  atMillis: number
): { readonly [name in Limit.Counted]?: bigint } => {
  const most = mostOf(limits)
  return Object.fromEntries(
    Limit.names.flatMap((name) => {
      const limit = most[name]
      return limit === undefined ? [] : [[name, Limit.left(spent, name, limit, atMillis)]]
    })
  )
}
