import { assert } from "@effect/vitest"
import * as Duty from "@satrail/core/ledger/Duty"
import { Journal } from "@satrail/core/ledger/Journal"
import { LedgerReads } from "@satrail/core/ledger/LedgerReads"
import { fence, Tasks } from "@satrail/core/ledger/Tasks"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { Records } from "@satrail/core/service/Records"
import * as AuditHead from "@satrail/features/audit/core/AuditHead"
import * as AuditLog from "@satrail/features/audit/core/AuditLog"
import * as AuditVerification from "@satrail/features/audit/core/AuditVerification"
import * as Audit from "@satrail/core/ledger/Audit"
import * as CompanyId from "@satrail/core/base/CompanyId"
import { Effect } from "effect"
import type * as Contract from "../../Contract.ts"
import { companyWith, hex, open, verdict, withdrawal } from "../../Fixtures.ts"

const acting: Audit.Acting = {
  actor: "key",
  actor_id: "k",
  actor_name: "till",
  verb: "confirm",
  address: "",
  request_id: "r"
}
let nonces = 0
/** Returns the body of an entry. Every call has another nonce. */
const saying = (subject: string) => {
  const body = Audit.bodyOf(acting, { subject, outcome: "done", count: 1 })
  const nonce = Buffer.from(String(++nonces).padStart(16, "0"))
  return Audit.sealed({ companyId: CompanyId.operator, atMillis: 7, body }, undefined, () => nonce).body
}

/** Links every unlinked entry. */
const linked = Effect.gen(function* () {
  yield* Effect.provideService(
    Effect.repeat(AuditLog.link, { while: (count) => count > 0 }),
    Audit.AuditStore,
    yield* Records
  )
})

const bodiesOf = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId) {
  yield* linked
  return (yield* (yield* Records).auditOf(companyId, null, 100)).map(({ entry }) => entry.body)
})

const verifiedIn = Effect.fnUntraced(function* (store: Audit.AuditStore["Service"], head: string | null) {
  const faults: Array<AuditVerification.Fault> = []
  const all = AuditVerification.verify(head, (fault) => Effect.sync(() => faults.push(fault)))
  // These tests write records without logging them.
  yield* Effect.provideService(all, Audit.AuditStore, { ...store, recordedAudit: () => Effect.succeed([]) })
  return faults
})
const verified = Effect.flatMap(Records, (store) => verifiedIn(store, null))

/** Simulates an owner of the store who deletes every entry written after this head, and restores this head. */
const cutTo = (store: Audit.AuditStore["Service"], head: Audit.Head): Audit.AuditStore["Service"] => ({
  ...store,
  auditHead: Effect.succeed(head),
  auditChain: (after, limit) =>
    Effect.map(store.auditChain(after, limit), (page) =>
      page.filter(({ link }) => link.entryId <= head.entryId)
    ),
  auditOf: (companyId, before, limit) => store.auditOf(companyId, before ?? head.entryId + 1n, limit)
})

