import { afterAll, assert, describe, it } from "@effect/vitest"
import * as Lnurl from "@satrail/bitcoin/Lnurl"
import * as Throttle from "@satrail/core/base/Throttle"
import * as Policy from "@satrail/core/service/Policy"
import { Result } from "effect"
import { start, stillTime } from "./Service.ts"
import { get, type Json, refusal, Refused } from "./Wallet.ts"

// Tests each sentence of LUD-03 that concerns a service.

const service = await start({
  settings: { lnurl: { ...Policy.defaults.lnurl, perCaller: Throttle.perMinute(1000) } }
})
afterAll(service.dispose)
const { key } = await service.company()
await service.fund(key, 1_000_000)

const create = async (more: Readonly<Record<string, unknown>> = {}) => {
  const answer = await service.ask("POST", "/v1/vouchers", {
    key,
    body: { amount: 1000, currency: "sats", description: "A gift", ...more }
  })
  assert.strictEqual(answer.status, 201, answer.text)
  return answer.body.data
}
const read = async (id: string) => (await service.ask("GET", `/v1/vouchers/${id}`, { key })).body.data

/** The URL in a bech32 LNURL (LUD-01). */
const urlIn = (lnurl: string): string => Result.getOrThrow(Lnurl.decode(lnurl)).url
const text = (value: unknown): string =>
  typeof value === "string" ? value : assert.fail(`no text: ${String(value)}`)

/** The URL to which a wallet sends its invoice, built only from the response it received. */
const callback = (shown: Json, pr: string): string => {
  const url = text(shown["callback"])
  return `${url}${url.includes("?") ? "&" : "?"}k1=${text(shown["k1"])}&pr=${pr}`
}
const invoice = async (sats = 1000) => {
  const { destination, paymentHash = "" } = await service.sandbox((sandbox) =>
    sandbox.destination({ type: "lightning_invoice", amount: service.sats(sats) })
  )
  return { pr: destination, paymentHash }
}
const paidSats = async (paymentHash: string) => {
  const payments = await service.sandbox((sandbox) => sandbox.payments)
  return Number(payments.find((one) => one.paymentHash === paymentHash)?.received ?? 0n) / 1000
}
const balance = async () => (await service.ask("GET", "/v1/transactions/balance", { key })).body.data.balance

describe("LUD-03: the link", () => {
  it("LUD-03: the link is given as a bech32 LNURL and as a lnurlw: link, both with the same URL (LUD-17)", async () => {
    const { lnurl, lnurlw } = await create()
    assert.match(lnurl, /^lnurl1/)
    assert.match(urlIn(lnurl), /^https:\/\/pay\.example\.com\/lnurlw\?k1=[0-9a-f]{64}$/)
    assert.strictEqual(lnurlw.replace(/^lnurlw:/, "https:"), urlIn(lnurl))
  })

  it("LUD-03: the link appears only in the response that created the voucher", async () => {
    const { id, lnurl, lnurlw, ...rest } = await create()
    assert.deepStrictEqual(await read(id), { id, ...rest })
    const { body } = await service.ask("GET", "/v1/vouchers", { key })
    assert.deepStrictEqual(body.data[0], { id, ...rest })
    const [, k1 = ""] = lnurlw.split("k1=")
    for (const [where, said] of [
      ["the list", JSON.stringify(body)],
      ["the log", service.logged.join()]
    ] as const)
      assert.notInclude(said, k1, where)
    assert.notInclude(JSON.stringify(body), lnurl)
  })
})

describe("LUD-03: the first response", () => {
  it("LUD-03: the first response has tag, callback, k1, defaultDescription, minWithdrawable and maxWithdrawable, with the right types", async () => {
    const url = urlIn((await create()).lnurl)
    assert.deepStrictEqual(await get(service, url), {
      tag: "withdrawRequest",
      callback: "https://pay.example.com/lnurlw/callback",
      k1: new URL(url).searchParams.get("k1"),
      defaultDescription: "A gift",
      minWithdrawable: 1_000_000,
      maxWithdrawable: 1_000_000
    })
  })

  it("LUD-03: the first response is the same every time, and requesting it changes nothing", async () => {
    const { id, lnurl } = await create()
    const first = await get(service, urlIn(lnurl))
    for (let i = 0; i < 3; i++) assert.deepStrictEqual(await get(service, urlIn(lnurl)), first)
    assert.strictEqual((await read(id)).status, "open")
  })

  it("LUD-03: a web page may also request the first response", async () => {
    const { pathname, search } = new URL(urlIn((await create()).lnurl))
    for (const path of [
      `${pathname}${search}`,
      "/lnurlw",
      "/lnurlw/callback",
      "/lnurlw/callback?k1=00&pr=x"
    ]) {
      const { status, headers } = await service.ask("GET", path, {
        headers: { origin: "https://wallet.example" }
      })
      assert.deepStrictEqual([status, headers.get("access-control-allow-origin")], [200, "*"], path)
      assert.match(headers.get("content-type") ?? "", /^application\/json/)
    }
  })
})

