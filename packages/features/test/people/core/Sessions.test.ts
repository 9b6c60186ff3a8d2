import { assert, describe } from "@effect/vitest"
import { Context, Effect, Layer, Option, Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as SecretHash from "@satrail/core/base/SecretHash"
import * as Session from "../../../src/people/core/Session.ts"
import { layer, Sessions } from "../../../src/people/core/Sessions.ts"
import { signer, Signing } from "@satrail/core/ledger/Audit"
import { Journal } from "@satrail/core/ledger/Journal"
import { NounReads } from "@satrail/core/ledger/NounReads"
import { beginsAtMillis, company, scenario } from "../../../../core/test/World.ts"

const begin = Effect.fnUntraced(function* (holderId = "7Kq2mVx9TbZc", bound = "") {
  const { id } = yield* company()
  const { text, session } = yield* (yield* Sessions).begin({ holder: "key", holderId, companyId: id }, bound)
  return { text: Redacted.value(text), session }
})
const isOpen = (text: string, bound = "") =>
  Effect.map(
    Effect.flatMap(Sessions, ({ check }) => check(text, bound)),
    Option.isSome
  )

/** A signing key that the store does not have. */
const key = signer(Redacted.make("a secret outside the database"))

describe("A session", () => {
  scenario(
    "session: a row written by someone who has the database but not the service's key opens and steps up nothing",
    function* () {
      yield* Effect.gen(function* () {
        const reads = yield* NounReads
        const built = Effect.map(Layer.build(Layer.fresh(layer)), Context.get(Sessions))
        const sessions = yield* built
        const { id: companyId } = yield* company()
        const asking = { holder: "token", holderId: "3f6c", companyId } as const
        const { session, text } = yield* sessions.begin(asking)
        const isOpened = Effect.map(sessions.check(Redacted.value(text)), Option.isSome)
        assert.isTrue(yield* isOpened)
        const { commit } = yield* Journal
        const mine = Redacted.value(
          Session.generate({ ...asking, slot: 1 }, (size) => new Uint8Array(size).fill(7))
        )
        const forged = { ...session, id: companyId, slot: 1, steppedUpAtMillis: beginsAtMillis }
        yield* commit(Session.started(forged))
        // Every hash that can be computed from what the store and the browser have.
        for (const hash of [
          () => SecretHash.of(mine),
          () => SecretHash.of(`${mine} `),
          () => session.secretHash,
          (row: Session.Session) => Session.hashOf(Session.proofOf(mine, ""), row, undefined)
        ]) {
          const found = Option.getOrThrow(yield* reads.named(Session.noun, { holderId: "3f6c", slot: 1 }))
          const next = {
            ...found,
            expiresAtMillis: found.expiresAtMillis - 1,
            steppedUpAtMillis: null,
            endedAtMillis: null
          }
          yield* commit(Session.startedAgain(found, { ...next, secretHash: hash(next) }, beginsAtMillis))
          assert.isTrue(Option.isNone(yield* sessions.check(mine)), hash.toString())
        }
        // The owner of an open session changes what it grants.
        const others = [
          { expiresAtMillis: session.expiresAtMillis + 1 },
          { steppedUpAtMillis: beginsAtMillis },
          { holder: "root" },
          { companyId: CompanyId.operator }
        ] as const
        for (const other of others) {
          const altered: NounReads["Service"] = {
            ...reads,
            named: (noun, name) =>
              Effect.map(
                reads.named(noun, name),
                Option.map((row) => ({ ...row, ...other }))
              )
          }
          const { check } = yield* Effect.provideService(built, NounReads, altered)
          assert.isTrue(Option.isNone(yield* check(Redacted.value(text))), JSON.stringify(other))
        }
        yield* sessions.stepUp(session)
        assert.isTrue(yield* isOpened)
        yield* sessions.end(session)
        assert.isFalse(
          yield* isOpened,
          "a sign-out ends the session, although it was stepped up in the meantime"
        )
      }).pipe(Effect.provideService(Signing, key))
    }
  )

  scenario("session: none is open for more than 12 hours, whatever expiry is stored", function* () {
    const { session, text } = yield* begin()
    const year = 365 * 86_400_000
    assert.isTrue(Session.isOpen(session, beginsAtMillis))
    for (const expiresAtMillis of [beginsAtMillis + year, beginsAtMillis + Session.lifeMillis + 61_000])
      assert.isFalse(Session.isOpen({ ...session, expiresAtMillis }, beginsAtMillis))
    assert.isTrue(yield* isOpen(text))
  })

  scenario("session: a session stays open for 12 hours", function* () {
    const { text } = yield* begin()
    yield* TestClock.adjust(Session.lifeMillis - 1)
    assert.isTrue(yield* isOpen(text))
    yield* TestClock.adjust(1)
    assert.isFalse(yield* isOpen(text))
  })

  scenario("session: a session can be used only with the exact text that was issued for it", function* () {
    const { text, session } = yield* begin()
    const others = [
      Redacted.value(Session.generate(session, (size) => new Uint8Array(size).fill(1))),
      text.replace(/^k/, "r"),
      text.replace(".0.", ".1."),
      text.replace(".0.", ".99."),
      text.replace(session.holderId, "8Kq2mVx9TbZc"),
      `${text}1`,
      session.secretHash,
      ""
    ]
    for (const other of others) assert.isFalse(yield* isOpen(other), other)
    assert.isTrue(yield* isOpen(text))
  })

  scenario(
    "session: a session bound to a configured token is open only while that token is configured; the token is not stored",
    function* () {
      const { text, session } = yield* begin("root", "the configured token")
      assert.isTrue(yield* isOpen(text, "the configured token"))
      for (const other of ["another token", ""]) assert.isFalse(yield* isOpen(text, other))
      assert.notInclude(JSON.stringify(session), "configured")
    }
  )

  scenario(
    "session: a step-up is valid for 5 minutes, and only for its own session, not for the next one in the same slot",
    function* () {
      const { text, session } = yield* begin()
      const { check, stepUp, end } = yield* Sessions
      const until = Effect.fnUntraced(function* (of: string) {
        const found = Option.getOrThrow(yield* check(of))
        return Session.steppedUpUntil(
          found,
          yield* Effect.clockWith(({ currentTimeMillis }) => currentTimeMillis)
        )
      })
      assert.isNull(yield* until(text))
      yield* stepUp(session)
      yield* TestClock.adjust(Session.stepUpMillis - 1)
      assert.isNumber(yield* until(text))
      yield* TestClock.adjust(1)
      assert.isNull(yield* until(text))
      yield* stepUp(session)
      yield* end(session)
      const next = yield* begin()
      assert.strictEqual(next.session.slot, session.slot)
      assert.isNull(yield* until(next.text))
      // A step-up for the previous session does not affect the new one in its slot.
      const late = yield* Effect.flip(stepUp(session))
      assert.strictEqual(late._tag, "SessionMoved")
      yield* end(session)
      assert.isTrue(yield* isOpen(next.text))
    }
  )

  scenario(
    "session: a step-up does not count while the clock is earlier than the time of the step-up",
    function* () {
      const { session } = yield* begin()
      const steppedUp = { ...session, steppedUpAtMillis: 1_000_000 }
      assert.isNull(Session.steppedUpUntil(steppedUp, 999_999))
      assert.isNumber(Session.steppedUpUntil(steppedUp, 1_000_000))
    }
  )

  scenario("session: an ended session gives no access, and ending it again changes nothing", function* () {
    const { text, session } = yield* begin()
    const { end } = yield* Sessions
    yield* end(session)
    yield* end(session)
    assert.isFalse(yield* isOpen(text))
    yield* (yield* Journal).commit(Session.ended(session, session.createdAtMillis + 5))
  })

  scenario(
    "session: when all slots are taken, a new session replaces the one that would end first",
    function* () {
      const texts: Array<string> = []
      for (let i = 0; i < Session.slots + 2; i++) {
        texts.push((yield* begin()).text)
        yield* TestClock.adjust(1000)
      }
      const open = yield* Effect.forEach(texts, (text) => isOpen(text))
      assert.deepStrictEqual(open, [false, false, ...Array.from({ length: Session.slots }, () => true)])
    }
  )
})
