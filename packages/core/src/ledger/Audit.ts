import { sha256 } from "@satrail/bitcoin/Sha256"
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import type * as CompanyId from "../base/CompanyId.ts"
import * as Id from "../base/Id.ts"
import { Entropy } from "../base/Entropy.ts"
import * as SecretHash from "../base/SecretHash.ts"
import type { Any, Recorded } from "./Change.ts"
import * as Noun from "./Noun.ts"
import * as Written from "./Written.ts"
import { Journal, type StoreUnavailable } from "./Journal.ts"

/**
 * The actor behind an action: an API key, a company's user, an operator (a token or a signed-in person; `root`
 * is the configured token), or the service itself. Background work and calls by a host program count as the
 * service.
 */
export const Actor = Schema.Struct({
  actor: Schema.Literals(["key", "person", "operator", "service"]),
  actor_id: Schema.String,
  actor_name: Schema.String
})
export interface Actor extends Schema.Schema.Type<typeof Actor> {}

/** A request in progress. Every Change committed during it is written to the audit log. */
export interface Acting extends Actor {
  /** The requested operation, such as `send.confirm`. */
  readonly verb: string
  /** The caller's IP address; empty if unknown. */
  readonly address: string
  readonly request_id: string
}

export const Acting = Context.Reference<Acting | undefined>("@satrail/core/ledger/Audit/Acting", {
  defaultValue: () => undefined
})

/** The actor of work without an HTTP request. */
export const ofService = {
  actor: "service",
  actor_id: "service",
  actor_name: "service",
  address: "",
  request_id: ""
} as const

/** A record's field that was set by a Change. A secret's value is logged as the SHA-256 of the stored text. */
export const Value = Schema.Struct({
  /** The kind of record, such as `api_keys`. */
  record: Schema.String,
  id: Schema.String,
  field: Schema.String,
  /** As text, or as JSON with sorted keys. null if the Change created the record or the field was empty. */
  before: Schema.NullOr(Schema.String),
  after: Schema.NullOr(Schema.String)
})
export interface Value extends Schema.Schema.Type<typeof Value> {}

/**
 * The content of an entry. It contains no secrets, and no part of a request's body except the values that the
 * request changed.
 */
export const Said = Schema.Struct({
  ...Actor.fields,
  verb: Schema.String,
  /** The affected record; null if the request was rejected. */
  subject: Schema.NullOr(Schema.String),
  /** `done`, or the code of the error that rejected the request. */
  outcome: Schema.String,
  /** Number of times this happened within a minute. */
  count: Schema.Int,
  address: Schema.String,
  request_id: Schema.String,
  /** The changed values, for kinds of records whose values are logged. */
  changes: Schema.optionalKey(Schema.Array(Value))
})
export interface Said extends Schema.Schema.Type<typeof Said> {}

/** An entry before it is appended to the log. `body` is a `Said` as JSON. Exactly these bytes are hashed. */
export interface Draft {
  readonly companyId: CompanyId.CompanyId
  readonly atMillis: number
  readonly body: string
}

/** An entry of the log. Ids grow with time, and no entry appears before one that is already linked. */
export interface Entry extends Draft {
  readonly id: bigint
}

/** The position of an entry in its company's chain and in the chain of all companies. */
export interface Link {
  readonly entryId: bigint
  readonly companyId: CompanyId.CompanyId
  /** 1 for a company's first entry. */
  readonly seq: number
  /** Hash of the company's audit log up to this entry. */
  readonly hash: string
  /** Hash of the chain of all companies up to this entry. */
  readonly whole: string
}

/** The hash before the first link. */
export const origin = "0".repeat(64)

const digest = (...parts: ReadonlyArray<string>): string => sha256.hex(parts.join("\n"))

/**
 * Returns the SHA-256 of a company's chain that ends with `entry`, in lowercase hex. It hashes five lines:
 * the previous hash, id, company, time in ms, and body.
 */
export const hashOf = (before: string, { id, companyId, atMillis, body }: Entry): string =>
  digest(before, String(id), companyId, String(atMillis), body)

/** Returns the hash of the chain of all companies after a company's chain reached `hash`. */
export const wholeOf = (before: string, hash: string): string => digest(before, hash)

/** Returns the MAC of a head, an entry or a session in lowercase hex. A MAC of one use is not valid for another. */
export type Signer = (use: "head" | "entry" | "session", text: string) => string

/** Signs with a key that is not stored in the database. */
export const signer = (key: Redacted.Redacted): Signer => {
  const of = (use: Parameters<Signer>[0]) => sha256.hmac(`satrail: audit ${use}\n${Redacted.value(key)}`)
  const macs = { head: of("head"), entry: of("entry"), session: of("session") }
  return (use, text) => macs[use](text)
}