/** Guarantees about the audit log. */
export const other = {
  "the audit log contains each applied Change once and no refused Change": Effect.gen(function* () {
    const [companyId, otherId] = [yield* companyWith(10), yield* open]
    const asked = yield* withdrawal(companyId, 1)
    const change = { ...Withdrawal.requested(asked), audit: saying(asked.id) }
    assert.strictEqual(yield* verdict(change), "Applied")
    assert.strictEqual(yield* verdict(change), "Applied")
    const large = yield* withdrawal(companyId, 1000)
    assert.strictEqual(
      yield* verdict({ ...Withdrawal.requested(large), audit: saying(large.id) }),
      "InsufficientBalance"
    )
    assert.strictEqual(yield* verdict(Withdrawal.requested(yield* withdrawal(companyId, 1))), "Applied")
    assert.deepStrictEqual(yield* bodiesOf(companyId), [change.audit])
    assert.deepStrictEqual(yield* bodiesOf(otherId), [])
  }),
  "a company's audit log is read in pages, newest first, each entry with its position in the chain":
    Effect.gen(function* () {
      const { appendAudit, auditOf } = yield* Records
      const [companyId, otherId] = [yield* open, yield* open]
      const bodies = ["a", "b", "c", "d", "e"].map(saying)
      for (const body of bodies)
        yield* appendAudit([
          { companyId, atMillis: 7, body },
          { companyId: otherId, atMillis: 7, body: saying("other") }
        ])
      yield* linked
      const all = yield* auditOf(companyId, null, 100)
      assert.deepStrictEqual(
        all.map(({ entry }) => entry.body),
        bodies.toReversed()
      )
      assert.deepStrictEqual(
        all.map(({ link }) => link?.seq),
        [5, 4, 3, 2, 1]
      )
      assert.deepStrictEqual(yield* auditOf(companyId, all[1]?.entry.id ?? 0n, 2), all.slice(2, 4))
      const both = (yield* auditOf(null, null, 10)).map(({ entry }) => entry.companyId)
      assert.sameMembers([...new Set(both)], [companyId, otherId])
      assert.deepStrictEqual(yield* verified, [])
    }),
  "each audit log entry is linked once, however many processes link the log concurrently": Effect.gen(
    function* () {
      const { appendAudit, auditOf, linkAudit } = yield* Records
      const companyId = yield* open
      yield* appendAudit(["a", "b", "c"].map((name) => ({ companyId, atMillis: 7, body: saying(name) })))
      yield* Effect.forEach(Array.from({ length: 8 }), () => linked, { concurrency: "unbounded" })
      const all = yield* auditOf(companyId, null, 100)
      const links = all.flatMap(({ link }) => (link === null ? [] : [link]))
      yield* linkAudit(
        links.map((link) => ({ ...link, hash: Audit.origin })),
        Audit.noHead
      )
      assert.deepStrictEqual(yield* auditOf(companyId, null, 100), all)
      assert.deepStrictEqual(yield* verified, [])
    }
  ),
  "the audit log stays valid if one process links some entries after another process has read them":
    Effect.gen(function* () {
      const store = yield* Records
      const companyId = yield* open
      yield* linked
      yield* store.appendAudit(
        ["a", "b", "c", "d"].map((name) => ({ companyId, atMillis: 7, body: saying(name) }))
      )
      const linkedBy = (by: Audit.AuditStore["Service"]) =>
        Effect.provideService(AuditLog.link, Audit.AuditStore, by)
      const first = linkedBy({ ...store, unlinkedAudit: () => store.unlinkedAudit(2) })
      yield* linkedBy({ ...store, unlinkedAudit: (limit) => Effect.tap(store.unlinkedAudit(limit), first) })
      const seqs = (yield* store.auditOf(companyId, null, 100)).map(({ link }) => link?.seq)
      assert.deepStrictEqual(seqs, [4, 3, 2, 1])
      assert.deepStrictEqual(yield* verified, [])
    }),
  "two processes publish the head of the audit log once, and `verify` uses the head to detect a truncated log":
    Effect.gen(function* () {
      const [store, tasks] = [yield* Records, yield* Tasks]
      const companyId = yield* open
      const role = `settlements of ${yield* hex(8)}`
      yield* (yield* Journal).commit(Duty.started(role, 0))
      const claimed = Effect.fnUntraced(function* (nowMillis: number) {
        const [task] = yield* tasks.claim({ kind: role, nowMillis, leaseMillis: 1, limit: 1 })
        return fence(task ?? assert.fail("the role must be free"))
      })
      const headAfter = Effect.fnUntraced(function* (name: string) {
        yield* store.appendAudit([{ companyId, atMillis: 7, body: saying(name) }])
        yield* linked
        return (yield* store.auditHead) ?? assert.fail("an entry must be linked")
      })
      const publish = (head: Audit.Head, as: Effect.Success<ReturnType<typeof claimed>>) =>
        Effect.provideService(AuditHead.publish(head, as), LedgerReads, store)
      const published = Effect.map(store.eventsOf(CompanyId.operator, 0n, 1000), (events) =>
        events.flatMap(({ type, subject }) => (type === "audit_head.updated" ? [subject] : []))
      )
      const before = yield* published
      const heads = Effect.map(published, (all) => all.slice(before.length))

      const first = yield* claimed(10)
      const one = yield* headAfter("a")
      yield* publish(one, first)
      assert.deepStrictEqual(yield* heads, [Audit.textOf(one)])
      const second = yield* claimed(20)
      const two = yield* headAfter("b")
      assert.strictEqual((yield* Effect.flip(publish(two, first)))._tag, "StaleFence")
      assert.deepStrictEqual(yield* heads, [Audit.textOf(one)])
      yield* Effect.forEach([first, second], (as) => Effect.exit(publish(two, as)), {
        concurrency: "unbounded"
      })
      yield* publish(two, second)
      assert.deepStrictEqual(yield* heads, [one, two].map(Audit.textOf))

      assert.deepStrictEqual(yield* verifiedIn(store, Audit.textOf(two)), [])
      const cut = cutTo(store, one)
      assert.deepStrictEqual(yield* verifiedIn(cut, null), [])
      assert.deepStrictEqual(
        (yield* verifiedIn(cut, Audit.textOf(two))).map(({ kind }) => kind),
        ["head"]
      )
    })
} satisfies Contract.Promises<Journal | Records | Tasks>
