import * as Files from "@satrail/ui/Files"
import { Effect } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import * as Asset from "../wire/Asset.ts"
import * as Extension from "./Extension.ts"
import { notFound } from "./Refusals.ts"

/** Each file has the name of its content. */
const pathOf = ({ name, text }: Files.File): string => {
  const dot = name.lastIndexOf(".")
  return `ui/${name.slice(0, dot)}-${Asset.hashOf(text)}${name.slice(dot)}`
}

/** Read once in a process, when the first page or file is asked for. */
let known: ReadonlyMap<string, Files.File> | undefined
const files = (): ReadonlyMap<string, Files.File> => (known ??= new Map(Files.read().map((file) => [file.name, file])))

const named = (name: string): Files.File => {
  const file = files().get(name)
  if (file === undefined) throw new Error(`@satrail/ui has no file ${name}`)
  return file
}

/** Where a file of @satrail/ui is, below the root: `ui/checkout-Zm9v….js` for `checkout.js`. Throws for a name that none has. */
export const path = (name: string): string => pathOf(named(name))

/** A script has no policy of its own; a page that somebody opens instead of loading it does nothing. */
const headers = { "content-security-policy": "default-src 'none'; frame-ancestors 'none'" }

/** A file under a name that stays, for pages of others: asked for again each time, and sent again when it changed. */
export const stable = (name: string) =>
  Effect.suspend(() => {
    const { text, contentType } = named(name)
    return Asset.make(text, contentType, { isDense: true, headers })
  })

/** Where the style sheet of a colour is, `#rrggbb`. */
export const colorPath = (color: string): string => `ui/color-${color.slice(1)}.css`

/** How bright a colour is (WCAG 2.2, relative luminance). */
const luminance = (hex: string): number => {
  const [red = 0, green = 0, blue = 0] = [0, 2, 4].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/** A colour as a page has it. Of black and white one is always read well on it, with a contrast of 4.5 at least. */
const colored = (hex: string): string => `:root{--accent:#${hex};--on-accent:${luminance(hex) > 0.179 ? "#000" : "#fff"}}`

/** Of what has the name of its content. */
export const forever = { "cache-control": "public, max-age=31536000, immutable" }

const routes = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const all = yield* Effect.cached(
      Effect.suspend(() =>
        Effect.forEach([...files().values()], (file) =>
          Effect.map(
            Asset.make(file.text, file.contentType, { forever: true, isDense: true, headers }),
            (asset) => [pathOf(file), asset] as const
          )
        )
      ).pipe(
        Effect.map((made) => new Map(made)),
        Effect.uninterruptible
      )
    )
    yield* router.add(
      "GET",
      "/ui/:file",
      Effect.gen(function* () {
        const { file = "" } = yield* HttpRouter.params
        const [, color] = /^color-([0-9a-f]{6})\.css$/.exec(file) ?? []
        if (color !== undefined)
          return HttpServerResponse.text(colored(color), { contentType: "text/css; charset=utf-8", headers: { ...headers, ...forever } })
        const asset = (yield* all).get(`ui/${file}`)
        return asset === undefined ? notFound : yield* Asset.answer(asset)
      })
    )
  })
)

/** What pages load, from memory. */
export const extension = Extension.make(routes)
