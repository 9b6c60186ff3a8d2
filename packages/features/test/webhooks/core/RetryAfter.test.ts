import { assert, it } from "@effect/vitest"
import { askedPauseMillis, maxRetryAfterMillis } from "../../../src/webhooks/core/Schedule.ts"

it("webhooks: a receiver cannot delay its events by more than a day, or by less than a second, with Retry-After", () => {
  const nowMillis = Date.UTC(2026, 0, 1)
  const asked = (retryAfter: string) => askedPauseMillis(503, retryAfter, nowMillis)
  assert.deepStrictEqual(
    [asked("999999999"), asked("Fri, 01 Jan 2027 00:00:00 GMT"), asked("60"), asked("0")],
    [maxRetryAfterMillis, maxRetryAfterMillis, 60_000, 1000]
  )
})
