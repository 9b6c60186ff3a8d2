import { afterAll, assert, describe, it } from "@effect/vitest"
import type { Page } from "playwright-core"
import * as Customer from "../Customer.ts"
import type { Company } from "../Service.ts"
import * as Whole from "../Whole.ts"
import { isMissing } from "./Chromium.ts"
import * as Console from "./Console.ts"
import * as Overseen from "./Overseen.ts"

// States of a company's pages that the other tests of accessibility do not show: records, problems, outcomes, empty lists,
// rejected forms and secrets.

const started = isMissing ? undefined : await Console.start(Overseen.env)
afterAll(() => started?.end())

/** Labels and hints refer to ids. Axe does not report an id that occurs twice. */
const repeatedIds = `[...document.querySelectorAll("[id]")].map(({ id }) => id).filter((id, n, all) => all.indexOf(id) !== n)`

/** Neighboring labels of a chart with less than 4 px between them. */
const runTogether = `[...document.querySelectorAll(".chart .x")].flatMap((row) => {
  const rects = [...row.children].filter((one) => one.checkVisibility({ visibilityProperty: true })).map((one) => {
    const range = document.createRange()
    range.selectNodeContents(one)
    return { text: one.textContent, rect: range.getBoundingClientRect() }
  })
  return rects.slice(1).flatMap(({ text, rect }, n) => (rect.left - rects[n].rect.right < 4 ? [rects[n].text + " " + text] : []))
})`

/** A page below the console, and a text that only this state shows, if it is not the usual one. */
type State = readonly [path: string, text?: string | RegExp]

/** Table cells that are cut off, and the tables wider than their panel, with an amount of 1,000 bitcoin. Subjects may be cut off. */
const cutOff = `(() => {
  document.querySelector("td.amount:not(.fiat)").textContent = "+100,000,000,000"
  document.querySelector("td.fiat").textContent = "≈ €46,000,000.00"
  const cells = [...document.querySelectorAll("tbody td")].filter((one) => one.scrollWidth > one.clientWidth && !one.matches(".c1"))
  const subjects = [...document.querySelectorAll("td.c1")].filter((one) => one.clientWidth < 96)
  return [...cells, ...subjects].map((one) => one.clientWidth + " px: " + one.textContent)
})()`

/** The parts that a long company name, or totals of 1,000 bitcoin, cover or push away. */
const crowded = `(() => {
  document.querySelector(".bar .brand bdi").textContent = "Feinkost_und_Delikatessen_Gesellschaft"
  document.querySelector(".cover b").textContent = "100,000,000,000"
  document.querySelector(".cover small").textContent = "€46,000,000.00"
  const [brand, menu, sats, value] = [".bar .brand", ".bar .opens", ".cover b", ".cover small"].map((one) => {
    const range = document.createRange()
    range.selectNodeContents(document.querySelector(one))
    return range.getBoundingClientRect()
  })
  return [menu.top > brand.bottom && "menu", sats.right > value.left && sats.bottom > value.top && "value"].filter((one) => one !== false)
})()`

