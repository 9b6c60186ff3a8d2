import { assert } from "@effect/vitest"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as OpenApi from "@satrail/testing/OpenApi"
import { adjusted } from "./Adjusted.ts"
import { failedDelivery } from "./FailedDelivery.ts"
import { lost, unstored } from "./Lost.ts"
import { operatorToken, type start } from "./Service.ts"
import { suspended } from "./Suspended.ts"

// Creates the records, and the bodies, with which tests request every documented route.

type Service = Awaited<ReturnType<typeof start>>
export type Company = Awaited<ReturnType<Service["company"]>>
/** Creates a company's record and returns its id. */
export type Maker = (service: Service, company: Company) => Promise<string>

const invoice = "/v1/bitcoin/deposit/lightning-invoice"
export const lightningAddress = "/v1/bitcoin/deposit/lightning-address"
export const transactions = "/v1/transactions"
export const vouchers = "/v1/vouchers"
export const refunds = "/v1/refunds"
export const transfers = "/v1/transfers"
export const hooks = "webhook-endpoints"

const created = async (service: Service, key: string, path: string, body: unknown): Promise<string> => {
  const { status, body: answer, text } = await service.ask("POST", path, { key, body })
  assert.strictEqual(status, 201, text)
  assert.isString(answer.data.id, `POST ${path} returns no id`)
  return answer.data.id
}

const funding = new Map<string, Promise<string>>()
/** Pays a company enough for all its records, once. */
const fund = async (service: Service, { id, key }: Company): Promise<void> => {
  if (!funding.has(id)) funding.set(id, service.fund(key, 1_000_000))
  await funding.get(id)
}

let handles = 0
export const address: Maker = (service, { key }) =>
  created(service, key, lightningAddress, { handle: `shop-${++handles}` })
export const deposit: Maker = async (service, { key }) => {
  await service.fund(key, 10_000)
  return (await service.ask("GET", `${transactions}?type=deposit&limit=1`, { key })).body.data[0].id
}
export const withdrawal: Maker = async (service, company) => {
  await fund(service, company)
  const { destination } = await service.sandbox((sandbox) =>
    sandbox.destination({ type: "lightning_address" })
  )
  return created(service, company.key, "/v1/bitcoin/withdraw/confirm", {
    amount: 1000,
    currency: "sats",
    destination
  })
}
export const voucher: Maker = async (service, company) => {
  await fund(service, company)
  return created(service, company.key, vouchers, { amount: 1000, currency: "sats" })
}
/** A transfer to another company, or from it. */
const moved =
  (isReceived: boolean): Maker =>
  async (service, company) => {
    const other = await service.company()
    const [from, to] = isReceived ? [other, company] : [company, other]
    await fund(service, from)
    return created(service, from.key, transfers, { to: to.id, amount: 1000, currency: "sats" })
  }
export const transfer = moved(false)
export const refund: Maker = async (service, company) =>
  created(service, company.key, refunds, {
    deposit_id: await deposit(service, company),
    amount: 1000,
    currency: "sats"
  })
/** The response to creating an address has no id. */
export const onChain: Maker = async (service, { key }) => {
  const path = "/v1/bitcoin/deposit/on-chain"
  await service.ask("POST", path, { key })
  return (await service.ask("GET", path, { key })).body.data[0].id
}
export const offer: Maker = (service, { key }) => created(service, key, "/v1/bitcoin/deposit/offer", {})
export const event: Maker = async (service, company) => {
  await address(service, company)
  return (await service.ask("GET", "/v1/events", { key: company.key })).body.data[0].id
}
/** A held invoice, which can be settled. */
const held: Maker = async (service, { key }) => {
  const { data } = (
    await service.ask("POST", invoice, { key, body: { amount: 1, currency: "sats", hold: true } })
  ).body
  await service.sandbox((sandbox) => sandbox.pay({ paymentRequest: data.payment_request }))
  return data.id
}

const issued = async (service: Service, { id }: Company, body: object, key = operatorToken) =>
  (await service.ask("POST", `/operator/companies/${id}/api-keys`, { key, body })).body.data
const apiKey: Maker = async (service, company) =>
  (await issued(service, company, { name: "till", scopes: ["read"] })).id
/** A key with a connected app. */
const connected: Maker = async (service, company) => {
  const id = await apiKey(service, company)
  await service.ask("POST", `/operator/api-keys/${id}/connect`, { key: operatorToken })
  return id
}
/** A key that waits for the approval of another operator than the one who issued it. */
const unapproved: Maker = async (service, company) => {
  await fund(service, company)
  const { second } = await adjusted(service, company.id)
  return (await issued(service, company, { name: "till", scopes: ["send"] }, second)).id
}
/** A platform key that waits for the approval of another operator than the one who issued it. */
const unapprovedPlatform: Maker = async (service) => {
  const body = { name: "another", scopes: ["all"] }
  const { data } = (await service.ask("POST", "/operator/tokens", { key: operatorToken, body })).body
  return created(service, data.token, "/operator/platform-keys", { name: "shops", scopes: ["send"] })
}
/** A withdrawal that waits for approval by another key. */
const waiting: Maker = async (service, company) => {
  await fund(service, company)
  const { key, id } = await issued(service, company, {
    name: "agent",
    scopes: ["send"],
    limits: { approval_above_sats: 0 }
  })
  await service.approve(id)
  const { destination } = await service.sandbox((sandbox) =>
    sandbox.destination({ type: "lightning_invoice", amount: service.sats(10) })
  )
  return (await service.ask("POST", "/v1/bitcoin/withdraw/confirm", { key, body: { destination } })).body.data
    .id
}
/** A person invited by another operator. */
const invited =
  (role: string): Maker =>
  async (service, company) => {
    await fund(service, company)
    const { second } = await adjusted(service, company.id)
    return created(service, second, "/operator/people", { company_id: company.id, name: "Ada", role })
  }

