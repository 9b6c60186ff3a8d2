import { afterAll, assert, describe, it } from "@effect/vitest"
import { boundPort } from "@satrail/testing/boundPort"
import { createServer } from "node:http"
import { start } from "../../../http/test/Service.ts"
import { eventually } from "../Service.ts"
import * as Site from "../../src/serving/Site.ts"
import { isMissing, launch } from "./Chromium.ts"
import { violations } from "./Console.ts"

describe.skipIf(isMissing)("the documentation in a browser", async () => {
  if (isMissing) return
  const sandboxKey = "sr_regtest_sandbox_key"
  const service = await start({ http: { site: Site.extension(), about: { sandboxKey: () => sandboxKey } } })
  const server = createServer(async ({ url, method, headers }, response) => {
    const asked = new Request(`http://site${url}`, {
      method: method ?? "GET",
      headers: headers as Record<string, string>
    })
    const answer = await service.handler(asked)
    response
      .writeHead(answer.status, Object.fromEntries(answer.headers))
      .end(Buffer.from(await answer.arrayBuffer()))
  })
  const base = `http://127.0.0.1:${await boundPort(server.listen(0, "127.0.0.1"))}`
  const browser = await launch()
  afterAll(async () => {
    await browser.close()
    server.closeAllConnections()
    server.close()
    await service.dispose()
  })

  for (const colorScheme of ["light", "dark"] as const)
    for (const width of [390, 1440])
      it(`site: ${colorScheme}, ${width} px: no page is wider than the window, violates its content security policy, or loads anything from another origin`, async () => {
        const page = await browser.newPage({ colorScheme, viewport: { width, height: 900 } })
        const complaints: Array<string> = []
        page.on("console", (said) => said.type() === "error" && complaints.push(said.text()))
        page.on("request", (asked) => !asked.url().startsWith(base) && complaints.push(asked.url()))
        for (const url of [
          "/docs",
          "/docs/guides/console",
          "/docs/reference/defences",
          "/docs/reference/configuration",
          "/docs/decisions/"
        ]) {
          await page.goto(`${base}${url}`, { waitUntil: "networkidle" })
          const [client, scroll] = await page.evaluate<ReadonlyArray<number>>(
            "[document.documentElement.clientWidth, document.documentElement.scrollWidth]"
          )
          assert.deepStrictEqual([url, scroll], [url, client])
        }
        for (const url of [
          "/docs/guides/checkout",
          "/docs/guides/webhooks",
          "/docs/architecture",
          "/docs/start"
        ]) {
          await page.goto(`${base}${url}`)
          await page.getByRole("button", { name: "Copy" }).first().waitFor()
          assert.deepStrictEqual(
            await page.evaluate(
              "[...document.querySelectorAll('pre')].filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent.slice(0, 60))"
            ),
            [],
            `${url}: code that is cut off`
          )
          // A table of Markdown has no name; the heading above it says what it is.
          const found = await violations(page)
          assert.deepStrictEqual(
            found.filter((one) => !one.startsWith("no name:")),
            [],
            url
          )
        }
        await page.goto(`${base}/docs/api`)
        await page.getByRole("heading", { level: 1 }).first().waitFor()
        assert.isAtMost(
          Number(await page.evaluate("document.documentElement.scrollWidth")),
          width,
          "the API reference"
        )
        const typed = await eventually(
          "the sandbox's key is filled in",
          () =>
            page.evaluate<ReadonlyArray<string>>(
              "[...document.querySelectorAll('input')].map(({ value }) => value)"
            ),
          (values) => values.includes(sandboxKey)
        )
        assert.include(typed, sandboxKey)
        await page.goto(`${base}/docs/guides/webhooks`)
        await page.getByRole("navigation", { name: "On this page" }).getByRole("link").first().click()
        await page.waitForURL(/#/)
        await page.getByLabel("Search").pressSequentially("forgot passkey")
        const result = page.getByRole("status").getByRole("link").first()
        await result.waitFor()
        assert.match((await result.getAttribute("href")) ?? "", /\/docs\/guides\/(?:console|incidents)/)
        await page.goto(`${base}/docs/guides/webhooks`)
        await page.getByLabel("Search").fill("idempotency key")
        await page.getByLabel("Search").press("Enter")
        await page.getByRole("main").getByRole("link").first().click()
        await page.waitForURL((url) => !url.search.includes("q="))
        if (process.env["SCREENS"] !== undefined) {
          await page.goto(`${base}/docs/guides/webhooks`)
          await page.screenshot({ path: `${process.env["SCREENS"]}/${colorScheme}-${width}.png` })
        }
        assert.deepStrictEqual(complaints, [])
        await page.close()
      })
})
