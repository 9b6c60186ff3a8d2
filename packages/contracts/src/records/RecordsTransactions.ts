import { assert } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import type { Journal } from "@satrail/core/ledger/Journal"
import type { Tasks } from "@satrail/core/ledger/Tasks"
import * as Deposit from "@satrail/core/receiving/Deposit"
import { Records } from "@satrail/core/service/Records"
import type { Query, Transaction } from "@satrail/core/reports/Transaction"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { Effect } from "effect"
import type { Promises } from "../Contract.ts"
import {
  begin,
  companyWith,
  created,
  onChain,
  open,
  output,
  payment,
  proof,
  tally,
  verdict,
  withdrawal
} from "../Fixtures.ts"
import { has } from "../Ledger.ts"

const base = 1_700_000_000_000

/** Commits these Changes concurrently, and asserts that each is applied. */
const committed = Effect.fnUntraced(function* (changes: ReadonlyArray<Parameters<typeof verdict>[0]>) {
  const verdicts = yield* Effect.forEach(changes, verdict, { concurrency: "unbounded" })
  assert.deepStrictEqual(tally(verdicts), { Applied: changes.length })
})

const list = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId, query: Partial<Query> = {}) {
  return yield* (yield* Records).transactions(companyId, { limit: 1000, ...query })
})

const ids = (rows: ReadonlyArray<{ readonly id: string }>): ReadonlyArray<string> => rows.map(({ id }) => id)

/** Sorts newest first, and by descending id for equal times. */
const newestFirst = <A extends { readonly createdAtMillis: number; readonly id: string }>(
  rows: ReadonlyArray<A>
): ReadonlyArray<A> =>
  rows.toSorted((a, b) => b.createdAtMillis - a.createdAtMillis || (a.id < b.id ? 1 : -1))

/** Creates `count` outputs that pay the company, three at each time. */
const outputs = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId, count: number) {
  const rows = yield* Effect.forEach(Array.from({ length: count }), (_, n) =>
    output(companyId, 1, { createdAtMillis: base + Math.floor(n / 3) })
  )
  yield* committed(rows.map(Deposit.seen))
  return rows
})

