import { afterAll, assert, describe, it } from "@effect/vitest"
import { corpus, unkept } from "@satrail/testing/Corpus"
import * as Document from "@satrail/ui/checkout/Document"
import type { Locale, Page, State } from "@satrail/ui/checkout/State"
import * as Html from "../src/wire/Html.ts"
import { bad, seen, start } from "./Service.ts"

// Renders every page with each of two hundred texts in every field that an anonymous user can fill.

const service = await start()
afterAll(service.dispose)
const { key } = await service.company()
await service.lightningAddress(key, "alice")

/** The structure a browser would parse: elements and attribute names, in order. */
const shape = (html: string): string => html.replaceAll(/="[^"]*"/g, '=""').replaceAll(/>[^<]*</g, "><")
const names: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"' }
const decoded = (html: string): string =>
  html.replaceAll(/&(amp|lt|gt|quot);/g, (_, name) => names[name] ?? "")

/** Returns the texts that change the page's structure, or that the page does not show exactly. */
const broken = (
  draw: (text: string) => string,
  texts: ReadonlyArray<string> = corpus
): ReadonlyArray<string> => {
  const plain = shape(draw("tea"))
  return texts.filter((text) => {
    const html = draw(text)
    return shape(html) !== plain || !decoded(html).includes(text)
  })
}

const files = (text: string) => ({ styles: [text], script: text, icon: text, color: text })
const open: State = {
  status: "open",
  asking: { uri: "bitcoin:x", invoice: "lnbc1", address: "bc1", sats: 1 },
  restSats: 0,
  receivedSats: 1,
  pendingSats: 1,
  confirmations: { seen: 0, needed: 1 },
  overSats: 0,
  isLate: false,
  isRenewable: false,
  questions: null,
  payments: [],
  refunds: [],
  paidAtMillis: null,
  endedAtMillis: null,
  expiresAtMillis: 0,
  nowMillis: 0
}
const payment = {
  way: "chain",
  sats: 1,
  isPending: true,
  atMillis: 0,
  reference: null,
  explorerUrl: null
} as const
const states: ReadonlyArray<(text: string) => State> = [
  (text) => ({ ...open, asking: { uri: "bitcoin:x", invoice: text, address: text, sats: 1 } }),
  () => ({ ...open, status: "underpaid" }),
  (text) => ({
    ...open,
    asking: null,
    payments: [{ ...payment, reference: text, explorerUrl: `https://explorer.example/${text}` }]
  }),
  () => ({ ...open, status: "expired", asking: null, isRenewable: true }),
  () => ({ ...open, questions: "due" }),
  () => ({ ...open, questions: "answered" }),
  () => ({ ...open, status: "canceled", asking: null }),
  () => ({ ...open, status: "paid", asking: null, overSats: 1, isLate: true, paidAtMillis: 0 }),
  () => ({
    ...open,
    status: "paid",
    asking: null,
    refunds: [{ sats: 1, status: "open", lnurl: "lnurl1", expiresAtMillis: 0 }]
  })
]
const pageOf = (text: string, locale: Locale): Page => ({
  locale,
  description: text,
  orderId: text,
  amountSats: 1,
  fiat: locale === "en" ? { amount: "12.5", currency: "eur", rate: "60000" } : null,
  about: text,
  returnUrl: `https://shop.example/${text}`,
  cancelUrl: `https://shop.example/${text}`,
  price: {
    amountSats: 1000,
    fiat: locale === "en" ? { amount: "12.5", currency: "eur", rate: "60000" } : null
  },
  tipPercent: 5,
  tips: [0, 5],
  asksEmail: true,
  contact: `https://shop.example/${text}`,
  renewal: { url: `${text}/renew`, method: "post" },
  answerUrl: `${text}/answer`,
  reference: text,
  createdAtMillis: 0,
  stateUrl: `${text}/state`,
  seller: text,
  isStreamed: true,
  receiptUrl: `${text}/receipt`,
  isTest: true,
  sandboxUrl: `${text}/sandbox`,
  embedOrigin: text
})

describe("hostile texts", () => {
  it("corpus: the two hundred texts differ from each other, and none is too long for its field", () => {
    assert.deepStrictEqual([corpus.length, new Set(corpus).size], [200, 200])
    for (const text of corpus) assert.isAtMost(text.length, 200)
  })

  for (const [at, state] of states.entries())
    it(`corpus: the payment page escapes every text, in state ${at + 1} of ${states.length}`, () => {
      assert.deepStrictEqual(
        broken(
          (text) => Document.page(pageOf(text, at % 2 === 0 ? "en" : "ar"), state(text), files(text)),
          [...corpus, ...unkept]
        ),
        []
      )
    })

  it("corpus: a Lightning address's form escapes every text", () => {
    const fiat = { currency: "eur", min: "0.01", max: "100" }
    const asked = {
      locale: "en",
      minSats: 1,
      maxSats: 2,
      fiat,
      unit: "fiat",
      messageCharacters: 280,
      wrong: "number",
      isTest: true
    } as const
    assert.deepStrictEqual(
      broken((text) =>
        Document.ask({ ...asked, to: text, amount: text, message: text, action: text }, files(text))
      ),
      []
    )
  })

  it("corpus: a page without scripts escapes every text", () => {
    assert.deepStrictEqual(
      broken((text) => Html.page({ title: text, body: Html.h("p", { title: text }, text) })),
      []
    )
  })

  it("corpus: a text in place of the amount returns the form again, whatever the text", async () => {
    const post = async (amount: string) => {
      const body = new URLSearchParams({ amount, unit: "sats" })
      const answer = await service.handler(
        new Request("http://service/pay/to/alice", {
          method: "POST",
          body,
          headers: { host: "pay.example.com" }
        })
      )
      return { status: answer.status, html: await answer.text() }
    }
    const plain = shape((await post("tea")).html)
    for (const text of [...corpus, ...unkept]) {
      const { status, html } = await post(text)
      assert.deepStrictEqual([status, shape(html)], [422, plain], text)
    }
  })

  it("corpus: an unknown handle returns 404 and is not echoed", async () => {
    const plain = (await service.ask("GET", "/pay/to/nobody")).text
    for (const text of corpus) {
      const { status, text: html } = await service.ask("GET", `/pay/to/${encodeURIComponent(text)}`)
      // A path made of dots has no page, and a string with a slash is a different path.
      if (html.startsWith("<!doctype")) assert.deepStrictEqual([status, html], [404, plain], text)
      else assert.isAtLeast(status, 400, text)
    }
  })

  it("corpus: every text is rejected as a return URL, a frame origin and a color", async () => {
    for (const text of corpus)
      for (const member of ["return_url", "cancel_url", "embed_origin", "color"]) {
        const body = { amount: 1000, currency: "sats", [member]: text }
        assert.deepStrictEqual(
          seen(await service.ask("POST", "/v1/checkouts", { key, body })),
          bad(400, "malformed"),
          `${member}: ${text}`
        )
      }
  })

  it("corpus: a string that cannot be stored is rejected in every field", async () => {
    for (const text of unkept)
      for (const member of ["description", "order_id"] as const) {
        const body = { amount: 1000, currency: "sats", [member]: text }
        assert.deepStrictEqual(
          seen(await service.ask("POST", "/v1/checkouts", { key, body })),
          bad(400, "malformed"),
          member
        )
      }
  })
})
