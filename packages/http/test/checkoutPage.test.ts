import * as Bip21 from "@satrail/bitcoin/Bip21"
import * as Lnurl from "@satrail/bitcoin/Lnurl"
import { Refunds } from "@satrail/core/features/refunds/Refunds"
import { afterAll, assert, describe, it } from "@effect/vitest"
import type * as Checkout from "@satrail/core/features/checkouts/Checkout"
import { Checkouts } from "@satrail/core/features/checkouts/Checkouts"
import { Clock, Effect, Result } from "effect"
import * as CheckoutPage from "../src/features/checkouts/CheckoutPage.ts"
import { stateOf } from "../src/features/checkouts/CheckoutState.ts"
import { start } from "./Service.ts"

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
  const answer = await service.ask("POST", "/v1/checkouts", { key, body: { amount: 21_000, currency: "sats", ...body } })
  assert.strictEqual(answer.status, 201, answer.text)
  return answer.body.data
}
const page = ({ url }: Pick<Made, "url">) => service.ask("GET", new URL(url).pathname)
const send = (address: string, sats: number) => service.sandbox((sandbox) => sandbox.send({ address, amount: service.sats(sats) }))
const mine = async () => {
  await service.work()
  await service.sandbox((sandbox) => sandbox.mine(6))
  await service.work()
}
/** What the service does with checkouts now, or by a clock that is ahead. */
const follow = (seconds = 0) =>
  service.run(
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      const atMillis = clock.currentTimeMillisUnsafe() + seconds * 1000
      const later: Clock.Clock = { ...clock, currentTimeMillisUnsafe: () => atMillis, currentTimeMillis: Effect.succeed(atMillis) }
      const { step } = yield* Checkouts
      yield* seconds === 0 ? step : Effect.provideService(step, Clock.Clock, later)
    })
  )
/** What the page says, without its tags. */
const said = (text: string): string =>
  text
    .replace(/ data-page="[^"]*"/, "")
    .replaceAll(/<[^>]*>/g, " ")
    .replaceAll(/\s+/g, " ")

