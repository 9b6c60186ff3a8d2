import * as Network from "@satrail/bitcoin/Network"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Limits from "@satrail/core/accounts/Limits"
import * as Id from "@satrail/core/base/Id"
import * as Characters from "@satrail/core/base/Characters"
import type { Spent } from "@satrail/core/ledger/Limit"
import { PayeeType } from "@satrail/core/ledger/Rail"
import * as Destination from "@satrail/core/sending/Destination"
import { Clock, Effect, Result, Schema } from "effect"
import * as Scalars from "./Scalars.ts"
import * as View from "./View.ts"

const Sats = Schema.Int.check(
  Schema.isBetween({ minimum: 0, maximum: Number(Msat.toSats(Msat.max)) })
).annotate({
  format: Scalars.format.amount,
  examples: [10_000]
})
const sats = (what: string) => Scalars.given(Sats.annotate({ description: `${what}, including fees` }))

const isRecipient = (text: string): boolean =>
  Id.is(text.toLowerCase()) ||
  Network.all.some((network) => {
    const parsed = Destination.parse(text, network)
    return Result.isSuccess(parsed) && parsed.success._tag !== "LightningInvoice"
  })

const notRecipient =
  "recipients must be Lightning addresses, LNURLs, BOLT 12 offers, bitcoin addresses or ids of companies"

/** Parsing a recipient is expensive, so the number of recipients is checked first. */
const Recipients = Schema.Array(Schema.String.check(Characters.atMost(Limits.maxRecipientCharacters)))
  .check(Schema.isMaxLength(Limits.maxRecipients).abort())
  .check(
    Schema.makeFilter((texts) =>
      texts.flatMap((text, at) => (isRecipient(text) ? [] : [{ path: [at], issue: notRecipient }]))
    )
  )

export const Body = Schema.Struct({
  per_withdrawal_sats: sats("Maximum of one withdrawal or voucher"),
  hour_sats: sats("Maximum within any hour"),
  day_sats: sats("Maximum within any 24 hours"),
  month_sats: sats("Maximum within any 30 days"),
  day_count: Scalars.given(
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Limits.maxTimes })).annotate({
      description: "Maximum number of withdrawals, vouchers and transfers within any 24 hours",
      examples: [50]
    })
  ),
  approval_above_sats: Scalars.given(
    Sats.annotate({
      description:
        "Approval threshold. A withdrawal above it, including fees, needs approval by another key with the `approve` scope. A voucher or transfer above it is rejected"
    })
  ),
  recipient_types: Scalars.given(
    Schema.Array(PayeeType).check(Schema.isMaxLength(PayeeType.literals.length)).annotate({
      description:
        "Allowed destination types. A voucher counts as a Lightning invoice, and a transfer as `account`"
    })
  ),
  recipients: Scalars.given(
    Recipients.annotate({
      description: `Allowed Lightning addresses, LNURLs, bitcoin addresses and ids of companies, at most ${Limits.maxRecipients}. If set, vouchers are not allowed`
    })
  )
}).annotate({ identifier: "GivenLimits" })

/** Returns the limits that the body sets, or null if it sets none. */
export const read = (body: typeof Body.Type | null | undefined): Limits.Limits | null => {
  if (body === null || body === undefined) return null
  const {
    per_withdrawal_sats,
    hour_sats,
    day_sats,
    month_sats,
    day_count,
    approval_above_sats,
    recipient_types,
    recipients
  } = body
  const limits: Limits.Limits = {
    ...(typeof per_withdrawal_sats === "number" && { perWithdrawalSats: per_withdrawal_sats }),
    ...(typeof hour_sats === "number" && { hourSats: hour_sats }),
    ...(typeof day_sats === "number" && { daySats: day_sats }),
    ...(typeof month_sats === "number" && { monthSats: month_sats }),
    ...(typeof day_count === "number" && { dayCount: day_count }),
    ...(typeof approval_above_sats === "number" && { approvalAboveSats: approval_above_sats }),
    ...(recipient_types && { recipientTypes: recipient_types }),
    ...(recipients && { recipients })
  }
  return Object.keys(limits).length === 0 ? null : limits
}

/** Limits as an idempotency key compares them: the order of a list does not count. */
export const unordered = (limits: Limits.Limits | null) =>
  limits && {
    ...limits,
    recipientTypes: limits.recipientTypes && new Set(limits.recipientTypes),
    recipients: limits.recipients && new Set(limits.recipients)
  }

const view = View.make<Limits.Limits>()(
  { identifier: "Limits" },
  {
    per_withdrawal_sats: [Schema.NullOr(Sats), (limits) => limits.perWithdrawalSats ?? null],
    hour_sats: [Schema.NullOr(Sats), (limits) => limits.hourSats ?? null],
    day_sats: [Schema.NullOr(Sats), (limits) => limits.daySats ?? null],
    month_sats: [Schema.NullOr(Sats), (limits) => limits.monthSats ?? null],
    day_count: [Schema.NullOr(Schema.Int), (limits) => limits.dayCount ?? null],
    approval_above_sats: [Schema.NullOr(Sats), (limits) => limits.approvalAboveSats ?? null],
    recipient_types: [Schema.NullOr(Schema.Array(PayeeType)), (limits) => limits.recipientTypes ?? null],
    recipients: [Schema.NullOr(Schema.Array(Schema.String)), (limits) => limits.recipients ?? null]
  }
)

/** Limits in responses, or null if there are none. Each limit that is not set is null. */
export const schema = Schema.NullOr(view.schema)
export const of = (limits: Limits.Limits | null): typeof schema.Type => limits && view.of(limits)

/** Returns the limits after a PATCH: an omitted one stays, and null removes one. */
export const patched =
  (body: typeof Body.Type): Limits.Update =>
  (now) =>
    read({ ...of(now), ...body })

const whole = (amount: bigint | undefined): number | null =>
  amount === undefined ? null : Scalars.sats(Msat.make(amount))

const left = View.make<ReturnType<typeof Limits.leftOf>>()(
  { identifier: "LimitsRemaining" },
  {
    hour_sats: [Schema.NullOr(Sats), ({ hour_sats }) => whole(hour_sats)],
    day_sats: [Schema.NullOr(Sats), ({ day_sats }) => whole(day_sats)],
    month_sats: [Schema.NullOr(Sats), ({ month_sats }) => whole(month_sats)],
    day_count: [
      Schema.NullOr(Schema.Int),
      ({ day_count }) => (day_count === undefined ? null : Number(day_count))
    ]
  }
)

/** Remaining amount or count of each limit that applies to a period. */
export const remaining = Schema.NullOr(left.schema)

export const remainingOf = (
  limits: Limits.Limits | null,
  spent: ReadonlyArray<Spent>
): Effect.Effect<typeof remaining.Type> =>
  Effect.map(
    Clock.currentTimeMillis,
    (nowMillis) => limits && left.of(Limits.leftOf(limits, spent, nowMillis))
  )

export const example = {
  per_withdrawal_sats: 2000,
  day_sats: 10_000,
  recipient_types: ["lightning_invoice" as const]
}
