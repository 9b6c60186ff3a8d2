import { base58 } from "@scure/base"
import { Redacted, Schema } from "effect"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as SecretHash from "@satrail/core/base/SecretHash"
import type { Signer } from "@satrail/core/ledger/Audit"
import * as Noun from "@satrail/core/ledger/Noun"
import { type Written, written } from "@satrail/core/ledger/Written"

/**
 * The kind of credential used to sign in: a company's API key, an operator's token, the configured token, or a
 * person's passkey.
 */
export const Holder = Schema.Literals(["key", "token", "root", "person"])
export type Holder = typeof Holder.Type

/**
 * A sign-in to the console with a key or token, or by a person. The browser holds the session's secret; only a MAC
 * of it and of the fields that grant something is stored, so nobody can create, extend or step up a session with
 * the database's password alone. The sessions of one holder reuse a fixed number of records (`slots`), so expired
 * sessions need no cleanup, and signing in cannot fill the store.
 */
export const Session = Schema.Struct({
  id: Noun.Id,
  /** The company of the key or person; the operator's company for tokens. */
  companyId: CompanyId.CompanyId,
  holder: Holder,
  /** Id of the key, token or person. */
  holderId: Schema.String,
  slot: Schema.Int,
  /** See `hashOf`. */
  secretHash: SecretHash.SecretHash,
  createdAtMillis: Schema.Int,
  expiresAtMillis: Schema.Int,
  /** Time at which the holder last confirmed their identity, for example by entering the key again. */
  steppedUpAtMillis: Schema.NullOr(Schema.Int),
  endedAtMillis: Schema.NullOr(Schema.Int)
})
export interface Session extends Schema.Schema.Type<typeof Session> {}

/** Another sign-in replaced this session. */
export class SessionMoved extends Schema.TaggedError<SessionMoved>()("SessionMoved", { id: Schema.String }) {}

export const noun = Noun.make("console_sessions", Session, {
  moving: ["secretHash", "expiresAtMillis", "steppedUpAtMillis", "endedAtMillis"],
  recorded: ["secretHash", "expiresAtMillis", "steppedUpAtMillis", "endedAtMillis"],
  recordedUntil: "expiresAtMillis",
  unique: [["holderId", "slot"]],
  refused: (id) => new SessionMoved({ id })
})

// Each transition requires the secret or the expiry that was read, so a change meant for one session never affects
// the next one in its slot. A step-up replaces the hash, but must not keep a concurrent sign-out from ending the
// session.
export const life = {
  begunAgain: Noun.move(noun, "begunAgain", {
    expects: ["secretHash"],
    sets: ["secretHash", "expiresAtMillis"],
    clears: ["steppedUpAtMillis", "endedAtMillis"],
    again: { same: ["secretHash"] }
  }),
  steppedUp: Noun.move(noun, "steppedUp", {
    empty: ["endedAtMillis"],
    expects: ["expiresAtMillis"],
    sets: ["secretHash"],
    stamps: ["steppedUpAtMillis"],
    again: { same: ["secretHash", "steppedUpAtMillis"] }
  }),
  ended: Noun.move(noun, "ended", {
    empty: ["endedAtMillis"],
    expects: ["expiresAtMillis"],
    sets: ["secretHash"],
    stamps: ["endedAtMillis"],
    again: "otherwise"
  })
}

export interface SessionStarted extends Written<
  "SessionStarted",
  readonly [Noun.InsertOf<typeof noun>],
  never,
  never
> {}
export interface SessionStartedAgain extends Written<
  "SessionStartedAgain",
  readonly [Noun.TransitionOf<typeof life.begunAgain, Session>],
  never,
  never
> {}
export interface SessionSteppedUp extends Written<
  "SessionSteppedUp",
  readonly [Noun.TransitionOf<typeof life.steppedUp, Session>],
  never,
  never
> {}
export interface SessionEnded extends Written<
  "SessionEnded",
  readonly [Noun.TransitionOf<typeof life.ended, Session>],
  never,
  never
> {}

/** A session whose secret was presented, or that was just begun. */
export interface Opened extends Session {
  /** SHA-256 of the secret and of what it is bound to. It is never stored. */
  readonly proof: Redacted.Redacted
}

/** Lifetime of a session, and the time for which it may move money after a step-up. */
export const lifeMillis = 12 * 3_600_000
export const stepUpMillis = 5 * 60_000

