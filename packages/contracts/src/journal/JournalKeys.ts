import { assert } from "@effect/vitest"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import * as Answer from "@satrail/core/ledger/Answer"
import type { Once } from "@satrail/core/ledger/Change"
import { Journal } from "@satrail/core/ledger/Journal"
import type { Tasks } from "@satrail/core/ledger/Tasks"
import * as Invoice from "@satrail/core/receiving/Invoice"
import { Records } from "@satrail/core/service/Records"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { Effect, Option } from "effect"
import type { Promises } from "../Contract.ts"
import {
  claim,
  companyWith,
  found,
  hex,
  invoice,
  once,
  open,
  past,
  tally,
  unchanged,
  verdict,
  withdrawal
} from "../Fixtures.ts"
import { has } from "../Ledger.ts"

const request = Effect.fnUntraced(function* (
  companyId: CompanyId.CompanyId,
  sats: number,
  key: string,
  fingerprint = "body",
  fields: Partial<Once> = {}
) {
  return Withdrawal.requested(yield* withdrawal(companyId, sats), once(companyId, key, fingerprint, fields))
})

const answered = Effect.fnUntraced(function* (owner: CompanyId.CompanyId, key: string) {
  return Option.getOrNull(yield* (yield* Records).answer(owner, key))
})

