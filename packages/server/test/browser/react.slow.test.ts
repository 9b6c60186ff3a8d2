import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { eventually, longestMillis } from "@satrail/testing/Waiting"
import { boundPort } from "@satrail/testing/boundPort"
import { createServer, type Server } from "node:http"
import path from "node:path"
import type { Browser, Page } from "playwright-core"
import { rolldown } from "rolldown"
import * as Checkouts from "./Checkouts.ts"
import { isMissing, launch } from "./Chromium.ts"

// @satrail/react in a real browser, on a shop's page with a different origin than the service.

/** The shop's script. */
const script = async (): Promise<string> => {
  const bundle = await rolldown({
    input: path.resolve(import.meta.dirname, "../../../react/browser/Shop.ts"),
    platform: "browser",
    transform: { define: { "process.env.NODE_ENV": '"production"' } }
  })
  const { output } = await bundle.generate({ format: "esm" })
  return output[0].code
}

describe.skipIf(isMissing)("the checkout for React in a browser", () => {
  let browser: Browser
  let started: Checkouts.Started
  let shop: Server
  let origin = ""
  beforeAll(async () => {
    const code = await script()
    shop = createServer((request, response) => {
      const isScript = request.url === "/shop.js"
      response.setHeader("content-type", isScript ? "text/javascript" : "text/html")
      response.end(
        isScript
          ? code
          : `<!doctype html><html lang="en"><title>Shop</title><script type="module" src="/shop.js"></script>`
      )
    }).listen(0, "127.0.0.1")
    origin = `http://127.0.0.1:${await boundPort(shop)}`
    ;[browser, started] = await Promise.all([launch(), Checkouts.start()])
  })
  afterAll(async () => {
    await browser?.close()
    shop?.close()
    await started?.whole.end()
  })

  const visit = async <A>(
    id: string,
    look: (page: Page) => Promise<A>,
    complaints: Array<string> = []
  ): Promise<A> => {
    const context = await browser.newContext({ permissions: ["clipboard-read", "clipboard-write"] })
    context.setDefaultTimeout(longestMillis)
    const page = await context.newPage()
    page.on("pageerror", (error) => complaints.push(String(error)))
    try {
      await page.goto(`${origin}/?id=${encodeURIComponent(id)}`)
      return await look(page)
    } finally {
      await context.close()
    }
  }
  const statusOf = (page: Page) => page.locator("section").getAttribute("data-status")
  const message = (page: Page) => page.getByRole("status")

  it("react: the component shows the amount, QR code and invoice, then reports the payment once", async () => {
    const made = await started.make()
    const complaints: Array<string> = []
    await visit(
      started.page(made),
      async (page) => {
        await message(page).getByText("21,000 sats").waitFor()
        assert.strictEqual(await statusOf(page), "open")
        assert.isTrue(await page.getByText(made.payment_request).isVisible())
        assert.include(
          (await page.getByRole("link", { name: "Open in wallet" }).getAttribute("href")) ?? "",
          made.address
        )
        await eventually(
          "a QR code",
          () => page.evaluate("document.images[0].naturalWidth"),
          (width) => Number(width) > 0
        )
        await page.getByRole("button", { name: "Copy" }).click()
        await page.getByRole("button", { name: "Copied" }).waitFor()
        assert.strictEqual(await page.evaluate("navigator.clipboard.readText()"), made.payment_request)
        await started.pay(made)
        await message(page).getByText("Paid. Thank you!").waitFor()
        assert.deepStrictEqual(
          [await statusOf(page), await page.locator("output").textContent()],
          ["paid", "paid: 21000"]
        )
        assert.strictEqual(await page.locator("img").count(), 0)
      },
      complaints
    )
    assert.deepStrictEqual(complaints, [])
  })

  it("react: after a partial payment the remaining amount is shown with a new QR code", async () => {
    const made = await started.make()
    await visit(started.page(made), async (page) => {
      const picture = () => page.locator("img").getAttribute("src")
      await message(page).getByText("21,000 sats").waitFor()
      const before = await picture()
      await started.part(made, 6000)
      await message(page).getByText("Received 6,000 sats. Still due: 15,000 sats.").waitFor()
      assert.notStrictEqual(await picture(), before)
    })
  })

  it("react: a tip or email address is asked on the checkout's page, and then the QR code is shown", async () => {
    const made = await started.make({ options: ["tip", "email"] })
    await visit(started.page(made), async (page) => {
      const link = page.getByRole("link", { name: "Continue to payment" })
      await link.waitFor()
      assert.deepStrictEqual(
        [await link.getAttribute("href"), await page.locator("img").count()],
        [started.page(made), 0]
      )
      await Checkouts.answer(started.page(made), { tip: "0", email: "payer@example.com" })
      await page.locator("img").waitFor()
      assert.strictEqual(await link.count(), 0)
    })
  })

  it("react: an expired checkout links to the new quote on its page, and then the new QR code is shown", async () => {
    const made = await started.make({ options: ["new_quote"], expiry_seconds: 60 })
    await visit(started.page(made), async (page) => {
      await page.locator("img").waitFor()
      await started.advance(61)
      await page.getByRole("link", { name: "Get a new payment code" }).waitFor()
      assert.strictEqual(await statusOf(page), "expired")
      await Checkouts.renew(started.page(made))
      await page.locator("img").waitFor()
    })
  })

  it("react: a canceled checkout and an unknown id show nothing to pay", async () => {
    const made = await started.make()
    await visit(started.page(made), async (page) => {
      await message(page).getByText("21,000 sats").waitFor()
      await started.cancel(made)
      await message(page).getByText("canceled").waitFor()
      assert.deepStrictEqual([await statusOf(page), await page.locator("img").count()], ["canceled", 0])
    })
    await visit(`${started.whole.url}/pay/0`, async (page) => {
      await message(page).getByText("This payment does not exist.").waitFor()
      assert.strictEqual(await statusOf(page), "missing")
    })
  })
})
