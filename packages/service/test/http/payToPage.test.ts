import { afterAll, assert, describe, it } from "@effect/vitest"
import { words } from "@satrail/ui/checkout/Words"
import { start } from "../../../http/test/Service.ts"

const service = await start()
afterAll(service.dispose)
const { key } = await service.company()
const address = await service.lightningAddress(key, "alice")
assert.strictEqual(address, "alice@pay.example.com")

const ask = (method: string, path: string, body?: string, more: Readonly<Record<string, string>> = {}) =>
  service.handler(
    new Request(`http://service${path}`, {
      method,
      headers: {
        host: "pay.example.com",
        ...more,
        ...(body !== undefined && { "content-type": "application/x-www-form-urlencoded" })
      },
      ...(body !== undefined && { body })
    })
  )
const stateAt = async (path: string) => JSON.parse(await (await ask("GET", `${path}/state`)).text())
/** Requests an invoice and returns the path of its page. */
const entered = async (sats: string): Promise<string> => {
  const answer = await ask("POST", "/pay/to/alice", `amount=${sats}&unit=sats`)
  assert.strictEqual(answer.status, 303)
  return new URL(answer.headers.get("location") ?? "", "http://service/pay/to/alice").pathname
}

describe("the page of a Lightning address", () => {
  it("pay to: entering an amount creates an invoice with its own page", async () => {
    const form = await (await ask("GET", "/pay/to/alice")).text()
    assert.include(form, "alice@pay.example.com")
    assert.include(form, 'method="post"')
    const path = await entered("2100")
    const page = await ask("GET", path)
    const text = await page.text()
    assert.strictEqual(page.status, 200)
    for (const part of ["Pay 2,100 sats to alice@pay.example.com", "lnbcrt"]) assert.include(text, part)
    const state = await stateAt(path)
    assert.deepStrictEqual([state.status, state.asking.sats, state.asking.address], ["open", 2100, null])
    await service.sandbox((sandbox) => sandbox.pay({ paymentRequest: state.asking.invoice }))
    await service.work()
    const paid = await stateAt(path)
    assert.deepStrictEqual([paid.status, paid.receivedSats, paid.asking], ["paid", 2100, null])
    // A paid page no longer reloads.
    assert.notInclude(await (await ask("GET", path)).text(), "http-equiv")
  })

  it("pay to: a visitor can enter an amount in their own currency, even with a decimal comma, and add a message", async () => {
    const form = await (
      await ask("GET", "/pay/to/alice", undefined, { "accept-language": "de-AT,de;q=0.9" })
    ).text()
    for (const part of ['<html lang="de"', "EUR", "0,01\u00a0€"]) assert.include(form, part)
    assert.include(
      await (await ask("GET", "/pay/to/alice", undefined, { "accept-language": "ja-JP" })).text(),
      "JPY"
    )
    const paid = async (amount: string) => {
      const answer = await ask(
        "POST",
        "/pay/to/alice",
        `amount=${amount}&unit=fiat&currency=eur&message=For+the+maps`
      )
      assert.strictEqual(answer.status, 303, amount)
      const path = new URL(answer.headers.get("location") ?? "", "http://service/pay/to/alice").pathname
      return (await stateAt(path)).asking
    }
    const { sats, invoice } = await paid("10.50")
    assert.isAbove(sats, 0)
    assert.strictEqual((await paid("10,50")).sats, sats)
    await service.sandbox((sandbox) => sandbox.pay({ paymentRequest: invoice }))
    await service.work()
    const [{ id }] = (await service.ask("GET", "/v1/transactions?type=deposit&limit=1", { key })).body.data
    const payer = await service.ask("GET", `/v1/transactions/deposits/${id}/payer`, { key })
    assert.strictEqual(payer.body.data.comment, "For the maps")
    for (const [wrong, reason] of [
      ["0", "Enter an amount from €0.01 to "],
      ["-1", "Enter an amount from €0.01 to "],
      ["100,000,000.00", "Enter an amount from €0.01 to "],
      ["10.505", "The amount must be a multiple of €0.01. From €0.01 to "],
      ["1e3", "Enter a number, such as 1234.50, without a separator between thousands. From €0.01 to "],
      ["abc", "Enter a number, such as 1234.50, without a separator between thousands. From €0.01 to "]
    ] as const) {
      const answer = await ask(
        "POST",
        "/pay/to/alice",
        `amount=${encodeURIComponent(wrong)}&unit=fiat&currency=eur&message=%3Cb%3E`
      )
      assert.strictEqual(answer.status, 422, wrong)
      const text = await answer.text()
      assert.include(text.replaceAll(/<[^>]*>/g, ""), reason)
      assert.include(text, 'value="&lt;b')
    }
  })

  it("pay to: an amount is read as the page's language writes it, in the digits of any script", async () => {
    const pay = (amount: string, language: string, unit: "sats" | "eur" | "jpy") =>
      ask(
        "POST",
        `/pay/to/alice?lang=${language}`,
        new URLSearchParams({ amount, unit: unit === "sats" ? "sats" : "fiat", currency: unit }).toString()
      )
    const sats = async (...of: Parameters<typeof pay>) => {
      const answer = await pay(...of)
      assert.strictEqual(answer.status, 303, of.join(" "))
      return (
        await stateAt(new URL(answer.headers.get("location") ?? "", "http://service/pay/to/alice").pathname)
      ).asking.sats
    }
    for (const [language, amount] of [
      ["en", "2,100"],
      ["de", "2.100"],
      ["es", "2.100"],
      ["pt", "2.100"],
      ["fr", "2\u202f100"],
      ["ar", "٢٬١٠٠"],
      ["ar", "۲۱۰۰"],
      ["en", "२१००"],
      ["de", "২১০০"],
      ["fr", "２１００"],
      ["de", "2’100"]
    ] as const)
      assert.strictEqual(await sats(amount, language, "sats"), 2100, `${language} ${amount}`)
    const expected = await sats("12.50", "en", "eur")
    for (const [language, amount] of [
      ["de", "12,50"],
      ["en", "12,50"],
      ["ar", "١٢٫٥٠"],
      ["fr", "12,5"]
    ] as const)
      assert.strictEqual(await sats(amount, language, "eur"), expected, `${language} ${amount}`)
    for (const [amount, language, unit, reason, value] of [
      ["1,234", "de", "eur", "wrongNumber", "1234,50"],
      ["1,234", "de", "sats", "wrongNumber", "1234"],
      ["12,505", "fr", "eur", "wrongNumber", "1234,50"],
      ["0,505", "fr", "eur", "wrongDecimals", "0,01\u00a0€"],
      ["12.5", "en", "jpy", "wrongDecimals", "¥1"],
      ["12.5", "es", "sats", "wrongDecimals", "1 sat"],
      ["-٥", "ar", "sats", "wrong", "\u20661 sat\u2069"],
      ["٥ ريال", "ar", "eur", "wrongNumber", "\u20661234.50\u2069"]
    ] as const) {
      const answer = await pay(amount, language, unit)
      assert.strictEqual(answer.status, 422, amount)
      const [expected = ""] = words[language][reason].replace("{1}", value).split("{2}")
      assert.include((await answer.text()).replaceAll(/<[^>]*>/g, ""), expected, amount)
    }
  })

  it("pay to: an invalid amount is reported beside the field, and creates no invoice", async () => {
    for (const wrong of ["", "0", "-1", "1.5", "abc", "1e9", "9".repeat(15), "9".repeat(40), "<b>"]) {
      const answer = await ask("POST", "/pay/to/alice", `unit=sats&amount=${encodeURIComponent(wrong)}`)
      const text = await answer.text()
      assert.strictEqual(answer.status, 422, wrong)
      assert.include(text, 'aria-invalid="true"', wrong)
      assert.notInclude(text, "<b>")
    }
  })

  it("pay to: an unknown handle and another address's invoice return 404", async () => {
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
    assert.strictEqual((await ask("POST", "/pay/to/nobody", "unit=sats&amount=1000")).status, 404)
  })

  it("pay to: the form and the payment page say that the payment is a test, only if the Lightning network is simulated", async () => {
    for (const [simulated, isTest] of [
      [["the Lightning network"], true],
      [["exchange rates"], false]
    ] as const) {
      const other = await start({ http: { about: { simulated } } })
      try {
        await other.lightningAddress((await other.company()).key, "alice")
        const get = async (path: string) =>
          (await other.handler(new Request(`http://pay.example.com${path}`))).text()
        const posted = { method: "POST", body: new URLSearchParams({ amount: "1000", unit: "sats" }) }
        const { headers } = await other.handler(new Request("http://pay.example.com/pay/to/alice", posted))
        for (const path of ["/pay/to/alice", `/pay/to/${headers.get("location")}`])
          assert.strictEqual((await get(path)).includes("Test mode: no real money moves"), isTest, path)
      } finally {
        await other.dispose()
      }
    }
  })
})