/** Signs heads, entries and sessions. Without it, nothing is signed. */
export const Signing = Context.Reference<Signer | undefined>("@satrail/core/ledger/Audit/Signing", {
  defaultValue: () => undefined
})

/**
 * The end of the chain of all companies: its last entry, the number of links, and its hash. `mac` is an
 * HMAC-SHA256 of these; empty without a key.
 */
export interface Head {
  readonly entryId: bigint
  readonly count: number
  readonly whole: string
  readonly mac: string
}

/** The head before the first link. */
export const noHead: Head = { entryId: 0n, count: 0, whole: origin, mac: "" }

const macOf = ({ entryId, count, whole }: Omit<Head, "mac">, sign: Signer | undefined): string =>
  sign?.("head", `${entryId}\n${count}\n${whole}`) ?? ""

export const signed = (head: Omit<Head, "mac">, sign: Signer | undefined): Head => ({
  ...head,
  mac: macOf(head, sign)
})

/** Returns whether a head was signed with this key. Without a key, every head is accepted. */
export const isSigned = (head: Head, sign: Signer | undefined): boolean =>
  sign === undefined || head.mac === macOf(head, sign)

/** Formats a head for storage, the log and `satrail verify --audit-head`. */
export const textOf = ({ entryId, count, whole, mac }: Head): string => `${entryId}:${count}:${whole}:${mac}`

export const headOf = (text: string): Head | undefined => {
  const [, entryId, count, whole, mac] =
    /^(\d{1,19}):(\d{1,15}):([0-9a-f]{64}):([0-9a-f]{64})?$/.exec(text) ?? []
  return entryId === undefined || whole === undefined
    ? undefined
    : { entryId: BigInt(entryId), count: Number(count), whole, mac: mac ?? "" }
}

const secrets = new Set(["secret", "previousSecret", "secretHash"])

/** Returns JSON with sorted keys, so that equal values have equal text. Amounts are texts, as stores encode them. */
const canonical = (value: object): string =>
  JSON.stringify(value, (_, one: unknown) => {
    if (typeof one === "bigint") return String(one)
    return typeof one === "object" && one !== null && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : one
  })

/** Returns a field's value as it is logged. */
const shown = (member: string, value: unknown): string | null => {
  if (value === undefined || value === null) return null
  if (secrets.has(member)) return SecretHash.of(String(value))
  return typeof value === "object" ? canonical(value) : String(value)
}

/** A stored record with the columns and values that are logged. */
export interface Stored {
  readonly record: string
  readonly id: string
  readonly values: ReadonlyMap<string, string | null>
  /** Time from which the record grants nothing and need not match the log; null if there is none. */
  readonly untilMillis: number | null
}

/** Returns the logged columns of a record. */
export const storedOf = (
  { name, recorded = new Set(), recordedUntil }: Noun.Members,
  record: { readonly id: string }
): Stored => ({
  record: name,
  id: record.id,
  values: new Map(
    [...recorded].map((member) => [Noun.columnOf(member), shown(member, Reflect.get(record, member))])
  ),
  untilMillis: recordedUntil === undefined ? null : Number(Reflect.get(record, recordedUntil))
})

/** Returns whether a column contains a secret, which is logged as a hash. */
export const isSecret = (member: string): boolean => secrets.has(member)

// Log every field that a Change sets, even to the value it had when it was read (null included), because
// another Change may have changed it since.
const differences = ({
  noun,
  id,
  before,
  after,
  sets
}: Recorded & { readonly sets?: ReadonlySet<string> }): ReadonlyArray<Value> =>
  [...(noun.recorded ?? [])].flatMap((member): ReadonlyArray<Value> => {
    if (sets !== undefined && !sets.has(member)) return []
    const [was, value] = [
      before === null ? null : shown(member, Reflect.get(before, member)),
      shown(member, Reflect.get(after, member))
    ]
    return sets === undefined && was === value
      ? []
      : [{ record: noun.name, id, field: Noun.columnOf(member), before: was, after: value }]
  })

