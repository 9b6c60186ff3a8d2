import * as Asset from "@satrail/http/wire/Asset"
import * as Docs from "@satrail/http/pages/Docs"
import * as Extension from "@satrail/http/edge/Extension"
import * as Html from "@satrail/http/wire/Html"
import { Effect } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { Marked } from "marked"
import { existsSync, readdirSync } from "node:fs"
import { readFile } from "node:fs/promises"
import path from "node:path"
import { fileURLToPath } from "node:url"

/** The documentation: a release and the image have a copy beside the program, and the repository has the original. */
export const bundled = ["../../docs", "../../../../docs"]
  .map((place) => fileURLToPath(new URL(place, import.meta.url)))
  .find((folder) => existsSync(path.join(folder, "README.md")))

/** The kinds of file that are served as they are. */
const types: Readonly<Record<string, string>> = { ".png": "image/png", ".svg": "image/svg+xml" }

// A search reads every page, and needs no key.
const limits = { words: 8, characters: 100, results: 50 } as const

const { style, contentSecurityPolicy } = Html.styled(`
body{max-width:72rem;padding:1rem}
main{min-width:0}
main h2{font-size:1.3rem;margin-top:2rem}
main h3{font-size:1.1rem}
nav{font-size:.9rem}
nav ul{list-style:none;padding:0}
nav a{text-decoration:none}
input{font:inherit;width:100%;box-sizing:border-box;padding:.25rem .5rem}
img{max-width:100%;height:auto}
table{display:block;overflow-x:auto;border-collapse:collapse}
th,td{border:1px solid #8886;padding:.25rem .5rem;text-align:start;vertical-align:top;overflow-wrap:normal}
pre{overflow-x:auto;padding:.75rem;background:#8882;border-radius:.25rem}
main strong{border:0;padding:0;display:inline}
@media(min-width:56rem){body{display:grid;grid-template-columns:15rem 1fr;gap:2rem;align-items:start}nav{order:-1}}`)
const headers = {
  "content-security-policy": contentSecurityPolicy.replace("form-action 'none'", "form-action 'self'"),
  "referrer-policy": "no-referrer"
}

/** The anchor of a heading, as on GitHub: https://docs.github.com/en/get-started/writing-on-github, "Section links". */
export const anchorOf = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, "")
    .replaceAll(" ", "-")

