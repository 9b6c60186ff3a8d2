import * as Asset from "@satrail/http/Asset"
import { paths } from "@satrail/http/Docs"
import * as Extension from "@satrail/http/Extension"
import { Effect } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { createHash } from "node:crypto"
import { existsSync, readdirSync } from "node:fs"
import { readFile } from "node:fs/promises"
import path from "node:path"
import { fileURLToPath } from "node:url"

/** Where `npm run site` puts the site, and where a release and the image have it. */
export const bundled = fileURLToPath(new URL("../site", import.meta.url))

/** What is served at all. */
const types: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".svg": "image/svg+xml"
}

/** The scripts in a page, by what they are: it runs those, and those of this service's own files, and no other. */
const inlineScripts = (page: string): ReadonlyArray<string> =>
  Array.from(
    page.matchAll(/<script(?![^>]*\ssrc=)[^>]*>([^]*?)<\/script>/g),
    ([, script = ""]) => `'sha256-${createHash("sha256").update(script).digest("base64")}'`
  )

/** Nothing is loaded from anywhere else. Styles stand in this service's files, and in attributes where colours of code are set. */
const contentSecurityPolicy = (page: string): string =>
  [
    "default-src 'none'",
    "connect-src 'self'",
    "img-src 'self' data:",
    ["script-src 'self'", ...new Set(inlineScripts(page))].join(" "),
    "style-src 'self'",
    "style-src-attr 'unsafe-inline'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'"
  ].join("; ")

/** A file as it is sent. What lies in `assets` has the name of its content in its name. */
const read = Effect.fnUntraced(function* (directory: string, name: string) {
  const text = yield* Effect.promise(() => readFile(path.join(directory, name), "utf8"))
  const isPage = name.endsWith(".html")
  return yield* Asset.make(text, types[path.extname(name)] ?? "application/octet-stream", {
    forever: name.startsWith("assets/"),
    ...(isPage && { headers: { "content-security-policy": contentSecurityPolicy(text), "referrer-policy": "no-referrer" } })
  })
})

/** By what it is asked for: `guides/lnd.html` also as `guides/lnd`, `decisions/index.html` as `decisions/`. */
const namesOf = (file: string): ReadonlyArray<string> => [file, file.replace(/\.html$/, ""), file.replace(/(^|\/)index\.html$/, "$1")]

/** Every file of a directory: each is read when it is asked for, once, and kept. Nothing else of the directory can be asked for. */
const filesIn = Effect.fnUntraced(function* (directory: string) {
  const files = new Map<string, Effect.Effect<Asset.Asset>>()
  for (const found of readdirSync(directory, { recursive: true, encoding: "utf8" })) {
    const file = found.replaceAll(path.sep, "/")
    if (types[path.extname(file)] === undefined) continue
    const asset = yield* Effect.cached(Effect.uninterruptible(read(directory, file)))
    for (const name of namesOf(file)) files.set(name, asset)
  }
  return files
})

const notFound = Effect.fnUntraced(function* (missing: Effect.Effect<Asset.Asset> | undefined) {
  const { headers } = yield* HttpServerRequest.HttpServerRequest
  // An empty answer becomes the envelope of everybody else.
  if (missing === undefined || headers["accept"]?.includes("text/html") !== true) return HttpServerResponse.empty({ status: 404 })
  return yield* Asset.answer(yield* missing, 404)
})

/** The site of the documentation, at `/docs` and below it. None where it is not built: `npm run site` does. */
export const extension = (directory = bundled): Extension.Extension<never, HttpRouter.HttpRouter> | undefined =>
  existsSync(path.join(directory, "index.html"))
    ? Extension.make(
        HttpRouter.use(
          Effect.fnUntraced(function* (router) {
            const files = yield* Effect.cached(filesIn(directory))
            const answer = Effect.gen(function* () {
              const { url } = yield* HttpServerRequest.HttpServerRequest
              const [asked = ""] = url.split("?")
              const name = asked.slice(`${paths.docs}/`.length)
              const all = yield* files
              // Links in a page are beside it: the page of a folder is in it.
              if (asked === paths.docs || all.has(`${name}/`)) return HttpServerResponse.redirect(`${asked}/`)
              const file = all.get(name)
              return file === undefined ? yield* notFound(all.get("404.html")) : yield* Asset.answer(yield* file)
            })
            yield* router.add("GET", `${paths.docs}/*`, answer)
          })
        )
      )
    : undefined
