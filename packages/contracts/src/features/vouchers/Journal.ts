import { assert } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import type { Journal } from "@satrail/core/ledger/Journal"
import { fence, Tasks } from "@satrail/core/ledger/Tasks"
import { Records } from "@satrail/core/service/Records"
import * as Voucher from "@satrail/features/vouchers/core/Voucher"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { Effect, Option } from "effect"
import type { Promises } from "../../Contract.ts"
import { claim, companyWith, found, past, proof, tally, unchanged, verdict } from "../../Fixtures.ts"
import { voucher } from "./Fixtures.ts"
import { booked, has } from "../../Ledger.ts"

/** A service fee of 5 and a fee limit of 10, so that sending 40 holds 55. */
const fees = { serviceFee: Msat.fromSats(5), networkAllowance: Msat.fromSats(10) }

/** Creates a voucher that holds `sats`, at a random past time. */
const opened = Effect.fnUntraced(function* (
  companyId: CompanyId.CompanyId,
  sats: number,
  fields: Partial<Voucher.Voucher> = {}
) {
  const createdAtMillis = yield* past
  const row = yield* voucher(companyId, sats, {
    createdAtMillis,
    expiresAtMillis: createdAtMillis + 1000,
    ...fields
  })
  assert.strictEqual(yield* verdict(Voucher.created(row)), "Applied")
  return row
})

/** Builds a claim with a new invoice. */
const claiming = Effect.fnUntraced(function* (row: Voucher.Voucher) {
  const to = { id: yield* Id.make, recipient: `lnbcrt1${yield* Id.make}`, network: "regtest" } as const
  return Voucher.claimed(row, to, row.createdAtMillis)
})

/** Claims the task that expires the voucher, or returns undefined if there is no such task. */
const expiry = Effect.fnUntraced(function* (row: Voucher.Voucher) {
  const due = yield* (yield* Tasks).claim({
    kind: Voucher.taskKind,
    nowMillis: row.expiresAtMillis,
    leaseMillis: 4_000_000_000_000,
    limit: 1000
  })
  return due.find(({ id }) => id === row.id)
})

const expiring = Effect.fnUntraced(function* (row: Voucher.Voucher) {
  const task = yield* expiry(row)
  if (task === undefined) return assert.fail(`no task for ${row.id}`)
  return Voucher.expired(row, fence(task), row.expiresAtMillis)
})

const read = Effect.fnUntraced(function* ({ companyId, id }: Voucher.Voucher) {
  return yield* found((yield* Records).get(Voucher.noun, companyId, id))
})

