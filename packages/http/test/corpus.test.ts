import { afterAll, assert, describe, it } from "@effect/vitest"
import { corpus, unkept } from "@satrail/testing/Corpus"
import * as Document from "@satrail/ui/checkout/Document"
import type { Locale, Page, State } from "@satrail/ui/checkout/State"
import * as Html from "../src/wire/Html.ts"
import { bad, seen, start } from "./Service.ts"

// Every page that is drawn here, with each of two hundred texts in every place where a stranger can put one.

const service = await start()
afterAll(service.dispose)
const { key } = await service.company()
await service.lightningAddress(key, "alice")

/** What a browser would make of it besides text: its elements with the names of their attributes, in their order. */
const shape = (html: string): string => html.replaceAll(/="[^"]*"/g, '=""').replaceAll(/>[^<]*</g, "><")
const names: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"' }
const decoded = (html: string): string => html.replaceAll(/&(amp|lt|gt|quot);/g, (_, name) => names[name] ?? "")

/** Those of the texts that make other elements of a page than a harmless one, or that it does not say to the letter. */
const broken = (draw: (text: string) => string, texts: ReadonlyArray<string> = corpus): ReadonlyArray<string> => {
  const plain = shape(draw("tea"))
  return texts.filter((text) => {
    const html = draw(text)
    return shape(html) !== plain || !decoded(html).includes(text)
  })
}

const files = (text: string) => ({ style: text, script: text, icon: text, color: text })
const open: State = {
  status: "open",
  asking: { uri: "bitcoin:x", invoice: "lnbc1", address: "bc1", sats: 1 },
  receivedSats: 1,
  pendingSats: 1,
  confirmations: { seen: 0, needed: 1 },
  overSats: 0,
  isLate: false,
  refunds: [],
  paidAtMillis: null,
  expiresAtMillis: 0,
  nowMillis: 0
}
const states: ReadonlyArray<(text: string) => State> = [
  (text) => ({ ...open, asking: { uri: "bitcoin:x", invoice: text, address: text, sats: 1 } }),
  () => ({ ...open, status: "underpaid" }),
  () => ({ ...open, status: "expired", asking: null }),
  () => ({ ...open, status: "canceled", asking: null }),
  () => ({ ...open, status: "paid", asking: null, overSats: 1, isLate: true, paidAtMillis: 0 }),
  () => ({ ...open, status: "paid", asking: null, refunds: [{ sats: 1, status: "open", lnurl: "lnurl1", expiresAtMillis: 0 }] })
]
const pageOf = (text: string, locale: Locale): Page => ({
  locale,
  description: text,
  orderId: text,
  amountSats: 1,
  fiat: text,
  returnUrl: `https://shop.example/${text}`,
  cancelUrl: `https://shop.example/${text}`,
  reference: text,
  stateUrl: `${text}/state`,
  seller: text,
  isStreamed: true,
  sandboxUrl: null,
  embedOrigin: text
})

describe("Texts of strangers", () => {
  it("corpus: two hundred texts, each another one, and none too long for where it goes", () => {
    assert.deepStrictEqual([corpus.length, new Set(corpus).size], [200, 200])
    for (const text of corpus) assert.isAtMost(text.length, 200)
  })

  for (const [at, state] of states.entries())
    it(`corpus: the page of a payment has them as text, everywhere, in its state ${at + 1} of ${states.length}`, () => {
      assert.deepStrictEqual(
        broken((text) => Document.page(pageOf(text, at % 2 === 0 ? "en" : "ar"), state(text), files(text)), [...corpus, ...unkept]),
        []
      )
    })

  it("corpus: the form of a Lightning address has them as text", () => {
    const asked = { locale: "en", minSats: 1, maxSats: 2 } as const
    assert.deepStrictEqual(
      broken((text) => Document.ask({ ...asked, to: text, wrong: text, action: text }, files(text))),
      []
    )
  })

  it("corpus: a page without script has them as text", () => {
    assert.deepStrictEqual(
      broken((text) => Html.page({ title: text, body: `<p title="${Html.escaped(text)}">${Html.escaped(text)}</p>`, style: "" })),
      []
    )
  })

  it("corpus: an amount that is none of them is answered with the form again, whatever it is", async () => {
    const post = async (sats: string) => {
      const body = new URLSearchParams({ sats })
      const answer = await service.handler(
        new Request("http://service/pay/to/alice", { method: "POST", body, headers: { host: "pay.example.com" } })
      )
      return { status: answer.status, html: await answer.text() }
    }
    const plain = shape((await post("tea")).html)
    for (const text of [...corpus, ...unkept]) {
      const { status, html } = await post(text)
      assert.deepStrictEqual([status, shape(html)], [422, plain], text)
    }
  })

  it("corpus: a handle that is none of them is not found, and not said", async () => {
    const plain = (await service.ask("GET", "/pay/to/nobody")).text
    for (const text of corpus) {
      const { status, text: html } = await service.ask("GET", `/pay/to/${encodeURIComponent(text)}`)
      // A path of dots is none that has a page, and what has a slash in it is another path.
      if (html.startsWith("<!doctype")) assert.deepStrictEqual([status, html], [404, plain], text)
      else assert.isAtLeast(status, 400, text)
    }
  })

  it("corpus: none of them is a URL that a payer is sent to, an origin that may frame a page, or a colour", async () => {
    for (const text of corpus)
      for (const member of ["return_url", "cancel_url", "embed_origin", "color"]) {
        const body = { amount: 1000, currency: "sats", [member]: text }
        assert.deepStrictEqual(seen(await service.ask("POST", "/v1/checkouts", { key, body })), bad(400, "malformed"), `${member}: ${text}`)
      }
  })

  it("corpus: what no store can hold is refused by name, wherever it is written", async () => {
    for (const text of unkept)
      for (const member of ["description", "order_id"] as const) {
        const body = { amount: 1000, currency: "sats", [member]: text }
        assert.deepStrictEqual(seen(await service.ask("POST", "/v1/checkouts", { key, body })), bad(400, "malformed"), member)
      }
  })
})
