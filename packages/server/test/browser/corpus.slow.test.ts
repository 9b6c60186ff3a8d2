import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { corpus } from "@satrail/testing/Corpus"
import { longestMillis } from "@satrail/testing/Waiting"
import type { Page, Route } from "playwright-core"
import * as Customer from "../Customer.ts"
import { eventually } from "../Service.ts"
import { isMissing } from "./Chromium.ts"
import * as Console from "./Console.ts"
import { loaded, ofCompany, ofOperator } from "./Console.ts"

// The console, with two hundred texts of strangers in every place where an answer has a text, and in what a company really keeps.

/** What the service answers, over a connection of its own: one that is kept may be closed for its age while a request is on its way to it. */
const answerOf = (route: Route) => route.fetch({ headers: { ...route.request().headers(), connection: "close" }, timeout: longestMillis })

/** What is read as something else than a text, by its name. */
const isNoText = (name: string): boolean => /(_at|_until|timestamp|^kind|^scopes|_sats|since)$/.test(name)

/** An answer in which every text is another one of the corpus, and every list of records as long as the corpus is, so that each of their texts is each of it. */
const poisoned = (value: unknown, next: () => string, name = "", at?: number): unknown => {
  if (Array.isArray(value)) {
    const [first] = value
    if (typeof first !== "object" || first === null) return value.map((one) => poisoned(one, next, name, at))
    return corpus.map((_, row) => poisoned(value[row % value.length], next, name, row))
  }
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, poisoned(one, next, key, at)]))
  if (typeof value !== "string" || isNoText(name)) return value
  return (at === undefined ? undefined : corpus[at]) ?? next()
}

