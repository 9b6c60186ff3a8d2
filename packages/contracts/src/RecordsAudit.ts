import { assert } from "@effect/vitest"
import type { Journal } from "@satrail/core/ledger/Journal"
import type { Tasks } from "@satrail/core/ledger/Tasks"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { Records } from "@satrail/core/service/Records"
import * as AuditLog from "@satrail/core/reports/AuditLog"
import * as AuditVerification from "@satrail/core/reports/AuditVerification"
import * as Audit from "@satrail/core/ledger/Audit"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import { Effect } from "effect"
import type * as Contract from "./Contract.ts"
import { companyWith, open, verdict, withdrawal } from "./Fixtures.ts"

const acting: Audit.Acting = { actor: "key", actor_id: "k", actor_name: "till", verb: "confirm", address: "", request_id: "r" }
const saying = (subject: string) => Audit.bodyOf(acting, { subject, outcome: "done", count: 1 })

/** Links everything that there is. */
const linked = Effect.gen(function* () {
  yield* Effect.provideService(Effect.repeat(AuditLog.link, { while: (count) => count > 0 }), Audit.AuditStore, yield* Records)
})

const bodiesOf = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId) {
  yield* linked
  return (yield* (yield* Records).auditOf(companyId, null, 100)).map(({ entry }) => entry.body)
})

const verified = Effect.gen(function* () {
  const faults: Array<AuditVerification.Fault> = []
  const all = AuditVerification.verify(null, (fault) => Effect.sync(() => faults.push(fault)))
  yield* Effect.provideService(all, Audit.AuditStore, yield* Records)
  return faults
})

/** What is written down of who did what. */
export const other = {
  "the audit log has a Change that was applied once, and none that was refused": Effect.gen(function* () {
    const [companyId, otherId] = [yield* companyWith(10), yield* open]
    const asked = yield* withdrawal(companyId, 1)
    const change = { ...Withdrawal.requested(asked), audit: saying(asked.id) }
    assert.strictEqual(yield* verdict(change), "Applied")
    assert.strictEqual(yield* verdict(change), "Applied")
    const large = yield* withdrawal(companyId, 1000)
    assert.strictEqual(yield* verdict({ ...Withdrawal.requested(large), audit: saying(large.id) }), "InsufficientBalance")
    assert.strictEqual(yield* verdict(Withdrawal.requested(yield* withdrawal(companyId, 1))), "Applied")
    assert.deepStrictEqual(yield* bodiesOf(companyId), [saying(asked.id)])
    assert.deepStrictEqual(yield* bodiesOf(otherId), [])
  }),
  "the audit log of a company is read by pages, the newest first, each entry with its place in the chain": Effect.gen(function* () {
    const { appendAudit, auditOf } = yield* Records
    const [companyId, otherId] = [yield* open, yield* open]
    const names = ["a", "b", "c", "d", "e"]
    for (const name of names) yield* appendAudit([companyId, otherId].map((id) => ({ companyId: id, atMillis: 7, body: saying(name) })))
    yield* linked
    const all = yield* auditOf(companyId, null, 100)
    assert.deepStrictEqual(
      all.map(({ entry }) => entry.body),
      names.toReversed().map(saying)
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
  "the audit log is linked once, by whoever and however often at once": Effect.gen(function* () {
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
  }),
  "the audit log is linked soundly by two of whom one read it before the other linked a part of it": Effect.gen(function* () {
    const store = yield* Records
    const companyId = yield* open
    yield* linked
    yield* store.appendAudit(["a", "b", "c", "d"].map((name) => ({ companyId, atMillis: 7, body: saying(name) })))
    const linkedBy = (by: Audit.AuditStore["Service"]) => Effect.provideService(AuditLog.link, Audit.AuditStore, by)
    const first = linkedBy({ ...store, unlinkedAudit: () => store.unlinkedAudit(2) })
    yield* linkedBy({ ...store, unlinkedAudit: (limit) => Effect.tap(store.unlinkedAudit(limit), first) })
    const seqs = (yield* store.auditOf(companyId, null, 100)).map(({ link }) => link?.seq)
    assert.deepStrictEqual(seqs, [4, 3, 2, 1])
    assert.deepStrictEqual(yield* verified, [])
  })
} satisfies Contract.Promises<Journal | Records | Tasks>