const preimage = "07".repeat(32)
/** A withdrawal whose payment the node has lost. */
const lostWithdrawal =
  (chosen?: string): Maker =>
  async (service, company) => {
    await fund(service, company)
    return (await lost(service, company.id, undefined, chosen)).id
  }
const hook = { url: "https://shop.example/webhooks" }
const endpoint: Maker = (service, { key }) => created(service, key, `/v1/${hooks}`, hook)
const ofOperator =
  (path: string, body: unknown): Maker =>
  (service) =>
    created(service, operatorToken, `/operator/${path}`, body)
const operators = ofOperator(hooks, hook)
/** A failed delivery to an endpoint. */
const delivery =
  (make: Maker, owner: (company: Company) => CompanyId.CompanyId): Maker =>
  async (service, company) =>
    failedDelivery(service, owner(company), await make(service, company), company.id)
/** An endpoint with a failed delivery. */
const delivered =
  (make: Maker, owner: (company: Company) => CompanyId.CompanyId): Maker =>
  async (service, company) => {
    const id = await make(service, company)
    await failedDelivery(service, owner(company), id, company.id)
    return id
  }
/** An endpoint that can be enabled. */
const disabled =
  (make: Maker, root: string, keyOf: (company: Company) => string): Maker =>
  async (service, company) => {
    const id = await make(service, company)
    await service.ask("POST", `${root}/${hooks}/${id}/disable`, { key: keyOf(company) })
    return id
  }
const actions = ["", "/test", "/rotate-secret", "/disable", "/replay"]
const ofHooks = (root: string, make: Maker) =>
  Object.fromEntries(actions.map((action) => [`${root}/${hooks}/{id}${action}`, make]))

/** Another company, because the request changes its plan or limits, or stops it from spending. */
const another: Maker = async (service) => (await service.company()).id
const frozen: Maker = async (service) => {
  const { id } = await service.company()
  await service.ask("POST", `/operator/companies/${id}/freeze`, {
    key: operatorToken,
    body: { reason: "a drill", pending: "wait" }
  })
  return id
}
const adjustment =
  (state: "asked" | "booked"): Maker =>
  async (service, { id }) =>
    (await adjusted(service, id))[state]

