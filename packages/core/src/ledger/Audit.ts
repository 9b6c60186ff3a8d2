import { hmac } from "@noble/hashes/hmac.js"
import { sha256 } from "@noble/hashes/sha2.js"
import { utf8ToBytes } from "@noble/hashes/utils.js"
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import type * as CompanyId from "../base/CompanyId.ts"
import * as Id from "../base/Id.ts"
import * as SecretHash from "../base/SecretHash.ts"
import type { Any, Recorded } from "./Change.ts"
import * as Noun from "./Noun.ts"
import * as Written from "./Written.ts"
import { Journal, type StoreUnavailable } from "./Journal.ts"

/** Who did or asked for something: an API key, or one of the operator's tokens (`root`: the configured one). */
export const Actor = Schema.Struct({
  actor: Schema.Literals(["key", "operator"]),
  actor_id: Schema.String,
  actor_name: Schema.String
})
export interface Actor extends Schema.Schema.Type<typeof Actor> {}

/** One request by somebody, for as long as it is worked on: every Change that is committed in it is in the audit log. */
export interface Acting extends Actor {
  /** The operation that was asked for: `send.confirm`. */
  readonly verb: string
  /** From where, as far as known; empty where it is not. */
  readonly address: string
  readonly request_id: string
}

export const Acting = Context.Reference<Acting | undefined>("@satrail/core/ledger/Audit/Acting", { defaultValue: () => undefined })

/** A member of a record that a Change gave another value. Of a secret it is the SHA-256 of what is stored. */
export const Value = Schema.Struct({
  /** The kind of record: `api_keys`. */
  record: Schema.String,
  id: Schema.String,
  field: Schema.String,
  /** As text, or as JSON with sorted keys; null where the record was created, or the member was empty. */
  before: Schema.NullOr(Schema.String),
  after: Schema.NullOr(Schema.String)
})
export interface Value extends Schema.Schema.Type<typeof Value> {}

/** What an entry says. No secret, and nothing of a request's body but the values it changed. */
export const Said = Schema.Struct({
  ...Actor.fields,
  verb: Schema.String,
  /** The record that it was done to; null where it was refused. */
  subject: Schema.NullOr(Schema.String),
  /** `done`, or the code of the error that it was refused with. */
  outcome: Schema.String,
  /** How often, within a minute. */
  count: Schema.Int,
  address: Schema.String,
  request_id: Schema.String,
  /** What it changed, where the log has that kind of record's values. */
  changes: Schema.optionalKey(Schema.Array(Value))
})
export interface Said extends Schema.Schema.Type<typeof Said> {}

/** What was done or refused, before it has its place in the log. `body` is a `Said` as JSON: the bytes that are hashed. */
export interface Draft {
  readonly companyId: CompanyId.CompanyId
  readonly atMillis: number
  readonly body: string
}

/** A line of the log. Ids grow with time, and none turns up behind one that was linked. */
export interface Entry extends Draft {
  readonly id: bigint
}

/** The place of an entry in its company's chain, and in that of all. */
export interface Link {
  readonly entryId: bigint
  readonly companyId: CompanyId.CompanyId
  /** 1 for a company's first entry. */
  readonly seq: number
  /** Of the company's chain up to here. */
  readonly hash: string
  /** Of the chain of all companies up to here. */
  readonly whole: string
}

/** What comes before the first link. */
export const origin = "0".repeat(64)

const digest = (...parts: ReadonlyArray<string>): string => Id.toHex(sha256(utf8ToBytes(parts.join("\n"))))

/** The SHA-256 of a company's chain, in lower-case hex, once `entry` is its last one: of the lines hash before it, id, company, time in ms, body. */
export const hashOf = (before: string, { id, companyId, atMillis, body }: Entry): string =>
  digest(before, String(id), companyId, String(atMillis), body)

/** The same of all chains, once `hash` is the last one of any. */
export const wholeOf = (before: string, hash: string): string => digest(before, hash)

/** Signs heads: a secret that is not in the database. Without one, heads are not signed. */
export const HeadKey = Context.Reference<Redacted.Redacted | undefined>("@satrail/core/ledger/Audit/HeadKey", {
  defaultValue: () => undefined
})

/** The end of all chains: its last entry, the number of links up to there, and the hash of all chains. `mac` is an HMAC-SHA256 of these; empty without a key. */
export interface Head {
  readonly entryId: bigint
  readonly count: number
  readonly whole: string
  readonly mac: string
}

/** Before the first link. */
export const noHead: Head = { entryId: 0n, count: 0, whole: origin, mac: "" }

const macOf = ({ entryId, count, whole }: Omit<Head, "mac">, key: Redacted.Redacted | undefined): string =>
  key === undefined
    ? ""
    : Id.toHex(hmac(sha256, utf8ToBytes(`satrail: audit head\n${Redacted.value(key)}`), utf8ToBytes(`${entryId}\n${count}\n${whole}`)))

export const signed = (head: Omit<Head, "mac">, key: Redacted.Redacted | undefined): Head => ({ ...head, mac: macOf(head, key) })

/** Whether a head was signed with this key. Without a key nothing is known against it. */
export const isSigned = (head: Head, key: Redacted.Redacted | undefined): boolean => key === undefined || head.mac === macOf(head, key)

