import { Effect } from "effect"
import { HttpRouter } from "effect/http"
import * as Asset from "../wire/Asset.ts"
import * as Errors from "../wire/Errors.ts"
import { catalogue } from "../features/Catalogue.ts"
import * as Html from "../wire/Html.ts"

/** Words of the catalogue: what stands in backticks there is code. */
const words = (text: string): string => Html.escaped(text).replaceAll(/`([^`]*)`/g, "<code>$1</code>")

const codes = Object.entries(catalogue).map(
  ([code, { status, meaning, remedy }]) =>
    `<h2 id="${code}"><code>${code}</code> (${status})</h2>\n<p>${words(meaning)}</p>\n<p>${words(remedy)}</p>`
)

const body = `<h1>Errors</h1>
<p>Every error is JSON with <code>status</code>, <code>message</code>, <code>data: null</code> and <code>error</code>. Act on <code>error.code</code>:
codes are stable, messages are for people. <code>error.issues</code> names single members that are wrong. <code>error.request_id</code>, which is also in
the header <code>X-Request-Id</code>, finds the request in the operator's log.</p>
${codes.join("\n")}`

/** The page that the `doc_url` of every error leads to. It is this version's own: no site has to be built for it. */
export const layer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const page = yield* Effect.cached(Effect.uninterruptible(Html.asset("satrail: errors", body)))
    yield* router.add(
      "GET",
      Errors.page,
      Effect.flatMap(page, (asset) => Asset.answer(asset))
    )
  })
)