/** Guarantees about idempotency: a request with a key takes effect only once. */
export const money = {
  "a repeated request with the same key returns the first response and holds the money only once": Effect.gen(
    function* () {
      const companyId = yield* companyWith(100)
      const first = yield* request(companyId, 40, "k", "body", { answer: "the first" })
      const second = yield* request(companyId, 40, "k", "body", { answer: "the second" })
      assert.strictEqual(yield* verdict(first), "Applied")
      const again = yield* (yield* Journal).commit(second)
      assert.deepStrictEqual(again, { _tag: "Replayed", answer: "the first" })
      assert.strictEqual(yield* unchanged(second), "Replayed")
      assert.isTrue(Option.isNone(yield* (yield* Records).withdrawal(companyId, second.id)))
      assert.deepStrictEqual(yield* answered(companyId, "k"), {
        fingerprint: "body",
        meaning: null,
        answer: "the first"
      })
      yield* has(companyId, { posted: 100, held: 40 })
    }
  ),
  "if eight concurrent requests have the same key, only one takes effect and all get its response":
    Effect.gen(function* () {
      const journal = yield* Journal
      const companyId = yield* companyWith(100)
      const asked = yield* Effect.forEach(
        Array.from({ length: 8 }, (_, n) => `answer ${n}`),
        (answer) => request(companyId, 40, "k", "body", { answer })
      )
      const answers = yield* Effect.forEach(
        asked,
        (one) =>
          Effect.map(journal.commit(one), (applied) =>
            applied._tag === "Replayed" ? applied.answer : one.once?.answer
          ),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(new Set(answers).size, 1)
      yield* has(companyId, { posted: 100, held: 40 })
    }),
  "a key reused with a different body is refused": Effect.gen(function* () {
    const companyId = yield* companyWith(100)
    yield* verdict(yield* request(companyId, 40, "k", "one body"))
    assert.strictEqual(yield* unchanged(yield* request(companyId, 41, "k", "another")), "IdempotencyMismatch")
    yield* has(companyId, { posted: 100, held: 40 })
  }),
  "a request with the stored meaning is the same in any form, and one with another meaning is refused":
    Effect.gen(function* () {
      const companyId = yield* companyWith(100)
      yield* verdict(
        yield* request(companyId, 40, "k", "one form", { meaning: "40 sats", answer: "the first" })
      )
      for (const [form, meaning] of [
        ["another form", "40 sats"],
        ["one form", "40 sats"],
        // A process of an earlier version knows only the form, and a later one may describe the meaning differently.
        ["one form", undefined],
        ["one form", "forty sats"]
      ] as const) {
        const again = yield* request(companyId, 40, "k", form, meaning === undefined ? {} : { meaning })
        assert.deepStrictEqual(yield* (yield* Journal).commit(again), {
          _tag: "Replayed",
          answer: "the first"
        })
      }
      for (const [form, meaning] of [
        ["another form", "41 sats"],
        ["another form", undefined]
      ] as const) {
        const other = yield* request(companyId, 41, "k", form, meaning === undefined ? {} : { meaning })
        assert.strictEqual(yield* unchanged(other), "IdempotencyMismatch")
      }
      assert.strictEqual((yield* answered(companyId, "k"))?.meaning, "40 sats")
      yield* has(companyId, { posted: 100, held: 40 })
    }),
  "a response stored by a version that compared only forms is returned for the same form, and refused for another":
    Effect.gen(function* () {
      const companyId = yield* companyWith(100)
      yield* verdict(yield* request(companyId, 40, "k", "one form"))
      assert.strictEqual(
        yield* unchanged(yield* request(companyId, 40, "k", "one form", { meaning: "40 sats" })),
        "Replayed"
      )
      assert.strictEqual(
        yield* unchanged(yield* request(companyId, 40, "k", "another form", { meaning: "40 sats" })),
        "IdempotencyMismatch"
      )
      yield* has(companyId, { posted: 100, held: 40 })
    }),
  "if two concurrent requests have the same key but different bodies, one takes effect and the other is refused":
    Effect.gen(function* () {
      const companyId = yield* companyWith(100)
      const asked = [
        yield* request(companyId, 40, "k", "one body"),
        yield* request(companyId, 40, "k", "another")
      ]
      assert.deepStrictEqual(tally(yield* Effect.forEach(asked, verdict, { concurrency: "unbounded" })), {
        Applied: 1,
        IdempotencyMismatch: 1
      })
      yield* has(companyId, { posted: 100, held: 40 })
    }),
  "a refused request does not use up its key": Effect.gen(function* () {
    const companyId = yield* companyWith(100)
    assert.strictEqual(yield* unchanged(yield* request(companyId, 101, "k", "big")), "InsufficientBalance")
    assert.isNull(yield* answered(companyId, "k"))
    assert.strictEqual(yield* verdict(yield* request(companyId, 99, "k", "small")), "Applied")
    yield* has(companyId, { posted: 100, held: 99 })
  }),
  "C23: the key is checked first, so the response is the same even if the money was spent or the withdrawal has ended":
    Effect.gen(function* () {
      const companyId = yield* companyWith(40)
      const row = yield* withdrawal(companyId, 40, { createdAtMillis: yield* past })
      const asked = Withdrawal.requested(row, once(companyId, "k"))
      yield* verdict(asked)
      assert.strictEqual(yield* unchanged(yield* request(companyId, 40, "k")), "Replayed")
      // A repeated Change is also recognized by its key.
      assert.strictEqual(yield* unchanged(asked), "Replayed")
      const { fence } = yield* claim(row)
      assert.strictEqual(
        yield* verdict(Withdrawal.failed(row, "canceled", fence, 1_700_000_000_000)),
        "Applied"
      )
      assert.strictEqual(yield* unchanged(yield* request(companyId, 40, "k")), "Replayed")
      yield* has(companyId, { posted: 40, held: 0 })
    }),
  "two companies can use the same key": Effect.gen(function* () {
    const [companyId, otherId] = [yield* companyWith(100), yield* companyWith(100)]
    assert.strictEqual(yield* verdict(yield* request(companyId, 40, "k", "one body")), "Applied")
    assert.strictEqual(yield* verdict(yield* request(otherId, 30, "k", "another")), "Applied")
    assert.strictEqual((yield* answered(otherId, "k"))?.answer, "answer to another")
    yield* has(companyId, { posted: 100, held: 40 })
    yield* has(otherId, { posted: 100, held: 30 })
  }),
  "a response stored without any other effect is replayed; a different body with the same key is refused":
    Effect.gen(function* () {
      const companyId = yield* open
      const key = yield* hex(8)
      const kept = (fingerprint: string, answer: string) =>
        Effect.map(Id.make, (id) =>
          Answer.kept(id, companyId, 1, { owner: companyId, key, fingerprint, answer, forgetAtMillis: null })
        )
      const commit = (change: Answer.AnswerKept) =>
        Effect.flatMap(Journal, (journal) => journal.commit(change))
      const all = yield* Effect.forEach(
        ["first", "second", "third"],
        (answer) => Effect.flatMap(kept("body", answer), commit),
        {
          concurrency: "unbounded"
        }
      )
      assert.deepStrictEqual(tally(all.map(({ _tag }) => _tag)), { Applied: 1, Replayed: 2 })
      const { answer } = (yield* answered(companyId, key)) ?? assert.fail("nothing is kept")
      assert.deepStrictEqual(yield* commit(yield* kept("body", "later")), { _tag: "Replayed", answer })
      assert.strictEqual(yield* unchanged(yield* kept("another", "x")), "IdempotencyMismatch")
      yield* has(companyId, { posted: 0, held: 0 })
    }),
  "a Change whose key was used before moves no cursor": Effect.gen(function* () {
    const companyId = yield* open
    const key = yield* hex(8)
    const change = (fingerprint: string, value: string) =>
      Effect.map(Id.make, (id) => ({
        ...Answer.kept(id, companyId, 1, {
          owner: companyId,
          key,
          fingerprint,
          answer: "",
          forgetAtMillis: null
        }),
        cursor: { source: key, value }
      }))
    assert.strictEqual(yield* verdict(yield* change("body", "first")), "Applied")
    assert.strictEqual(yield* verdict(yield* change("another", "second")), "IdempotencyMismatch")
    assert.strictEqual(yield* verdict(yield* change("body", "third")), "Replayed")
    assert.strictEqual(yield* found((yield* Records).cursor(key)), "first")
    yield* has(companyId, { posted: 0, held: 0 })
  }),
  "a withdrawal's key never expires": Effect.gen(function* () {
    const companyId = yield* companyWith(100)
    yield* verdict(yield* request(companyId, 40, "k", "body", { forgetAtMillis: null }))
    yield* verdict(Answer.forgotten(yield* Id.make, 2000, 1000))
    assert.strictEqual(yield* unchanged(yield* request(companyId, 40, "k")), "Replayed")
    yield* has(companyId, { posted: 100, held: 40 })
  })
} satisfies Promises<Journal | Records | Tasks>

/** Guarantees about the retention of keys. */
export const other = {
  "expired responses are deleted a few at a time, the first to expire first": Effect.gen(function* () {
    const { expiredAnswers } = yield* Records
    const companyId = yield* open
    // Earlier than every time used by other tests.
    for (const forgetAtMillis of [12, 10, 11])
      yield* verdict(
        Invoice.created(
          yield* invoice(companyId, 10),
          once(companyId, `at ${forgetAtMillis}`, "body", { forgetAtMillis })
        )
      )
    const left = Effect.filter([10, 11, 12], (millis) =>
      Effect.map(answered(companyId, `at ${millis}`), (found) => found !== null)
    )
    assert.deepStrictEqual([yield* expiredAnswers(9), yield* expiredAnswers(12)], [false, true])
    yield* verdict(Answer.forgotten(yield* Id.make, 12, 2))
    assert.deepStrictEqual([yield* left, yield* expiredAnswers(12)], [[12], true])
    yield* verdict(Answer.forgotten(yield* Id.make, 12, 2))
    assert.deepStrictEqual([yield* left, yield* expiredAnswers(12)], [[], false])
  }),
  "a stored response is kept until its expiry and deleted afterward": Effect.gen(function* () {
    const companyId = yield* open
    const key = yield* hex(8)
    const [before, after] = [yield* invoice(companyId, 10), yield* invoice(companyId, 20)]
    // Earlier than every time used by other tests, so that no other response is deleted.
    yield* verdict(Invoice.created(before, once(companyId, key, "body", { forgetAtMillis: 1000 })))
    yield* verdict(
      Invoice.created(
        yield* invoice(companyId, 30),
        once(companyId, "later", "body", { forgetAtMillis: 1002 })
      )
    )
    const again = Invoice.created(after, once(companyId, key, "another", { forgetAtMillis: 3000 }))
    assert.strictEqual(yield* unchanged(again), "IdempotencyMismatch")
    yield* verdict(Answer.forgotten(yield* Id.make, 999, 1000))
    assert.strictEqual(yield* unchanged(again), "IdempotencyMismatch")
    const forgotten = Answer.forgotten(yield* Id.make, 1000, 1000)
    assert.strictEqual(yield* verdict(forgotten), "Applied")
    assert.strictEqual(yield* unchanged(forgotten), "Applied")
    assert.isNull(yield* answered(companyId, key))
    assert.strictEqual((yield* answered(companyId, "later"))?.fingerprint, "body")
    // The key can be used again, and the record that it created remains.
    assert.strictEqual(yield* verdict(again), "Applied")
    assert.deepStrictEqual(yield* found((yield* Records).invoice(companyId, before.id)), before)
    yield* has(companyId, { posted: 0, held: 0 })
  })
} satisfies Promises<Journal | Records | Tasks>
