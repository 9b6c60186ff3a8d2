import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Audit from "@satrail/core/ledger/Audit"
import { Features } from "@satrail/core/ledger/Features"
import type * as Noun from "@satrail/core/ledger/Noun"
import * as Nouns from "../../core/Nouns.ts"
import { Effect, Schema } from "effect"
import { horizon } from "@satrail/postgres/reads/EventStore"
import * as Reads from "@satrail/postgres/statements/Reads"
import * as Table from "@satrail/postgres/statements/Table"

const ofEntry = `e.id::text, e.company_id::text as "companyId", e.at_millis::text as "atMillis", e.body`
const ofLink = `l.entry_id::text as "entryId", l.company_id::text as "linkCompanyId", l.seq::text, l.hash, l.whole`

const EntryRow = Schema.Struct({
  id: Schema.BigIntFromString,
  companyId: CompanyId.CompanyId,
  atMillis: Schema.FiniteFromString,
  body: Schema.String
})
const LinkRow = Schema.Struct({
  entryId: Schema.BigIntFromString,
  linkCompanyId: CompanyId.CompanyId,
  seq: Schema.FiniteFromString,
  hash: Schema.String,
  whole: Schema.String
})
const decodeEntry = Schema.decodeUnknownSync(EntryRow)
const decodeLink = Schema.decodeUnknownSync(LinkRow)

const linkOf = (row: unknown): Audit.Link => {
  const { linkCompanyId: companyId, ...rest } = decodeLink(row)
  return { ...rest, companyId }
}
const isThere = Schema.is(Schema.Struct({ id: Schema.String }))
const isLinked = Schema.is(Schema.Struct({ entryId: Schema.String }))

const listed = (row: unknown) => ({ entry: decodeEntry(row), link: isLinked(row) ? linkOf(row) : null })

// Use positions in the upper half of the transaction's range, which no Change of a flush has (see
// Journal.maxItemsPerFlush).
const append = Reads.many("AuditStore.appendAudit", {
  text: `
insert into satrail.audit_entries (id, company_id, at_millis, body)
select (pg_current_xact_id()::text::bigint - (select transactions from satrail.epoch where id = 1)) * 4096 + 2048 + n, company_id, at_millis, body
from json_to_recordset($1) as t(n int, company_id uuid, at_millis bigint, body text) order by n`,
  values: (drafts: ReadonlyArray<Audit.Draft>) => [
    JSON.stringify(
      drafts.map(({ companyId, atMillis, body }, n) => ({
        n,
        company_id: companyId,
        at_millis: atMillis,
        body
      }))
    )
  ],
  read: () => null
})

const unlinked = Reads.many("AuditStore.unlinkedAudit", {
  text: `
select ${ofEntry} from satrail.audit_entries e
where e.id > (select coalesce(max(entry_id), 0) from satrail.audit_links) and e.id < ${horizon} order by e.id limit $1::bigint`,
  values: (limit: number) => [String(limit)],
  read: (row): Audit.Entry => decodeEntry(row)
})

/** The cursor that stores the head. */
const source = "audit head"

const HeadRow = Schema.decodeUnknownSync(Schema.Struct({ value: Schema.String }))

const head = Reads.many("AuditStore.auditHead", {
  text: `select value from satrail.cursors where source = '${source}'`,
  values: () => [],
  read: (row) => Audit.headOf(HeadRow(row).value) ?? Audit.noHead
})

const link = Reads.many("AuditStore.linkAudit", {
  text: `
with linked as (
  insert into satrail.audit_links (entry_id, company_id, seq, hash, whole, place)
  select entry_id, company_id, seq, hash, whole,
    split_part($2::text, ':', 2)::bigint - count(*) over () + row_number() over (order by entry_id)
  from json_to_recordset($1) as t(entry_id bigint, company_id uuid, seq bigint, hash text, whole text) order by entry_id
  on conflict do nothing
)
insert into satrail.cursors as c (source, value) values ('${source}', $2::text) on conflict (source) do update set value = excluded.value
where split_part(c.value, ':', 1)::bigint < split_part(excluded.value, ':', 1)::bigint`,
  values: ({ links, head }: { readonly links: ReadonlyArray<Audit.Link>; readonly head: Audit.Head }) => [
    JSON.stringify(
      links.map(({ entryId, companyId, seq, hash, whole }) => ({
        entry_id: String(entryId),
        company_id: companyId,
        seq,
        hash,
        whole
      }))
    ),
    Audit.textOf(head)
  ],
  read: () => null
})

