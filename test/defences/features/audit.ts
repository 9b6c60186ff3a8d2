import { type Canary, core, postgres, coreTest, inMemory, inTampering, inSql } from "../Canary.ts"

export const audit: ReadonlyArray<Canary> = [
  {
    name: "audit-linked-past-the-horizon",
    rows: [],
    bug: "an audit entry is linked while an earlier one may still be committed, which then counts as inserted",
    file: postgres("reads/AuditStore"),
    find: " and e.id < ${horizon} order",
    replace: " order",
    test: "packages/postgres/test/audit.test.ts",
    titles: "audit: an entry that is committed after a later one",
    needsServer: true
  },
  {
    name: "audit-forgotten",
    rows: [],
    bug: "what is committed for somebody is in no audit log",
    file: core("ledger/Audit"),
    find: `if (acting === undefined && changes.length === 0) return journal.commit(change)`,
    replace: `if (acting === undefined || change.legs.length > 0) return journal.commit(change)`,
    test: "packages/http/test/audit.test.ts",
    titles: "audit:"
  },
  {
    name: "audit-of-the-host-forgotten",
    rows: [],
    bug: "a key that the host issues in process is in no audit log",
    file: core("ledger/Audit"),
    find: `acting === undefined && changes.length === 0`,
    replace: `acting === undefined`,
    test: inTampering,
    titles: "a key's hash or scopes changed, as the tables' owner"
  },
  {
    name: "audit-uncompared",
    rows: [],
    bug: "records are not compared with the audit log",
    file: core("features/audit/AuditVerification"),
    find: `possible.includes(value) ? [] : [field]`,
    replace: `possible.length > 0 ? [] : [field]`,
    test: inTampering,
    titles: "a limit raised"
  },
  {
    name: "audit-unknown-record",
    rows: [],
    bug: "a record that the audit log does not know is taken for one without values",
    file: core("features/audit/AuditVerification"),
    find: `if (fields === undefined) return undefined`,
    replace: `if (fields === undefined) return []`,
    test: inTampering,
    titles: "an operator token inserted"
  },
  {
    name: "audit-any-seal",
    rows: [],
    bug: "an entry with a wrong signature is taken for one of the service",
    file: core("ledger/Audit"),
    find: `mac === hmacOf("entry", key, signedText(draft, text))`,
    replace: `mac !== ""`,
    test: inTampering,
    titles: "an audit entry appended"
  },
  {
    name: "audit-unsealed",
    rows: [],
    bug: "an entry without a signature is taken for one of an earlier version, wherever it is",
    file: core("features/audit/AuditVerification"),
    find: `(seal === "unsealed" && lastMillis < firstMillis + transitionMillis)`,
    replace: `seal === "unsealed"`,
    test: inTampering,
    titles: "an audit entry appended"
  },
  {
    name: "audit-copied",
    rows: [],
    bug: "a signed entry can be written a second time",
    file: postgres("reads/AuditStore"),
    find: `where copy > 1`,
    replace: `where copy > 1000`,
    test: inTampering,
    titles: "an audit entry appended"
  },
  {
    name: "audit-begins-again",
    rows: [],
    bug: "each start takes the records for right as they are",
    file: core("ledger/Audit"),
    find: `if (yield* hasSealed) return`,
    replace: `yield* hasSealed`,
    test: inTampering,
    titles: "taken as it is, once"
  },
  {
    name: "audit-of-what-was-refused",
    rows: [],
    bug: "the audit log says done of what was refused",
    file: postgres("statements/Statements"),
    find: `from done where audit is not null order by n`,
    replace: `from asked where audit is not null order by n`,
    test: inSql,
    titles: "the audit log has a Change"
  },
  {
    name: "audit-head-published-again",
    rows: [],
    bug: "the head of the audit log is published again though nothing was added",
    file: core("features/audit/AuditHead"),
    find: `last.value === text) return`,
    replace: `last.value === source) return`,
    test: inMemory,
    titles: "the head of the audit log is published once"
  },
  {
    name: "audit-head-kept-inside",
    rows: [],
    bug: "the head of the audit log is in the log only, and not in the operator's webhooks",
    file: core("features/audit/AuditLog"),
    find: `AuditHead.publish(head, fence, { unlessFirst: isFirst })`,
    replace: `AuditHead.publish(head, fence, { unlessFirst: true })`,
    test: coreTest("AuditLog"),
    titles: "the head goes out in the operator's webhooks"
  },
  {
    name: "audit-flood",
    rows: [],
    bug: "each refusal of a flood is a line of the audit log",
    file: core("features/audit/AuditLog"),
    find: `if (before !== undefined) {`,
    replace: `if (before !== undefined && before.count > 1_000_000) {`,
    test: "packages/http/test/audit.test.ts",
    titles: "a flood of it"
  },
  {
    name: "audit-without-floods",
    rows: [],
    bug: "requests that are refused for their rate are in no log",
    file: "packages/http/src/api/Authentication.ts",
    find: `() => acting.refused(key, operation, "rate_limited")`,
    replace: `() => Effect.void`,
    test: "packages/http/test/requestRates.test.ts",
    titles: "audit:"
  },
  {
    name: "audit-linked-from-the-wrong-place",
    rows: [],
    bug: "who links the audit log begins where it read, though another has linked a part of it",
    file: core("features/audit/AuditLog"),
    find: `found.filter(({ id }) => id > linkedTo)`,
    replace: `found.filter(({ id }) => id > 0n || id > linkedTo)`,
    test: inMemory,
    titles: "is linked soundly by two"
  },
  {
    name: "audit-unhashed",
    rows: [],
    bug: "the chain of the audit log says nothing of what an entry says",
    file: core("ledger/Audit"),
    find: `digest(before, String(id), companyId, String(atMillis), body)`,
    replace: `digest(before, String(id), companyId, String(atMillis), body.slice(0, 2))`,
    test: "packages/postgres/test/audit.test.ts",
    titles: "a row that was changed"
  }
]