/** Guarantees about how a voucher affects a company's money. */
export const money = {
  "a voucher holds its amount and both fees, and is refused if they exceed the balance": Effect.gen(
    function* () {
      const companyId = yield* companyWith(100)
      const row = yield* voucher(companyId, 40, fees)
      assert.deepStrictEqual(yield* booked(verdict(Voucher.created(row))), { available: -55, held: 55 })
      assert.deepStrictEqual(yield* read(row), row)
      assert.strictEqual(yield* unchanged(Voucher.created(row)), "Applied")
      assert.strictEqual(yield* unchanged(Voucher.created({ ...row, description: "another" })), "Conflict")
      const tooMuch = yield* voucher(companyId, 46)
      assert.strictEqual(yield* unchanged(Voucher.created(tooMuch)), "InsufficientBalance")
      assert.isTrue(Option.isNone(yield* (yield* Records).get(Voucher.noun, companyId, tooMuch.id)))
      yield* has(companyId, { posted: 100, held: 55 })
    }
  ),
  "concurrent vouchers never hold more than the balance": Effect.gen(function* () {
    const companyId = yield* companyWith(100)
    const rows = yield* Effect.forEach(Array.from({ length: 30 }), () => voucher(companyId, 9))
    const verdicts = yield* Effect.forEach(rows, (row) => verdict(Voucher.created(row)), {
      concurrency: "unbounded"
    })
    assert.deepStrictEqual(tally(verdicts), { Applied: 11, InsufficientBalance: 19 })
    yield* has(companyId, { posted: 100, held: 99 })
  }),
  "claiming a voucher turns it into a withdrawal that holds the same money": Effect.gen(function* () {
    const companyId = yield* companyWith(100)
    const row = yield* opened(companyId, 40, fees)
    const change = yield* claiming(row)
    assert.deepStrictEqual(yield* booked(verdict(change)), {})
    const records = yield* Records
    const [, { record: withdrawal }] = change.writes
    assert.deepStrictEqual(yield* found(records.withdrawal(companyId, withdrawal.id)), withdrawal)
    assert.deepStrictEqual(yield* read(row), {
      ...row,
      status: "claimed",
      withdrawalId: withdrawal.id,
      updatedAtMillis: change.atMillis
    })
    assert.isUndefined(yield* expiry(row), "a claimed voucher must have no expiry task")
    yield* has(companyId, { posted: 100, held: 55 })
    const begun = yield* claim(withdrawal)
    const settled = Withdrawal.settled(withdrawal, yield* proof(10), begun.fence, change.atMillis)
    assert.deepStrictEqual(yield* booked(verdict(settled)), { held: -55, node: 50, service_fees: 5 })
    yield* has(companyId, { posted: 45, held: 0 })
  }),
  "C18: if fifty claims run concurrently, exactly one is applied, and there is exactly one withdrawal":
    Effect.gen(function* () {
      const companyId = yield* companyWith(100)
      const row = yield* opened(companyId, 40)
      const claims = yield* Effect.forEach(Array.from({ length: 50 }), () => claiming(row))
      const verdicts = yield* Effect.forEach(claims, verdict, { concurrency: "unbounded" })
      assert.deepStrictEqual(tally(verdicts), { Applied: 1, VoucherNotOpen: 49 })
      const records = yield* Records
      const withdrawals = (yield* records.transactions(companyId, { limit: 100 })).filter(
        ({ type }) => type === "withdrawal"
      )
      assert.deepStrictEqual(
        withdrawals.map(({ id }) => id),
        [(yield* read(row)).withdrawalId]
      )
      yield* has(companyId, { posted: 100, held: 40 })
    }),
  "if a claimed voucher's withdrawal fails, the money is released and the voucher stays claimed": Effect.gen(
    function* () {
      const companyId = yield* companyWith(100)
      const row = yield* opened(companyId, 40)
      const change = yield* claiming(row)
      yield* verdict(change)
      const [, { record: withdrawal }] = change.writes
      const begun = yield* claim(withdrawal)
      assert.strictEqual(
        yield* verdict(Withdrawal.failed(withdrawal, "no_route", begun.fence, change.atMillis)),
        "Applied"
      )
      assert.strictEqual((yield* read(row)).status, "claimed")
      assert.strictEqual(yield* unchanged(yield* claiming(row)), "VoucherNotOpen")
      yield* has(companyId, { posted: 100, held: 0 })
    }
  ),
  "C21: an expired voucher releases the full hold, once, and can be neither claimed nor canceled": Effect.gen(
    function* () {
      const companyId = yield* companyWith(100)
      const row = yield* opened(companyId, 40, fees)
      const change = yield* expiring(row)
      assert.deepStrictEqual(yield* booked(verdict(change)), { available: 55, held: -55 })
      assert.deepStrictEqual(yield* read(row), {
        ...row,
        status: "expired",
        updatedAtMillis: change.atMillis
      })
      assert.strictEqual(yield* unchanged(change), "Applied")
      assert.strictEqual(yield* unchanged(Voucher.canceled(row, change.atMillis)), "VoucherNotOpen")
      assert.strictEqual(yield* unchanged(yield* claiming(row)), "VoucherNotOpen")
      assert.isUndefined(yield* expiry(row))
      yield* has(companyId, { posted: 100, held: 0 })
    }
  ),
  "a canceled voucher releases the full hold, once, and cannot be claimed": Effect.gen(function* () {
    const companyId = yield* companyWith(100)
    const row = yield* opened(companyId, 40, fees)
    const change = Voucher.canceled(row, row.createdAtMillis + 1)
    const verdicts = yield* Effect.forEach(Array.from({ length: 8 }), () => verdict(change), {
      concurrency: "unbounded"
    })
    assert.deepStrictEqual(tally(verdicts), { Applied: 8 })
    assert.deepStrictEqual(yield* read(row), { ...row, status: "canceled", updatedAtMillis: change.atMillis })
    assert.strictEqual(yield* unchanged(yield* claiming(row)), "VoucherNotOpen")
    assert.isUndefined(yield* expiry(row), "a canceled voucher must have no expiry task")
    yield* has(companyId, { posted: 100, held: 0 })
  }),
  "C18 C20: a voucher that is claimed, expired and canceled concurrently has one outcome, and its money is moved once":
    Effect.gen(function* () {
      const companyId = yield* companyWith(300)
      const asked = yield* Effect.forEach(
        Array.from({ length: 6 }, (_, n) => n),
        Effect.fnUntraced(function* (n) {
          const row = yield* opened(companyId, 40)
          const ways = [
            yield* expiring(row),
            yield* claiming(row),
            Voucher.canceled(row, row.createdAtMillis + 1),
            yield* claiming(row)
          ]
          // If the store serializes commits, each of the outcomes comes first in turn.
          return { row, ways: [...ways.slice(n % 4), ...ways.slice(0, n % 4)] }
        })
      )
      yield* Effect.forEach(
        asked.flatMap(({ ways }) => ways),
        verdict,
        { concurrency: "unbounded" }
      )
      const ended = yield* Effect.forEach(asked, ({ row }) => read(row))
      assert.isTrue(ended.every(({ status }) => status !== "open"))
      const claimed = ended.filter(({ status }) => status === "claimed").length
      const records = yield* Records
      const withdrawals = (yield* records.transactions(companyId, { limit: 100 })).filter(
        ({ type }) => type === "withdrawal"
      )
      assert.strictEqual(withdrawals.length, claimed)
      yield* has(companyId, { posted: 300, held: 40 * claimed })
    })
} satisfies Promises<Journal | Records | Tasks>
