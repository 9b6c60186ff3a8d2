import type { Refusal } from "@satrail/core/service/Changes"
import type { Account, Any } from "@satrail/core/ledger/Change"
import type { Noun } from "@satrail/core/ledger/Noun"
import * as Counts from "./Counts.ts"
import * as Inserts from "./Inserts.ts"
import type { Columns, Row } from "./Table.ts"

// One statement per kind of Change. $1 is the Changes as rows, $2 their postings. All are built from the same
// parts: the requests, the balances they touch, the idempotency keys seen before, the claims they depend on,
// the writes, and the effects that follow.
//
// Locks are taken in one order everywhere, so that no two flushes wait for each other: balances by company,
// tasks by id, rows by company and id, then unique names. Each of these parts waits for the one before it
// through a condition that is always true. A part that no Change of a flush needs is left out, and its
// successor waits for its predecessor.
//
// A statement's snapshot may be older than the locks it waited for. So nothing depends on plain reads: a
// status is read by the lock itself (`for no key update` returns the newest version), and everything else
// depends on rows that `applied` really wrote.
//
// Rows of large tables are found by a lateral subquery that cannot be flattened: an index probe per item,
// whatever the planner estimates for a table it has not analyzed yet. Only the key's index can serve that
// probe, because a list's index doesn't contain the key's columns as such (see migrations/Baseline.ts).
// test/plans.slow.test.ts checks every plan.

/** How a kind of Change is sent, and how its refusals are read. */
export interface Kind<C extends Any> {
  readonly statement: StatementOf
  /** The columns its statement reads in addition to those that all kinds share. */
  readonly row: (change: C) => Row
  /** Returns the columns of `row` that are null in all of these, so that they can be left out. */
  readonly absent?: (changes: ReadonlyArray<C>) => ReadonlyArray<string>
  /** Identities, in addition to its id, key and jobs, that no two Changes of a flush may share. */
  readonly identities?: (change: C) => ReadonlyArray<string>
  /** Its refusals by the first word of the verdict; `detail` is the second word, and `of` the third. */
  readonly refusals: { readonly [word: string]: (change: C, detail: string, of: string) => Refusal }
}

/** The optional parts that the Changes of a flush need. A part that none of them needs is omitted. */
export interface Carried {
  /**
   * How their postings are passed. If each Change has one posting, within its company and between the same two
   * accounts, its amount is the column `moved`.
   */
  readonly money: "none" | "many" | readonly [from: Account, to: Account]
  /** True if any of them reduces the available balance. */
  readonly takes: boolean
  readonly once: boolean
  readonly fence: boolean
  /** Number of jobs that each of them enqueues or completes: none, at most one, or several. */
  readonly enqueues: Count
  readonly completes: Count
  readonly cursor: boolean
  readonly event: boolean
  /** True if any publishes events for other companies. */
  readonly eventsForOthers: boolean
  /** The types of the records that hooks added to them. */
  readonly inserts: ReadonlyArray<Noun>
  /** True if any counts against limits, or returns amounts to them. */
  readonly counts: boolean
  /** True if any is refused when its company is frozen. */
  readonly unlessFrozen: boolean
  /** True if any is refused when its company's fees have changed. */
  readonly unlessFeesMoved: boolean
  /** True if any has an entry in the audit log. */
  readonly audit: boolean
  /** The columns that are null in all their records. */
  readonly absent: ReadonlyArray<string>
}

export type Count = "none" | "one" | "many"

export interface Statement {
  readonly text: string
  /** How the statement reads postings: not at all, from the column `moved`, or from $2. */
  readonly postings: "none" | "column" | "parameter"
  /** How the statement reads jobs: from columns, or from lists. */
  readonly enqueues: Count
  readonly completes: Count
}

/**
 * Returns the statement of a kind for a flush. Equal parts give the same text, because each connection prepares
 * a text once. In practice, there are only a few texts per kind.
 */
export type StatementOf = (carried: Carried) => Statement

/** Maximum number of prepared statements per kind. Beyond it, the statement with all parts is used. */
export const maxStatements = 64

