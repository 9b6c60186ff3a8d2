// `npm run screens -- --out DIR`: what every state of the checkout and every page of the console looks like, on a small phone, a phone and a desktop, light and dark, with a page to
// leaf through them. With --pictures it makes those of the README instead, in docs/pictures.
import { mkdirSync, statSync, writeFileSync } from "node:fs"
import path from "node:path"
import { parseArgs } from "node:util"
import type { Browser, BrowserContextOptions, Page } from "playwright-core"
import * as Whole from "../Whole.ts"
import * as Checkouts from "./Checkouts.ts"
import { isMissing, launch } from "./Chromium.ts"
import * as Console from "./Console.ts"
import * as Leaves from "./Leaves.ts"
import * as Shown from "./Shown.ts"

const { values } = parseArgs({ options: { out: { type: "string" }, pictures: { type: "boolean", default: false } } })
const out = values.pictures ? path.resolve(import.meta.dirname, "../../../../docs/pictures") : values.out
if (out === undefined || isMissing) {
  console.error(out === undefined ? "npm run screens -- --out DIR" : "there is no chromium to take screenshots with")
  process.exit(1)
}
mkdirSync(out, { recursive: true })

/** For machines that do much else at the same time. */
const patienceMillis = 240_000
const widths = [320, 390, 1440]
const schemes = ["light", "dark"] as const
const screens = new Map<string, Array<string>>()

const shoot = async (page: Page, screen: string, look: string): Promise<void> => {
  const name = `${screen}-${look}.png`
  await page.screenshot({ path: path.join(out, name), fullPage: true, animations: "disabled" })
  screens.set(screen, [...(screens.get(screen) ?? []), name])
}

/** The same in every width and colour: a browser window for each. */
const everyWay = async (browser: Browser, options: BrowserContextOptions, look: (page: Page, how: string) => Promise<void>) => {
  for (const colorScheme of schemes)
    for (const width of widths) {
      const context = await browser.newContext({ ...options, colorScheme, viewport: { width, height: 844 } })
      context.setDefaultTimeout(patienceMillis)
      await look(await context.newPage(), `${width}-${colorScheme}`)
      await context.close()
    }
}

const checkouts = async (): Promise<void> => {
  const [browser, started] = await Promise.all([launch(), Checkouts.start()])
  const states = await Checkouts.states(started)
  await everyWay(browser, {}, async (page, how) => {
    for (const [state, url] of states) {
      await page.goto(url)
      await shoot(page, `checkout-${state}`, how)
    }
  })
  await browser.close()
  await started.whole.end()
}

/** `Addresses and domains` is addresses-and-domains. */
const nameOf = (title: string) => title.toLowerCase().replaceAll(" ", "-")

/** What a page of the menu, or one with an address of its own, looks like. */
const visit = async (
  page: Page,
  url: string,
  prefix: string,
  how: string,
  titles: ReadonlyArray<string>,
  addresses: Record<string, string>
) => {
  await page.goto(`${url}/console`)
  for (const title of titles) {
    await page.getByRole("navigation").getByRole("link", { name: title, exact: true }).click()
    await page.getByRole("heading", { name: title, level: 1 }).waitFor()
    await Shown.settled(page)
    await shoot(page, `${prefix}-${nameOf(title)}`, how)
  }
  for (const [name, address] of Object.entries(addresses)) {
    await page.goto("about:blank") // so that the next address is a page of its own, and not a place in this one
    await page.goto(`${url}/console#/${address}`)
    await Shown.settled(page)
    await shoot(page, `${prefix}-${name}`, how)
  }
}

const consoles = async (): Promise<void> => {
  const started = await Console.start()
  const { browser, whole, shop, stateOf, end } = started
  const filled = await Shown.fill(started)
  const asking = { company: await stateOf(shop.key), operator: await stateOf(Whole.operatorToken) }
  await everyWay(browser, {}, async (page, how) => {
    await page.goto(`${whole.url}/console`)
    await page.getByRole("button", { name: "Sign in" }).waitFor()
    await shoot(page, "console-sign-in", how)
  })
  await everyWay(browser, { storageState: asking.company }, async (page, how) => {
    await page.clock.setFixedTime(filled.now())
    await visit(page, whole.url, "console", how, Console.ofCompany, filled.ofCompany)
  })
  await everyWay(browser, { storageState: asking.operator }, (page, how) =>
    visit(page, whole.url, "operator", how, Console.ofOperator, filled.ofOperator)
  )
  await end()
}

/** The pictures of the README: small, and in a light that suits both of its own. */
const pictures = async (): Promise<void> => {
  const started = await Console.start()
  const { browser, whole, shop, stateOf, end } = started
  const filled = await Shown.fill(started)
  const look = async (name: string, options: BrowserContextOptions, url: string, ready: (page: Page) => Promise<void>) => {
    const context = await browser.newContext({ colorScheme: "light", timezoneId: "UTC", locale: "en", ...options })
    const page = await context.newPage()
    await page.clock.setFixedTime(filled.now())
    await page.goto(url)
    await ready(page)
    const file = path.join(out, `${name}.png`)
    await page.screenshot({ path: file, animations: "disabled" })
    console.log(`${name}.png: ${statSync(file).size} bytes`)
    await context.close()
  }
  await look(
    "console",
    { storageState: await stateOf(shop.key), viewport: { width: 1200, height: 760 } },
    `${whole.url}/console`,
    Shown.settled
  )
  const { data } = await shop.get(`/v1/${filled.ofCompany.checkout.replace("checkout/", "checkouts/")}`)
  await look(
    "checkout",
    { viewport: { width: 420, height: 760 }, deviceScaleFactor: 1.5 },
    whole.url + new URL(data.url).pathname,
    async (page) => {
      await page.locator("svg").first().waitFor()
    }
  )
  await end()
}

if (values.pictures) await pictures()
else {
  await checkouts()
  await consoles()
  writeFileSync(path.join(out, "index.html"), Leaves.page(screens))
  console.log(`${[...screens.values()].flat().length} screenshots of ${screens.size} screens: ${path.join(out, "index.html")}`)
}
process.exit(0)
