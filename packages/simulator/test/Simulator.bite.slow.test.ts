import { assert, describe, it } from "@effect/vitest"
import * as Bolt12 from "@satrail/bitcoin/Bolt12"
import * as Msat from "@satrail/bitcoin/Msat"
import { AccountReads } from "@satrail/core/accounts/AccountReads"
import type { Limits } from "@satrail/core/accounts/Limits"
import * as Changes from "@satrail/core/service/Changes"
import type { Change } from "@satrail/core/service/Changes"
import * as LedgerChange from "@satrail/core/ledger/Change"
import * as Journal from "@satrail/core/ledger/Journal"
import { ChainSource, type Placement } from "@satrail/core/nodes/ChainSource"
import { OfferReads } from "@satrail/features/offers/core/OfferReads"
import { LedgerReads } from "@satrail/core/ledger/LedgerReads"
import { LightningReceiver } from "@satrail/core/nodes/LightningReceiver"
import { LightningSender } from "@satrail/core/nodes/LightningSender"
import { CheckoutNotOpen } from "@satrail/features/checkouts/core/Checkout"
import { Context, Effect, Option, Stream } from "effect"
import { shrink } from "../src/Shrink.ts"
import * as Simulation from "../src/Simulation.ts"
import * as Store from "../src/world/Store.ts"
import { SendingReads } from "@satrail/core/sending/SendingReads"
import { taskKind } from "@satrail/core/sending/Withdrawal"
import type { Ports } from "../src/world/Wire.ts"
import type { Spoil } from "../src/world/World.ts"

const over =
  <I extends Ports, S>(
    key: Context.Key<I, S>,
    change: (service: S, ports: Context.Context<Ports>) => S
  ): Spoil =>
  (ports) =>
    Context.add(ports, key, change(Context.get(ports, key), ports))

/** A journal that alters Changes. */
const committing = (change: (change: Change) => Change): Spoil =>
  over(Journal.Journal, (journal) => Changes.journal((decided) => journal.commit(change(decided))))

/** A journal that reports this status for a checkout that is about to be canceled. */
const callingCheckouts = (status: string): Spoil =>
  over(Journal.Journal, (journal) =>
    Changes.journal((decided) =>
      decided._tag === "CheckoutCanceled"
        ? Effect.fail(new CheckoutNotOpen({ id: decided.id, status }))
        : journal.commit(decided)
    )
  )

/** Returns the limits without the approval threshold. */
const without = (limits: Limits | null): Limits | null => {
  const { approvalAboveSats: _, ...others } = limits ?? {}
  return limits && others
}

/**
 * Defects that lost money or nearly did, with the message that reveals each and the maximum number of scenarios
 * needed. If many would be needed, the first seed is shortly before one that reveals the defect.
 */
const spoiled: Readonly<
  Record<string, readonly [spoil: Spoil, noticed: RegExp, stories: number, first?: number]>
