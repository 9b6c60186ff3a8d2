import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import { Journal } from "@satrail/core/ledger/Journal"
import * as Invoice from "@satrail/core/receiving/Invoice"
import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import * as Customer from "../Customer.ts"
import type { Company } from "../Service.ts"
import type * as Whole from "../Whole.ts"

// One record of each kind in the operator's console.

/** Inviting a person requires a public URL. */
export const env = { SATRAIL_PUBLIC_URL: "https://pay.example" }

interface Installation {
  readonly whole: Whole.Whole
  /** A funded company. */
  readonly shop: Company
}

/**
 * Puts a payment in suspense, as if an invoice had been paid twice. The simulated node never accepts a second
 * payment, so this writes to the journal.
 */
export const suspended = ({ whole, shop }: Installation): Promise<string> => {
  const paymentHash = PaymentHash.make(randomBytes(32).toString("hex"))
  const id = Id.fromHash(paymentHash)
  const payment = {
    id,
    companyId: CompanyId.make(shop.id),
    paymentHash,
    received: Msat.fromSats(1000),
    createdAtMillis: Date.now()
  }
  const change = Invoice.unmatched({ ...payment, reason: "invoice settled by another payment" })
  return whole.run(Effect.flatMap(Journal, (journal) => Effect.as(journal.commit(change), id)))
}

/** Creates the records. Returns the paths of their pages. */
export const records = async (installation: Installation) => {
  const { whole, shop } = installation
  const create = (path: string, body: object) => Customer.data(201, whole.operate(path, body))
  const [, , keyId = ""] = shop.key.split("_")
  const { destination } = await Customer.outside(shop, "lightning_invoice", {
    amount_sats: 1000,
    behaviour: "hold"
  })
  const { id: withdrawal } = await Customer.data(201, Customer.confirm(shop, destination, 1000))
  const [deposit] = await Customer.transactions(shop, "type=deposit&limit=1")
  const theirs = await Customer.data(
    201,
    shop.post("/v1/webhook-endpoints", { url: "http://127.0.0.1:9/orders" })
  )
  const frozen = await create("/companies", { name: "Harbor Coffee", plan: "free" })
  await Customer.data(
    200,
    whole.operate(`/companies/${frozen.id}/freeze`, { reason: "Key stolen, call us", pending: "wait" })
  )
  const suspense = await suspended(installation)
  const adjustment = await create("/adjustments", {
    company_id: shop.id,
    amount_sats: 1,
    reason: "Deposit credited late"
  })
  const person = await create("/people", { name: "Ada", role: "viewer" })
  const token = await create("/tokens", { name: "nightly export", scopes: ["read"] })
  const platform = await create("/platform-keys", { name: "marketplace", scopes: ["read"] })
  const endpoint = await create("/webhook-endpoints", { url: "http://127.0.0.1:9/hook" })
  const company = `companies/${shop.id}`
  return {
    company,
    payments: `${company}/payments`,
    statements: `${company}/statements`,
    "company-webhook": `${company}/webhooks/${theirs.id}`,
    terms: `${company}/terms`,
    freeze: `${company}/freeze`,
    unfreeze: `companies/${frozen.id}/unfreeze`,
    "new-key": `${company}/keys/new`,
    key: `keys/${keyId}`,
    withdrawal: `withdrawals/${withdrawal}`,
    deposit: `deposits/${deposit.id}`,
    "suspended-payment": `suspense/${suspense}`,
    adjustment: `adjustments/${adjustment.id}`,
    person: `people/${person.id}`,
    "platform-key": `platform-keys/${platform.id}`,
    "revoke-token": `tokens/${token.id}/revoke`,
    webhook: `webhooks/${endpoint.id}`,
    "webhook-settings": `webhooks/${endpoint.id}/settings`
  }
}
