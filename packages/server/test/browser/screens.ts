// `npm run screens -- --out DIR`: screenshots of every checkout state and every console page on a small
// phone, a phone and a desktop, in light and dark, with a page for browsing them. With --pictures it renders
// the pictures of the README into docs/pictures instead.
import { mkdirSync, statSync, writeFileSync } from "node:fs"
import path from "node:path"
import { parseArgs } from "node:util"
import type { Browser, BrowserContextOptions, Page } from "playwright-core"
import * as Whole from "../Whole.ts"
import * as Checkouts from "./Checkouts.ts"
import { isMissing, launch } from "./Chromium.ts"
import * as Console from "./Console.ts"
import * as Leaves from "./Leaves.ts"
import * as Overseen from "./Overseen.ts"
import * as Shown from "./Shown.ts"

const { values } = parseArgs({
  options: { out: { type: "string" }, pictures: { type: "boolean", default: false } }
})
const out = values.pictures ? path.resolve(import.meta.dirname, "../../../../docs/pictures") : values.out
if (out === undefined || isMissing) {
  console.error(
    out === undefined ? "npm run screens -- --out DIR" : "there is no chromium to take screenshots with"
  )
  process.exit(1)
}
mkdirSync(out, { recursive: true })

/** Long enough for a machine under heavy load. */
const patienceMillis = 240_000
const widths = [320, 390, 1440]
const schemes = ["light", "dark"] as const
const screens = new Map<string, Array<string>>()

const shoot = async (page: Page, screen: string, look: string): Promise<void> => {
  const name = `${screen}-${look}.png`
  await page.screenshot({ path: path.join(out, name), fullPage: true, animations: "disabled" })
  screens.set(screen, [...(screens.get(screen) ?? []), name])
}

/** Takes a screenshot for every width and color scheme, each in its own browser window. */
const everyWay = async (
  browser: Browser,
  options: BrowserContextOptions,
  look: (page: Page, how: string) => Promise<void>
) => {
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

/** Turns `Addresses and domains` into addresses-and-domains. */
const nameOf = (title: string) => title.toLowerCase().replaceAll(" ", "-")

const consoles = async (): Promise<void> => {
  const started = await Console.start(Overseen.env)
  const { browser, whole, shop, stateOf, end } = started
  const filled = await Shown.fill(started)
  const asking = { company: await stateOf(shop.key), operator: await stateOf(Whole.operatorToken) }
  await everyWay(browser, {}, async (page, how) => {
    await page.goto(`${whole.url}/console`)
    await page.getByRole("button", { name: "Sign in", exact: true }).waitFor()
    await shoot(page, "console-sign-in", how)
  })
  await everyWay(browser, { storageState: asking.company }, async (page, how) => {
    const all = [
      ...Console.ofCompany.map(([path, title]) => [nameOf(title), path] as const),
      ...Object.entries(filled.ofCompany)
    ]
    for (const [name, path] of all) {
      await page.goto(`${whole.url}/console/${path}`.replace(/\/$/, ""))
      await Shown.settled(page)
      await shoot(page, `console-${name}`, how)
    }
  })
  await everyWay(browser, { storageState: asking.operator }, async (page, how) => {
    const all = [
      ...Console.ofOperator.map(
        ([path]) => [path === "" ? "now" : path.replaceAll(/[^a-z]+/g, "-"), path] as const
      ),
      ...Object.entries(filled.ofOperator)
    ]
    for (const [name, path] of all) {
      await page.goto(`${whole.url}/operator/console/${path}`.replace(/\/$/, ""))
      await Shown.settled(page)
      await shoot(page, `operator-${name}`, how)
    }
  })
  await end()
}

/** Takes a picture for the documentation. */
const picture = async (
  browser: Browser,
  name: string,
  options: BrowserContextOptions,
  url: string,
  ready: (page: Page) => Promise<void>
): Promise<void> => {
  const context = await browser.newContext({
    colorScheme: "light",
    timezoneId: "UTC",
    locale: "en",
    ...options
  })
  const page = await context.newPage()
  await page.goto(url)
  await ready(page)
  const file = path.join(out, `${name}.png`)
  await page.screenshot({ path: file, animations: "disabled" })
  console.log(`${name}.png: ${statSync(file).size} bytes`)
  await context.close()
}

const phone = { viewport: { width: 420, height: 760 }, deviceScaleFactor: 1.5 }
const drawn = (page: Page) => page.locator("main svg").first().waitFor()

/** The documentation's pictures, which are small and in light colors. */
const pictures = async (): Promise<void> => {
  const started = await Console.start(Overseen.env)
  const { browser, whole, shop, stateOf, end } = started
  const filled = await Shown.fill(started)
  // They fail, and a failing endpoint fills the top of the overview.
  for (const { id } of (await shop.get("/v1/webhook-endpoints")).data)
    await whole.ask("DELETE", `/v1/webhook-endpoints/${id}`, { key: shop.key })
  const desktop = { storageState: await stateOf(shop.key), viewport: { width: 1440, height: 900 } }
  await picture(browser, "console", desktop, `${whole.url}/console`, async (page) => {
    await page.clock.setFixedTime(filled.now())
    await page.reload()
    await Shown.settled(page)
  })
  const { data } = await shop.get(`/v1/${filled.ofCompany.checkout}`)
  await picture(browser, "checkout", phone, whole.url + new URL(data.url).pathname, drawn)
  await end()
}

/** Pictures of checkouts with an exceptional outcome. */
const outcomes = async (): Promise<void> => {
  const [browser, started] = await Promise.all([launch(), Checkouts.start()])
  const body = { amount: 42.5, currency: "eur", contact: "help@shop.example", options: ["new_quote"] }
  const [due, expired] = [await started.make(body), await started.make({ ...body, expiry_seconds: 60 })]
  await started.part(due, 20_000)
  await started.advance(61)
  await started.is(expired, "expired", ({ status }) => status === "expired")
  await picture(browser, "checkout-due", phone, started.page(due), drawn)
  await picture(browser, "checkout-expired", phone, started.page(expired), drawn)
  await browser.close()
  await started.whole.end()
}

if (values.pictures) {
  await pictures()
  await outcomes()
} else {
  await checkouts()
  await consoles()
  writeFileSync(path.join(out, "index.html"), Leaves.page(screens))
  console.log(
    `${[...screens.values()].flat().length} screenshots of ${screens.size} screens: ${path.join(out, "index.html")}`
  )
}
process.exit(0)
