import * as Envelope from "@satrail/http/wire/Envelope"
import * as Decoding from "@satrail/http/wire/Decoding"
import { Example } from "@satrail/http/wire/Examples"
import * as Scalars from "@satrail/http/wire/Scalars"
import * as Section from "@satrail/http/api/Section"
import * as Inbox from "@satrail/sandbox/Inbox"
import { Effect, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { error, may, Playing, refused } from "../../../sandbox/Controls.ts"

const path = "/sandbox/webhooks/:name"
const Name = Schema.String.check(
  Schema.isPattern(/^[a-z0-9-]{1,64}$/, { message: "1 to 64 of a-z, 0-9 and -" })
).annotate({
  examples: ["orders"]
})
const params = { name: Name }

const Failing = Schema.Struct({
  status: Schema.Int,
  times_left: Schema.NullOr(Schema.Int),
  until: Schema.NullOr(Scalars.Instant)
})

const failingOf = (failing: Inbox.Failing | null) =>
  failing && {
    status: failing.status,
    times_left: failing.timesLeft,
    until: Scalars.instantOrNull(failing.untilMillis)
  }

const receive = Section.open(
  HttpApiEndpoint.post("receiveWebhook", path, {
    params,
    success: Envelope.success(200, Schema.Struct({ received: Schema.Boolean })),
    error
  })
    .annotate(Decoding.ReadsBody, true)
    .annotate(OpenApi.Summary, "Receive a webhook")
    .annotate(
      OpenApi.Description,
      "Records a webhook. Accepts any body without a key, and responds with 200 unless it is set to fail."
    )
    .annotate(Example, () => ({ params: { name: "orders" }, message: "Received", data: { received: true } })),
  Playing,
  ({ inbox }) =>
    Effect.fnUntraced(function* ({ params: { name }, request }) {
      const body = yield* Effect.orElseSucceed(request.text, () => "")
      const status = yield* inbox.receive(name, { headers: { ...request.headers }, body })
      const isGood = status < 300
      return HttpServerResponse.jsonUnsafe(
        { status, message: isGood ? "Received" : "Set to fail", data: { received: isGood } },
        { status }
      )
    })
)

const show = Section.company(
  HttpApiEndpoint.get("showWebhooks", path, {
    params,
    success: Envelope.success(
      200,
      Schema.Struct({
        count: Schema.Int.annotate({ description: "Number of requests received" }),
        failing: Schema.NullOr(Failing),
        requests: Schema.Array(
          Schema.Struct({
            number: Schema.Int,
            received_at: Scalars.Instant,
            status: Schema.Int.annotate({ description: "Status of the response" }),
            headers: Schema.Record(Schema.String, Schema.String),
            body: Schema.String,
            is_whole: Schema.Boolean.annotate({ description: "Whether `body` is complete" })
          })
        ).annotate({ description: `The last ${Inbox.maxKept} requests, newest first` })
      })
    ),
    error
  })
    .annotate(OpenApi.Summary, "List received webhooks")
    .annotate(
      OpenApi.Description,
      "Returns the requests that an inbox received. Every key can read every inbox, so choose a unique name."
    )
    .annotate(Example, ({ millis }) => ({
      params: { name: "orders" },
      message: "Webhooks",
      data: {
        count: 1,
        failing: null,
        requests: [
          {
            number: 1,
            received_at: Scalars.instant(millis(0)),
            status: 200,
            headers: { "content-type": "application/json" },
            body: "{}",
            is_whole: true
          }
        ]
      }
    })),
  Playing,
  ({ inbox }) =>
    Effect.fnUntraced(function* ({ params: { name } }) {
      const { count, failing, requests } = yield* inbox.show(name)
      return Envelope.ok("Webhooks", {
        count,
        failing: failingOf(failing),
        requests: requests.map(({ number, atMillis, status, headers, body, isWhole }) => ({
          number,
          received_at: Scalars.instant(atMillis),
          status,
          headers,
          body,
          is_whole: isWhole
        }))
      })
    })
)

const fail = Section.company(
  HttpApiEndpoint.post("failWebhooks", `${path}/fail`, {
    params,
    payload: Schema.Struct({
      status: Schema.Int.check(Schema.isBetween({ minimum: 300, maximum: 599 })).annotate({
        examples: [500]
      }),
      times: Scalars.given(
        Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: Inbox.maxFailures })).annotate({
          examples: [2]
        })
      ),
      for_seconds: Scalars.given(
        Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: Inbox.maxFailingSeconds })).annotate({
          examples: [60]
        })
      )
    }).annotate({ identifier: "SandboxWebhookFailure" }),
    success: Envelope.success(200, Schema.Struct({ failing: Schema.NullOr(Failing) })),
    error
  })
    .annotate(OpenApi.Summary, "Make webhooks fail")
    .annotate(
      OpenApi.Description,
      "Makes the inbox respond with this status a number of times, or for a duration. If neither is given, the inbox responds with 200 again."
    )
    .annotate(Example, () => ({
      params: { name: "orders" },
      body: { status: 500, times: 2 },
      message: "Failing",
      data: { failing: { status: 500, times_left: 2, until: null } }
    })),
  Playing,
  ({ inbox }) =>
    Effect.fnUntraced(function* ({ params: { name }, payload: { status, times, for_seconds }, request }) {
      yield* may(true, request)
      const failing = yield* refused(
        inbox.fail(name, { status, times: times ?? undefined, forSeconds: for_seconds ?? undefined })
      )
      return Envelope.ok("Failing", { failing: failingOf(failing) })
    })
)

export const operations = [receive, show, fail] as const
