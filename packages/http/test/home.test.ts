import { afterAll, assert, describe, it } from "@effect/vitest"
import { createHash } from "node:crypto"
import type * as Home from "../src/pages/Home.ts"
import { start } from "./Service.ts"

const about: Home.About = {
  version: "1.2.3",
  network: "regtest",
  pretended: ["the Lightning network", "the chain"],
  demoKey: 'a <b> & "c"/demo.json'
}
const service = await start({ http: { about } })
const bare = await start()
afterAll(async () => {
  await service.dispose()
  await bare.dispose()
})
const html = { headers: { accept: "text/html,application/xhtml+xml,*/*;q=0.8" } }

describe("the first page", () => {
  it("home: a browser gets a page with version, network and links", async () => {
    const { status, headers, text } = await service.ask("GET", "/", html)
    assert.deepStrictEqual(
      [status, headers.get("content-type"), headers.get("vary")],
      [200, "text/html; charset=utf-8", "Accept, Accept-Encoding"]
    )
    for (const words of ["satrail 1.2.3 on regtest", "Simulated here: the Lightning network and the chain."]) assert.include(text, words)
    const links = [...text.matchAll(/<a href="([^"]+)">/g)].map(([, link = ""]) => link)
    assert.deepStrictEqual(links, ["docs", "docs/api", "openapi.json", "operator/docs"])
    for (const link of links) assert.strictEqual((await service.ask("GET", `/${link}`)).status, 200, link)
    assert.include(text, "a &lt;b&gt; &amp; &quot;c&quot;/demo.json")
    assert.notInclude(text, `<code>${about.demoKey}`)
  })

  it("home: the page loads its own style, and nothing else", async () => {
    const { headers, text } = await service.ask("GET", "/", html)
    const [, style = ""] = /<style>([^]*?)<\/style>/.exec(text) ?? []
    const hash = createHash("sha256").update(style).digest("base64")
    assert.strictEqual(
      headers.get("content-security-policy"),
      `default-src 'none'; style-src 'sha256-${hash}'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`
    )
    assert.notMatch(text, /<script| style=| on\w+=/)
  })

  it("home: without simulated parts none is mentioned, and no demo without one", async () => {
    const { text } = await bare.ask("GET", "/", html)
    for (const words of ["retended", "demo", "operator/docs", "undefined"]) assert.notInclude(text, words)
    assert.include(text, "The operator issues keys.")
  })

  it("home: everybody else gets an envelope", async () => {
    for (const headers of [{ accept: "application/json" }, { accept: "*/*" }, {}]) {
      const { status, headers: answered, body } = await service.ask("GET", "/", { headers })
      assert.deepStrictEqual([status, answered.get("vary"), answered.get("cache-control")], [200, "Accept", "no-store"])
      assert.deepStrictEqual(body, {
        status: 200,
        message: "satrail",
        data: {
          name: "satrail",
          version: "1.2.3",
          network: "regtest",
          pretended: ["the Lightning network", "the chain"],
          docs: "/docs",
          openapi: "/openapi.json"
        }
      })
    }
    assert.deepStrictEqual((await bare.ask("GET", "/")).body.data.pretended, [])
  })

  it("home: where there is a console, a browser is led there, and everybody else gets the envelope", async () => {
    const led = await start({ http: { about, console: true } })
    const { status, headers } = await led.ask("GET", "/", html)
    assert.deepStrictEqual([status, headers.get("location")], [303, "console"])
    assert.strictEqual((await led.ask("GET", "/")).body.data.version, "1.2.3")
    const page = await led.ask("GET", "/console", html)
    assert.deepStrictEqual([page.status, page.headers.get("content-type")], [200, "text/html; charset=utf-8"])
    for (const part of [
      "default-src 'none'",
      "script-src 'self'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'"
    ])
      assert.include(page.headers.get("content-security-policy") ?? "", part)
    assert.notMatch(page.text, /<style| style=| on\w+=|<script>/)
    await led.dispose()
  })

  it("home: other methods are refused, and a browser finds an icon", async () => {
    const { status, headers } = await service.ask("POST", "/", { body: {} })
    assert.deepStrictEqual([status, headers.get("allow")], [405, "GET, HEAD, OPTIONS"])
    const icon = await service.ask("GET", "/favicon.ico")
    assert.deepStrictEqual([icon.status, icon.headers.get("content-type")], [200, "image/svg+xml"])
  })
})
