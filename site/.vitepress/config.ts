// The site of the documentation, made from docs/ as it is: `npm run site` (docs/decisions/0077-the-site.md).
import { readdirSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import path from "node:path"
import { type DefaultTheme, defineConfig, type UserConfig } from "vitepress"
import { anchorOf } from "../../scripts/site/Links.ts"

type Plugin = Extract<NonNullable<NonNullable<UserConfig["vite"]>["plugins"]>[number], { readonly name: string }>

const root = path.join(import.meta.dirname, "../..")
const docs = path.join(root, "docs")
const read = (file: string) => readFileSync(path.join(root, file), "utf8")
const { version, repository } = JSON.parse(read("package.json"))
const source: string = repository.url.replace(/^git\+|\.git$/g, "")

/** The pages lie outside of the folder that has vue installed: they take vitepress's. */
const vueForPages: Plugin = {
  name: "vue-for-pages",
  enforce: "pre",
  resolveId(id, importer) {
    if (!/^vue(\/|$)/.test(id) || importer?.startsWith(docs) !== true) return null
    return this.resolve(id, createRequire(import.meta.url).resolve("vitepress"), { skipSelf: true })
  }
}

/** What a page is called: its heading, without the marks of Markdown. */
const titleOf = (page: string): string => /^# (.+)$/m.exec(read(`docs/${page}`))?.[1]?.replaceAll("`", "") ?? page

const item = (page: string): DefaultTheme.SidebarItem => ({
  text: titleOf(page),
  link: `/${page.replace(/\.md$/, "").replace(/(^|\/)README$/, "$1")}`
})

/** The pages of a folder, those that are named first and in that order. */
const inFolder = (folder: string, first: ReadonlyArray<string>): ReadonlyArray<string> => {
  const all = readdirSync(path.join(docs, folder)).filter((name) => name.endsWith(".md") && name !== "README.md")
  const named = first.map((name) => `${name}.md`)
  for (const name of named) if (!all.includes(name)) throw new Error(`docs/${folder}/${name} is in the site's order and not there`)
  return [...named, ...all.filter((name) => !named.includes(name)).toSorted()].map((name) => path.posix.join(folder, name))
}

const group = (text: string, pages: ReadonlyArray<string>): DefaultTheme.SidebarItem => ({
  text,
  items: pages.map(item)
})

const sidebar = [
  group("Begin", ["start.md", "concepts.md", "glossary.md"]),
  group(
    "Guides",
    inFolder("guides", [
      "sandbox",
      "embed",
      "mainnet",
      "lnd",
      "chain",
      "deploy",
      "domains",
      "operate",
      "extend",
      "add-a-lightning-node",
      "add-a-record",
      "simulate"
    ])
  ),
  group("Reference", inFolder("reference", ["api", "errors", "limits", "configuration", "commands", "defences"])),
  // Which has a list of them: in here it would be most of every page.
  group("Inside", ["architecture.md", "performance.md", "decisions/README.md"])
]

type Markdown = Parameters<NonNullable<NonNullable<Parameters<typeof defineConfig>[0]["markdown"]>["config"]>>[0]

/** Where a link of a page leads on the site: a page's folder instead of its README, and GitHub for whatever is no page of the site. */
const siteLink = (page: string, to: string): string => {
  if (/^(?:[a-z]+:|#|\/)/.test(to)) return to
  const [file = "", hash] = to.split("#")
  const anchor = hash === undefined ? "" : `#${hash}`
  const target = path.posix.join("docs", path.posix.dirname(page), file)
  if (target.startsWith("docs/") && target.endsWith(".md")) return `${file.replace(/(^|\/)README\.md$/, "$1index.md")}${anchor}`
  return `${source}/blob/HEAD/${target}${anchor}`
}

/** Beside the page, as the bundler wants to be told. */
const beside = (file: string): string => (/^[./]/.test(file) ? file : `./${file}`)

/** A picture that is there for light and for dark: GitHub goes by what the reader prefers, the site by its own switch. */
const bothPictures = (html: string): string =>
  html.replaceAll(
    /<picture>\s*<source [^>]*srcset="([^"]+)"[^>]*>\s*<img ([^>]*?)src="([^"]+)"([^>]*)>\s*<\/picture>/g,
    (_, dark: string, before: string, light: string, after: string) =>
      `<img class="only-light" ${before}src="${beside(light)}"${after}><img class="only-dark" ${before}src="${beside(dark)}"${after}>`
  )

/** Pages are written for GitHub: nothing in them is a template. */
const asOnGitHub = (markdown: Markdown): void => {
  const { text, link_open, html_block, fence } = markdown.renderer.rules
  if (text === undefined || link_open === undefined || html_block === undefined || fence === undefined)
    throw new Error("vitepress renders Markdown in another way than it did")
  markdown.renderer.rules.text = (...given) => text(...given).replaceAll("{{", "&#123;&#123;")
  // What is indented is commands.
  markdown.renderer.rules.code_block = (tokens, index, ...more) => {
    const token = tokens[index]
    if (token !== undefined) token.info = "sh"
    return fence(tokens, index, ...more)
  }
  markdown.renderer.rules.html_block = (...given) => bothPictures(html_block(...given))
  markdown.renderer.rules.link_open = (tokens, index, options, env, self) => {
    const token = tokens[index]
    const to = token?.attrGet("href")
    if (token !== undefined && typeof to === "string")
      token.attrSet("href", siteLink(env.relativePath.replace(/(^|\/)index\.md$/, "$1README.md"), to))
    return link_open(tokens, index, options, env, self)
  }
}

export default defineConfig({
  title: "satrail",
  description: "A bitcoin payments service to embed or to run: Lightning and on-chain, one double-entry ledger",
  base: "/docs/",
  srcDir: "../docs",
  rewrites: { "README.md": "index.md", "decisions/README.md": "decisions/index.md" },
  cleanUrls: true,
  // It would put a style into the page each time, which the policy of the service does not allow.
  appearance: { disableTransition: false },
  // What the client knows of the site is a file, and no script in each page.
  metaChunk: true,
  lastUpdated: false,
  head: [["link", { rel: "icon", type: "image/svg+xml", href: "/favicon.ico" }]],
  vite: { plugins: [vueForPages] },
  markdown: { anchor: { slugify: anchorOf }, config: asOnGitHub },
  themeConfig: {
    nav: [
      { text: "Start", link: "/start" },
      { text: "Errors", link: "/reference/errors" },
      { text: "API reference", link: "/api", target: "_self" },
      { text: version, link: `${source}/blob/HEAD/CHANGELOG.md` }
    ],
    sidebar,
    outline: [2, 3],
    search: { provider: "local" },
    footer: { message: `satrail ${version}, MIT. 0.x: interfaces may change. It has not been audited.` }
  }
})