describe("The page of a checkout", () => {
  it("page: it shows what is to be paid, in one code for every wallet, and looks again", async () => {
    const made = await created({ description: "Tea", order_id: "1042", cancel_url: "https://shop.example/cart" })
    const { status, headers, text } = await page(made)
    assert.deepStrictEqual([status, headers.get("content-type")], [200, "text/html; charset=utf-8"])
    assert.include(text, '<noscript><meta http-equiv="refresh" content="10"/></noscript>')
    for (const words of ["Tea", "Order 1042", "21,000 sats", made.payment_request, made.address]) assert.include(said(text), words)
    assert.include(text, 'href="https://shop.example/cart"')
    const shown = await service.run(Effect.flatMap(Checkouts, ({ open }) => open(new URL(made.url).pathname.slice("/pay/".length))))
    const { asking } = stateOf(shown, { confirmations: null, refunds: [] }, 0)
    const uri = Result.getOrThrow(Bip21.parse(asking?.uri ?? ""))
    assert.deepStrictEqual(uri, { address: made.address, amount: service.sats(21_000), lightning: made.payment_request })
    assert.include(text, `href="${asking?.uri.replace("&", "&amp;")}"`)
  })

  it("page: an amount in fiat has the digits of its currency", async () => {
    assert.include(said((await page(await created({ amount: 12.5, currency: "eur" }))).text), " 12.50 EUR ")
    assert.include(said((await page(await created({ amount: 1250, currency: "jpy", locale: "de" }))).text), " 1.250 JPY ")
  })

  it("page: no id of ours, no metadata, and nothing that others may keep or frame", async () => {
    const made = await created({ metadata: { customer: "someone in particular" } })
    const { headers, text } = await page(made)
    for (const secret of [made.id, made.company_id, made.invoice_id, "someone in particular"]) assert.notInclude(text, secret)
    assert.deepStrictEqual([headers.get("cache-control"), headers.get("referrer-policy")], ["no-store", "no-referrer"])
    assert.strictEqual(
      headers.get("content-security-policy"),
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
    assert.notMatch(text.replace(/ data-page="[^"]*"/, ""), /<script>|<style|\sstyle=|\son\w+=/i)
    for (const [, file = ""] of text.matchAll(/(?:src|href)="\.\.\/(ui\/[^"]+)"/g))
      assert.strictEqual((await service.ask("GET", `/${file}`)).status, 200, file)
  })

  it("page: seen, underpaid, paid with what is too much, each says so", async () => {
    const made = await created({ amount: 10_000, return_url: "https://shop.example/thanks" })
    await send(made.address, 6000)
    await service.work()
    assert.include(said((await page(made)).text), "Your payment of 6,000 sats was seen")
    await mine()
    // The invoice is over all of it still: for a moment there is nothing to pay.
    assert.notInclude((await page(made)).text, made.payment_request)
    await follow()
    const missing = (await page(made)).text
    assert.include(said(missing), "6,000 sats were received. 4,000 sats are still missing.")
    assert.include(missing, "amount=0.00004000&amp;lightning=")
    assert.notInclude(missing, made.payment_request)
    await send(made.address, 4001)
    await service.work()
    const seen = (await page(made)).text
    assert.include(said(seen), "Your payment of 4,001 sats was seen")
    assert.notInclude(seen, made.address)
    await mine()
    const { text } = await page(made)
    assert.include(said(text), "That is 1 sats more than was asked for.")
    assert.include(text, 'href="https://shop.example/thanks"')
    assert.notInclude(text, made.address)
    // The seller may give back what is too much.
    assert.include(text, "http-equiv")
  })

  /** A checkout of which 6000 of 10,000 came before it was canceled, what the company gives back, and how the page says it. */
  const refunded = async (body: Readonly<Record<string, unknown>> = {}) => {
    const made = await created({ amount: 10_000 })
    await send(made.address, 6000)
    await mine()
    await follow()
    await service.ask("POST", `/v1/checkouts/${made.id}/cancel`, { key })
    const [{ id: deposit_id }] = (await service.ask("GET", "/v1/transactions?type=deposit&limit=1", { key })).body.data
    const before = said((await page(made)).text)
    const answer = await service.ask("POST", "/v1/refunds", { key, body: { deposit_id, amount: 5000, currency: "sats", ...body } })
    assert.strictEqual(answer.status, 201, answer.text)
    return { made, before, refund: answer.body.data, lnurl: String(answer.body.data.lnurl) }
  }
  const linkOf = (lnurl: string) => new URL(Result.getOrThrow(Lnurl.decode(lnurl)).url)
  /** An invoice of somebody outside. */
  const outside = async (sats: number) => {
    const { destination } = await service.sandbox((sandbox) =>
      sandbox.destination({ type: "lightning_invoice", amount: service.sats(sats) })
    )
    return destination
  }
  const followRefunds = () => service.run(Effect.flatMap(Refunds, ({ step }) => step))

  it("page: over with a part received, it says whom to ask, and shows the link once there is a refund", async () => {
    const { made, before, refund, lnurl } = await refunded()
    assert.include(before, "6,000 sats were received, which is less than was asked for. Ask the seller to pay it back")
    assert.strictEqual(refund.checkout_id, made.id)
    const { text } = await page(made)
    for (const words of ["5,000 sats are yours to take back", lnurl, "Received: 6,000 sats"]) assert.include(said(text), words)
    assert.notInclude(said(text), "Ask the seller")
    assert.include(text, `href="lightning:${lnurl}"`)
    assert.notInclude(text, refund.id)
    const url = linkOf(lnurl)
    assert.include((await service.ask("GET", url.pathname + url.search)).text, '"tag":"withdrawRequest"')
  })

  it("page: a refund's link is shown while it can be claimed, and never after", async () => {
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
    assert.include(said(on), "5,000 sats are on their way back to you.")
    await service.work()
    await followRefunds()
    const done = (await page(claimed.made)).text
    assert.notInclude(done, claimed.lnurl)
    assert.include(said(done), "5,000 sats were paid back.")
  })

  it("page: of a refund that its company tells the payer itself, it says nothing", async () => {
    const { made, before, refund, lnurl } = await refunded({ on_checkout: false })
    assert.isNull(refund.checkout_id)
    const { text } = await page(made)
    assert.notInclude(text, lnurl)
    assert.strictEqual(said(text), before)
  })

  it("page: of a refund with a destination it says that it is there, and not where", async () => {
    const destination = await outside(5000)
    const { made } = await refunded({ destination })
    await service.work()
    await followRefunds()
    const { text } = await page(made)
    assert.include(said(text), "5,000 sats were paid back.")
    assert.notInclude(text, destination)
  })

  it("page: paid late and overpaid, it says whom to ask, until there is a refund", async () => {
    const made = await created({ amount: 10_000 })
    await service.ask("POST", `/v1/checkouts/${made.id}/cancel`, { key })
    await send(made.address, 12_000)
    await mine()
    const { text } = await page(made)
    const asking = ["Ask the seller what becomes of it", "That is 2,000 sats more than was asked for. Ask the seller to pay back the rest"]
    for (const words of asking) assert.include(said(text), words)
    const [{ id: deposit_id }] = (await service.ask("GET", "/v1/transactions?type=deposit&limit=1", { key })).body.data
    await service.ask("POST", "/v1/refunds", { key, body: { deposit_id, amount: 2000, currency: "sats" } })
    const after = said((await page(made)).text)
    for (const words of ["2,000 sats are yours to take back", "The payment came late", "2,000 sats more"]) assert.include(after, words)
    assert.notInclude(after, "Ask the seller")
  })

  it("page: canceled, it gives nobody anything to pay", async () => {
    const made = await created()
    await service.ask("POST", `/v1/checkouts/${made.id}/cancel`, { key })
    const { text } = await page(made)
    assert.include(said(text), "This payment was canceled. Do not pay any more.")
    for (const way of [made.address, made.payment_request]) assert.notInclude(text, way)
  })

  it("page: unknown, it is a page as well", async () => {
    for (const path of ["/pay/9f0d1c1e52a54f7c8f430b8f6a6c1042", "/pay/x", "/pay/%00", "/pay/%F0%9F%8D%B5"]) {
      const { status, headers, text } = await service.ask("GET", path)
      assert.deepStrictEqual([status, headers.get("content-type")], [404, "text/html; charset=utf-8"], path)
      assert.include(text, "There is no such payment")
    }
  })

  it("page: in each of its languages, one of them from right to left", async () => {
    const pages = await Promise.all(
      ["en", "de", "es", "fr", "pt", "ar"].map(async (locale) => {
        const { text } = await page(await created({ locale }))
        assert.include(text, `<html lang="${locale}" dir="${locale === "ar" ? "rtl" : "ltr"}">`)
        return said(text)
      })
    )
    const first = pages.map((words) => words.split("21")[0])
    assert.strictEqual(new Set(first).size, pages.length)
  })

  it("page: what its company writes is text, whatever is in it", async () => {
    const corpus = [
      "<script>alert(1)</script>",
      '"><img src=x onerror=alert(1)>',
      "'><svg/onload=alert(1)>",
      "</title></style><script>alert(1)</script>",
      "<!--<img src='--><img src=x onerror=alert(1)//'>",
      "{{constructor.constructor('alert(1)')()}}",
      "&lt;script&gt;alert(1)&lt;/script&gt;",
      "{1}{2}<b>",
      "\u202e<i>\u2066"
    ]
    const tags = ({ text }: { readonly text: string }) =>
      [...text.matchAll(/<\/?([a-z0-9!-]+)/gi)].map(([tag]) => tag).filter((tag) => tag !== "<path")
    const plain = tags(await page(await created({ description: "tea", order_id: "1042", cancel_url: "https://shop.example/" })))
    for (const text of corpus) {
      const cancel_url = `https://shop.example/${text}`
      assert.deepStrictEqual(tags(await page(await created({ description: text, order_id: text, cancel_url }))), plain, text)
    }
  })

  const state = async (made: Made, accept = "application/json") =>
    service.handler(new Request(`http://service${new URL(made.url).pathname}/state`, { headers: { accept } }))

  it("page state: JSON says where it stands, and no id of ours", async () => {
    const made = await created({ metadata: { customer: "someone" } })
    const answer = await state(made)
    const text = await answer.text()
    for (const secret of [made.id, made.company_id, made.invoice_id, "someone"]) assert.notInclude(text, secret)
    const { status, asking, receivedSats, expiresAtMillis, nowMillis } = JSON.parse(text)
    assert.deepStrictEqual([status, asking.sats, receivedSats], ["open", 21_000, 0])
    assert.isAbove(expiresAtMillis, nowMillis)
    assert.strictEqual((await service.ask("GET", "/pay/9f0d1c1e52a54f7c8f430b8f6a6c1042/state")).status, 404)
  })

  /** The states of a stream, as they come. */
  const stream = async (made: Made) => {
    const answer = await state(made, "text/event-stream")
    assert.strictEqual(answer.headers.get("content-type"), "text/event-stream")
    const reader = (answer.body ?? assert.fail("a stream has a body")).pipeThrough(new TextDecoderStream()).getReader()
    let text = ""
    return {
      next: async (): Promise<{ readonly status: string; readonly [member: string]: unknown }> => {
        for (;;) {
          const [, data] = /event: state\ndata: (.*)\n\n/.exec(text) ?? []
          if (data !== undefined) {
            text = text.slice(text.indexOf(data) + data.length + 2)
            return JSON.parse(data)
          }
          const { value, done } = await reader.read()
          if (done) return { status: "ended" }
          text += value
        }
      },
      close: () => reader.cancel()
    }
  }

  it("page stream: where it stands at once, then each change, and it ends with the last", async () => {
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

  const pay = (made: Made) => service.sandbox((sandbox) => sandbox.pay({ paymentRequest: made.payment_request }))
  // A way to each status there is: one that is added has to be added here.
  const ways: Readonly<Record<Checkout.Status | "overpaid", (made: Made) => Promise<unknown>>> = {
    open: () => Promise.resolve(),
    paid: pay,
    underpaid: (made) => send(made.address, 9000).then(mine),
    overpaid: (made) => send(made.address, 30_000).then(mine),
    expired: () => follow(61),
    canceled: (made) => service.ask("POST", `/v1/checkouts/${made.id}/cancel`, { key })
  }
  for (const [name, act] of Object.entries(ways))
    it(`page stream: the last state that it sends is the reloaded one, with its date: ${name}`, async () => {
      const made = await created({ expiry_seconds: 60 })
      const { next, close } = await stream(made)
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
      await close()
    })

  it("page: the receipt names the seller and has its date", async () => {
    const made = await created()
    await pay(made)
    await service.work()
    await follow()
    assert.match(said((await page(made)).text), /Seller .+ Amount .+ Paid at /)
  })

  it("page stream: confirmations are counted", async () => {
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

  it("page stream: beyond a checkout's share the oldest stream ends, and other checkouts keep theirs", async () => {
    const [made, other] = [await created(), await stream(await created())]
    await other.next()
    const open = await Promise.all(Array.from({ length: CheckoutPage.streams.per.checkout }, () => stream(made)))
    await Promise.all(open.map(({ next }) => next()))
    const latest = await stream(made)
    assert.strictEqual((await latest.next()).status, "open")
    assert.strictEqual((await Promise.race(open.map(({ next }) => next()))).status, "ended")
    await Promise.all([...open, latest, other].map(({ close }) => close()))
  })
})