/**
 * Reads a company's links before the given one, newest first. Uses the index made for it, which requires that
 * neither of its columns is compared with a constant.
 */
const linksOf = (companyId: string, before: string) => `
select * from satrail.audit_links
where (uuid_send(company_id), int8send(entry_id)) < (uuid_send(${companyId}), int8send(${before}))
  and (uuid_send(company_id), int8send(entry_id)) > (uuid_send(${companyId}), int8send(0))
order by uuid_send(company_id) desc, int8send(entry_id) desc`

const last = 2n ** 63n - 1n

const heads = Reads.many("AuditStore.auditHeads", {
  text: `
select ${ofLink} from (select value::uuid as id from json_array_elements_text($1)) c
cross join lateral (${linksOf("c.id", `${last}::bigint`)} limit 1) l
union all (select ${ofLink} from satrail.audit_links l order by l.entry_id desc limit 1)`,
  values: (companyIds: ReadonlyArray<CompanyId.CompanyId>) => [Reads.list("uuid", companyIds)],
  read: linkOf
})

const ofAll = Reads.many("AuditStore.auditOf", {
  text: `
select ${ofEntry}, ${ofLink} from (
  select * from satrail.audit_entries where id < $1::bigint order by id desc limit $2::bigint
) e left join lateral (select * from satrail.audit_links k where k.entry_id = e.id limit 1) l on true order by e.id desc`,
  values: (before: bigint, limit: number) => [String(before), String(limit)],
  read: listed
})

const ofCompany = Reads.many("AuditStore.auditOf", {
  text: `
select ${ofEntry}, ${ofLink} from (${linksOf("$1::uuid", "$2::bigint")} limit $3::bigint
) l cross join lateral (select * from satrail.audit_entries k where k.id = l.entry_id limit 1) e order by e.id desc`,
  values: (companyId: CompanyId.CompanyId, before: bigint, limit: number) => [
    companyId,
    String(before),
    String(limit)
  ],
  read: listed
})

const chain = Reads.many("AuditStore.auditChain", {
  text: `
select ${ofEntry}, ${ofLink} from (
  select * from satrail.audit_links where entry_id > $1::bigint order by entry_id limit $2::bigint
) l left join lateral (select * from satrail.audit_entries k where k.id = l.entry_id limit 1) e on true order by l.entry_id`,
  values: (after: bigint, limit: number) => [String(after), String(limit)],
  read: (row) => ({ link: linkOf(row), entry: isThere(row) ? decodeEntry(row) : null })
})

const toCome =
  "(pg_snapshot_xmax(pg_current_snapshot())::text::bigint - (select transactions from satrail.epoch where id = 1)) * 4096"

// Compares all entries with all links. An entry with the id of a future transaction was not created here
// either, unless the database was just restored, in which case its events have such ids too.
const strays = Reads.many("AuditStore.strayAudit", {
  recounts: true,
  text: `
select ${ofEntry} from satrail.audit_entries e
where (e.id <= (select coalesce(max(entry_id), 0) from satrail.audit_links)
    and not exists (select from satrail.audit_links l where l.entry_id = e.id))
  or (e.id >= ${toCome} and not exists (select from satrail.events v where v.id >= ${toCome}))
  or e.id in (
    select id from (
      select id, row_number() over (partition by md5(body) order by id) as copy from satrail.audit_entries where body like '%,"nonce":"%'
    ) c where copy > 1
  )
order by e.id limit $1::bigint`,
  values: (limit: number) => [String(limit)],
  read: (row): Audit.Entry => decodeEntry(row)
})

