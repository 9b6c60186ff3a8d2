import { h } from "@satrail/ui/Html"
import { Effect } from "effect"
import { HttpRouter } from "effect/http"
import * as Asset from "@satrail/http/wire/Asset"
import * as Errors from "@satrail/http/wire/Errors"
import { catalogue } from "./Catalogue.ts"
import * as Html from "@satrail/http/wire/Html"

/** Renders a catalog text, with text in backticks as code. */
const words = (text: string) =>
  text.split("`").map((part, at) => (at % 2 === 1 ? h("code", null, part) : part))

const codes = Object.entries(catalogue).flatMap(([code, { status, meaning, remedy }]) => [
  h("h2", { id: code }, h("code", null, code), ` (${status})`),
  h("p", null, words(meaning)),
  h("p", null, words(remedy))
])

const about =
  "Every error is JSON with `status`, `message`, `data: null` and `error`. Programs should use `error.code`, which is stable; messages are human-readable and can change. `error.issues` lists every invalid field. `error.request_id`, which is also in the header `X-Request-Id`, identifies the request in the operator's log."

const body = [h("h1", null, "Errors"), h("p", null, words(about)), ...codes]

/** The page to which every error's `doc_url` links. It matches this version and needs no built site. */
export const layer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const page = yield* Asset.once(Html.asset("satrail: errors", body))
    yield* router.add("GET", Errors.page, Effect.flatMap(page, Asset.answer))
  })
)
