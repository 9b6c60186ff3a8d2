import * as Files from "@satrail/ui/Files"
import { Effect } from "effect"
import { HttpRouter } from "effect/http"
import * as Asset from "./Asset.ts"
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

/** Where a file of @satrail/ui is, below the root: `ui/checkout-Zm9v….js` for `checkout.js`. Throws for a name that none has. */
export const path = (name: string): string => {
  const file = files().get(name)
  if (file === undefined) throw new Error(`@satrail/ui has no file ${name}`)
  return pathOf(file)
}

/** A script has no policy of its own; a page that somebody opens instead of loading it does nothing. */
const headers = { "content-security-policy": "default-src 'none'; frame-ancestors 'none'" }

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
        const asset = (yield* all).get(`ui/${file}`)
        return asset === undefined ? notFound : yield* Asset.answer(asset)
      })
    )
  })
)

/** What pages load, from memory. */
export const extension = Extension.make(routes)
