import { Clock, Context, Effect, Layer, Option, Schema } from "effect"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import { Entropy } from "@satrail/core/base/Entropy"
import type { Invalid } from "@satrail/core/base/Invalid"
import * as Worker from "@satrail/core/base/Worker"
import * as Audit from "@satrail/core/ledger/Audit"
import * as Duties from "@satrail/core/ledger/Duties"
import type { StoreUnavailable } from "@satrail/core/ledger/Journal"
import * as Page from "@satrail/core/ledger/Page"
import * as Wakes from "@satrail/core/ledger/Wakes"
import * as AuditHead from "./AuditHead.ts"

/** Period in which rejections of one kind are counted together. */
export const countedMillis = 60_000

/**
 * Maximum number of kinds of rejections counted at a time. Further kinds are not recorded, and a warning is
 * logged.
 */
export const maxCounted = 10_000

const batch = 1000

/**
 * Outcome of an entry that cannot be parsed. The service never writes such an entry, and `satrail verify`
 * reports it.
 */
export const unreadable = "unreadable"

/** An entry of the log as shown to users. */
export interface Row extends Omit<Audit.Said, "actor"> {
  /** `unknown` if the entry cannot be parsed. */
  readonly actor: Audit.Actor["actor"] | "unknown"
  readonly id: string
  readonly companyId: CompanyId.CompanyId
  readonly createdAtMillis: number
  /**
   * The entry's position in the company's chain, and the hashes at that point. Null until the entry is linked,
   * moments after it is written.
   */
  readonly link: Audit.Link | null
}

/** Selects entries of a log, newest first. */
export interface Query extends Page.Asked {
  readonly actorId?: string | undefined
  readonly verb?: string | undefined
  readonly subject?: string | undefined
  readonly outcome?: string | undefined
  /** `fromMillis` is inclusive, `untilMillis` exclusive. */
  readonly fromMillis?: number | undefined
  readonly untilMillis?: number | undefined
}

/** Lists the entries of the audit log, and records rejected requests. */
export class AuditLog extends Context.Service<
  AuditLog,
  {
    /**
     * Returns a company's linked entries, or all companies' entries if the company id is null. If a filter has
     * to skip very many entries, a page may have fewer than `limit` rows and still have a `next`.
     */
    readonly list: (
      companyId: CompanyId.CompanyId | null,
      query: Query
    ) => Effect.Effect<Page.Page<Row>, Invalid | StoreUnavailable>
    /**
     * Records a request rejected with `code`. The first one is written immediately; repetitions are counted and
     * written together.
     */
    readonly refused: (
      companyId: CompanyId.CompanyId,
      acting: Audit.Acting,
      code: string
    ) => Effect.Effect<void>
    /** Writes the counts of repeated rejections to the log. */
    readonly flush: Effect.Effect<void, StoreUnavailable>
  }
>()("@satrail/features/audit/core/AuditLog") {}

