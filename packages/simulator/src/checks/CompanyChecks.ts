import * as BitcoinAddress from "@satrail/bitcoin/BitcoinAddress"
import * as Msat from "@satrail/bitcoin/Msat"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as Pages from "@satrail/core/base/Pages"
import * as Answer from "@satrail/core/ledger/Answer"
import type { Deposit } from "@satrail/core/receiving/Deposit"
import * as Booking from "@satrail/core/reports/Booking"
import * as Bookings from "@satrail/core/reports/Bookings"
import type { Transaction } from "@satrail/core/reports/Transaction"
import * as Destination from "@satrail/core/sending/Destination"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import type { AllReads } from "@satrail/core/service/Records"
import { Effect, Option, Stream } from "effect"
import type * as Feature from "../features/Feature.ts"
import { records as features } from "../features/index.ts"
import type { World } from "../world/World.ts"
import { claim, same } from "./Violation.ts"
import * as Cause from "@satrail/core/sending/Cause"

/** All records of a company. */
export interface Company extends Feature.Moved {
  readonly id: CompanyId.CompanyId
  /** The company's records of the types that features define. */
  readonly own: ReadonlyArray<{
    readonly of: Feature.Record
    readonly rows: ReadonlyArray<Feature.Standing>
  }>
}

const size = 1000

export const read = Effect.fnUntraced(function* (records: AllReads, id: CompanyId.CompanyId) {
  const lines = yield* Pages.all(size, (after: Transaction | null) =>
    records.transactions(id, { limit: size, ...(after !== null && { after }) })
  )
  const withdrawals: Array<Withdrawal.Withdrawal> = []
  const deposits: Array<Deposit> = []
  for (const line of lines) {
    if (line.type === "withdrawal")
      withdrawals.push(Option.getOrThrow(yield* records.withdrawal(id, line.id)))
    else deposits.push(Option.getOrThrow(yield* records.deposit(id, line.id)))
  }
  const own = yield* Effect.forEach(features, (of) =>
    Effect.map(records.newestFirst(of.noun, id, null, size), (rows) => ({ of, rows }))
  )
  return { id, withdrawals, deposits, own } satisfies Company
})

/** Checks that the balance is the sum of the transactions. */
export const adds = Effect.fnUntraced(function* (records: AllReads, company: Company) {
  const { id, withdrawals, deposits, own } = company
  for (const { of, rows } of own) of.fits?.(rows, company)
  const { posted, held } = yield* records.balance(id)
  const came = Msat.sum(
    ...deposits.map(({ status, amount, absorbed }) => (status === "settled" ? amount : absorbed))
  )
  const went = Msat.sum(...withdrawals.filter(({ status }) => status === "settled").map(Withdrawal.held))
  same(posted, came - went, `the balance of company ${id} equals deposits minus withdrawals`)
  const waiting = withdrawals.filter(({ status }) => status === "pending").map(Withdrawal.held)
  const offered = own.flatMap(({ of, rows }) => rows.map(of.held))
  same(held, Msat.sum(...waiting, ...offered), `the held amount of company ${id} equals what is in flight`)
})

/** Checks that the export ends with the balance, and that its lines are exactly the effects of the payments. */
export const exported = Effect.fnUntraced(function* (
  records: AllReads,
  { id, withdrawals, deposits }: Company
) {
  const { lines } = yield* Bookings.make
  const always = { fromMillis: 0, untilMillis: Number.MAX_SAFE_INTEGER }
  const all = yield* Effect.flatMap(lines(id, always), Stream.runCollect)
  same(
    all.at(-1)?.balance,
    (yield* records.balance(id)).posted,
    `the export of company ${id} ends with its balance`
  )
  const sums = new Map<string | undefined, Msat.Msat>()
  for (const line of all) {
    if (line._tag !== "Booked") continue
    const about = line.subject?.id
    sums.set(about, Msat.sum(sums.get(about) ?? Msat.zero, Booking.total(line.booking)))
  }
  const effects = [
    ...withdrawals.map(
      (row) => [row.id, row.status === "settled" ? Msat.make(-Withdrawal.held(row)) : Msat.zero] as const
    ),
    ...deposits.map(
      ({ id, status, amount, absorbed }) => [id, status === "settled" ? amount : absorbed] as const
    )
  ]
  for (const [about, effect] of effects) {
    same(sums.get(about) ?? Msat.zero, effect, `the export has a payment's effect on the balance: ${about}`)
    sums.delete(about)
  }
  same(sums.size, 0, `the export of company ${id} has only its payments`)
})

