import * as Bip21 from "@satrail/bitcoin/Bip21"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { Checkouts } from "@satrail/core/receiving/Checkouts"
import { Effect, Result } from "effect"
import { createHash } from "node:crypto"
import { uriOf } from "../src/CheckoutPage.ts"
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
const follow = () => service.run(Effect.flatMap(Checkouts, ({ step }) => step))
/** What the page says, without its tags. */
const said = (text: string): string =>
  text
    .replace(/<style>[^]*?<\/style>/, "")
    .replaceAll(/<[^>]*>/g, " ")
    .replaceAll(/\s+/g, " ")

describe("The page of a checkout", () => {
  it("page: it shows what is to be paid, in one code for every wallet, and looks again", async () => {
    const made = await created({ description: "Tea", order_id: "1042", cancel_url: "https://shop.example/cart" })
    const { status, headers, text } = await page(made)
    assert.deepStrictEqual([status, headers.get("content-type"), headers.get("refresh")], [200, "text/html; charset=utf-8", "10"])
    for (const words of ["Tea", "Order 1042", "21,000 sats", made.payment_request, made.address]) assert.include(said(text), words)
    assert.include(text, 'href="https://shop.example/cart"')
    const shown = await service.run(Effect.flatMap(Checkouts, ({ open }) => open(new URL(made.url).pathname.slice("/pay/".length))))
    const uri = Result.getOrThrow(Bip21.parse(uriOf(shown)))
    assert.deepStrictEqual(uri, { address: made.address, amount: service.sats(21_000), lightning: made.payment_request })
    assert.include(text, `href="${uriOf(shown).replace("&", "&amp;")}"`)
  })

  it("page: no id of ours, no metadata, and nothing that others may keep or frame", async () => {
    const made = await created({ metadata: { customer: "someone in particular" } })
    const { headers, text } = await page(made)
    for (const secret of [made.id, made.company_id, made.invoice_id, "someone in particular"]) assert.notInclude(text, secret)
    assert.deepStrictEqual([headers.get("cache-control"), headers.get("referrer-policy")], ["no-store", "no-referrer"])
    const [, style = ""] = /<style>([^]*?)<\/style>/.exec(text) ?? []
    const hash = createHash("sha256").update(style).digest("base64")
    assert.strictEqual(
      headers.get("content-security-policy"),
      `default-src 'none'; style-src 'sha256-${hash}'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`
    )
    assert.notMatch(text, /<script|\sstyle=|\son\w+=/i)
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
    const { text, headers } = await page(made)
    assert.include(said(text), "Received: 10,001 sats That is 1 sats more than was asked for.")
    assert.include(text, 'href="https://shop.example/thanks"')
    assert.notInclude(text, made.address)
    assert.isNull(headers.get("refresh"))
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
        assert.include(text, `<html lang="${locale}"${locale === "ar" ? ' dir="rtl"' : ""}>`)
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
})
