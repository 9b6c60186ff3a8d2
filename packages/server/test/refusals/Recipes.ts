import type { Failure } from "@satrail/core/sending/Withdrawal"
import type * as Catalogue from "@satrail/service/http/pages/Catalogue"
import type { Answer, Company } from "../Service.ts"

// Recipes for causing each error and each failure in the sandbox, used by both the documentation page and the
// tests.

/** A funded customer on the paid plan, one on the free plan, and an operator. */
export interface World {
  readonly shop: Company
  readonly free: Company
  /** The domain of the service's Lightning addresses. */
  readonly domain: string
  readonly ask: (
    method: string,
    route: string,
    options?: {
      readonly key?: string
      readonly body?: unknown
      readonly headers?: Readonly<Record<string, string>>
    }
  ) => Promise<Answer>
  readonly operatorToken: string
  /** A shop key with one scope. */
  readonly keyFor: (scope: string) => Promise<string>
  /** Calls an operator route. */
  readonly operate: (route: string, body?: unknown) => Promise<unknown>
  /** A shop key that may be used only from this address. */
  readonly keyFrom: (address: string) => Promise<string>
  /** A shop key with these limits and scopes (by default `send`). */
  readonly keyLimited: (
    limits: Readonly<Record<string, number>>,
    ...scopes: ReadonlyArray<string>
  ) => Promise<string>
  /** Creates an external destination with these fields of /sandbox/destination. */
  readonly outside: (
    ask: Readonly<Record<string, unknown>>
  ) => Promise<{ readonly destination: string; readonly payment_hash: string }>
  readonly fault: (what: string) => Promise<void>
  readonly advance: (seconds: number) => Promise<void>
  /** Sends these bytes on a new connection and returns the response. */
  readonly raw: (text: string) => Promise<Answer>
  /** Repeats `look` until its result is as expected. */
  readonly until: <A>(what: string, look: () => Promise<A>, isSo: (seen: A) => boolean) => Promise<A>
  /** Waits until a withdrawal is final. */
  readonly ended: (id: string) => Promise<void>
}

/** `how` is Markdown. `never` is the reason why there is no recipe. */
export type Recipe<Found> =
  | { readonly how: string; readonly run: (world: World) => Promise<Found> }
  | { readonly never: string }

const sats = (destination: string, amount = 1000) => ({ destination, amount, currency: "sats" })
const estimate = ({ shop }: World, body: unknown) => shop.post("/v1/bitcoin/withdraw/estimate", body)
const confirm = ({ shop }: World, body: unknown) => shop.post("/v1/bitcoin/withdraw/confirm", body)
const invoice = ({ shop }: World) =>
  shop.post("/v1/bitcoin/deposit/lightning-invoice", { amount: 1000, currency: "sats" })

/** Pays a new invoice of the shop and returns the deposit's id. */
const deposited = async (world: World): Promise<string> => {
  const { data } = await invoice(world)
  await world.shop.post("/sandbox/pay", { payment_request: data.payment_request })
  const paid = await world.until(
    "the invoice's deposit",
    () => world.shop.get(`/v1/bitcoin/deposit/lightning-invoice/${data.id}`),
    ({ data }) => data.deposit_id !== null
  )
  return paid.data.deposit_id
}

// BOLT 11, "Examples": a coffee for 2500 micro-bitcoin.
const mainnet =
  "lnbc2500u1pvjluezsp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygspp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqdq5xysxxatsyp3k7enxv4jsxqzpu9qrsgquk0rl77nj30yxdy8j9vdx85fkpmdla2087ne0xh8nhedh8w27kyke0lp53ut353s06fv3qfegext0eh0ymjpf39tuven09sam30g4vgpfna3rh"

/**
 * A shop withdrawal that awaits approval, the key that requested it, and another key that may approve it.
 */
