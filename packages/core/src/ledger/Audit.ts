import { hmac } from "@noble/hashes/hmac.js"
import { sha256 } from "@noble/hashes/sha2.js"
import { utf8ToBytes } from "@noble/hashes/utils.js"
import { Clock, Context, Effect, Layer, Redacted, Schema } from "effect"
import * as CompanyId from "../base/CompanyId.ts"
import * as Id from "../base/Id.ts"
import { Entropy } from "../base/Entropy.ts"
import * as SecretHash from "../base/SecretHash.ts"
import type { Any, Recorded } from "./Change.ts"
import * as Noun from "./Noun.ts"
import * as Written from "./Written.ts"
import { Journal, type StoreUnavailable } from "./Journal.ts"

/**
 * Who did or asked for something: an API key, one of the operator's tokens (`root`: the configured one), or the service itself: its own work, and the calls of the
 * program that it is embedded in.
 */
export const Actor = Schema.Struct({
  actor: Schema.Literals(["key", "operator", "service"]),
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

/** What nobody asked for over HTTP. */
export const ofService = { actor: "service", actor_id: "service", actor_name: "service", address: "", request_id: "" } as const

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

/** Signs heads and entries: a secret that is not in the database. Without one, they are not signed. */
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

const hmacOf = (use: "head" | "entry", key: Redacted.Redacted | undefined, text: string): string =>
  key === undefined ? "" : Id.toHex(hmac(sha256, utf8ToBytes(`satrail: audit ${use}\n${Redacted.value(key)}`), utf8ToBytes(text)))

const macOf = ({ entryId, count, whole }: Omit<Head, "mac">, key: Redacted.Redacted | undefined): string =>
  hmacOf("head", key, `${entryId}\n${count}\n${whole}`)

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

/** A record as it is stored, in the words of the log: its columns and their values. */
export interface Stored {
  readonly record: string
  readonly id: string
  readonly values: ReadonlyMap<string, string | null>
}

/** A record in the words of the log. */
export const storedOf = ({ name, recorded = new Set() }: Noun.Members, record: { readonly id: string }): Stored => ({
  record: name,
  id: record.id,
  values: new Map([...recorded].map((member) => [columnOf(member), shown(member, Reflect.get(record, member))]))
})

/** Columns with a secret, of which the log has a hash. */
export const isSecret = (member: string): boolean => secrets.has(member)

// What a Change sets is written down also where it was found with that value: another Change may have given it another one meanwhile.
const differences = ({ noun, id, before, after, sets }: Recorded & { readonly sets?: ReadonlySet<string> }): ReadonlyArray<Value> =>
  [...(noun.recorded ?? [])].flatMap((member): ReadonlyArray<Value> => {
    if (sets !== undefined && !sets.has(member)) return []
    const [was, value] = [before === null ? null : shown(member, Reflect.get(before, member)), shown(member, Reflect.get(after, member))]
    return was === value && (value === null || sets === undefined)
      ? []
      : [{ record: noun.name, id, field: columnOf(member), before: was, after: value }]
  })

/** The values that a Change gives, as far as the log has them. */
export const changesOf = (change: Any): ReadonlyArray<Value> => {
  const written = Written.is(change)
    ? change.writes.flatMap((write): ReadonlyArray<Recorded> => {
        if (write._tag === "Insert") return [{ noun: write.noun, id: write.record.id, before: null, after: write.record }]
        if (write._tag !== "Transition") return []
        const { found, move } = write
        if (move.noun.recorded === undefined) return []
        const sets = new Set([...move.sets, ...move.stamps, ...move.clears])
        return [{ noun: move.noun, id: found.id, before: found, after: Noun.after(found, write, change.atMillis), sets }]
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

const signedText = ({ companyId, atMillis }: Draft, text: string): string => `${companyId}\n${atMillis}\n${text}`

/** The draft with a nonce, and with a MAC of all of it: nobody without the key can write an entry, and none can be written twice. */
export const sealed = (draft: Draft, key: Redacted.Redacted | undefined, entropy: (size: number) => Uint8Array): Draft => {
  const text = `${draft.body.slice(0, -1)},"nonce":"${Id.toHex(entropy(16))}"`
  return { ...draft, body: `${text},"mac":"${hmacOf("entry", key, signedText(draft, text))}"}` }
}

/** Whether the service wrote an entry, as far as can be known without a key; `unsealed`: it has no nonce, as those of earlier versions. */
export const sealOf = (draft: Draft, key: Redacted.Redacted | undefined): "sealed" | "unsealed" | "forged" => {
  const [, text, mac] = /^(.*,"nonce":"[0-9a-f]{32}"),"mac":"([0-9a-f]*)"\}$/s.exec(draft.body) ?? []
  if (text === undefined) return "unsealed"
  return key === undefined || mac === hmacOf("entry", key, signedText(draft, text)) ? "sealed" : "forged"
}

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
    /** The records whose values the log has, after one, in an order of the store's own; the end is where there are none. Without the columns that this role may not read. */
    readonly recordedAudit: (after: Pick<Stored, "record" | "id"> | null, limit: number) => Read<ReadonlyArray<Stored>>
    /** Entries that have no link, though a later one has, and copies of other entries, by id: nothing of this service leaves one behind. */
    readonly strayAudit: (limit: number) => Read<ReadonlyArray<Entry>>
  }
>()("@satrail/core/ledger/Audit/AuditStore") {}

/** What the log begins with: the values that were there before it had any. */
export const baselineVerb = "audit.baseline"

/** What a log that is quiet goes on with, an hour after its last entry: from then on every entry is signed. */
export const signedVerb = "audit.signed"

const batch = 1000

/** The values of a record that are something, as a Change that creates it has them. */
const firstOf = ({ record, id, values }: Stored): ReadonlyArray<Value> =>
  [...values].flatMap(([field, after]) => (after === null ? [] : [{ record, id, field, before: null, after }]))

/**
 * Before the first sealed entry, the values of all records that are there already are written down, in one commit. From then on a record that the log does not
 * know was made past the service. Looks once.
 */
export const baseline = Effect.gen(function* () {
  const store = yield* AuditStore
  const key = yield* HeadKey
  const entropy = yield* Entropy
  const hasSealed = Effect.gen(function* () {
    for (let before: bigint | null = null; ;) {
      const page: ReadonlyArray<{ readonly entry: Entry }> = yield* store.auditOf(null, before, before === null ? 1 : batch)
      if (page.some(({ entry }) => sealOf(entry, undefined) === "sealed")) return true
      const last = page.at(-1)
      if (last === undefined) return false
      before = last.entry.id
    }
  })
  const write = Effect.gen(function* () {
    if (yield* hasSealed) return
    const there: Array<Stored> = []
    for (
      let page = yield* store.recordedAudit(null, batch);
      page.length > 0;
      page = yield* store.recordedAudit(there.at(-1) ?? null, batch)
    )
      there.push(...page)
    const atMillis = yield* Clock.currentTimeMillis
    const size = Math.max(100, Math.ceil(there.length / batch))
    const drafts = Array.from({ length: Math.ceil(there.length / size) }, (_, n) => {
      const changes = there.slice(n * size, (n + 1) * size).flatMap(firstOf)
      const body = bodyOf({ ...ofService, verb: baselineVerb }, { subject: null, outcome: "done", count: 1, changes })
      return sealed({ companyId: CompanyId.operator, atMillis, body }, key, entropy)
    })
    if (drafts.length > 0) yield* store.appendAudit(drafts)
  })
  let isDone = false
  return Effect.suspend(() => (isDone ? Effect.void : Effect.tap(write, () => Effect.sync(() => (isDone = true)))))
})

/** The Journal, which writes into the audit log what is committed for somebody, and whatever changes a value that the log has, in the same commit. */
export const layerJournal = Layer.effect(
  Journal,
  Effect.gen(function* () {
    const journal = yield* Journal
    const key = yield* HeadKey
    const entropy = yield* Entropy
    const begin = yield* baseline
    return Journal.of({
      commit: (change) =>
        Effect.withFiber((fiber) => {
          const acting = Context.get(fiber.context, Acting)
          const changes = changesOf(change)
          if (acting === undefined && changes.length === 0) return journal.commit(change)
          const { id, companyId, atMillis, event, _tag: verb } = change
          const body = bodyOf(acting ?? { ...ofService, verb }, { subject: event?.subject ?? id, outcome: "done", count: 1, changes })
          const { body: audit } = sealed({ companyId, atMillis, body }, key, entropy)
          return Effect.andThen(begin, journal.commit({ ...change, audit }))
        })
    })
  })
)
