import { afterAll, assert, describe, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import { parse } from "csv-parse/sync"
import { Effect } from "effect"
import { operatorToken, start } from "./Service.ts"

// A browser checks the amount in a form, but other clients send any text.

const service = await start({ http: { console: true } })
afterAll(service.dispose)
const { key } = await service.company()
const cookie = await service.signIn(key)
const page = (path: string) => service.page(cookie, `console/${path}`)

const submit = (path: string, fields: Readonly<Record<string, string>>) => {
  const headers = { cookie, "sec-fetch-site": "same-origin", origin: "http://service" }
  const body = new URLSearchParams({ once: JSON.stringify(fields), ...fields })
  return service.handler(new Request(`http://service/console/${path}`, { method: "POST", headers, body }))
}

describe("an amount in a form of the console", () => {
  it("console: an amount that is not a number is rejected, and does not create an invoice without an amount", async () => {
    const create = (amount: string) => submit("invoices/new", { amount, currency: "sats" })
    const count = async () =>
      (await service.ask("GET", "/v1/bitcoin/deposit/lightning-invoice", { key })).body.data.length
    assert.strictEqual((await create("21")).status, 303)
    for (const amount of ["abc", "1e3x", "1,23,45", "1 €"])
      assert.include(
        await (await create(amount)).text(),
        `Enter a number, such as 1500 or 12.50 (got ${amount})`
      )
    assert.include(
      await (await create("1,2345")).text(),
      "Enter the number without a separator between thousands, such as 1500 or 12.50 (got 1,2345)"
    )
    for (const amount of ["1,5", "-21", "−٢١"]) assert.strictEqual((await create(amount)).status, 200, amount)
    assert.strictEqual(await count(), 1)
    // `Number` makes it Infinity.
    assert.strictEqual(
      (await submit("offers/new", { amount: "9".repeat(309), currency: "sats", once: "1" })).status,
      200
    )
  })

  it("console: an amount can be typed in the digits of any script, with the separators of any language", async () => {
    const asked = async (amount: string, currency: string) => {
      assert.strictEqual(
        (
          await submit("invoices/new", {
            amount,
            currency,
            once: encodeURIComponent(`${amount} ${currency}`)
          })
        ).status,
        303,
        amount
      )
      const [newest] = (await service.ask("GET", "/v1/bitcoin/deposit/lightning-invoice?limit=1", { key }))
        .body.data
      return newest.amount_sats
    }
    for (const amount of ["1,234", "1 234", "1’234", "1\u202f234", "١٬٢٣٤", "१२३४", "１，２３４"])
      assert.strictEqual(await asked(amount, "sats"), 1234, amount)
    const euros = await asked("12.50", "eur")
    for (const amount of ["12,50", "12,5", "١٢٫٥٠", "১২.৫০"])
      assert.strictEqual(await asked(amount, "eur"), euros, amount)
    for (const path of ["invoices/new", "send", "vouchers/new", "checkouts/new"])
      assert.notInclude(await page(path), "pattern=", path)
  })

  it("console: a refused payment shows the limit and the amounts of the error, and the balance it needs", async () => {
    const company = await service.company()
    await service.fund(company.key, 20_000)
    const own = await service.signIn(company.key)
    const destination = await service.lightningAddress((await service.company()).key, "limited")
    const send = async (amount: string) => {
      const headers = { cookie: own, "sec-fetch-site": "same-origin", origin: "http://service" }
      const body = new URLSearchParams({
        once: amount,
        destination,
        amount,
        currency: "sats",
        max_fee_sats: "1000",
        credential: company.key
      })
      return (
        await service.handler(new Request("http://service/console/send", { method: "POST", headers, body }))
      ).text()
    }
    assert.match(
      await send("50000"),
      /The balance is too low: the amount plus fee is 50,[\d,.]+ sats, and the available balance is [\d,]+ sats\./
    )
    await service.ask("PATCH", `/operator/companies/${company.id}/limits`, {
      key: operatorToken,
      body: { day_sats: 1500 }
    })
    assert.match(await send("2000"), /limit “24 hours, sats”\. It allows 1,500 sats, including fees\./)
  })

  it("console: Max shows the largest amount that the balance covers with its fee, and sends this amount", async () => {
    const company = await service.company()
    await service.fund(company.key, 20_000)
    const destination = await service.lightningAddress((await service.company()).key, "emptied")
    const headers = {
      cookie: await service.signIn(company.key),
      "sec-fetch-site": "same-origin",
      origin: "http://service"
    }
    const send = async (more: Readonly<Record<string, string>>) =>
      service.handler(
        new Request("http://service/console/send", {
          method: "POST",
          headers,
          body: new URLSearchParams({ once: "max", destination, reference: "", ...more })
        })
      )
    const page = await (await send({ amount: "", currency: "usd", max: "yes" })).text()
    assert.include(page, "Send 20,000 sats")
    const kept = [...page.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)].map(
      ([, name = "", value = ""]): [string, string] => [name, value]
    )
    await send({ ...Object.fromEntries(kept), credential: company.key })
    const { body } = await service.ask("GET", "/v1/transactions/balance", { key: company.key })
    assert.strictEqual(body.data.balance, 0)
  })

  it("console: an amount in an operator's form may group its thousands with commas, and a comma elsewhere is an error", async () => {
    const headers = {
      cookie: await service.signIn(operatorToken),
      "sec-fetch-site": "same-origin",
      origin: "http://service"
    }
    const { id } = await service.company()
    const limit = async (day_sats: string) => {
      const body = new URLSearchParams({ do: "limits", day_sats, credential: operatorToken })
      const answer = await service.handler(
        new Request(`http://service/operator/console/companies/${id}/terms`, {
          method: "POST",
          headers,
          body
        })
      )
      const now = (await service.ask("GET", `/operator/companies/${id}/limits`, { key: operatorToken })).body
        .data.limits
      return [answer.status, now?.day_sats]
    }
    assert.deepStrictEqual(await limit("1,234,567"), [303, 1_234_567])
    for (const text of ["1500,5", "1,5", "1,23,45", "1.5.0", "x"])
      assert.deepStrictEqual(await limit(text), [200, 1_234_567], text)
    assert.deepStrictEqual(await limit("2 000"), [303, 2000])
  })

  it("console: a refund form shows sats and fiat, and refunds an amount in either, but nothing without a valid amount", async () => {
    await service.fund(key, 200_000)
    const body = { amount: 42.5, currency: "eur", order_id: "1042" }
    const checkout = (await service.ask("POST", "/v1/checkouts", { key, body })).body.data
    await service.sandbox((sandbox) => sandbox.pay({ paymentRequest: checkout.payment_request }))
    await service.work()
    const [deposit] = (await service.ask("GET", "/v1/transactions?type=deposit&limit=1", { key })).body.data
    const path = `payments/in/${deposit.id}/refund`
    const shown = await page(path)
    const sats = Number(deposit.amount_sats)
    assert.include(shown, "Refund order 1042")
    assert.include(shown, `${sats.toLocaleString("en")} sats · €42.50 when it was booked · €42.50 now`)
    const refunds = async () =>
      (await service.ask("GET", "/v1/refunds", { key })).body.data.map(
        (row: { readonly amount_sats: number }) => row.amount_sats
      )
    for (const [amount, said] of [
      ["", "Enter the amount to refund"],
      ["abc", "Enter a number, such as 1500 or 12.50 (got abc)"]
    ] as const)
      assert.include(await (await submit(path, { amount, currency: "sats", credential: key })).text(), said)
    assert.deepStrictEqual(await refunds(), [])
    await submit(path, { amount: "4.25", currency: "eur", credential: key })
    await submit(path, { amount: "1000", currency: "sats", credential: key })
    assert.deepStrictEqual(await refunds(), [1000, Math.round(sats / 10)])
  })

  it("console: the page of a payment links to its checkout, and says if that was overpaid or only partly paid", async () => {
    const told = async (due: number, sent: number) => {
      const create = await service.ask("POST", "/v1/checkouts", {
        key,
        body: { amount: due, currency: "sats" }
      })
      const { id, address } = create.body.data
      await service.sandbox((sandbox) =>
        Effect.andThen(sandbox.send({ address, amount: Msat.fromSats(sent) }), sandbox.mine(6))
      )
      await service.work()
      const [deposit] = (await service.ask("GET", `/v1/checkouts/${id}`, { key })).body.data.deposit_ids
      const [, fact = ""] =
        /<dt>Checkout<\/dt><dd>(.*?)<\/dd>/s.exec(await page(`payments/in/${deposit}`)) ?? []
      assert.include(fact, `checkouts/${id}"`)
      return /class="st [^>]*>([^<]*)</.exec(fact)?.[1]
    }
    assert.deepStrictEqual(
      [await told(1000, 600), await told(1000, 1500), await told(1000, 1000)],
      ["Partly paid", "Overpaid", undefined]
    )
  })

  it("console: a payout whose transaction is not in a block yet says that it waits for one", async () => {
    await service.fund(key, 200_000)
    const { destination } = await service.sandbox((sandbox) => sandbox.destination({ type: "chain_address" }))
    const body = { amount: 20_000, currency: "sats", destination }
    const { id } = (await service.ask("POST", "/v1/bitcoin/withdraw/confirm", { key, body })).body.data
    const isWaiting = async () => (await page(`payments/out/${id}`)).includes("Waiting for a block")
    assert.isFalse(await isWaiting())
    await service.work()
    assert.isTrue(await isWaiting())
    await service.mine()
    await service.work()
    assert.isFalse(await isWaiting())
  })

  it("console: an amount is shown in the currency in which it was priced, with its rate and the source of the rate", async () => {
    await service.fund(key, 200_000)
    const { destination } = await service.sandbox((sandbox) =>
      sandbox.destination({ type: "lightning_address" })
    )
    const body = { amount: 1.5, currency: "usd", destination }
    const sent = await service.ask("POST", "/v1/bitcoin/withdraw/confirm", { key, body })
    assert.strictEqual(sent.status, 201, sent.text)
    await service.work()
    const { id } = sent.body.data
    const shown = await page(`payments/out/${id}`)
    assert.match(shown, /Priced at<\/dt><dd[^>]*>\$1\.50<span[^>]*>1 BTC = \$50,000\.00, .*?, simulated</)
    assert.include(shown, "<p>$1.50 when it was booked</p>")
    assert.include(await page("payments"), "$1.50<")
    assert.include(await page(`payments/out/${id}/proof`), "$1.50")
  })

  it("console: sums add up to the thousandth of a sat in statements, in the list of payments and on the overview", async () => {
    const { key } = await service.company()
    const cookie = await service.signIn(key)
    const page = (path: string) => service.page(cookie, `console${path}`)
    await service.fund(key, 10_000)
    const { destination } = await service.sandbox((sandbox) =>
      sandbox.destination({ type: "lightning_address" })
    )
    const body = { amount: 1001, currency: "sats", destination }
    const { fee_sats: fee } = (await service.ask("POST", "/v1/bitcoin/withdraw/confirm", { key, body })).body
      .data
    await service.work()
    assert.notStrictEqual(fee, Math.trunc(fee))
    const shown = (sats: number) => sats.toLocaleString("en")
    const statements = await page("/statements")
    const figures = [...statements.matchAll(/class="[^"]*amount[^"]*"[^>]*>([\d,.]+)</g)].map(
      ([, figure]) => figure
    )
    assert.deepStrictEqual(figures.slice(0, 5), ["0", "10,000", "1,001", shown(fee), shown(8999 - fee)])
    const sums = [
      ...(await page("/payments")).matchAll(/<dt>(?:In|Out|Fees|Change)<\/dt><dd><b>([^<]*)</g)
    ].map(([, sum]) => sum)
    assert.deepStrictEqual(sums, ["10,000", "1,001", shown(fee), `+${shown(8999 - fee)}`])
    const overview = await page("")
    assert.include(overview, `>+${shown(8999 - fee)} <`)
    assert.include(overview, `in 10,000 · out ${shown(1001 + fee)}<`)
  })

  it("console: exported payments have signed amounts and fees, and their totals add up to the change that the list shows", async () => {
    const { key } = await service.company()
    const cookie = await service.signIn(key)
    await service.fund(key, 10_000)
    const send = async (destination: string) =>
      (
        await service.ask("POST", "/v1/bitcoin/withdraw/confirm", {
          key,
          body: { amount: 1001, currency: "sats", destination }
        })
      ).body.data
    const destination = (behaviour?: "fail") =>
      service.sandbox((sandbox) =>
        sandbox.destination({ type: "lightning_invoice", amount: Msat.fromSats(1001), behaviour })
      )
    const { fee_sats: fee } = await send((await destination()).destination)
    await send((await destination("fail")).destination)
    await service.work()
    const { destination: waiting } = await destination()
    await send(waiting)
    const csv = await service.page(cookie, "console/payments/export")
    const rows: ReadonlyArray<Record<string, string>> = parse(csv, { columns: true })
    assert.deepStrictEqual(
      rows.map((row) => [row["type"], row["status"], row["amount_sats"], row["fee_sats"], row["total_sats"]]),
      [
        ["withdrawal", "pending", "-1001", String(-fee), "0"],
        ["withdrawal", "failed", "-1001", "0", "0"],
        ["withdrawal", "settled", "-1001", String(-fee), String(-1001 - fee)],
        ["deposit", "settled", "10000", "0", "10000"]
      ]
    )
    const [, change = ""] =
      /<dt>Change<\/dt><dd><b>\+([^<]*)</.exec(await service.page(cookie, "console/payments")) ?? []
    const total = rows.reduce((sum, { total_sats }) => sum + Number(total_sats), 0)
    assert.strictEqual(total.toLocaleString("en"), change)
  })

  it("console: exported metadata is what was stored, even if it has a formula after a separator", async () => {
    const { key } = await service.company()
    const metadata = { note: "a;=1+1", other: "b\n=1" }
    const made = await service.ask("POST", "/v1/bitcoin/deposit/lightning-invoice", {
      key,
      body: { amount: 1, currency: "sats", metadata }
    })
    await service.sandbox((sandbox) => sandbox.pay({ paymentRequest: made.body.data.payment_request }))
    await service.work()
    const csv = await service.page(await service.signIn(key), "console/payments/export")
    assert.notInclude(csv, ";=")
    const [row]: ReadonlyArray<Record<string, string>> = parse(csv, { columns: true })
    assert.deepStrictEqual(JSON.parse(row?.["metadata"] ?? ""), metadata)
  })

  it("console: a checkout paid with a tip is not shown as overpaid, and only a paid checkout's payment has a receipt; the export has the tip", async () => {
    const create = async () =>
      (
        await service.ask("POST", "/v1/checkouts", {
          key,
          body: { amount: 1000, currency: "sats", options: ["tip"] }
        })
      ).body.data
    const [tipped, partly] = [await create(), await create()]
    const answer = { method: "POST", body: new URLSearchParams({ tip: "10" }) }
    await service.handler(new Request(`http://service${new URL(tipped.url).pathname}/answer`, answer))
    const paid = async (
      id: string,
      pay: (checkout: Record<"payment_request" | "address", string>) => Promise<unknown>
    ) => {
      const read = async () => (await service.ask("GET", `/v1/checkouts/${id}`, { key })).body.data
      await pay(await read())
      await service.work()
      const { status, deposit_ids } = await read()
      return [
        status,
        (await page(`checkouts/${id}`)).includes("Overpaid"),
        (await page(`payments/in/${deposit_ids[0]}`)).includes("/receipt")
      ]
    }
    const byLightning = await paid(tipped.id, ({ payment_request: paymentRequest }) =>
      service.sandbox((sandbox) => sandbox.pay({ paymentRequest }))
    )
    assert.deepStrictEqual(byLightning, ["paid", false, true])
    const rows = parse<Readonly<Record<string, string>>>(await page("checkouts/export"), { columns: true })
    const { received_sats, tip_sats } = rows.find(({ id }) => id === tipped.id) ?? {}
    assert.deepStrictEqual([received_sats, tip_sats], ["1100", "100"])
    const onChain = await paid(partly.id, ({ address }) =>
      service.sandbox((sandbox) =>
        Effect.andThen(sandbox.send({ address, amount: Msat.fromSats(600) }), sandbox.mine(6))
      )
    )
    assert.deepStrictEqual(onChain, ["underpaid", false, false])
  })
})
