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
import { OfferReads } from "@satrail/core/features/offers/OfferReads"
import { LedgerReads } from "@satrail/core/ledger/LedgerReads"
import { LightningReceiver } from "@satrail/core/nodes/LightningReceiver"
import { LightningSender } from "@satrail/core/nodes/LightningSender"
import { CheckoutNotOpen } from "@satrail/core/features/checkouts/Checkout"
import { Context, Effect, Option, Stream } from "effect"
import { shrink } from "../src/Shrink.ts"
import * as Simulation from "../src/Simulation.ts"
import * as Store from "../src/world/Store.ts"
import { taskKind } from "@satrail/core/sending/Withdrawal"
import type { Ports } from "../src/world/Wire.ts"
import type { Spoil } from "../src/world/World.ts"

const over =
  <I extends Ports, S>(key: Context.Key<I, S>, change: (service: S, ports: Context.Context<Ports>) => S): Spoil =>
  (ports) =>
    Context.add(ports, key, change(Context.get(ports, key), ports))

/** The journal, with Changes that are not quite what was decided. */
const committing = (change: (change: Change) => Change): Spoil =>
  over(Journal.Journal, (journal) => Changes.journal((decided) => journal.commit(change(decided))))

/** The journal, which says that a checkout is this when it is to be canceled. */
const callingCheckouts = (status: string): Spoil =>
  over(Journal.Journal, (journal) =>
    Changes.journal((decided) =>
      decided._tag === "CheckoutCanceled" ? Effect.fail(new CheckoutNotOpen({ id: decided.id, status })) : journal.commit(decided)
    )
  )

/** Limits, without the amount from which on another key is needed. */
const without = (limits: Limits | null): Limits | null => {
  const { approvalAboveSats: _, ...others } = limits ?? {}
  return limits && others
}

/**
 * What was known to have lost money, or nearly so; what is noticed of it, and in how many stories at most. Where it takes many, they begin with one
 * that is not long before: other stories need another one.
 */
