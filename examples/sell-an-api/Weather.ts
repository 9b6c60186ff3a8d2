import type { Method } from "mppx"
import { Mppx } from "mppx/server/core"
import assert from "node:assert/strict"
import { createHash, randomBytes } from "node:crypto"
import type { Pay } from "satrail"
import { object, optional, string } from "zod/mini"

const methodDetails = optional(object({ invoice: string(), paymentHash: string() }))
const schema = {
  credential: { payload: object({ preimage: string() }) },
  request: object({ amount: string(), currency: string(), methodDetails })
}
type Charge = Method.Server<{ name: "lightning"; intent: "charge"; schema: typeof schema }>

/** An API that answers a request for 10 sats, once for each payment, however often its proof is sent. */
export const weather = (pay: Pay, shop: string, work: () => Promise<string>) => {
  const lightning: Charge = {
    name: "lightning",
    intent: "charge",
    schema,
    // The result is signed, so it must contain nothing from a credential.
    request: async ({ credential, request: { amount, currency } }) => {
      if (credential) return { amount, currency }
      const invoice = await pay.invoices.create({ company: shop, amount: Number(amount) })
      const { paymentRequest, paymentHash } = invoice
      return { amount, currency, methodDetails: { invoice: paymentRequest, paymentHash } }
    },
    verify: async ({ credential: { challenge, payload } }) => {
      const reference = createHash("sha256").update(payload.preimage, "hex").digest("hex")
      assert.equal(reference, challenge.request.methodDetails?.paymentHash)
      return { method: "lightning", status: "success", reference, timestamp: new Date().toISOString() }
    },
    respond: async ({ receipt }) => new Response(await pay.once(shop, receipt.reference, work))
  }
  const secretKey = randomBytes(32).toString("hex") // in production, the same in every process
  const payments = Mppx.create({ methods: [lightning], secretKey, realm: "weather" })
  return Mppx.toNodeListener(payments.charge({ amount: "10", currency: "sat" }))
}
