import { Effect } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import * as Asset from "../wire/Asset.ts"
import { files, named, pathOf } from "../wire/UiFiles.ts"
import * as Extension from "./Extension.ts"
import { notFound } from "./Refusals.ts"

export { path, styles } from "../wire/UiFiles.ts"

/** Headers that prevent a script from doing anything when it is opened as a page. */
const headers = { "content-security-policy": "default-src 'none'; frame-ancestors 'none'" }

/** Serves a file under a stable name, for other sites' pages. Browsers check on each use whether it changed. */
export const stable = (name: string) =>
  Effect.suspend(() => {
    const { text, contentType } = named(name)
    return Asset.make(text, contentType, { isDense: true, headers })
  })

/** Returns the path of the style sheet for a color `#rrggbb`. */
export const colorPath = (color: string): string => `ui/color-${color.slice(1)}.css`

/** Returns the relative luminance of a color (WCAG 2.2). */
const luminance = (hex: string): number => {
  const [red = 0, green = 0, blue = 0] = [0, 2, 4].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/** Style sheet of a color. Its text is black or white, with a contrast of at least 4.5. */
const colored = (hex: string): string =>
  `:root:root{--accent:#${hex};--on-accent:${luminance(hex) > 0.179 ? "#000" : "#fff"}}`

/** Headers for files that are named by a hash of their content. */
export const forever = { "cache-control": "public, max-age=31536000, immutable" }

const routes = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const all = yield* Asset.once(
      Effect.suspend(() =>
        Effect.forEach([...files().values()], (file) =>
          Effect.map(
            Asset.make(file.text, file.contentType, { forever: true, isDense: true, headers }),
            (asset) => [file.name, { name: file.name, path: pathOf(file), asset }] as const
          )
        )
      ).pipe(Effect.map((made) => new Map(made)))
    )
    yield* router.add(
      "GET",
      "/ui/:file",
      Effect.gen(function* () {
        const { file = "" } = yield* HttpRouter.params
        const [, color] = /^color-([0-9a-f]{6})\.css$/.exec(file) ?? []
        if (color !== undefined)
          return HttpServerResponse.text(colored(color), {
            contentType: "text/css; charset=utf-8",
            headers: { ...headers, ...forever }
          })
        const found = (yield* all).get(file.replace(/-[\w-]{22}(?=\.\w+$)/, ""))
        if (found === undefined || file === found.name) return notFound
        // During an upgrade, a page of one version loads its files from a process of another.
        const isOurs = found.path === `ui/${file}`
        return yield* Asset.answer(
          isOurs
            ? found.asset
            : { ...found.asset, headers: { ...found.asset.headers, "cache-control": "no-cache" } }
        )
      })
    )
  })
)

/** Serves the files that pages load, from memory. */
export const extension = Extension.make(routes)
