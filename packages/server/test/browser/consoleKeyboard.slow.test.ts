import { afterAll, assert, describe, it } from "@effect/vitest"
import type { Page } from "playwright-core"
import * as Customer from "../Customer.ts"
import { isMissing } from "./Chromium.ts"
import * as Console from "./Console.ts"

// A bookkeeper's tasks without a mouse.

const started = isMissing ? undefined : await Console.start()
afterAll(() => started?.end())

/** The most times that Tab is pressed on the way to an element: a page has fewer links and fields. */
const mostTabs = 80

describe.skipIf(isMissing)("the console with only the keyboard", () => {
  if (started === undefined) return
  const { whole, tab, signIn } = started
  const titled = (page: Page, name: string | RegExp) =>
    page.getByRole("heading", { level: 1, name }).waitFor()

  it("console: a checkout is created, an order is found and refunded, and an invoice is paid, with only the keyboard and a visible focus", () =>
    tab({}, async (page, complaints) => {
      const shop = await whole.companyWith("paid")
      await Customer.fund(shop, 200_000)
      const checkout = await Customer.data(
        201,
        shop.post("/v1/checkouts", { amount: 42.5, currency: "eur", order_id: "1042" })
      )
      await Customer.data(200, shop.post("/sandbox/pay", { payment_request: checkout.payment_request }))
      await Customer.until(shop, `/v1/checkouts/${checkout.id}`, ({ status }) => status === "paid")
      const keyboard = page.keyboard
      /** Presses Tab until the element has the focus, which must be visible on each element on the way. */
      const tabTo = async (role: "link" | "button" | "textbox", name: string | RegExp) => {
        const wanted = page.getByRole(role, { name }).first()
        await wanted.waitFor()
        for (let tabs = 0; tabs < mostTabs; tabs++) {
          if ((await wanted.and(page.locator(":focus")).count()) > 0) return
          await keyboard.press("Tab")
          const seen = await page.evaluate(
            `(() => {
              const one = document.activeElement
              const styles = [getComputedStyle(one), getComputedStyle(one, "::after")]
              return one === document.body || styles.some(({ outlineStyle, outlineWidth }) => outlineStyle !== "none" && outlineWidth !== "0px") ? "" : one.outerHTML
            })()`
          )
          assert.strictEqual(seen, "", "an element without a visible focus")
        }
        assert.fail(`${String(name)} was not reached`)
      }
      const open = async (role: "link" | "button", name: string | RegExp) => {
        await tabTo(role, name)
        await keyboard.press("Enter")
      }
      const type = async (name: string | RegExp, text: string) => {
        await tabTo("textbox", name)
        await keyboard.press("ControlOrMeta+A")
        await keyboard.type(text)
      }

      await signIn(page, shop.key)
      await open("link", "New checkout")
      await titled(page, "New checkout")
      await type("Amount", "12.50")
      await type(/^Order/, "2001")
      await open("button", "Create checkout")
      await titled(page, /^Order 2001 Open/)

      await keyboard.press("/")
      await keyboard.type("1042")
      await keyboard.press("Enter")
      await titled(page, "1 result for “1042”")
      await open("link", /^Order 1042/)
      await titled(page, /^\+[\d,]+ sats Paid$/)
      await open("link", "Refund…")
      await titled(page, "Refund order 1042")
      await type("Amount", "1000")
      await type("Your API key", shop.key)
      await open("button", /^Refund up to/)
      await titled(page, "Refund of 1,000 sats created")

      const { destination } = await Customer.outside(shop, "lightning_invoice", { amount_sats: 1000 })
      await open("link", "Send")
      await titled(page, "Send")
      await type("To", destination)
      await keyboard.press("Enter")
      await titled(page, "Check and send")
      await open("button", "Send 1,000 sats")
      await titled(page, /^−1,000 sats/)
      assert.deepStrictEqual(complaints, [])
    }))
})
