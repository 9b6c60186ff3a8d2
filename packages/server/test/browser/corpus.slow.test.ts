import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { corpus } from "@satrail/testing/Corpus"
import type { Page } from "playwright-core"
import * as Customer from "../Customer.ts"
import { isMissing } from "./Chromium.ts"
import * as Console from "./Console.ts"
import { ofCompany, ofOperator } from "./Console.ts"

// The console, with two hundred hostile strings in companies' records.

describe.skipIf(isMissing)("the console and hostile text", () => {
  let started: Console.Console
  beforeAll(async () => {
    started = await Console.start()
  })
  afterAll(async () => {
    await started?.end()
  })

  /**
   * Opens a signed-in tab. Fails if a script ran, if anything else was loaded, or if the content security
   * policy blocked anything.
   */
  const signedIn = (storageState: Console.State, look: (page: Page) => Promise<void>): Promise<void> =>
    started.tab({ storageState }, async (page, complaints) => {
      page.on("dialog", (dialog) => void dialog.dismiss().then(() => complaints.push("a dialog")))
      await page.exposeFunction("__xss", () => complaints.push("it ran"))
      await look(page)
      assert.deepStrictEqual(complaints, [])
    })
  const hasNoElements = async (page: Page, where: string) =>
    assert.strictEqual(
      await page
        .locator("main :is(script, style, iframe, img, object, embed, base, meta, form form)")
        .count(),
      0,
      where
    )

  /** Creates one record of each kind, so that no list is empty. Returns the paths of the records' pages. */
  const filled = async (): Promise<ReadonlyArray<string>> => {
    const amount = { amount: 100, currency: "sats" }
    const { shop, whole } = started
    const post = (path: string, body: unknown) => Customer.data(201, shop.post(path, body))
    const voucher = await post("/v1/vouchers", amount)
    const address = await post("/v1/bitcoin/deposit/lightning-address", {})
    const { address: chain } = await post("/v1/bitcoin/deposit/on-chain", {})
    const endpoint = await post("/v1/webhook-endpoints", { url: `${whole.url}/sandbox/webhooks/strangers` })
    const [checkout, invoice] = [
      await post("/v1/checkouts", amount),
      await post("/v1/bitcoin/deposit/lightning-invoice", amount)
    ]
    const [deposit] = await Customer.transactions(shop, "type=deposit&limit=1")
    const { id } = await post("/v1/bitcoin/withdraw/confirm", {
      ...amount,
      destination: "no-route@wallet.example"
    })
    const path = `/v1/transactions/withdrawals/${id}`
    await Customer.until(shop, path, ({ status }) => status === "failed")
    return [
      `payments/out/${id}`,
      `payments/in/${deposit.id}`,
      `checkouts/${checkout.id}`,
      `webhooks/${endpoint.id}`,
      `invoices/${invoice.id}`,
      `addresses/${address.id}`,
      `addresses/on-chain/${chain.id}`,
      `vouchers/${voucher.id}`
    ]
  }

  it("corpus: a company's pages show hostile names, descriptions, order ids and metadata as plain text", async () => {
    const records = await filled()
    const { shop, whole } = started
    const texts = corpus.filter((text) => text.trim() === text && text.length > 0 && text.length <= 200)
    const bodies = texts
      .slice(0, 40)
      .map((text) => ({ amount: 100, currency: "sats", description: text, metadata: { text } }))
    for (const body of bodies)
      await Customer.data(201, shop.post("/v1/checkouts", { ...body, order_id: body.description }))
    for (const path of ["/v1/bitcoin/deposit/lightning-invoice", "/v1/vouchers"])
      for (const body of bodies) await Customer.data(201, shop.post(path, { ...body, amount: 1 }))
    await signedIn(started.signedIn.company, async (page) => {
      for (const path of [...ofCompany.map(([path]) => path), ...records]) {
        await page.goto(`${whole.url}/console${path === "" ? "" : `/${path}`}`)
        await page.getByRole("heading", { level: 1 }).waitFor()
        await hasNoElements(page, path)
      }
      await page.goto(`${whole.url}/console/checkouts`)
      const asShown = (text: string) => text.replaceAll(/\r\n?/g, "\n")
      const shown = await page.locator("main tbody a").allTextContents()
      for (const text of texts.slice(0, 40)) assert.include(shown, `Order ${asShown(text)}`)
      for (const path of ["invoices", "vouchers"]) {
        await page.goto(`${whole.url}/console/${path}`)
        const titles = await page.locator("main tbody a").allTextContents()
        for (const text of texts.slice(0, 40)) assert.include(titles, asShown(text), path)
      }
    })
  })

  it("corpus: an operator's pages show hostile company names, reasons and notes as plain text", () =>
    signedIn(started.signedIn.operator, async (page) => {
      const { whole } = started
      const texts = corpus
        .filter((text) => text.trim() === text && text.length > 0 && text.length <= 200)
        .slice(0, 40)
      const records: Array<string> = []
      for (const text of texts) {
        const { id } = await Customer.data(201, whole.operate("/companies", { name: text, plan: "free" }))
        await Customer.data(200, whole.operate(`/companies/${id}/freeze`, { reason: text, pending: "wait" }))
        const adjustment = { company_id: id, amount_sats: 1, reason: text, note: text }
        const { id: adjustmentId } = await Customer.data(201, whole.operate("/adjustments", adjustment))
        records.push(`companies/${id}`, `companies/${id}/unfreeze`, `adjustments/${adjustmentId}`)
      }
      for (const path of [...ofOperator.map(([path]) => path), ...records]) {
        await page.goto(`${whole.url}/operator/console${path === "" ? "" : `/${path}`}`)
        await page.getByRole("heading", { level: 1 }).waitFor()
        await hasNoElements(page, path)
      }
      await page.goto(`${whole.url}/operator/console/companies`)
      const shown = await page.locator("main tbody a.row").allTextContents()
      for (const text of texts) assert.include(shown, text.replaceAll(/\r\n?/g, "\n"))
    }))

  it("corpus: hostile text in a payment's metadata is shown verbatim", () =>
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
        await page.goto(`${started.whole.url}/console/payments/in/${id}`)
        await page.getByText("Metadata", { exact: true }).waitFor()
        const shown = await page.locator("main dd code").allTextContents()
        // An HTML parser turns each line break into one line feed.
        for (const [at, text] of texts.entries())
          assert.include(shown, `text-${at}=${text.replaceAll(/\r\n?/g, "\n")}`)
        await hasNoElements(page, id)
      }
    }))
})
