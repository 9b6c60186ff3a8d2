import { afterAll, assert, describe, it } from "@effect/vitest"
import * as WebhookKeys from "@satrail/http/features/webhooks/WebhookKeys"
import { Webhook } from "standardwebhooks"
import { vi } from "vitest"
import { WebhookRefused, webhooks } from "../src/index.ts"
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
const why = async (received: Parameters<typeof webhooks.verify>[0], by = secret, atMillis?: number): Promise<string> => {
  const error: unknown = await webhooks.verify(received, by, atMillis).catch((error: unknown) => error)
  return error instanceof WebhookRefused ? error.message : assert.fail(String(error))
}

describe("webhooks.verify", () => {
  it("client: a webhook becomes an event, whether it is passed as a Request or as headers and a body", async () => {
    const event = await webhooks.verify(request(), secret)
    if (event.type !== "invoice.created") return assert.fail(event.type)
    assert.deepStrictEqual(event.data, await pay.invoices.get(invoice.id))
    assert.deepStrictEqual(await pay.webhooks.verify({ headers: sent.headers, body: new TextEncoder().encode(sent.body) }, secret), event)
    const upper = Object.fromEntries(Object.entries(sent.headers).map(([name, value]) => [name.toUpperCase(), [value]]))
    assert.deepStrictEqual(await webhooks.verify({ headers: upper, body: sent.body }, secret), event)
    assert.doesNotThrow(() => new Webhook(secret).verify(sent.body, { ...sent.headers }))
  })

  it("client: a webhook can also be verified with the public key", async () => {
    const { keys } = JSON.parse(await (await service.handler(new Request(`http://service.example${WebhookKeys.path}`))).text())
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
    assert.match(await why(request(), `whsec_${btoa("another secret, as long as one")}`), /No signature matches/)
    assert.match(await why(request(sent.headers, `${sent.body} `)), /No signature matches/)
    assert.match(await why(request({ ...sent.headers, "webhook-id": "evt_other" })), /No signature matches/)
    assert.match(await why(request({})), /is missing or invalid/)
    assert.match(await why(request({ ...sent.headers, "webhook-timestamp": "soon" })), /is missing or invalid/)
    assert.match(await why(request(), secret, millis + 301_000), /300 seconds/)
    assert.match(await why(request(), secret, millis - 301_000), /300 seconds/)
    for (const unset of ["whsec_", ""]) assert.match(await why(request(), unset), /secret must be whsec_/)
    const error: unknown = await webhooks.verify(request(), undefined as never).catch((error: unknown) => error)
    assert.match(String(error), /secret must be whsec_/)
    assert.strictEqual((await webhooks.verify(request(), secret, millis + 299_000)).type, "invoice.created")
  })

  it("client: the error for a parsed body says what to pass instead, and a signed body that is not an event is rejected", async () => {
    const parsed: unknown = JSON.parse(sent.body)
    assert.match(await why({ headers: sent.headers, body: parsed as string }), /must be raw/)
    const [id, at] = [sent.headers["webhook-id"] ?? "", new Date(Number(sent.headers["webhook-timestamp"]) * 1000)]
    for (const body of ["[]", "no JSON"]) {
      const headers = { ...sent.headers, "webhook-signature": new Webhook(secret).sign(id, at, body) }
      assert.match(await why({ headers, body }), /not an event/)
    }
  })

  it("client: an event of an unknown, newer type is returned", async () => {
    const [id, at] = [sent.headers["webhook-id"] ?? "", new Date(Number(sent.headers["webhook-timestamp"]) * 1000)]
    const body = JSON.stringify({ ...JSON.parse(sent.body), type: "invoice.praised" })
    const headers = { ...sent.headers, "webhook-signature": new Webhook(secret).sign(id, at, body) }
    assert.strictEqual(String((await webhooks.verify({ headers, body }, secret)).type), "invoice.praised")
  })
})
