import { afterAll, assert, describe, it } from "@effect/vitest"
import { globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { gunzipSync } from "node:zlib"
import { start } from "../../http/test/Service.ts"
import { manuals } from "../src/serving/Manuals.ts"
import * as Site from "../src/serving/Site.ts"

const root = path.join(import.meta.dirname, "../../..")
const html = { headers: { accept: "text/html,*/*;q=0.8" } }

/** A few sample files instead of the documentation. */
const directory = mkdtempSync(path.join(tmpdir(), "satrail-site-"))
const files = {
  "README.md":
    '# Home\n\nA summary.\n\n<picture>\n<img src="assets/a.svg" alt="A">\n</picture>\n\n## Later\n\n- [First in the list](start.md): begin\n\n## Empty & rest\n\n- [A guide](guides/a.md): read\n',
  "start.md": "# Start `here`\n\n## A b\n\n## A b\n\nThe needle, and `<b>`.\n",
  "guides/a.md":
    "# A\n\n[code](../../packages/core/README.md) [outside](https://example.com/) [home](../README.md)\n",
  "decisions/README.md": "# Decisions\n",
  "packages/satrail/README.md":
    "# The library\n\n[start](../../docs/start.md#a-b) [a node](../ldk/README.md) [all](../../README.md)\n",
  "assets/a.svg": "<svg/>",
  "secret.pem": "not a kind that is served"
}
for (const [name, text] of Object.entries(files)) {
  mkdirSync(path.dirname(path.join(directory, name)), { recursive: true })
  writeFileSync(path.join(directory, name), text)
}
const outside = path.join(path.dirname(directory), `${path.basename(directory)}.md`)
writeFileSync(outside, "# outside")

const [few, whole] = await Promise.all([
  start({ http: { site: Site.extension(directory) } }),
  start({ http: { site: Site.extension() } })
])
afterAll(async () => {
  await Promise.all([few.dispose(), whole.dispose()])
  for (const one of [directory, outside]) rmSync(one, { recursive: true, force: true })
})

const values = (text: string, pattern: RegExp) =>
  Array.from(text.matchAll(pattern), ([, value = ""]) => value.replaceAll("&amp;", "&"))

describe("the documentation at /docs", () => {
  it("site: every page in the repository's docs is served without a build step, and each link, anchor and picture resolves", async () => {
    const pages = [...globSync("**/*.md", { cwd: path.join(root, "docs") }), ...manuals]
    assert.isAbove(pages.length, 40)
    const answers = new Map<string, Awaited<ReturnType<typeof whole.ask>>>()
    const get = async (url: string) => {
      const known = answers.get(url) ?? (await whole.ask("GET", url, html))
      answers.set(url, known)
      return known
    }
    const dead: Array<string> = []
    let count = 0
    for (const page of pages) {
      const url = `/docs/${page.replace(/(^|\/)README\.md$/, "$1").replace(/\.md$/, "")}`
      const { status, headers, text } = await get(url)
      assert.deepStrictEqual(
        [url, status, headers.get("content-type")],
        [url, 200, "text/html; charset=utf-8"]
      )
      assert.notMatch(text, /<img(?![^>]* width="[1-9]\d*" height="[1-9]\d*")/, url)
      assert.match(text, /<script src="[./]*ui\/site-[\w-]+\.js" defer(?:="")?><\/script>/)
      assert.notMatch(
        text.replace(/<script src="[^"]*"[^>]*><\/script>/, ""),
        /<script|<style[^>]* on[a-z]+="/,
        url
      )
      const links = values(text, /<a\s[^>]*?href="([^"]*)"/g)
      const loads = values(text, /<(?:img|source|script|iframe|link)\s[^>]*?(?:src|srcset|href)="([^"]*)"/g)
      for (const link of [...links, ...loads]) {
        count++
        const { origin, pathname, hash } = new URL(link, `http://docs${url}`)
        if (origin !== "http://docs") {
          if (loads.includes(link)) dead.push(`${url} loads ${link}`)
          continue
        }
        const target = await get(pathname)
        const id = decodeURIComponent(hash.slice(1))
        if (target.status !== 200 || (id !== "" && !values(target.text, /\sid="([^"]*)"/g).includes(id)))
          dead.push(`${url}: ${link}`)
      }
    }
    assert.isAbove(count, 1000)
    assert.deepStrictEqual(dead, [])
  })

  it("site: the navigation has the sections and links of the first page, in the same order", async () => {
    const { text } = await few.ask("GET", "/docs/guides/a", html)
    const nav = text.slice(text.indexOf("<nav>"))
    assert.deepStrictEqual(values(nav, /<h2>([^<]*)</g), ["Later", "Empty & rest"])
    assert.deepStrictEqual(values(nav, /<a href="([^"]*)"/g), [
      "../",
      "../api",
      "../start.md",
      "../guides/a.md"
    ])
  })

  it("site: llms.txt lists the pages, and llms-full.txt contains their text in the order of the navigation", async () => {
    const short = await few.ask("GET", "/docs/llms.txt")
    assert.deepStrictEqual(
      [short.status, short.headers.get("content-type")],
      [200, "text/plain; charset=utf-8"]
    )
    assert.match(
      short.text,
      /^# Home\n\n> A summary\.\n\n## Later\n\n- \[First in the list\]\(start\.md\): begin\n/
    )
    const full = await few.ask("GET", "/docs/llms-full.txt")
    const order = [
      "README.md",
      "start.md",
      "guides/a.md",
      "decisions/README.md",
      "packages/satrail/README.md"
    ]
    assert.deepStrictEqual(values(full.text, /<!-- (\S+) -->/g), order)
    const source = "https://github.com/satrail/satrail/blob/HEAD"
    assert.include(full.text, files["guides/a.md"].replace("../../packages", `${source}/packages`))
    assert.include(
      full.text,
      `[start](../../start.md#a-b) [a node](../ldk/README.md) [all](${source}/README.md)`
    )
    for (const name of ["llms.txt", "llms-full.txt"]) {
      const { status, headers } = await few.ask("GET", `/${name}`)
      assert.deepStrictEqual([status, headers.get("location")], [302, `/docs/${name}`])
    }
  })

  it("site: a program that requests a page gets the page as Markdown", async () => {
    const { text, headers } = await few.ask("GET", "/docs/start.md")
    assert.deepStrictEqual(
      [text, headers.get("content-type")],
      [files["start.md"], "text/markdown; charset=utf-8"]
    )
    assert.strictEqual(headers.get("vary"), "Accept, Accept-Encoding")
  })

  it("site: the first page lists every guide and reference", async () => {
    const { text } = await whole.ask("GET", "/docs/", html)
    const links = values(text, /<a\s[^>]*?href="([^"]*)"/g).map(
      (link) => new URL(link, "http://docs/docs/").pathname
    )
    for (const guide of globSync("{guides,reference}/*.md", { cwd: path.join(root, "docs") }))
      assert.include(links, `/docs/${guide}`)
  })

  it("site: a page is served with or without the extension in its URL, and a folder's URL serves the folder's index page", async () => {
    for (const [url, title] of [
      ["/docs/", "Home"],
      ["/docs/README.md", "Home"],
      ["/docs/start", "Start here"],
      ["/docs/start.md?a=b", "Start here"],
      ["/docs/guides/a", "A"],
      ["/docs/decisions/", "Decisions"]
    ] as const) {
      const { status, text } = await few.ask("GET", url, html)
      assert.deepStrictEqual([url, status], [url, 200])
      assert.include(text, `<title>${title} · satrail</title>`)
    }
    const page = await few.ask("GET", "/docs/guides/a/", html)
    assert.deepStrictEqual([page.status, page.headers.get("location")], [302, "/docs/guides/a"])
    for (const url of ["/docs", "/docs/decisions"]) {
      const { status, headers } = await few.ask("GET", url, html)
      assert.deepStrictEqual([url, status, headers.get("location")], [url, 302, `${url}/`])
    }
  })

  it("site: anchors match GitHub's, and links to files outside the documentation lead to the sources", async () => {
    const { text } = await few.ask("GET", "/docs/start", html)
    assert.deepStrictEqual(values(text, /<h2 id="([^"]*)"/g), ["a-b", "a-b-1"])
    assert.include((await few.ask("GET", "/docs/start", html)).text, "<code>&lt;b&gt;</code>")
    const { text: guide } = await few.ask("GET", "/docs/guides/a", html)
    assert.deepStrictEqual(values(guide.slice(0, guide.indexOf("</main>")), /<a href="([^"]*)"/g), [
      "https://github.com/satrail/satrail/blob/HEAD/packages/core/README.md",
      "https://example.com/",
      "../README.md"
    ])
  })

  it("site: a search finds the pages that contain at least half of the words, and the results page escapes the query", async () => {
    const found = async (q: string) => {
      const { status, text } = await few.ask("GET", `/docs/?q=${encodeURIComponent(q)}`, html)
      assert.strictEqual(status, 200)
      assert.notInclude(text, "<b>")
      return values(text.slice(0, text.indexOf("</main>")), /<a href="([^"]*)"/g)
    }
    assert.strictEqual((await found("NEEDLE start"))[0], "start.md#a-b")
    assert.deepStrictEqual(await found('needle "<b> haystack'), [])
    assert.deepStrictEqual(await found(" "), [])
    assert.deepStrictEqual(await found("needle ".repeat(1000)), ["start.md#a-b"])
  })

  for (const [asked, file] of [
    ["refund", /^guides\//],
    ["forgot passkey", /^guides\/(?:console|incidents)/],
    ["test webhook", /^guides\/webhooks/],
    ["price in euros", /^guides\/(?:sell|checkout|from-stripe)/]
  ] as const)
    it(`site: a search for “${asked}” finds a guide first, and no decision among the first five`, async () => {
      const { text } = await whole.ask("GET", `/docs/?q=${encodeURIComponent(asked)}`, html)
      const found = values(text.slice(0, text.indexOf("</main>")), /<a href="([^"]*)"/g).slice(0, 5)
      assert.lengthOf(found, 5)
      assert.match(found[0] ?? "", file, found.join(" "))
      assert.isEmpty(found.filter((href) => href.startsWith("decisions/")))
    })

  it("C55: site: a page runs only its own script and loads nothing from other origins", async () => {
    const { headers } = await few.ask("GET", "/docs/start", html)
    const policy = headers.get("content-security-policy") ?? ""
    assert.match(policy, /^default-src 'none'; style-src 'self'; img-src 'self'; .*form-action 'self'/)
    assert.notMatch(policy, /https?:|\*|unsafe/)
    assert.match(policy, /; script-src 'self'; connect-src 'self'$/)
    assert.deepStrictEqual(
      [headers.get("x-content-type-options"), headers.get("referrer-policy")],
      ["nosniff", "no-referrer"]
    )
  })

  it("site: a page is compressed, and is sent again only after it has changed", async () => {
    const ask = (headers: Record<string, string>) =>
      few.handler(new Request("http://service/docs/start", { headers }))
    const first = await ask({ "accept-encoding": "gzip" })
    assert.deepStrictEqual([first.status, first.headers.get("cache-control")], [200, "no-cache"])
    assert.include(gunzipSync(await first.arrayBuffer()).toString(), "needle")
    const again = await ask({ "if-none-match": first.headers.get("etag") ?? "" })
    assert.deepStrictEqual([again.status, await again.text()], [304, ""])
  })

  it("site: a picture is served byte for byte", async () => {
    const picture = await whole.handler(new Request("http://service/docs/pictures/console.png"))
    assert.deepStrictEqual([picture.status, picture.headers.get("content-type")], [200, "image/png"])
    assert.strictEqual(
      Buffer.from(await picture.arrayBuffer())
        .subarray(0, 8)
        .toString("latin1"),
      "\x89PNG\r\n\x1a\n"
    )
  })

  it("site: for a missing page, browsers get an error page and programs get an envelope", async () => {
    const { status, headers, text } = await few.ask("GET", "/docs/guides/nothing", html)
    assert.deepStrictEqual([status, headers.get("content-type")], [404, "text/html; charset=utf-8"])
    assert.include(text, 'href="../start.md"')
    const { status: bare, body } = await few.ask("GET", "/docs/nothing")
    assert.deepStrictEqual([bare, body.error?.code], [404, "not_found"])
  })

  it("site: for a missing page with many folders in its path, browsers get a small response, too", async () => {
    const { status, text } = await whole.ask("GET", `/docs/${"/".repeat(15_000)}`, html)
    assert.strictEqual(status, 404)
    assert.isBelow(text.length, 8192)
  })

  it("site: files of unknown types and files outside the documentation are not served", async () => {
    const above = path.basename(outside)
    for (const url of [
      "/docs/secret.pem",
      `/docs/../${above}`,
      `/docs/..%2f${above}`,
      `/docs//${above}`,
      "/docs/assets",
      "/docs/assets/"
    ]) {
      assert.notStrictEqual((await few.ask("GET", url)).status, 200, url)
    }
  })

  it("site: the API reference is served beside the other pages", async () => {
    assert.include((await few.ask("GET", "/docs/api")).text, 'data-openapi="../openapi.json"')
  })
})
