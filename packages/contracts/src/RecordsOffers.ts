import { assert } from "@effect/vitest"
import * as Preimage from "@satrail/bitcoin/Preimage"
import type { Journal } from "@satrail/core/ledger/Journal"
import type { Tasks } from "@satrail/core/ledger/Tasks"
import { Records } from "@satrail/core/service/Records"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { Effect, Option } from "effect"
import type { Promises } from "./Contract.ts"
import { begin, companyWith, found, hex, proof, unchanged, verdict } from "./Fixtures.ts"
import { has } from "./Ledger.ts"

const dispatchedAtMillis = 1_700_000_000_000
const updatedAtMillis = 1_700_000_000_001

/** Guarantees about records of payments to offers. */
export const other = {
  "an offer payment is returned with the offer and the hash that the node reported, even if another payment has the same hash": Effect.gen(
    function* () {
      const records = yield* Records
      const companyId = yield* companyWith(100)
      const offer = `lno1${yield* hex(8)}`
      // An issuer may send two invoices with the same hash.
      const settlement = yield* proof(0)
      const reportedHash = Preimage.hashOf(settlement.preimage ?? Preimage.make(""))
      const how = { ...settlement, reportedHash }
      const both = [yield* begin(companyId, 40), yield* begin(companyId, 10)]
      for (const { withdrawal, fence } of both) {
        const dispatched = Withdrawal.dispatched(withdrawal, { _tag: "Bolt12", offer }, fence, dispatchedAtMillis)
        assert.strictEqual(yield* verdict(dispatched), "Applied")
        assert.strictEqual(yield* unchanged(dispatched), "Applied")
        const other = Withdrawal.dispatched(withdrawal, { _tag: "Bolt12", offer: `${offer}q` }, fence, dispatchedAtMillis)
        assert.strictEqual(yield* unchanged(other), "Conflict")
        const sent = yield* found(records.withdrawalById(withdrawal.id))
        assert.deepStrictEqual(sent, { ...withdrawal, paymentRequest: offer, dispatchedAtMillis, updatedAtMillis: dispatchedAtMillis })
        assert.isTrue(Withdrawal.isByOffer(sent))
        assert.strictEqual(yield* verdict(Withdrawal.settled(withdrawal, how, fence, updatedAtMillis)), "Applied")
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
    }
  )
} satisfies Promises<Journal | Records | Tasks>
