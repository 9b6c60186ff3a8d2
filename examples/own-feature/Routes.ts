import { Authentication, Envelope, Errors, Extension, Idempotency, Section } from "@satrail/http"
import { Effect, Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { HttpRouter, HttpServerResponse } from "effect/http"
import * as Reminder from "./Reminder.ts"
import { Reminders } from "./Reminders.ts"

const Shown = Schema.Struct({ id: Schema.String, text: Schema.String, status: Reminder.Reminder.fields.status, due_at: Schema.String })
const path = "/v1/reminders"

const creation = Idempotency.creation(path, "Reminder set", Reminder.shown)

const create = Section.company(
  HttpApiEndpoint.post("createReminder", path, {
    headers: Idempotency.headers,
    payload: Schema.Struct({ text: Schema.String.check(Schema.isMaxLength(200)), due_at: Schema.String.check(Schema.isMaxLength(40)) }),
    success: Envelope.success(201, Shown),
    error: Errors.of("malformed", "conflict", "idempotency_mismatch", "store_unavailable")
  })
    .annotate(Authentication.Scopes, ["receive"])
    .annotate(OpenApi.Summary, "Set a reminder"),
  Reminders,
  ({ set }) =>
    Effect.fnUntraced(function* ({ payload, headers, request }) {
      const dueAtMillis = Date.parse(payload.due_at)
      // A time in the past is accepted, because a request repeated when it is due returns the stored response.
      if (Number.isNaN(dueAtMillis))
        return yield* Effect.fail(Errors.malformedRequest([{ path: "due_at", message: "must be a time such as 2026-11-20T20:39:15Z" }]))
      const once = yield* creation.once(request, headers["idempotency-key"], { text: payload.text, dueAtMillis })
      const id = yield* Authentication.companyId
      return creation.answer(yield* Errors.answered(set(id, payload.text, dueAtMillis, once.request)))
    })
)

const list = Section.company(
  HttpApiEndpoint.get("listReminders", path, {
    success: Envelope.success(200, Schema.Array(Shown)),
    error: Errors.of("store_unavailable")
  })
    .annotate(Authentication.Scopes, ["read"])
    .annotate(OpenApi.Summary, "List reminders"),
  Reminders,
  (reminders) =>
    Effect.fnUntraced(function* () {
      const rows = yield* Errors.answered(reminders.list(yield* Authentication.companyId))
      return Envelope.ok("Reminders", rows.map(Reminder.shown))
    })
)

export const section = Section.make("reminders", { title: "Reminders", description: "Reminders of a company" }, [create, list])

/** A page next to the console, where a signed-in company sees its reminders. */
const script = `
const list = document.querySelector("ul")
const { data, message } = await (await fetch("${path}")).json()
for (const { text, due_at, status } of data ?? [{ text: message, due_at: "", status: "" }])
  list.appendChild(document.createElement("li")).textContent = [due_at, status, text].join("  ")`

export const page = Extension.make(
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      const html = `<!doctype html><meta charset="utf-8"><title>Reminders</title><h1>Reminders</h1><ul></ul><script type="module" src="reminders.js"></script>`
      yield* router.add("GET", "/reminders", Effect.succeed(HttpServerResponse.html(html)))
      yield* router.add("GET", "/reminders.js", Effect.succeed(HttpServerResponse.text(script, { contentType: "text/javascript" })))
    })
  ),
  { headers: { "content-security-policy": "default-src 'none'; script-src 'self'; connect-src 'self'" } }
)
