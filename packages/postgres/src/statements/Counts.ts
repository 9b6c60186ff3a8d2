import * as Balance from "@satrail/core/ledger/Balance"
import * as Limit from "@satrail/core/ledger/Limit"
import type { Storable } from "@satrail/core/service/Changes"
import type { Row } from "./Table.ts"

// Counts a flush against limits. A commit for a company locks its balance, so no other commit counts against
// the limits of the company or its keys at the same time.

/**
 * The position of the balance in a company's list of remaining amounts, which are what its balance and each
 * limit still allow. The list's first element is the position of the amount that was too small, or 0.
 */
const balancePlace = 2

interface Bound {
  readonly companyId: string
  readonly place: number
  readonly subject: string
  readonly name: Limit.Counted
  since: number
  most: bigint
}

/**
 * Returns the limits that a flush's Changes are counted against, each once. If two Changes state the same limit
 * differently, the older time and the lower limit apply.
 */
export const boundsOf = (changes: ReadonlyArray<Storable>): ReadonlyMap<string, Bound> => {
  const bounds = new Map<string, Bound>()
  const last = new Map<string, number>()
  for (const { companyId, counts = [] } of changes)
    for (const { subject, atMillis, most } of counts)
      for (const name of Limit.names) {
        const limit = most[name]
        if (limit === undefined) continue
        const since = Limit.oldest(Limit.counted[name].window, atMillis)
        const key = `${companyId} ${subject} ${name}`
        const known = bounds.get(key)
        if (known !== undefined) {
          known.since = Math.min(known.since, since)
          known.most = known.most < limit ? known.most : limit
          continue
        }
        const place = (last.get(companyId) ?? balancePlace) + 1
        last.set(companyId, place)
        bounds.set(key, { companyId, place, subject, name, since, most: limit })
      }
  return bounds
}

/** Serializes the bounds as a parameter of a statement. */
export const parameterOf = (bounds: ReturnType<typeof boundsOf>): string =>
  JSON.stringify(
    [...bounds.values()].map(({ companyId, place, subject, name, since, most }) => {
      const { window, of } = Limit.counted[name]
      return {
        company_id: companyId,
        place,
        subject,
        name,
        span: window,
        is_times: of === "times",
        since,
        most: String(most)
      }
    })
  )

/** Returns the time windows that count a Change, and how much it reduces each remaining amount. */
export const rowOf = (
  { companyId, legs, counts = [] }: Storable,
  bounds: ReturnType<typeof boundsOf>
): Row => {
  const amount = Balance.need(legs.flatMap((leg) => (leg.companyId === companyId ? leg.postings : [])))
  const at = [balancePlace]
  const needs = [String(amount)]
  for (const { subject } of counts)
    for (const name of Limit.names) {
      const bound = bounds.get(`${companyId} ${subject} ${name}`)
      if (bound === undefined) continue
      at.push(bound.place)
      needs.push(String(Limit.needOf(name, amount)))
    }
  const buckets = counts.flatMap(({ subject, atMillis }) =>
    Limit.all.map((window) => ({ subject, span: window, bucket: Limit.bucketOf(window, atMillis) }))
  )
  return { counts: buckets, ...(amount > 0n && { at, needs }) }
}

/** The remaining room of each subject of a company, once its balance is locked. */
export const rooms = (parameter: string): string => `
bounds as materialized (
  select * from json_to_recordset(${parameter}) as b(
    company_id uuid, place int, subject text, name text, span text, is_times boolean, since bigint, most bigint
  )
), rooms as materialized (
  select company_id, array[0, available] || array_agg(room order by place) as rooms
  from (
    select k.company_id, k.available, b.place, b.most - satrail.spent_since(k.company_id, b.subject, b.span, b.is_times, b.since) as room
    from locked k left join bounds b using (company_id)
  ) r group by company_id, available
)`

/** Grants `candidates` in request order as long as each fits into the balance and every limit. */
export const granted = (candidates: string): string => `
judged as materialized (
  select f.*, l.held - l.posted as need, satrail.fits(r.rooms, f.at, f.needs) over (partition by f.company_id order by n) as fit
  from (${candidates}) f join legs l using (n, company_id) join rooms r using (company_id)
), granted as materialized (select * from judged where fit[1] = 0)`

/** Joined to the verdict's `a`. */
export const joined = "left join judged j using (n)"

/** The verdict that a limit was exceeded, or null. */
export const exceeded = (stale: string): string => `(
  select 'LimitExceeded' || ${stale} || ' ' || b.name || ' ' || b.subject from bounds b where b.company_id = a.company_id and b.place = j.fit[1]
)`

const sums = (sign: "+" | "-") => `
  select company_id, subject, span, max(bucket) as bucket, sum(need)::bigint as amount, count(*)::int as times
  from (
    select d.company_id, c.subject, c.span, c.bucket, ${sign === "+" ? "l.held - l.posted" : "l.posted - l.held"} as need
    from done d join legs l using (n, company_id) cross join json_to_recordset(d.counts) as c(subject text, span text, bucket bigint)
  ) e group by company_id, subject, span, ${sign === "+" ? `bucket % ${Limit.places}` : "bucket"}`

/**
 * Adds applied Changes to the counts, or subtracts returned amounts. If a bucket has been deleted, nothing is
 * subtracted, because no window contains it.
 */
export const written = (takes: boolean): string =>
  takes
    ? `
counted as (
  insert into satrail.spent as s (company_id, subject, span, place, bucket, amount, times)
  select company_id, subject, span, bucket % ${Limit.places}, bucket, amount, times from (${sums("+")}) e order by 1, 2, 3, 4
  on conflict (company_id, subject, span, place) do update set
    bucket = greatest(s.bucket, excluded.bucket),
    amount = case when excluded.bucket > s.bucket then 0 else s.amount end + excluded.amount,
    times = case when excluded.bucket > s.bucket then 0 else s.times end + excluded.times
)`
    : `
counted as (
  update satrail.spent s set amount = s.amount - e.amount, times = s.times - e.times
  from (${sums("-")}) e
  where s.company_id = e.company_id and s.subject = e.subject and s.span = e.span and s.place = e.bucket % ${Limit.places} and s.bucket = e.bucket
)`