/** Returns an entry's id in the format shown to users. */
export const idOf = (id: bigint): string => {
  const hex = id.toString(16).padStart(32, "0")
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

// The largest id that a store can hold. A caller may send a larger one.
const maxPlace = 2n ** 63n - 1n
const placeOf = (id: string): bigint => {
  const place = BigInt(`0x${id.replaceAll("-", "")}`)
  return place > maxPlace ? maxPlace : place
}

const saidIn = Schema.decodeUnknownOption(Schema.fromJsonString(Audit.Said))

/** The end of the year 9999, the latest time that a timestamp can have. */
const latestMillis = 253_402_300_799_999

const unknown: Pick<Row, keyof Audit.Said> = {
  actor: "unknown",
  actor_id: "",
  actor_name: "",
  verb: "",
  subject: null,
  outcome: unreadable,
  count: 1,
  address: "",
  request_id: ""
}

const rowOf = ({ entry, link }: { readonly entry: Audit.Entry; readonly link: Audit.Link | null }): Row => ({
  ...Option.getOrElse(saidIn(entry.body), () => unknown),
  id: idOf(entry.id),
  companyId: entry.companyId,
  createdAtMillis: Math.min(Math.max(entry.atMillis, 0), latestMillis),
  link
})

const isAsked = (
  row: Row,
  { actorId, verb, subject, outcome, fromMillis = -Infinity, untilMillis = Infinity }: Query
): boolean =>
  (actorId ?? row.actor_id) === row.actor_id &&
  (verb ?? row.verb) === row.verb &&
  (subject ?? row.subject) === row.subject &&
  (outcome ?? row.outcome) === row.outcome &&
  row.createdAtMillis >= fromMillis &&
  row.createdAtMillis < untilMillis

interface Counted {
  readonly companyId: CompanyId.CompanyId
  readonly acting: Audit.Acting
  readonly code: string
  count: number
}

const draftOf = ({ companyId, acting, code, count }: Counted, atMillis: number): Audit.Draft => ({
  companyId,
  atMillis,
  body: Audit.bodyOf(acting, { subject: null, outcome: code, count })
})

export const make = Effect.gen(function* () {
  const store = yield* Audit.AuditStore
  const scope = yield* Effect.scope
  const wakes = yield* Wakes.Wakes
  const counted = new Map<string, Counted>()
  const sign = yield* Audit.Signing
  const entropy = yield* Entropy

  const append = (drafts: ReadonlyArray<Audit.Draft>) =>
    Effect.andThen(
      store.appendAudit(drafts.map((draft) => Audit.sealed(draft, sign, entropy))),
      Effect.flatMap(Clock.currentTimeMillis, (atMillis) =>
        wakes.note({ topic: Wakes.topics.audit, atMillis })
      )
    )

  /** Reads the log until there are enough rows for the page, or the maximum number of entries has been read. */
  const find = Effect.fnUntraced(function* (
    companyId: CompanyId.CompanyId | null,
    query: Query,
    limit: number
  ) {
    const rows: Array<Row> = []
    let before = query.before === null ? null : placeOf(query.before)
    for (let looked = 0; looked < Page.looks; looked += Page.atOnce) {
      const page = (yield* store.auditOf(companyId, before, Page.atOnce)).map(rowOf)
      rows.push(...page.filter((row) => isAsked(row, query)))
      const last = page.at(-1)
      if (last === undefined || page.length < Page.atOnce || rows.length >= limit)
        return { rows: rows.slice(0, limit), lookedTo: null }
      before = placeOf(last.id)
    }
    return { rows, lookedTo: before === null ? null : { createdAtMillis: 0, id: idOf(before) } }
  })

  const write = Effect.fnUntraced(function* (kinds: ReadonlyArray<string>) {
    for (let at = 0; at < kinds.length; at += batch) {
      const part = kinds.slice(at, at + batch).flatMap((kind) => counted.get(kind) ?? [])
      for (const kind of kinds.slice(at, at + batch)) counted.delete(kind)
      // The time of writing, because `verify` reports entries that stay unlinked for a minute.
      const nowMillis = yield* Clock.currentTimeMillis
      const drafts = part.flatMap((one) => (one.count === 0 ? [] : [draftOf(one, nowMillis)]))
      if (drafts.length > 0) yield* append(drafts)
    }
  })
  const flush = Effect.suspend(() => write([...counted.keys()]))
  const lost = Effect.catch((error: StoreUnavailable) =>
    Effect.logWarning("audit: failed to record rejected requests", error)
  )
  // Links the last entries too: the process's worker has already stopped, and another one may never start.
  yield* Effect.addFinalizer(() => lost(Effect.andThen(flush, linkAll)))

  return AuditLog.of({
    list: (companyId, query) =>
      Page.pick(query.limit, (limit, after) =>
        find(companyId, { ...query, before: after?.id ?? query.before }, limit)
      ),
    refused: Effect.fnUntraced(function* (companyId, acting, code) {
      const kind = `${companyId} ${acting.actor} ${acting.actor_id} ${code}`
      const before = counted.get(kind)
      if (before !== undefined) {
        before.count++
        return
      }
      const nowMillis = yield* Clock.currentTimeMillis
      if (counted.size >= maxCounted)
        return yield* Effect.logWarning(
          "audit: too many kinds of rejected requests; not recording this one",
          { code }
        )
      const one = { companyId, acting, code, count: 0 }
      counted.set(kind, one)
      // A timer runs only while there are counts to write, so an idle service does no work.
      yield* Effect.forkIn(Effect.delay(lost(write([kind])), countedMillis), scope)
      yield* append([draftOf({ ...one, count: 1 }, nowMillis)]).pipe(
        Effect.catch((error) => Effect.logWarning("audit: failed to record a rejected request", error))
      )
    }),
    flush
  })
})

/** Counts are written after a minute, and when the layer closes. Then all entries are linked. */
export const layer = Layer.effect(AuditLog, make)

/**
 * Links entries that have no link yet, oldest first. Processes that run this concurrently write the same links.
 * Returns the number of entries found. Links nothing if the stored head is not the end of the chain, because
 * new links would hide that the chain was cut off.
 */
export const link = Effect.gen(function* () {
  const store = yield* Audit.AuditStore
  const sign = yield* Audit.Signing
  const found = yield* store.unlinkedAudit(batch)
  if (found.length === 0) return 0
  const stored = (yield* store.auditHead) ?? Audit.noHead
  const heads = yield* store.auditHeads([...new Set(found.map(({ companyId }) => companyId))])
  const last = new Map<CompanyId.CompanyId, Audit.Link>()
  let newest: Audit.Link | undefined
  for (const head of heads) {
    const known = last.get(head.companyId)
    if (known === undefined || known.entryId < head.entryId) last.set(head.companyId, head)
    if (newest === undefined || newest.entryId < head.entryId) newest = head
  }
  // Another process may have linked some entries in the meantime. Continue after its last link.
  const linkedTo = newest?.entryId ?? 0n
  if (stored.entryId !== linkedTo || (newest !== undefined && stored.whole !== newest.whole)) {
    // Another process may have added links between these reads. The next run then sees matching values.
    const again = (yield* store.auditHead) ?? Audit.noHead
    if (again.entryId === stored.entryId)
      yield* Effect.logError(
        "audit: the chain does not end at the stored head, so entries are not linked; run `satrail verify`"
      )
    return 0
  }
  const entries = found.filter(({ id }) => id > linkedTo)
  const links = entries.map((entry) => {
    const before = last.get(entry.companyId)
    const hash = Audit.hashOf(before?.hash ?? Audit.origin, entry)
    const made: Audit.Link = {
      entryId: entry.id,
      companyId: entry.companyId,
      seq: (before?.seq ?? 0) + 1,
      hash,
      whole: Audit.wholeOf(newest?.whole ?? Audit.origin, hash)
    }
    last.set(entry.companyId, made)
    newest = made
    return made
  })
  if (links.length > 0 && newest !== undefined)
    yield* store.linkAudit(
      links,
      Audit.signed({ entryId: newest.entryId, count: stored.count + links.length, whole: newest.whole }, sign)
    )
  return found.length
})

const linkAll = Effect.repeat(link, { while: (count) => count === batch })

/** Returns a head's text form: the entry's id, and the hash of all chains at that entry. */
export const headText = ({ entryId, whole }: Audit.Link): string => `${entryId}:${whole}`

/** Interval at which the head is logged and published. */
export const headMillis = 3_600_000

/** Maximum time until an entry is linked. */
export const unlinkedMillis = 60_000

/** The role of the process that links entries. */
export const role = "audit"

/**
 * Links new entries about once a second, in one process at a time. Logs the signed head at the start and then
 * hourly. Publishes a changed head to the operator's webhooks. Keep a copy of the logged or the published head
 * where the database owner cannot change it.
 */
export const layerWorker = Layer.effectDiscard(
  Duties.run(role, (fence) =>
    Effect.gen(function* () {
      const appended = yield* (yield* Wakes.Wakes).listen(Wakes.topics.audit)
      const pollMillis = yield* Wakes.PollMillis
      let loggedAtMillis = -Infinity
      const step = Effect.gen(function* () {
        yield* linkAll
        const nowMillis = yield* Clock.currentTimeMillis
        if (nowMillis < loggedAtMillis + headMillis) return
        const head = yield* (yield* Audit.AuditStore).auditHead
        if (head !== undefined) {
          yield* Effect.logInfo("audit log: hash of the newest entry", { head: Audit.textOf(head) })
          // If the fence is stale, another process has the role and publishes the head.
          yield* Effect.catchTag(AuditHead.publish(head, fence), "StaleFence", () => Effect.void)
        }
        // Set this last, so that a failed step is retried.
        loggedAtMillis = nowMillis
      })
      // Wait a second so that entries written in that time are linked together.
      yield* Worker.run(
        "audit chain",
        step,
        Effect.andThen(Effect.raceFirst(appended, Effect.sleep(pollMillis)), Effect.sleep("1 second"))
      )
    })
  )
)
