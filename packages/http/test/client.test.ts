import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { assert, layer } from "@effect/vitest"
import * as Policy from "@satrail/core/service/Policy"
import { Settlements } from "@satrail/core/receiving/Settlements"
import * as Satrail from "@satrail/core/service/Satrail"
import * as Memory from "@satrail/memory/Memory"
import * as FixedRates from "@satrail/sandbox/FixedRates"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import { Context, Effect, Layer, Redacted } from "effect"
import { FetchHttpClient, HttpRouter, HttpServer } from "effect/http"
import { createServer } from "node:http"
import { Api } from "../src/Api.ts"
import { OperatorToken } from "../src/api/Authentication.ts"
import * as Client from "../src/Client.ts"
import * as Docs from "../src/pages/Docs.ts"
import { Readiness } from "../src/api/Readiness.ts"
import * as Http from "../src/Http.ts"

const operatorToken = Redacted.make("an operator's token")

const services = Satrail.layer({ ...Policy.defaults, network: "regtest", domain: "pay.example.com" }).pipe(
  Layer.provideMerge(Layer.mergeAll(Memory.layer, FixedRates.layer(), Sandbox.layer({ seed: "client", network: "regtest" })))
)

class BaseUrl extends Context.Service<BaseUrl, string>()("test/BaseUrl") {}

/** The service on a socket at a free port of the loopback interface. */
const server = HttpRouter.serve(Http.layer(), { disableLogger: true, disableListenLog: true }).pipe(
  Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" })),
  Layer.provideMerge(Layer.mergeAll(services, Layer.succeed(OperatorToken, operatorToken), Layer.succeed(Readiness, [])))
)
const baseUrl = Layer.effect(
  BaseUrl,
  Effect.map(HttpServer.HttpServer, ({ address }) => ("port" in address ? `http://127.0.0.1:${address.port}` : ""))
)

const clientFor = Effect.fnUntraced(function* (apiKey: Redacted.Redacted) {
  return yield* Client.make({ baseUrl: yield* BaseUrl, apiKey })
})

const operator = Effect.suspend(() => clientFor(operatorToken))

/** A client with a company's key. */
const company = Effect.gen(function* () {
  const {
    operator: { openCompany, issueKey }
  } = yield* operator
  const { id } = yield* openCompany({ payload: { name: "Example Ltd", plan: "paid" } })
  const { key } = yield* issueKey({ params: { id }, payload: { name: "test", scopes: ["admin"] } })
  return yield* clientFor(Redacted.make(key))
})

