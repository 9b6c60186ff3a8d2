import * as Msat from "@satrail/bitcoin/Msat"
import * as Preimage from "@satrail/bitcoin/Preimage"
import type { TxId } from "@satrail/bitcoin/TxId"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import { type Deposit, isTooSmall } from "@satrail/core/receiving/Deposit"
import type { Invoice } from "@satrail/core/receiving/Invoice"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import type { AllReads } from "@satrail/core/service/Records"
import * as Chain from "@satrail/sandbox/Chain"
import * as Lightning from "@satrail/sandbox/Lightning"
import type { Sandbox } from "@satrail/sandbox/Sandbox"
import { Effect, Option } from "effect"
import type { Coverage } from "../world/Coverage.ts"
import type { Row } from "./Seen.ts"
import { all, records as features } from "../features/index.ts"
import { claim, same, Violation } from "./Violation.ts"
import * as Purpose from "@satrail/core/receiving/Purpose"

/** The state of the simulated outside world. */
export type Outside = Effect.Success<Sandbox["Service"]["state"]>

/** Allowed transitions. A status without an entry is final. */
const moves: { readonly [kind: string]: { readonly [from: string]: ReadonlyArray<string> } } = {
  ...Object.fromEntries(features.map(({ kind, moves }) => [kind, moves])),
  withdrawal: Object.assign(
    { pending: ["settled", "failed"] },
    ...all.map(({ withdrawalMoves }) => withdrawalMoves)
  ),
  deposit: { pending: ["settled", "failed"], settled: ["pending", "failed"], failed: ["pending", "settled"] },
  invoice: {
    pending: ["claimed", "held", "settling", "settled", "expired", "canceling", "canceled"],
    claimed: ["pending", "settled", "expired"],
    held: ["settling", "settled", "canceling", "canceled"],
    settling: ["settled", "canceled"],
    expired: ["settled"],
    canceling: ["canceled", "settled"],
    canceled: ["settled"]
  }
}

/** Returns whether a transaction is in a block or can still confirm. */
export const isLive = (now: Outside, txId: TxId): boolean =>
  (Chain.transaction(now.chain, txId)?.placement._tag ?? "gone") !== "gone"

/** Returns whether one of our withdrawals settled this invoice internally, without the node. */
export const paidInside = (records: AllReads, paymentHash: Invoice["paymentHash"]) =>
  Effect.map(
    records.withdrawalByHash(paymentHash),
    Option.filter(({ dispatchedAtMillis }) => dispatchedAtMillis === null)
  )

/**
 * Returns a withdrawal's payment hash: that of its invoice, or that of the invoice received by its attempt to
 * pay an offer.
 */
export const hashOf = ({ id, paymentHash }: Withdrawal.Withdrawal, { lightning }: Outside) =>
  paymentHash ?? Lightning.tried(lightning, id)?.paymentHash ?? null

const sentByLightning = Effect.fnUntraced(function* (
  records: AllReads,
  row: Withdrawal.Withdrawal,
  now: Outside
) {
  const { id, status, amount, preimage, networkFee } = row
  const paymentHash = hashOf(row, now)
  if (paymentHash === null)
    return claim(
      status !== "settled" || !Withdrawal.isByOffer(row),
      `a settled offer payment has a hash: ${id}`
    )
  if (row.reportedHash !== null)
    same(row.reportedHash, paymentHash, `an offer payment reports its attempt's hash: ${id}`)
  const isInternal =
    row.dispatchedAtMillis === null && Option.isSome(yield* records.invoiceByHash(paymentHash))
  const asked = Lightning.payeeInvoice(now.lightning, paymentHash)
  const sent = Lightning.sent(now.lightning, paymentHash)
  if (status === "settled")
    claim(
      preimage !== null && Preimage.proves(preimage, paymentHash),
      `a settled withdrawal has a valid preimage: ${id}`
    )
  if (status === "settled" && !isInternal) {
    same(asked?.times ?? 0, 1, `a settled withdrawal was paid once: withdrawal ${id}`)
    same(asked?.received, amount, `the payee received the amount sent: withdrawal ${id}`)
    same(networkFee, sent?.fee, `the network fee is what the node reports: withdrawal ${id}`)
  }
  if (status === "failed") {
    same(asked?.times ?? 0, 0, `a failed withdrawal was not paid: withdrawal ${id}`)
    claim(
      sent === undefined || sent.stage._tag === "failed",
      `a failed withdrawal is not in flight: withdrawal ${id}`
    )
  }
})

const sentOnChain = Effect.fnUntraced(function* (
  records: AllReads,
  row: Withdrawal.Withdrawal,
  now: Outside
) {
  const { id, companyId, status, chainTxId } = row
  const candidates = yield* records.candidates(companyId, id)
  const live = candidates.filter(({ txId }) => isLive(now, txId))
  claim(live.length <= 1, `a payout is paid by at most one transaction: withdrawal ${id}`)
  if (status === "failed") same(live.length, 0, `a failed withdrawal is not in flight: withdrawal ${id}`)
  if (status === "settled" && candidates.length > 0)
    claim(
      candidates.some(({ txId }) => txId === chainTxId),
      `a payout settles with one of its candidates: withdrawal ${id}`
    )
})