> = {
  "C1: a sender that reports unknown payments as failed": [
    over(LightningSender, (sender) =>
      LightningSender.of({
        ...sender,
        pay: (ask) =>
          Effect.map(sender.pay(ask), (payment) =>
            payment._tag === "unknown" ? { _tag: "failed", reason: "timeout" } : payment
          )
      })
    ),
    /(a failed withdrawal was not paid|a failed withdrawal is not in flight)/,
    10,
    2
  ],
  "C1: a sender that reports held payments as failed": [
    over(LightningSender, (sender) =>
      LightningSender.of({
        ...sender,
        lookupPayment: (hash) =>
          Effect.map(sender.lookupPayment(hash), (payment) =>
            payment._tag === "pending" ? { _tag: "failed", reason: "timeout" } : payment
          )
      })
    ),
    /(a failed withdrawal was not paid|a failed withdrawal is not in flight)/,
    10
  ],
  "C8: a sender whose calls still arrive after its grace period": [
    over(LightningSender, (sender) => LightningSender.of({ ...sender, graceMillis: 0 })),
    /(a failed withdrawal was not paid|a failed withdrawal is not in flight)/,
    20,
    40
  ],
  "C33: a journal that credits the requested amount instead of the received one": [
    committing((change) => {
      if (change._tag !== "InvoiceSettled") return change
      const whole = (amount: Msat.Msat) => Msat.fromSats(Msat.toSats(amount))
      const legs = change.legs.map(({ companyId, postings }) => ({
        companyId,
        postings: postings.map((posting) => ({ ...posting, amount: whole(posting.amount) }))
      }))
      const [invoice, deposit, address] = change.writes
      const amount = whole(deposit.record.amount)
      return {
        ...change,
        writes: [
          { ...invoice, set: { ...invoice.set, received: amount } },
          { ...deposit, record: { ...deposit.record, amount } },
          address
        ],
        legs
      }
    }),
    /an invoice receives what the node received/,
    10
  ],
  "C45: a chain source that reports unknown transactions as gone": [
    over(ChainSource, (chain) =>
      ChainSource.of({
        ...chain,
        transaction: (txId) =>
          Effect.orElseSucceed(chain.transaction(txId), (): Placement => ({ _tag: "gone" }))
      })
    ),
    /a deposit fails only if its transaction is gone/,
    30,
    36
  ],
  "a journal that forgets the request of an idempotency key": [
    committing(({ once: _, ...change }) => change),
    /a key is not used for something else|a repeated request|an idempotency key takes effect once/,
    40
  ],
  "a journal that expires a voucher without releasing its hold": [
    committing((change) =>
      change._tag === "VoucherExpired"
        ? { ...change, legs: change.legs.map((leg) => ({ ...leg, postings: [] })) }
        : change
    ),
    /add up to its held amount|equals what is in flight/,
    10
  ],
  "C21: a journal that returns nothing to the deposit when a refund fails": [
    committing((change) =>
      change._tag === "RefundFailed" || change._tag === "RefundExpired" || change._tag === "RefundCanceled"
        ? { ...change, writes: [change.writes[0], { ...change.writes[1], amount: 0n }] }
        : change
    ),
    /a deposit's refunded amount equals its refunds/,
    20
  ],
  "a node that settles payments that should be returned": [
    over(LightningReceiver, ({ holding, ...receiver }) =>
      LightningReceiver.of({
        ...receiver,
        ...(holding && {
          holding: {
            ...holding,
            cancel: (hold) => Effect.andThen(Effect.ignore(holding.settle(hold, null)), holding.cancel(hold))
          }
        })
      })
    ),
    /a held payment is credited once its company settles it/,
    40
  ],
  "a journal that credits a suspense item twice": [
    committing((change) => {
      if (change._tag !== "PaymentAssigned") return change
      const [assignment, deposit] = change.writes
      const amount = Msat.make(2n * assignment.record.amount)
      return {
        ...change,
        writes: [
          { ...assignment, record: { ...assignment.record, amount } },
          { ...deposit, record: { ...deposit.record, amount } }
        ],
        legs: change.legs.map((leg) => ({
          ...leg,
          postings: leg.postings.map((posting) => ({ ...posting, amount }))
        }))
      }
    }),
    /no more leaves suspense than was received/,
    60,
    3
  ],
  "a journal that credits the payer of our own offer": [
    committing((change) =>
      change._tag === "InternalTransferred" && Bolt12.isBolt12(change.deposit.recipient)
        ? {
            ...change,
            deposit: { ...change.deposit, companyId: change.companyId },
            legs: change.legs.map((leg) => ({ ...leg, companyId: change.companyId }))
          }
        : change
    ),
    /a payment for our offer belongs to the offer's company/,
    20,
    5
  ],
  "C60: a node that does not report payments of its offers": [
    over(LightningReceiver, (receiver) =>
      LightningReceiver.of({
        ...receiver,
        settlements: (after) =>
          Stream.filter(receiver.settlements(after), ({ offerId }) => offerId === undefined)
      })
    ),
    /the node's balance matches the books/,
    20,
    5
  ],
  "a store that does not recognize our offers": [
    over(OfferReads, () => OfferReads.of({ offerByText: () => Effect.succeedNone })),
    /our offers are never paid through the node/,
    20,
    5
  ],
  "a journal that does not update a checkout when it is paid": [
    committing((change) =>
      change._tag === "InvoiceSettled" || change._tag === "DepositSeen" ? { ...change, jobs: [] } : change
    ),
    /a fully paid checkout has the status paid/,
    20,
    16
  ],
  "a journal that marks an unpaid checkout as paid once its invoice is canceled": [
    callingCheckouts("paid"),
    /a refused request changes nothing: .*did InvoiceCanceled/,
    20,
    11
  ],
  "a journal that marks an open checkout as expired once its invoice is canceled": [
    callingCheckouts("expired"),
    /a refused request changes nothing: .*did InvoiceCanceled/,
    20,
    11
  ],
  "a journal that ignores frozen companies": [
    committing((change) => {
      const { unlessFrozen: _, ...heedless } = change
      return heedless
    }),
    /nothing new is accepted while paused \(frozen\)/,
    20,
    9
  ],
  "a journal that counts limits in the previous hour": [
    committing((change) =>
      change._tag === "WithdrawalRequested" && change.counts !== undefined
        ? {
            ...change,
            counts: change.counts.map((count) => ({ ...count, atMillis: count.atMillis - 3_700_000 }))
          }
        : change
    ),
    /no window exceeds its limit/,
    20,
    158
  ],
  "a store that gives a withdrawal that awaits approval a job, and returns it as approved": [
    (ports) =>
      over(SendingReads, (reads) =>
        SendingReads.of({
          ...reads,
          withdrawal: (companyId, id) =>
            Effect.map(
              reads.withdrawal(companyId, id),
              Option.map((row) => (row.approval === "waiting" ? { ...row, approval: "approved" } : row))
            )
        })
      )(
        committing((change) =>
          change._tag === "WithdrawalRequested" && change.writes[0].record.approval === "waiting"
            ? {
                ...change,
                jobs: [LedgerChange.enqueue({ kind: taskKind, id: change.id, dueAtMillis: change.atMillis })]
              }
            : change
        )(ports)
      ),
    /nothing is sent without approval/,
    40
  ],
  "a journal that releases too little of a rejected withdrawal": [
    committing((change) => {
      if (change._tag !== "WithdrawalRejected") return change
      const less = (amount: Msat.Msat) => Msat.make(amount - 1000n)
      const legs = change.legs.map(({ companyId, postings }) => ({
        companyId,
        postings: postings.map((posting) => ({ ...posting, amount: less(posting.amount) }))
      }))
      return { ...change, legs }
    }),
    /a rejection returns the full amount held|add up to its held amount/,
    40
  ],
  "a journal that forgets which key requested a withdrawal": [
    committing((change) => {
      if (change._tag !== "WithdrawalRequested") return change
      const [{ record, ...insert }] = change.writes
      return { ...change, writes: [{ ...insert, record: { ...record, approvalAskedBy: null } }] }
    }),
    /the requesting key does not approve/,
    20,
    23
  ],
  "a store that forgets the approval threshold": [
    over(AccountReads, (reads) =>
      AccountReads.of({
        ...reads,
        apiKey: (id) =>
          Effect.map(
            reads.apiKey(id),
            Option.map(({ apiKey, companyLimits, ...holder }) => ({
              ...holder,
              apiKey: { ...apiKey, limits: without(apiKey.limits) },
              companyLimits: without(companyLimits)
            }))
          )
      })
    ),
    /a withdrawal above the threshold waits for approval/,
    40
  ],
  "a store that forgets a pause": [
    over(LedgerReads, (reads) =>
      LedgerReads.of({
        ...reads,
        cursor: (source) => (source.startsWith("paused") ? Effect.succeedNone : reads.cursor(source))
      })
    ),
    /nothing new is accepted while paused \((sending|receiving)\)/,
    40
  ],
  "a journal that posts a fee to no account": [
    committing((change) =>
      change._tag === "WithdrawalSettled"
        ? {
            ...change,
            legs: change.legs.map((leg) => ({
              ...leg,
              postings: leg.postings.filter(({ to }) => to !== "service_fees")
            }))
          }
        : change
    ),
    /add up to its held amount|equals deposits minus withdrawals|equals what is in flight/,
    10
  ]
}

describe("The simulator notices", () => {
  for (const [who, [spoil, noticed, stories, first = 1]] of Object.entries(spoiled)) {
    it(`simulator: this defect is noticed: ${who}`, async () => {
      const broken = await Simulation.firstViolation({ first, last: first + stories - 1, spoil })
      assert.match(broken?.violation ?? "nothing was noticed", noticed)
    })
  }
})

describe("Failing scenarios are shrunk", () => {
  it("simulator: a failing scenario is shrunk", async () => {
    const [spoil, noticed, stories] =
      spoiled["C33: a journal that credits the requested amount instead of the received one"] ?? assert.fail()
    const broken =
      (await Simulation.firstViolation({ first: 1, last: stories, spoil })) ??
      assert.fail("nothing was noticed")
    const store = await Store.open("memory")
    const options = { store, spoil, operations: 200 }
    const short = await shrink(broken, (operations) => Simulation.tell(broken.seed, operations, options))
    assert.match(short.violation ?? "", noticed)
    assert.isBelow(short.operations.length, 12)
  })
})