/** A head as it is stored, logged and passed to `satrail verify --audit-head`. */
export const textOf = ({ entryId, count, whole, mac }: Head): string => `${entryId}:${count}:${whole}:${mac}`

export const headOf = (text: string): Head | undefined => {
  const [, entryId, count, whole, mac] = /^(\d{1,19}):(\d{1,15}):([0-9a-f]{64}):([0-9a-f]{64})?$/.exec(text) ?? []
  return entryId === undefined || whole === undefined
    ? undefined
    : { entryId: BigInt(entryId), count: Number(count), whole, mac: mac ?? "" }
}

const columnOf = (member: string): string => member.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const secrets = new Set(["secret", "previousSecret", "secretHash"])

/** JSON with sorted keys: equal values have the same text. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, one: unknown) =>
    typeof one === "object" && one !== null && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : one
  )

/** A member's value as the log has it. */
const shown = (member: string, value: unknown): string | null => {
  if (value === undefined || value === null) return null
  if (secrets.has(member)) return SecretHash.of(String(value))
  return typeof value === "string" ? value : canonical(value)
}

/** The members of a record as the log has them, by their columns. */
const valuesOf = ({ recorded = new Set() }: Noun.Members, record: object): ReadonlyMap<string, string | null> =>
  new Map([...recorded].map((member) => [columnOf(member), shown(member, Reflect.get(record, member))]))

const differences = ({ noun, id, before, after }: Recorded): ReadonlyArray<Value> => {
  const old = before === null ? undefined : valuesOf(noun, before)
  return [...valuesOf(noun, after)].flatMap(([field, value]): ReadonlyArray<Value> => {
    const was = old?.get(field) ?? null
    return was === value ? [] : [{ record: noun.name, id, field, before: was, after: value }]
  })
}

/** The values that a Change gives, as far as the log has them. */
export const changesOf = (change: Any): ReadonlyArray<Value> => {
  const written = Written.is(change)
    ? change.writes.flatMap((write): ReadonlyArray<Recorded> => {
        if (write._tag === "Insert") return [{ noun: write.noun, id: write.record.id, before: null, after: write.record }]
        if (write._tag !== "Transition") return []
        const { found, move } = write
        return [{ noun: move.noun, id: found.id, before: found, after: Noun.after(found, write, change.atMillis) }]
      })
    : []
  return [...written, ...(change.recorded ?? [])].flatMap(differences)
}

export const bodyOf = (
  { actor, actor_id, actor_name, verb, address, request_id }: Acting,
  { subject, outcome, count, changes = [] }: Pick<Said, "subject" | "outcome" | "count" | "changes">
): string =>
  JSON.stringify({
    actor,
    actor_id,
    actor_name,
    verb,
    subject,
    outcome,
    count,
    address,
    request_id,
    ...(changes.length > 0 && { changes })
  })

type Read<A> = Effect.Effect<A, StoreUnavailable>

/** The audit log: entries are appended, by Changes and here, and linked to chains afterwards; nothing changes or removes one. */
export class AuditStore extends Context.Service<
  AuditStore,
  {
    /** Entries without a Change: of what was refused. At most 1000 at once. */
    readonly appendAudit: (drafts: ReadonlyArray<Draft>) => Read<void>
    /** Entries after the last one that was linked, by id; never one before which another may still turn up. */
    readonly unlinkedAudit: (limit: number) => Read<ReadonlyArray<Entry>>
    /** Links of entries, and the head they lead to, in one commit. What was linked before stays as it is, and the stored head only moves to later entries. */
    readonly linkAudit: (links: ReadonlyArray<Link>, head: Head) => Read<void>
    /** The head as it was stored with the last links, outside the chain. */
    readonly auditHead: Read<Head | undefined>
    /** The last link of each of these companies, and the last one of all, where there are any. */
    readonly auditHeads: (companyIds: ReadonlyArray<CompanyId.CompanyId>) => Read<ReadonlyArray<Link>>
    /** A company's linked entries (null: all entries, linked or not) before `before`, the newest first. */
    readonly auditOf: (
      companyId: CompanyId.CompanyId | null,
      before: bigint | null,
      limit: number
    ) => Read<ReadonlyArray<{ readonly entry: Entry; readonly link: Link | null }>>
    /** Links after one, by the ids of their entries; null in place of an entry that is gone. */
    readonly auditChain: (after: bigint, limit: number) => Read<ReadonlyArray<{ readonly link: Link; readonly entry: Entry | null }>>
    /** Entries that have no link, though a later one has, by id: nothing of this service leaves one behind. */
    readonly strayAudit: (limit: number) => Read<ReadonlyArray<Entry>>
  }
>()("@satrail/core/ledger/Audit/AuditStore") {}

/** The Journal, which writes into the audit log what is committed for somebody, in the same commit. */
export const layerJournal = Layer.effect(
  Journal,
  Effect.map(Journal, (journal) =>
    Journal.of({
      commit: (change) =>
        Effect.withFiber((fiber) => {
          const acting = Context.get(fiber.context, Acting)
          if (acting === undefined) return journal.commit(change)
          const audit = bodyOf(acting, {
            subject: change.event?.subject ?? change.id,
            outcome: "done",
            count: 1,
            changes: changesOf(change)
          })
          return journal.commit({ ...change, audit })
        })
    })
  )
)
