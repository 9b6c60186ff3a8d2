import { Clock, Effect, Option, Schema } from "effect"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Audit from "@satrail/core/ledger/Audit"
import * as Duty from "@satrail/core/ledger/Duty"
import { LedgerReads } from "@satrail/core/ledger/LedgerReads"
import * as AuditLog from "./AuditLog.ts"

const batch = 1000

/** Changes to a value within this window may have been committed in a different order than their entries. */
export const simultaneousMillis = 10_000

/**
 * Evidence of tampering. An entry was `changed`, `removed` or `inserted`, was not written by the service
 * (`unsigned`), breaks the `chain`, or was not linked within a minute in which a process ran (`unlinked`). The stored head is not the
 * `end` of the chain or has an invalid signature, or a given `head` is not in the chain. A `record` differs
 * from the log, does not appear in it, or is missing from the store.
 */
export interface Fault {
  readonly kind:
    | "changed"
    | "removed"
    | "inserted"
    | "unsigned"
    | "chain"
    | "unlinked"
    | "end"
    | "head"
    | "record"
  readonly companyId: CompanyId.CompanyId | null
  /** Id of the entry or record. */
  readonly id: string
  /** The record type, and the column that differs; the column is null if the whole record is unknown or missing. */
  readonly record?: string
  readonly field?: string | null
  /** The problem with the record. */
  readonly problem?: "differs" | "unknown" | "gone"
}

/**
 * Parses a head in the form in which it was logged, or the short head of an entry. Returns the entry's id and
 * the combined hash of all chains.
 */
const placeIn = (head: string): string => {
  const parts = Audit.headOf(head)
  return parts === undefined ? head : `${parts.entryId}:${parts.whole}`
}

const changesIn = Schema.decodeUnknownOption(
  Schema.fromJsonString(Schema.Struct({ changes: Schema.Array(Audit.Value) }))
)

/** A value that the log allows for a column. */
interface Given {
  readonly value: string | null
  readonly atMillis: number
}

/**
 * Version 0.1.0 logged the transitions of a person without the resulting status. Returns that status, according
 * to the fields that the transition set; undefined if it left the status unchanged.
 */
const statusOmitted = (fields: ReadonlyMap<string, string | null>): string | undefined => {
  const passkeys = fields.get("passkeys")
  if (fields.has("status") || passkeys === undefined) return undefined
  if (passkeys !== "[]") return fields.has("epoch") ? undefined : "active"
  return (fields.get("secret_hash") ?? null) === null ? "removed" : "invited"
}

/**
 * Replays the changes recorded in log entries. Values replaced by entries that are added after `settle()`
 * remain accepted, because a record may have been read before the change.
 */
const replay = () => {
  const said = new Map<string, Map<string, ReadonlyArray<Given>>>()
  let isSettled = false
  const placeOf = ({ record, id }: { readonly record: string; readonly id: string }) => `${record} ${id}`
  return {
    settle: () => {
      isSettled = true
    },
    add: ({ body, atMillis }: Audit.Entry) => {
      if (!body.includes(`,"changes":[`)) return
      const { changes } = Option.getOrElse(changesIn(body), () => ({ changes: [] }))
      const isPossible = (one: Given) => isSettled || Math.abs(atMillis - one.atMillis) <= simultaneousMillis
      for (const [place, values] of Map.groupBy(changes, placeOf)) {
        const fields = said.get(place) ?? new Map<string, ReadonlyArray<Given>>()
        said.set(place, fields)
        const set = new Map(values.map(({ field, after }) => [field, after]))
        const status = place.startsWith("people ") ? statusOmitted(set) : undefined
        if (status !== undefined) set.set("status", status)
        for (const [field, value] of set)
          fields.set(field, [...(fields.get(field) ?? []).filter(isPossible), { value, atMillis }])
      }
    },
    /**
     * Returns the columns of a record that differ from the log, or undefined if the log has no entry for the
     * record.
     */
    wrongIn: (stored: Audit.Stored): ReadonlyArray<string> | undefined => {
      const fields = said.get(placeOf(stored))
      if (fields === undefined) return undefined
      return [...stored.values].flatMap(([field, value]) => {
        const possible = (fields.get(field) ?? []).map((one) => one.value)
        return (possible.length === 0 && value === null) || possible.includes(value) ? [] : [field]
      })
    },
    places: () => [...said.keys()],
    placeOf
  }
}

/**
 * Compares records with the log, which was read first. Records that differ are compared again after reading
 * later entries. Returns the number of records.
 */
