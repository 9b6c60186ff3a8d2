import { assert, describe } from "@effect/vitest"
import { Effect, Option, Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as Session from "../src/features/sessions/Session.ts"
import { Sessions } from "../src/features/sessions/Sessions.ts"
import { Journal } from "../src/ledger/Journal.ts"
import { company, scenario } from "./World.ts"

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

describe("A session", () => {
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

  scenario("session: a step-up is valid for 5 minutes, and only for its own session, not for the next one in the same slot", function* () {
    const { text, session } = yield* begin()
    const { check, stepUp, end } = yield* Sessions
    const until = Effect.fnUntraced(function* (of: string) {
      const found = Option.getOrThrow(yield* check(of))
      return Session.steppedUpUntil(found, yield* Effect.clockWith(({ currentTimeMillis }) => currentTimeMillis))
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
  })

  scenario("session: a step-up does not count while the clock is earlier than the time of the step-up", function* () {
    const { session } = yield* begin()
    const steppedUp = { ...session, steppedUpAtMillis: 1_000_000 }
    assert.isNull(Session.steppedUpUntil(steppedUp, 999_999))
    assert.isNumber(Session.steppedUpUntil(steppedUp, 1_000_000))
  })

  scenario("session: an ended session gives no access, and ending it again changes nothing", function* () {
    const { text, session } = yield* begin()
    const { end } = yield* Sessions
    yield* end(session)
    yield* end(session)
    assert.isFalse(yield* isOpen(text))
    yield* (yield* Journal).commit(Session.ended(session, session.createdAtMillis + 5))
  })

  scenario("session: when all slots are taken, a new session replaces the one that would end first", function* () {
    const texts: Array<string> = []
    for (let i = 0; i < Session.slots + 2; i++) {
      texts.push((yield* begin()).text)
      yield* TestClock.adjust(1000)
    }
    const open = yield* Effect.forEach(texts, (text) => isOpen(text))
    assert.deepStrictEqual(open, [false, false, ...Array.from({ length: Session.slots }, () => true)])
  })
})
