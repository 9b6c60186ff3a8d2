import { afterAll, assert, describe, it } from "@effect/vitest"
import { start } from "./Service.ts"

const service = await start({ http: { console: true } })
afterAll(service.dispose)

/** Returns a function that requests pages of the console as a key with these scopes. */
const visiting = async (...scopes: Parameters<typeof service.company>) => {
  const { key } = await service.company(...scopes)
  const headers = { cookie: await service.signIn(key), "sec-fetch-site": "same-origin" }
  const visit = (path: string, form?: Record<string, string>) =>
    service.handler(
      new Request(`http://service/console${path}`, {
        headers,
        ...(form && { method: "POST", body: new URLSearchParams(form) })
      })
    )
  return { key, visit }
}

/** Returns the console's pages to which a page links. */
const linksIn = (text: string) =>
  new Set([...text.matchAll(/href="(?:\.\.\/)*console([^"#?]*)"/g)].map(([, path = ""]) => path))

describe("a key without some scopes in the console", () => {
  it("console: a key that can only receive sees what it can do, and its new checkout's payment page", async () => {
    const { visit } = await visiting("paid", "receive")
    const overview = await visit("")
    const text = await overview.text()
    assert.strictEqual(overview.status, 200)
    assert.include(text, "can’t read payments")
    const pages = linksIn(text)
    assert.include([...pages], "/checkouts/new")
    for (const page of pages) assert.strictEqual((await visit(page)).status, 200, page)
    const made = await visit("/checkouts/new", { amount: "21", currency: "sats", once: "1" })
    assert.strictEqual(made.status, 303)
    assert.match(made.headers.get("location") ?? "", /^\.\.\/\.\.\/pay\/\w+$/)
  })

  it("console: a key that can only send returns to the overview after it has sent", async () => {
    const { key, visit } = await visiting("paid", "receive", "send")
    await service.fund(key, 1000)
    assert.include(await (await visit("")).text(), 'console/send"')
    const destination = await service.lightningAddress((await service.company()).key, "payee")
    const form = {
      destination,
      amount: "21",
      currency: "sats",
      max_fee_sats: "0",
      once: "1",
      credential: key
    }
    const sent = await visit("/send", form)
    assert.deepStrictEqual([sent.status, sent.headers.get("location")], [303, "../console"])
  })

  it("console: the menu, overview and limits of a key that can only read link only to pages that it may read", async () => {
    const { visit } = await visiting("paid", "read")
    const pages = [
      ...linksIn(await (await visit("")).text()),
      ...linksIn(await (await visit("/limits")).text())
    ]
    const refused = []
    for (const page of new Set(pages)) if ((await visit(page)).status !== 200) refused.push(page)
    assert.deepStrictEqual(refused, [])
  })

  it("console: the page that refuses an action links only to pages that exist", async () => {
    const { visit } = await visiting("paid", "read")
    const refused = await visit("/send")
    assert.strictEqual(refused.status, 403)
    const links = [...linksIn(await refused.text())]
    assert.isNotEmpty(links)
    for (const page of links) assert.notStrictEqual((await visit(page)).status, 404, page)
  })

  it("console: a key that can't read the account must be replaced by another", async () => {
    const { visit } = await visiting("paid", "webhooks")
    const page = await visit("")
    assert.strictEqual(page.status, 403)
    const text = await page.text()
    assert.include(text, "requires a key with the scope")
    assert.include(text, 'name="credential"')
  })
})