/** Functions that create the record for a path's id, where an example of a request cannot create it. */
export const makers: Readonly<Record<string, Maker>> = {
  [`${invoice}/{invoiceID}`]: (service, { key }) =>
    created(service, key, invoice, { amount: 1, currency: "sats" }),
  [`${invoice}/{invoiceID}/settle`]: held,
  [`${lightningAddress}/{id}`]: address,
  [`${lightningAddress}/{id}/qr`]: address,
  [`${transactions}/deposits/{depositID}`]: deposit,
  [`${transactions}/deposits/{depositID}/payer`]: deposit,
  [`${transactions}/deposits/{depositID}/splits`]: deposit,
  [`${transactions}/withdrawals/{withdrawalID}`]: withdrawal,
  [`${transactions}/withdrawals/{withdrawalID}/approve`]: waiting,
  [`${transactions}/withdrawals/{withdrawalID}/reject`]: waiting,
  [`${transactions}/adjustments/{adjustmentID}`]: adjustment("booked"),
  [`${vouchers}/{id}`]: voucher,
  [`${vouchers}/{id}/cancel`]: voucher,
  "/operator/companies/{companyId}/vouchers/cancel": async (service, company) => {
    await voucher(service, company)
    return company.id
  },
  [`${transfers}/{id}`]: transfer,
  [`${transfers}/{id}/return`]: moved(true),
  [`${refunds}/{id}`]: refund,
  [`${refunds}/{id}/cancel`]: refund,
  "/v1/bitcoin/deposit/on-chain/{id}": onChain,
  "/v1/bitcoin/deposit/offer/{id}": offer,
  "/v1/events/{id}": event,
  ...ofHooks("/v1", endpoint),
  ...ofHooks("/operator", operators),
  [`/v1/${hooks}/{id}/enable`]: disabled(endpoint, "/v1", ({ key }) => key),
  [`/operator/${hooks}/{id}/enable`]: disabled(operators, "/operator", () => operatorToken),
  [`/v1/${hooks}/{id}/deliveries`]: delivered(endpoint, ({ id }) => id),
  [`/operator/${hooks}/{id}/deliveries`]: delivered(operators, () => CompanyId.operator),
  "/v1/webhook-deliveries/{id}/resend": delivery(endpoint, ({ id }) => id),
  "/operator/webhook-deliveries/{id}/resend": delivery(operators, () => CompanyId.operator),
  "/operator/companies/{id}": another,
  "/operator/companies/{id}/api-keys": async (_, { id }) => id,
  "/operator/companies/{id}/limits": another,
  "/operator/companies/{id}/fees": another,
  "/operator/companies/{id}/freeze": another,
  "/operator/companies/{id}/unfreeze": frozen,
  "/operator/suspense/{id}/assign": (service, { id }) => suspended(service, id),
  "/operator/adjustments/{id}": adjustment("booked"),
  "/operator/adjustments/{id}/approve": adjustment("asked"),
  "/operator/adjustments/{id}/reject": adjustment("asked"),
  "/operator/withdrawals/{id}": withdrawal,
  "/operator/withdrawals/{id}/settle": lostWithdrawal(preimage),
  "/operator/withdrawals/{id}/release": lostWithdrawal(),
  "/operator/withdrawals/{id}/book": async (service, { id }) => (await unstored(service, id)).id,
  "/operator/withdrawals/{id}/reject": waiting,
  "/operator/deposits/{id}": deposit,
  "/operator/tokens/{id}": ofOperator("tokens", { name: "night shift", scopes: ["read"] }),
  "/operator/platform-keys/{id}": ofOperator("platform-keys", { name: "shops", scopes: ["read"] }),
  "/operator/platform-keys/{id}/approve": unapprovedPlatform,
  "/operator/people/{id}": invited("viewer"),
  "/operator/people/{id}/recover": invited("viewer"),
  "/operator/people/{id}/approve": invited("admin"),
  "/operator/api-keys/{id}": apiKey,
  "/operator/api-keys/{id}/limits": apiKey,
  "/operator/api-keys/{id}/allowed-from": apiKey,
  "/operator/api-keys/{id}/rotate": apiKey,
  "/operator/api-keys/{id}/approve": unapproved,
  "/operator/api-keys/{id}/connect": apiKey,
  "/operator/api-keys/{id}/wallet-connection": connected
}

/** Bodies that cause a change for a company, for routes whose example doesn't. */
export const bodiesOf = async (
  service: Service,
  company: Company
): Promise<Readonly<Record<string, unknown>>> => ({
  [`PUT ${lightningAddress}/{id}`]: { min_sats: 7, success_message: "Thanks!" },
  [`POST ${transfers}`]: { to: (await service.company()).id, amount: 1, currency: "sats" },
  [`POST ${transfers}/{id}/return`]: { amount: 1, currency: "sats" },
  "POST /operator/companies/{id}/api-keys": { name: "till", scopes: ["admin"] },
  "PATCH /operator/companies/{id}": { plan: "free" },
  "PUT /operator/companies/{id}/limits": { day_sats: 1 },
  "PUT /operator/companies/{id}/fees": { internal: { base_sats: 1 } },
  "PUT /operator/api-keys/{id}/limits": { day_sats: 1 },
  "POST /operator/companies/{companyId}/domains": { domain: "taken.example" },
  "POST /operator/api-keys/{id}/rotate": { overlap_seconds: 60 },
  "POST /operator/withdrawals/{id}/settle": { preimage, fee_sats: 0 },
  "POST /operator/companies/{companyId}/vouchers/cancel": { created_by: company.key.split("_")[2] },
  "POST /operator/suspense/{id}/assign": { company_id: company.id },
  "POST /operator/withdrawals/{id}/book": { tx_id: (await unstored(service, company.id)).txId },
  // Replay from an existing event.
  [`POST /v1/${hooks}/{id}/replay`]: { replay_from: await event(service, company) },
  [`POST /operator/${hooks}/{id}/replay`]: { replay_from: await event(service, company) }
})

/** Reads the documents, and finds the function that creates the record for a path's last id. */
export const read = async (service: Service) => {
  const documents = [
    (await service.ask("GET", "/openapi.json")).body,
    (await service.ask("GET", "/operator/openapi.json")).body
  ] as const
  const document = OpenApi.read(...documents)
  /** Creates a record from the example of its collection's POST. Undefined if the collection has none. */
  const shown = (path: string): Maker | undefined => {
    const [collection = ""] = path.split("/{")
    const creation = document.operations.find(({ name }) => name === `POST ${collection}`)
    const key = (company: Company) => (path.startsWith("/operator/") ? operatorToken : company.key)
    return creation && ((service, company) => created(service, key(company), collection, creation.example))
  }
  /** A company's record is read by the operator with the same id. */
  const makerOf = (path: string): Maker | undefined => {
    const [, own] = /^\/operator\/companies\/\{companyId\}(\/.*)$/.exec(path) ?? []
    if (own === undefined || path in makers) return makers[path] ?? shown(path)
    return own.includes("{") ? makerOf(`/v1${own}`) : async (_, { id }) => id
  }
  return { ...document, documents, shown, makerOf }
}
