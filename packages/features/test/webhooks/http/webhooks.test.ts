import { afterAll, assert, describe, it } from "@effect/vitest"
import * as WebhookKeys from "../../../src/webhooks/http/WebhookKeys.ts"
import * as Webhooks from "@satrail/service/http/events/Webhooks"
import { bad, operatorToken, posted, seen, start } from "../../../../http/test/Service.ts"
import * as EventBody from "@satrail/service/http/events/EventBody"
import * as Duty from "@satrail/core/ledger/Duty"
import { AuditStore } from "@satrail/core/ledger/Audit"
import { Journal } from "@satrail/core/ledger/Journal"
import { fence, Tasks } from "@satrail/core/ledger/Tasks"
import * as AuditHead from "../../../src/audit/core/AuditHead.ts"
import { link } from "../../../src/audit/core/AuditLog.ts"
import { verify } from "../../../src/audit/core/AuditVerification.ts"
import * as Dispatcher from "../../../src/webhooks/core/Dispatcher.ts"
import { Poster } from "@satrail/core/nodes/Poster"
import { longestMillis } from "@satrail/testing/Waiting"
import { Effect, Exit, Layer, Redacted, Scope } from "effect"
import { createHmac, randomBytes } from "node:crypto"
import { Webhook } from "standardwebhooks"
import { vi } from "vitest"

const service = await start({ webhookTestMillis: 8000 })
const company = await service.company("paid")
const key = company.key
const patience = { timeout: longestMillis, interval: 20 }

// The worker that sends webhooks, in this process and with the service's keys.
const scope = Scope.makeUnsafe()
await service.run(
  Layer.buildWithScope(Dispatcher.layerWorker, scope).pipe(
    Effect.provide(
      Layer.mergeAll(
        EventBody.layer,
        Layer.succeed(Poster, posted.poster),
        WebhookKeys.layer(Redacted.make("what keeps webhooks' secrets"))
      )
    )
  )
)
afterAll(async () => {
  await service.run(Scope.close(scope, Exit.void))
  await service.dispose()
})

const created = await service.ask("POST", "/v1/webhook-endpoints", {
  key,
  body: {
    url: "https://shop.example/webhooks",
    types: ["invoice.*", "deposit.*"],
    signature_header: "Shop-Signature"
  }
})
const endpoint = created.body.data
const invoice = async () =>
  (
    await service.ask("POST", "/v1/bitcoin/deposit/lightning-invoice", {
      key,
      body: { amount: 1, currency: "sats", metadata: { "2": "b", "1": "ü" } }
    })
  ).body.data
/** The request sent about a record. */
const sentAbout = (id: string) =>
  vi.waitFor(
    () =>
      posted.requests.find(({ body }) => body.includes(`"id":"${id}"`)) ?? assert.fail("no request was sent"),
    patience
  )

