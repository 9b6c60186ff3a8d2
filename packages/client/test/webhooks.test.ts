import * as Webhooks from "@satrail/service/http/events/Webhooks"
import { afterAll, assert, describe, it } from "@effect/vitest"
import * as WebhookKeys from "@satrail/features/webhooks/http/WebhookKeys"
import { Webhook } from "standardwebhooks"
import { Readable } from "node:stream"
import { vi } from "vitest"
import { WebhookRefused, webhooks } from "../src/index.ts"
import { maxBodyBytes } from "../src/Webhooks.ts"
import { start } from "./Service.ts"

const service = await start()
afterAll(service.dispose)
await service.deliver()
const { key } = await service.company()
const { pay } = service.clientOf({ key })
const { secret } = await pay.webhooks.create({ url: "https://shop.example/webhooks" })
const invoice = await pay.invoices.create({ amount: 21, description: "Ünïcode", metadata: { order: "1042" } })
const sent = await vi.waitFor(() => service.sent[0] ?? assert.fail("nothing was sent"))

const request = (headers: Readonly<Record<string, string>> = sent.headers, body = sent.body) =>
  new Request("https://shop.example/webhooks", { method: "POST", headers, body })
const why = async (
  received: Parameters<typeof webhooks.verify>[0],
  by = secret,
  atMillis?: number
): Promise<string> => {
  const error: unknown = await webhooks.verify(received, by, atMillis).catch((error: unknown) => error)
  return error instanceof WebhookRefused ? error.message : assert.fail(String(error))
}

