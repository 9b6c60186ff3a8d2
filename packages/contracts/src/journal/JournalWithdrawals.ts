import { assert } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as CompanyId from "@satrail/core/base/CompanyId"
import { InsufficientBalance } from "@satrail/core/ledger/Balance"
import { Journal } from "@satrail/core/ledger/Journal"
import type { Tasks } from "@satrail/core/ledger/Tasks"
import * as Invoice from "@satrail/core/receiving/Invoice"
import { Records } from "@satrail/core/service/Records"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { Effect, Option } from "effect"
import type { Promises } from "../Contract.ts"
import {
  begin,
  type Started,
  chainAttempt,
  claimFor,
  companyWith,
  created,
  found,
  lightningAttempt,
  onChain,
  open,
  payment,
  proof,
  takeOver,
  tally,
  transfer,
  unchanged,
  unopened,
  verdict,
  withdrawal
} from "../Fixtures.ts"
import { booked, has } from "../Ledger.ts"

const atMillis = 1_700_000_000_000

const request = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId, sats: number) {
  return Withdrawal.requested(yield* withdrawal(companyId, sats))
})

/** Requests a withdrawal of `sats` and returns the result as one word. */
const tryTo = (companyId: CompanyId.CompanyId, sats: number) =>
  Effect.flatMap(request(companyId, sats), verdict)

const dispatched = ({ withdrawal, fence }: Started, attempt: Withdrawal.Attempt) =>
  Withdrawal.dispatched(withdrawal, attempt, fence, atMillis)
const settled = ({ withdrawal, fence }: Started, how: Withdrawal.Settlement) =>
  Withdrawal.settled(withdrawal, how, fence, atMillis)
const failed = ({ withdrawal, fence }: Started, why: Withdrawal.Failure = "no_route") =>
  Withdrawal.failed(withdrawal, why, fence, atMillis)

const read = Effect.fnUntraced(function* ({ companyId, id }: Withdrawal.Withdrawal) {
  return yield* found((yield* Records).withdrawal(companyId, id))
})

/** A service fee of 5 and a fee limit of 10, so that sending 40 holds 55. */
const fees = { serviceFee: Msat.fromSats(5), networkAllowance: Msat.fromSats(10) }