const awaiting = async (world: World) => {
  const [key, approver] = [
    await world.keyLimited({ approval_above_sats: 500 }),
    await world.keyFor("approve")
  ]
  const { data } = await world.ask("POST", "/v1/bitcoin/withdraw/confirm", {
    key,
    body: sats("settle@wallet.example")
  })
  return { id: String(data.id), approver }
}
const decide = ({ ask }: World, key: string, id: string, how: "approve" | "reject") =>
  ask("POST", `/v1/transactions/withdrawals/${id}/${how}`, { key })

/** The id and token of an operator with this name, who can approve. */
const operator = async (
  world: World,
  name: string
): Promise<{ readonly id: string; readonly token: string }> => {
  const issued = await world.ask("POST", "/operator/tokens", {
    key: world.operatorToken,
    body: { name, scopes: ["mend"] }
  })
  return issued.data
}

/** Requests an adjustment with this token. */
const adjustment = async ({ ask, shop }: World, key: string): Promise<string> =>
  (
    await ask("POST", "/operator/adjustments", {
      key,
      body: { company_id: shop.id, amount_sats: 1, reason: "a drill" }
    })
  ).data.id

const refused: { readonly [code in Catalogue.Code]: Recipe<Answer> } = {
  malformed: { how: "Pay `nonsense`", run: (world) => estimate(world, sats("nonsense")) },
  idempotency_not_supported: {
    how: "`POST /sandbox/mine` with an `Idempotency-Key`",
    run: ({ shop }) => shop.post("/sandbox/mine", { blocks: 1 }, { "idempotency-key": "k" })
  },
  unauthorized: {
    how: "Send a request with an unknown key",
    run: ({ ask }) => ask("GET", "/v1/transactions/balance", { key: "x" })
  },
  scope_required: {
    how: "Withdraw with a key that has only the scope `read`",
    run: async ({ ask, keyFor }) =>
      ask("POST", "/v1/bitcoin/withdraw/confirm", {
        key: await keyFor("read"),
        body: sats("settle@wallet.example")
      })
  },
  address_not_allowed: {
    how: "Send a request with a key whose `allowed_from` is another address: `PUT /operator/api-keys/{id}/allowed-from`",
    run: async ({ ask, keyFrom }) =>
      ask("GET", "/v1/transactions/balance", { key: await keyFrom("203.0.113.7") })
  },
  approval_over: {
    how: "Withdraw more than the key's `approval_above_sats`, reject it with a key that has the scope `approve`, then approve it",
    run: async (world) => {
      const { id, approver } = await awaiting(world)
      await decide(world, approver, id, "reject")
      return decide(world, approver, id, "approve")
    }
  },
  approval_by_asker: {
    how: "Withdraw more than the key's `approval_above_sats`, and approve it with the same key",
    run: async (world) => {
      const key = await world.keyLimited({ approval_above_sats: 500 }, "send", "approve")
      const { data } = await world.ask("POST", "/v1/bitcoin/withdraw/confirm", {
        key,
        body: sats("settle@wallet.example")
      })
      return decide(world, key, data.id, "approve")
    }
  },
  person_required: {
    how: "`POST /v1/people` with the role `admin` and an API key",
    run: ({ shop }) => shop.post("/v1/people", { name: "Mara K.", role: "admin" })
  },
  too_many_people: {
    how: "Invite 21 people who do not use their invitation",
    run: async ({ free }) => {
      const invite = () => free.post("/v1/people", { name: "Mara K.", role: "viewer" })
      for (let i = 0; i < 20; i++) await invite()
      return invite()
    }
  },
  own_access: { never: "it requires a passkey" },
  person_changed: { never: "it requires a race" },
  approval_fee_risen: {
    how: "Withdraw more than the key's `approval_above_sats` to a bitcoin address, `POST /sandbox/fee-rate` of 50, and approve it",
    run: async (world) => {
      const [key, approver] = [
        await world.keyLimited({ approval_above_sats: 500 }),
        await world.keyFor("approve")
      ]
      const { destination } = await world.outside({ type: "chain_address" })
      const { data } = await world.ask("POST", "/v1/bitcoin/withdraw/confirm", {
        key,
        body: sats(destination)
      })
      await world.shop.post("/sandbox/fee-rate", { sats_per_virtual_byte: 50 })
      const answer = await decide(world, approver, data.id, "approve")
      await world.shop.post("/sandbox/fee-rate", { sats_per_virtual_byte: 2 })
      return answer
    }
  },
  step_up_required: {
    how: "Sign in to the console, and create a voucher without re-entering the key",
    run: async ({ ask, keyFor }) => {
      const headers = { "x-satrail-console": "1", "sec-fetch-site": "same-origin" }
      const { headers: answered } = await ask("POST", "/console/session", {
        headers,
        body: { credential: await keyFor("send") }
      })
      const cookie = answered.get("set-cookie")?.split(";")[0] ?? ""
      return ask("POST", "/v1/vouchers", {
        headers: { ...headers, cookie },
        body: { amount: 1, currency: "sats" }
      })
    }
  },
  plan_required: {
    how: "Create a Lightning address with a `handle`, as a company on the free plan",
    run: ({ free }) => free.post("/v1/bitcoin/deposit/lightning-address", { handle: "shop" })
  },
  not_found: { how: "`GET /v1/nothing`", run: ({ shop }) => shop.get("/v1/nothing") },
  method_not_allowed: {
    how: "`DELETE /v1/transactions/balance`",
    run: ({ ask, shop }) => ask("DELETE", "/v1/transactions/balance", { key: shop.key })
  },
  request_timeout: { never: "start a request with `nc`, don't finish it, and wait" },
  conflict: { never: "it needs two records with the same random id" },
  answer_not_readable: {
    never: "the key that encrypts stored responses is derived from the sandbox's seed, which does not change"
  },
  rate_limited: {
    how: "Estimate withdrawals to a Lightning address of another service; the 121st within a minute fails",
    run: async ({ free, outside }) => {
      const body = sats((await outside({ type: "lightning_address" })).destination)
      const ask = () => free.post("/v1/bitcoin/withdraw/estimate", body)
      // The limit recovers partly while these requests run.
      for (let round = 0; round < 20; round++) {
        const answers = await Promise.all(Array.from({ length: 40 }, ask))
        const refused = answers.find(({ status }) => status !== 200)
        if (refused !== undefined) return refused
      }
      return ask()
    }
  },
  handle_taken: {
    how: "Create the same Lightning address twice",
    run: async ({ shop }) => {
      const address = () => shop.post("/v1/bitcoin/deposit/lightning-address", { handle: "taken" })
      await address()
      return address()
    }
  },
  domain_taken: {
    how: "Verify the service's own domain",
    run: ({ shop, domain }) => shop.post("/v1/domains", { domain })
  },
  voucher_not_open: {
    how: "Claim a voucher with an invoice of `/sandbox/destination`, and cancel it",
    run: async ({ shop, ask, outside, ended }) => {
      const { data: voucher } = await shop.post("/v1/vouchers", { amount: 700, currency: "sats" })
      const k1 = new URL(voucher.lnurlw.replace("lnurlw:", "http:")).searchParams.get("k1") ?? ""
      const { destination } = await outside({ type: "lightning_invoice", amount_sats: 700 })
      await ask("GET", `/lnurlw/callback?k1=${k1}&pr=${destination}`)
      const { data: claimed } = await shop.get(`/v1/vouchers/${voucher.id}`)
      await ended(claimed.withdrawal_id)
      return ask("POST", `/v1/vouchers/${voucher.id}/cancel`, { key: shop.key })
    }
  },
  invoice_not_open: {
    how: "Create an invoice, `POST /sandbox/pay` it, and cancel it",
    run: async (world) => {
      const { data } = await invoice(world)
      const path = `/v1/bitcoin/deposit/lightning-invoice/${data.id}`
      await world.shop.post("/sandbox/pay", { payment_request: data.payment_request })
      await world.until(
        "the invoice's payment",
        () => world.shop.get(path),
        ({ data }) => data.settled
      )
      return world.shop.post(`${path}/cancel`)
    }
  },
  checkout_not_open: {
    how: "Create a checkout, `POST /sandbox/pay` its `payment_request`, and cancel it",
    run: async (world) => {
      const { data } = await world.shop.post("/v1/checkouts", { amount: 1000, currency: "sats" })
      await world.shop.post("/sandbox/pay", { payment_request: data.payment_request })
      await world.until(
        "the checkout's payment",
        () => world.shop.get(`/v1/checkouts/${data.id}`),
        ({ data }) => data.status === "paid"
      )
      return world.shop.post(`/v1/checkouts/${data.id}/cancel`)
    }
  },
  already_assigned: { never: "it needs a payment in suspense, such as the second payment of an invoice" },
  withdrawal_not_lost: {
    how: "Release any withdrawal with `POST /operator/withdrawals/:id/release`",
    run: async (world) => {
      const { destination } = await world.outside({ type: "lightning_invoice", amount_sats: 400 })
      const { data } = await confirm(world, { destination })
      await world.ended(data.id)
      return world.ask("POST", `/operator/withdrawals/${data.id}/release`, { key: world.operatorToken })
    }
  },
  refund_not_open: {
    how: "Refund a deposit to a `destination`, and cancel the refund",
    run: async (world) => {
      const { destination } = await world.outside({ type: "lightning_invoice", amount_sats: 400 })
      const { data } = await world.shop.post("/v1/refunds", {
        deposit_id: await deposited(world),
        destination
      })
      return world.ask("POST", `/v1/refunds/${data.id}/cancel`, { key: world.shop.key })
    }
  },
  invoice_not_held: {
    how: "Create an invoice with `hold: true`, and settle it before it is paid",
    run: async ({ shop }) => {
      const path = "/v1/bitcoin/deposit/lightning-invoice"
      const { data } = await shop.post(path, { amount: 1000, currency: "sats", hold: true })
      return shop.post(`${path}/${data.id}/settle`)
    }
  },
  too_many_held: {
    how: "Create 201 hold invoices",
    run: async ({ free }) => {
      const create = () =>
        free.post("/v1/bitcoin/deposit/lightning-invoice", {
          amount: 1000,
          currency: "sats",
          hold: true,
          expiry_seconds: 3600
        })
      for (let i = 0; i < 200; i++) await create()
      return create()
    }
  },
  too_many_endpoints: {
    how: "Create 17 webhook endpoints",
    run: async ({ free }) => {
      const create = () => free.post("/v1/webhook-endpoints", { url: "http://127.0.0.1:9/" })
      for (let i = 0; i < 16; i++) await create()
      return create()
    }
  },
  too_many_api_keys: {
    how: "Create 101 API keys",
    run: async ({ free }) => {
      const create = () => free.post("/v1/api-keys", { name: "till", scopes: ["receive"] })
      for (let i = 0; i < 100; i++) await create()
      return create()
    }
  },
  webhook_endpoint_disabled: {
    how: "Disable a webhook endpoint, and test it",
    run: async ({ shop }) => {
      const { data } = await shop.post("/v1/webhook-endpoints", { url: "http://127.0.0.1:9/" })
      await shop.post(`/v1/webhook-endpoints/${data.id}/disable`)
      return shop.post(`/v1/webhook-endpoints/${data.id}/test`)
    }
  },
  cursor_too_old: {
    how: "Advance the clock by 91 days, and list events with an old event as the `cursor`",
    run: async ({ shop, advance, until }) => {
      const { data } = await shop.get("/v1/events?limit=1")
      await advance(91 * 86_400)
      return until(
        "old events to be deleted",
        () => shop.get(`/v1/events?cursor=${data[0].id}`),
        ({ status }) => status !== 200
      )
    }
  },
  body_too_large: {
    how: "Send a body of 70 000 bytes",
    run: ({ shop }) => shop.post("/v1/bitcoin/deposit/lightning-invoice", { description: "x".repeat(70_000) })
  },
  unsupported_media_type: {
    how: "Send a body as `Content-Type: text/plain`",
    run: ({ ask, shop }) =>
      ask("POST", "/v1/bitcoin/deposit/lightning-invoice", {
        key: shop.key,
        body: {},
        headers: { "content-type": "text/plain" }
      })
  },
  expectation_failed: {
    how: "Send `Expect: tea`",
    run: ({ raw }) =>
      raw("GET /healthz HTTP/1.1\r\nHost: service\r\nExpect: tea\r\nConnection: close\r\n\r\n")
  },
  another_operator_required: {
    how: "`POST /operator/adjustments`, then `/approve` with the same token",
    run: async (world) => {
      const { token: ada } = await operator(world, "Ada")
      return world.ask("POST", `/operator/adjustments/${await adjustment(world, ada)}/approve`, { key: ada })
    }
  },
  requester_gone: {
    how: "`POST /operator/adjustments`, revoke the token, then `/approve` with another operator's token",
    run: async (world) => {
      const ada = await operator(world, "Ada")
      const id = await adjustment(world, ada.token)
      await world.ask("DELETE", `/operator/tokens/${ada.id}`, { key: world.operatorToken })
      return world.ask("POST", `/operator/adjustments/${id}/approve`, {
        key: (await operator(world, "Bob")).token
      })
    }
  },
  second_operator_required: {
    how: "`PUT /operator/companies/:id/limits` with `{}`, for a company that has limits and more than 10 000 000 sats",
    run: async (world) => {
      const { ask, operatorToken } = world
      const { data: company } = await ask("POST", "/operator/companies", {
        key: operatorToken,
        body: { name: "Savings", plan: "paid" }
      })
      const path = `/operator/companies/${company.id}`
      const issued = await ask("POST", `${path}/api-keys`, {
        key: operatorToken,
        body: { name: "till", scopes: ["read", "receive"] }
      })
      const key: string = issued.data.key
      const { data } = await ask("POST", "/v1/bitcoin/deposit/lightning-invoice", {
        key,
        body: { amount: 20_000_000, currency: "sats" }
      })
      await ask("POST", "/sandbox/pay", { key, body: { payment_request: data.payment_request } })
      await world.until(
        "the deposit",
        () => ask("GET", `/v1/bitcoin/deposit/lightning-invoice/${data.id}`, { key }),
        ({ data }) => data.deposit_id !== null
      )
      await ask("PUT", `${path}/limits`, { key: operatorToken, body: { day_sats: 1000 } })
      return ask("PUT", `${path}/limits`, { key: operatorToken, body: {} })
    }
  },
  adjustment_decided: {
    how: "`POST /operator/adjustments`, `/reject`, then `/approve` with another operator's token",
    run: async (world) => {
      const [{ token: ada }, { token: bob }] = [await operator(world, "Ada"), await operator(world, "Bob")]
      const id = await adjustment(world, ada)
      await world.ask("POST", `/operator/adjustments/${id}/reject`, { key: ada })
      return world.ask("POST", `/operator/adjustments/${id}/approve`, { key: bob })
    }
  },
  limit_exceeded: {
    how: "Withdraw 1000 sats with a key that was issued with the limit `day_sats: 500`",
    run: async ({ ask, keyLimited }) =>
      ask("POST", "/v1/bitcoin/withdraw/confirm", {
        key: await keyLimited({ day_sats: 500 }),
        body: sats("settle@wallet.example")
      })
  },
  fee_changed: {
    how: "Withdraw 1000 sats with `max_fee_sats: 1`",
    run: (world) => confirm(world, { ...sats("settle@wallet.example"), max_fee_sats: 1 })
  },
  company_frozen: {
    how: "`POST /operator/companies/{id}/freeze`, then withdraw; `/unfreeze` afterwards",
    run: async (world) => {
      await world.operate(`/companies/${world.shop.id}/freeze`, { reason: "a drill", pending: "go_on" })
      const answer = await confirm(world, sats("settle@wallet.example"))
      await world.operate(`/companies/${world.shop.id}/unfreeze`)
      return answer
    }
  },
  paused: {
    how: "`POST /operator/pause` with `sending`, then withdraw; `/operator/resume` afterwards",
    run: async (world) => {
      await world.operate("/pause", { what: "sending" })
      const answer = await confirm(world, sats("settle@wallet.example"))
      await world.operate("/resume", { what: "sending" })
      return answer
    }
  },
  insufficient_balance: {
    how: "Withdraw more than the balance to `settle@wallet.example`",
    run: (world) => confirm(world, sats("settle@wallet.example", 50_000_000))
  },
  idempotency_mismatch: {
    how: "Create two invoices of different amounts with one `Idempotency-Key`",
    run: async ({ shop }) => {
      const create = (amount: number) =>
        shop.post(
          "/v1/bitcoin/deposit/lightning-invoice",
          { amount, currency: "sats" },
          { "idempotency-key": "one" }
        )
      await create(1)
      return create(2)
    }
  },
  domain_not_verified: {
    how: "Create a Lightning address at an unverified `domain`",
    run: ({ shop }) =>
      shop.post("/v1/bitcoin/deposit/lightning-address", { handle: "shop", domain: "shop.example" })
  },
  domain_not_shown: {
    how: "Verify a domain before `POST /sandbox/txt` sets its record",
    run: ({ shop }) => shop.post("/v1/domains", { domain: "shop.example" })
  },
  not_refundable: {
    how: "Create an on-chain address, `POST /sandbox/send` to it, and refund the deposit while it is pending",
    run: async ({ shop, until }) => {
      const { data } = await shop.post("/v1/bitcoin/deposit/on-chain", {})
      await shop.post("/sandbox/send", { address: data.address.address, amount_sats: 5000 })
      const pending = await until(
        "the pending deposit",
        () => shop.get("/v1/transactions?type=deposit&status=pending"),
        ({ data }) => data.length > 0
      )
      return shop.post("/v1/refunds", { deposit_id: pending.data[0].id })
    }
  },
  refund_too_large: {
    how: "Refund more than a deposit's amount",
    run: async (world) =>
      world.shop.post("/v1/refunds", { deposit_id: await deposited(world), amount: 1001, currency: "sats" })
  },
  return_too_large: {
    how: "Send a transfer to another company, and return more than it with that company's key",
    run: async ({ shop, free }) => {
      const { data } = await shop.post("/v1/transfers", { to: free.id, amount: 1000, currency: "sats" })
      return free.post(`/v1/transfers/${data.id}/return`, { amount: 1001, currency: "sats" })
    }
  },
  wrong_network: {
    how: "Pay a mainnet invoice, such as one of BOLT 11's examples",
    run: (world) => estimate(world, { destination: mainnet })
  },
  unsupported: {
    how: "Pay the key of a node, `02…`",
    run: (world) => estimate(world, sats(`02${"ab".repeat(32)}`))
  },
  amount_mismatch: {
    how: "`/sandbox/destination` of type `lightning_invoice` with `amount_sats`, and pay another `amount`",
    run: async (world) =>
      estimate(
        world,
        sats((await world.outside({ type: "lightning_invoice", amount_sats: 500 })).destination, 501)
      )
  },
  amount_required: {
    how: "Pay `settle@wallet.example` without an `amount`",
    run: (world) => estimate(world, { destination: "settle@wallet.example" })
  },
  amount_out_of_range: {
    how: "`/sandbox/destination` of type `lightning_address` or `lnurl` with `amount_sats`, the only amount it accepts; pay another `amount`",
    run: async (world) =>
      estimate(world, sats((await world.outside({ type: "lnurl", amount_sats: 500 })).destination, 499))
  },
  dust: {
    how: "Pay 100 sats to `/sandbox/destination` of type `chain_address`",
    run: async (world) =>
      estimate(world, sats((await world.outside({ type: "chain_address" })).destination, 100))
  },
  invoice_expired: {
    how: "`/sandbox/destination` of type `lightning_invoice` with `expiry_seconds: 1`, or advance the clock by an hour",
    run: async (world) => {
      const { destination } = await world.outside({
        type: "lightning_invoice",
        amount_sats: 500,
        expiry_seconds: 1
      })
      return estimate(world, { destination })
    }
  },
  invoice_not_payable: {
    how: "Create an invoice, `POST /sandbox/pay` it, and withdraw to it",
    run: async (world) => {
      const { data } = await invoice(world)
      await world.shop.post("/sandbox/pay", { payment_request: data.payment_request })
      return world.until(
        "the invoice's payment",
        () => estimate(world, { destination: data.payment_request }),
        ({ status }) => status !== 200
      )
    }
  },
  payment_hash_used: {
    how: "Withdraw twice to the same invoice of `/sandbox/destination`",
    run: async (world) => {
      const { destination } = await world.outside({ type: "lightning_invoice", amount_sats: 500 })
      const { data } = await confirm(world, { destination })
      await world.ended(data.id)
      return confirm(world, { destination })
    }
  },
  recipient_not_found: {
    how: "Pay `nobody@` at the service's own domain",
    run: (world) => estimate(world, sats(`nobody@${world.domain}`))
  },
  final_cltv_too_long: {
    how: "`/sandbox/destination` of type `lightning_invoice` with `final_cltv_expiry: 5000`",
    run: async (world) => {
      const { destination } = await world.outside({
        type: "lightning_invoice",
        amount_sats: 500,
        final_cltv_expiry: 5000
      })
      return estimate(world, { destination })
    }
  },
  recipient_refused: {
    how: "Pay `nobody@wallet.example`",
    run: (world) => estimate(world, sats("nobody@wallet.example"))
  },
  sandbox_refused: {
    how: "`POST /sandbox/release` of a payment that is not held",
    run: ({ shop }) => shop.post("/sandbox/release", { payment_hash: "00".repeat(32), outcome: "settle" })
  },
  headers_too_large: {
    how: "Send a header of 20 000 bytes",
    run: ({ raw }) =>
      raw(
        `GET /healthz HTTP/1.1\r\nHost: service\r\nX-Large: ${"x".repeat(20_000)}\r\nConnection: close\r\n\r\n`
      )
  },
  internal: { never: "it means a bug; please report it" },
  store_unavailable: {
    how: "`POST /sandbox/fault` with `database`, and create an invoice",
    run: async (world) => {
      await world.fault("database")
      return invoice(world)
    }
  },
  overloaded: {
    never: "it requires six open event streams of one key, or more requests than the database can process"
  },
  node_unavailable: {
    how: "`POST /sandbox/fault` with `node`, and create an invoice",
    run: async (world) => {
      await world.fault("node")
      return invoice(world)
    }
  },
  chain_unavailable: {
    how: "`POST /sandbox/fault` with `chain`, and create an on-chain address",
    run: async ({ fault, shop }) => {
      await fault("chain")
      return shop.post("/v1/bitcoin/deposit/on-chain", {})
    }
  },
  names_unavailable: {
    how: "`POST /sandbox/fault` with `web`, and verify a domain",
    run: async ({ fault, shop }) => {
      await fault("web")
      return shop.post("/v1/domains", { domain: "shop.example" })
    }
  },
  rate_unavailable: {
    how: "`POST /sandbox/fault` with `rates`, and create an invoice in `usd`",
    run: async ({ fault, shop }) => {
      await fault("rates")
      return shop.post("/v1/bitcoin/deposit/lightning-invoice", { amount: 1, currency: "usd" })
    }
  },
  recipient_unreachable: {
    how: "`POST /sandbox/fault` with `web`, and pay `settle@wallet.example`",
    run: async (world) => {
      await world.fault("web")
      return estimate(world, sats("settle@wallet.example"))
    }
  },
  timeout: { never: "the sandbox responds immediately" },
  stopping: { never: "stop the process with Ctrl-C under load" },
  not_ready: {
    how: "`POST /sandbox/fault` with `node`, and `GET /readyz`",
    run: async ({ fault, ask, until }) => {
      await fault("node")
      return until(
        "the service to stop being ready",
        () => ask("GET", "/readyz"),
        ({ status }) => status === 503
      )
    }
  }
}