layer(Layer.provideMerge(Layer.mergeAll(Layer.provide(baseUrl, server), FetchHttpClient.layer), server), { excludeTestServices: true })(
  "the client, over a socket",
  (it) => {
    it.effect("client: its methods create and read records, and return them without the envelope", () =>
      Effect.gen(function* () {
        const { receive, read } = yield* company
        const invoice = yield* receive.createInvoice({ payload: { amount: 21, currency: "sats" } })
        assert.deepStrictEqual(yield* receive.getInvoice({ params: { invoiceID: invoice.id } }), invoice)
        assert.deepStrictEqual(yield* read.balance(), { balance: 0, held_sats: 0, pending_deposits_sats: 0 })
        const { address } = yield* receive.createOnChainAddress({ payload: { address_type: "segwit" } })
        assert.strictEqual(address.bitcoin_address_type, "segwit")
        const { domain } = yield* receive.createLightningAddress()
        assert.strictEqual(domain, "pay.example.com")
      })
    )

    it.effect("client: a creation can be repeated safely", () =>
      Effect.gen(function* () {
        const { receive } = yield* company
        const create = receive.createInvoice({ idempotencyKey: "order-1", payload: { amount: 21, currency: "sats" } })
        assert.deepStrictEqual(yield* create, yield* create)
      })
    )

    it.effect("client: a program can iterate over a list", () =>
      Effect.gen(function* () {
        const client = yield* company
        for (const amount of [1, 2, 3]) {
          const { payment_request } = yield* client.receive.createInvoice({ payload: { amount, currency: "sats" } })
          yield* (yield* Sandbox.Sandbox).pay({ paymentRequest: payment_request })
        }
        yield* (yield* Settlements).poll
        const first = yield* client.read.transactions({ query: { limit: 2, type: "deposit" } })
        assert.strictEqual(first.data.length, 2)
        assert.isDefined(first.next)
        const second = yield* client.read.transactions({ query: { limit: 2, type: "deposit", ...(first.next && { cursor: first.next }) } })
        assert.strictEqual(second.data.length, 1)
        assert.isUndefined(second.next)
        assert.sameMembers(
          [...first.data, ...second.data].map(({ amount_sats }) => amount_sats),
          [1, 2, 3]
        )
      })
    )

    it.effect("client: a program can create, change and delete Lightning addresses", () =>
      Effect.gen(function* () {
        const { lightningAddresses, receive } = yield* company
        const { id } = yield* receive.createLightningAddress()
        yield* receive.createLightningAddress()
        const first = yield* lightningAddresses.listLightningAddresses({ query: { limit: 1 } })
        const cursor = first.next ?? assert.fail("there is no second page")
        const second = yield* lightningAddresses.listLightningAddresses({ query: { limit: 1, cursor } })
        const listed = [...first.data, ...second.data].map(({ id }) => id)
        assert.sameMembers(listed, [...new Set(listed)])
        const changed = yield* lightningAddresses.changeLightningAddress({ params: { id }, payload: { min_sats: 21 } })
        assert.strictEqual(changed.min_sats, 21)
        assert.isNotNull((yield* lightningAddresses.deleteLightningAddress({ params: { id } })).deleted_at)
        assert.match((yield* lightningAddresses.getLightningAddressQr({ params: { id } })).svg, /^<svg/)
      })
    )

    it.effect("client: a program can send money with either spelling of confirm", () =>
      Effect.gen(function* () {
        const client = yield* company
        const { destination } = yield* (yield* Sandbox.Sandbox).destination({ type: "lightning_address" })
        const payload = { amount: 1000, currency: "sats", destination }
        assert.strictEqual((yield* client.send.estimate({ payload })).amount_sats, 1000)
        for (const send of [client.send.confirm, client.send.confirmSend]) {
          const refused = yield* Effect.flip(send({ payload }))
          assert.deepInclude(refused, { status: 422, code: "insufficient_balance" })
        }
      })
    )

    const refusals: Record<
      string,
      readonly [
        (client: Client.Client) => Effect.Effect<unknown, Client.ApiError>,
        status: number,
        code: string,
        paths: ReadonlyArray<string>
      ]
    > = {
      "an invalid request": [
        ({ receive }) => receive.createInvoice({ payload: { amount: 21.5, currency: "sats" } }),
        400,
        "malformed",
        ["amount"]
      ],
      "an unknown record": [
        ({ read }) => read.deposit({ params: { depositID: "018f3b1e-7c00-7a3b-9c1d-2f5e6a7b8c9d" } }),
        404,
        "not_found",
        []
      ],
      "an operator's request with a company key": [
        ({ operator }) => operator.openCompany({ payload: { name: "a", plan: "free" } }),
        401,
        "unauthorized",
        []
      ]
    }
    for (const [what, [call, status, code, paths]] of Object.entries(refusals)) {
      it.effect(`client: ${what} throws one ApiError: ${status} ${code}`, () =>
        Effect.gen(function* () {
          const error = yield* Effect.flip(call(yield* company))
          assert.instanceOf(error, Client.ApiError)
          assert.deepStrictEqual([error.status, error.code, error.issues.map(({ path }) => path)], [status, code, paths])
          assert.isNotEmpty(error.message)
        })
      )
    }

    it.effect("client: an unreachable service throws one ApiError", () =>
      Effect.gen(function* () {
        const { read } = yield* Client.make({ baseUrl: "http://127.0.0.1:1", apiKey: Redacted.make("x") })
        const error = yield* Effect.flip(read.balance())
        assert.deepStrictEqual([error._tag, error.status, error.code], ["ApiError", 0, "unreachable"])
      })
    )

    it.effect("client: a response without an envelope throws one ApiError", () =>
      Effect.gen(function* () {
        const { read } = yield* Client.make({ baseUrl: `${yield* BaseUrl}/docs`, apiKey: Redacted.make("x") })
        assert.strictEqual((yield* Effect.flip(read.balance())).code, "not_found")
      })
    )

    it.effect("client: every endpoint has a method", () =>
      Effect.gen(function* () {
        const client = yield* company
        const calls = Object.fromEntries(Object.entries(client).map(([group, calls]) => [group, Object.keys(calls).toSorted()]))
        const { customer, operator } = Docs.documents(Api, { network: "regtest" })
        const documented = [customer, operator].flatMap(({ paths }) => JSON.stringify(paths).match(/(?<="operationId":")[^"]+/g) ?? [])
        // The client reads whole responses, so it cannot read a stream, which never ends.
        const calledByNone = ["events.streamEvents"]
        assert.sameMembers(
          Object.entries(calls).flatMap(([group, names]) => names.map((name) => `${group}.${name}`)),
          documented.filter((name) => !calledByNone.includes(name))
        )
        // Method names are public API.
        assert.deepInclude(calls, {
          receive: [
            "cancelInvoice",
            "createInvoice",
            "createLightningAddress",
            "createOffer",
            "createOnChainAddress",
            "getInvoice",
            "getOffer",
            "getOnChainAddress",
            "listInvoices",
            "listOffers",
            "listOnChainAddresses",
            "settleInvoice"
          ],
          lightningAddresses: [
            "changeLightningAddress",
            "deleteLightningAddress",
            "getLightningAddress",
            "getLightningAddressQr",
            "listLightningAddresses",
            "updateLightningAddress"
          ],
          domains: ["claimDomain", "listDomains"],
          tls: ["askTls"],
          send: ["approve", "confirm", "confirmSend", "estimate", "reject"],
          vouchers: ["cancelVoucher", "createVoucher", "getVoucher", "listVouchers"],
          refunds: ["cancelRefund", "createRefund", "getRefund", "listRefunds"],
          account: ["account"],
          apiKeys: ["createApiKey", "getApiKey", "listApiKeys", "revokeApiKey"],
          rates: ["rates"],
          read: ["adjustment", "balance", "deposit", "exportTransactions", "getStatement", "payer", "transactions", "withdrawal"],
          operator: [
            "allowKeyFrom",
            "approveKey",
            "chargeCompany",
            "connectWallet",
            "getFees",
            "getKey",
            "getLimits",
            "getWalletConnection",
            "issueKey",
            "limitCompany",
            "limitKey",
            "openCompany",
            "revokeKey",
            "rotateKey",
            "updateCompany",
            "updateCompanyFees",
            "updateCompanyLimits",
            "updateKeyLimits",
            "verifyDomain"
          ],
          reconciliation: ["reconciliation", "stateOwnFunds"],
          health: ["check", "healthz", "readyz"],
          metrics: ["metrics"]
        })
      })
    )

    it.effect(
      "http: over a socket, a body that is too large returns 413, an incomplete body returns 400, and the server keeps running",
      () =>
        Effect.gen(function* () {
          const url = `${yield* BaseUrl}/v1/bitcoin/deposit/on-chain`
          const {
            operator: { openCompany, issueKey }
          } = yield* operator
          const { id } = yield* openCompany({ payload: { name: "a", plan: "free" } })
          const { key } = yield* issueKey({ params: { id }, payload: { name: "a", scopes: ["receive"] } })
          const post = (body: string | ReadableStream) =>
            Effect.promise(async () => {
              // A stream is sent in chunks, without a declared length.
              const request: RequestInit = {
                method: "POST",
                body,
                duplex: "half",
                headers: { authorization: `Bearer ${key}`, "content-type": "application/json" }
              }
              const response = await fetch(url, request)
              return [response.status, JSON.parse(await response.text()).error?.code]
            })
          const stream = (text: string) =>
            new ReadableStream({
              start: (controller) => {
                controller.enqueue(new TextEncoder().encode(text))
                controller.close()
              }
            })
          assert.deepStrictEqual(yield* post(" ".repeat(70_000)), [413, "body_too_large"])
          assert.deepStrictEqual(yield* post(stream(" ".repeat(70_000))), [413, "body_too_large"])
          assert.deepStrictEqual(yield* post(`{"metadata":`), [400, "malformed"])
          assert.deepStrictEqual(yield* post("{}"), [201, undefined])
        })
    )
  }
)
