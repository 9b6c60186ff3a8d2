import { assert, it } from "@effect/vitest"

// Imported without its types, which would bring those of the DOM into the other tests.
const { adviceOf, badgeOf } = await import(
  new URL("../../src/console/operator/Waiting.ts", import.meta.url).href
)

it("console: a withdrawal that waits for a reason without a page is pending, not failed", () => {
  const visit = { stops: { sendingMillis: null }, say: { nowMillis: 0 }, to: (path: string) => path }
  const withdrawal = {
    kind: "withdrawal_of_another_feature",
    status: "pending",
    waits_for: "A second look",
    failure: null
  }
  assert.deepStrictEqual(badgeOf(withdrawal, visit, undefined), { tone: "warn", text: "Waiting" })
  assert.deepStrictEqual(adviceOf(withdrawal, visit, undefined), {
    first: "Wait. Do not pay it again.",
    next: ["It waits for: A second look."]
  })
  const failed = { ...withdrawal, kind: null, status: "failed" }
  assert.deepStrictEqual(badgeOf(failed, visit, undefined), { tone: "bad", text: "Failed, returned" })
})
