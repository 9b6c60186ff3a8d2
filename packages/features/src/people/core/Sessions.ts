import { Clock, Context, Effect, Layer, Option, Redacted } from "effect"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import { Entropy } from "@satrail/core/base/Entropy"
import * as Id from "@satrail/core/base/Id"
import { Signing } from "@satrail/core/ledger/Audit"
import { type Conflict, Journal, type StoreUnavailable } from "@satrail/core/ledger/Journal"
import { NounReads } from "@satrail/core/ledger/NounReads"
import * as ApiKey from "@satrail/core/accounts/ApiKey"
import * as Session from "./Session.ts"

/** The holder of the new session: a key, token or person that was already verified. */
export interface Asking {
  readonly holder: Session.Holder
  readonly holderId: string
  readonly companyId: CompanyId.CompanyId
}

/** A new session. `text` is its secret, which is sent to the browser once. */
export interface Started {
  readonly session: Session.Opened
  readonly text: Redacted.Redacted
}

/**
 * Maximum number of retries for concurrent sign-ins into one slot. More conflicts mean that the store returns
 * wrong results.
 */
const attempts = 8

/**
 * Sign-in sessions. A session records its key, token or person, and whether the session is still open. The
 * caller must check separately that this holder is still valid. `bound` is a string that must be the same on
 * every use. It is stored only as part of the secret's hash. If the service has a signing key (`Audit.Signing`), the
 * hash is a MAC of everything that the session grants.
 */
export class Sessions extends Context.Service<
  Sessions,
  {
    /** Starts a session in a free slot, or replaces the session that would end first. */
    readonly begin: (
      asking: Asking,
      bound?: string
    ) => Effect.Effect<Started, Conflict | Session.SessionMoved | StoreUnavailable>
    /** Returns the open session with this secret. */
    readonly check: (
      text: string,
      bound?: string
    ) => Effect.Effect<Option.Option<Session.Opened>, StoreUnavailable>
    /** Records that the holder just confirmed their identity. */
    readonly stepUp: (
      session: Session.Opened
    ) => Effect.Effect<Session.Opened, Session.SessionMoved | StoreUnavailable>
    /** Ends the session, which is invalid once this returns. */
    readonly end: (session: Session.Session) => Effect.Effect<void, StoreUnavailable>
  }
>()("@satrail/features/people/core/Sessions") {}

/** Returns the slot for a new session: the first free one, or that of the session that would end first. */
const placeFor = (taken: ReadonlyArray<Session.Session>, nowMillis: number): Session.Session | undefined =>
  taken.find((session) => !Session.isOpen(session, nowMillis)) ??
  taken.toSorted((one, other) => one.expiresAtMillis - other.expiresAtMillis)[0]

export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const nouns = yield* NounReads
  const entropy = yield* Entropy
  const sign = yield* Signing
  const { noun } = Session

  /** Reads the slots in order until one is free or was never used. */
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
    const proof = Session.proofOf(Redacted.value(text), bound)
    // The expiry distinguishes the session from the previous one in its slot.
    const latestMillis = nowMillis + Session.lifeMillis
    const expiresAtMillis = place?.expiresAtMillis === latestMillis ? latestMillis - 1 : latestMillis
    const companyId = place?.companyId ?? asking.companyId
    const fresh = {
      ...asking,
      companyId,
      slot,
      expiresAtMillis,
      steppedUpAtMillis: null,
      endedAtMillis: null
    }
    const next = { ...fresh, secretHash: Session.hashOf(proof, fresh, sign) }
    if (place !== undefined) {
      yield* journal.commit(Session.startedAgain(place, next, nowMillis))
      return { session: { ...place, ...next, proof }, text }
    }
    const session: Session.Session = {
      id: Id.fromMillis(nowMillis, entropy),
      ...next,
      createdAtMillis: nowMillis
    }
    yield* journal.commit(Session.started(session))
    return { session: { ...session, proof }, text }
  })

  return Sessions.of({
    // If a concurrent sign-in takes the same slot, try again with another.
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
      const proof = Session.proofOf(text, bound)
      return Option.map(
        Option.filter(
          found,
          (session) =>
            ApiKey.isSame(Session.hashOf(proof, session, sign), session.secretHash) &&
            Session.isOpen(session, nowMillis)
        ),
        (session) => ({ ...session, proof })
      )
    }),
    stepUp: Effect.fnUntraced(function* (session) {
      const atMillis = yield* Clock.currentTimeMillis
      const stepped = { ...session, steppedUpAtMillis: atMillis }
      const secretHash = Session.hashOf(session.proof, stepped, sign)
      yield* journal.commit(Session.steppedUp(session, secretHash, atMillis))
      return { ...stepped, secretHash }
    }),
    end: Effect.fnUntraced(function* (session) {
      yield* journal.commit(Session.ended(session, yield* Clock.currentTimeMillis))
    })
  })
})

export const layer = Layer.effect(Sessions, make)