/**
 * Maximum number of concurrent sessions per key, token or person. A further sign-in replaces the session that
 * would end first.
 */
export const slots = 16

const prefixes = { key: "k", token: "t", root: "r", person: "p" } as const satisfies Record<Holder, string>

/** Identifies a session's record: the holder and the slot. */
export type Place = Pick<Session, "holder" | "holderId" | "slot">

/** Generates the text of a new session in this slot, including its secret. */
export const generate = (
  { holder, holderId, slot }: Place,
  entropy: (size: number) => Uint8Array
): Redacted.Redacted =>
  Redacted.make(`${prefixes[holder]}.${holderId}.${slot}.${base58.encode(entropy(32))}`, { label: "session" })

/** Parses the slot from a session's text. Returns undefined if the text is malformed. */
export const placeOf = (text: string): Place | undefined => {
  const [, prefix, holderId, slot] =
    /^([ktrp])\.([\w-]{1,36})\.(\d\d?)\.[1-9A-HJ-NP-Za-km-z]{32,44}$/.exec(text) ?? []
  const holder = Holder.literals.find((one) => prefixes[one] === prefix)
  return holder === undefined || holderId === undefined ? undefined : { holder, holderId, slot: Number(slot) }
}

/** Returns the proof that the caller has a session's text. `bound` is additional data that must be the same on every use. */
export const proofOf = (text: string, bound: string): Redacted.Redacted =>
  Redacted.make(SecretHash.of(`${text} ${bound}`), { label: "proof of a session" })

/**
 * Returns the hash stored for a session. With a signer, it is a MAC, so a stored hash cannot be computed without a
 * key that the database does not contain.
 */
export const hashOf = (
  proof: Redacted.Redacted,
  {
    companyId,
    holder,
    holderId,
    slot,
    expiresAtMillis,
    steppedUpAtMillis
  }: Omit<Session, "id" | "secretHash" | "createdAtMillis" | "endedAtMillis">,
  sign: Signer | undefined
): SecretHash.SecretHash => {
  const text = [
    Redacted.value(proof),
    companyId,
    holder,
    holderId,
    slot,
    expiresAtMillis,
    steppedUpAtMillis ?? ""
  ].join("\n")
  return sign === undefined ? SecretHash.of(text) : SecretHash.make(sign("session", text))
}

/** The hash of an ended session, which no secret has. */
const noHash = SecretHash.make("0".repeat(64))

/** Maximum by which the clocks of two processes may differ. */
const skewMillis = 60_000

/** Returns whether the session is valid at this time. None is valid for longer than `lifeMillis`, whatever is stored. */
export const isOpen = ({ endedAtMillis, expiresAtMillis }: Session, nowMillis: number): boolean =>
  endedAtMillis === null &&
  nowMillis < expiresAtMillis &&
  expiresAtMillis <= nowMillis + lifeMillis + skewMillis

/** Returns the time until which the session may move money, or null if that time has passed. */
export const steppedUpUntil = ({ steppedUpAtMillis }: Session, nowMillis: number): number | null =>
  steppedUpAtMillis !== null && nowMillis >= steppedUpAtMillis && nowMillis < steppedUpAtMillis + stepUpMillis
    ? steppedUpAtMillis + stepUpMillis
    : null

export const started = (session: Session): SessionStarted =>
  written("SessionStarted", session.createdAtMillis, [Noun.insert(noun, session)])

/** Replaces this session with a new one in its slot. */
export const startedAgain = (
  session: Session,
  next: Pick<Session, "secretHash" | "expiresAtMillis">,
  atMillis: number
): SessionStartedAgain =>
  written("SessionStartedAgain", atMillis, [
    Noun.step(life.begunAgain, session, {
      secretHash: next.secretHash,
      expiresAtMillis: next.expiresAtMillis
    })
  ])

/** Records that the holder confirmed their identity. `secretHash` is the hash of the resulting session. */
export const steppedUp = (
  session: Session,
  secretHash: SecretHash.SecretHash,
  atMillis: number
): SessionSteppedUp =>
  written("SessionSteppedUp", atMillis, [Noun.step(life.steppedUp, session, { secretHash })])

export const ended = (session: Session, atMillis: number): SessionEnded =>
  written("SessionEnded", atMillis, [Noun.step(life.ended, session, { secretHash: noHash })])