const MayRow = Schema.decodeUnknownSync(Schema.Struct({ column: Schema.String }))

/** The columns that this role may read, because not every role may read hashes of secrets. */
const readable = Reads.many("AuditStore.recordedAudit", {
  text: `
select value as column from json_array_elements_text($2) where has_column_privilege('satrail.' || $1, value, 'select')`,
  values: (table: string, columns: ReadonlyArray<string>) => [table, JSON.stringify(columns)],
  read: (row) => MayRow(row).column
})

/** Reads a record's columns as text, according to its record type. */
const storedIn = (noun: Noun.Members, recorded: ReadonlySet<string>) => {
  const isJson = new Set(noun.members.flatMap(([member, kind]) => (kind === "json" ? [member] : [])))
  const decode = Schema.decodeUnknownSync(Schema.Record(Schema.String, Schema.NullOr(Schema.String)))
  return (row: unknown): Audit.Stored => {
    const { id, ...texts } = decode(row)
    const values = Object.entries(texts).map(([member, text]) => [
      member,
      text !== null && isJson.has(member) ? JSON.parse(text) : text
    ])
    return Audit.storedOf({ ...noun, recorded }, { ...Object.fromEntries(values), id: id ?? "" })
  }
}

const recordedOf = Effect.fnUntraced(function* (noun: Noun.Members) {
  const may = yield* readable
  const readOf = (members: ReadonlySet<string>) =>
    Reads.many("AuditStore.recordedAudit", {
      text: `
select ${["id", ...members].map((member) => `t.${Table.columnOf(member)}::text as "${member}"`).join(", ")} from satrail.${noun.name} t
where $1::text is null or t.id > $1::${Table.keyOf(noun, "id")} order by t.id limit $2::bigint`,
      values: (after: string | null, limit: number) => [after, String(limit)],
      read: storedIn(noun, members)
    })
  const recorded = noun.recorded ?? new Set<string>()
  const open = new Set([...recorded].filter((member) => !Audit.isSecret(member)))
  const [all, some] = [yield* readOf(recorded), yield* readOf(open)]
  return (after: string | null, limit: number) =>
    Effect.flatMap(may(noun.name, [...recorded].map(Table.columnOf)), (columns) =>
      columns.length === recorded.size ? all(after, limit) : some(after, limit)
    )
})

const recorded = Effect.gen(function* () {
  const nouns = Nouns.of(yield* Features).filter((noun) => noun.recorded !== undefined)
  const reads = yield* Effect.forEach(nouns, recordedOf)
  const page = Effect.fnUntraced(function* (
    after: Pick<Audit.Stored, "record" | "id"> | null,
    limit: number
  ) {
    const from = after === null ? 0 : nouns.findIndex(({ name }) => name === after.record)
    for (const [n, read] of reads.entries()) {
      if (n < from) continue
      const page = yield* read(n === from && after !== null ? after.id : null, limit)
      if (page.length > 0) return page
    }
    return []
  })
  return { recordedKinds: nouns.map(({ name }) => name), recordedAudit: page }
})

export const make = Effect.gen(function* () {
  const [all, ours, appended, linked, stored] = [
    yield* ofAll,
    yield* ofCompany,
    yield* append,
    yield* link,
    yield* head
  ]
  return Audit.AuditStore.of({
    appendAudit: (drafts) => Effect.asVoid(appended(drafts)),
    unlinkedAudit: yield* unlinked,
    linkAudit: (links, head) => Effect.asVoid(linked({ links, head })),
    auditHead: Effect.map(stored(), ([found]) => found),
    auditHeads: yield* heads,
    auditOf: (companyId, before, limit) =>
      companyId === null ? all(before ?? last, limit) : ours(companyId, before ?? last, limit),
    auditChain: yield* chain,
    ...(yield* recorded),
    strayAudit: yield* strays
  })
})