/** Withdraws and returns the withdrawal's id. */
const withdrawn = async (world: World, body: unknown) => (await confirm(world, body)).data.id as string

/** Withdraws to a payee with this behavior. */
const behaving = (behaviour: string): Recipe<string> => ({
  how: `Withdraw to \`${behaviour.replaceAll("_", "-")}@wallet.example\`, or \`/sandbox/destination\` with \`behaviour: "${behaviour}"\``,
  run: (world) => withdrawn(world, sats(`${behaviour.replaceAll("_", "-")}@wallet.example`))
})

const failed: { readonly [failure in Failure]: Recipe<string> } = {
  no_route: behaving("no_route"),
  timeout: behaving("unknown_then_fail"),
  incorrect_payment_details: behaving("fail"),
  insufficient_liquidity: behaving("insufficient_liquidity"),
  canceled: behaving("canceled"),
  node_error: behaving("node_error"),
  channel_closed: behaving("channel_closed"),
  invoice_expired: {
    never:
      "an invoice would have to expire between the confirmation and the next step, which follows immediately"
  },
  invoice_not_payable: {
    how: "Withdraw to a `same_invoice` address of `/sandbox/destination`, as one company and then as another",
    run: async (world) => {
      const { destination } = await world.outside({ type: "lightning_address", behaviour: "same_invoice" })
      await world.free.post("/v1/bitcoin/withdraw/confirm", sats(destination)).then(({ data }) =>
        world.until(
          "the first payment",
          () => world.free.get(`/v1/transactions/withdrawals/${data.id}`),
          ({ data }) => data.status === "settled"
        )
      )
      return withdrawn(world, sats(destination))
    }
  },
  payment_hash_used: {
    how: "Withdraw twice to `same-invoice@wallet.example`",
    run: async (world) => {
      await world.ended(await withdrawn(world, sats("same-invoice@wallet.example")))
      return withdrawn(world, sats("same-invoice@wallet.example"))
    }
  },
  recipient_refused: behaving("refuse"),
  recipient_unreachable: {
    how: "Withdraw to `unreachable@wallet.example`, and advance the clock until it fails",
    run: async (world) => {
      const id = await withdrawn(world, sats("unreachable@wallet.example"))
      // An advance before the first attempt does not count.
      await world.until(
        "the withdrawal to fail",
        async () => {
          await world.advance(600)
          return world.shop.get(`/v1/transactions/withdrawals/${id}`)
        },
        ({ data }) => data.status === "failed"
      )
      return id
    }
  },
  approval_rejected: {
    how: "Withdraw more than the key's `approval_above_sats`, and reject it with a key that has the scope `approve`",
    run: async (world) => {
      const { id, approver } = await awaiting(world)
      await decide(world, approver, id, "reject")
      return id
    }
  },
  approval_expired: {
    how: "Withdraw more than the key's `approval_above_sats`, and advance the clock by a day",
    run: async (world) => {
      const { id } = await awaiting(world)
      await world.advance(86_400)
      return id
    }
  }
}

export const recipes = { refused, failed }

const table = (all: Readonly<Record<string, Recipe<unknown>>>): string =>
  [
    "| code | how to get it |",
    "|---|---|",
    ...Object.entries(all).map(
      ([code, recipe]) => `| \`${code}\` | ${"how" in recipe ? recipe.how : `No recipe: ${recipe.never}`} |`
    )
  ].join("\n")

/** The documentation page. */
export const page = (): string =>
  [
    "# Reproduce each error in the sandbox",
    "",
    "For developers who test an integration. By the end, you will have seen how your program handles each error. A test runs every recipe. Addresses at `wallet.example` " +
      "exist from the start; [the sandbox](../guides/sandbox.md) creates others.",
    "",
    "## Errors",
    "",
    "[Errors](errors.md) has the meaning of each, and what to do.",
    "",
    table(refused),
    "",
    "## Failures of withdrawals",
    "",
    "These withdrawals are confirmed and fail later. Nothing was paid, and the amount and fee are released. The code is the withdrawal's `failure.code`.",
    "",
    table(failed),
    ""
  ].join("\n")
