// The site as it is built and served: every page of docs/ is there, every link and anchor leads somewhere, and a browser, where there is one, has nothing to complain about.
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { execFileSync, spawnSync } from "node:child_process"
import { once } from "node:events"
import { existsSync, globSync, readFileSync } from "node:fs"
import { createServer } from "node:http"
import { createRequire } from "node:module"
import path from "node:path"
import { start } from "../packages/http/test/Service.ts"
import * as Site from "../packages/server/src/Site.ts"

const root = path.dirname(import.meta.dirname)
const site = path.join(root, "packages/server/site")
const isHere =
  existsSync(path.join(site, "index.html")) || spawnSync("npm", ["ping", "--fetch-retries=0", "--fetch-timeout=20000"]).status === 0
const isWanted = process.env["REQUIRE_REGISTRY"] !== undefined
if (!isHere && !isWanted) console.log("site: skipped, because no package registry can be reached")

/** What a page leads to and loads, and the anchors that are in it. */
const pageOf = (file: string) => {
  const text = readFileSync(path.join(site, file), "utf8")
  const values = (pattern: RegExp) => Array.from(text.matchAll(pattern), ([, value = ""]) => value.replaceAll("&amp;", "&"))
  return {
    text,
    links: values(/<a\s[^>]*?href="([^"]*)"/g),
    loads: [...values(/<(?:script|img|source|iframe)\s[^>]*?src(?:set)?="([^"]*)"/g), ...values(/<link\s[^>]*?href="([^"]*)"/g)],
    anchors: new Set(values(/\sid="([^"]*)"/g).map((id) => id))
  }
}

