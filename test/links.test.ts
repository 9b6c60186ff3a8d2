// Checks every link of every page as GitHub resolves it. packages/server/test/site.test.ts checks that the
// links also work at /docs.
import { assert, it } from "@effect/vitest"
import { existsSync, globSync, readFileSync, statSync } from "node:fs"
import path from "node:path"
import { anchorOf } from "../packages/server/src/serving/Site.ts"
import { anchorsIn, linksIn, withoutCode } from "./Links.ts"

const root = path.dirname(import.meta.dirname)
const pages = globSync(["*.md", "docs/**/*.md", "packages/*/*.md", "examples/*/*.md", ".github/**/*.md"], {
  cwd: root,
  exclude: ["**/node_modules"]
}).toSorted()

/** The broken links of a page, with their lines. */
const deadLinks = (page: string, text: string): ReadonlyArray<string> =>
  linksIn(text).flatMap(({ to, line }) => {
    const [file = "", anchor] = to.split("#")
    const target = path.join(path.dirname(page), file)
    const at = path.join(root, target)
    if (to.startsWith("/") || !existsSync(at)) return [`${page}:${line}: ${to} does not exist`]
    if (anchor === undefined || (file !== "" && !file.endsWith(".md"))) return []
    const there =
      file === "" ? text : readFileSync(statSync(at).isDirectory() ? path.join(at, "README.md") : at, "utf8")
    return anchorsIn(there).has(anchor) ? [] : [`${page}:${line}: ${to} has no such heading`]
  })

it("links: the target of each link on a page is an existing file and heading", () => {
  assert.isAbove(pages.length, 40)
  const all = pages.map((page) => [page, readFileSync(path.join(root, page), "utf8")] as const)
  assert.isAbove(all.flatMap(([, text]) => linksIn(text)).length, 500)
  assert.deepStrictEqual(
    all.flatMap(([page, text]) => deadLinks(page, text)),
    []
  )
})

it("links: each decision has a number of its own", () => {
  const numbers = pages
    .filter((page) => page.startsWith("docs/decisions/"))
    .flatMap((page) =>
      Array.from(
        readFileSync(path.join(root, page), "utf8").matchAll(/^## (\d{4}) /gm),
        ([, number]) => number
      )
    )
  assert.isAbove(numbers.length, 100)
  assert.deepStrictEqual(
    numbers.filter((number, at) => numbers.indexOf(number) !== at),
    []
  )
})

it("links: a broken link is reported with its page and line", () => {
  const text =
    '# A\n\n[a](start.md) `[b](c.md)` [d](#a)\n\n```\n[e](f.md)\n```\n\n[g](h.md) [i](start.md#nothing)\n![j](k.svg) [l](#m)\n<img src="n.svg">\n'
  assert.deepStrictEqual(deadLinks("docs/x.md", text), [
    "docs/x.md:9: h.md does not exist",
    "docs/x.md:9: start.md#nothing has no such heading",
    "docs/x.md:10: k.svg does not exist",
    "docs/x.md:10: #m has no such heading",
    "docs/x.md:11: n.svg does not exist"
  ])
})

it("links: the anchors match those that GitHub generates", () => {
  for (const [heading, anchor] of [
    ["What a lost commit means", "what-a-lost-commit-means"],
    ["`malformed`", "malformed"],
    ["`amount_out_of_range`", "amount_out_of_range"],
    ["compose.yaml", "composeyaml"],
    ["And the others: 1 & 2", "and-the-others-1--2"],
    ["Größe", "größe"]
  ] as const) {
    assert.strictEqual(anchorOf(heading), anchor)
  }
  assert.deepStrictEqual(
    [...anchorsIn('# A b\n\n## A b\n\n```\n# no\n```\n\n## [C](d.md)\n\n<a id="e_f"></a>\n')],
    ["a-b", "a-b-1", "c", "e_f"]
  )
})

/** Tags that GitHub does not support and therefore hides. */
const strayElements = (page: string): ReadonlyArray<string> =>
  Array.from(withoutCode(page).matchAll(/<\/?([A-Za-z][\w-]*)/g), ([, name = ""]) => name).filter(
    (name) => !["a", "br", "details", "img", "picture", "source", "summary"].includes(name)
  )

it("links: no page has text that a browser would treat as an HTML element", () => {
  const found = pages
    .filter((page) => page.startsWith("docs/"))
    .map((page) => [page, strayElements(readFileSync(path.join(root, page), "utf8"))])
  assert.deepStrictEqual(
    found.filter(([, names]) => names?.length !== 0),
    []
  )
  assert.deepStrictEqual(
    strayElements("`<API_KEY>` and <API_KEY>, <br> or\n\n    <b>\n\n<T extends string>"),
    ["API_KEY", "b", "T"]
  )
})