/** Guarantees about the list of a company's deposits and withdrawals. */
export const other = {
  "a listed transaction has the same values as its deposit or withdrawal": Effect.gen(function* () {
    const companyId = yield* open
    const paid = yield* payment(yield* created(companyId, 100, { memo: "coffee" }), 100)
    const asked = yield* withdrawal(companyId, 40, {
      serviceFee: Msat.make(1n),
      networkAllowance: Msat.make(2n),
      createdAtMillis: paid.writes[1].record.createdAtMillis + 1,
      ...onChain
    })
    yield* committed([paid])
    yield* committed([Withdrawal.requested(asked)])
    const expected: ReadonlyArray<Transaction> = [
      {
        id: asked.id,
        companyId,
        amount: asked.amount,
        recipient: asked.recipient,
        rail: "on_chain",
        type: "withdrawal",
        fee: Msat.make(3n),
        status: "pending",
        reason: null,
        metadata: asked.metadata,
        failure: null,
        description: "",
        createdAtMillis: asked.createdAtMillis
      },
      {
        id: paid.writes[1].record.id,
        companyId,
        amount: paid.writes[1].record.amount,
        recipient: paid.writes[1].record.recipient,
        rail: "lightning",
        type: "deposit",
        fee: Msat.zero,
        status: "settled",
        reason: null,
        metadata: paid.writes[1].record.metadata,
        failure: null,
        description: "coffee",
        createdAtMillis: paid.writes[1].record.createdAtMillis
      }
    ]
    assert.deepStrictEqual(yield* list(companyId), expected)
  }),
  "transactions are listed newest first, and those with equal times by id": Effect.gen(function* () {
    const companyId = yield* companyWith(100)
    const seen = yield* outputs(companyId, 9)
    const asked = yield* Effect.forEach(Array.from({ length: 9 }), (_, n) =>
      withdrawal(companyId, 1, { createdAtMillis: base + Math.floor(n / 3) })
    )
    yield* committed(asked.map((row) => Withdrawal.requested(row)))
    const rows = newestFirst([...seen, ...asked])
    const read = yield* list(companyId, { createdBeforeMillis: base + 1000 })
    assert.deepStrictEqual(ids(read), ids(rows))
    assert.deepStrictEqual(
      ids(yield* list(companyId, { createdBeforeMillis: base + 1000, limit: 4 })),
      ids(rows.slice(0, 4))
    )
    yield* has(companyId, { posted: 100, held: 9 })
  }),
  "250 transactions are read once each, in order, whatever the page size": Effect.gen(function* () {
    const companyId = yield* companyWith(100)
    const seen = yield* outputs(companyId, 150)
    const asked = yield* Effect.forEach(Array.from({ length: 100 }), (_, n) =>
      withdrawal(companyId, 1, { createdAtMillis: base + Math.floor(n / 4) })
    )
    yield* committed(asked.map((row) => Withdrawal.requested(row)))
    const expected = ids(newestFirst([...seen, ...asked]))
    for (const limit of [1000, 100, 37]) {
      const read: Array<Transaction> = []
      for (;;) {
        const last = read.at(-1)
        const page = yield* list(companyId, {
          limit,
          createdBeforeMillis: base + 1000,
          ...(last && { after: last })
        })
        read.push(...page)
        assert.isAtMost(read.length, 250, "no transaction may be repeated")
        if (page.length < limit) break
      }
      assert.deepStrictEqual(ids(read), expected)
    }
  }),
  "a page continues where the previous one ended, even if the last transaction read has since been updated":
    Effect.gen(function* () {
      const companyId = yield* open
      const rows = newestFirst(yield* outputs(companyId, 9))
      const first = yield* list(companyId, { limit: 4 })
      yield* committed([Deposit.seen(yield* output(companyId, 1, { createdAtMillis: base + 500 }))])
      const { id, createdAtMillis } = first.at(-1) ?? assert.fail()
      assert.deepStrictEqual(
        ids(yield* list(companyId, { after: { id, createdAtMillis } })),
        ids(rows.slice(4))
      )
    }),
  "transactions are filtered by type, rail, status and time, separately and combined": Effect.gen(
    function* () {
      const companyId = yield* companyWith(100)
      const seen = yield* outputs(companyId, 6)
      const [one, other] = [
        yield* begin(companyId, 1, { createdAtMillis: base + 10 }),
        yield* begin(companyId, 1, { createdAtMillis: base + 11, ...onChain })
      ]
      const lost = yield* begin(companyId, 1, { createdAtMillis: base + 12 })
      yield* committed([
        Withdrawal.settled(one.withdrawal, yield* proof(), one.fence, base + 20),
        Withdrawal.failed(lost.withdrawal, "no_route", lost.fence, base + 20)
      ])
      const [arrived] = yield* list(companyId, { limit: 1 })
      const [paid, payout, failed] = [one.withdrawal.id, other.withdrawal.id, lost.withdrawal.id]
      const picked = (query: Partial<Query>) => Effect.map(list(companyId, query), ids)
      const outs = ids(newestFirst(seen))
      assert.deepStrictEqual(yield* picked({ type: "withdrawal" }), [failed, payout, paid])
      assert.deepStrictEqual(yield* picked({ type: "deposit" }), [arrived?.id ?? "", ...outs])
      assert.deepStrictEqual(yield* picked({ rail: "on_chain" }), [payout, ...outs])
      assert.deepStrictEqual(yield* picked({ rail: "lightning" }), [arrived?.id ?? "", failed, paid])
      assert.deepStrictEqual(yield* picked({ status: "failed" }), [failed])
      assert.strictEqual((yield* list(companyId, { status: "failed" }))[0]?.failure, "no_route")
      assert.deepStrictEqual(yield* picked({ status: "settled" }), [arrived?.id ?? "", paid])
      assert.deepStrictEqual(yield* picked({ status: "pending", rail: "on_chain", type: "withdrawal" }), [
        payout
      ])
      assert.deepStrictEqual(yield* picked({ status: "failed", type: "deposit" }), [])
      assert.deepStrictEqual(
        yield* picked({ createdAfterMillis: base + 10, createdBeforeMillis: base + 12 }),
        [payout]
      )
      assert.deepStrictEqual(yield* picked({ createdAfterMillis: base, createdBeforeMillis: base + 11 }), [
        paid,
        ...outs.slice(0, 3)
      ])
      // Later than the time of any id.
      assert.deepStrictEqual(yield* picked({ createdAfterMillis: base * 1000 }), [])
      assert.deepStrictEqual(
        yield* picked({ createdAfterMillis: base + 11, createdBeforeMillis: base * 1000 }),
        [arrived?.id ?? "", failed]
      )
      const { createdAtMillis, id } = other.withdrawal
      assert.deepStrictEqual(yield* picked({ type: "withdrawal", after: { createdAtMillis, id } }), [paid])
      assert.deepStrictEqual(
        yield* picked({ rail: "on_chain", after: { createdAtMillis, id }, limit: 2 }),
        outs.slice(0, 2)
      )
      yield* has(companyId, { posted: 99, held: 1 })
    }
  )
} satisfies Promises<Journal | Records | Tasks>
