import { assert, describe, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Changes from "@satrail/core/service/Changes"
import type { Change } from "@satrail/core/service/Changes"
import * as Journal from "@satrail/core/ledger/Journal"
import { ChainSource, type Placement } from "@satrail/core/nodes/ChainSource"
import { LightningSender } from "@satrail/core/nodes/LightningSender"
import { Context, Effect } from "effect"
import { shrink } from "../src/Shrink.ts"
import * as Simulation from "../src/Simulation.ts"
import * as Store from "../src/world/Store.ts"
import type { Ports } from "@satrail/core/service/Satrail"
import type { Spoil } from "../src/world/World.ts"

const over =
  <I extends Ports, S>(key: Context.Key<I, S>, change: (service: S, ports: Context.Context<Ports>) => S): Spoil =>
  (ports) =>
    Context.add(ports, key, change(Context.get(ports, key), ports))

/** The journal, with Changes that are not quite what was decided. */
const committing = (change: (change: Change) => Change): Spoil =>
  over(Journal.Journal, (journal) => Changes.journal((decided) => journal.commit(change(decided))))

/** What was known to have lost money, or nearly so; what is noticed of it, and in how many stories at most. */
const spoiled: Readonly<Record<string, readonly [spoil: Spoil, noticed: RegExp, stories: number]>> = {
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
    40
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
    30
  ],
  "a journal that forgets which request something was done for": [
    committing(({ once: _, ...change }) => change),
    /a key is not used for something else|a repeated request|an idempotency key takes effect once/,
    10
  ],
  "a journal that gives a hold back and keeps it": [
    committing((change) =>
      change._tag === "VoucherExpired" ? { ...change, legs: change.legs.map((leg) => ({ ...leg, postings: [] })) } : change
    ),
    /holds what is held|has held is what is on its way/,
    10
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
  for (const [who, [spoil, noticed, stories]] of Object.entries(spoiled)) {
    it(`simulator: notices: ${who}`, async () => {
      const broken = await Simulation.firstViolation({ first: 1, last: stories, spoil })
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