/** The `applied` part of a kind, and the parts around it. */
export interface Shape {
  /** `name type`, in addition to the columns that all kinds share. */
  readonly columns?: string
  /** `text` for records whose ids are not UUIDs, such as API keys. */
  readonly idType?: "uuid" | "text" | undefined
  /** True if it can be refused for lack of money (`granted`). It then always has the booking parts. */
  readonly takes?: true
  /** The part with the Changes that take effect, if known before anything is written. Otherwise `applied`. */
  readonly done?: "granted" | "fresh"
  /**
   * `name as (select …)`; the last one is `applied`, which returns the company_id and id of each Change that
   * took effect. Parts that lock rows wait through `locks`.
   */
  readonly parts: (locks: string) => ReadonlyArray<string>
  /** Further effects, which read `done`. */
  readonly effects?: ReadonlyArray<string>
  /** Claims it requires in addition to its fence: `select n, task_id, token`. */
  readonly claims?: string
  /** Joined to the verdict's `a`. */
  readonly joins?: string
  /**
   * The verdict if the Change was applied before or its id belongs to something else; otherwise null. Evaluated
   * before the claim.
   */
  readonly before: string
  /** The verdict of the rules, or null. Evaluated after the claim. */
  readonly guards?: string
}

const isOne = (money: Carried["money"]): money is readonly [Account, Account] => typeof money !== "string"

const asked = ({ columns, idType = "uuid" }: Shape, carried: Carried) => {
  const also = [
    isOne(carried.money) && "moved bigint",
    carried.once &&
      "owner text, key text, fingerprint text, meaning text, answer text, forget_at_millis bigint",
    {
      none: "",
      one: "job_id uuid, job_kind text, job_due_at_millis bigint, job_holder uuid",
      many: "jobs json"
    }[carried.enqueues],
    carried.fence && "task_id uuid, token int",
    { none: "", one: "completes uuid", many: "completes json" }[carried.completes],
    carried.cursor && "source text, position text",
    carried.eventsForOthers && "events_for_others json",
    ...carried.inserts.map((noun) => `${Inserts.columnOf(noun)} json`),
    carried.counts && `counts json${carried.takes ? ", at int[], needs bigint[]" : ""}`,
    carried.unlessFeesMoved && "charged_by int",
    carried.audit && "audit text",
    columns
  ]
  return `
asked as materialized (
  select * from json_to_recordset($1) as t(
    n int, id ${idType}, company_id uuid, at_millis bigint, transfer_id uuid, event text, subject text${also.map((one) => (one ? `, ${one}` : "")).join("")})
)`
}

const counted: { readonly [side in "posted" | "held"]: ReadonlyArray<Account> } = {
  posted: ["available", "held"],
  held: ["held"]
}

/** The effect of one posting on a side of its company's balance. */
const effectOf = ([from, to]: readonly [Account, Account], side: "posted" | "held"): string => {
  const change = Number(counted[side].includes(to)) - Number(counted[side].includes(from))
  return change === 0 ? "0::bigint" : change > 0 ? "moved" : "-moved"
}

const legsOf = (money: readonly [Account, Account], of: string) =>
  `select n, company_id, ${effectOf(money, "posted")} as posted, ${effectOf(money, "held")} as held from ${of}`

const legs = (money: "many" | readonly [Account, Account]) =>
  isOne(money)
    ? `
legs as not materialized (
  ${legsOf(money, "asked")}
)`
    : `
postings as materialized (
  select * from json_to_recordset($2) as p(n int, company_id uuid, from_account text, to_account text, amount bigint)
), legs as materialized (
  select n, company_id,
    sum(amount * ((to_account in ('available', 'held'))::int - (from_account in ('available', 'held'))::int))::bigint as posted,
    sum(amount * ((to_account = 'held')::int - (from_account = 'held')::int))::bigint as held
  from postings group by n, company_id
)`

const locked = (of: "legs" | "asked") => `
locked as materialized (
  select company_id, posted - held as available, posted as posted_before, held as held_before, frozen, fees_revision, xmin::text as version from satrail.balances
  where company_id = any(array(select company_id from ${of})) order by company_id for no key update
)`

const unopened = `
unopened as materialized (
  select distinct n from legs where (posted <> 0 or held <> 0) and company_id not in (select company_id from locked)
)`

/** Returns whether the company might not exist. A granted Change's company exists. */
const mayBeUnopened = ({ done }: Shape, { money }: Carried): boolean => money !== "none" && done !== "granted"

const seen = `
seen as materialized (
  select a.n, s.fingerprint = a.fingerprint or coalesce(s.meaning = a.meaning, false) as same, s.answer
  from asked a cross join lateral (select fingerprint, meaning, answer from satrail.answers where owner = a.owner and key = a.key limit 1) s
)`