describe.skipIf(isMissing)("the console, and what strangers write", () => {
  let started: Console.Console
  beforeAll(async () => {
    started = await Console.start()
  })
  afterAll(async () => {
    await started?.end()
  })

  /** A tab of somebody who is signed in, in which nothing ran, was loaded or was refused by its policy. */
  const signedIn = (storageState: Console.State, look: (page: Page) => Promise<void>): Promise<void> =>
    started.tab({ storageState }, async (page, complaints) => {
      page.on("dialog", (dialog) => void dialog.dismiss().then(() => complaints.push("a dialog")))
      await page.exposeFunction("__xss", () => complaints.push("it ran"))
      await page.goto(`${started.whole.url}/console`)
      await page.getByRole("navigation").waitFor()
      await look(page)
      // The stream of events is taken away.
      assert.deepStrictEqual(
        complaints.filter((one) => !one.includes("ERR_FAILED")),
        []
      )
    })
  const hasNoElements = async (page: Page, where: string) =>
    assert.strictEqual(await page.locator("main :is(script, style, iframe, img, object, embed, base, meta, form form)").count(), 0, where)

  /** Has every answer say the corpus from here on. */
  const poison = async (page: Page) => {
    let at = 0
    const next = () => corpus[at++ % corpus.length] ?? ""
    await page.route(/\/(v1|operator|console\/session)/, async (route) => {
      if (route.request().url().includes("/stream")) return route.abort()
      const response = await answerOf(route)
      const body: unknown = await response.json().catch(() => undefined)
      return body === undefined ? route.fulfill({ response }) : route.fulfill({ response, json: poisoned(body, next) })
    })
    await page.reload()
  }
  const visit = async (page: Page, names: ReadonlyArray<string>) => {
    for (const name of names) {
      await page.getByRole("navigation").getByRole("link", { name, exact: true }).click()
      await loaded(page)
      await hasNoElements(page, name)
    }
  }

  /** One of everything that a company has, so that no list is empty: where each has a page of its own. */
  const filled = async (): Promise<ReadonlyArray<string>> => {
    const amount = { amount: 100, currency: "sats" }
    const { shop, whole } = started
    const post = (path: string, body: unknown) => Customer.data(201, shop.post(path, body))
    await post("/v1/vouchers", amount)
    await post("/v1/bitcoin/deposit/lightning-address", {})
    await post("/v1/bitcoin/deposit/on-chain", {})
    const endpoint = await post("/v1/webhook-endpoints", { url: `${whole.url}/sandbox/webhooks/strangers` })
    const [checkout, invoice] = [await post("/v1/checkouts", amount), await post("/v1/bitcoin/deposit/lightning-invoice", amount)]
    const [deposit] = await Customer.transactions(shop, "type=deposit&limit=1")
    const { id } = await post("/v1/bitcoin/withdraw/confirm", { ...amount, destination: "no-route@wallet.example" })
    const path = `/v1/transactions/withdrawals/${id}`
    await eventually(
      "a withdrawal that failed",
      () => Customer.data(200, shop.get(path)),
      ({ status }) => status === "failed"
    )
    return [`withdrawal/${id}`, `deposit/${deposit.id}`, `checkout/${checkout.id}`, `invoice/${invoice.id}`, `webhook/${endpoint.id}`]
  }

  it("corpus: every text of every answer to a company is text on every page, each of two hundred in each list", async () => {
    const records = await filled()
    await signedIn(started.signedIn.company, async (page) => {
      await poison(page)
      await visit(page, ofCompany)
      for (const record of records) {
        await page.goto(`${started.whole.url}/console#/${record}`)
        await loaded(page)
        await hasNoElements(page, record)
      }
      await page.goto(`${started.whole.url}/console#/webhooks`)
      const names = page.getByRole("table").first().locator("tbody a")
      await names.first().waitFor()
      assert.deepStrictEqual(await names.allTextContents(), corpus)
    })
  })

  it("corpus: every text of every answer to an operator is text on every page", () =>
    signedIn(started.signedIn.operator, async (page) => {
      await poison(page)
      await visit(page, ofOperator)
      const strange = page.locator("main").getByText("evil.example").first()
      await strange.waitFor()
      assert.isTrue(await strange.isVisible())
    }))

  it("corpus: why a node says that a payment failed is shown to the letter", async () => {
    const [record = ""] = await filled()
    await signedIn(started.signedIn.company, async (page) => {
      for (const message of corpus.filter((_, at) => at % 10 === 0)) {
        await page.route(/\/v1\/transactions\/withdrawals\//, async (route) => {
          const response = await answerOf(route)
          const body = await response.json()
          const failure = { ...body.data.failure, message }
          return route.fulfill({ response, json: { ...body, data: { ...body.data, failure } } })
        })
        await page.goto(`${started.whole.url}/console`)
        await page.goto(`${started.whole.url}/console#/${record}`)
        await page.getByText("Why it failed").waitFor()
        assert.include(await page.locator("main dd").allTextContents(), message)
        await page.unrouteAll({ behavior: "wait" })
      }
    })
  })

  it("corpus: what a company keeps of strangers is shown to the letter", () =>
    signedIn(started.signedIn.company, async (page) => {
      const { shop } = started
      const perDeposit = 50
      for (let from = 0; from < corpus.length; from += perDeposit) {
        const texts = corpus.slice(from, from + perDeposit)
        const metadata = Object.fromEntries(texts.map((text, at) => [`text-${at}`, text]))
        const body = { amount: 100, currency: "sats", description: texts[0], metadata }
        const made = await Customer.data(201, shop.post("/v1/bitcoin/deposit/lightning-invoice", body))
        const before = await Customer.balance(shop)
        await Customer.data(200, shop.post("/sandbox/pay", { payment_request: made.payment_request }))
        await Customer.hasBalance(shop, before + 100)
        const [{ id }] = await Customer.transactions(shop, "type=deposit&limit=1")
        await page.goto(`${started.whole.url}/console#/deposit/${id}`)
        await page.getByText("metadata: text-0", { exact: true }).waitFor()
        const shown = await page.locator("main dd").allTextContents()
        for (const text of texts) assert.include(shown, text)
        await hasNoElements(page, id)
      }
    }))
})
