import * as Msat from "@satrail/bitcoin/Msat"
import { Schema } from "effect"
import * as Characters from "../base/Characters.ts"
import type * as CompanyId from "../base/CompanyId.ts"
import * as Limit from "../ledger/Limit.ts"
import { RecipientType } from "../ledger/Rail.ts"

/** The most recipients that a key or a company can be limited to, and the most withdrawals that a day can be. */
export const maxRecipients = 50
export const maxTimes = 1_000_000

/** The longest recipient: an address, a Lightning address or an LNURL. */
export const maxRecipientCharacters = 500

const Sats = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number(Msat.toSats(Msat.max)) }))

/** What a key, or a company, may send. What is absent is not limited. Amounts are whole sats, and fees count. Windows slide; a month is 30 days. */
export const Limits = Schema.Struct({
  perWithdrawalSats: Schema.optionalKey(Sats),
  hourSats: Schema.optionalKey(Sats),
  daySats: Schema.optionalKey(Sats),
  monthSats: Schema.optionalKey(Sats),
  /** How many withdrawals and vouchers a day. */
  dayCount: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: maxTimes }))),
  /** What comes to more is sent once another key has approved it. */
  approvalAboveSats: Schema.optionalKey(Sats),
  recipientTypes: Schema.optionalKey(Schema.Array(RecipientType)),
  /** Addresses, Lightning addresses and LNURLs, however they are written. */
  recipients: Schema.optionalKey(
    Schema.Array(Schema.String.check(Characters.atMost(maxRecipientCharacters))).check(Schema.isMaxLength(maxRecipients))
  )
})
export interface Limits extends Schema.Schema.Type<typeof Limits> {}

const amounts = ["perWithdrawalSats", "hourSats", "daySats", "monthSats", "dayCount", "approvalAboveSats"] as const

/** Whether every member of `after` is one of `before`, where `before` confines to a list. */
const isWithin = (before: ReadonlyArray<string> | undefined, after: ReadonlyArray<string> | undefined): boolean =>
  before === undefined || (after !== undefined && after.every((one) => before.includes(one)))

/** Whether something that was refused or had to be approved under `before` can be sent under `after`. A list with a member that was not in it counts as wider. */
export const loosens = (before: Limits | null, after: Limits | null): boolean => {
  const [old, next] = [before ?? {}, after ?? {}]
  return (
    amounts.some((name) => (old[name] ?? Infinity) < (next[name] ?? Infinity)) ||
    !isWithin(old.recipientTypes, next.recipientTypes) ||
    !isWithin(old.recipients, next.recipients)
  )
}

/** The limits that are counted, in msat, and how often. */
export const mostOf = ({ hourSats, daySats, monthSats, dayCount }: Limits): Limit.Most => ({
  ...(hourSats !== undefined && { hour_sats: Msat.fromSats(hourSats) }),
  ...(daySats !== undefined && { day_sats: Msat.fromSats(daySats) }),
  ...(monthSats !== undefined && { month_sats: Msat.fromSats(monthSats) }),
  ...(dayCount !== undefined && { day_count: BigInt(dayCount) })
})

/** Who sends: a company, and the key that asks for it where one does. */
export interface Spender {
  readonly company: { readonly id: CompanyId.CompanyId; readonly limits?: Limits | null }
  readonly apiKey?: { readonly id: string; readonly limits: Limits | null; readonly spendsAs: string | null } | undefined
}

/** Whoever has limits, by the id that it is counted under: a key that replaces another goes on where that one was. */
export const limited = ({ company, apiKey }: Spender): ReadonlyArray<{ readonly subject: string; readonly limits: Limits }> => [
  ...(apiKey?.limits ? [{ subject: apiKey.spendsAs ?? apiKey.id, limits: apiKey.limits }] : []),
  ...(company.limits ? [{ subject: company.id, limits: company.limits }] : [])
]

/** Against what a Change of theirs is counted. */
export const countsOf = (spender: Spender, atMillis: number): ReadonlyArray<Limit.Count> =>
  limited(spender).map(({ subject, limits }) => ({ subject, atMillis, most: mostOf(limits) }))

/** What is left of each limit that is counted, in sats or times. */
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