/** Returns whether the Changes' companies' balances are locked. */
const locks = ({ money, unlessFrozen, unlessFeesMoved }: Carried): boolean =>
  money !== "none" || unlessFrozen || unlessFeesMoved

/** Condition that is true if the Change was computed with the company's current fees. */
const isPriced =
  "(charged_by is null or (company_id, charged_by) in (select company_id, fees_revision from locked))"

/** Makes a part wait for another: a condition that is always true, but cannot be evaluated until that part is done. */
const after = (part: string) => `where (select count(*) from ${part}) is not null`

const fenced = ({ claims }: Shape, carried: Carried) => `
claims as materialized (
  select n, task_id, token from asked where task_id is not null${claims === undefined ? "" : ` union all ${claims}`}
), fenced as materialized (
  select a.n, a.task_id, t.token = a.token as current
  from (select * from claims order by task_id) a
  cross join lateral (select token from satrail.tasks where id = a.task_id for no key update) t
  ${locks(carried) ? after("locked") : ""}
), stale as materialized (
  select distinct on (n) n, task_id from claims
  where (n, task_id) not in (select n, task_id from fenced where current) order by n, task_id
)`

const fresh = (shape: Shape, carried: Carried) => {
  const without = [
    ...(carried.once ? ["seen"] : []),
    ...(carried.fence ? ["stale"] : []),
    ...(mayBeUnopened(shape, carried) ? ["unopened"] : [])
  ]
  const left = [
    ...without.map((part) => `n not in (select n from ${part})`),
    ...(carried.unlessFrozen ? ["company_id not in (select company_id from locked where frozen)"] : []),
    ...(carried.unlessFeesMoved ? [isPriced] : [])
  ]
  return left.length === 0
    ? `
fresh as not materialized (select * from asked)`
    : `
fresh as materialized (
  select * from asked where ${left.join(" and ")}
)`
}

/** The rows of these Changes, read under their locks. Verdicts refer to such a row as `g`. */
export const target = ({ name }: Columns, locks: string) => `
target as materialized (
  select a.n, t.*
  from (select n, company_id, id from asked order by company_id, id) a
  cross join lateral (select * from ${name} r where r.company_id = a.company_id and r.id = a.id for no key update) t
  ${locks}
)`

export const joinTarget = "left join target g using (n)"

/**
 * Marks a refusal for lack of money, or because of a limit, as `stale` if the balance changed after the
 * snapshot. The money may have been taken by this same Change, committed by another process, which the snapshot
 * doesn't show.
 */
export const stale = `case when
    (select version from locked k where k.company_id = a.company_id)
    is distinct from (select xmin::text from satrail.balances b where b.company_id = a.company_id) then ' stale' else '' end`

export const insufficient = `'InsufficientBalance' || ${stale}`

/** Grants `candidates` in request order as long as each fits. */
export const granted = (candidates: string) => `
judged as (
  select f.*, l.held - l.posted as need, available,
    satrail.left_after(available, l.held - l.posted) over (partition by f.company_id order by n) as left_over
  from (${candidates}) f join legs l using (n, company_id) join locked using (company_id)
), granted as materialized (
  select * from (
    select *, lag(left_over, 1, available) over (partition by company_id order by n) as left_before from judged
  ) j where need <= left_before
)`

const done = ({ done }: Shape) =>
  done === undefined
    ? `
done as materialized (select a.* from asked a join applied using (company_id, id))`
    : `
done as not materialized (select * from ${done})`

const remembered = `
remembered as (
  insert into satrail.answers (owner, key, fingerprint, meaning, answer, forget_at_millis)
  select owner, key, fingerprint, meaning, answer, forget_at_millis from done where key is not null order by owner, key
)`

// An event's id consists of the number of the transaction that publishes it and the event's position in that
// transaction. Readers only take events of transactions before the oldest running one (see Records), so no
// event can appear behind their position, as it could with a sequence.
const published = `
published as (
  insert into satrail.events (id, company_id, type, subject, at_millis)
  select (pg_current_xact_id()::text::bigint - (select transactions from satrail.epoch where id = 1)) * 4096 + n, company_id, event, subject, at_millis
  from done where event is not null order by n
)`