/** Where a link of a page leads: what is not in the documentation is on GitHub. */
const linkOf = (file: string, to: string): string => {
  if (/^(?:[a-z]+:|#)/.test(to)) return to
  const target = path.posix.join("docs", path.posix.dirname(file), to)
  return target.startsWith("docs/") ? to : `${Docs.contact.url}/blob/HEAD/${target}`
}

/** The body of a page, with GitHub's anchors. */
const bodyOf = (file: string, text: string): string => {
  const anchors = new Map<string, number>()
  const marked = new Marked({
    async: false,
    walkTokens: (token) => {
      if (token.type === "link") token["href"] = linkOf(file, String(token["href"]))
    },
    // The URLs in the text are examples.
    tokenizer: { url: () => undefined },
    renderer: {
      heading({ tokens, depth, text }) {
        const anchor = anchorOf(text.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1"))
        const count = anchors.get(anchor) ?? 0
        anchors.set(anchor, count + 1)
        return `<h${depth} id="${count === 0 ? anchor : `${anchor}-${count}`}">${this.parser.parseInline(tokens)}</h${depth}>\n`
      }
    }
  })
  return marked.parse(text, { async: false })
}

interface Page {
  readonly file: string
  readonly title: string
  readonly text: string
  /** The text in lower case, which a search reads. */
  readonly lower: string
}

/** A page of which `file` says the folder: links lead from there. */
const shell = (pages: ReadonlyArray<Page>, file: string, title: string, main: string, asked = ""): string => {
  const root = "../".repeat(file.split("/").length - 1) || "./"
  const listOf = (heading: string, folder: string): string =>
    `<h2>${heading}</h2>\n<ul>\n${pages
      .filter((page) => path.posix.dirname(page.file) === folder && page.file !== "README.md")
      .map((page) => `<li><a href="${root}${page.file}">${Html.escaped(page.title)}</a></li>`)
      .join("\n")}\n</ul>`
  const body = `<main>
${main}</main>
<nav>
<form action="${root}"><input type="search" name="q" value="${Html.escaped(asked)}" maxlength="${limits.characters}" placeholder="Search" aria-label="Search"></form>
<ul>
<li><a href="${root}">Documentation</a></li>
<li><a href="${root}api">API reference</a></li>
<li><a href="${root}decisions/">Decisions</a></li>
</ul>
${listOf("Concepts", ".")}
${listOf("Guides", "guides")}
${listOf("Reference", "reference")}
</nav>`
  return Html.page({ title: `${title} · satrail`, body, style, root: `${root}../` })
}

/** The pages that have every word, those with a word in the title first. */
const search = (pages: ReadonlyArray<Page>, asked: string): string => {
  const words = asked.slice(0, limits.characters).toLowerCase().split(/\s+/).filter(Boolean).slice(0, limits.words)
  const has = (text: string) => words.filter((word) => text.toLowerCase().includes(word)).length
  const found = words.length === 0 ? [] : pages.filter(({ lower }) => words.every((word) => lower.includes(word)))
  const results = found
    .toSorted((a, b) => has(b.title) - has(a.title))
    .slice(0, limits.results)
    .map(({ file, title, text }) => {
      const line = text.split("\n").find((line) => !line.startsWith("#") && has(line) > 0) ?? ""
      return `<li><a href="${file}">${Html.escaped(title)}</a><br>${Html.escaped(line.slice(0, 200))}</li>`
    })
  return `<h1>Search</h1>\n${results.length === 0 ? "<p>No page has these words.</p>" : `<ul>\n${results.join("\n")}\n</ul>`}\n`
}

/** Everything in the folder that is served, by path. A page is rendered when it is first asked for. */
const read = Effect.fnUntraced(function* (folder: string) {
  const all = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((file) => file.replaceAll(path.sep, "/"))
  const pages = yield* Effect.forEach(
    all.filter((file) => file.endsWith(".md")),
    Effect.fnUntraced(function* (file) {
      const text = yield* Effect.promise(() => readFile(path.join(folder, file), "utf8"))
      return { file, text, lower: text.toLowerCase(), title: /^# (.+)$/m.exec(text)?.[1]?.replaceAll("`", "") ?? file }
    })
  )
  pages.sort((a, b) => a.title.localeCompare(b.title, "en"))
  const files = new Map<string, Effect.Effect<Asset.Asset>>()
  const once = (make: Effect.Effect<Asset.Asset>) => Effect.cached(Effect.uninterruptible(make))
  for (const { file, title, text } of pages) {
    const html = Effect.sync(() => shell(pages, file, title, bodyOf(file, text)))
    const asset = yield* once(Effect.flatMap(html, (html) => Asset.make(html, "text/html; charset=utf-8", { headers })))
    for (const name of [file, file.replace(/\.md$/, ""), file.replace(/(^|\/)README\.md$/, "$1")]) files.set(name, asset)
  }
  for (const file of all) {
    const type = types[path.extname(file)]
    if (type === undefined) continue
    const bytes = Effect.promise(async () => new Uint8Array(await readFile(path.join(folder, file))))
    files.set(file, yield* once(Effect.flatMap(bytes, (bytes) => Asset.make(bytes, type))))
  }
  return { pages, files }
})

/** The documentation, at `/docs` and below it: the Markdown files of a folder as pages. */
export const extension = (folder = bundled): Extension.Extension<never, HttpRouter.HttpRouter> | undefined =>
  folder === undefined
    ? undefined
    : Extension.make(
        HttpRouter.use(
          Effect.fnUntraced(function* (router) {
            const cached = yield* Effect.cached(Effect.uninterruptible(read(folder)))
            const answer = Effect.gen(function* () {
              const request = yield* HttpServerRequest.HttpServerRequest
              const { pathname, searchParams } = new URL(request.url, "http://docs")
              const name = pathname.slice(`${Docs.paths.docs}/`.length)
              const { pages, files } = yield* cached
              // Links in a page are relative to it: the page of a folder is in the folder.
              if (pathname === Docs.paths.docs || files.has(`${name}/`)) return HttpServerResponse.redirect(`${pathname}/`)
              const html = (title: string, main: string, status: number, asked?: string) =>
                HttpServerResponse.text(shell(pages, name, title, main, asked), {
                  status,
                  contentType: "text/html; charset=utf-8",
                  headers
                })
              const asked = searchParams.get("q")
              if (name === "" && asked !== null) return html("Search", search(pages, asked), 200, asked)
              const file = files.get(name)
              if (file !== undefined) return yield* Asset.answer(yield* file)
              // An empty answer becomes the envelope, for programs.
              if (request.headers["accept"]?.includes("text/html") !== true) return HttpServerResponse.empty({ status: 404 })
              return html("Not found", "<h1>There is no such page</h1>\n", 404)
            })
            yield* router.add("GET", `${Docs.paths.docs}/*`, answer)
          })
        )
      )
