import * as Msat from "@satrail/bitcoin/Msat"
import type { Network } from "@satrail/bitcoin/Network"
import { Clock, Effect, Result } from "effect"
import type { AccountReads } from "../accounts/AccountReads.ts"
import * as Limits from "../accounts/Limits.ts"
import * as Limit from "../ledger/Limit.ts"
import type { PayeeType } from "../ledger/Rail.ts"
import * as Destination from "./Destination.ts"

/**
 * An outgoing amount checked against limits. A voucher's recipient is null, because the claiming wallet
 * supplies the invoice. A transfer's is the other company's id.
 */
export interface Spending {
  /** Amount including fees. */
  readonly amount: Msat.Msat
  readonly recipientType: PayeeType
  readonly recipient: string | null
  readonly network: Network
}

/**
 * A limit that allows `user@domain` also allows payment through its DNS record. The reverse is not true:
 * `₿user@domain` allows only the DNS record.
 */
const isAmong = (
  recipients: ReadonlyArray<string>,
  { recipient, recipientType, network }: Spending
): boolean =>
  recipients.some((listed) => {
    if (recipientType === "account") return listed.toLowerCase() === recipient
    const parsed = Destination.parse(listed, network)
    const text = Result.isSuccess(parsed) ? Destination.text(parsed.success) : undefined
    return (
      text !== undefined && recipient !== null && (text === recipient || text === Destination.name(recipient))
    )
  })

/** Returns the limit, if any, that the amount alone exceeds, regardless of earlier spending. */
const refusedBy = (limits: Limits.Limits, spending: Spending): Limit.Name | undefined => {
  const { perWithdrawalSats, recipientTypes, recipients } = limits
  if (perWithdrawalSats !== undefined && spending.amount > Msat.fromSats(perWithdrawalSats))
    return "per_withdrawal_sats"
  if (recipientTypes !== undefined && !recipientTypes.includes(spending.recipientType))
    return "recipient_types"
  return recipients !== undefined && !isAmong(recipients, spending) ? "recipients" : undefined
}

/** Rejects an amount that alone exceeds a limit. Limits over a time window are checked in the commit. */
export const check = (
  spender: Limits.Spender,
  spending: Spending
): Effect.Effect<void, Limit.LimitExceeded> => {
  for (const { subject, limits } of Limits.limited(spender)) {
    const limit = refusedBy(limits, spending)
    if (limit === undefined) continue
    return Effect.fail(
      Limit.never(
        limit,
        subject,
        spender.company.id,
        limit === "per_withdrawal_sats" ? limits.perWithdrawalSats : undefined
      )
    )
  }
  return Effect.void
}

/** Adds to a limit error what remains, and when `need` more will be allowed. */
const withRoom = (
  { limit, of }: Limit.LimitExceeded,
  name: Limit.Counted,
  spent: ReadonlyArray<Limit.Spent>,
  { most, need, nowMillis }: { readonly most: bigint; readonly need: bigint; readonly nowMillis: number }
) =>
  new Limit.LimitExceeded({
    limit,
    of,
    freesAtMillis: Limit.freesAtMillis(spent, name, most, need, nowMillis),
    ...(name !== "day_count" && { remaining: Msat.make(Limit.left(spent, name, most, nowMillis)) })
  })

/** Adds the remaining amount to a limit error. The extra read happens only after a commit was rejected. */
const explained = Effect.fnUntraced(function* (
  reads: AccountReads["Service"],
  spender: Limits.Spender,
  amount: Msat.Msat,
  refusal: Limit.LimitExceeded
) {
  const { limit, of } = refusal
  const found = Limits.limited(spender).find(
    ({ subject }) => (subject === spender.company.id) === (of === "company")
  )
  const name = Limit.names.find((name) => name === limit)
  const most = found && name && Limits.mostOf(found.limits)[name]
  if (found === undefined || name === undefined || most === undefined) return refusal
  const spent = yield* reads.spent(spender.company.id, found.subject)
  return withRoom(refusal, name, spent, {
    most,
    need: Limit.needOf(name, amount),
    nowMillis: yield* Clock.currentTimeMillis
  })
})

/** Wraps a commit so that limit errors state the remaining amount. */
export const withRemaining =
  (reads: AccountReads["Service"], spender: Limits.Spender, amount: Msat.Msat) =>
  <A, E, R>(
    commit: Effect.Effect<A, E | Limit.LimitExceeded, R>
  ): Effect.Effect<A, E | Limit.LimitExceeded, R> =>
    Effect.catchIf(
      commit,
      (error): error is Limit.LimitExceeded => error instanceof Limit.LimitExceeded,
      (refusal) =>
        Effect.flatMap(
          Effect.orElseSucceed(explained(reads, spender, amount, refusal), () => refusal),
          Effect.fail
        )
    )

/**
 * Rejects a withdrawal that was waiting if the limits, which may be lower than at its request, no longer allow it. Held
 * amounts count as spent, so a limit over a time window also rejects it if more is counted than it allows.
 */
export const checkHeld = Effect.fnUntraced(function* (
  reads: AccountReads["Service"],
  spender: Limits.Spender,
  spending: Spending
) {
  yield* check(spender, spending)
  const nowMillis = yield* Clock.currentTimeMillis
  for (const { subject, limits } of Limits.limited(spender)) {
    const spent = yield* reads.spent(spender.company.id, subject)
    const mostOf = Limits.mostOf(limits)
    for (const name of Limit.names) {
      const { [name]: most = Msat.max } = mostOf
      const amount = Limit.needOf(name, spending.amount)
      if (
        amount <= most &&
        Limit.used(spent, name, Limit.oldest(Limit.counted[name].window, nowMillis)) <= most
      )
        continue
      const need = amount <= most ? 0n : amount // a held amount is counted already
      return yield* withRoom(Limit.exceeded(name, subject, spender.company.id), name, spent, {
        most,
        need,
        nowMillis
      })
    }
  }
})