// Events for other companies take the upper half of a flush's positions.
const publishedForOthers = `
published_for_others as (
  insert into satrail.events (id, company_id, type, subject, at_millis)
  select (pg_current_xact_id()::text::bigint - (select transactions from satrail.epoch where id = 1)) * 4096 + 2047
    + row_number() over (order by n, o.place), o.company_id, o.event, o.subject, at_millis
  from (select n, at_millis, events_for_others from done where events_for_others is not null) d
  cross join lateral json_to_recordset(events_for_others) as o(place int, company_id uuid, event text, subject text)
)`

// The id of an audit entry is built like an event's.
const audited = `
audited as (
  insert into satrail.audit_entries (id, company_id, at_millis, body)
  select (pg_current_xact_id()::text::bigint - (select transactions from satrail.epoch where id = 1)) * 4096 + n, company_id, at_millis, audit
  from done where audit is not null order by n
)`

const completed = (count: "one" | "many") => `
completed as (
  delete from satrail.tasks where id = any(array(
    ${count === "one" ? "select completes from done where completes is not null" : "select value::uuid from done cross join json_array_elements_text(completes)"}
  ))
)`

const enqueued = (count: "one" | "many") => `
enqueued as (
  insert into satrail.tasks (id, kind, company_id, due_at_millis, token, attempts, holder)
  ${
    count === "one"
      ? "select job_id, job_kind, company_id, job_due_at_millis, num_nonnulls(job_holder), num_nonnulls(job_holder), job_holder from done where job_id is not null order by 1"
      : `select j.id, j.kind, company_id, j.due_at_millis, num_nonnulls(j.holder), num_nonnulls(j.holder), j.holder
  from done cross join json_to_recordset(jobs) as j(id uuid, kind text, due_at_millis bigint, holder uuid) order by 1`
  }
  on conflict do nothing
)`

// PostgreSQL applies a table's checks to the row of the snapshot before it notices that a newer one exists. So the
// total starts from the locked row. Otherwise, money that arrived while the statement waited could not be spent.
const booked = (money: "many" | readonly [Account, Account]) => `
booked as (
  insert into satrail.entries (company_id, transfer_id, from_account, to_account, amount, at_millis)
  ${
    isOne(money)
      ? `select company_id, transfer_id, '${money[0]}', '${money[1]}', moved, at_millis from done order by n`
      : "select p.company_id, transfer_id, from_account, to_account, p.amount, at_millis from postings p join done using (n) order by n"
  }
), totalled as (
  update satrail.balances b set posted = k.posted_before + d.posted, held = k.held_before + d.held
  from (
    select l.company_id, sum(l.posted)::bigint as posted, sum(l.held)::bigint as held
    from ${isOne(money) ? `(${legsOf(money, "done")}) l` : "legs l join done using (n)"} group by l.company_id
  ) d join locked k using (company_id)
  where b.company_id = d.company_id and (d.posted <> 0 or d.held <> 0)
)`

const verdicts = (shape: Shape, carried: Carried) => {
  const { joins = "", before, guards = "null" } = shape
  const { once, fence, cursor, unlessFrozen, unlessFeesMoved } = carried
  const key = once ? "when s.same then 'Replayed' when s.n is not null then 'Mismatch'" : ""
  const claim = fence ? "case when x.n is not null then 'StaleFence ' || x.task_id end, " : ""
  const halted = unlessFrozen
    ? `case when a.company_id in (select company_id from locked where frozen) then 'CompanyFrozen' || ${stale} end, `
    : ""
  const charged = unlessFeesMoved
    ? `case when a.company_id in (select company_id from locked) and (a.company_id, a.charged_by) not in (select company_id, fees_revision from locked)
      then 'FeesMoved' || ${stale} end, `
    : ""
  const books = mayBeUnopened(shape, carried)
  const company = books ? "case when u.n is not null then 'unopened' end, " : ""
  const parts = [
    ...(once ? ["seen s"] : []),
    ...(fence ? ["stale x"] : []),
    ...(books ? ["unopened u"] : []),
    "done d"
  ]
  const judged = `select a.n, ${once ? "s.answer" : "null::text as answer"}, case
    ${key} when d.n is not null then 'Applied'
    else coalesce(${before}, ${claim}${halted}${charged}${guards}, ${company}'again')
  end as verdict
  from asked a ${parts.map((part) => `left join ${part} using (n)`).join(" ")} ${joins}`
  if (!cursor) return `\n${judged} order by n`
  return `, verdicts as materialized (
  ${judged}
), moved as (
  insert into satrail.cursors (source, value)
  select distinct on (source) source, position from asked join verdicts using (n)
  where source is not null and verdict = 'Applied'${fence ? " and n not in (select n from stale)" : ""}
  order by source, n desc
  on conflict (source) do update set value = excluded.value
)
select verdict, answer from verdicts order by n`
}

