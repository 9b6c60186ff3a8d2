import { afterAll, assert, describe, it } from "@effect/vitest"
import { createHash } from "node:crypto"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { gunzipSync } from "node:zlib"
import { start } from "../../http/test/Service.ts"
import * as Site from "../src/Site.ts"

const script = `document.documentElement.classList.add("dark")`
const hash = createHash("sha256").update(script).digest("base64")
const directory = mkdtempSync(path.join(tmpdir(), "satrail-site-"))
const page = (title: string) =>
  `<!doctype html><html><head><script id="a">${script}</script><script type="module" src="/docs/assets/app.Ab_-1.js"></script></head><body>${title}</body></html>`
const files = {
  "index.html": page("home"),
  "404.html": page("not found"),
  "start.html": page("start"),
  "decisions/index.html": page("decisions"),
  "decisions/0001-a.html": page("a"),
  "assets/app.Ab_-1.js": `console.log("${"x".repeat(5000)}")`,
  "secret.pem": "not a kind that is served",
  ".made-of": "neither is this"
}
for (const [name, text] of Object.entries(files)) {
  mkdirSync(path.dirname(path.join(directory, name)), { recursive: true })
  writeFileSync(path.join(directory, name), text)
}
const outside = path.join(path.dirname(directory), `${path.basename(directory)}.html`)
writeFileSync(outside, "outside")

const service = await start({ http: { site: Site.extension(directory) } })
afterAll(async () => {
  await service.dispose()
  for (const one of [directory, outside]) rmSync(one, { recursive: true, force: true })
})
const html = { headers: { accept: "text/html,*/*;q=0.8" } }

describe("the site of the documentation", () => {
  it("site: a page is served by its name, without its ending, and as the page of its folder", async () => {
    for (const [url, body] of [
      ["/docs/", "home"],
      ["/docs/index.html", "home"],
      ["/docs/start", "start"],
      ["/docs/start.html", "start"],
      ["/docs/start?a=b", "start"],
      ["/docs/decisions/", "decisions"],
      ["/docs/decisions/0001-a", "a"]
    ] as const) {
      const { status, headers, text } = await service.ask("GET", url, html)
      assert.deepStrictEqual([url, status, headers.get("content-type"), text], [url, 200, "text/html; charset=utf-8", page(body)])
    }
  })

  it("site: the page of a folder is in the folder, for links are beside it", async () => {
    for (const url of ["/docs", "/docs/decisions"]) {
      const { status, headers } = await service.ask("GET", url, html)
      assert.deepStrictEqual([url, status, headers.get("location")], [url, 302, `${url}/`])
    }
  })

  it("C55: site: a page runs its own scripts, by what they are, and loads nothing from elsewhere", async () => {
    const { headers } = await service.ask("GET", "/docs/start", html)
    const policy = headers.get("content-security-policy") ?? ""
    assert.include(policy, `script-src 'self' 'sha256-${hash}';`)
    assert.match(policy, /^default-src 'none'; /)
    assert.notMatch(policy, /https?:|\*|unsafe-eval|script-src[^;]*unsafe|style-src [^;]*unsafe/)
    assert.deepStrictEqual([headers.get("x-content-type-options"), headers.get("referrer-policy")], ["nosniff", "no-referrer"])
  })

  it("site: what has its content in its name is kept for ever, anything else is asked for again", async () => {
    const ask = (url: string, headers: Record<string, string>) => service.handler(new Request(`http://service${url}`, { headers }))
    const asset = await ask("/docs/assets/app.Ab_-1.js", { "accept-encoding": "gzip" })
    assert.deepStrictEqual(
      [asset.status, asset.headers.get("content-type"), asset.headers.get("cache-control"), asset.headers.get("content-encoding")],
      [200, "text/javascript; charset=utf-8", "public, max-age=31536000, immutable", "gzip"]
    )
    assert.strictEqual(gunzipSync(await asset.arrayBuffer()).toString(), files["assets/app.Ab_-1.js"])
    const first = await ask("/docs/start", {})
    assert.strictEqual(first.headers.get("cache-control"), "no-cache")
    const again = await ask("/docs/start", { "if-none-match": first.headers.get("etag") ?? "" })
    assert.deepStrictEqual([again.status, await again.text()], [304, ""])
  })

  it("site: what is not there is a page for browsers and an envelope for everybody else", async () => {
    const { status, headers, text } = await service.ask("GET", "/docs/nothing", html)
    assert.deepStrictEqual([status, headers.get("content-type"), text], [404, "text/html; charset=utf-8", page("not found")])
    const known = await service.ask("GET", "/docs/nothing", { headers: { ...html.headers, "if-none-match": headers.get("etag") ?? "" } })
    assert.strictEqual(known.status, 404)
    const { status: bare, body } = await service.ask("GET", "/docs/nothing")
    assert.deepStrictEqual([bare, body.error?.code], [404, "not_found"])
  })

  it("site: files of other kinds and other folders are not served", async () => {
    const above = path.basename(outside)
    for (const url of [
      "/docs/secret.pem",
      "/docs/.made-of",
      `/docs/../${above}`,
      `/docs/..%2f${above}`,
      `/docs//${above}`,
      "/docs/assets",
      "/docs/assets/"
    ])
      assert.notStrictEqual((await service.ask("GET", url)).status, 200, url)
  })

  it("site: a file is read once, and the service goes on without it", async () => {
    assert.strictEqual((await service.ask("GET", "/docs/decisions/0001-a")).status, 200)
    rmSync(path.join(directory, "decisions/0001-a.html"))
    assert.strictEqual((await service.ask("GET", "/docs/decisions/0001-a")).text, page("a"))
  })

  it("site: the API reference is beside it", async () => {
    assert.include((await service.ask("GET", "/docs/api")).text, 'data-openapi="../openapi.json"')
  })

  it("site: none is served where none is built", () => {
    assert.isUndefined(Site.extension(path.join(directory, "assets")))
  })
})