const compare = Effect.fnUntraced(function* <E>(
  log: ReturnType<typeof replay>,
  readLate: Effect.Effect<void, E>,
  report: (fault: Fault) => Effect.Effect<void>
) {
  const store = yield* Audit.AuditStore
  log.settle()
  const suspects: Array<Audit.Stored> = []
  const nowMillis = yield* Clock.currentTimeMillis
  const known = new Set(log.places())
  let records = 0
  for (
    let page = yield* store.recordedAudit(null, batch);
    page.length > 0;
    page = yield* store.recordedAudit(page.at(-1) ?? null, batch)
  )
    for (const record of page) {
      records++
      known.delete(log.placeOf(record))
      if (record.untilMillis !== null && record.untilMillis <= nowMillis) continue
      const wrong = log.wrongIn(record)
      if (wrong === undefined || wrong.length > 0) suspects.push(record)
    }
  yield* readLate
  for (const record of suspects) {
    const wrong = log.wrongIn(record)
    const fault = { kind: "record", companyId: null, id: record.id, record: record.record } as const
    if (wrong === undefined) yield* report({ ...fault, field: null, problem: "unknown" })
    for (const field of wrong ?? []) yield* report({ ...fault, field, problem: "differs" })
  }
  for (const place of known) {
    const [record = "", id = ""] = place.split(" ")
    if (!store.recordedKinds.includes(record)) continue
    yield* report({ kind: "record", companyId: null, id, record, field: null, problem: "gone" })
  }
  return records
})

/**
 * Checks every link of every chain and the seal of every entry. Checks that the chain ends at the stored head
 * and contains the previously logged `head`. Compares records with the values in the log. Reads page by page.
 * Reports at most 1000 inserted and 1000 unlinked entries.
 */
export const verify = Effect.fnUntraced(function* (
  head: string | null,
  tell: (fault: Fault) => Effect.Effect<void>
) {
  const store = yield* Audit.AuditStore
  const sign = yield* Audit.Signing
  const stored = yield* store.auditHead
  const chains = new Map<CompanyId.CompanyId, { readonly seq: number; readonly hash: string }>()
  const [storedPlace, givenPlace] = [
    stored && `${stored.entryId}:${stored.whole}`,
    head === null ? null : placeIn(head)
  ]
  const given = head === null ? undefined : Audit.headOf(head)
  const log = replay()
  let [faults, entries, whole, after] = [0, 0, Audit.origin, 0n]
  let isHeadThere = head === null
  let isEnd = stored === undefined
  const report = (fault: Fault) => {
    faults++
    return tell(fault)
  }
  const found = (kind: Fault["kind"], id: bigint, companyId: CompanyId.CompanyId | null) =>
    report({ kind, companyId, id: AuditLog.idOf(id) })
  const read = (entry: Audit.Entry) => {
    if (!Audit.isSealed(entry, sign)) return found("unsigned", entry.id, entry.companyId)
    log.add(entry)
    return Effect.void
  }
  for (;;) {
    const page = yield* store.auditChain(after, batch)
    for (const { link, entry } of page) {
      const { companyId, entryId, seq, hash } = link
      const before = chains.get(companyId) ?? { seq: 0, hash: Audit.origin }
      if (entry === null) yield* found("removed", entryId, companyId)
      else {
        if (hash !== Audit.hashOf(before.hash, entry)) yield* found("changed", entryId, companyId)
        yield* read(entry)
      }
      whole = Audit.wholeOf(whole, hash)
      if (seq !== before.seq + 1 || whole !== link.whole) yield* found("chain", entryId, companyId)
      chains.set(companyId, { seq, hash })
      whole = link.whole
      entries++
      after = entryId
      const place = AuditLog.headText(link)
      isHeadThere ||= place === givenPlace && (given === undefined || given.count === entries)
      isEnd ||= place === storedPlace && stored?.count === entries
    }
    if (page.length < batch) break
  }
  const late = new Set<bigint>()
  const readLate = Effect.gen(function* () {
    const unread: Array<Audit.Entry> = []
    for (let before: bigint | null = null; ;) {
      const page: ReadonlyArray<{ readonly entry: Audit.Entry }> = yield* store.auditOf(null, before, batch)
      const more = page.filter(({ entry }) => entry.id > after)
      unread.push(...more.flatMap(({ entry }) => (late.has(entry.id) ? [] : [entry])))
      const last = more.at(-1)
      if (last === undefined || more.length < batch) break
      before = last.entry.id
    }
    for (const entry of unread.toReversed()) {
      late.add(entry.id)
      yield* read(entry)
    }
  })
  yield* readLate
  const records = yield* compare(log, readLate, report)
  for (const { id, companyId } of yield* store.strayAudit(batch)) yield* found("inserted", id, companyId)
  const latest = (yield* store.auditHead) ?? Audit.noHead
  // Links added in the meantime have a later head.
  if (!isEnd || latest.entryId < after || !Audit.isSigned(latest, latest.count === 0 ? undefined : sign))
    yield* found("end", latest.entryId, null)
  const nowMillis = yield* Clock.currentTimeMillis
  const linker = yield* (yield* LedgerReads).job(CompanyId.operator, Duty.idOf(AuditLog.role))
  // While no process links entries, as in a restored database, they do not become late.
  const linkedMillis = Math.min(nowMillis, Option.getOrUndefined(linker)?.dueAtMillis ?? nowMillis)
  for (const { id, companyId, atMillis } of yield* store.unlinkedAudit(batch))
    if (atMillis < linkedMillis - AuditLog.unlinkedMillis) yield* found("unlinked", id, companyId)
  if (!isHeadThere || (given !== undefined && !Audit.isSigned(given, sign)))
    yield* found("head", given?.entryId ?? BigInt(/^\d{1,19}(?=:)/.exec(head ?? "")?.[0] ?? 0), null)
  return { entries, faults, records, isSigned: sign !== undefined }
})
