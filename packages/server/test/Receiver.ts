import { assert } from "@effect/vitest"
import * as EventBody from "@satrail/service/http/events/EventBody"
import * as Webhooks from "@satrail/service/http/events/Webhooks"
import { boundPort } from "@satrail/testing/boundPort"
import { Schema } from "effect"
import { createHmac } from "node:crypto"
import { createServer, type IncomingHttpHeaders } from "node:http"
import { text } from "node:stream/consumers"
import { Webhook } from "standardwebhooks"
import * as Customer from "./Customer.ts"
import type { Company } from "./Service.ts"

export interface Received {
  readonly id: string
  readonly type: string
  readonly subject: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/**
 * Parses an event after checking its origin with our verifier, the Standard Webhooks library and the plain
 * signature.
 */
const verified = (headers: IncomingHttpHeaders, body: string, secret: string) => {
  const event = Webhooks.verify(headers, body, secret)
  assert.isTrue(Schema.is(EventBody.Event)(event), body)
  const texts = Object.entries(headers).flatMap(([name, value]) =>
    typeof value === "string" ? [[name, value] as const] : []
  )
  assert.deepStrictEqual(new Webhook(secret).verify(body, Object.fromEntries(texts)), JSON.parse(body))
  const plain = (of: string) => createHmac("sha256", secret).update(of).digest("hex")
  for (const of of [body, JSON.stringify(JSON.parse(body))])
    assert.strictEqual(headers["x-signature"], plain(of))
  assert.strictEqual(headers["webhook-id"], event.id)
  return event
}

/** A company's receiver for all its webhooks. It verifies every request. `answering` runs before it responds. */
export const make = async (
  company: Company,
  answering: (received: Received) => Promise<void> = async () => {}
) => {
  const received: Array<Received> = []
  const wrong: Array<unknown> = []
  let secret = ""
  const server = createServer((request, response) => {
    void (async () => {
      const { headers } = request
      const body = await text(request)
      try {
        const { id, type, data } = verified(headers, body, secret)
        const one = {
          id,
          type,
          subject: "id" in data ? data.id : "domain" in data ? data.domain : data.head,
          headers,
          body
        }
        await answering(one)
        received.push(one)
      } catch (cause) {
        wrong.push(cause)
      }
      response.end("thanks")
    })()
  }).listen(0, "127.0.0.1")
  const port = await boundPort(server)
  const endpoint = await Customer.data(
    201,
    company.post("/v1/webhook-endpoints", {
      url: `http://127.0.0.1:${port}/`,
      signature_header: "x-signature"
    })
  )
  secret = endpoint.secret
  return {
    id: String(endpoint.id),
    secret,
    received,
    /** Requests that were not valid webhooks of this endpoint, with the reason. */
    wrong,
    end: (): void => {
      server.close()
      server.closeAllConnections()
    }
  }
}
