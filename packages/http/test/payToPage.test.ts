import { afterAll, assert, describe, it } from "@effect/vitest"
import { start } from "./Service.ts"

const service = await start()
afterAll(service.dispose)
const { key } = await service.company()
const address = await service.lightningAddress(key, "alice")
assert.strictEqual(address, "alice@pay.example.com")

const ask = (method: string, path: string, body?: string) =>
  service.handler(
    new Request(`http://service${path}`, {
      method,
      headers: { host: "pay.example.com", ...(body !== undefined && { "content-type": "application/x-www-form-urlencoded" }) },
      ...(body !== undefined && { body })
    })
  )
const stateAt = async (path: string) => JSON.parse(await (await ask("GET", `${path}/state`)).text())
/** Asks for an invoice, and answers where it is. */
const entered = async (sats: string): Promise<string> => {
  const answer = await ask("POST", "/pay/to/alice", `sats=${sats}`)
  assert.strictEqual(answer.status, 303)
  return new URL(answer.headers.get("location") ?? "", "http://service/pay/to/alice").pathname
}

describe("The page of a Lightning address", () => {
  it("pay to: an amount is entered, and there is an invoice for it, with a page of its own", async () => {
    const form = await (await ask("GET", "/pay/to/alice")).text()
    assert.include(form, "To alice@pay.example.com")
    assert.include(form, 'method="post"')
    const path = await entered("2100")
    const page = await ask("GET", path)
    const text = await page.text()
    assert.strictEqual(page.status, 200)
    for (const part of ["2,100 sats", "To alice@pay.example.com", "lnbcrt"]) assert.include(text, part)
    const state = await stateAt(path)
    assert.deepStrictEqual([state.status, state.asking.sats, state.asking.address], ["open", 2100, null])
    await service.sandbox((sandbox) => sandbox.pay({ paymentRequest: state.asking.invoice }))
    await service.work()
    const paid = await stateAt(path)
    assert.deepStrictEqual([paid.status, paid.receivedSats, paid.asking], ["paid", 2100, null])
    // What is paid loads itself no more.
    assert.notInclude(await (await ask("GET", path)).text(), "http-equiv")
  })

  it("pay to: what cannot be paid is said beside the field, and makes no invoice", async () => {
    for (const wrong of ["", "0", "-1", "1.5", "abc", "1e9", "9".repeat(15), "9".repeat(40), "<b>"]) {
      const answer = await ask("POST", "/pay/to/alice", `sats=${encodeURIComponent(wrong)}`)
      const text = await answer.text()
      assert.strictEqual(answer.status, 422, wrong)
      assert.include(text, 'aria-invalid="true"', wrong)
      assert.notInclude(text, "<b>")
    }
  })

  it("pay to: who is not here, and an invoice of another's, are not found", async () => {
    await service.lightningAddress(key, "bob")
    const path = await entered("1000")
    for (const other of [
      path.replace("alice", "bob"),
      path.replace("alice", "nobody"),
      `${path.slice(0, -1)}g`,
      "/pay/to/nobody",
      "/pay/to/%2e%2e"
    ])
      assert.strictEqual((await ask("GET", other)).status, 404, other)
    assert.strictEqual((await ask("GET", `${path.replace("alice", "bob")}/state`)).status, 404)
    assert.strictEqual((await ask("POST", "/pay/to/nobody", "sats=1000")).status, 404)
  })
})