/** Returns the values that a Change sets, for fields that are logged. */
export const changesOf = (change: Any): ReadonlyArray<Value> => {
  const written = Written.is(change)
    ? change.writes.flatMap((write): ReadonlyArray<Recorded> => {
        if (write._tag === "Insert")
          return [{ noun: write.noun, id: write.record.id, before: null, after: write.record }]
        if (write._tag !== "Transition") return []
        const { found, move } = write
        if (move.noun.recorded === undefined) return []
        const after = Noun.after(found, write, change.atMillis)
        return [{ noun: move.noun, id: found.id, before: found, after, sets: Noun.changedBy(move) }]
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

const signedText = ({ companyId, atMillis }: Draft, text: string): string =>
  `${companyId}\n${atMillis}\n${text}`

/**
 * Adds a nonce and a MAC of the whole entry. Without the key, nobody can forge an entry, and no entry can be
 * duplicated unnoticed.
 */
export const sealed = (
  draft: Draft,
  sign: Signer | undefined,
  entropy: (size: number) => Uint8Array
): Draft => {
  const text = `${draft.body.slice(0, -1)},"nonce":"${Id.toHex(entropy(16))}"`
  return { ...draft, body: `${text},"mac":"${sign?.("entry", signedText(draft, text)) ?? ""}"}` }
}

/** Returns whether the service wrote an entry. Without a key, only the form is checked. */
export const isSealed = (draft: Draft, sign: Signer | undefined): boolean => {
  const [, text, mac] = /^(.*,"nonce":"[0-9a-f]{32}"),"mac":"([0-9a-f]*)"\}$/s.exec(draft.body) ?? []
  return text !== undefined && (sign === undefined || mac === sign("entry", signedText(draft, text)))
}

type Read<A> = Effect.Effect<A, StoreUnavailable>

/**
 * The append-only audit log. Changes and `appendAudit` append entries, which are linked to chains afterwards.
 * No method changes or removes an entry.
 */
export class AuditStore extends Context.Service<
  AuditStore,
  {
    /** Appends entries for rejected requests, which have no Change. At most 1000 per call. */
    readonly appendAudit: (drafts: ReadonlyArray<Draft>) => Read<void>
    /**
     * Returns entries after the last linked one, ordered by id. Never returns an entry while one with a lower
     * id may still be committed.
     */
    readonly unlinkedAudit: (limit: number) => Read<ReadonlyArray<Entry>>
    /**
     * Stores links and the resulting head in one commit. Existing links are not changed, and the stored head
     * only moves to later entries.
     */
    readonly linkAudit: (links: ReadonlyArray<Link>, head: Head) => Read<void>
    /** Returns the head stored with the last links, separately from the chain. */
    readonly auditHead: Read<Head | undefined>
    /**
     * Returns the last link of each of these companies, and the last link overall. Empty if there are none.
     */
    readonly auditHeads: (companyIds: ReadonlyArray<CompanyId.CompanyId>) => Read<ReadonlyArray<Link>>
    /**
     * Returns a company's linked entries before `before`, newest first. null returns all entries, linked or
     * not.
     */
    readonly auditOf: (
      companyId: CompanyId.CompanyId | null,
      before: bigint | null,
      limit: number
    ) => Read<ReadonlyArray<{ readonly entry: Entry; readonly link: Link | null }>>
    /**
     * Returns links after the given entry id, ordered by entry id. `entry` is null if the entry is missing.
     */
    readonly auditChain: (
      after: bigint,
      limit: number
    ) => Read<ReadonlyArray<{ readonly link: Link; readonly entry: Entry | null }>>
    /** The kinds of records that `recordedAudit` returns. */
    readonly recordedKinds: ReadonlyArray<string>
    /**
     * Returns records with logged values after the given one, in an order the store chooses; empty at the
     * end. Omits columns that this database role cannot read.
     */
    readonly recordedAudit: (
      after: Pick<Stored, "record" | "id"> | null,
      limit: number
    ) => Read<ReadonlyArray<Stored>>
    /**
     * Returns entries that have no link although a later entry is linked, and entries that are copies of
     * others, ordered by id. This service never creates either kind.
     */
    readonly strayAudit: (limit: number) => Read<ReadonlyArray<Entry>>
  }
>()("@satrail/core/ledger/Audit/AuditStore") {}

/**
 * A Journal that adds an audit entry to every Change made during a request and to every Change of a logged
 * value, in the same commit.
 */
export const layerJournal = Layer.effect(
  Journal,
  Effect.gen(function* () {
    const journal = yield* Journal
    const sign = yield* Signing
    const entropy = yield* Entropy
    return Journal.of({
      commit: (change) =>
        Effect.withFiber((fiber) => {
          const acting = Context.get(fiber.context, Acting)
          const changes = changesOf(change)
          if (acting === undefined && changes.length === 0) return journal.commit(change)
          const { id, companyId, atMillis, event, _tag: verb } = change
          const body = bodyOf(acting ?? { ...ofService, verb }, {
            subject: event?.subject ?? id,
            outcome: "done",
            count: 1,
            changes
          })
          const { body: audit } = sealed({ companyId, atMillis, body }, sign, entropy)
          return journal.commit({ ...change, audit })
        })
    })
  })
)