/** Checks uniqueness: one credit per invoice or output, one effect per key. */
export const isOnce = ({ withdrawals, deposits, own }: Company): void => {
  const unique = new Set<string>()
  const add = (name: string, promise: string) => {
    claim(!unique.has(name), `${promise}: ${name}`)
    unique.add(name)
  }
  for (const { lightningInvoiceId, chainTxId, vout } of deposits) {
    if (lightningInvoiceId !== null) add(lightningInvoiceId, "an invoice is credited only once")
    if (chainTxId !== null) add(`${chainTxId}:${vout}`, "an output is credited once")
  }
  const claimed = new Set(own.flatMap(({ of, rows }) => rows.flatMap((row) => of.became(row) ?? [])))
  // Leave out withdrawals created for a feature's record, such as a refund, because they repeat that record's
  // metadata.
  const asked = withdrawals.filter((row) => !claimed.has(row.id) && !Cause.isSet(row))
  for (const { metadata } of asked)
    if ("once" in metadata) add(String(metadata["once"]), "an idempotency key takes effect once")
  const others = own.flatMap(({ of, rows }) =>
    rows.map((row) => ({ at: row.createdAtMillis, once: of.asked(row)?.["once"] }))
  )
  const firstAt = new Map<unknown, number>()
  for (const { once, at } of others.toSorted((a, b) => a.at - b.at)) {
    if (once === undefined) continue
    // A process that sleeps for a month during a repeated request wakes up after its key was forgotten.
    const isForgotten = at >= (firstAt.get(once) ?? at) + Answer.keptMillis
    if (isForgotten) continue
    add(String(once), "an idempotency key takes effect once")
    firstAt.set(once, at)
  }
}

/** Checks that no payment of the company is in flight. */
export const hasEnded = (company: Company): void => {
  const { withdrawals, deposits, own } = company
  for (const { id, status, recipient, paymentHash } of withdrawals)
    claim(
      status !== "pending",
      `no withdrawal stays pending: withdrawal ${id} to ${recipient} (${paymentHash})`
    )
  for (const { of, rows } of own)
    for (const { id, status } of rows)
      claim(
        of.moves[status] === undefined || of.rests?.includes(status) === true,
        `no ${of.kind} stays ${status}: ${id}`
      )
  for (const { id, status } of deposits)
    claim(status !== "pending", `no deposit stays pending: deposit ${id}`)
  for (const { of, rows } of own) of.ended?.(rows, company)
}

/**
 * Returns the final state of the company's records. Sending costs are omitted, because they depend on the payee
 * and on other payments.
 */
export const ending = ({ withdrawals, deposits, own }: Company): string =>
  [
    ...withdrawals.map(
      ({ status, amount, failure, preimage }) =>
        `withdrawal ${status} ${amount} ${failure} ${preimage === null}`
    ),
    ...deposits.map(({ status, amount, absorbed }) => `deposit ${status} ${amount} ${absorbed}`),
    ...own.flatMap(({ of, rows }) => rows.map(of.ending))
  ]
    .toSorted()
    .join(", ")

/** Checks that on-chain payees received each amount exactly as often as it was sent. */
export const paidOnChain = Effect.fnUntraced(function* (
  { records, sandbox }: World,
  companies: ReadonlyArray<Company>
) {
  const sent = new Map<string, Array<Msat.Msat>>()
  for (const { rail, recipient, paymentRequest, status, amount } of companies.flatMap(
    ({ withdrawals }) => withdrawals
  )) {
    // A name that was never paid was never resolved to an address.
    if (rail !== "on_chain" || (paymentRequest === null && Destination.isInDns(recipient))) continue
    const { scriptPubKey } = yield* Effect.fromResult(
      BitcoinAddress.decode(paymentRequest ?? recipient, "regtest")
    )
    if ((yield* records.onChainAddresses([scriptPubKey])).length > 0) continue
    sent.set(scriptPubKey, [...(sent.get(scriptPubKey) ?? []), ...(status === "settled" ? [amount] : [])])
  }
  const listed = (amounts: ReadonlyArray<Msat.Msat>) => amounts.map(String).toSorted().join()
  for (const [scriptPubKey, amounts] of sent) {
    const outputs = (yield* sandbox.outputsTo(scriptPubKey)).filter(
      ({ placement }) => placement._tag === "mined"
    )
    same(
      listed(outputs.map(({ amount }) => amount)),
      listed(amounts),
      `every settled payout is in a block: ${scriptPubKey}`
    )
  }
})
