import {
  type Canary,
  core,
  feature,
  featureTest,
  inMemory,
  inSql,
  inTampering,
  postgres,
  service
} from "../../../../test/defences/Canary.ts"

export const audit: ReadonlyArray<Canary> = [
  {
    name: "audit-linked-past-the-horizon",
    bug: "an audit entry is linked while an earlier entry may still be committed, so that the earlier one later counts as inserted",
    file: service("postgres/reads/AuditStore"),
    in: "unlinked",
    find: " and e.id < ${horizon} order",
    replace: " order",
    test: "packages/postgres/test/audit.slow.test.ts",
    titles: "audit: an entry that has a lower id but is committed later",
    needsServer: true
  },
  {
    name: "audit-forgotten",
    bug: "a Change committed on someone's behalf has no audit entry",
    file: core("ledger/Audit"),
    in: "layerJournal",
    find: `if (acting === undefined && changes.length === 0) return journal.commit(change)`,
    replace: `if (acting === undefined || change.legs.length > 0) return journal.commit(change)`,
    test: "packages/features/test/audit/http/audit.test.ts",
    titles: "audit:"
  },
  {
    name: "audit-of-the-host-forgotten",
    bug: "a key issued by the embedding application has no audit entry",
    file: core("ledger/Audit"),
    in: "layerJournal",
    find: `acting === undefined && changes.length === 0`,
    replace: `acting === undefined`,
    test: inTampering,
    titles: "a key's hash or scopes changed.*owner"
  },
  {
    name: "audit-status-unlogged",
    bug: "the audit log lacks the status that a transition results in, so `verify` reports everyone who used an invitation",
    file: core("ledger/Noun"),
    in: "changedBy",
    find: `to === null ? []`,
    replace: `to !== "" ? []`,
    test: inMemory,
    titles: "takes effect once, even if repeated eight times concurrently"
  },
  {
    name: "audit-uncompared",
    bug: "records are not compared with the audit log",
    file: feature("audit/core/AuditVerification"),
    in: "replay",
    find: `|| possible.includes(value) ? [] : [field]`,
    replace: `|| value !== field ? [] : [field]`,
    test: inTampering,
    titles: "a limit raised"
  },
  {
    name: "audit-unknown-record",
    bug: "a record missing from the audit log counts as one without values",
    file: feature("audit/core/AuditVerification"),
    in: "replay",
    find: `if (fields === undefined) return undefined`,
    replace: `if (fields === undefined) return []`,
    test: inTampering,
    titles: "an operator token inserted"
  },
  {
    name: "audit-any-seal",
    bug: "an entry with an invalid signature counts as the service's",
    file: core("ledger/Audit"),
    in: "isSealed",
    find: `mac === sign("entry", signedText(draft, text))`,
    replace: `mac !== ""`,
    test: inTampering,
    titles: "an audit entry appended"
  },
  {
    name: "audit-copied",
    bug: "a signed entry can be written twice",
    file: service("postgres/reads/AuditStore"),
    in: "strays",
    find: `where copy > 1`,
    replace: `where copy > 1000`,
    test: inTampering,
    titles: "an audit entry appended"
  },
  {
    name: "audit-of-what-was-refused",
    bug: "the audit log records refused requests as done",
    file: postgres("statements/Statements"),
    in: "audited",
    find: `from done where audit is not null order by n`,
    replace: `from asked where audit is not null order by n`,
    test: inSql,
    titles: "the audit log contains each applied Change"
  },
  {
    name: "audit-head-published-again",
    bug: "the head of the audit log is published again although nothing was added",
    file: feature("audit/core/AuditHead"),
    in: "publish",
    find: `last.value === text) return`,
    replace: `last.value === source) return`,
    test: inMemory,
    titles: "two processes publish the head of the audit log once"
  },
  {
    name: "audit-head-kept-inside",
    bug: "the head of the audit log is logged but not sent to the operator's webhooks",
    file: feature("audit/core/AuditLog"),
    in: "layerWorker",
    find: `AuditHead.publish(head, fence)`,
    replace: `Effect.fail({ _tag: "StaleFence" } as const)`,
    test: featureTest("audit/core/AuditLog"),
    titles: "sends the log's head to the operator's webhooks"
  },
  {
    name: "audit-flood",
    bug: "each of many identical refusals writes its own audit entry",
    file: feature("audit/core/AuditLog"),
    in: "make",
    find: `if (before !== undefined) {`,
    replace: `if (before !== undefined && before.count > 1_000_000) {`,
    test: "packages/features/test/audit/http/audit.test.ts",
    titles: "a rejected request is recorded immediately"
  },
  {
    name: "audit-without-floods",
    bug: "requests rejected by the rate limit are not logged",
    file: "packages/http/src/api/Authentication.ts",
    in: "layer",
    find: `() => acting.refused(Acting.member(caller), operation, "rate_limited")`,
    replace: `() => Effect.void`,
    test: "packages/http/test/requestRates.test.ts",
    titles: "audit:"
  },
  {
    name: "audit-linked-from-the-wrong-place",
    bug: "a process links the audit log from where it read, although another one has linked a part of it",
    file: feature("audit/core/AuditLog"),
    in: "link",
    find: `found.filter(({ id }) => id > linkedTo)`,
    replace: `found.filter(({ id }) => id > 0n || id > linkedTo)`,
    test: inMemory,
    titles: "the audit log stays valid if one process"
  },
  {
    name: "audit-unhashed",
    bug: "the chain of the audit log does not cover the entries' contents",
    file: core("ledger/Audit"),
    in: "hashOf",
    find: `digest(before, String(id), companyId, String(atMillis), body)`,
    replace: `digest(before, String(id), companyId, String(atMillis), body.slice(0, 2))`,
    test: "packages/postgres/test/audit.slow.test.ts",
    titles: "a row that was changed"
  }
]