describe.skipIf(isMissing)("the states of the console's pages", () => {
  if (started === undefined) return
  const { whole, tab, signIn } = started
  const operate = (method: string, path: string, body?: object) =>
    whole.ask(method, `/operator${path}`, { key: Whole.operatorToken, body })
  const created = (shop: Company, path: string, body: object) => Customer.data(201, shop.post(path, body))
  const funded = async (sats: number) => {
    const shop = await whole.companyWith("paid")
    await Customer.fund(shop, sats)
    return shop
  }
  const sends = async (shop: Company, behaviour: string) => {
    const { destination } = await Customer.outside(shop, "lightning_invoice", {
      amount_sats: 1000,
      behaviour
    })
    return Customer.data(201, Customer.confirm(shop, destination, 1000))
  }

  /** A company with problems, and with records of each outcome. */
  const busy = async (): Promise<readonly [Company, ReadonlyArray<State>]> => {
    const shop = await funded(200_000)
    const endpoint = await created(shop, "/v1/webhook-endpoints", { url: "http://127.0.0.1:9/orders" })
    const off = await created(shop, "/v1/webhook-endpoints", { url: "http://127.0.0.1:9/off" })
    await Customer.data(200, shop.post(`/v1/webhook-endpoints/${off.id}/disable`, {}))
    const checkout = await created(shop, "/v1/checkouts", {
      amount: 42.5,
      currency: "eur",
      order_id: "1042",
      description: "x".repeat(120)
    })
    await Customer.data(200, shop.post("/sandbox/pay", { payment_request: checkout.payment_request }))
    const paid = await Customer.until(shop, `/v1/checkouts/${checkout.id}`, ({ status }) => status === "paid")
    const canceled = await created(shop, "/v1/checkouts", { amount: 1000, currency: "sats" })
    await Customer.data(200, shop.post(`/v1/checkouts/${canceled.id}/cancel`, {}))
    const refund = await created(shop, "/v1/refunds", {
      checkout_id: checkout.id,
      amount: 1000,
      currency: "sats"
    })
    const failed = await sends(shop, "no_route")
    await Customer.ends(shop, failed.id, "failed")
    const settled = await sends(shop, "settle")
    await Customer.ends(shop, settled.id, "settled")
    const person = await created(shop, "/v1/people", {
      name: "Mara Kessler-Featherstonehaugh",
      role: "viewer"
    })
    await operate("PUT", `/companies/${shop.id}/limits`, { approval_above_sats: 500, day_sats: 5000 })
    const asks = await Customer.data(
      201,
      whole.operate(`/companies/${shop.id}/api-keys`, { name: "Payroll", scopes: ["send", "read"] })
    )
    const bob = await Customer.data(
      201,
      whole.operate("/tokens", { name: `Bob of ${shop.id}`, scopes: ["all"] })
    )
    await Customer.data(200, whole.ask("POST", `/operator/api-keys/${asks.id}/approve`, { key: bob.token }))
    const { destination } = await Customer.outside(shop, "lightning_invoice", { amount_sats: 1000 })
    const waiting = await Customer.data(
      201,
      whole.ask("POST", "/v1/bitcoin/withdraw/confirm", { key: asks.key, body: { destination } })
    )
    await Customer.until(
      shop,
      `/v1/webhook-endpoints/${endpoint.id}`,
      ({ failing_since }) => failing_since !== null
    )
    return [
      shop,
      [
        ["", "Needs attention"],
        ["payments", "Needs approval"],
        [`payments/out/${waiting.id}`, "Approve 1,000 sats"],
        [`payments/out/${failed.id}`, "Payment failed, amount returned"],
        [`payments/out/${settled.id}`, "Proof of payment"],
        [`payments/in/${refund.deposit_id}`, "Not claimed yet"],
        ["payments?type=deposit&status=failed", "No results"],
        ["search?q=1042", "1 result for “1042”"],
        ["search?q=nothing", "No results for “nothing”"],
        ["checkouts?status=paid", "Order 1042"],
        [`checkouts/${paid.id}`, "Payments of this checkout"],
        [`checkouts/${canceled.id}`, "Canceled"],
        ["webhooks", "Disabled"],
        [`webhooks/${endpoint.id}`, /^No deliveries since/],
        [`webhooks/${off.id}`, "Events are kept."],
        [`refunds/${refund.id}`, "Not claimed yet"],
        [`people/${person.id}`, "Lost or stolen passkey"],
        ["audit", "Payroll"],
        ["nowhere", "Page not found"]
      ]
    ]
  }

  /** A company with one record of each kind. */
  const records = async (): Promise<readonly [Company, ReadonlyArray<State>]> => {
    const shop = await funded(50_000)
    const [, , keyId] = shop.key.split("_")
    const amount = { amount: 400, currency: "sats" }
    const endpoint = await created(shop, "/v1/webhook-endpoints", { url: "http://127.0.0.1:9/orders" })
    const invoice = await created(shop, "/v1/bitcoin/deposit/lightning-invoice", {
      ...amount,
      description: "Coffee"
    })
    const address = await created(shop, "/v1/bitcoin/deposit/lightning-address", {})
    const offer = await created(shop, "/v1/bitcoin/deposit/offer", { lightning_address_id: address.id })
    const { address: chain } = await created(shop, "/v1/bitcoin/deposit/on-chain", {})
    const voucher = await created(shop, "/v1/vouchers", amount)
    await created(shop, "/v1/people", { name: "Mara", role: "viewer" })
    const [deposit] = await Customer.transactions(shop, "type=deposit&limit=1")
    const [event] = await Customer.data(200, shop.get("/v1/events?limit=1"))
    const paths = [
      `keys/${keyId}`,
      `keys/${keyId}/revoke`,
      `webhooks/${endpoint.id}/settings`,
      `invoices/${invoice.id}`,
      `offers/${offer.id}`,
      `addresses/${address.id}`,
      `addresses/on-chain/${chain.id}`,
      `vouchers/${voucher.id}`,
      `events/${event.id}`,
      `payments/in/${deposit.id}/refund`,
      "people",
      "people/new"
    ]
    return [shop, paths.map((path) => [path] as const)]
  }

  const fresh = async (): Promise<readonly [Company, ReadonlyArray<State>]> => [
    await whole.companyWith("free"),
    [
      ["", "No payments yet"],
      ["payments", "No payments yet"],
      ["checkouts", "No checkouts yet"],
      ["invoices", "No invoices yet"],
      ["offers", "No offers yet"],
      ["addresses", /^No .* yet$/],
      ["vouchers", "No vouchers yet"],
      ["refunds", "No refunds yet"],
      ["webhooks", "No endpoints yet"],
      ["people", "No people yet"]
    ]
  ]

  const frozen = async (): Promise<readonly [Company, ReadonlyArray<State>]> => {
    const shop = await funded(1000)
    await Customer.data(
      200,
      whole.operate(`/companies/${shop.id}/freeze`, { reason: "A stolen key", pending: "wait" })
    )
    return [shop, [["", "Sending is frozen"]]]
  }

  const reader = async (): Promise<readonly [Company, ReadonlyArray<State>]> => [
    await whole.companyWith("paid", "read"),
    [
      ["send", "You are not allowed to do this"],
      ["keys/new", "You are not allowed to do this"]
    ]
  ]

  const receiver = async (): Promise<readonly [Company, ReadonlyArray<State>]> => [
    await whole.companyWith("paid", "receive"),
    [["", "This key can’t read payments"]]
  ]

  for (const colorScheme of ["light", "dark"] as const) {
    const fits = async (page: Page, name: string) => {
      for (const width of [320, 1440])
        assert.isAtMost(await Console.widthAt(page, width), width, `${name} at ${width} px`)
      assert.deepStrictEqual(
        [await Console.violations(page), await page.evaluate(repeatedIds)],
        [[], []],
        `${name}, ${colorScheme}`
      )
    }

    for (const [of, make] of Object.entries({ busy, records, fresh, frozen, reader, receiver }))
      it(`console: in the ${colorScheme} color scheme, the pages of a company (${of}) fit a phone and violate no rule of WCAG 2.2 AA`, async () => {
        const [shop, states] = await make()
        await tab({ colorScheme }, async (page, complaints) => {
          await signIn(page, shop.key)
          for (const [path, text] of states) {
            const answer = await page.goto(`${whole.url}/console${path === "" ? "" : `/${path}`}`)
            if (text === undefined) assert.strictEqual(answer?.status(), 200, path)
            const usual = page.getByRole("heading", { level: 1 })
            const named =
              text &&
              page
                .getByText(text)
                .or(page.getByRole("region", { name: text }))
                .or(page.getByLabel(text))
            await (named || usual).first().waitFor()
            await fits(page, `${of}: ${path}`)
          }
          assert.deepStrictEqual(complaints, [])
        })
      })

    it(`console: in the ${colorScheme} color scheme, rejected forms, secrets, the open menu and the sign-in page violate no rule of WCAG 2.2 AA`, async () => {
      const shop = await funded(5000)
      const [deposit] = await Customer.transactions(shop, "type=deposit&limit=1")
      await tab({ colorScheme }, async (page, complaints) => {
        const shown = async (text: string | RegExp) => {
          await page.getByText(text).first().waitFor()
          await fits(page, String(text))
        }
        const open = (path: string) => page.goto(`${whole.url}/console/${path}`)
        const press = (name: string | RegExp) =>
          Console.press(page.getByRole("button", { name, exact: true }))
        await page.goto(`${whole.url}/console`)
        await shown("Sign in with a key")
        await page.getByLabel("API key or operator token").fill("nonsense")
        await press("Sign in")
        await page.getByRole("alert").or(page.locator(".note.bad")).first().waitFor()
        await fits(page, "a rejected key")
        await signIn(page, shop.key)
        await open("send")
        await page.getByLabel("To").fill("nonsense")
        await press("Show the fee…")
        await shown("Check what you entered")
        const { destination } = await Customer.outside(shop, "lightning_invoice", { amount_sats: 1000 })
        await page.getByLabel("To").fill(destination)
        await press("Show the fee…")
        await shown("Check and send")
        await open(`payments/in/${deposit.id}/refund`)
        await page.getByLabel("Amount").fill("9999999")
        await page.getByLabel("Your API key").fill(shop.key)
        await press(/^Refund up to/)
        await shown("Nothing was changed")
        await open(`payments/in/${deposit.id}/refund`)
        await page.getByLabel("Amount").fill("1000")
        await press(/^Refund up to/)
        await shown("Link for the customer")
        await open("keys/new")
        await page.getByLabel("Name").fill("till 3")
        await press("Create key")
        await shown(/created$/)
        await open("people/new")
        await page.getByLabel("Name").fill("Mara")
        await press("Create invitation")
        await shown("Invitation for Mara")
        await page.setViewportSize({ width: 390, height: 844 })
        await page.getByRole("link", { name: "Menu" }).click()
        await page.getByRole("link", { name: "Close the menu" }).waitFor()
        await fits(page, "the open menu")
        assert.deepStrictEqual(
          complaints.filter((text) => !/status of 4\d\d/.test(text)),
          []
        )
      })
    })
  }

  it("console: while sending is paused for everyone, the overview says so and violates no rule of WCAG 2.2 AA", async () => {
    const shop = await funded(1000)
    await Customer.data(200, whole.operate("/pause", { what: "sending" }))
    await tab({}, async (page) => {
      await signIn(page, shop.key)
      await page.getByText("Sending is paused for everyone").waitFor()
      assert.deepStrictEqual(await Console.violations(page), [])
    })
    await Customer.data(200, whole.operate("/resume", { what: "sending" }))
  })
  it("console: at no width do the labels of the overview's charts run together", async () => {
    const shop = await funded(1000)
    await tab({}, async (page) => {
      await signIn(page, shop.key)
      for (const width of [320, 390, 768, 960, 1120, 1280, 1440]) {
        await page.setViewportSize({ width, height: 800 })
        assert.deepStrictEqual(await page.evaluate(runTogether), [], `${width} px`)
      }
    })
  })

  it("console: on a small phone, the menu stays beside a long name of the company, totals of 1,000 bitcoin don't run together, and a button with a long name fits", async () => {
    const shop = await funded(1000)
    await Customer.data(201, whole.operate("/tokens", { name: "x".repeat(60), scopes: ["read"] }))
    await tab({ viewport: { width: 320, height: 800 } }, async (page) => {
      await signIn(page, shop.key)
      await page.goto(`${whole.url}/console/payments`)
      await page.getByRole("cell", { name: "Payment received" }).waitFor()
      assert.deepStrictEqual(await page.evaluate(crowded), [])
    })
    await tab(
      { storageState: started.signedIn.operator, viewport: { width: 320, height: 800 } },
      async (page) => {
        await started.oversee(page, "tokens", "Tokens")
        await page.getByRole("link", { name: /^Revoke… x/ }).click()
        await page.getByRole("button", { name: /^Revoke x/ }).waitFor()
        const wide = `[...document.querySelectorAll(".panel")].filter((one) => one.scrollWidth > one.clientWidth).length`
        assert.strictEqual(await page.evaluate(wide), 0)
      }
    )
  })

  it("console: at no width does a table of payments cut off an amount, or leave no room for what a payment is for", async () => {
    const shop = await funded(1000)
    await tab({}, async (page) => {
      await signIn(page, shop.key)
      for (const path of ["payments", "search?q=1000"]) {
        await page.goto(`${whole.url}/console/${path}`)
        await page.getByRole("cell", { name: "Payment received" }).waitFor()
        for (const width of [960, 1120, 1440]) {
          await page.setViewportSize({ width, height: 800 })
          assert.deepStrictEqual(await page.evaluate(cutOff), [], `${path} at ${width} px`)
        }
      }
    })
  })

  it("console: an order with a number and description from right to left is shown before its description", async () => {
    const shop = await funded(1000)
    await created(shop, "/v1/checkouts", {
      amount: 10,
      currency: "eur",
      order_id: "طلب ١٢",
      description: "قهوة عربية"
    })
    await tab({}, async (page) => {
      await signIn(page, shop.key)
      await page.goto(`${whole.url}/console/checkouts`)
      const [order, description] = [
        page.getByRole("link", { name: "Order طلب ١٢" }),
        page.getByText("قهوة عربية")
      ]
      const [before, after] = [await order.boundingBox(), await description.boundingBox()]
      assert.isAtLeast(after?.x ?? 0, (before?.x ?? 0) + (before?.width ?? 0))
    })
  })

  it("console: on a phone, the list of endpoints labels the time of the next attempt", async () => {
    const shop = await funded(1000)
    await created(shop, "/v1/webhook-endpoints", { url: "http://127.0.0.1:9/orders" })
    await tab({ viewport: { width: 390, height: 844 } }, async (page) => {
      await signIn(page, shop.key)
      await page.goto(`${whole.url}/console/webhooks`)
      assert.strictEqual(await page.getByRole("cell", { name: "Next attempt –" }).count(), 1)
    })
  })
})