describe("webhooks.verify", () => {
  it("client: a webhook becomes an event, whether it is passed as a Request or as headers and a body", async () => {
    const event = await webhooks.verify(request(), secret)
    if (event.type !== "invoice.created") return assert.fail(event.type)
    assert.deepStrictEqual(event.data, await pay.invoices.get(invoice.id))
    assert.deepStrictEqual(
      await pay.webhooks.verify({ headers: sent.headers, body: new TextEncoder().encode(sent.body) }, secret),
      event
    )
    const upper = Object.fromEntries(
      Object.entries(sent.headers).map(([name, value]) => [name.toUpperCase(), [value]])
    )
    assert.deepStrictEqual(await webhooks.verify({ headers: upper, body: sent.body }, secret), event)
    assert.doesNotThrow(() => new Webhook(secret).verify(sent.body, { ...sent.headers }))
  })

  it("client: a webhook can also be verified with the public key", async () => {
    const { keys } = JSON.parse(
      await (await service.handler(new Request(`http://service.example${WebhookKeys.path}`))).text()
    )
    assert.strictEqual((await webhooks.verify(request(), keys[0].key)).type, "invoice.created")
    const other = `whpk_${btoa(String.fromCharCode(...new Uint8Array(32).fill(7)))}`
    assert.match(await why(request(), other), /No signature matches/)
  })

  it("client: one valid signature among several is enough, so a secret can be rotated", async () => {
    const signatures = `v1,${btoa("another signature")} v2,x ${sent.headers["webhook-signature"] ?? ""}`
    assert.strictEqual(
      (await webhooks.verify(request({ ...sent.headers, "webhook-signature": signatures }), secret)).type,
      "invoice.created"
    )
  })

  it("client: another secret, a changed body, other headers, no signature and an old request are rejected", async () => {
    const millis = Number(sent.headers["webhook-timestamp"]) * 1000
    assert.match(
      await why(request(), `whsec_${btoa("another secret, as long as one")}`),
      /No signature matches/
    )
    assert.match(await why(request(sent.headers, `${sent.body} `)), /No signature matches/)
    assert.match(await why(request({ ...sent.headers, "webhook-id": "evt_other" })), /No signature matches/)
    assert.match(await why(request({})), /is missing or invalid/)
    assert.match(
      await why(request({ ...sent.headers, "webhook-timestamp": "soon" })),
      /is missing or invalid/
    )
    assert.match(await why(request(), secret, millis + 301_000), /300 seconds/)
    assert.match(await why(request(), secret, millis - 301_000), /300 seconds/)
    for (const unset of ["whsec_", ""]) assert.match(await why(request(), unset), /secret must be whsec_/)
    const error: unknown = await webhooks
      .verify(request(), undefined as never)
      .catch((error: unknown) => error)
    assert.match(String(error), /secret must be whsec_/)
    assert.strictEqual((await webhooks.verify(request(), secret, millis + 299_000)).type, "invoice.created")
  })

  describe("a sender without the secret", () => {
    const millis = Number(sent.headers["webhook-timestamp"]) * 1000
    const [signature = ""] = (sent.headers["webhook-signature"] ?? "").split(" ")
    const many = (count: number) =>
      Array.from({ length: count }, (_, n) => (n === count - 1 ? signature : `v1,${btoa(`x${n}`)}`)).join(" ")
    const large = " ".repeat(maxBodyBytes)
    const wrong: ReadonlyArray<
      readonly [expected: RegExp, headers: Readonly<Record<string, string>>, body?: string]
    > = [
      [/timestamp/, { "webhook-timestamp": "0" }, large],
      [
        /timestamp/,
        { "webhook-timestamp": String(millis / 1000 - 301), "webhook-signature": many(8) },
        large
      ],
      [/header/, { "webhook-signature": many(9) }, large],
      [/header/, { "webhook-signature": many(300) }],
      [/header/, { "webhook-signature": `v1,${"A".repeat(2000)}` }, large],
      [/header/, { "webhook-id": "i".repeat(1025) }, large],
      [/262144 bytes/, {}, `${large} `],
      [/262144 bytes/, {}, "€".repeat(maxBodyBytes / 3 + 1)]
    ]

    it("client: too many signatures, long headers, an old timestamp and a large body are rejected before anything is verified", async () => {
      const verifying = vi.spyOn(crypto.subtle, "verify")
      for (const [expected, headers, body = sent.body] of wrong) {
        const received = { headers: { ...sent.headers, ...headers }, body }
        for (const each of [
          received,
          { ...received, body: Buffer.from(body) },
          request(received.headers, body)
        ])
          assert.match(await why(each, secret, millis), expected)
        try {
          Webhooks.verify(received.headers, body, secret, millis)
          assert.fail("accepted")
        } catch (error) {
          assert.match(String(error), expected)
        }
      }
      assert.strictEqual(verifying.mock.calls.length, 0)
      const accepted = { headers: { ...sent.headers, "webhook-signature": many(8) }, body: sent.body }
      assert.strictEqual((await webhooks.verify(accepted, secret, millis)).type, "invoice.created")
      assert.strictEqual(
        Webhooks.verify(accepted.headers, accepted.body, secret, millis).type,
        "invoice.created"
      )
      verifying.mockRestore()
    })

    /** A body that never ends, and the number of its chunks that were read. */
    const endless = () => {
      const seen = { chunks: 0, isCanceled: false }
      const stream = new ReadableStream<Uint8Array>(
        {
          pull: (controller) => {
            seen.chunks++
            controller.enqueue(new Uint8Array(65_536))
          },
          cancel: () => void (seen.isCanceled = true)
        },
        { highWaterMark: 0 }
      )
      return { seen, stream }
    }
    const streamed = (headers: Readonly<Record<string, string>>, body: ReadableStream<Uint8Array>) =>
      new Request("https://shop.example/webhooks", {
        method: "POST",
        headers: { ...sent.headers, ...headers },
        body,
        duplex: "half"
      } as RequestInit)

    it("client: of a body that never ends, at most 256 KiB are read; none if the headers are wrong", async () => {
      for (const [expected, headers, chunks] of [
        [/262144 bytes/, {}, 5],
        [/timestamp/, { "webhook-timestamp": "0" }, 0],
        [/header/, { "webhook-signature": many(9) }, 0]
      ] as const) {
        const [one, other] = [endless(), endless()]
        assert.match(await why(streamed(headers, one.stream), secret, millis), expected)
        assert.match(
          await why({ headers: { ...sent.headers, ...headers }, body: other.stream }, secret, millis),
          expected
        )
        assert.deepStrictEqual([one.seen.chunks, other.seen.chunks], [chunks, chunks])
        assert.strictEqual(one.seen.isCanceled, chunks > 0)
      }
    })

    it("client: a Node request can be passed as the body", async () => {
      const body = Readable.from(
        Buffer.from(sent.body)
          .toString()
          .match(/[^]{1,50}/g)
          ?.map((part) => Buffer.from(part)) ?? []
      )
      assert.strictEqual(
        (await webhooks.verify({ headers: sent.headers, body }, secret)).type,
        "invoice.created"
      )
    })
  })

  it("client: the error for a parsed body says what to pass instead, and a signed body that is not an event is rejected", async () => {
    const parsed: unknown = JSON.parse(sent.body)
    assert.match(await why({ headers: sent.headers, body: parsed as string }), /must be raw/)
    const [id, at] = [
      sent.headers["webhook-id"] ?? "",
      new Date(Number(sent.headers["webhook-timestamp"]) * 1000)
    ]
    for (const body of ["[]", "no JSON"]) {
      const headers = { ...sent.headers, "webhook-signature": new Webhook(secret).sign(id, at, body) }
      assert.match(await why({ headers, body }), /not an event/)
    }
  })

  it("client: an event of an unknown, newer type is returned", async () => {
    const [id, at] = [
      sent.headers["webhook-id"] ?? "",
      new Date(Number(sent.headers["webhook-timestamp"]) * 1000)
    ]
    const body = JSON.stringify({ ...JSON.parse(sent.body), type: "invoice.praised" })
    const headers = { ...sent.headers, "webhook-signature": new Webhook(secret).sign(id, at, body) }
    assert.strictEqual(String((await webhooks.verify({ headers, body }, secret)).type), "invoice.praised")
  })
})
