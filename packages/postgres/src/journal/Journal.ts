import * as Changes from "@satrail/core/service/Changes"
import type { Programs, Storable, Tagged } from "@satrail/core/service/Changes"
import * as Balance from "@satrail/core/ledger/Balance"
import type { Any, Complete, Enqueue, Job, Leg } from "@satrail/core/ledger/Change"
import * as Core from "@satrail/core/ledger/Journal"
import * as Noun from "@satrail/core/ledger/Noun"
import * as Tally from "@satrail/core/ledger/Tally"
import * as Written from "@satrail/core/ledger/Written"
import { Context, Effect, Exit, Layer, Predicate, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import * as Answer from "../reads/Answer.ts"
import * as ApiKey from "../reads/ApiKey.ts"
import * as Commits from "./Commits.ts"
import * as Company from "../reads/Company.ts"
import * as Counts from "../statements/Counts.ts"
import * as Dispatch from "./Dispatch.ts"
import * as Domain from "../reads/Domain.ts"
import * as GroupCommit from "../statements/GroupCommit.ts"
import * as HostTransaction from "../client/HostTransaction.ts"
import { checkViolation } from "../client/SqlState.ts"
import * as Inserts from "../statements/Inserts.ts"
import * as Invoice from "../reads/Invoice.ts"
import { maxForOthers } from "@satrail/core/ledger/Event"
import * as KeyRange from "../reads/KeyRange.ts"
import { translate, turnedAway } from "../client/Outage.ts"
import * as Settlement from "./Settlement.ts"
import type { Carried, Kind, Statement } from "../statements/Statements.ts"
import type { Row } from "../statements/Table.ts"
import * as Writes from "../statements/Writes.ts"

/** Good values for one process. */
export const defaults = { lanes: 2, maxItemsPerFlush: 128, maxWaiting: 4096 } as const

/**
 * The largest possible flush. An event's id has twelve bits for its position in a flush, and the upper half
 * is for events for other companies.
 */
export const maxItemsPerFlush = 2048

/** Values default to `defaults`. */
export interface Options {
  /** Flushes in flight for each kind of Change. One company's Changes of a kind always share a lane. */
  readonly lanes?: number | undefined
  /** Changes that are committed together, at most 2048. */
  readonly maxItemsPerFlush?: number | undefined
  /**
   * Maximum number of commits waiting in one lane. Further commits fail with `StoreUnavailable` and the reason
   * `overloaded`.
   */
  readonly maxWaiting?: number | undefined
}

export const kinds: { readonly [tag in keyof Programs]: Kind<Programs[tag]> } = {
  ...Answer.kinds,
  ...ApiKey.kinds,
  ...Company.kinds,
  ...Domain.kinds,
  ...Invoice.kinds,
  ...KeyRange.kinds,
  ...Dispatch.kinds,
  ...Settlement.kinds
}

const programOf = <T extends keyof Programs>(change: Tagged<T>): Kind<Programs[T]> => kinds[change._tag]

/** Returns the kind of a Change: a special one, or one derived from its writes. */
const kindOf = (change: Storable): Kind<Any> =>
  // oxlint-disable-next-line typescript/consistent-type-assertions -- a lane contains Changes of one kind, so a kind only receives its own
  (Written.is(change) ? Writes.kindOf(change.writes) : programOf(change)) as Kind<Any>

const isEnqueue = (job: Job): job is Enqueue => job._tag === "Enqueue"
const isComplete = (job: Job): job is Complete => job._tag === "Complete"

type Bounds = ReturnType<typeof Counts.boundsOf>

/** Returns a Change as the row that its statement reads. Missing values are null there. */
const rowOf = (
  kind: Kind<Any>,
  { postings, enqueues, completes }: Statement,
  change: Storable,
  n: number,
  bounds?: Bounds
): Row => {
  const {
    id,
    companyId,
    atMillis,
    transferId,
    once,
    event,
    eventsForOthers = [],
    inserts,
    audit,
    jobs = [],
    fence,
    cursor,
    feesRevision
  } = change
  const enqueued = jobs.filter(isEnqueue)
  const completed = jobs.filter(isComplete)
  const [job] = enqueued
  const row: Record<string, unknown> = {
    ...kind.row(change),
    n,
    id,
    company_id: companyId,
    at_millis: atMillis
  }
  if (transferId !== undefined) row["transfer_id"] = transferId
  if (once !== undefined) {
    row["owner"] = once.owner
    row["key"] = once.key
    row["fingerprint"] = once.fingerprint
    if (once.meaning !== undefined) row["meaning"] = once.meaning
    row["answer"] = once.answer
    row["forget_at_millis"] = once.forgetAtMillis
  }
  if (event !== undefined) {
    row["event"] = event.type
    row["subject"] = event.subject
  }
  if (eventsForOthers.length > 0)
    row["events_for_others"] = eventsForOthers.map(({ companyId, type, subject }, place) => ({
      place,
      company_id: companyId,
      event: type,
      subject
    }))
  if (inserts !== undefined) Object.assign(row, Inserts.rowOf(inserts))
  if (postings === "column") row["moved"] = String(change.legs[0]?.postings[0]?.amount)
  if (enqueues === "one" && job !== undefined) {
    row["job_id"] = job.id
    row["job_kind"] = job.kind
    row["job_due_at_millis"] = job.dueAtMillis
    if (job.claimedBy !== undefined) row["job_holder"] = job.claimedBy
  }
  if (enqueues === "many")
    row["jobs"] = enqueued.map(({ id, kind, dueAtMillis, claimedBy }) => ({
      id,
      kind,
      due_at_millis: dueAtMillis,
      holder: claimedBy
    }))
  if (completes === "one") row["completes"] = completed[0]?.id
  if (completes === "many") row["completes"] = completed.map(({ id }) => id)
  if (fence !== undefined) {
    row["task_id"] = fence.taskId
    row["token"] = fence.token
  }
  if (feesRevision !== undefined) row["charged_by"] = feesRevision
  if (audit !== undefined) row["audit"] = audit
  if (cursor !== undefined) {
    row["source"] = cursor.source
    row["position"] = cursor.value
  }
  return bounds === undefined ? row : Object.assign(row, Counts.rowOf(change, bounds))
}

const postingsOf = ({ legs }: { readonly legs: ReadonlyArray<Leg> }, n: number): ReadonlyArray<Row> =>
  legs.flatMap(({ companyId, postings }) =>
    postings.map(({ from, to, amount }) => ({
      n,
      company_id: companyId,
      from_account: from,
      to_account: to,
      amount: String(amount)
    }))
  )

const identitiesOf = (change: Storable): ReadonlyArray<string> => {
  const { id, once, jobs = [] } = change
  const own = [id, ...(kindOf(change).identities?.(change) ?? [])]
  if (once !== undefined) own.push(`${once.owner} ${once.key}`)
  for (const job of jobs) own.push(job.id)
  return own
}

const Verdicts = Schema.Array(Schema.Struct({ verdict: Schema.String, answer: Schema.NullOr(Schema.String) }))

/** Settle the Change again; if the result is the same, it is this refusal. */
interface Again {
  readonly _tag: "Again"
  readonly refusal?: Changes.Refusal
}

/**
 * Parses the database's verdict on one Change: a word that all kinds share, or one of its kind's refusals.
 */
const exitOf = (
  change: Storable,
  said: string,
  answer: string | null
): Exit.Exit<Core.Applied | Again, Changes.Refusal> => {
  const [word = "", ...details] = said.split(" ")
  const isStale = details[0] === "stale"
  const [detail = "", of = ""] = isStale ? details.slice(1) : details
  switch (word) {
    case "Applied":
      return Exit.succeed(Core.applied)
    case "Replayed":
      return Exit.succeed({ _tag: "Replayed", answer: answer ?? "" })
    case "Mismatch":
      return Exit.fail(new Core.IdempotencyMismatch({ key: change.once?.key ?? "" }))
    case "StaleFence":
      return Exit.fail(new Core.StaleFence({ taskId: detail }))
    case "again": // another process committed it while we waited; the next attempt will see its effect
      return Exit.succeed({ _tag: "Again" })
    case "missing":
      return Exit.die(new Error(`${change._tag} of ${change.id}, which does not exist`))
    case "unopened":
      return Exit.die(
        new Error(`${change._tag} of ${change.id} moves money of a company that was not opened`)
      )
    default: {
      const refusal = kindOf(change).refusals[word]
      if (refusal === undefined) return Exit.die(new Error(`${change._tag} cannot be ${said}`))
      return isStale
        ? Exit.succeed({ _tag: "Again", refusal: refusal(change, detail, of) })
        : Exit.fail(refusal(change, detail, of))
    }
  }
}

/**
 * A record's check refused a total, to which another process added while this statement waited for locks. The check of a
 * balance cannot be: its statement starts from the locked row.
 */
const isOutdatedTotal = ({ _tag, cause }: SqlError.SqlError["reason"]): boolean =>
  _tag === "ConstraintError" &&
  Predicate.hasProperty(cause, "code") &&
  cause.code === checkViolation &&
  !(Predicate.hasProperty(cause, "table") && cause.table === "balances")

/**
 * Another process committed the same id or name, or added to a total, while this statement waited for locks, or there
 * was a deadlock, so settle again.
 */
const isOvertaken = ({ reason }: SqlError.SqlError) =>
  reason._tag === "UniqueViolation" ||
  reason._tag === "DeadlockError" ||
  reason._tag === "SerializationError" ||
  isOutdatedTotal(reason)

const accounts = new Set(Object.keys(Tally.byAccount(() => true)))

/**
 * Returns the accounts of a Change's only posting; "none" if it has no postings, "many" if it has several or
 * one in another company.
 */
const moneyOf = ({ companyId, legs: [leg, ...legs] }: Storable): Carried["money"] => {
  if (leg === undefined) return "none"
  const [posting, ...more] = leg.postings
  if (posting === undefined || more.length > 0 || legs.length > 0 || leg.companyId !== companyId)
    return "many"
  const { from, to } = posting
  // Account names become part of a statement's text, so only known names are allowed.
  return accounts.has(from) && accounts.has(to) ? [from, to] : "many"
}

const counts = ["none", "one", "many"] as const

const isSame = (one: Carried["money"], other: Carried["money"]): boolean =>
  one === other ||
  (typeof one === "object" && typeof other === "object" && one[0] === other[0] && one[1] === other[1])

/** Returns whether a leg takes more from `available` than it gives. */
const takes = ({ postings }: Leg): boolean =>
  postings.some(({ from }) => from === "available") && Balance.need(postings) > 0n

const carriedBy = (kind: Kind<Any>, changes: ReadonlyArray<Storable>): Carried => {
  const carried = {
    takes: false,
    once: false,
    fence: false,
    cursor: false,
    event: false,
    eventsForOthers: false,
    counts: false,
    unlessFrozen: false,
    unlessFeesMoved: false,
    audit: false
  }
  let money: Carried["money"] | undefined
  const inserts = new Set<Noun.Noun>()
  let [enqueues, completes] = [0, 0]
  // One pass, because every commit of a flush runs through it.
  for (const change of changes) {
    const { legs, jobs = [] } = change
    const own = moneyOf(change)
    money = money === undefined || isSame(money, own) ? own : "many"
    carried.takes ||= legs.some(takes)
    carried.once ||= change.once !== undefined
    carried.fence ||= change.fence !== undefined
    carried.cursor ||= change.cursor !== undefined
    carried.event ||= change.event !== undefined
    carried.eventsForOthers ||= (change.eventsForOthers ?? []).length > 0
    carried.counts ||= change.counts !== undefined
    carried.unlessFrozen ||= change.unlessFrozen === true
    carried.unlessFeesMoved ||= change.feesRevision !== undefined
    carried.audit ||= change.audit !== undefined
    if (change.inserts !== undefined) for (const { noun } of change.inserts) inserts.add(noun)
    enqueues = Math.max(enqueues, jobs.filter(isEnqueue).length)
    completes = Math.max(completes, jobs.filter(isComplete).length)
  }
  return {
    ...carried,
    money: money ?? "none",
    enqueues: counts[Math.min(2, enqueues)] ?? "many",
    completes: counts[Math.min(2, completes)] ?? "many",
    inserts: [...inserts],
    absent: kind.absent?.(changes) ?? []
  }
}

/** Applies Changes of one kind as one statement, and returns a result for each. */
export const apply = (sql: SqlClient.SqlClient) => (changes: ReadonlyArray<Storable>) => {
  const [first] = changes
  if (first === undefined) return Effect.succeed([])
  const kind = kindOf(first)
  const carried = carriedBy(kind, changes)
  const statement = kind.statement(carried)
  const bounds = carried.counts ? Counts.boundsOf(changes) : undefined
  const values = [
    JSON.stringify(changes.map((change, n) => rowOf(kind, statement, change, n, bounds))),
    ...(statement.postings === "parameter" ? [JSON.stringify(changes.flatMap(postingsOf))] : []),
    ...(bounds !== undefined && carried.takes ? [Counts.parameterOf(bounds)] : [])
  ]
  return sql.unsafe<object>(statement.text, values).pipe(
    Effect.retry({ times: 3, while: isOvertaken }),
    Effect.map((rows) => {
      const verdicts = verdictsOf(rows)
      return changes.map((change, i) => {
        const said = verdicts[i]
        return said === undefined
          ? Exit.die(new Error("a Change got no verdict"))
          : exitOf(change, said.verdict, said.answer)
      })
    }),
    Effect.catch(translate("Journal.commit"))
  )
}

const verdictsOf = Schema.decodeUnknownSync(Verdicts)

/**
 * Changes of one kind and shape share a statement. Changes counted against limits have their own lane, so
 * that nothing else waits for them.
 */
const laneOf = (change: Storable): string => {
  const kind = change.counts === undefined ? change._tag : `${change._tag} counted`
  return Written.is(change) ? `${kind} ${Noun.shapeOf(change.writes)}` : kind
}

/** Settling again resolves conflicts. More attempts than this indicate a bug. */
const maxLooks = 20

export const make = Effect.fnUntraced(function* (options: Options) {
  const lanes = options.lanes ?? defaults.lanes
  const commits = Commits.make()
  const sql = yield* SqlClient.SqlClient
  const flush = apply(sql)
  const commit = yield* GroupCommit.make({
    operation: "Journal.commit",
    flush: (changes) => commits.watched(flush(changes)),
    laneOf: (change: Storable) =>
      `${laneOf(change)} ${Number.parseInt(change.companyId.slice(-4), 16) % lanes}`,
    identitiesOf,
    loadOf: ({ eventsForOthers = [] }) => eventsForOthers.length,
    maxLoad: maxForOthers,
    maxItemsPerFlush: Math.min(options.maxItemsPerFlush ?? defaults.maxItemsPerFlush, maxItemsPerFlush),
    maxWaiting: options.maxWaiting ?? defaults.maxWaiting,
    onTurnedAway: turnedAway("Journal.commit")
  })

  const settle = (
    change: Storable,
    looks: number
  ): Effect.Effect<Core.Applied, Changes.Refusal | Core.StoreUnavailable> =>
    Effect.flatMap(commit(change), (outcome) => {
      if (outcome._tag !== "Again") return Effect.succeed(outcome)
      // The second attempt began after the first was refused. If it gives the same result, the first refusal
      // was right.
      if (outcome.refusal !== undefined && looks > 1) return Effect.fail(outcome.refusal)
      return looks < maxLooks
        ? settle(change, looks + 1)
        : Effect.die(new Error(`${change._tag} of ${change.id} has no verdict`))
    })

  const journal = Changes.journal((change) => HostTransaction.outside(sql, change._tag, settle(change, 1)))
  return { journal, commits: commits.over(journal) }
})

/** Commits in groups: one statement and one fsync for everything that arrived during the previous flush. */
export const layer = (options: Options = {}) =>
  Layer.effectContext(
    Effect.map(make(options), ({ journal, commits }) =>
      Context.add(Context.make(Core.Journal, journal), Commits.Commits, commits)
    )
  )
