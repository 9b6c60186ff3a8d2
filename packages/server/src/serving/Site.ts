import * as Asset from "@satrail/http/wire/Asset"
import * as Docs from "@satrail/service/http/pages/Docs"
import * as Extension from "@satrail/http/edge/Extension"
import * as Html from "@satrail/http/wire/Html"
import { type Content, h, raw } from "@satrail/http/wire/Html"
import { Effect, Scope } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import type * as Markdown from "marked"
import { existsSync, readdirSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { createRequire } from "node:module"
import path from "node:path"
import { manuals } from "./Manuals.ts"
import * as SiteSearch from "./SiteSearch.ts"

/** The folder of this package, unless it is part of a host's bundle and not installed next to it. */
const own = (): string | undefined => {
  const here: string | undefined = import.meta.url // undefined in a CommonJS bundle
  try {
    return path.dirname(
      createRequire(here ?? path.join(process.cwd(), "bundle.cjs")).resolve("@satrail/server/package.json")
    )
  } catch {
    return undefined
  }
}

/**
 * The folder of the documentation. A release and the image contain a copy; the repository contains the original. Without
 * either, a page with links is served instead.
 */
export const bundled = [own() ?? []]
  .flat()
  .flatMap((folder) => [path.join(folder, "docs"), path.join(folder, "../../docs")])
  .find((folder) => existsSync(path.join(folder, "README.md")))

/** The file types that are served unchanged. */
const types: Readonly<Record<string, string>> = { ".png": "image/png", ".svg": "image/svg+xml" }

/**
 * Maximum length of the path of a missing page, because each link of the page that is shown instead repeats the path's
 * folders.
 */
const longestMissing = 200

const headers = {
  "content-security-policy": `${Html.contentSecurityPolicy.replace("form-action 'none'", "form-action 'self'")}; script-src 'self'; connect-src 'self'`,
  "referrer-policy": "no-referrer"
}

/**
 * Returns the anchor that GitHub gives to a heading (https://docs.github.com/en/get-started/writing-on-github,
 * "Section links").
 */
export const anchorOf = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, "")
    .replaceAll(" ", "-")

/** Returns the target of a link in a page. A link to a file outside of the documentation leads to GitHub. */
const linkOf = (file: string, to: string): string => {
  if (/^(?:[a-z]+:|#)/.test(to)) return to
  const [isManual, folder] = [manuals.includes(file), path.posix.dirname(file)]
  const target = path.posix.join(isManual ? "" : "docs", folder, to)
  const page = target.startsWith("docs/") ? target.slice("docs/".length) : target
  const [name = ""] = page.split("#")
  if (page === target && !manuals.includes(name)) return `${Docs.contact.url}/blob/HEAD/${target}`
  return path.posix.relative(folder, page)
}

/** Returns a page's Markdown, with links that lead to the served pages. */
const linked = (file: string, text: string): string =>
  text.replaceAll(/(\]\()([^)\s]+)(?=\))/g, (_, before: string, to: string) => before + linkOf(file, to))

type Size = readonly [width: number, height: number]

/** Returns the size of a PNG or SVG picture. */
const sizeOf = (bytes: Buffer): Size => {
  if (bytes.toString("latin1", 1, 4) === "PNG") return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)]
  const [, width, height] = /viewBox="0 0 ([\d.]+) ([\d.]+)"/.exec(bytes.toString()) ?? []
  return [Number(width), Number(height)]
}

/** Adds the sizes of pictures, so that the text below does not move when they load. */
const withSizes = (file: string, html: string, sizes: ReadonlyMap<string, Size>): string =>
  html.replaceAll(/<img src="([^"]+)"(?: width="(\d+)")?/g, (tag: string, src: string, shown?: string) => {
    const [width, height] = sizes.get(path.posix.join(path.posix.dirname(file), src)) ?? []
    if (width === undefined || height === undefined) return tag
    return `<img src="${src}" width="${shown ?? width}" height="${Math.round((Number(shown ?? width) * height) / width)}"`
  })

