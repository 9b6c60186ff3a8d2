import { Msat } from "@satrail/bitcoin"
import { Authentication, Envelope, Errors, Extension, Idempotency, Section } from "@satrail/service/http"
import { Effect, Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { HttpRouter, HttpServerResponse } from "effect/http"
import * as Box from "./Box.ts"
import { Boxes } from "./Boxes.ts"

const Shown = Schema.Struct({
  id: Schema.String,
  amount_sats: Schema.Int,
  label: Schema.String,
  status: Box.Box.fields.status,
  opens_at: Schema.String
})
const path = "/v1/boxes"

const creation = Idempotency.creation(path, "Box filled", Box.shown)

const put = Section.company(
  HttpApiEndpoint.post("fillBox", path, {
    headers: Idempotency.headers,
    payload: Schema.Struct({
      amount_sats: Schema.Int.check(Schema.isGreaterThan(0)),
      label: Schema.String.check(Schema.isMaxLength(200)),
      opens_at: Schema.String.check(Schema.isMaxLength(40))
    }),
    success: Envelope.success(201, Shown),
    error: Errors.of(
      "malformed",
      "conflict",
      "idempotency_mismatch",
      "insufficient_balance",
      "company_frozen",
      "store_unavailable"
    )
  })
    .annotate(Authentication.Scopes, ["send"])
    .annotate(OpenApi.Summary, "Put money into a box"),
  Boxes,
  ({ put }) =>
    Effect.fnUntraced(function* ({ payload, headers, request }) {
      const opensAtMillis = Date.parse(payload.opens_at)
      // A time in the past is accepted, because a request repeated when it is due returns the stored response.
      if (Number.isNaN(opensAtMillis))
        return yield* Effect.fail(
          Errors.malformedRequest([
            { path: "opens_at", message: "must be a time such as 2026-11-20T20:39:15Z" }
          ])
        )
      const asked = { amount: Msat.fromSats(payload.amount_sats), label: payload.label, opensAtMillis }
      const once = yield* creation.once(request, headers["idempotency-key"], asked)
      return creation.answer(
        yield* Errors.answered(put(yield* Authentication.companyId, asked, once.request))
      )
    })
)

const takeOut = Section.company(
  HttpApiEndpoint.post("openBox", `${path}/:id/open`, {
    params: { id: Box.Box.fields.id },
    success: Envelope.success(200, Shown),
    error: Errors.of("not_found", "conflict", "store_unavailable")
  })
    .annotate(Authentication.Scopes, ["send"])
    .annotate(OpenApi.Summary, "Take the money out of a box"),
  Boxes,
  ({ takeOut }) =>
    Effect.fnUntraced(function* ({ params }) {
      const box = yield* Errors.answered(takeOut(yield* Authentication.companyId, params.id))
      return Envelope.ok("Box opened", Box.shown(box))
    })
)

const list = Section.company(
  HttpApiEndpoint.get("listBoxes", path, {
    success: Envelope.success(200, Schema.Array(Shown)),
    error: Errors.of("store_unavailable")
  })
    .annotate(Authentication.Scopes, ["read"])
    .annotate(OpenApi.Summary, "List boxes"),
  Boxes,
  (boxes) =>
    Effect.fnUntraced(function* () {
      const rows = yield* Errors.answered(boxes.list(yield* Authentication.companyId))
      return Envelope.ok("Boxes", rows.map(Box.shown))
    })
)

export const section = Section.make(
  "boxes",
  { title: "Boxes", description: "Money that a company puts aside" },
  [put, takeOut, list]
)

/** A page next to the console, where a signed-in company sees its boxes. */
const script = `
const list = document.querySelector("ul")
const { data, message } = await (await fetch("${path}")).json()
for (const { label, amount_sats, opens_at, status } of data ?? [{ label: message }])
  list.appendChild(document.createElement("li")).textContent = [label, amount_sats, status, opens_at].join("  ")`

export const page = Extension.make(
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      const html = `<!doctype html><meta charset="utf-8"><title>Boxes</title><h1>Boxes</h1><ul></ul><script type="module" src="boxes.js"></script>`
      yield* router.add("GET", "/boxes", Effect.succeed(HttpServerResponse.html(html)))
      yield* router.add(
        "GET",
        "/boxes.js",
        Effect.succeed(HttpServerResponse.text(script, { contentType: "text/javascript" }))
      )
    })
  ),
  { headers: { "content-security-policy": "default-src 'none'; script-src 'self'; connect-src 'self'" } }
)
