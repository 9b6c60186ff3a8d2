import { afterAll, assert, describe, it } from "@effect/vitest"
import { link } from "@satrail/features/audit/core/AuditLog"
import { Effect } from "effect"
import { skippingTime, start } from "./Service.ts"

// Lists and exports of the console, and addresses of the console that have no page.

const service = await start({ http: { console: true }, around: skippingTime })
afterAll(service.dispose)
const { key } = await service.company()
await service.fund(key, 10_000)
const cookie = await service.signIn(key)

const perPage = 50
const open = (path: string, headers: Readonly<Record<string, string>> = { cookie }) =>
  service.send(new Request(`http://service/console${path}`, { headers }))
const create = async (
  path: string,
  count: number,
  body: object,
  then: (id: string) => Promise<unknown> = () => Promise.resolve()
) => {
  for (let n = 0; n < count; n++) {
    const {
      status,
      text,
      body: made
    } = await service.ask("POST", path, { key, body: { ...body, name: `Till ${n}` } })
    assert.strictEqual(status, 201, text)
    await then(made.data.id)
  }
}

/** The names on each page, from the newest page to the oldest. */
const paged = async (path: string): Promise<ReadonlyArray<ReadonlyArray<string>>> => {
  const all: Array<ReadonlyArray<string>> = []
  for (let at: string | undefined = path; at !== undefined;) {
    const { text } = await open(at)
    all.push(Array.from(text.matchAll(/class="row"[^>]*>(?:<bdi>)?(Till \d+)</g), ([, name = ""]) => name))
    at = /href="(?:\.\.\/)*console([^"]+)" rel="next"/.exec(text)?.[1]?.replaceAll("&amp;", "&")
  }
  return all
}
const newestFirst = (count: number) => Array.from({ length: count }, (_, n) => `Till ${count - 1 - n}`)

describe("the console's lists without filters", () => {
  it("console: people are listed by pages, of which each reads only its own rows", async () => {
    // The number of open invitations is limited, but removed people stay in the list.
    await create("/v1/people", perPage + 3, { role: "viewer" }, (id) =>
      service.ask("DELETE", `/v1/people/${id}`, { key })
    )
    const pages = await paged("/people")
    assert.deepStrictEqual(
      pages.map(({ length }) => length),
      [perPage, 3]
    )
    assert.deepStrictEqual(pages.flat(), newestFirst(perPage + 3))
  })

  it("console: all API keys are listed, by pages", async () => {
    const count = perPage + 3
    await create("/v1/api-keys", count, { scopes: ["receive"] }, (id) =>
      service.ask("DELETE", `/v1/api-keys/${id}`, { key })
    )
    const pages = await paged("/keys")
    assert.deepStrictEqual(
      pages.map(({ length }) => length),
      [perPage, 3]
    )
    assert.deepStrictEqual(pages.flat(), newestFirst(count))
  })
})

describe("the console's roles", () => {
  it("console: a person signed in with a key sees every role, and why the key cannot give the others", async () => {
    const text = await service.page(cookie, "console/people/new")
    const inputs = [...text.matchAll(/<input type="radio" name="role" value="(\w+)"( disabled)?/g)]
    assert.deepStrictEqual(
      inputs.map(([, role, disabled]) => [role, disabled !== undefined]),
      [
        ["viewer", false],
        ["bookkeeper", false],
        ["operator", true],
        ["admin", true]
      ]
    )
    assert.include(text, "You are signed in with a key, which can’t give this role.")
  })
})