describe("LUD-03: the callback", () => {
  it("LUD-03: the callback returns OK, and the invoice is paid afterwards", async () => {
    const before = await balance()
    const { id, lnurl, fee_sats } = await create()
    const { pr, paymentHash } = await invoice()
    assert.strictEqual(await balance(), before - 1012)
    assert.strictEqual(fee_sats, 12)
    assert.deepStrictEqual(await get(service, callback(await get(service, urlIn(lnurl)), pr)), {
      status: "OK"
    })
    assert.strictEqual(await paidSats(paymentHash), 0)
    await service.work()
    assert.strictEqual(await paidSats(paymentHash), 1000)
    const { status, withdrawal_id, ledger_tx_id } = await read(id)
    assert.strictEqual(status, "claimed")
    const withdrawal = await service.ask("GET", `/v1/transactions/withdrawals/${withdrawal_id}`, { key })
    assert.deepStrictEqual(
      [withdrawal.body.data.status, withdrawal.body.data.ledger_tx_id],
      ["settled", ledger_tx_id]
    )
    assert.strictEqual(await balance(), before - 1012)
  })

  it("LUD-03: if fifty wallets claim concurrently, one is paid and the others get an LNURL error", async () => {
    const before = await balance()
    const { id, lnurl } = await create()
    const shown = await get(service, urlIn(lnurl))
    const invoices = await Promise.all(Array.from({ length: 50 }, () => invoice()))
    const answers = await Promise.all(
      invoices.map(({ pr }) =>
        get(service, callback(shown, pr)).then(
          ({ status }) => status,
          (error: unknown) => (error instanceof Refused ? error.message : Promise.reject(error))
        )
      )
    )
    assert.deepStrictEqual(answers.toSorted(), [
      "OK",
      ...Array.from({ length: 49 }, () => "This voucher was already claimed")
    ])
    await service.work()
    const paid = await Promise.all(invoices.map(({ paymentHash }) => paidSats(paymentHash)))
    assert.strictEqual(
      paid.reduce((sum, sats) => sum + sats, 0),
      1000
    )
    assert.strictEqual(paid[answers.indexOf("OK")], 1000)
    assert.strictEqual((await read(id)).status, "claimed")
    assert.strictEqual(await balance(), before - 1012)
  })

  it("LUD-03: an invoice for another amount is rejected, the error states the right amount, and the voucher stays open", async () => {
    const { id, lnurl } = await create()
    const shown = await get(service, urlIn(lnurl))
    assert.strictEqual(
      await refusal(get(service, callback(shown, (await invoice(999)).pr))),
      "pr must be a Lightning invoice for exactly 1000000 millisatoshis"
    )
    for (const pr of ["", "x", "lnbcrt1", "a@wallet.example", "%00"])
      assert.isNotEmpty(await refusal(get(service, callback(shown, pr))), pr)
    assert.strictEqual((await read(id)).status, "open")
  })

  it("LUD-03: a repeated parameter is rejected, and the voucher stays open", async () => {
    const { id, lnurl } = await create()
    const { pr } = await invoice()
    const [offer, claim] = [urlIn(lnurl), callback(await get(service, urlIn(lnurl)), pr)]
    for (const [url, name] of [
      [offer, "k1"],
      [claim, "k1"],
      [claim, "pr"]
    ])
      assert.strictEqual(await refusal(get(service, `${url}&${name}=`)), `${name} must be sent only once`)
    assert.strictEqual((await read(id)).status, "open")
  })

  it("LUD-03: an unknown k1 is rejected", async () => {
    const { pr } = await invoice()
    for (const k1 of ["", "00".repeat(32), "x", "%00"])
      assert.strictEqual(
        await refusal(get(service, `https://pay.example.com/lnurlw/callback?k1=${k1}&pr=${pr}`)),
        "No such voucher"
      )
  })
})

describe("LUD-03: a voucher that is no longer open", () => {
  it("LUD-03: the first request and the callback both reject a claimed or canceled voucher", async () => {
    const [claimed, canceled] = [await create(), await create()]
    const [one, other] = [await get(service, urlIn(claimed.lnurl)), await get(service, urlIn(canceled.lnurl))]
    await get(service, callback(one, (await invoice()).pr))
    const before = await balance()
    const deleted = await service.ask("POST", `/v1/vouchers/${canceled.id}/cancel`, { key })
    assert.deepStrictEqual([deleted.status, deleted.body.data.status], [200, "canceled"])
    assert.strictEqual(await balance(), before + 1012)
    for (const [shown, lnurl, reason] of [
      [one, claimed.lnurl, "This voucher was already claimed"],
      [other, canceled.lnurl, "This voucher was canceled"]
    ] as const) {
      assert.strictEqual(await refusal(get(service, urlIn(lnurl))), reason)
      assert.strictEqual(await refusal(get(service, callback(shown, (await invoice()).pr))), reason)
    }
    const late = await service.ask("POST", `/v1/vouchers/${claimed.id}/cancel`, { key })
    assert.deepStrictEqual([late.status, late.body.error?.code], [409, "voucher_not_open"])
  })
})

describe("LUD-03: a wallet above the rate limit", () => {
  it("LUD-03: a wallet above the rate limit gets an LNURL error, and the voucher stays open", async () => {
    const strict = await start({ http: { proxies: 1 }, around: stillTime })
    const caller = async (from: string) => {
      const { text } = await strict.ask("GET", "/lnurlw/callback?k1=00&pr=x", {
        headers: { "x-forwarded-for": from }
      })
      return JSON.parse(text).reason
    }
    for (let i = 0; i < 60; i++) assert.strictEqual(await caller("203.0.113.1"), "No such voucher")
    assert.strictEqual(await caller("203.0.113.1"), "Too many claims. Try again in a moment")
    assert.strictEqual(await caller("203.0.113.2"), "No such voucher")
    await strict.dispose()
  })
})