describe("webhooks over HTTP", () => {
  it("webhooks: the request body has the bytes of the listed event, and the standardwebhooks package verifies it", async () => {
    const { id } = await invoice()
    const { headers, body } = await sentAbout(id)
    const { text } = await service.ask("GET", `/v1/events/${headers["webhook-id"]}`, { key })
    assert.include(text, body)
    const verified = new Webhook(endpoint.secret).verify(body, { ...headers })
    assert.deepStrictEqual(verified, JSON.parse(body))
    const plain = (text: string) => createHmac("sha256", endpoint.secret).update(text).digest("hex")
    assert.deepStrictEqual(
      [headers["shop-signature"], plain(JSON.stringify(JSON.parse(body)))],
      [plain(body), plain(body)]
    )
    const event = Webhooks.verify(headers, body, endpoint.secret)
    assert.strictEqual(event.type, "invoice.created")
    const keys = (await service.ask("GET", WebhookKeys.path)).text
    const [{ key: publicKey }] = JSON.parse(keys).keys
    assert.deepStrictEqual(Webhooks.verify(new Headers(headers), Buffer.from(body), publicKey), event)
  })

  it("webhooks: verify rejects a changed body, another secret, an old timestamp and missing headers", async () => {
    const { headers, body } = await sentAbout((await invoice()).id)
    const other = `whsec_${randomBytes(32).toString("base64")}`
    const sentMillis = Number(headers["webhook-timestamp"]) * 1000
    const tries: ReadonlyArray<readonly [string, () => unknown]> = [
      [
        "body",
        () => Webhooks.verify(headers, body.replace("invoice.created", "invoice.settled"), endpoint.secret)
      ],
      ["secret", () => Webhooks.verify(headers, body, other)],
      ["id", () => Webhooks.verify({ ...headers, "webhook-id": "evt_other" }, body, endpoint.secret)],
      ["time", () => Webhooks.verify({ ...headers, "webhook-timestamp": "1" }, body, endpoint.secret)],
      ["late", () => Webhooks.verify(headers, body, endpoint.secret, sentMillis + 301_000)],
      ["early", () => Webhooks.verify(headers, body, endpoint.secret, sentMillis - 301_000)],
      ["none", () => Webhooks.verify({}, body, endpoint.secret)],
      [
        "version",
        () => Webhooks.verify({ ...headers, "webhook-signature": "v2,AAAA" }, body, endpoint.secret)
      ]
    ]
    for (const [what, ask] of tries) assert.throws(ask, Webhooks.WebhookRefused, undefined, what)
    assert.doesNotThrow(() => Webhooks.verify(headers, body, endpoint.secret, sentMillis + 300_000))
  })

  it("webhooks: verify returns events with types and values of a newer service, and rejects a body that is not an event", () => {
    const signed = (body: string) => {
      const [id, timestamp] = ["evt_1", "1800000000"]
      const key = Buffer.from(endpoint.secret.replace("whsec_", ""), "base64")
      const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64")
      const headers = {
        "webhook-id": id,
        "webhook-timestamp": timestamp,
        "webhook-signature": `v1,${signature}`
      }
      return () => Webhooks.verify(headers, body, endpoint.secret, 1_800_000_000_000)
    }
    const told = {
      id: "evt_1",
      timestamp: "2027-01-15T08:00:00.000Z",
      company_id: company.id,
      api_version: "v1"
    }
    for (const type of ["swap.completed", "invoice.settled"]) {
      const event = { ...told, type, event: type, data: { id: company.id, status: "later" } }
      assert.deepStrictEqual<unknown>(signed(JSON.stringify(event))(), event)
    }
    for (const body of [
      "",
      "{",
      "null",
      "[]",
      '"evt_1"',
      JSON.stringify(told),
      JSON.stringify({ ...told, type: "a.b", data: [] })
    ])
      assert.throws(signed(body), Webhooks.WebhookRefused, "not an event", body)
  })

  it("webhooks: verify rejects an empty secret, also if the request is signed with it", async () => {
    const { headers, body } = await sentAbout((await invoice()).id)
    const signed = createHmac("sha256", "").update(
      `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`
    )
    const forged = { ...headers, "webhook-signature": `v1,${signed.digest("base64")}` }
    for (const secret of ["", "whsec_", "whsec_====", "whpk_"])
      assert.throws(
        () => Webhooks.verify(forged, body, secret),
        Webhooks.WebhookRefused,
        /^secret must be/,
        secret
      )
  })

  it("C58: webhooks: an event's signature is not valid for another body, whatever the change", async () => {
    const { headers, body } = await sentAbout((await invoice()).id)
    const [{ key: publicKey }] = JSON.parse((await service.ask("GET", WebhookKeys.path)).text).keys
    const plain = (text: string) => createHmac("sha256", endpoint.secret).update(text).digest("hex")
    assert.strictEqual(headers["shop-signature"], plain(body))
    for (const secret of [endpoint.secret, publicKey]) Webhooks.verify(headers, body, secret)
    for (let at = 0; at < body.length; at += 23) {
      const other = body.slice(0, at) + (body[at] === "0" ? "1" : "0") + body.slice(at + 1)
      for (const secret of [endpoint.secret, publicKey])
        assert.throws(
          () => Webhooks.verify(headers, other, secret),
          Webhooks.WebhookRefused,
          "signature",
          `at ${at}`
        )
      assert.throws(
        () => new Webhook(endpoint.secret).verify(other, { ...headers }),
        undefined,
        undefined,
        `at ${at}`
      )
      assert.notStrictEqual(headers["shop-signature"], plain(other), `at ${at}`)
    }
  })

  it("webhooks: a secret appears in only one response, and both secrets are valid during the overlap of a rotation", async () => {
    assert.match(endpoint.secret, /^whsec_[\w+/]{43}=$/)
    const list = await service.ask("GET", "/v1/webhook-endpoints", { key })
    assert.notInclude(list.text, "whsec_")
    const rotated = (
      await service.ask("POST", `/v1/webhook-endpoints/${endpoint.id}/rotate-secret`, {
        key,
        body: { overlap_seconds: 60 }
      })
    ).body.data
    const { id } = await vi.waitFor(async () => {
      const made = await invoice()
      const { headers } = await sentAbout(made.id)
      assert.lengthOf(headers["webhook-signature"]?.split(" ") ?? [], 3)
      return made
    }, patience)
    const { headers, body } = await sentAbout(id)
    for (const secret of [endpoint.secret, rotated.secret])
      assert.strictEqual(Webhooks.verify(headers, body, secret).type, "invoice.created")
    assert.notInclude(service.logged.join(), "whsec_")
  })

  it("webhooks: deliveries are listed, and can be sent again", async () => {
    const { id } = await invoice()
    await sentAbout(id)
    const [delivery] = await vi.waitFor(async () => {
      const { body } = await service.ask("GET", `/v1/webhook-endpoints/${endpoint.id}/deliveries`, { key })
      assert.strictEqual(body.data[0]?.subject, id)
      return body.data
    }, patience)
    assert.deepStrictEqual(
      [delivery.status, delivery.attempts, delivery.response_status],
      ["delivered", 1, 204]
    )
    const about = () =>
      posted.requests.filter(({ headers }) => headers["webhook-id"] === delivery.event_id).length
    const before = about()
    await service.ask("POST", `/v1/webhook-deliveries/${delivery.id}/resend`, { key })
    await vi.waitFor(() => assert.strictEqual(about(), before + 1), patience)
    await vi.waitFor(async () => {
      const { body } = await service.ask("GET", `/v1/webhook-endpoints/${endpoint.id}/deliveries`, { key })
      const again = body.data.find((one: { readonly id: string }) => one.id === delivery.id)
      assert.deepStrictEqual(again.earlier_attempts, [
        {
          at: delivery.last_attempt_at,
          response_status: 204,
          response: delivery.response,
          duration_ms: delivery.duration_ms
        }
      ])
    }, patience)
  })

  it("webhooks: the operator's endpoint receives the head of the audit log, and verification of the log accepts that head", async () => {
    const made = await service.ask("POST", "/operator/webhook-endpoints", {
      key: operatorToken,
      body: { url: "https://heads.example/", types: ["audit_head.updated"] }
    })
    const published = Effect.gen(function* () {
      yield* Effect.repeat(link, { while: (count) => count > 0 })
      const head = (yield* (yield* AuditStore).auditHead) ?? assert.fail("no audit entry is linked")
      yield* (yield* Journal).commit(Duty.started("audit", 0))
      const [task] = yield* (yield* Tasks).claim({ kind: "audit", nowMillis: 1, leaseMillis: 1, limit: 1 })
      yield* AuditHead.publish(head, fence(task ?? assert.fail("no task was claimed")))
    })
    await service.run(published)
    const { headers, body } = await vi.waitFor(
      () =>
        posted.requests.find(({ url }) => url === "https://heads.example/") ??
        assert.fail("no request was sent"),
      patience
    )
    const event = Webhooks.verify(headers, body, made.body.data.secret)
    if (event.type !== "audit_head.updated") return assert.fail(event.type)
    const accepted = await service.run(verify(event.data.head, () => Effect.void))
    assert.strictEqual(accepted.faults, 0)
    const unknown = await service.run(verify(event.data.head.replace(/:\d+:/, ":999999:"), () => Effect.void))
    assert.strictEqual(unknown.faults, 1)
    await service.ask("DELETE", `/operator/webhook-endpoints/${made.body.data.id}`, { key: operatorToken })
  })

  it("webhooks: a test event is sent to the tested endpoint whatever its types, and an operator's endpoint gets the events of all companies", async () => {
    const made = await service.ask("POST", "/operator/webhook-endpoints", {
      key: operatorToken,
      body: { url: "https://operator.example/", types: ["invoice.created"] }
    })
    const tested = await service.ask("POST", `/v1/webhook-endpoints/${endpoint.id}/test`, { key })
    assert.match(tested.body.message, /^Delivered: the endpoint returned 204 in \d+ ms$/)
    await vi.waitFor(
      () => assert.isTrue(posted.requests.some(({ body }) => body.includes('"webhook_endpoint.test"'))),
      patience
    )
    const { id } = await invoice()
    const heard = await vi.waitFor(
      () =>
        posted.requests.find(({ url, body }) => url === "https://operator.example/" && body.includes(id)) ??
        assert.fail("not yet"),
      patience
    )
    assert.strictEqual(
      Webhooks.verify(heard.headers, heard.body, made.body.data.secret).type,
      "invoice.created"
    )
  })

  it("webhooks: a failed test reports the endpoint's response or the refused connection, and marks the endpoint as failing", async () => {
    for (const [root, asker] of [
      ["/v1", key],
      ["/operator", operatorToken]
    ] as const)
      for (const [url, message] of [
        ["https://down.example/", /^Not delivered: connection refused$/],
        ["https://error.example/", /^Not delivered: the endpoint returned 500 in \d+ ms$/]
      ] as const) {
        const { data } = (
          await service.ask("POST", `${root}/webhook-endpoints`, {
            key: asker,
            body: { url, types: ["voucher.*"] }
          })
        ).body
        const { status, body } = await service.ask("POST", `${root}/webhook-endpoints/${data.id}/test`, {
          key: asker
        })
        assert.match(body.message, message)
        assert.deepStrictEqual(
          [status, body.data.status, typeof body.data.failing_since],
          [200, "enabled", "string"]
        )
        await service.ask("DELETE", `${root}/webhook-endpoints/${data.id}`, { key: asker })
      }
  })

  it("webhooks: an id that this service did not issue starts no replay, and the error names the field", async () => {
    // It decodes to a random position, which is after all events or cannot be stored.
    const foreign = Array.from({ length: 8 }, (_, i) => `evt_${Buffer.alloc(16, i).toString("base64url")}`)
    for (const [root, asker] of [
      ["/v1", key],
      ["/operator", operatorToken]
    ] as const) {
      const body = { url: "https://replay.example/", types: ["voucher.*"] }
      const { id } = (await service.ask("POST", `${root}/webhook-endpoints`, { key: asker, body })).body.data
      for (const verb of ["replay", "enable"])
        for (const replay_from of ["evt_wrong", ...foreign]) {
          const answer = await service.ask("POST", `${root}/webhook-endpoints/${id}/${verb}`, {
            key: asker,
            body: { replay_from }
          })
          assert.deepStrictEqual(seen(answer), bad(400, "malformed"), `${root} ${verb} ${replay_from}`)
          assert.strictEqual(answer.body.error?.issues?.[0]?.path, "replay_from")
        }
      await service.ask("DELETE", `${root}/webhook-endpoints/${id}`, { key: asker })
    }
  })

  it("webhooks: an error names each invalid URL, type or header, and a company may have at most sixteen endpoints", async () => {
    const create = (body: object) => service.ask("POST", "/v1/webhook-endpoints", { key, body })
    for (const [body, path] of [
      [{ url: "http://shop.example/" }, "url"],
      [{ url: "https://127.0.0.1/" }, "url"],
      [{ url: "https://user:pw@shop.example/" }, "url"],
      [{ url: "https://shop.example/\udfff" }, "url"],
      [{ url: "https://shop.example/", description: "orders\0" }, "description"],
      [{ url: "https://shop.example/", types: ["invoice.paid"] }, "types.0"],
      ...[
        "Authorization",
        "Content-Type",
        "Webhook-Signature",
        "X-Request-Id",
        "X-Satrail-Attempt",
        "Transfer-Encoding",
        "a b",
        "ü",
        "Shop-\u212aey"
      ].map((name) => [{ url: "https://shop.example/", signature_header: name }, "signature_header"] as const)
    ] as const) {
      const answer = await create(body)
      assert.deepStrictEqual(seen(answer), bad(400, "malformed"))
      assert.strictEqual(answer.body.error?.issues?.[0]?.path, path)
    }
    const reads = await service.keyFor(company.id, "read")
    assert.deepStrictEqual(
      seen(
        await service.ask("POST", "/v1/webhook-endpoints", {
          key: reads,
          body: { url: "https://shop.example/" }
        })
      ),
      bad(403, "scope_required")
    )
    const many = await service.company("free")
    const one = () =>
      service.ask("POST", "/v1/webhook-endpoints", { key: many.key, body: { url: "https://shop.example/" } })
    const answers = await Promise.all(Array.from({ length: 20 }, one))
    assert.lengthOf(
      answers.filter(({ status }) => status === 201),
      16
    )
    assert.deepStrictEqual(seen(await one()), bad(409, "too_many_endpoints"))
  })
})