const spoiled: Readonly<Record<string, readonly [spoil: Spoil, noticed: RegExp, stories: number, first?: number]>> = {
  "C1: a sender that calls unknown failed": [
    over(LightningSender, (sender) =>
      LightningSender.of({
        ...sender,
        pay: (ask) =>
          Effect.map(sender.pay(ask), (payment) => (payment._tag === "unknown" ? { _tag: "failed", reason: "timeout" } : payment))
      })
    ),
    /what failed (was not paid|is not under way)/,
    10
  ],
  "C1: a sender that calls what is held failed": [
    over(LightningSender, (sender) =>
      LightningSender.of({
        ...sender,
        lookupPayment: (hash) =>
          Effect.map(sender.lookupPayment(hash), (payment) =>
            payment._tag === "pending" ? { _tag: "failed", reason: "timeout" } : payment
          )
      })
    ),
    /what failed (was not paid|is not under way)/,
    10
  ],
  "C8: a sender whose calls still arrive when it says that they cannot": [
    over(LightningSender, (sender) => LightningSender.of({ ...sender, graceMillis: 0 })),
    /what failed (was not paid|is not under way)/,
    20
  ],
  "C33: a journal that credits what was asked, not what came": [
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
        writes: [{ ...invoice, set: { ...invoice.set, received: amount } }, { ...deposit, record: { ...deposit.record, amount } }, address],
        legs
      }
    }),
    /an invoice gets what the node received/,
    10
  ],
  "C45: a chain source that calls gone what it does not know": [
    over(ChainSource, (chain) =>
      ChainSource.of({
        ...chain,
        transaction: (txId) => Effect.orElseSucceed(chain.transaction(txId), (): Placement => ({ _tag: "gone" }))
      })
    ),
    /a deposit is given up when its payment is gone/,
    30,
    35
  ],
  "a journal that forgets which request something was done for": [
    committing(({ once: _, ...change }) => change),
    /a key is not used for something else|a repeated request|an idempotency key takes effect once/,
    40
  ],
  "a journal that gives a hold back and keeps it": [
    committing((change) =>
      change._tag === "VoucherExpired" ? { ...change, legs: change.legs.map((leg) => ({ ...leg, postings: [] })) } : change
    ),
    /holds what is held|has held is what is on its way/,
    10
  ],
  "C21: a journal that keeps what a refund took that came to nothing": [
    committing((change) =>
      change._tag === "RefundFailed" || change._tag === "RefundExpired" || change._tag === "RefundCanceled"
        ? { ...change, writes: [change.writes[0], { ...change.writes[1], amount: 0n }] }
        : change
    ),
    /a deposit notes what its refunds take/,
    20
  ],
  "a node that takes what is to be sent back": [
    over(LightningReceiver, ({ holding, ...receiver }) =>
      LightningReceiver.of({
        ...receiver,
        ...(holding && {
          holding: { ...holding, cancel: (hold) => Effect.andThen(Effect.ignore(holding.settle(hold, null)), holding.cancel(hold)) }
        })
      })
    ),
    /what is held is money when its company settled it/,
    40
  ],
  "a journal that credits twice as much as lay in suspense": [
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
        legs: change.legs.map((leg) => ({ ...leg, postings: leg.postings.map((posting) => ({ ...posting, amount })) }))
      }
    }),
    /no more is taken out of suspense than came there/,
    60
  ],
  "a journal that credits whoever pays an offer of ours": [
    committing((change) =>
      change._tag === "InternalTransferred" && Bolt12.isBolt12(change.deposit.recipient)
        ? {
            ...change,
            deposit: { ...change.deposit, companyId: change.companyId },
            legs: change.legs.map((leg) => ({ ...leg, companyId: change.companyId }))
          }
        : change
    ),
    /what is paid for an offer is its company's/,
    20
  ],
  "C60: a node that does not tell what its offers were paid": [
    over(LightningReceiver, (receiver) =>
      LightningReceiver.of({
        ...receiver,
        settlements: (after) => Stream.filter(receiver.settlements(after), ({ offerId }) => offerId === undefined)
      })
    ),
    /the node has what the books say/,
    20
  ],
  "a store that knows no offer as ours": [
    over(OfferReads, () => OfferReads.of({ offerByText: () => Effect.succeedNone })),
    /no node is asked to pay an offer of ours/,
    20
  ],
  "a journal that forgets to look at what pays a checkout": [
    committing((change) => (change._tag === "InvoiceSettled" || change._tag === "DepositSeen" ? { ...change, jobs: [] } : change)),
    /a checkout that was paid is paid/,
    80
  ],
  "a journal that calls a checkout paid that is not, once its invoice is canceled": [
    callingCheckouts("paid"),
    /what is refused changes nothing: .*did InvoiceCanceled/,
    20
  ],
  "a journal that calls a checkout expired that is not, once its invoice is canceled": [
    callingCheckouts("expired"),
    /what is refused changes nothing: .*did InvoiceCanceled/,
    20
  ],
  "a journal that does not know who is frozen": [
    committing((change) => {
      const { unlessFrozen: _, ...heedless } = change
      return heedless
    }),
    /nothing new is taken while it is stopped \(frozen\)/,
    40
  ],
  "a journal that counts against the hour before": [
    committing((change) =>
      change._tag === "WithdrawalRequested" && change.counts !== undefined
        ? { ...change, counts: change.counts.map((count) => ({ ...count, atMillis: count.atMillis - 3_700_000 })) }
        : change
    ),
    /no window has more in it than its limit/,
    20,
    150
  ],
  "a journal that has what waits for another key sent at once": [
    committing((change) =>
      change._tag === "WithdrawalRequested" && change.writes[0].record.approval === "waiting"
        ? { ...change, jobs: [LedgerChange.enqueue({ kind: taskKind, id: change.id, dueAtMillis: change.atMillis })] }
        : change
    ),
    /nothing is sent that was not approved/,
    40
  ],
  "a journal that gives back less of what is rejected": [
    committing((change) => {
      if (change._tag !== "WithdrawalRejected") return change
      const less = (amount: Msat.Msat) => Msat.make(amount - 1000n)
      const legs = change.legs.map(({ companyId, postings }) => ({
        companyId,
        postings: postings.map((posting) => ({ ...posting, amount: less(posting.amount) }))
      }))
      return { ...change, legs }
    }),
    /what is rejected gives back all that it held|holds what is held/,
    40
  ],
  "a journal that forgets which key asked for what waits": [
    committing((change) => {
      if (change._tag !== "WithdrawalRequested") return change
      const [{ record, ...insert }] = change.writes
      return { ...change, writes: [{ ...insert, record: { ...record, approvalAskedBy: null } }] }
    }),
    /the key that asked does not approve/,
    60
  ],
  "a store that forgets from which amount on another key is needed": [
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
    /what is above the threshold waits for another key/,
    40
  ],
  "a store that forgets what is paused": [
    over(LedgerReads, (reads) =>
      LedgerReads.of({ ...reads, cursor: (source) => (source.startsWith("paused") ? Effect.succeedNone : reads.cursor(source)) })
    ),
    /nothing new is taken while it is stopped \((sending|receiving)\)/,
    40
  ],
  "a journal that pays a fee to nobody": [
    committing((change) =>
      change._tag === "WithdrawalSettled"
        ? {
            ...change,
            legs: change.legs.map((leg) => ({ ...leg, postings: leg.postings.filter(({ to }) => to !== "service_fees") }))
          }
        : change
    ),
    /holds what is held|is what came and went|has held/,
    10
  ]
}

describe("The simulator notices", () => {
  for (const [who, [spoil, noticed, stories, first = 1]] of Object.entries(spoiled)) {
    it(`simulator: notices: ${who}`, async () => {
      const broken = await Simulation.firstViolation({ first, last: first + stories - 1, spoil })
      assert.match(broken?.violation ?? "nothing was noticed", noticed)
    })
  }
})

describe("A broken story is cut down to what breaks it:", () => {
  for (const who of ["C1: a sender that calls unknown failed", "C33: a journal that credits what was asked, not what came"]) {
    it(`simulator: shrinks: ${who}`, async () => {
      const [spoil, noticed, stories] = spoiled[who] ?? assert.fail(who)
      const broken = (await Simulation.firstViolation({ first: 1, last: stories, spoil })) ?? assert.fail("nothing was noticed")
      const store = await Store.open("memory")
      const options = { store, spoil, operations: 200 }
      const short = await shrink(broken, (operations) => Simulation.tell(broken.seed, operations, options))
      assert.match(short.violation ?? "", noticed)
      assert.isBelow(short.operations.length, 12)
    })
  }
})
