import * as Bip21 from "@satrail/bitcoin/Bip21"
import * as Lnurl from "@satrail/bitcoin/Lnurl"
import * as Msat from "@satrail/bitcoin/Msat"
import { Refunds } from "../../../src/refunds/core/Refunds.ts"
import { afterAll, assert, describe, it } from "@effect/vitest"
import type * as Checkout from "../../../src/checkouts/core/Checkout.ts"
import { moment } from "@satrail/ui/checkout/Clock"
import { Checkouts } from "../../../src/checkouts/core/Checkouts.ts"
import * as Confirmations from "@satrail/core/receiving/Confirmations"
import { Effect, Result } from "effect"
import { gunzipSync } from "node:zlib"
import * as CheckoutPage from "../../../src/checkouts/http/CheckoutPage.ts"
import { stateOf } from "../../../src/checkouts/http/CheckoutState.ts"
import { operatorToken, start } from "../../../../http/test/Service.ts"

const service = await start()
afterAll(service.dispose)
const { key } = await service.company()

interface Made {
  readonly id: string
  readonly url: string
  readonly address: string
  readonly payment_request: string
  readonly company_id: string
  readonly invoice_id: string
}
const created = async (body: Readonly<Record<string, unknown>> = {}): Promise<Made> => {
  const answer = await service.ask("POST", "/v1/checkouts", {
    key,
    body: { amount: 21_000, currency: "sats", ...body }
  })
  assert.strictEqual(answer.status, 201, answer.text)
  return answer.body.data
}
const page = ({ url }: Pick<Made, "url">) => service.ask("GET", new URL(url).pathname)
const { mine } = service
const send = (address: string, sats: number) =>
  service.sandbox((sandbox) => sandbox.send({ address, amount: service.sats(sats) }))
const follow = (seconds = 0) => service.followCheckouts(seconds)
/** The page's text without tags. */
const said = (text: string): string =>
  text
    .replace(/ data-page="[^"]*"/, "")
    .replaceAll(/<[^>]*>/g, " ")
    .replaceAll(/\s+/g, " ")
/** The full content of each QR code on the page. */
const codes = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/<code[^>]*>(.*?)<\/code>/g)].map(([, code = ""]) => code.replaceAll(/<[^>]*>/g, ""))

