import { longestMillis } from "@satrail/testing/Waiting"
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import type { BrowserContextOptions, Page } from "playwright-core"
import * as Customer from "../Customer.ts"
import * as Whole from "../Whole.ts"
import { launch } from "./Chromium.ts"

// The console of a whole service in a browser: a tab for each thing that is looked at.

export type State = Exclude<BrowserContextOptions["storageState"], string | undefined>

/** The pages in the menu. */
export const ofCompany = [
  "Overview",
  "Transactions",
  "New invoice",
  "Send",
  "Addresses and domains",
  "Vouchers and refunds",
  "API keys",
  "Webhooks",
  "Events",
  "Audit log",
  "Account and key"
]
export const ofOperator = ["Companies", "Health", "Nodes and liquidity", "Backlog", "Suspense", "Audit log"]

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")
const rules = `axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }).then(({ violations }) => violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html).join(" ")))`

/** What axe finds on a page. */
export const violations = async (page: Page): Promise<unknown> => {
  await page.evaluate(axe)
  return page.evaluate(rules)
}

/** How far a page reaches to the right of its window, at this width. */
export const widthAt = async (page: Page, width: number): Promise<number> => {
  await page.setViewportSize({ width, height: 800 })
  return Number(await page.evaluate("document.documentElement.scrollWidth"))
}

export const loaded = (page: Page) => page.getByText("Loading …").first().waitFor({ state: "hidden" })

/** Apps can be connected, at a relay that is not there. */
const env = { SATRAIL_NWC_RELAYS: "wss://relay.example", SATRAIL_OUTBOUND_ALLOW: "relay.example=http://127.0.0.1:9" }

/** A service with a company that has some money, and who signed in to it. */
export const start = async () => {
  const [browser, whole] = await Promise.all([launch(), Whole.start(env)])
  const shop = await whole.companyWith("paid")
  await Customer.fund(shop, 100_000)

  /** A tab, with what went wrong in it. */
  const tab = async <A>(options: BrowserContextOptions, look: (page: Page, complaints: Array<string>) => Promise<A>): Promise<A> => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
    context.setDefaultTimeout(longestMillis)
    const complaints: Array<string> = []
    const page = await context.newPage()
    page.on("console", (message) => {
      if (message.type() === "error" && !/status of (401|403|404)/.test(message.text())) complaints.push(message.text())
    })
    page.on("pageerror", (error) => complaints.push(String(error)))
    page.on("request", (request) => {
      if (!request.url().startsWith(whole.url)) complaints.push(`asked ${request.url()}`)
    })
    try {
      return await look(page, complaints)
    } finally {
      await context.close()
    }
  }
  const signIn = async (page: Page, key: string) => {
    await page.goto(`${whole.url}/console`)
    await page.getByLabel("An API key, or an operator's token").fill(key)
    await page.keyboard.press("Enter")
    await page.getByRole("navigation").waitFor()
  }
  const stateOf = (key: string): Promise<State> =>
    tab({}, async (page) => {
      await signIn(page, key)
      return page.context().storageState()
    })
  return {
    browser,
    whole,
    shop,
    stateOf,
    signedIn: { company: await stateOf(shop.key), operator: await stateOf(Whole.operatorToken) },
    tab,
    signIn,
    /** A page by its address, once it is there. */
    open: async (page: Page, path: string, title: string) => {
      await page.goto(`${whole.url}/console#/${path}`)
      await page.getByRole("heading", { name: title, exact: true, level: 1 }).waitFor()
    },
    /** Shows the key again where the page asks for it. */
    stepUp: async (page: Page, key: string) => {
      await page.getByRole("dialog").getByLabel("The key that you signed in with").fill(key)
      await page.keyboard.press("Enter")
    },
    end: async () => {
      await browser.close()
      await whole.end()
    }
  }
}
export type Console = Awaited<ReturnType<typeof start>>
