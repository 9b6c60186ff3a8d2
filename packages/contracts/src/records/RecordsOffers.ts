import { assert } from "@effect/vitest"
import * as Preimage from "@satrail/bitcoin/Preimage"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import { Entropy } from "@satrail/core/base/Entropy"
import * as Id from "@satrail/core/base/Id"
import type { Journal } from "@satrail/core/ledger/Journal"
import type { Tasks } from "@satrail/core/ledger/Tasks"
import { Records } from "@satrail/core/service/Records"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { Effect, Option } from "effect"
import type { Promises } from "../Contract.ts"
import {
  begin,
  type Started,
  committed,
  companyWith,
  found,
  hex,
  lightningAttempt,
  proof,
  unchanged,
  verdict
} from "../Fixtures.ts"
import { has } from "../Ledger.ts"

const dispatchedAtMillis = 1_700_000_000_000
const updatedAtMillis = 1_700_000_000_001

/** Guarantees about records of payments over Lightning. */
export const other = {
  "the newest payment that the node settled before a time is found, whichever company made it": Effect.gen(
    function* () {
      const records = yield* Records
      const companies = [yield* companyWith(100), yield* companyWith(100)] as const
      // No other test has rows of this period.
      const sinceMillis = 4_000_000_000_000
      const made = Effect.fnUntraced(function* (
        companyId: CompanyId.CompanyId,
        atSeconds: number,
        fields: Partial<Withdrawal.Withdrawal> = {}
      ) {
        const createdAtMillis = sinceMillis + atSeconds * 1000
        return yield* begin(companyId, 10, {
          id: Id.fromMillis(createdAtMillis, yield* Entropy),
          createdAtMillis,
          ...fields
        })
      })
      const sent = Effect.fnUntraced(function* ({ withdrawal, fence }: Started, attempt: Withdrawal.Attempt) {
        yield* committed(Withdrawal.dispatched(withdrawal, attempt, fence, withdrawal.createdAtMillis))
      })
      const settled = Effect.fnUntraced(function* ({ withdrawal, fence }: Started, afterSeconds: number) {
        yield* committed(
          Withdrawal.settled(
            withdrawal,
            yield* proof(0),
            fence,
            withdrawal.createdAtMillis + afterSeconds * 1000
          )
        )
      })
      const newest = (fromSeconds: number, toSeconds: number) =>
        Effect.map(
          records.settledOverLightning(sinceMillis + fromSeconds * 1000, sinceMillis + toSeconds * 1000),
          Option.map(({ id }) => id)
        )

      const [first, second, slow] = [
        yield* made(companies[0], 10),
        yield* made(companies[1], 20),
        yield* made(companies[0], 30)
      ]
      for (const one of [first, second, slow]) yield* sent(one, yield* lightningAttempt)
      assert.deepStrictEqual(yield* newest(0, 1000), Option.none())
      for (const [one, afterSeconds] of [
        [first, 1],
        [second, 1],
        [slow, 70]
      ] as const)
        yield* settled(one, afterSeconds)
      const [pending, failed, byOffer] = [
        yield* made(companies[0], 31),
        yield* made(companies[0], 32),
        yield* made(companies[0], 33)
      ]
      yield* sent(pending, yield* lightningAttempt)
      yield* sent(failed, yield* lightningAttempt)
      yield* committed(
        Withdrawal.failed(failed.withdrawal, "no_route", failed.fence, failed.withdrawal.createdAtMillis + 1)
      )
      const byOperator = yield* made(companies[0], 35)
      yield* sent(byOperator, yield* lightningAttempt)
      const evidence = { ...(yield* proof(0)), paymentIndex: null }
      yield* committed(
        Withdrawal.settled(
          byOperator.withdrawal,
          evidence,
          undefined,
          byOperator.withdrawal.createdAtMillis + 1000
        )
      )
      yield* sent(byOffer, { _tag: "Bolt12", offer: `lno1${yield* hex(8)}` })
      yield* settled(byOffer, 1)
      yield* made(companies[0], 34) // not dispatched

      assert.deepStrictEqual(yield* newest(0, 50), Option.some(second.withdrawal.id))
      assert.deepStrictEqual(yield* newest(0, 101), Option.some(slow.withdrawal.id))
      assert.deepStrictEqual(yield* newest(0, 21), Option.some(first.withdrawal.id))
      assert.deepStrictEqual(yield* newest(0, 11), Option.none())
      assert.deepStrictEqual(yield* newest(21, 50), Option.none())
    }
  ),
  "an offer payment is returned with the offer and the hash that the node reported, even if another payment has the same hash":
    Effect.gen(function* () {
      const records = yield* Records
      const companyId = yield* companyWith(100)
      const offer = `lno1${yield* hex(8)}`
      // An issuer may send two invoices with the same hash.
      const settlement = yield* proof(0)
      const reportedHash = Preimage.hashOf(settlement.preimage ?? Preimage.make(""))
      const how = { ...settlement, reportedHash }
      const both = [yield* begin(companyId, 40), yield* begin(companyId, 10)]
      for (const { withdrawal, fence } of both) {
        const dispatched = Withdrawal.dispatched(
          withdrawal,
          { _tag: "Bolt12", offer },
          fence,
          dispatchedAtMillis
        )
        assert.strictEqual(yield* verdict(dispatched), "Applied")
        assert.strictEqual(yield* unchanged(dispatched), "Applied")
        const other = Withdrawal.dispatched(
          withdrawal,
          { _tag: "Bolt12", offer: `${offer}q` },
          fence,
          dispatchedAtMillis
        )
        assert.strictEqual(yield* unchanged(other), "Conflict")
        const sent = yield* found(records.withdrawalById(withdrawal.id))
        assert.deepStrictEqual(sent, {
          ...withdrawal,
          paymentRequest: offer,
          dispatchedAtMillis,
          updatedAtMillis: dispatchedAtMillis
        })
        assert.isTrue(Withdrawal.isByOffer(sent))
        assert.strictEqual(
          yield* verdict(Withdrawal.settled(withdrawal, how, fence, updatedAtMillis)),
          "Applied"
        )
        assert.deepStrictEqual(yield* found(records.withdrawal(companyId, withdrawal.id)), {
          ...sent,
          ...how,
          status: "settled",
          updatedAtMillis
        })
      }
      // The hash doesn't identify a single withdrawal, but filtering by the hash finds both.
      assert.isTrue(Option.isNone(yield* records.withdrawalByHash(reportedHash)))
      const listed = yield* records.transactions(companyId, { limit: 10, paymentHash: reportedHash })
      assert.sameMembers(
        listed.map(({ id }) => id),
        both.map(({ withdrawal }) => withdrawal.id)
      )
      yield* has(companyId, { posted: 50, held: 0 })
    })
} satisfies Promises<Journal | Records | Tasks>