describe("the console's list of payments", () => {
  /** The parameters that the form “Go to date” of a list of payments sends, in addition to its date. */
  const kept = async (query: string) => {
    const page = await service.page(cookie, `console/payments?${query}`)
    const [, form = ""] =
      /<form class="paging"[^>]*>(.*?)<\/form>/s.exec(page) ?? assert.fail("the page has no such form")
    return [...form.matchAll(/type="hidden" name="([^"]*)" value="([^"]*)"/g)]
      .map(([, name, value]) => `${name}=${value}`)
      .join("&")
  }

  it("console: going to a date keeps the list's other filters, and starts at its first page", async () => {
    const filters = "type=deposit&status=settled&rail_type=lightning"
    assert.strictEqual(await kept(filters), filters)
    assert.strictEqual(await kept(`${filters}&period=30`), filters)
    assert.strictEqual(await kept(""), "")
  })

  it("console: a day without payments that match can be left for another, and choosing a period replaces the day", async () => {
    assert.strictEqual(await kept("status=failed&day=2020-01-01"), "status=failed")
    const page = await service.page(cookie, "console/payments/filter?by=period&status=failed&day=2020-01-01")
    assert.match(page, /console\/payments\?status=failed&amp;period=7"/)
  })
})

describe("the ranges of the console's lists", () => {
  const lists = [
    "invoices",
    "checkouts",
    "offers",
    "addresses",
    "addresses/on-chain",
    "vouchers",
    "refunds",
    "transfers",
    "events",
    "audit",
    "payments"
  ]
  const rowsIn = (text: string) => [...text.matchAll(/<tr[^>]*>(?=<td)/g)].length
  const day = (millis: number) => new Date(millis).toISOString().slice(0, 10)
  const dayMillis = 86_400_000

  for (const path of lists)
    it(`console: ${path} shows any range of days, which stays in the links of its page`, async () => {
      const { body: invoice } = await service.ask("POST", "/v1/bitcoin/deposit/lightning-invoice", {
        key,
        body: { amount: 1, currency: "sats" }
      })
      await service.ask("POST", "/v1/checkouts", { key, body: { amount: 1, currency: "sats" } })
      await service.ask("POST", "/v1/bitcoin/deposit/offer", { key, body: {} })
      await service.ask("POST", "/v1/bitcoin/deposit/lightning-address", { key, body: {} })
      await service.ask("POST", "/v1/bitcoin/deposit/on-chain", { key, body: {} })
      await service.ask("POST", "/v1/vouchers", { key, body: { amount: 1, currency: "sats" } })
      await service.run(Effect.repeat(link, { while: (count) => count > 0 }))
      const nowMillis = Date.parse(invoice.data.created_at)
      const [today, yesterday, before] = [0, 1, 2].map((days) => day(nowMillis - days * dayMillis))
      const at = (query: string) => service.page(cookie, `console/${path}?${query}`)
      const all = await at("")
      const within = await at(`from=${today}&until=${today}`)
      const past = await at(`from=${before}&until=${yesterday}`)
      if (path !== "refunds" && path !== "transfers") {
        assert.isAbove(rowsIn(all), 0, "the list has records")
        assert.strictEqual(rowsIn(within), rowsIn(all), "today's records")
      }
      assert.strictEqual(rowsIn(past), 0, "no records of other days")
      for (const query of [
        `from=${before}`,
        "period=month",
        `from=${new Date(nowMillis - dayMillis).toISOString()}`
      ])
        assert.strictEqual(rowsIn(await at(query)), rowsIn(all), query)
      assert.strictEqual(rowsIn(await at("period=last-month")), 0)
      assert.match(path === "payments" ? await at("period=last-month") : past, /Last month/)
      assert.include(past, `${before} to ${yesterday}`, "the range can be removed")
      // Every filter's link keeps the range, and so does the export.
      if (path !== "audit" && path !== "refunds" && path !== "transfers")
        assert.match(within, new RegExp(`${path}/export[^"]*from=${today}&amp;until=${today}`))
      const wrong = await open(`/${path}?from=tomorrow`)
      assert.include(wrong.text, "from must be a day or a time")
    })
})

describe("the console's exports", () => {
  it("console: the export of the audit log is offered with the number of its entries only if the first page shows all of them", async () => {
    const exported = async (path: string) => /Export these ([^<]*)</.exec((await open(path)).text)?.[1]
    await service.run(Effect.repeat(link, { while: (count) => count > 0 }))
    const { data } = (await service.ask("GET", "/v1/audit?limit=1000", { key })).body
    const verbs = Map.groupBy(data, ({ verb }: { readonly verb: string }) => verb)
    const [verb, few] =
      [...verbs].find(([, { length }]) => length <= perPage) ?? assert.fail([...verbs.keys()].join())
    assert.strictEqual(await exported(`/audit?verb=${verb}`), String(few.length))
    assert.strictEqual(await exported("/audit"), "entries")
    let older: string | undefined = "/audit"
    let last = older
    while (older !== undefined) {
      last = older
      older = /href="(?:\.\.\/)*console([^"]+)" rel="next"/
        .exec((await open(older)).text)?.[1]
        ?.replaceAll("&amp;", "&")
    }
    assert.include(last, "cursor=")
    assert.strictEqual(await exported(last), "entries")
  })

  it("console: each table of a list has a name, and states by which column it is sorted", async () => {
    const { text } = await open("/audit")
    assert.match(text, /<table class="cards" role="table" aria-label="[^"]+">/)
    assert.match(text, /<th [^>]*aria-sort="descending"[^>]*>When</)
  })

  it("console: no cell of an exported list is run as a formula, whichever form its characters have", async () => {
    const texts = ["=1+1", "@SUM(1)", "＝1+1", "＋1", "－1", "＠SUM(1)", "\n=1"]
    const invoice = { amount: 1000, currency: "sats" }
    for (const description of texts)
      await service.ask("POST", "/v1/bitcoin/deposit/lightning-invoice", {
        key,
        body: { ...invoice, description }
      })
    const { text } = await open("/invoices/export")
    for (const one of texts) assert.include(text, `'${one.replace("\n", "\n'")}`, one)
  })
})

describe("an unknown address of the console", () => {
  it("console: an unknown address shows a page that leads back, or the sign-in page, but never JSON", async () => {
    for (const path of ["/nowhere", "/payments/in/x/y/z"]) {
      const { status, headers, text } = await open(path)
      assert.deepStrictEqual([status, headers.get("content-type")?.split(";")[0]], [404, "text/html"], path)
      assert.include(text, "Page not found")
      assert.match(text, /href="(?:\.\.\/)*console"[^>]*>Overview/)
    }
    assert.include((await open("/nowhere", {})).text, "Sign in with a key")
    assert.strictEqual((await open("/payments?next=/pay/")).status, 200)
  })
})
