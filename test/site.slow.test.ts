// The site as it is built and served: every page of docs/ is there, every link and anchor leads somewhere, and a browser, where there is one, has nothing to complain about.
import { assert, beforeAll, describe, it } from "@effect/vitest"
import { execFileSync, spawnSync } from "node:child_process"
import { existsSync, globSync, readFileSync } from "node:fs"
import path from "node:path"

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