/** Checks that a withdrawal matches its effects outside the service. It can be called at any moment. */
export const withdrawal = (records: AllReads, row: Withdrawal.Withdrawal, now: Outside) => {
  for (const { withdrawal } of all) withdrawal?.(row)
  return row.rail === "lightning" ? sentByLightning(records, row, now) : sentOnChain(records, row, now)
}

const invoiceOf = Effect.fnUntraced(function* (
  records: AllReads,
  companyId: CompanyId.CompanyId,
  id: string
) {
  const found = yield* records.invoice(companyId, id)
  return Option.getOrThrowWith(found, () => new Violation(`there is no invoice ${id}`))
})

/**
 * Checks that a settled invoice received exactly what the node was paid for it, or what one of our
 * withdrawals paid.
 */
const invoice = Effect.fnUntraced(function* (
  records: AllReads,
  row: Invoice,
  now: Outside,
  isSettledByItsCompany: (invoiceId: string) => boolean
) {
  claim(
    row.status === "settled" || row.received === null,
    `an invoice receives nothing before it is settled: invoice ${row.id}`
  )
  if (row.status !== "settled") return
  if (row.hold !== null)
    claim(
      isSettledByItsCompany(row.id),
      `a held payment is credited once its company settles it: invoice ${row.id}`
    )
  const stage = Lightning.invoice(now.lightning, row.paymentHash)?.stage
  const inside = yield* paidInside(records, row.paymentHash)
  if (Option.isSome(inside)) {
    same(
      inside.value.status,
      "settled",
      `the withdrawal that pays an invoice internally is settled: ${row.id}`
    )
    return same(row.received, inside.value.amount, `an invoice receives what the withdrawal sent: ${row.id}`)
  }
  same(stage?._tag, "settled", `a settled invoice is also settled at the node: ${row.id}`)
  if (stage?._tag === "settled")
    same(row.received, stage.received, `an invoice receives what the node received: ${row.id}`)
})

/** Checks that a deposit credits exactly what arrived. It can be called at any moment. */
export const deposit = Effect.fnUntraced(function* (records: AllReads, row: Deposit, now: Outside) {
  const { id, companyId, lightningInvoiceId, chainTxId, vout, amount, status } = row
  if (lightningInvoiceId !== null) {
    const paid = yield* invoiceOf(records, companyId, lightningInvoiceId)
    same(paid.status, "settled", `a deposit's invoice is settled: ${id}`)
    same(amount, paid.received, `a deposit credits the amount received: deposit ${id}`)
    for (const [member, of] of Object.entries(Purpose.referencesOf(paid)))
      same(Reflect.get(row, member), of, `a deposit has its invoice's ${member}: ${id}`)
  }
  if (chainTxId !== null) {
    const output = Chain.output(now.chain, `${chainTxId}:${vout}`)
    same(amount, output && Msat.fromSats(output.output.sats), `a deposit has its output's amount: ${id}`)
    const placement = output?.of.placement._tag
    if (status === "failed" && !isTooSmall(row))
      same(placement, "gone", `a deposit fails only if its transaction is gone: ${id}`)
  }
})

/** Checks each touched record, and that its new status may follow the previous one. */
export const make = (
  records: AllReads,
  coverage: Coverage,
  isSettledByItsCompany: (invoiceId: string) => boolean
) => {
  const statuses = new Map<string, string>()
  const paid = all.flatMap(({ paid }) => (paid === undefined ? [] : [paid(records, coverage)]))

  const moved = ({ kind, id }: Row, status: string): void => {
    const before = statuses.get(id)
    if (before === status) return
    statuses.set(id, status)
    coverage.count("transition", `${kind}: ${before ?? "nothing"} to ${status}`)
    if (before !== undefined)
      claim(
        moves[kind]?.[before]?.includes(status) === true,
        `the transition from ${before} to ${status} is not allowed: ${kind} ${id}`
      )
  }

  return Effect.fnUntraced(function* (row: Row, now: Outside) {
    const { companyId, id } = row
    switch (row.kind) {
      case "withdrawal": {
        const found = Option.getOrThrow(yield* records.withdrawal(companyId, id))
        moved(row, Withdrawal.standing(found))
        for (const check of paid) yield* check.withdrawal(found, now.lightning)
        return yield* withdrawal(records, found, now)
      }
      case "deposit": {
        // If the payment was credited before, no second deposit exists.
        const found = Option.getOrUndefined(yield* records.deposit(companyId, id))
        if (found === undefined) return
        moved(row, found.status)
        for (const check of paid) yield* check.deposit(found)
        return yield* deposit(records, found, now)
      }
      case "invoice": {
        const found = yield* invoiceOf(records, companyId, id)
        moved(row, found.status)
        return yield* invoice(records, found, now, isSettledByItsCompany)
      }
      default: {
        const own = features.find(({ kind }) => kind === row.kind)
        if (own !== undefined)
          return moved(row, Option.getOrThrow(yield* records.get(own.noun, companyId, id)).status)
      }
    }
  })
}
