import { afterAll, assert, describe, it } from "@effect/vitest"
import { Clock, Context, Effect, Layer } from "effect"
import { operatorToken, showing, start } from "./Service.ts"

// Withdrawals that wait, as the company and the operator see them.

const minute = 60_000
const intervalMillis = 60 * minute

let aheadMillis = 0
const clock = Effect.runSync(Clock.Clock)
/** A clock that the tests set forward. */
const later = showing(clock, () => clock.currentTimeMillisUnsafe() + aheadMillis)

const service = await start({
  http: { console: true },
  around: Layer.succeed(Clock.Clock, later),
  instead: Context.make(Clock.Clock, later),
  settings: { payoutWindowMillis: intervalMillis }
})
afterAll(service.dispose)
const { id: companyId, key } = await service.company()
await service.fund(key, 100_000)
const { destination: address } = await service.sandbox((sandbox) =>
  sandbox.destination({ type: "chain_address", amount: service.sats(20_000) })
)
// Confirm the payout at the start of a batching interval.
aheadMillis = intervalMillis - (Date.now() % intervalMillis)

const page = async (path: string): Promise<string> => {
  const cookie = await service.signIn(path.startsWith("operator/") ? operatorToken : key)
  return service.page(cookie, path)
}

const withdraw = async (): Promise<string> => {
  const { status, text, body } = await service.ask("POST", "/v1/bitcoin/withdraw/confirm", {
    key,
    body: { destination: address, amount: 20_000, currency: "sats" }
  })
  assert.strictEqual(status, 201, text)
  return body.data.id
}

const late = "A payout has waited to be broadcast"

describe("a withdrawal that waits", () => {
  it("console: a payout is late only after its batching interval", async () => {
    const id = await withdraw()
    aheadMillis += 15 * minute
    const waiting = (await service.ask("GET", "/operator/reconciliation", { key: operatorToken })).body.data
      .waiting.payout_without_coins
    assert.match(await page("operator/console"), />On time<\/span>.{0,80}>1 pending</s)
    assert.deepStrictEqual(
      waiting.oldest.map((one: { readonly id: string }) => one.id),
      [id]
    )
    assert.notInclude(await page("operator/console"), late)
    assert.notInclude(await page("operator/console/backlog"), "Not broadcast yet for")
    assert.notInclude(await page(`operator/console/withdrawals/${id}`), "Not broadcast yet for")
    aheadMillis += intervalMillis
    assert.include(await page("operator/console"), late)
    assert.include(await page("operator/console/backlog"), "Not broadcast yet for")
    assert.include(await page(`operator/console/withdrawals/${id}`), "Not broadcast yet for")
  })

  it("console: while sending is paused, no page says that unfreezing the company sends its withdrawals", async () => {
    const id = await withdraw()
    const operate = (path: string, body: object) =>
      service.ask("POST", `/operator${path}`, { key: operatorToken, body })
    assert.strictEqual(
      (await operate(`/companies/${companyId}/freeze`, { reason: "Key stolen", pending: "wait" })).status,
      200
    )
    const pages = [`operator/console/withdrawals/${id}`, `operator/console/companies/${companyId}/unfreeze`]
    for (const path of pages) assert.include(await page(path), "sent within seconds")
    assert.strictEqual((await operate("/pause", { what: "sending" })).status, 200)
    for (const path of pages) {
      const text = await page(path)
      assert.notInclude(text, "sent within seconds")
      assert.include(text, "Sending is also paused")
    }
    assert.include(await page(pages[0] ?? ""), "The withdrawal is sent once the company is unfrozen and you ")
    const paused = "If this payment has not been sent yet, it waits until the operator resumes sending."
    assert.include(await page(`console/payments/out/${id}`), paused)
    assert.strictEqual((await operate("/resume", { what: "sending" })).status, 200)
    assert.notInclude(await page(`console/payments/out/${id}`), paused)
  })
})