const textOf = (shape: Shape, carried: Carried): string => {
  const { money, once, fence, event, eventsForOthers, audit, completes, enqueues } = carried
  const afterLocks = fence ? after("fenced") : locks(carried) ? after("locked") : ""
  const isLimited = carried.counts && carried.takes
  const parts = [
    asked(shape, carried),
    ...(money === "none" ? [] : [legs(money)]),
    ...(locks(carried) ? [locked(money === "none" ? "asked" : "legs")] : []),
    ...(isLimited ? [Counts.rooms(isOne(money) ? "$2" : "$3")] : []),
    ...(mayBeUnopened(shape, carried) ? [unopened] : []),
    ...(once ? [seen] : []),
    ...(fence ? [fenced(shape, carried)] : []),
    fresh(shape, carried),
    ...shape.parts(afterLocks),
    done(shape),
    ...(once ? [remembered] : []),
    ...(event ? [published] : []),
    ...(eventsForOthers ? [publishedForOthers] : []),
    ...carried.inserts.map(Inserts.written),
    ...(audit ? [audited] : []),
    ...(completes === "none" ? [] : [completed(completes)]),
    ...(enqueues === "none" ? [] : [enqueued(enqueues)]),
    ...(money === "none" ? [] : [booked(money)]),
    ...(carried.counts ? [Counts.written(carried.takes)] : []),
    ...(shape.effects ?? [])
  ]
  return `with ${parts.join(",")}${verdicts(shape, carried)}`
}

const all = {
  money: "many",
  once: true,
  fence: true,
  enqueues: "many",
  completes: "many",
  cursor: true,
  event: true,
  eventsForOthers: true,
  audit: true,
  absent: []
} as const

const made = (shape: Shape, given: Carried): Statement => {
  const money = given.money === "none" && shape.takes === true ? "many" : given.money
  const carried = { ...given, money, fence: given.fence || shape.claims !== undefined }
  const { enqueues, completes } = carried
  const postings = money === "none" ? "none" : isOne(money) ? "column" : "parameter"
  return { text: textOf(shape, carried), postings, enqueues, completes }
}

const keyOf = ({
  money,
  takes,
  once,
  fence,
  enqueues,
  completes,
  cursor,
  event,
  eventsForOthers,
  audit,
  counts,
  unlessFrozen,
  unlessFeesMoved,
  inserts,
  absent
}: Carried): string =>
  `${[takes, once, fence, cursor, event, eventsForOthers, audit, counts, unlessFrozen, unlessFeesMoved].map(Number).join("")} ${enqueues} ${completes} ${String(money)} ${inserts.map(({ name }) => name).join()} ${absent.join()}`

/**
 * The statement returns one row per item, in order: its verdict, and the stored response if it is a replay. A
 * shape may depend on the carried parts.
 */
export const statement = (shape: Shape | ((carried: Carried) => Shape)): StatementOf => {
  const known = new Map<string, Statement>()
  const of = (carried: Carried): Statement => {
    const key = keyOf(carried)
    const found = known.get(key)
    if (found !== undefined) return found
    if (known.size >= maxStatements) {
      const whole = { ...carried, ...all }
      if (keyOf(whole) !== key) return of(whole)
    }
    const fresh = made(typeof shape === "function" ? shape(carried) : shape, carried)
    known.set(key, fresh)
    return fresh
  }
  return of
}

/** The columns of a table as a statement reads them, without the two that all kinds share. */
export const own = ({ definition }: Columns): string =>
  definition
    .split(", ")
    .filter((column) => column !== "id uuid" && column !== "id text" && column !== "company_id uuid")
    .join(", ")

/** Applied, or the verdict for another row with the same id. */
export const sameAsAsked = ({ name, asAsked }: Columns, otherwise: string): string =>
  `(select case when ${asAsked} then 'Applied' else '${otherwise}' end from ${name} t where t.company_id = a.company_id and t.id = a.id)`
