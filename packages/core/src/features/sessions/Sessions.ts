import { Clock, Context, Effect, Layer, Option, Redacted } from "effect"
import type * as CompanyId from "../../base/CompanyId.ts"
import { Entropy } from "../../base/Entropy.ts"
import * as Id from "../../base/Id.ts"
import { type Conflict, Journal, type StoreUnavailable } from "../../ledger/Journal.ts"
import { NounReads } from "../../ledger/NounReads.ts"
import * as ApiKey from "../../accounts/ApiKey.ts"
import * as Session from "./Session.ts"

/** Whose session it is to be: a key or a token that was checked. */
export interface Asking {
  readonly holder: Session.Holder
  readonly holderId: string
  readonly companyId: CompanyId.CompanyId
}

/** A new session. `text` is its secret: given to the browser now, and never again. */
export interface Begun {
  readonly session: Session.Session
  readonly text: Redacted.Redacted
}

/** Sign-ins of this many at once for one holder and slot are tried again; more of them is a store that answers nonsense. */
const attempts = 8

/**
 * People who signed in. A session says whose key or token it stands for, and whether it is open: whether that key or token still opens anything is to be
 * looked up beside it. `bound` is a text that has to be the same whenever the session is shown, and is not kept.
 */
export class Sessions extends Context.Service<
  Sessions,
  {
    /** In a place that is free, or else in that of the session that would end first. */
    readonly begin: (asking: Asking, bound?: string) => Effect.Effect<Begun, Conflict | Session.SessionMoved | StoreUnavailable>
    /** The open session with this secret, as of now. */
    readonly check: (text: string, bound?: string) => Effect.Effect<Option.Option<Session.Session>, StoreUnavailable>
    /** Its key or token was shown again, just now. */
    readonly stepUp: (session: Session.Session) => Effect.Effect<Session.Session, Session.SessionMoved | StoreUnavailable>
    /** When this answers, it opens nothing any more. */
    readonly end: (session: Session.Session) => Effect.Effect<void, StoreUnavailable>
  }
>()("@satrail/core/features/sessions/Sessions") {}

/** The place for a new session: the first that is free, or that of the session which would end first. */
const placeFor = (taken: ReadonlyArray<Session.Session>, nowMillis: number): Session.Session | undefined =>
  taken.find((session) => !Session.isOpen(session, nowMillis)) ??
  taken.toSorted((one, other) => one.expiresAtMillis - other.expiresAtMillis)[0]

export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const nouns = yield* NounReads
  const entropy = yield* Entropy
  const { noun } = Session

  /** The slots in their order, until one is free or was never used. */
  const takenBy = Effect.fnUntraced(function* (holderId: string, nowMillis: number) {
    const taken: Array<Session.Session> = []
    for (let slot = 0; slot < Session.slots; slot++) {
      const found = yield* nouns.named(noun, { holderId, slot })
      if (Option.isNone(found)) return { taken, unused: slot }
      taken.push(found.value)
      if (!Session.isOpen(found.value, nowMillis)) break
    }
    return { taken, unused: undefined }
  })

  const beginOnce = Effect.fnUntraced(function* (asking: Asking, bound: string) {
    const nowMillis = yield* Clock.currentTimeMillis
    const { taken, unused } = yield* takenBy(asking.holderId, nowMillis)
    const place = unused === undefined ? placeFor(taken, nowMillis) : undefined
    const slot = place?.slot ?? unused ?? 0
    const text = Session.generate({ ...asking, slot }, entropy)
    const next = { secretHash: Session.hashOf(Redacted.value(text), bound), expiresAtMillis: nowMillis + Session.lifeMillis }
    if (place !== undefined) {
      yield* journal.commit(Session.begunAgain(place, next, nowMillis))
      return { session: { ...place, ...next, steppedUpAtMillis: null, endedAtMillis: null }, text }
    }
    const session: Session.Session = {
      id: Id.fromMillis(nowMillis, entropy),
      ...asking,
      slot,
      ...next,
      createdAtMillis: nowMillis,
      steppedUpAtMillis: null,
      endedAtMillis: null
    }
    yield* journal.commit(Session.begun(session))
    return { session, text }
  })

  return Sessions.of({
    // Somebody else may take the same slot at the same time: then there is another.
    begin: (asking, bound = "") =>
      Effect.retry(beginOnce(asking, bound), {
        times: attempts,
        while: ({ _tag }) => _tag === "Conflict" || _tag === "SessionMoved"
      }),
    check: Effect.fnUntraced(function* (text, bound = "") {
      const place = Session.placeOf(text)
      if (place === undefined) return Option.none()
      const found = yield* nouns.named(noun, { holderId: place.holderId, slot: place.slot })
      const nowMillis = yield* Clock.currentTimeMillis
      const hash = Session.hashOf(text, bound)
      return Option.filter(found, (session) => ApiKey.isSame(hash, session.secretHash) && Session.isOpen(session, nowMillis))
    }),
    stepUp: Effect.fnUntraced(function* (session) {
      const atMillis = yield* Clock.currentTimeMillis
      yield* journal.commit(Session.steppedUp(session, atMillis))
      return { ...session, steppedUpAtMillis: atMillis }
    }),
    end: Effect.fnUntraced(function* (session) {
      yield* journal.commit(Session.ended(session, yield* Clock.currentTimeMillis))
    })
  })
})

export const layer = Layer.effect(Sessions, make)
