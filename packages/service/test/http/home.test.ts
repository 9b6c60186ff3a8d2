import { afterAll, assert, describe, it } from "@effect/vitest"
import type * as Home from "../../src/http/pages/Home.ts"
import { start } from "../../../http/test/Service.ts"

const about: Home.About = {
  version: "1.2.3",
  network: "regtest",
  simulated: ["the Lightning network", "the chain"],
  demoKey: 'a <b> & "c"/demo.json'
}
const service = await start({ http: { about } })
const bare = await start()
afterAll(async () => {
  await service.dispose()
  await bare.dispose()
})
const html = { headers: { accept: "text/html,application/xhtml+xml,*/*;q=0.8" } }

describe("the home page", () => {
  it("home: a browser gets a page with the version, the network and links", async () => {
    const { status, headers, text } = await service.ask("GET", "/", html)
    assert.deepStrictEqual(
      [status, headers.get("content-type"), headers.get("vary")],
      [200, "text/html; charset=utf-8", "Accept, Accept-Encoding"]
    )
    for (const words of ["satrail 1.2.3 on regtest", "Simulated here: the Lightning network and the chain."])
      assert.include(text, words)
    const links = [...text.matchAll(/<a href="([^"]+)">/g)].map(([, link = ""]) => link)
    assert.deepStrictEqual(links, ["docs", "docs/api", "openapi.json", "operator/docs"])
    for (const link of links) assert.strictEqual((await service.ask("GET", `/${link}`)).status, 200, link)
    assert.include(text, "a &lt;b> &amp; &quot;c&quot;/demo.json")
    assert.notInclude(text, `<code>${about.demoKey}`)
  })

  it("home: the page loads only the style sheets that all pages share", async () => {
    const { headers, text } = await service.ask("GET", "/", html)
    assert.strictEqual(
      headers.get("content-security-policy"),
      "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    const sheets = [...text.matchAll(/<link rel="stylesheet" href="([^"]+)"/g)].map(([, href = ""]) => href)
    assert.match(sheets.join(" "), /^ui\/tokens-[\w-]+\.css ui\/pages-[\w-]+\.css$/)
    for (const sheet of sheets) assert.strictEqual((await service.ask("GET", `/${sheet}`)).status, 200, sheet)
    assert.notMatch(text, /<script|<style| style=| on\w+=/)
  })

  it("home: simulated parts and the demo are mentioned only if they exist", async () => {
    const { text } = await bare.ask("GET", "/", html)
    for (const words of ["retended", "demo", "operator/docs", "undefined"]) assert.notInclude(text, words)
    assert.include(text, "The operator issues keys.")
  })

  it("home: a client that does not ask for HTML gets an envelope", async () => {
    for (const headers of [{ accept: "application/json" }, { accept: "*/*" }, {}]) {
      const { status, headers: answered, body } = await service.ask("GET", "/", { headers })
      assert.deepStrictEqual(
        [status, answered.get("vary"), answered.get("cache-control")],
        [200, "Accept", "no-store"]
      )
      assert.deepStrictEqual(body, {
        status: 200,
        message: "satrail",
        data: {
          name: "satrail",
          version: "1.2.3",
          network: "regtest",
          simulated: ["the Lightning network", "the chain"],
          docs: "/docs",
          openapi: "/openapi.json"
        }
      })
    }
    assert.deepStrictEqual((await bare.ask("GET", "/")).body.data.simulated, [])
  })

  it("home: if there is a console, the page says what the service is and links to the console, and other clients get the envelope", async () => {
    const led = await start({ http: { about, console: true } })
    const { status, text } = await led.ask("GET", "/", html)
    assert.strictEqual(status, 200)
    for (const words of ["A bitcoin payments service", 'href="console"', 'href="docs"', 'href="docs/api"'])
      assert.include(text, words)
    assert.strictEqual((await led.ask("GET", "/")).body.data.version, "1.2.3")
    const page = await led.ask("GET", "/console", html)
    assert.deepStrictEqual([page.status, page.headers.get("content-type")], [200, "text/html; charset=utf-8"])
    assert.strictEqual(
      page.headers.get("content-security-policy"),
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; " +
        "form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
    assert.notMatch(page.text, /<style| style=| on\w+=|<script>/)
    await led.dispose()
  })

  it("home: methods that change data are rejected, and browsers get an icon", async () => {
    const { status, headers } = await service.ask("POST", "/", { body: {} })
    assert.deepStrictEqual([status, headers.get("allow")], [405, "GET, HEAD, OPTIONS"])
    const icon = await service.ask("GET", "/favicon.ico")
    assert.deepStrictEqual([icon.status, icon.headers.get("content-type")], [200, "image/svg+xml"])
  })
})