/** Renders a page's body, with the anchors that GitHub would use. */
const bodyOf = ({ Marked }: typeof Markdown, text: string): string => {
  const anchors = new Map<string, number>()
  const marked = new Marked({
    async: false,
    // Don't turn bare URLs into links, because they are examples.
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
  // A wide table scrolls, so the keyboard must reach it. A header without text is announced as if it had some.
  return marked
    .parse(text, { async: false })
    .replaceAll("<table>", '<table tabindex="0">')
    .replaceAll("<th></th>", "<td></td>")
}

/** The number of headings from which a page lists them at its beginning. */
const listedHeadings = 3

/** Adds the list “On this page” below a page's title. */
const withHeadings = (html: string): string => {
  const headings = Array.from(
    html.matchAll(/<h2 id="([^"]*)">(.*?)<\/h2>/g),
    ([, anchor = "", text = ""]) => ({
      anchor,
      text: text.replaceAll(/<\/?a\b[^>]*>/g, "")
    })
  )
  if (headings.length < listedHeadings) return html
  const links = headings.map(({ anchor, text }) => `<li><a href="#${anchor}">${text}</a></li>`).join("")
  return html.replace(
    /<\/h1>\n/,
    `</h1>\n<nav class="toc" aria-label="On this page"><p>On this page</p><ul>${links}</ul></nav>\n`
  )
}

interface Page {
  readonly file: string
  readonly title: string
  readonly text: string
}

/** A section of the navigation. */
interface Section {
  readonly heading: string
  readonly links: ReadonlyArray<{ readonly title: string; readonly file: string }>
}

/** Reads the navigation from the first page: its headings, and the lists of links below them. */
const sectionsOf = (text: string): ReadonlyArray<Section> =>
  text
    .split(/^## /m)
    .slice(1)
    .map((section) => ({
      heading: section.slice(0, section.indexOf("\n")),
      links: Array.from(section.matchAll(/^- \[([^\]]+)\]\(([^)]+)\)/gm), ([, title = "", file = ""]) => ({
        title,
        file
      }))
    }))

interface Documentation {
  /** The pages, in the order of the navigation. Pages that are not in the navigation come last. */
  readonly pages: ReadonlyArray<Page>
  readonly sections: ReadonlyArray<Section>
  /** The sections of all pages, for searching. */
  readonly searched: ReadonlyArray<SiteSearch.Section>
}

/** Renders a page. Its links are relative to the folder of `file`. */
const shell = (
  { sections }: Documentation,
  file: string,
  title: string,
  main: Content,
  asked = ""
): string => {
  const root = "../".repeat(file.split("/").length - 1) || "./"
  const list = (links: Section["links"]) =>
    h(
      "ul",
      null,
      links.map(({ title, file }) => h("li", null, h("a", { href: `${root}${file}` }, title)))
    )
  const { characters } = SiteSearch.limits
  const body = [
    main,
    h(
      "nav",
      null,
      h(
        "form",
        { action: root, role: "search" },
        h("input", {
          type: "search",
          name: "q",
          value: asked,
          maxlength: characters,
          placeholder: "Search",
          "aria-label": "Search"
        })
      ),
      list([
        { title: "Documentation", file: "" },
        { title: "Try the API", file: "api" }
      ]),
      sections.map(({ heading, links }) => [h("h2", null, heading), list(links)])
    )
  ]
  return Html.page({
    title: `${title} · satrail`,
    body,
    kind: "site",
    root: `${root}../`,
    script: "site.js"
  })
}

/** Renders the sections that a search found. */
const search = ({ searched }: Documentation, asked: string) => {
  const results = SiteSearch.search(searched, asked).map(({ file, anchor, page, heading, snippet }) =>
    h(
      "li",
      null,
      h("a", { href: anchor === "" ? file : `${file}#${anchor}` }, heading === "" ? page : heading),
      heading !== "" && h("small", null, ` ${page}`),
      h("br", null),
      snippet
    )
  )
  return h(
    "main",
    null,
    h("h1", null, "Search"),
    results.length === 0
      ? h("p", null, "No page contains at least half of these words.")
      : h("ul", null, results)
  )
}

/** The headers of a page, whose Markdown and HTML have the same URL. */
const negotiated = { vary: "Accept, Accept-Encoding" }

/**
 * Returns the first page in the format for language models (https://llmstxt.org): its first paragraph is quoted
 * as the summary, and its picture is removed.
 */
