import { assert } from "@effect/vitest"
import * as ApiKey from "@satrail/core/accounts/ApiKey"
import * as Company from "@satrail/core/accounts/Company"
import * as Domain from "@satrail/core/accounts/Domain"
import type { Change } from "@satrail/core/service/Changes"
import { Journal } from "@satrail/core/ledger/Journal"
import type { Tasks } from "@satrail/core/ledger/Tasks"
import * as Deposit from "@satrail/core/receiving/Deposit"
import * as Invoice from "@satrail/core/receiving/Invoice"
import * as LightningAddress from "@satrail/core/receiving/LightningAddress"
import * as OnChainAddress from "@satrail/core/receiving/OnChainAddress"
import type { Records } from "@satrail/core/service/Records"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { Effect } from "effect"
import type { Promises } from "../Contract.ts"
import {
  apiKey,
  begin,
  claimFor,
  company,
  companyWith,
  created,
  eventsOf,
  domain,
  lightningAddress,
  lightningAttempt,
  onChainAddress,
  open,
  output,
  payment,
  proof,
  transfer,
  unchanged,
  verdict,
  withdrawal
} from "../Fixtures.ts"
import { has } from "../Ledger.ts"

/** Guarantees about events. */
export const other = {
  "C24: applied Changes publish one event each, in order, with the time of the Change": Effect.gen(
    function* () {
      const row = yield* company
      const companyId = row.id
      const told: Array<Change> = []
      const tell = Effect.fnUntraced(function* <C extends Change>(change: C) {
        assert.strictEqual(yield* verdict(change), "Applied", change._tag)
        assert.strictEqual(yield* unchanged(change), "Applied", change._tag)
        told.push(change)
        return change
      })
      const atMillis = 1_700_000_000_000
      yield* tell(Company.opened(row))
      yield* tell(Company.planChanged(companyId, "paid", atMillis))
      yield* tell(Domain.verified(yield* domain(companyId, { verifiedAtMillis: atMillis })))
      const key = yield* apiKey(companyId)
      yield* tell(ApiKey.issued(key))
      yield* tell(ApiKey.revoked(key, atMillis))
      yield* tell(LightningAddress.created(yield* lightningAddress(companyId)))
      yield* tell(OnChainAddress.created(yield* onChainAddress(companyId)))
      const paid = yield* created(companyId, 100)
      told.push(Invoice.created(paid))
      yield* tell(yield* payment(paid, 100))
      const old = yield* created(companyId, 100)
      told.push(Invoice.created(old))
      yield* tell(Invoice.expired(old, atMillis))
      const [{ record: deposit }] = (yield* tell(Deposit.seen(yield* output(companyId, 50)))).writes
      const inBlock = yield* tell(Deposit.placed(deposit, 800, atMillis))
      const credited = yield* tell(Deposit.confirmed(Deposit.after(inBlock), atMillis))
      const reversed = yield* tell(Deposit.reversed(Deposit.after(credited), deposit.absorbed, atMillis))
      yield* tell(Deposit.dropped(Deposit.after(reversed), atMillis))
      const [one, lost, internal] = [
        yield* begin(companyId, 10),
        yield* begin(companyId, 10),
        yield* begin(companyId, 10)
      ]
      told.push(...[one, lost, internal].map(({ withdrawal }) => Withdrawal.requested(withdrawal)))
      yield* tell(Withdrawal.dispatched(one.withdrawal, yield* lightningAttempt, one.fence, atMillis))
      yield* tell(Withdrawal.settled(one.withdrawal, yield* proof(), one.fence, atMillis))
      yield* tell(Withdrawal.failed(lost.withdrawal, "no_route", lost.fence, atMillis))
      const invoice = yield* created(yield* open, 10)
      yield* claimFor(internal, invoice)
      yield* tell(yield* transfer(internal, invoice))

      const expected = told.flatMap(({ event, atMillis }) =>
        event === undefined ? [] : [{ ...event, companyId, atMillis }]
      )
      const events = yield* eventsOf(companyId)
      assert.deepStrictEqual(
        events.map(({ id: _, ...event }) => event),
        expected
      )
      yield* has(companyId, { posted: 80, held: 0 })
    }
  ),
  "C24: a refused Change publishes no event": Effect.gen(function* () {
    const companyId = yield* companyWith(10)
    const before = yield* eventsOf(companyId)
    yield* Effect.flip((yield* Journal).commit(Withdrawal.requested(yield* withdrawal(companyId, 11))))
    assert.deepStrictEqual(yield* eventsOf(companyId), before)
    yield* has(companyId, { posted: 10, held: 0 })
  }),
  "C24: concurrent Changes publish one event each": Effect.gen(function* () {
    const companyId = yield* companyWith(100)
    const before = (yield* eventsOf(companyId)).length
    const asked = yield* Effect.forEach(Array.from({ length: 32 }), () => withdrawal(companyId, 1))
    yield* Effect.forEach([...asked, ...asked], (row) => verdict(Withdrawal.requested(row)), {
      concurrency: "unbounded"
    })
    const events = (yield* eventsOf(companyId)).slice(before)
    assert.strictEqual(new Set(events.map(({ id }) => id)).size, 32)
    assert.deepStrictEqual(
      events.map(({ subject }) => subject).toSorted(),
      asked.map(({ id }) => id).toSorted()
    )
    yield* has(companyId, { posted: 100, held: 32 })
  }),
  "C24: applied Changes publish their events for other companies to each of them once, in order": Effect.gen(
    function* () {
      const [companyId, ...others] = [yield* open, yield* open, yield* open]
      const before = yield* Effect.forEach(others, eventsOf)
      const addresses = yield* Effect.forEach(Array.from({ length: 8 }), () => onChainAddress(companyId))
      const subjects = addresses.map(({ id }) => id)
      const type = "on_chain_address.created" as const
      const changes = addresses.map((row) => ({
        ...OnChainAddress.created(row),
        eventsForOthers: [...others, ...others].map((companyId, place) => ({
          companyId,
          type,
          subject: `${row.id} ${place}`
        }))
      }))
      yield* Effect.forEach([...changes, ...changes], verdict, { concurrency: "unbounded" })
      for (const [at, other] of others.entries()) {
        const events = (yield* eventsOf(other)).slice(before[at]?.length)
        assert.strictEqual(new Set(events.map(({ id }) => id)).size, 16)
        assert.deepStrictEqual(
          events.map(({ subject }) => subject.replace(/ \d$/, "")).toSorted(),
          [...subjects, ...subjects].toSorted()
        )
        // The two events of each Change are in its order.
        for (const id of subjects)
          assert.deepStrictEqual(
            events.flatMap(({ subject }) => (subject.startsWith(id) ? [subject] : [])),
            [`${id} ${at}`, `${id} ${at + others.length}`]
          )
      }
      assert.deepStrictEqual(
        (yield* eventsOf(companyId))
          .flatMap(({ subject }) => (subjects.includes(subject) ? [subject] : []))
          .toSorted(),
        subjects.toSorted()
      )
    }
  )
} satisfies Promises<Journal | Records | Tasks>