describe.skipIf(!isHere && !isWanted)("the site", () => {
  let pages: ReadonlyMap<string, ReturnType<typeof pageOf>> = new Map()
  let files: ReadonlySet<string> = new Set()
  beforeAll(() => {
    console.log(execFileSync(process.execPath, ["scripts/site/main.ts"], { cwd: root, encoding: "utf8" }).trim())
    files = new Set(globSync("**/*.*", { cwd: site }))
    pages = new Map([...files].filter((file) => file.endsWith(".html")).map((file) => [file, pageOf(file)]))
  })

  it("site: its settings are of the types that its generator has", () => {
    const { status, stdout } = spawnSync(process.execPath, ["node_modules/typescript/bin/tsc", "--noEmit", "-p", "site"], {
      cwd: root,
      encoding: "utf8"
    })
    assert.deepStrictEqual([status, stdout], [0, ""])
  })

  it("site: every page of docs/ is in it", () => {
    const wanted = globSync("docs/**/*.md", { cwd: root }).map((file) =>
      file
        .replace(/^docs\//, "")
        .replace(/(^|\/)README\.md$/, "$1index.md")
        .replace(/\.md$/, ".html")
    )
    assert.sameMembers([...pages.keys()], [...wanted, "404.html"])
  })

  it("site: every link and anchor leads to a page of it, to the service's own, or to the sources", () => {
    const dead: Array<string> = []
    for (const [file, { links }] of pages) {
      for (const link of links) {
        const { origin, pathname, hash } = new URL(link, `http://site/docs/${file.replace(/(^|\/)index\.html$/, "$1")}`)
        if (origin !== "http://site") {
          const [, source] = /^https:\/\/github\.com\/satrail\/satrail\/blob\/HEAD\/(.+)$/.exec(`${origin}${pathname}`) ?? []
          if (source !== undefined && !existsSync(path.join(root, source))) dead.push(`${file}: ${link}`)
          continue
        }
        if (["/docs/api", "/openapi.json"].includes(pathname)) continue
        const name = pathname.replace(/^\/docs\//, "")
        const target = [`${name}index.html`, `${name}.html`, name].map((one) => pages.get(one)).find((one) => one !== undefined)
        if (target === undefined || (hash !== "" && !target.anchors.has(decodeURIComponent(hash.slice(1))))) dead.push(`${file}: ${link}`)
      }
    }
    assert.isAbove([...pages.values()].flatMap(({ links }) => links).length, 1000)
    assert.deepStrictEqual(dead, [])
  })

  it("site: nothing is loaded from another server, and all that is loaded is there", () => {
    const missing: Array<string> = []
    for (const [file, { loads }] of pages)
      for (const load of loads)
        if (!load.startsWith("data:") && load !== "/favicon.ico" && !files.has(load.replace(/^\/docs\//, "")))
          missing.push(`${file}: ${load}`)
    assert.deepStrictEqual(missing, [])
    for (const file of files)
      if (file.endsWith(".css"))
        assert.notMatch(readFileSync(path.join(site, file), "utf8"), /@import|url\((?!['"]?(?:data:|\/docs\/|#))/, file)
  })

  it("site: a page has no script or style of its own but those that its policy names", () => {
    for (const [file, { text }] of pages) assert.notMatch(text, /<style[\s>]| on[a-z]+="|href="javascript:/, file)
  })

  it("site: it is small", () => {
    const bytes = [...files].reduce((sum, file) => sum + readFileSync(path.join(site, file)).byteLength, 0)
    assert.isBelow(bytes, 12 * 1024 * 1024)
  })
})

/** As much of a browser as is used here: playwright is installed with the site, where the compiler does not look. */
interface Page {
  readonly on: (
    event: string,
    listen: (said: { readonly type: () => string; readonly text: () => string; readonly url: () => string }) => void
  ) => void
  readonly goto: (url: string, options: { readonly waitUntil: "networkidle" }) => Promise<unknown>
  readonly evaluate: <A>(expression: string) => Promise<A>
  readonly click: (selector: string) => Promise<void>
  readonly fill: (selector: string, text: string) => Promise<void>
  readonly waitForSelector: (selector: string) => Promise<unknown>
  readonly waitForFunction: (expression: string) => Promise<unknown>
}
interface Browser {
  readonly newPage: (options: {
    readonly colorScheme: "light" | "dark"
    readonly viewport: { readonly width: number; readonly height: number }
  }) => Promise<Page>
  readonly close: () => Promise<void>
}

const executablePath = ["chromium", "chromium-browser", "google-chrome"]
  .map((name) => spawnSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).stdout.trim())
  .find((found) => found !== "")
if (executablePath === undefined) console.log("site: not looked at in a browser, because no Chromium is installed here")

describe.skipIf(executablePath === undefined || (!isHere && !isWanted))("the site in a browser", () => {
  let browser: Browser
  let stop: () => Promise<unknown> = async () => {}
  let base = ""
  beforeAll(async () => {
    execFileSync(process.execPath, ["scripts/site/main.ts"], { cwd: root })
    const service = await start({ http: { site: Site.extension() } })
    const server = createServer(async ({ url, method, headers }, response) => {
      const asked = new Request(`http://site${url}`, { method: method ?? "GET", headers: headers as Record<string, string> })
      const answer = await service.handler(asked)
      response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(Buffer.from(await answer.arrayBuffer()))
    })
    await once(server.listen(0, "127.0.0.1"), "listening")
    const address = server.address()
    base = typeof address === "object" && address !== null ? `http://127.0.0.1:${address.port}` : assert.fail()
    const { chromium } = createRequire(path.join(root, "site/package.json"))("playwright-core")
    browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] })
    stop = async () => {
      await browser.close()
      server.closeAllConnections()
      server.close()
      await service.dispose()
    }
  })
  afterAll(() => stop())

  /** What a page has to complain about, and what it loads from elsewhere. */
  const opened = async (colorScheme: "light" | "dark", width: number) => {
    const page = await browser.newPage({ colorScheme, viewport: { width, height: 900 } })
    const complaints: Array<string> = []
    page.on("console", (said) => said.type() === "error" && complaints.push(said.text()))
    page.on("request", (asked) => !asked.url().startsWith(base) && !asked.url().startsWith("data:") && complaints.push(asked.url()))
    return { page, complaints }
  }

  for (const colorScheme of ["light", "dark"] as const)
    for (const width of [390, 1440])
      it(`site: ${colorScheme}, ${width} px: nothing is refused by the policy, loaded from elsewhere, or wider than the window`, async () => {
        const { page, complaints } = await opened(colorScheme, width)
        for (const url of [
          "/docs",
          "/docs/guides/deploy",
          "/docs/reference/defences",
          "/docs/reference/configuration",
          "/docs/decisions/"
        ]) {
          await page.goto(`${base}${url}`, { waitUntil: "networkidle" })
          const { clientWidth, scrollWidth } = await page.evaluate<{ clientWidth: number; scrollWidth: number }>(
            "({ clientWidth: document.documentElement.clientWidth, scrollWidth: document.documentElement.scrollWidth })"
          )
          assert.deepStrictEqual([url, scrollWidth], [url, clientWidth])
          assert.strictEqual(await page.evaluate("document.documentElement.classList.contains('dark')"), colorScheme === "dark")
        }
        assert.deepStrictEqual(complaints, [])
      })

  it("site: it is searched without a server, an anchor is found, and the switch to dark works", async () => {
    const { page, complaints } = await opened("light", 1440)
    await page.goto(`${base}/docs/reference/errors#insufficient_balance`, { waitUntil: "networkidle" })
    assert.isBelow(await page.evaluate<number>("document.getElementById('insufficient_balance').getBoundingClientRect().top"), 900)
    await page.click(".DocSearch-Button")
    await page.fill(".search-input", "idempotency")
    await page.waitForSelector(".results .result")
    assert.include(await page.evaluate<string>("document.querySelector('.results').textContent"), "Idempotency")
    await page.evaluate("document.querySelector('.results .result').click()")
    await page.waitForFunction("!location.pathname.endsWith('/errors')")
    await page.click(".VPNavBarAppearance .VPSwitchAppearance")
    assert.isTrue(await page.evaluate("document.documentElement.classList.contains('dark')"))
    assert.deepStrictEqual(complaints, [])
  })
})