describe("the checkout page", () => {
  it("page: the checkout page shows the amount due in one QR code for every wallet, and reloads without scripts", async () => {
    const made = await created({
      description: "Tea",
      order_id: "1042",
      cancel_url: "https://shop.example/cart"
    })
    const { status, headers, text } = await page(made)
    assert.deepStrictEqual([status, headers.get("content-type")], [200, "text/html; charset=utf-8"])
    assert.include(text, '<noscript><meta http-equiv="refresh" content="10"/></noscript>')
    for (const words of ["Tea", "Order 1042", "21,000 sats"]) assert.include(said(text), words)
    assert.includeMembers([...codes(text)], [made.payment_request, made.address])
    assert.include(text, 'href="https://shop.example/cart"')
    const shown = await service.run(
      Effect.flatMap(Checkouts, ({ open }) => open(new URL(made.url).pathname.slice("/pay/".length)))
    )
    const { asking } = stateOf(shown, { confirmations: null, payments: [], refunds: [] }, 0)
    const uri = Result.getOrThrow(Bip21.parse(asking?.uri ?? ""))
    assert.deepStrictEqual(uri, {
      addresses: [made.address],
      amount: service.sats(21_000),
      lightning: [made.payment_request],
      offers: []
    })
    assert.include(text, `href="${asking?.uri.replace("&", "&amp;")}"`)
  })

  it("page: a fiat amount is shown with the number of decimals of its currency", async () => {
    assert.include(said((await page(await created({ amount: 12.5, currency: "eur" }))).text), " €12.50 ")
    assert.include(
      said((await page(await created({ amount: 1250, currency: "jpy", locale: "de" }))).text),
      " 1.250 ¥ "
    )
  })

  it("page: the checkout page shows no internal ids or metadata, and cannot be cached or framed", async () => {
    const made = await created({ metadata: { customer: "someone in particular" } })
    const { headers, text } = await page(made)
    for (const secret of [made.id, made.company_id, made.invoice_id, "someone in particular"])
      assert.notInclude(text, secret)
    assert.deepStrictEqual(
      [headers.get("cache-control"), headers.get("referrer-policy")],
      ["no-store", "no-referrer"]
    )
    assert.strictEqual(
      headers.get("content-security-policy"),
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
    assert.notMatch(text.replace(/ data-page="[^"]*"/, ""), /<script>|<style|\sstyle=|\son\w+=/i)
    for (const [, file = ""] of text.matchAll(/(?:src|href)="\.\.\/(ui\/[^"]+)"/g))
      assert.strictEqual((await service.ask("GET", `/${file}`)).status, 200, file)
  })

  it("page: the checkout page says whether a payment is unconfirmed, too low or too high", async () => {
    const made = await created({ amount: 10_000, return_url: "https://shop.example/thanks" })
    await send(made.address, 6000)
    await service.work()
    const part = (await page(made)).text
    for (const words of ["6,000 sats seen, not confirmed yet", "4,000 sats still due"])
      assert.include(said(part), words)
    // The invoice is still for the full amount, so for a moment only the address is shown.
    assert.notInclude(part, made.payment_request)
    assert.include(part, `bitcoin:${made.address}?amount=0.00004000"`)
    assert.notInclude(part, "0.00010000")
    await follow()
    const again = (await page(made)).text
    assert.include(again, `bitcoin:${made.address}?amount=0.00004000&amp;lightning=`)
    assert.notInclude(again, made.payment_request)
    await mine()
    const missing = (await page(made)).text
    for (const words of ["4,000 sats still due", "6,000 sats of 10,000 sats received"])
      assert.include(said(missing), words)
    assert.include(missing, "amount=0.00004000&amp;lightning=")
    assert.notInclude(missing, made.payment_request)
    await send(made.address, 4001)
    const tolerant = await created({ amount: 10_000, tolerance_percent: 10 })
    await send(tolerant.address, 9000)
    await service.work()
    for (const sent of [made, tolerant]) {
      const seen = (await page(sent)).text
      assert.include(said(seen), "Payment seen, waiting for a block")
      assert.notInclude(seen, sent.address)
    }
    await mine()
    const { text } = await page(made)
    assert.include(said(text), "You sent 1 sat more than the price.")
    assert.include(text, 'href="https://shop.example/thanks"')
    assert.notInclude(text, made.address)
    // The seller may still refund the excess.
    assert.include(text, "http-equiv")
  })

  it("page: an excess or an amount due of less than a cent is shown in sats, not as €0.00", async () => {
    const [over, under] = [
      await created({ amount: 42.5, currency: "eur" }),
      await created({ amount: 42.5, currency: "eur" })
    ]
    const { amount_sats } = (await service.ask("GET", `/v1/checkouts/${over.id}`, { key })).body.data
    await send(over.address, amount_sats + 3)
    await send(under.address, amount_sats - 3)
    await mine()
    await follow()
    const [excess, rest] = [said((await page(over)).text), said((await page(under)).text)]
    assert.include(excess, "You sent 3 sats more than the price.")
    assert.include(rest, "3 sats still due")
    for (const text of [excess, rest]) assert.notInclude(text, "€0.00")
  })

  it("page: an amount due below the smallest credited on-chain payment is requested over Lightning alone", async () => {
    const least = Number(Msat.toSats(Confirmations.defaults.minDeposit))
    const made = await created({ amount: 10_000 })
    await send(made.address, 10_001 - least)
    await mine()
    await follow()
    const { payment_request } = (await service.ask("GET", `/v1/checkouts/${made.id}`, { key })).body.data
    const { text } = await page(made)
    assert.include(said(text), `${least - 1} sats still due`)
    assert.include(text, `href="lightning:${payment_request.toUpperCase()}"`)
    assert.include(said(text), "Scan with a Lightning wallet")
    assert.notInclude(text, made.address)
    for (const [amount, isOffered] of [
      [least - 1, false],
      [least, true]
    ] as const) {
      const small = await created({ amount })
      assert.strictEqual((await page(small)).text.includes(small.address), isOffered)
    }
  })

  it("page: an amount that costs more to spend than it is worth at the current fee rate is requested over Lightning alone", async () => {
    const costly = await start()
    await costly.sandbox((sandbox) => sandbox.setFeeRate(100))
    const { key } = await costly.company()
    const shows = async (amount: number) => {
      const { body } = await costly.ask("POST", "/v1/checkouts", { key, body: { amount, currency: "sats" } })
      return (await costly.ask("GET", new URL(body.data.url).pathname)).text.includes(body.data.address)
    }
    // The coin takes 68 vB to spend.
    assert.deepStrictEqual([await shows(6799), await shows(6800)], [false, true])
    await costly.dispose()
  })

  it("page: while a part is unconfirmed and too little is missing to be paid on-chain, the page asks for nothing yet", async () => {
    const made = await created({ amount: 10_000 })
    await send(made.address, 9900)
    await service.work()
    const { text } = await page(made)
    for (const words of ["Payment seen, waiting for a block", "100 sats still due"])
      assert.include(said(text), words)
    assert.notInclude(said(text), "There is nothing more to do")
    for (const code of [made.address, made.payment_request]) assert.notInclude(text, code)
    await mine()
    await follow()
    const rest = (await page(made)).text
    assert.include(said(rest), "100 sats still due")
    assert.include(rest, 'href="lightning:')
  })

  const post = (path: string, body = "") =>
    service.handler(
      new Request(`http://service${path}`, {
        method: "POST",
        body,
        headers: { "content-type": "application/x-www-form-urlencoded" }
      })
    )

  it("page: an expired checkout cannot be canceled, and offers a new quote if the seller allows one", async () => {
    const cancel_url = "https://shop.example/cart"
    const [plain, made] = [
      await created({ expiry_seconds: 60, cancel_url }),
      await created({ expiry_seconds: 60, cancel_url, options: ["new_quote"], amount: 12.5, currency: "eur" })
    ]
    const { pathname } = new URL(made.url)
    const early = await post(`${pathname}/renew?lang=de`)
    assert.deepStrictEqual(
      [early.status, early.headers.get("location")],
      [303, `..${pathname.slice("/pay".length)}?lang=de`]
    )
    await follow(61)
    assert.notInclude((await page(plain)).text, "/renew")
    const { text } = await page(made)
    // With the date, because the link may be opened days later.
    assert.match(said(text), /held until \d+ \w+ \d{4} at \d\d:\d\d UTC/)
    assert.include(
      said(text),
      "Get a new quote Back to shop Already paid? A late payment also appears on this page."
    )
    // The quote for this many satoshis is over.
    assert.notInclude(said(text), "sats")
    assert.include(text, `<form class="form" method="post" action="${pathname.slice("/pay/".length)}/renew?"`)
    assert.strictEqual((await post(`${pathname}/renew`)).status, 303)
    const again = await page(made)
    assert.include(said(again.text), "Rate held for")
    assert.includeMembers([...codes(again.text)], [made.address])
    assert.notInclude([...codes(again.text)], made.payment_request)
    assert.strictEqual((await post(`/pay/${"0".repeat(32)}/renew`)).status, 404)
  })

  it("page: a failed request for a new quote is reported beside its button", async () => {
    const made = await created({ expiry_seconds: 60, options: ["new_quote"] })
    await follow(61)
    const { pathname } = new URL(made.url)
    const pause = (isPaused: boolean) =>
      service.ask("POST", `/operator/${isPaused ? "pause" : "resume"}`, {
        key: operatorToken,
        body: { what: "receiving" }
      })
    assert.strictEqual((await pause(true)).status, 200)
    const answer = await post(`${pathname}/renew`)
    assert.deepStrictEqual(
      [answer.status, answer.headers.get("location")],
      [303, `..${pathname.slice("/pay".length)}?failed=`]
    )
    assert.strictEqual((await pause(false)).status, 200)
    assert.include(
      said((await service.ask("GET", `${pathname}?failed=`)).text),
      "That didn’t work. Please try again. Get a new payment code"
    )
    assert.notInclude((await page(made)).text, 'role="alert"')
  })

  it("page: the seller's questions come before the payment, and the answers reach the seller", async () => {
    const made = await created({ amount: 8.4, currency: "eur", options: ["tip", "email"] })
    const { pathname } = new URL(made.url)
    const state = async () => JSON.parse((await service.ask("GET", `${pathname}/state`)).text)
    const { text } = await page(made)
    for (const words of [
      "Add a tip?",
      "No tip",
      "5% €0.42",
      "10% €0.84",
      "15% €1.26",
      "Total €8.40",
      "Email for your receipt (optional)"
    ])
      assert.include(said(text), words)
    assert.notInclude(text, made.payment_request)
    assert.strictEqual((await state()).questions, "due")
    for (const wrong of ["tip=7", "tip=x", "tip=5&email=nobody"])
      assert.match(
        (await post(`${pathname}/answer`, wrong)).headers.get("location") ?? "",
        /\?failed=$/,
        wrong
      )
    assert.include(said((await service.ask("GET", `${pathname}?failed=`)).text), "That didn’t work")
    assert.strictEqual((await post(`${pathname}/answer`, "tip=10&email=ann%40example.com")).status, 303)
    const after = (await page(made)).text
    for (const words of ["€9.24", "Includes a tip of €0.84", "Change tip or receipt"])
      assert.include(said(after), words)
    assert.notInclude(after, "ann@example.com")
    assert.notInclude(JSON.stringify(await state()), "ann@example.com")
    const seen = (await service.ask("GET", `/v1/checkouts/${made.id}`, { key })).body.data
    assert.deepStrictEqual(
      [seen.payer_email, seen.tip_sats],
      ["ann@example.com", Math.ceil(seen.amount_sats / 10)]
    )
    assert.strictEqual((await state()).asking.sats, seen.amount_sats + seen.tip_sats)
    assert.include(said((await service.ask("GET", `${pathname}?ask=`)).text), "Add a tip?")
    await service.sandbox((sandbox) => sandbox.pay({ paymentRequest: seen.payment_request }))
    await service.work()
    await follow()
    const receipt = (await service.ask("GET", `${pathname}/receipt`)).text
    assert.include(receipt, "Amount: €9.24 · ")
    assert.include(receipt, "Tip: €0.84 · ")
    assert.strictEqual((await state()).questions, null)
  })

  it("page: the seller's contact is shown only when the payer may need it", async () => {
    const mail = await created({ contact: "help@shop.example" })
    assert.notInclude((await page(mail)).text, "Contact the seller")
    await service.ask("POST", `/v1/checkouts/${mail.id}/cancel`, { key })
    const reference = new URL(mail.url).pathname.slice("/pay/".length)
    assert.include(
      (await page(mail)).text,
      `href="mailto:help@shop.example?subject=Reference%20${reference}"`
    )
    const [site, exact] = [
      await created({ contact: "https://shop.example/help?a=1&b=2" }),
      await created({ contact: "https://shop.example/help" })
    ]
    await service.sandbox((sandbox) =>
      sandbox.pay({ paymentRequest: site.payment_request, amount: service.sats(30_000) })
    )
    await service.sandbox((sandbox) => sandbox.pay({ paymentRequest: exact.payment_request }))
    await service.work()
    assert.include((await page(site)).text, 'href="https://shop.example/help?a=1&amp;b=2"')
    assert.notInclude((await page(exact)).text, "shop.example/help")
  })

  it("page: the one filled button is the seller's contact while the payer has to ask the seller for money", async () => {
    const urls = {
      contact: "https://shop.example/help",
      return_url: "https://shop.example/thanks",
      cancel_url: "https://shop.example/cart"
    }
    const filled = async (made: Made) =>
      [...(await page(made)).text.matchAll(/<a class="button primary" href="([^"]*)"/g)].map(([, to]) => to)
    const [exact, over, partly, canceled] = [
      await created(urls),
      await created(urls),
      await created(urls),
      await created(urls)
    ]
    await service.sandbox((sandbox) => sandbox.pay({ paymentRequest: exact.payment_request }))
    await service.sandbox((sandbox) =>
      sandbox.pay({ paymentRequest: over.payment_request, amount: service.sats(30_000) })
    )
    await send(partly.address, 6000)
    await mine()
    await follow()
    for (const made of [partly, canceled])
      await service.ask("POST", `/v1/checkouts/${made.id}/cancel`, { key })
    assert.deepStrictEqual(await filled(exact), [urls.return_url])
    for (const made of [over, partly]) assert.deepStrictEqual(await filled(made), [urls.contact])
    assert.deepStrictEqual(await filled(canceled), [urls.cancel_url])
    await service.ask("POST", "/v1/refunds", {
      key,
      body: { checkout_id: partly.id, amount: 5000, currency: "sats" }
    })
    assert.notInclude(await filled(partly), urls.contact)
  })

  it("page: an expired or canceled checkout without a cancel_url links to the origin of its return_url", async () => {
    const urls = { return_url: "https://shop.example/thanks?order=1042", expiry_seconds: 60 }
    const [partly, canceled] = [await created(urls), await created(urls)]
    await service.ask("POST", `/v1/checkouts/${canceled.id}/cancel`, { key })
    await send(partly.address, 6000)
    await mine()
    await follow(61)
    for (const made of [partly, canceled]) {
      const { text } = await page(made)
      assert.include(
        text,
        '<a class="button primary" href="https://shop.example/" target="_top" rel="noreferrer">Back to shop</a>'
      )
    }
  })

  /**
   * Cancels a checkout that received 6000 of 10,000 sats, and refunds a part. Returns the refund, and the
   * page's text before it.
   */
  const refunded = async (body: Readonly<Record<string, unknown>> = {}) => {
    const made = await created({ amount: 10_000 })
    await send(made.address, 6000)
    await mine()
    await follow()
    await service.ask("POST", `/v1/checkouts/${made.id}/cancel`, { key })
    const [{ id: deposit_id }] = (await service.ask("GET", "/v1/transactions?type=deposit&limit=1", { key }))
      .body.data
    const before = said((await page(made)).text)
    const answer = await service.ask("POST", "/v1/refunds", {
      key,
      body: { deposit_id, amount: 5000, currency: "sats", ...body }
    })
    assert.strictEqual(answer.status, 201, answer.text)
    return { made, before, refund: answer.body.data, lnurl: String(answer.body.data.lnurl) }
  }
  const linkOf = (lnurl: string) => new URL(Result.getOrThrow(Lnurl.decode(lnurl)).url)
  /** An external invoice. */
  const outside = async (sats: number) => {
    const { destination } = await service.sandbox((sandbox) =>
      sandbox.destination({ type: "lightning_invoice", amount: service.sats(sats) })
    )
    return destination
  }
  const followRefunds = () => service.run(Effect.flatMap(Refunds, ({ step }) => step))

  it("page: for an expired or canceled checkout that was underpaid, the page tells the payer to ask the seller, and shows a link once there is a refund", async () => {
    const { made, before, refund, lnurl } = await refunded()
    for (const words of ["Received 6,000 sats", "less than the price. Ask the seller for a refund"])
      assert.include(before, words)
    assert.strictEqual(refund.checkout_id, made.id)
    const { text } = await page(made)
    for (const words of ["You have a refund of 5,000 sats", "Received 6,000 sats"])
      assert.include(said(text), words)
    assert.include(codes(text), lnurl)
    assert.notInclude(said(text), "Ask the seller")
    assert.include(text, `href="lightning:${lnurl}"`)
    assert.notInclude(text, refund.id)
    const url = linkOf(lnurl)
    assert.include((await service.ask("GET", url.pathname + url.search)).text, '"tag":"withdrawRequest"')
  })

  it("page: a refund's link is shown only while the refund can be claimed", async () => {
    const canceled = await refunded()
    await service.ask("POST", `/v1/refunds/${canceled.refund.id}/cancel`, { key })
    const { text } = await page(canceled.made)
    assert.notInclude(text, canceled.lnurl)
    assert.strictEqual(said(text), canceled.before)
    const claimed = await refunded()
    const claim = `/lnurlw/callback${linkOf(claimed.lnurl).search}&pr=${await outside(5000)}`
    assert.include((await service.ask("GET", claim)).text, "OK")
    const on = (await page(claimed.made)).text
    assert.notInclude(on, claimed.lnurl)
    assert.include(said(on), "Your refund of 5,000 sats is on its way.")
    await service.work()
    await followRefunds()
    const done = (await page(claimed.made)).text
    assert.notInclude(done, claimed.lnurl)
    assert.include(said(done), "Your refund of 5,000 sats is complete.")
  })

  it("page: the page says until which minute a refund's link is valid, because a link can expire within the hour", async () => {
    const { made, refund } = await refunded({ expiry_seconds: 600 })
    const voucher = (await service.ask("GET", `/v1/vouchers/${refund.voucher_id}`, { key })).body.data
    const time = moment(Date.parse(voucher.expires_at), "long", "en", "UTC")
    assert.include(said((await page(made)).text), `Valid until ${time}`)
  })

  it("page: a refund with on_checkout false is not shown", async () => {
    const { made, before, refund, lnurl } = await refunded({ on_checkout: false })
    assert.isNull(refund.checkout_id)
    const { text } = await page(made)
    assert.notInclude(text, lnurl)
    assert.strictEqual(said(text), before)
  })

  it("page: the checkout page shows a refund with a destination, but not the destination", async () => {
    const destination = await outside(5000)
    const { made } = await refunded({ destination })
    await service.work()
    await followRefunds()
    const { text } = await page(made)
    assert.include(said(text), "Your refund of 5,000 sats is complete.")
    assert.notInclude(text, destination)
  })

  it("page: after a late overpayment, the page says that the seller decides, until there is a refund", async () => {
    const made = await created({ amount: 10_000 })
    await service.ask("POST", `/v1/checkouts/${made.id}/cancel`, { key })
    await send(made.address, 12_000)
    await mine()
    const { text } = await page(made)
    const asking = [
      "It arrived after the payment was canceled",
      "You sent 2,000 sats more than the price",
      "The seller decides"
    ]
    for (const words of asking) assert.include(said(text), words)
    const [{ id: deposit_id }] = (await service.ask("GET", "/v1/transactions?type=deposit&limit=1", { key }))
      .body.data
    await service.ask("POST", "/v1/refunds", { key, body: { deposit_id, amount: 2000, currency: "sats" } })
    const after = said((await page(made)).text)
    for (const words of ["You have a refund of 2,000 sats", "Your payment arrived late", "2,000 sats more"])
      assert.include(after, words)
    assert.notInclude(after, "The seller decides")
  })

  it("page: a late on-chain payment arrived when it was first seen, not when it was confirmed hours later", async () => {
    const made = await created({ expiry_seconds: 60 })
    const hours = (count: number) => 60 + count * 3600
    await send(made.address, 21_000)
    await service.work(hours(3))
    await mine(hours(10))
    await follow(hours(10))
    assert.include(said((await page(made)).text), "It arrived 3 hours after the deadline.")
    // A further payment does not change when the price was paid.
    await send(made.address, 1000)
    await service.work(hours(12))
    assert.include(said((await page(made)).text), "It arrived 3 hours after the deadline.")
  })

  it("page: a payment that was seen before the checkout was canceled is not called late", async () => {
    const made = await created()
    await send(made.address, 21_000)
    await service.work()
    assert.strictEqual((await service.ask("POST", `/v1/checkouts/${made.id}/cancel`, { key })).status, 200)
    await mine(600)
    await follow(600)
    const text = said((await page(made)).text)
    for (const words of [
      "This payment was canceled",
      "The seller decides whether to fill the order or return the money."
    ])
      assert.include(text, words)
    for (const words of ["arrived late", "arrived after"]) assert.notInclude(text, words)
  })

  it("page: the receipt of a late payment says that the checkout expired at its deadline, however late that was recorded", async () => {
    const made = await created({ expiry_seconds: 60 })
    await follow(600)
    await send(made.address, 21_000)
    await mine(600)
    await follow()
    const { expires_at } = (await service.ask("GET", `/v1/checkouts/${made.id}`, { key })).body.data
    assert.include((await page(made)).text, `<dt>Expired</dt><dd><time datetime="${expires_at}"`)
  })

  it("page: a canceled checkout shows no payment details", async () => {
    const made = await created()
    await service.ask("POST", `/v1/checkouts/${made.id}/cancel`, { key })
    const { text } = await page(made)
    assert.include(said(text), "This payment was canceled Nothing was charged.")
    for (const way of [made.address, made.payment_request]) assert.notInclude(text, way)
    await send(made.address, 21_000)
    await service.work()
    const seen = said((await page(made)).text)
    for (const words of ["21,000 sats seen, not confirmed yet", "Contact the seller and quote the reference"])
      assert.include(seen, words)
    assert.notInclude(seen, "Nothing was charged")
  })

  it("page: the response for an unknown checkout is also an HTML page", async () => {
    for (const path of ["/pay/9f0d1c1e52a54f7c8f430b8f6a6c1042", "/pay/x", "/pay/%00", "/pay/%F0%9F%8D%B5"]) {
      const { status, headers, text } = await service.ask("GET", path)
      assert.deepStrictEqual([status, headers.get("content-type")], [404, "text/html; charset=utf-8"], path)
      assert.include(text, "Payment not found")
    }
  })

  it("page: the checkout page is available in every language, including those written right to left", async () => {
    const pages = await Promise.all(
      ["en", "de", "es", "fr", "pt", "ar"].map(async (locale) => {
        const { text } = await page(await created({ locale }))
        assert.include(text, `<html lang="${locale}" dir="${locale === "ar" ? "rtl" : "ltr"}">`)
        return /<p class="hint">([^<]+)/.exec(text)?.[1]
      })
    )
    assert.strictEqual(new Set(pages).size, pages.length)
  })

  const state = async (made: Made, accept = "application/json") =>
    service.handler(new Request(`http://service${new URL(made.url).pathname}/state`, { headers: { accept } }))

  it("page state: the JSON has the status and no internal id", async () => {
    const made = await created({ metadata: { customer: "someone" } })
    const answer = await state(made)
    const text = await answer.text()
    for (const secret of [made.id, made.company_id, made.invoice_id, "someone"])
      assert.notInclude(text, secret)
    const { status, asking, receivedSats, expiresAtMillis, nowMillis } = JSON.parse(text)
    assert.deepStrictEqual([status, asking.sats, receivedSats], ["open", 21_000, 0])
    assert.isAbove(expiresAtMillis, nowMillis)
    assert.strictEqual((await service.ask("GET", "/pay/9f0d1c1e52a54f7c8f430b8f6a6c1042/state")).status, 404)
  })

  it("page state: any origin may read the state, and may read the QR code while an amount is due", async () => {
    const made = await created()
    const { pathname } = new URL(made.url)
    const from = (path: string) => service.ask("GET", path, { headers: { origin: "https://shop.example" } })
    const allowed = async (path: string) => {
      const { status, headers } = await from(path)
      return [
        status,
        headers.get("access-control-allow-origin"),
        headers.get("access-control-allow-credentials")
      ]
    }
    assert.deepStrictEqual(await allowed(`${pathname}/state`), [200, "*", null])
    assert.deepStrictEqual(await allowed("/pay/9f0d1c1e52a54f7c8f430b8f6a6c1042/state"), [404, "*", null])
    assert.deepStrictEqual((await allowed(pathname))[1], null)
    const { headers, text } = await from(`${pathname}/qr`)
    assert.strictEqual(headers.get("content-type")?.split(";")[0], "image/svg+xml")
    assert.match(text, /^<svg/)
    await service.ask("POST", `/v1/checkouts/${made.id}/cancel`, { key })
    assert.deepStrictEqual(await allowed(`${pathname}/qr`), [404, "*", null])
  })

  /** Reads the states of a stream. */
  const stream = async (made: Made) => {
    const answer = await state(made, "text/event-stream")
    assert.strictEqual(answer.headers.get("content-type"), "text/event-stream")
    const reader = (answer.body ?? assert.fail("a stream has a body"))
      .pipeThrough(new TextDecoderStream())
      .getReader()
    let text = ""
    let version = ""
    return {
      /** The version of the last state read. */
      version: () => version,
      next: async (): Promise<{ readonly status: string; readonly [member: string]: unknown }> => {
        for (;;) {
          const [block] = /id: .*\nevent: state\ndata: .*\n\n/.exec(text) ?? []
          if (block !== undefined) {
            text = text.slice(text.indexOf(block) + block.length)
            version = /id: (.*)/.exec(block)?.[1] ?? ""
            return JSON.parse(/data: (.*)/.exec(block)?.[1] ?? "")
          }
          const { value, done } = await reader.read()
          if (done) return { status: "ended" }
          text += value
        }
      },
      close: () => reader.cancel()
    }
  }

  it("page stream: the stream sends the current state immediately, then each change, and ends after the last change", async () => {
    const made = await created()
    const { next } = await stream(made)
    assert.strictEqual((await next()).status, "open")
    await service.sandbox((sandbox) => sandbox.pay({ paymentRequest: made.payment_request }))
    await service.work()
    const paid = await next()
    assert.deepStrictEqual([paid.status, paid["receivedSats"], paid["asking"]], ["paid", 21_000, null])
    await follow()
    if (paid["paidAtMillis"] === null) assert.isNumber((await next())["paidAtMillis"])
    assert.strictEqual((await next()).status, "ended")
    assert.notInclude((await page(made)).text, "http-equiv")
  })

  const pay = (made: Made) =>
    service.sandbox((sandbox) => sandbox.pay({ paymentRequest: made.payment_request }))
  // One way to reach each status. The type requires an entry for every status.
  const ways: Readonly<Record<Checkout.Status | "overpaid", (made: Made) => Promise<unknown>>> = {
    open: () => Promise.resolve(),
    paid: pay,
    underpaid: (made) => send(made.address, 9000).then(() => mine()),
    overpaid: (made) => send(made.address, 30_000).then(() => mine()),
    expired: () => follow(61),
    canceled: (made) => service.ask("POST", `/v1/checkouts/${made.id}/cancel`, { key })
  }
  for (const [name, act] of Object.entries(ways))
    it(`page stream: the last state sent has the right status and date, and equals the state after a reload: ${name}`, async () => {
      const made = await created({ expiry_seconds: 60 })
      const { next, version, close } = await stream(made)
      let streamed = await next()
      await act(made)
      await service.work()
      await follow()
      const { nowMillis: _, ...reloaded } = JSON.parse(await (await state(made)).text())
      const stripped = () => JSON.stringify({ ...streamed, nowMillis: 0 })
      while (stripped() !== JSON.stringify({ ...reloaded, nowMillis: 0 })) {
        const following = await next()
        assert.notStrictEqual(following.status, "ended", `the stream ended with ${stripped()}`)
        streamed = following
      }
      assert.strictEqual(streamed.status, name === "overpaid" ? "paid" : name)
      if (streamed.status === "paid") assert.isNumber(streamed["paidAtMillis"])
      // A page compares versions, and reloads until it has the latest version.
      assert.strictEqual((await state(made)).headers.get("x-version"), version())
      assert.include((await page(made)).text, `data-version="${version()}"`)
      await close()
    })

  it("page: the receipt shows the date, the amount and the payment method", async () => {
    const made = await created()
    await pay(made)
    await service.work()
    await follow()
    assert.match(
      said((await page(made)).text),
      /Date \d+ \w+ \d{4} at \d\d:\d\d UTC Amount .+ Paid with Lightning Payment hash /
    )
  })

  it("page: once the checkout is paid, the receipt can also be downloaded as a file in the payer's language", async () => {
    const made = await created({ amount: 12.5, currency: "eur", description: "Tea", order_id: "1042" })
    const path = `${new URL(made.url).pathname}/receipt`
    assert.strictEqual((await service.ask("GET", path)).status, 404)
    await pay(made)
    await service.work()
    await follow()
    const { status, headers, text } = await service.ask("GET", path)
    assert.deepStrictEqual([status, headers.get("content-type")], [200, "text/plain; charset=utf-8"])
    assert.match(
      headers.get("content-disposition") ?? "",
      /^attachment; filename="receipt-[0-9a-f]{8}\.txt"$/
    )
    for (const line of [
      /^Receipt$/m,
      /^Seller: .+$/m,
      /^Payment: Tea$/m,
      /^Date: .+ UTC$/m,
      /^Amount: €12\.50 · [\d,]+ sats$/m
    ])
      assert.match(text, line)
    for (const line of [
      /^Order: 1042$/m,
      /^Paid with: Lightning$/m,
      /^Payment hash: [0-9a-f]{64}$/m,
      /^Reference: [0-9a-f]{32}$/m
    ])
      assert.match(text, line)
    assert.match((await service.ask("GET", `${path}?lang=de`)).text, /^Beleg\n\nVerkäufer: /)
    assert.match((await service.ask("GET", `${path}?lang=fr`)).text, /^Reçu\n\nVendeur\u00a0: /)
    assert.include(
      (await service.ask("GET", `${path.replace("/receipt", "")}?lang=fr`)).text,
      ">Montant payé\u00a0: <"
    )
  })

  it("page: the shop's language is used if there are texts in it, else the payer's browser's, else English", async () => {
    for (const [locale, accepts, stored, shown] of [
      ["pt-BR", "de", "pt", "pt"],
      ["de_DE.UTF-8", "fr", "de", "de"],
      ["he", "fr-CH, fr;q=0.9", "auto", "fr"],
      ["zh-Hant-TW", "ja", "auto", "en"],
      ["C", "es", "auto", "es"],
      ["auto", "ar", "auto", "ar"],
      ["", "de", "auto", "de"],
      [null, "de", "auto", "de"],
      [undefined, "de", "auto", "de"]
    ] as const) {
      const made = await created({ ...(locale !== undefined && { locale }) })
      assert.strictEqual(
        (await service.ask("GET", `/v1/checkouts/${made.id}`, { key })).body.data.locale,
        stored
      )
      const path = new URL(made.url).pathname
      const html = async (query: string) =>
        (
          await service.handler(
            new Request(`http://service${path}${query}`, { headers: { "accept-language": accepts } })
          )
        ).text()
      assert.include(await html(""), `<html lang="${shown}"`, String(locale))
      assert.include(await html("?lang=es"), '<html lang="es"')
    }
  })

  it("page: the query selects the language and the QR code, and unknown values are ignored", async () => {
    const made = await created({ locale: "fr" })
    const { pathname } = new URL(made.url)
    const { text } = await service.ask("GET", `${pathname}?lang=de&way=chain`)
    assert.include(text, '<html lang="de"')
    assert.include(text, `href="bitcoin:${made.address}?amount=0.00021000"`)
    assert.include(text, 'href="?lang=es&amp;way=chain"')
    const other = await service.ask("GET", `${pathname}?lang=tlh&way=pigeon`)
    assert.include(other.text, '<html lang="fr"')
    assert.include(other.text, "lightning=")
  })

  it("page: the checkout page is compressed for browsers that accept compression", async () => {
    const { pathname } = new URL((await created()).url)
    const answer = async (accepted: string) => {
      const response = await service.handler(
        new Request(`http://service${pathname}`, { headers: { "accept-encoding": accepted } })
      )
      return {
        coding: response.headers.get("content-encoding"),
        bytes: Buffer.from(await response.arrayBuffer())
      }
    }
    const [dense, plain] = [await answer("gzip, br"), await answer("identity")]
    assert.deepStrictEqual([dense.coding, plain.coding], ["gzip", null])
    const timeless = (bytes: Buffer) => bytes.toString("utf8").replaceAll(/data-now="\d+"|\d\d:\d\d/g, "")
    assert.strictEqual(timeless(gunzipSync(dense.bytes)), timeless(plain.bytes))
    assert.isBelow(dense.bytes.length, plain.bytes.length / 2)
  })

  it("page: in a frame, the exit link comes first and no link opens inside the frame", async () => {
    const made = await created({
      embed_origin: "https://shop.example",
      return_url: "https://shop.example/thanks"
    })
    const { pathname } = new URL(made.url)
    const framed = await service.ask("GET", `${pathname}?frame=`)
    assert.match(framed.text, /<body[^>]* class="checkout framed"/)
    assert.match(framed.text, /<main[^>]*><header class="top">.*data-close/)
    assert.strictEqual(
      (await service.ask("GET", pathname, { headers: { "sec-fetch-dest": "iframe" } })).text.includes(
        "data-close"
      ),
      true
    )
    assert.notInclude((await page(made)).text, "data-close")
    for (const [link] of framed.text.matchAll(/<a [^>]*href="https?:[^>]*>/g))
      assert.include(link, 'target="_top"')
  })

  it("page stream: the state says how many confirmations a payment has and needs", async () => {
    const made = await created()
    const { next, close } = await stream(made)
    assert.isNull((await next())["confirmations"])
    await send(made.address, 21_000)
    await service.work()
    assert.deepStrictEqual((await next())["confirmations"], { seen: 0, needed: 2 })
    await close()
    await service.sandbox((sandbox) => sandbox.mine(1))
    await service.work()
    const { confirmations } = JSON.parse(await (await state(made)).text())
    assert.deepStrictEqual(confirmations, { seen: 1, needed: 2 })
  })

  it("page stream: a checkout that exceeds its share of streams loses its oldest stream, and other checkouts keep their streams", async () => {
    const [made, other] = [await created(), await stream(await created())]
    await other.next()
    const open = await Promise.all(
      Array.from({ length: CheckoutPage.streams.per.checkout }, () => stream(made))
    )
    await Promise.all(open.map(({ next }) => next()))
    const latest = await stream(made)
    assert.strictEqual((await latest.next()).status, "open")
    // Every stream that is still open sends this change, so the test doesn't wait for a stream that never ends.
    assert.strictEqual((await service.ask("POST", `/v1/checkouts/${made.id}/cancel`, { key })).status, 200)
    await service.work()
    const states = await Promise.all(open.map(async ({ next }) => (await next()).status))
    assert.deepStrictEqual(
      states,
      open.map((_, index) => (index === 0 ? "ended" : "canceled"))
    )
    await Promise.all([...open, latest, other].map(({ close }) => close()))
  })
})
