import { base58 } from "@scure/base"
import { Redacted, Schema } from "effect"
import * as CompanyId from "../../base/CompanyId.ts"
import * as SecretHash from "../../base/SecretHash.ts"
import * as Noun from "../../ledger/Noun.ts"
import type { Written } from "../../ledger/Written.ts"

/** Who signed in: with a company's API key, with an operator's token, or with the configured one. */
export const Holder = Schema.Literals(["key", "token", "root"])
export type Holder = typeof Holder.Type

/**
 * A person who signed in with a key or a token, which the session stands for. The session's secret is with the browser: only its SHA-256 is kept. A holder has
 * `slots` records, which are used again and again: sessions need no sweeping, and nobody fills the store by signing in.
 */
export const Session = Schema.Struct({
  id: Noun.Id,
  /** The key's company; the operator's for tokens. */
  companyId: CompanyId.CompanyId,
  holder: Holder,
  /** The id of the key or the token. */
  holderId: Schema.String,
  slot: Schema.Int,
  secretHash: SecretHash.SecretHash,
  createdAtMillis: Schema.Int,
  expiresAtMillis: Schema.Int,
  /** When the key or the token was shown again. */
  steppedUpAtMillis: Schema.NullOr(Schema.Int),
  endedAtMillis: Schema.NullOr(Schema.Int)
})
export interface Session extends Schema.Schema.Type<typeof Session> {}

/** Another sign-in took the place of this session. */
export class SessionMoved extends Schema.TaggedError<SessionMoved>()("SessionMoved", { id: Schema.String }) {}

export const noun = Noun.make("console_sessions", Session, {
  moving: ["secretHash", "expiresAtMillis", "steppedUpAtMillis", "endedAtMillis"],
  unique: [["holderId", "slot"]],
  refused: (id) => new SessionMoved({ id })
})

// Each move expects the secret that it found: what was meant for one session never meets the next one in its slot.
export const life = {
  begunAgain: Noun.move(noun, "begunAgain", {
    expects: ["secretHash"],
    sets: ["secretHash", "expiresAtMillis"],
    clears: ["steppedUpAtMillis", "endedAtMillis"],
    again: { same: ["secretHash"] }
  }),
  steppedUp: Noun.move(noun, "steppedUp", {
    empty: ["endedAtMillis"],
    expects: ["secretHash"],
    stamps: ["steppedUpAtMillis"],
    again: { same: ["steppedUpAtMillis"] }
  }),
  ended: Noun.move(noun, "ended", { empty: ["endedAtMillis"], expects: ["secretHash"], stamps: ["endedAtMillis"], again: "otherwise" })
}

export interface SessionBegun extends Written<"SessionBegun", readonly [Noun.InsertOf<typeof noun>], never, never> {}
export interface SessionBegunAgain extends Written<
  "SessionBegunAgain",
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
export interface SessionEnded extends Written<"SessionEnded", readonly [Noun.TransitionOf<typeof life.ended, Session>], never, never> {}

/** How long a session lasts, and how long after a step-up money may move. */
export const lifeMillis = 12 * 3_600_000
export const stepUpMillis = 5 * 60_000

/** Sessions that one key or token has at once. A further one takes the place of the one that would end first. */
export const slots = 16

const prefixes = { key: "k", token: "t", root: "r" } as const satisfies Record<Holder, string>

/** Where a session's record is: in which of its holder's slots. */
export type Place = Pick<Session, "holder" | "holderId" | "slot">

/** The text of a new session in this place, with a secret in it. */
export const generate = ({ holder, holderId, slot }: Place, entropy: (size: number) => Uint8Array): Redacted.Redacted =>
  Redacted.make(`${prefixes[holder]}.${holderId}.${slot}.${base58.encode(entropy(32))}`, { label: "session" })

/** The place that a text is about; undefined where no session has it. */
export const placeOf = (text: string): Place | undefined => {
  const [, prefix, holderId, slot] = /^([ktr])\.([\w-]{1,36})\.(\d\d?)\.[1-9A-HJ-NP-Za-km-z]{32,44}$/.exec(text) ?? []
  const holder = Holder.literals.find((one) => prefixes[one] === prefix)
  return holder === undefined || holderId === undefined ? undefined : { holder, holderId, slot: Number(slot) }
}

/** What is kept of a session's text. `bound` is what else has to be the same whenever it is shown. */
export const hashOf = (text: string, bound: string): SecretHash.SecretHash => SecretHash.of(`${text} ${bound}`)

/** Whether it opens anything at this time. */
export const isOpen = ({ endedAtMillis, expiresAtMillis }: Session, nowMillis: number): boolean =>
  endedAtMillis === null && nowMillis < expiresAtMillis

/** Until when it may move money; null where that is over. */
export const steppedUpUntil = ({ steppedUpAtMillis }: Session, nowMillis: number): number | null =>
  steppedUpAtMillis !== null && nowMillis >= steppedUpAtMillis && nowMillis < steppedUpAtMillis + stepUpMillis
    ? steppedUpAtMillis + stepUpMillis
    : null

const of = ({ id, companyId }: Session, atMillis: number) => ({ id, companyId, atMillis, legs: [] })

export const begun = (session: Session): SessionBegun => ({
  _tag: "SessionBegun",
  ...of(session, session.createdAtMillis),
  writes: [Noun.insert(noun, session)]
})

/** A new session in the place of this one. */
export const begunAgain = (
  session: Session,
  next: Pick<Session, "secretHash" | "expiresAtMillis">,
  atMillis: number
): SessionBegunAgain => ({
  _tag: "SessionBegunAgain",
  ...of(session, atMillis),
  writes: [Noun.step(life.begunAgain, session, { secretHash: next.secretHash, expiresAtMillis: next.expiresAtMillis })]
})

export const steppedUp = (session: Session, atMillis: number): SessionSteppedUp => ({
  _tag: "SessionSteppedUp",
  ...of(session, atMillis),
  writes: [Noun.step(life.steppedUp, session, {})]
})

export const ended = (session: Session, atMillis: number): SessionEnded => ({
  _tag: "SessionEnded",
  ...of(session, atMillis),
  writes: [Noun.step(life.ended, session, {})]
})