const indexOf = (pages: ReadonlyArray<Page>): string =>
  (pages.find(({ file }) => file === "README.md")?.text ?? "")
    .replace(/^(# .+\n\n)/, "$1> ")
    .replace(/<picture>[^]*?<\/picture>\n+/g, "")

/** Reads the folder, and returns everything to serve, by path. Each page is rendered on its first request. */
const read = Effect.fnUntraced(function* (folder: string) {
  const inside = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((file) =>
    file.replaceAll(path.sep, "/")
  )
  const beside = manuals.filter((file) => !inside.includes(file) && existsSync(path.join(folder, "..", file)))
  const all = [...inside, ...beside]
  const pages = yield* Effect.forEach(
    all.filter((file) => file.endsWith(".md")),
    Effect.fnUntraced(function* (file) {
      const source = yield* Effect.promise(() =>
        readFile(path.join(folder, beside.includes(file) ? ".." : "", file), "utf8")
      )
      const text = linked(file, source)
      return {
        file,
        text,
        title: /^# (.+)$/m.exec(text)?.[1]?.replaceAll("`", "") ?? file
      }
    })
  )
  const sections = sectionsOf(pages.find(({ file }) => file === "README.md")?.text ?? "")
  const order = ["README.md", ...sections.flatMap(({ links }) => links.map(({ file }) => file))]
  const placeOf = ({ file }: Page) => (order.includes(file) ? order.indexOf(file) : order.length)
  pages.sort((a, b) => placeOf(a) - placeOf(b) || a.title.localeCompare(b.title, "en"))
  const searched = pages.flatMap(({ file, title, text }) =>
    SiteSearch.sectionsOf(file, title, text, anchorOf)
  )
  const documentation: Documentation = { pages, sections, searched }
  const sizes = new Map<string, Size>()
  const files = new Map<string, Effect.Effect<Asset.Asset>>()
  const sources = new Map<string, Effect.Effect<Asset.Asset>>()
  for (const { file, title, text } of pages) {
    // Loaded with the first page, because most processes never render one.
    const html = Effect.map(
      Effect.promise(() => import("marked")),
      (markdown) =>
        shell(
          documentation,
          file,
          title,
          raw("main", withSizes(file, withHeadings(bodyOf(markdown, text)), sizes))
        )
    )
    const asset = yield* Asset.once(
      Effect.flatMap(html, (html) => Asset.make(html, "text/html; charset=utf-8", { headers }))
    )
    for (const name of [file, file.replace(/\.md$/, ""), file.replace(/(^|\/)README\.md$/, "$1")])
      files.set(name, asset)
    sources.set(
      file,
      yield* Asset.once(
        Effect.suspend(() => Asset.make(text, "text/markdown; charset=utf-8", { headers: negotiated }))
      )
    )
  }
  const forAgents = (text: () => string) =>
    Asset.once(Effect.suspend(() => Asset.make(text(), "text/plain; charset=utf-8")))
  files.set("llms.txt", yield* forAgents(() => indexOf(pages)))
  files.set(
    "llms-full.txt",
    yield* forAgents(() => pages.map(({ file, text }) => `<!-- ${file} -->\n\n${text}`).join("\n"))
  )
  for (const file of all) {
    const type = types[path.extname(file)]
    if (type === undefined) continue
    const bytes = yield* Effect.promise(() => readFile(path.join(folder, file)))
    sizes.set(file, sizeOf(bytes))
    files.set(file, yield* Asset.once(Effect.suspend(() => Asset.make(new Uint8Array(bytes), type))))
  }
  return { documentation, files, sources }
})

/** Serves the documentation at `/docs` and below: the Markdown files of a folder as pages. */
export const extension = (folder = bundled): Extension.Extension<never, HttpRouter.HttpRouter> | undefined =>
  folder === undefined
    ? undefined
    : Extension.make(
        HttpRouter.use(
          Effect.fnUntraced(function* (router) {
            const scope = yield* Effect.scope
            const cached = yield* Asset.once(Scope.provide(read(folder), scope))
            const answer = Effect.gen(function* () {
              const request = yield* HttpServerRequest.HttpServerRequest
              const { pathname, searchParams } = new URL(request.url, "http://docs")
              const name = pathname.slice(`${Docs.paths.docs}/`.length)
              const { documentation, files, sources } = yield* cached
              // Links in a page are relative, so the URL of a folder's page must end with a slash.
              if (pathname === Docs.paths.docs || files.has(`${name}/`))
                return HttpServerResponse.redirect(`${pathname}/`)
              if (name.endsWith("/") && files.has(name.slice(0, -1)))
                return HttpServerResponse.redirect(pathname.slice(0, -1))
              const html = (title: string, main: Content, status: number, asked?: string) =>
                HttpServerResponse.text(shell(documentation, name, title, main, asked), {
                  status,
                  contentType: "text/html; charset=utf-8",
                  headers
                })
              const asked = searchParams.get("q")
              if (name === "" && asked !== null)
                return html("Search", search(documentation, asked), 200, asked)
              const isForBrowser = request.headers["accept"]?.includes("text/html") === true
              const file = (isForBrowser ? undefined : sources.get(name)) ?? files.get(name)
              if (file !== undefined) return yield* Asset.answer(yield* file)
              // An empty response is later turned into the error envelope that programs expect.
              if (!isForBrowser || name.length > longestMissing)
                return HttpServerResponse.empty({ status: 404 })
              return html("Not found", h("main", null, h("h1", null, "There is no such page")), 404)
            })
            yield* router.add("GET", `${Docs.paths.docs}/*`, answer)
            for (const name of ["llms.txt", "llms-full.txt"])
              yield* router.add(
                "GET",
                `/${name}`,
                Effect.succeed(HttpServerResponse.redirect(`${Docs.paths.docs}/${name}`))
              )
          })
        )
      )
