import { afterAll, assert, describe, it } from "@effect/vitest"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Throttle from "@satrail/core/base/Throttle"
import { Cards, type Outcome } from "@satrail/core/nodes/Cards"
import { eventually } from "@satrail/testing/Waiting"
import { Context, Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import { TestClock } from "effect/testing"
import * as CheckoutCard from "../src/CheckoutCard.ts"
import { bad, seen, start } from "./Service.ts"

/** What was asked of cards, and what the next one says. */
const charged = new Array<{ readonly url: string; readonly amount: bigint; readonly paymentRequest: string }>()
let says: Effect.Effect<Outcome> = Effect.succeed({ _tag: "asked" })
const reader = {
  charge: (url: string, invoice: { readonly amount: bigint; readonly paymentRequest: string }) => {
    charged.push({ url, ...invoice })
    return says
  }
}
const service = await start({ instead: Context.make(Cards, reader), http: { proxies: 1 } })
afterAll(service.dispose)
const { key } = await service.company()

const created = async (body: Readonly<Record<string, unknown>> = {}) => {
  const answer = await service.ask("POST", "/v1/checkouts", { key, body: { amount: 21_000, currency: "sats", ...body } })
  return {
    id: String(answer.body.data.id),
    invoice: String(answer.body.data.payment_request),
    path: new URL(answer.body.data.url).pathname
  }
}
let callers = 0
/** From an address of its own each time, as nobody in particular. */
const tap = (path: string, body: unknown, from = `10.0.${++callers >> 8}.${callers & 255}`) =>
  service.ask("POST", `${path}/card`, { body, headers: { "x-forwarded-for": from } })
const link = "lnurlw://card.example/first?p=1&c=2"

describe("A card on the page of a checkout", () => {
  it("card: its server is asked for the checkout's own invoice, and the page is told what it said", async () => {
    const { path, invoice } = await created()
    for (const [outcome, reason] of [
      [{ _tag: "asked" }, null],
      [{ _tag: "unknown" }, null],
      [{ _tag: "refused", reason: 'its server says "<b>"' }, 'its server says "<b>"']
    ] as const) {
      says = Effect.succeed(outcome)
      charged.length = 0
      const { status, text } = await tap(path, { link })
      assert.deepStrictEqual([status, JSON.parse(text)], [200, { outcome: outcome._tag, reason }])
      const asked = { url: "https://card.example/first?p=1&c=2", amount: 21_000_000n, paymentRequest: invoice }
      assert.deepStrictEqual(charged, [asked])
    }
    assert.strictEqual(JSON.parse((await service.ask("GET", `${path}/state`)).text).status, "open")
  })

  it("card: the page says where, and where no card can be asked there is nothing", async () => {
    const { path } = await created()
    assert.include((await service.ask("GET", path)).text, `&quot;cardUrl&quot;:&quot;${path.slice("/pay/".length)}/card&quot;`)
    const without = await start()
    const { key } = await without.company()
    const { body } = await without.ask("POST", "/v1/checkouts", { key, body: { amount: 1, currency: "sats" } })
    const other = new URL(body.data.url).pathname
    assert.include((await without.ask("GET", other)).text, "&quot;cardUrl&quot;:null")
    assert.deepStrictEqual(seen(await without.ask("POST", `${other}/card`, { body: { link } })), bad(404, "not_found"))
    await without.dispose()
  })

  it("card: what is no link of a card is refused, and nobody is asked", async () => {
    const { path } = await created()
    charged.length = 0
    const links = [
      "http://card.example/",
      "lnurlp://card.example/",
      "keyauth://card.example/",
      "lightning:lnurl1dp68gurn8ghj7",
      "javascript:alert(1)",
      "lnurlw://127.0.0.1/",
      "lnurlw://localhost/",
      "lnurlw://user:secret@card.example/",
      "lnurlw://card.example\\@127.0.0.1/",
      "lnurlw://",
      "",
      `lnurlw://card.example/${"x".repeat(CheckoutCard.limits.linkCharacters)}`
    ]
    for (const body of [...links.map((link) => ({ link })), {}, [], "not JSON", { link: 7 }])
      assert.deepStrictEqual(seen(await tap(path, body)), bad(400, "malformed"), JSON.stringify(body))
    assert.deepStrictEqual(charged, [])
  })

  it("card: only while there is an invoice over an amount to pay", async () => {
    says = Effect.succeed({ _tag: "asked" })
    const [paid, canceled, free] = [await created(), await created(), await created({ amount: null, currency: null })]
    await service.sandbox((sandbox) => sandbox.pay({ paymentRequest: paid.invoice }))
    await service.work()
    await service.ask("POST", `/v1/checkouts/${canceled.id}/cancel`, { key })
    charged.length = 0
    for (const { path } of [paid, canceled, free]) assert.deepStrictEqual(seen(await tap(path, { link })), bad(409, "conflict"))
    assert.deepStrictEqual(seen(await tap("/pay/0123456789abcdef0123456789abcdef", { link })), bad(404, "not_found"))
    assert.deepStrictEqual(charged, [])
  })

  it("card: beyond so many servers of one caller, the oldest is no longer waited for, and its outcome is unknown", async () => {
    let release = () => {}
    says = Effect.callback<Outcome>((resume) => {
      const before = release
      release = () => {
        before()
        resume(Effect.succeed({ _tag: "asked" }))
      }
    })
    const paths = await Promise.all(Array.from({ length: CheckoutCard.asked.perCaller + 1 }, async () => (await created()).path))
    charged.length = 0
    const tapped = async (path = "") => JSON.parse((await tap(path, { link }, "203.0.113.5")).text).outcome
    const first = tapped(paths[0])
    await eventually(
      "the first server",
      async () => charged.length,
      (count) => count === 1
    )
    const others = paths.slice(1).map((path) => tapped(path))
    assert.strictEqual(await first, "unknown")
    await eventually(
      "the other servers",
      async () => charged.length,
      (count) => count === paths.length
    )
    release()
    assert.deepStrictEqual(new Set(await Promise.all(others)), new Set(["asked"]))
    says = Effect.succeed({ _tag: "asked" })
    assert.strictEqual((await tap(paths[0] ?? "", { link })).status, 200)
  })
})

describe("How often cards are tried", () => {
  const asking = { uri: "", invoice: "lnbcrt1", address: null, sats: 21 }
  /** A tap from an address, at a checkout: its status. */
  const tapping = () => {
    const charge = CheckoutCard.make({ charge: () => Effect.succeed({ _tag: "asked" }) }, 1)
    return (from: string, id: string) => {
      const request = new Request("http://service/", {
        method: "POST",
        body: JSON.stringify({ link }),
        headers: { "x-forwarded-for": from }
      })
      return Effect.map(charge(HttpServerRequest.fromWeb(request), { id, companyId: CompanyId.operator }, asking), ({ status }) => status)
    }
  }
  const { perCheckout, perCaller, inAll } = CheckoutCard.limits
  for (const [what, most, everyMillis, at] of [
    ["for one checkout, from wherever", perCheckout, 60_000 / perCheckout, (n: number) => [`from ${n}`, "one"]],
    ["from one address, at whichever checkout", perCaller, 60_000 / perCaller, (n: number) => ["one", `at ${n}`]],
    // Beyond the shared rate, networks that were quiet have a reserve.
    ["in all", inAll * (1 + Throttle.reserve.times), 60_000 / inAll / Throttle.reserve.times, (n: number) => [`from ${n}`, `at ${n}`]]
  ] as const)
    it.effect(`card: ${what}, so often in a minute and no more`, () =>
      Effect.gen(function* () {
        const tap = tapping()
        const tapAt = (n: number) => {
          const [from = "", id = ""] = at(n)
          return tap(from, id)
        }
        for (let n = 0; n < most; n++) assert.strictEqual(yield* tapAt(n), 200)
        assert.strictEqual(yield* tapAt(most), 429)
        yield* TestClock.adjust(everyMillis)
        assert.strictEqual(yield* tapAt(most + 1), 200)
        assert.strictEqual(yield* tapAt(most + 2), 429)
      })
    )
})