/** Guarantees about how a withdrawal affects a company's money. */
export const money = {
  "a withdrawal within the balance is accepted, and its amount is held": Effect.gen(function* () {
    const companyId = yield* companyWith(100)
    const asked = yield* request(companyId, 100)
    assert.strictEqual(yield* verdict(asked), "Applied")
    assert.deepStrictEqual(yield* read(asked.writes[0].record), asked.writes[0].record)
    yield* has(companyId, { posted: 100, held: 100 })
  }),
  "C27: a withdrawal holds the amount and both fees": Effect.gen(function* () {
    const companyId = yield* companyWith(100)
    assert.strictEqual(
      yield* verdict(Withdrawal.requested(yield* withdrawal(companyId, 40, fees))),
      "Applied"
    )
    assert.strictEqual(yield* tryTo(companyId, 46), "InsufficientBalance")
    assert.strictEqual(yield* tryTo(companyId, 45), "Applied")
    yield* has(companyId, { posted: 100, held: 100 })
  }),
  "a withdrawal above the balance is refused and changes nothing": Effect.gen(function* () {
    const companyId = yield* companyWith(100)
    const asked = yield* request(companyId, 101)
    assert.strictEqual(yield* unchanged(asked), "InsufficientBalance")
    assert.isTrue(Option.isNone(yield* (yield* Records).withdrawal(companyId, asked.id)))
    yield* has(companyId, { posted: 100, held: 0 })
  }),
  "a refusal names the company and the amount needed": Effect.gen(function* () {
    const companyId = yield* companyWith(10)
    const refusal = yield* Effect.flip(
      (yield* Journal).commit(Withdrawal.requested(yield* withdrawal(companyId, 40, fees)))
    )
    assert.deepStrictEqual(
      { ...refusal },
      { ...new InsufficientBalance({ companyId, needed: Msat.fromSats(55) }) }
    )
    yield* has(companyId, { posted: 10, held: 0 })
  }),
  "a company that was never opened has nothing to withdraw": Effect.gen(function* () {
    const companyId = yield* unopened
    assert.strictEqual(yield* tryTo(companyId, 1), "InsufficientBalance")
    yield* has(companyId, { posted: 0, held: 0 })
  }),
  "withdrawals are accepted in the order requested; one that is too large does not block a smaller one after it":
    Effect.gen(function* () {
      const companyId = yield* companyWith(100)
      const verdicts = yield* Effect.forEach([60, 60, 30, 20, 10], (sats) => tryTo(companyId, sats), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(verdicts, [
        "Applied",
        "InsufficientBalance",
        "Applied",
        "InsufficientBalance",
        "Applied"
      ])
      yield* has(companyId, { posted: 100, held: 100 })
    }),
  "C12: if 200 concurrent requests ask for the whole balance, exactly one is accepted": Effect.gen(
    function* () {
      const companyId = yield* companyWith(100)
      const verdicts = yield* Effect.forEach(Array.from({ length: 200 }), () => tryTo(companyId, 100), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(tally(verdicts), { Applied: 1, InsufficientBalance: 199 })
      yield* has(companyId, { posted: 100, held: 100 })
    }
  ),
  "C12: if 64 callers send 512 requests and the balance covers 99, exactly 99 are accepted": Effect.gen(
    function* () {
      const companyId = yield* companyWith(99)
      const verdicts = yield* Effect.forEach(Array.from({ length: 512 }), () => tryTo(companyId, 1), {
        concurrency: 64
      })
      assert.deepStrictEqual(tally(verdicts), { Applied: 99, InsufficientBalance: 413 })
      yield* has(companyId, { posted: 99, held: 99 })
    }
  ),
  "the same request is recognized in every state of its withdrawal": Effect.gen(function* () {
    const companyId = yield* companyWith(100)
    const one = yield* begin(companyId, 40)
    yield* verdict(dispatched(one, yield* lightningAttempt))
    assert.strictEqual(yield* unchanged(Withdrawal.requested(one.withdrawal)), "Applied")
    yield* verdict(settled(one, yield* proof()))
    assert.strictEqual(yield* unchanged(Withdrawal.requested(one.withdrawal)), "Applied")
    yield* has(companyId, { posted: 60, held: 0 })
  }),
  "settling a withdrawal posts its hold: the amount leaves the node and the operator receives the fees":
    Effect.gen(function* () {
      const companyId = yield* companyWith(100)
      const one = yield* begin(companyId, 40, fees)
      const how = yield* proof(3)
      // The route cost 3 of the allowed 10, so 43 leave the node and the operator receives 5 + 7.
      assert.deepStrictEqual(yield* booked(verdict(settled(one, how))), {
        held: -55,
        node: 43,
        service_fees: 5,
        network_fees: 7
      })
      assert.deepStrictEqual(yield* read(one.withdrawal), {
        ...one.withdrawal,
        ...how,
        status: "settled",
        updatedAtMillis: atMillis
      })
      yield* has(companyId, { posted: 45, held: 0 })
    }),
  "a withdrawal ended without a claim has no task, and the worker that holds its claim cannot change it":
    Effect.gen(function* () {
      const companyId = yield* companyWith(200)
      const [paid, unpaid] = [yield* begin(companyId, 40, fees), yield* begin(companyId, 40, fees)]
      const how = { ...(yield* proof(3)), paymentIndex: null }
      const settling = Withdrawal.settled(paid.withdrawal, how, undefined, atMillis)
      assert.deepStrictEqual(yield* booked(verdict(settling)), {
        held: -55,
        node: 43,
        service_fees: 5,
        network_fees: 7
      })
      const failing = Withdrawal.failed(unpaid.withdrawal, "node_error", undefined, atMillis)
      assert.strictEqual(yield* verdict(failing), "Applied")
      for (const { id } of [paid.withdrawal, unpaid.withdrawal])
        assert.isTrue(Option.isNone(yield* (yield* Records).job(companyId, id)))
      assert.strictEqual(yield* unchanged(failed(paid)), "AlreadyTerminal")
      assert.strictEqual(yield* unchanged(settled(paid, yield* proof(4))), "Conflict")
      assert.strictEqual(yield* unchanged(settled(unpaid, how)), "AlreadyTerminal")
      for (const change of [settling, failing, settled(paid, how), failed(unpaid)])
        assert.strictEqual(yield* unchanged(change), "Applied")
      yield* has(companyId, { posted: 145, held: 0 })
    }),
  "an on-chain withdrawal is paid from the on-chain account": Effect.gen(function* () {
    const companyId = yield* companyWith(100)
    const one = yield* begin(companyId, 40, { ...fees, ...onChain })
    const how = { preimage: null, chainTxId: null, networkFee: Msat.fromSats(10), paymentIndex: null }
    assert.deepStrictEqual(yield* booked(verdict(settled(one, how))), {
      held: -55,
      chain: 50,
      service_fees: 5
    })
    yield* has(companyId, { posted: 45, held: 0 })
  }),
  "C25: if a node spends more than the fee limit, the excess is the operator's loss, never the company's":
    Effect.gen(function* () {
      const companyId = yield* companyWith(55)
      const one = yield* begin(companyId, 40, fees)
      const moved = yield* booked(Effect.flatMap(proof(14), (how) => verdict(settled(one, how))))
      assert.deepStrictEqual(moved, { held: -55, node: 54, service_fees: 5, loss: -4 })
      yield* has(companyId, { posted: 0, held: 0 })
    }),
  "failing a withdrawal releases the whole hold": Effect.gen(function* () {
    const companyId = yield* companyWith(100)
    const one = yield* begin(companyId, 40, fees)
    assert.strictEqual(yield* verdict(failed(one)), "Applied")
    assert.deepStrictEqual(yield* read(one.withdrawal), {
      ...one.withdrawal,
      status: "failed",
      failure: "no_route",
      updatedAtMillis: atMillis
    })
    yield* has(companyId, { posted: 100, held: 0 })
  }),
  "C20 C54: a settled withdrawal stays settled": Effect.gen(function* () {
    const companyId = yield* companyWith(100)
    const one = yield* begin(companyId, 40)
    const how = yield* proof(0)
    assert.strictEqual(yield* verdict(settled(one, how)), "Applied")
    assert.strictEqual(yield* unchanged(settled(one, how)), "Applied")
    assert.strictEqual(yield* unchanged(failed(one)), "AlreadyTerminal")
    assert.strictEqual(yield* unchanged(settled(one, yield* proof(0))), "Conflict")
    assert.strictEqual(yield* unchanged(settled(one, { ...how, networkFee: Msat.fromSats(1) })), "Conflict")
    assert.strictEqual((yield* read(one.withdrawal)).preimage, how.preimage)
    yield* has(companyId, { posted: 60, held: 0 })
  }),
  "an ended withdrawal keeps its outcome": Effect.gen(function* () {
    const journal = yield* Journal
    const companyId = yield* companyWith(100)
    const [paid, lost] = [yield* begin(companyId, 40), yield* begin(companyId, 10)]
    yield* verdict(settled(paid, yield* proof()))
    yield* verdict(failed(lost))
    const refusals = [
      yield* Effect.flip(journal.commit(failed(paid))),
      yield* Effect.flip(journal.commit(settled(lost, yield* proof())))
    ]
    assert.deepStrictEqual(
      refusals.map((refusal) => ({ ...refusal })),
      [
        { ...new Withdrawal.AlreadyTerminal({ id: paid.withdrawal.id, status: "settled" }) },
        { ...new Withdrawal.AlreadyTerminal({ id: lost.withdrawal.id, status: "failed" }) }
      ]
    )
    yield* has(companyId, { posted: 60, held: 0 })
  }),
  "C20: a failed withdrawal stays failed and keeps its first reason": Effect.gen(function* () {
    const companyId = yield* companyWith(100)
    const one = yield* begin(companyId, 40)
    assert.strictEqual(yield* verdict(failed(one, "timeout")), "Applied")
    assert.strictEqual(yield* unchanged(failed(one, "no_route")), "Applied")
    assert.strictEqual(yield* unchanged(settled(one, yield* proof())), "AlreadyTerminal")
    assert.strictEqual((yield* read(one.withdrawal)).failure, "timeout")
    yield* has(companyId, { posted: 100, held: 0 })
  }),
  "C20: a withdrawal that is settled and failed concurrently has exactly one outcome": Effect.gen(
    function* () {
      const companyId = yield* companyWith(100)
      const one = yield* begin(companyId, 40)
      const verdicts = yield* Effect.forEach(
        [failed(one), settled(one, yield* proof()), failed(one)],
        verdict,
        { concurrency: "unbounded" }
      )
      const { status } = yield* read(one.withdrawal)
      assert.deepStrictEqual(
        tally(verdicts),
        status === "failed" ? { Applied: 2, AlreadyTerminal: 1 } : { Applied: 1, AlreadyTerminal: 2 }
      )
      yield* has(companyId, { posted: status === "failed" ? 100 : 60, held: 0 })
    }
  ),
  "C9: the attempt is stored before the node is called": Effect.gen(function* () {
    const companyId = yield* companyWith(100)
    const [one, other] = [yield* begin(companyId, 40), yield* begin(companyId, 20, onChain)]
    const [lightning, chain] = [yield* lightningAttempt, yield* chainAttempt]
    assert.strictEqual(yield* verdict(dispatched(one, lightning)), "Applied")
    assert.strictEqual(yield* verdict(dispatched(other, chain)), "Applied")
    const at = { dispatchedAtMillis: atMillis, updatedAtMillis: atMillis }
    const { paymentHash, paymentRequest, successAction } = lightning
    assert.deepStrictEqual(yield* read(one.withdrawal), {
      ...one.withdrawal,
      ...at,
      paymentHash,
      paymentRequest,
      successAction
    })
    const { txId, rawTx, networkFee } = chain
    assert.deepStrictEqual(yield* read(other.withdrawal), {
      ...other.withdrawal,
      ...at,
      chainTxId: txId,
      rawTx,
      networkFee
    })
    yield* has(companyId, { posted: 100, held: 60 })
  }),
  "C9: the address that a name resolved to is stored with the transaction that pays it; a different address is a different attempt":
    Effect.gen(function* () {
      const companyId = yield* companyWith(100)
      const one = yield* begin(companyId, 40, onChain)
      const attempt = {
        ...(yield* chainAttempt),
        paymentRequest: "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080"
      }
      assert.strictEqual(yield* verdict(dispatched(one, attempt)), "Applied")
      assert.strictEqual(yield* unchanged(dispatched(one, attempt)), "Applied")
      assert.strictEqual(
        yield* unchanged(dispatched(one, { ...attempt, paymentRequest: "bcrt1qother" })),
        "Conflict"
      )
      assert.strictEqual((yield* read(one.withdrawal)).paymentRequest, attempt.paymentRequest)
      assert.strictEqual((yield* read(one.withdrawal)).chainTxId, attempt.txId)
    }),
  "C19: a withdrawal has one attempt: repeating the same one succeeds, and a different one is refused":
    Effect.gen(function* () {
      const companyId = yield* companyWith(100)
      const [one, other] = [yield* begin(companyId, 40), yield* begin(companyId, 20, onChain)]
      const [lightning, chain] = [yield* lightningAttempt, yield* chainAttempt]
      for (const [begun, attempt, another] of [
        [one, lightning, yield* lightningAttempt],
        [other, chain, yield* chainAttempt]
      ] as const) {
        assert.strictEqual(yield* verdict(dispatched(begun, attempt)), "Applied")
        assert.strictEqual(yield* unchanged(dispatched(begun, attempt)), "Applied")
        assert.strictEqual(yield* unchanged(dispatched(begun, another)), "Conflict")
      }
      assert.strictEqual(yield* unchanged(dispatched(one, { ...lightning, successAction: null })), "Conflict")
      assert.strictEqual((yield* read(one.withdrawal)).paymentHash, lightning.paymentHash)
      assert.strictEqual((yield* read(other.withdrawal)).rawTx, chain.rawTx)
      yield* has(companyId, { posted: 100, held: 60 })
    }),
  "an ended withdrawal cannot be dispatched": Effect.gen(function* () {
    const companyId = yield* companyWith(100)
    const one = yield* begin(companyId, 40)
    yield* verdict(failed(one))
    assert.strictEqual(yield* unchanged(dispatched(one, yield* lightningAttempt)), "AlreadyTerminal")
    assert.isNull((yield* read(one.withdrawal)).paymentHash)
    yield* has(companyId, { posted: 100, held: 0 })
  }),
  "C14: a payment hash belongs to one withdrawal permanently, whatever the outcome of that withdrawal":
    Effect.gen(function* () {
      const [companyId, otherId] = [yield* companyWith(100), yield* companyWith(100)]
      const [first, second] = [yield* begin(companyId, 40), yield* begin(companyId, 30)]
      const [sent, failing] = [yield* lightningAttempt, yield* lightningAttempt]
      yield* verdict(dispatched(first, sent))
      yield* verdict(dispatched(second, failing))
      const others = [yield* begin(companyId, 10), yield* begin(otherId, 10)]
      const refusedAll = Effect.forEach(
        others,
        Effect.fnUntraced(function* (one) {
          for (const attempt of [sent, failing])
            assert.strictEqual(yield* unchanged(dispatched(one, attempt)), "PaymentHashTaken")
        })
      )
      yield* refusedAll
      yield* verdict(settled(first, yield* proof()))
      yield* verdict(failed(second))
      yield* refusedAll
      yield* has(companyId, { posted: 60, held: 10 })
      yield* has(otherId, { posted: 100, held: 10 })
    }),
  "C14: if eight withdrawals would pay one hash concurrently, only one is dispatched": Effect.gen(
    function* () {
      const companyIds = [yield* companyWith(100), yield* companyWith(100)]
      const begun = yield* Effect.forEach(Array.from({ length: 8 }), (_, n) =>
        begin(companyIds[n % 2] ?? CompanyId.operator, 10)
      )
      const attempt = yield* lightningAttempt
      const verdicts = yield* Effect.forEach(begun, (one) => verdict(dispatched(one, attempt)), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(tally(verdicts), { Applied: 1, PaymentHashTaken: 7 })
      const rows = yield* Effect.forEach(begun, ({ withdrawal }) => read(withdrawal))
      assert.strictEqual(rows.filter(({ paymentHash }) => paymentHash === attempt.paymentHash).length, 1)
      for (const companyId of companyIds) yield* has(companyId, { posted: 100, held: 40 })
    }
  ),
  "C19: no two payouts spend the same coin": Effect.gen(function* () {
    const [companyId, otherId] = [yield* companyWith(100), yield* companyWith(100)]
    const [one, other] = [yield* begin(companyId, 40, onChain), yield* begin(otherId, 40, onChain)]
    const [attempt, another] = [yield* chainAttempt, yield* chainAttempt]
    assert.strictEqual(yield* verdict(dispatched(one, attempt)), "Applied")
    const shared = { ...another, coins: [...another.coins, ...attempt.coins.slice(0, 1)] }
    assert.strictEqual(yield* unchanged(dispatched(other, shared)), "CoinTaken")
    // The refused attempt did not reserve any of its other coins.
    assert.strictEqual((yield* (yield* Records).spentCoins(shared.coins)).size, 1)
    assert.strictEqual(yield* verdict(dispatched(other, another)), "Applied")
    yield* has(companyId, { posted: 100, held: 40 })
    yield* has(otherId, { posted: 100, held: 40 })
  }),
  "C19: if eight payouts would spend one coin concurrently, only one is dispatched": Effect.gen(function* () {
    const companyId = yield* companyWith(100)
    const begun = yield* Effect.forEach(Array.from({ length: 8 }), () => begin(companyId, 10, onChain))
    const { coins } = yield* chainAttempt
    const attempts = yield* Effect.forEach(begun, () => chainAttempt)
    const verdicts = yield* Effect.forEach(
      begun,
      (one, n) => verdict(dispatched(one, { ...(attempts[n] ?? assert.fail()), coins })),
      {
        concurrency: "unbounded"
      }
    )
    assert.deepStrictEqual(tally(verdicts), { Applied: 1, CoinTaken: 7 })
    yield* has(companyId, { posted: 100, held: 80 })
  }),
  "C19: a worker that lost its job cannot change anything": Effect.gen(function* () {
    const [companyId, otherId] = [yield* companyWith(100), yield* open]
    const lost = yield* begin(companyId, 40)
    const invoice = yield* created(otherId, 40)
    const holder = yield* takeOver(lost)
    const changes = [
      Invoice.claimed(invoice, lost.withdrawal.id, lost.fence, atMillis),
      dispatched(lost, yield* lightningAttempt),
      settled(lost, yield* proof()),
      failed(lost)
    ]
    for (const change of changes) assert.strictEqual(yield* unchanged(change), "StaleFence")
    yield* claimFor(holder, invoice)
    assert.strictEqual(yield* unchanged(yield* transfer(lost, invoice)), "StaleFence")
    assert.strictEqual(yield* verdict(yield* transfer(holder, invoice)), "Applied")
    yield* has(companyId, { posted: 60, held: 0 })
    yield* has(otherId, { posted: 40, held: 0 })
  }),
  "C21: an ended withdrawal is final even for a Change without a fencing token": Effect.gen(function* () {
    const companyId = yield* companyWith(100)
    const [paid, lost] = [yield* begin(companyId, 40), yield* begin(companyId, 30)]
    const how = yield* proof()
    assert.strictEqual(yield* verdict(settled(paid, how)), "Applied")
    assert.strictEqual(yield* verdict(failed(lost)), "Applied")
    const { fence: _, ...failing } = failed(paid)
    const { fence: __, ...settling } = settled(lost, how)
    assert.strictEqual(yield* unchanged(failing), "AlreadyTerminal")
    assert.strictEqual(yield* unchanged(settling), "AlreadyTerminal")
    yield* has(companyId, { posted: 60, held: 0 })
  }),
  "a worker that lost its job can repeat its last Change": Effect.gen(function* () {
    const companyId = yield* companyWith(100)
    const lost = yield* begin(companyId, 40)
    const [attempt, how] = [yield* lightningAttempt, yield* proof()]
    yield* verdict(dispatched(lost, attempt))
    const holder = yield* takeOver(lost)
    assert.strictEqual(yield* unchanged(dispatched(lost, attempt)), "Applied")
    yield* verdict(settled(holder, how))
    assert.strictEqual(yield* unchanged(dispatched(lost, attempt)), "Applied")
    assert.strictEqual(yield* unchanged(settled(lost, how)), "Applied")
    yield* has(companyId, { posted: 60, held: 0 })
  }),
  "a company's withdrawals do not change another company's balance": Effect.gen(function* () {
    const [companyId, otherId] = [yield* companyWith(100), yield* companyWith(100)]
    const one = yield* begin(companyId, 40)
    assert.strictEqual(yield* tryTo(otherId, 100), "Applied")
    yield* verdict(settled(one, yield* proof()))
    yield* has(companyId, { posted: 60, held: 0 })
    yield* has(otherId, { posted: 100, held: 100 })
  }),
  "one company's concurrent credits and withdrawals add up exactly": Effect.gen(function* () {
    const companyId = yield* companyWith(50)
    const invoices = yield* Effect.forEach(Array.from({ length: 50 }), () => created(companyId, 1))
    const paid = Effect.forEach(invoices, (one) => Effect.flatMap(payment(one, 1), verdict), {
      concurrency: "unbounded"
    })
    const held = Effect.forEach(invoices, () => tryTo(companyId, 1), { concurrency: "unbounded" })
    const [credits, holds] = yield* Effect.all([paid, held], { concurrency: "unbounded" })
    assert.deepStrictEqual([tally(credits), tally(holds)], [{ Applied: 50 }, { Applied: 50 }])
    yield* has(companyId, { posted: 100, held: 50 })
  })
} satisfies Promises<Journal | Records | Tasks>
