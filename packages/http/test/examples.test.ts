import { afterAll, assert, describe, it } from "@effect/vitest"
import * as BitcoinAddress from "@satrail/bitcoin/BitcoinAddress"
import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Network from "@satrail/bitcoin/Network"
import * as OpenApi from "@satrail/testing/OpenApi"
import { Result } from "effect"
import { createHash } from "node:crypto"
import { Api } from "@satrail/service/http/Api"
import * as Docs from "@satrail/service/http/pages/Docs"
import { operatorToken, start } from "./Service.ts"

const service = await start({ http: { about: { network: "regtest" } } })
afterAll(service.dispose)
const company = await service.company("free")

// The documents are read by their names, as by a client generator.
// oxlint-disable-next-line typescript/no-explicit-any -- see above
type Any = any

/** Endpoints that return text, or a report whose schema is clearer than an example. */
const withoutExample = [
  "GET /operator/metrics",
  "GET /operator/reconciliation",
  "GET /v1/transactions/export",
  "GET /operator/transactions/export",
  "GET /operator/companies/{companyId}/transactions/export"
]

const operationsOf = (documents: ReadonlyArray<Any>) =>
  documents.flatMap((document) =>
    Object.entries<Record<string, Any>>(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => {
        const [status, response] =
          Object.entries<Any>(operation.responses).find(([status]) => Number(status) < 300) ?? []
        const media = response?.content?.["application/json"]
        return {
          name: `${method.toUpperCase()} ${path}`,
          method,
          path,
          operation,
          status: Number(status),
          media,
          isStream: "text/event-stream" in (response?.content ?? {}),
          body: operation.requestBody
        }
      })
    )
  )

for (const network of Network.all) {
  const { customer, operator } = Docs.whole(Api, { network })
  const operations = operationsOf([customer, operator])
  const { differences } = OpenApi.read(customer, operator)
  const exampleOf = (name: string) =>
    operations.find((one) => one.name === name)?.media.examples.default.value.data

  describe(`examples: ${network}`, () => {
    it("examples: every endpoint has examples of its request body and response, and the examples match their schemas", () => {
      for (const { name, media, body, operation, isStream } of operations) {
        if (withoutExample.includes(name) || (media === undefined && isStream)) continue
        assert.deepStrictEqual(differences(media?.examples.default.value, media?.schema ?? {}), [], name)
        if (body !== undefined) {
          const { examples, schema } = body.content["application/json"]
          assert.deepStrictEqual(differences(examples.default.value, schema), [], name)
        }
        for (const one of operation.parameters)
          if (one.in === "path")
            assert.match(
              one.examples.default.value,
              /^(?:[\da-f-]{36}|\w{12}|\d{4}-\d\d|node|evt_[\w-]{22})$/,
              `${name} ${one.name}`
            )
      }
    })

    it("examples: the served document has an example of every returned record, and the examples match their schemas", () => {
      const served = Docs.documents(Api, { network })
      for (const { components } of [served.customer, served.operator] as ReadonlyArray<Any>) {
        const records = Object.entries<Any>(components.schemas).flatMap(([name, { properties }]) =>
          name.endsWith("Response") ? [(properties.data.items ?? properties.data).$ref.split("/").at(-1)] : []
        )
        assert.isAbove(records.length, 20)
        for (const name of new Set(records)) {
          if (name === "Reconciliation") continue
          assert.lengthOf(components.schemas[name].examples ?? [], 1, name)
          assert.deepStrictEqual(
            differences(components.schemas[name].examples[0], components.schemas[name]),
            [],
            name
          )
        }
      }
    })

    it("examples: invoices are signed, are for this network, and have the hash of their preimage", () => {
      const invoice = exampleOf("GET /v1/bitcoin/deposit/lightning-invoice/{invoiceID}")
      const { lightning_payment: payment } = exampleOf("GET /v1/transactions/withdrawals/{withdrawalID}")
      const told = [
        {
          text: invoice.payment_request,
          hash: invoice.r_hash,
          preimage: invoice.r_preimage,
          sats: invoice.amount_sats
        },
        {
          text: payment.payment_request,
          hash: payment.payment_hash,
          preimage: payment.payment_preimage,
          sats: Number(payment.value_sat)
        }
      ]
      for (const { text, hash, preimage, sats } of told) {
        const read = Result.getOrThrow(Bolt11.decode(text))
        assert.deepStrictEqual(
          [read.network, read.paymentHash, read.amount],
          [network, hash, BigInt(sats) * 1000n]
        )
        assert.strictEqual(createHash("sha256").update(Buffer.from(preimage, "hex")).digest("hex"), hash)
      }
      const { payee, description } = Result.getOrThrow(Bolt11.decode(invoice.payment_request))
      assert.deepStrictEqual([payee, description], [invoice.node_id, invoice.memo])
    })

    it("examples: addresses and keys are for this network", () => {
      const { address } = exampleOf("POST /v1/bitcoin/deposit/on-chain")
      assert.strictEqual(Result.getOrThrow(BitcoinAddress.decode(address.address, network)).kind, "p2tr")
      assert.match(
        exampleOf("POST /operator/companies/{id}/api-keys").key,
        new RegExp(`^sr_${network}_\\w{12}_\\w{40,}$`)
      )
    })

    it("examples: the examples are consistent with each other", () => {
      const [withdrawal, deposit] = exampleOf("GET /v1/transactions")
      const invoice = exampleOf("GET /v1/bitcoin/deposit/lightning-invoice/{invoiceID}")
      const fetched = exampleOf("GET /v1/transactions/deposits/{depositID}")
      const confirmed = exampleOf("POST /v1/bitcoin/withdraw/confirm")
      assert.deepStrictEqual(
        [fetched.id, fetched.lightning_invoice_id, fetched.recipient],
        [deposit.id, invoice.id, invoice.payment_request]
      )
      assert.strictEqual(withdrawal.id, confirmed.id)
      assert.strictEqual(withdrawal.fee_microsats, confirmed.fee_sats * 1000)
      assert.strictEqual(exampleOf("POST /v1/bitcoin/withdraw/estimate").service_fee_sats, confirmed.fee_sats)
      const { balance } = exampleOf("GET /v1/transactions/balance")
      assert.strictEqual(balance, deposit.amount_sats - withdrawal.amount_sats - confirmed.fee_sats)
      for (const { company_id } of [withdrawal, deposit, fetched])
        assert.strictEqual(company_id, exampleOf("POST /operator/companies").id)
    })
  })
}

describe("examples: the filled-in request", () => {
  const documents = ["/openapi.json", "/operator/openapi.json"].map(
    async (path) => (await service.ask("GET", path)).body
  )

  it("examples: the service accepts the filled-in request, and no Idempotency-Key is sent", async () => {
    const operations = operationsOf((await Promise.all(documents)).map(OpenApi.expanded)).filter(
      ({ method }) => method === "post" || method === "put"
    )
    assert.isAbove(operations.length, 12)
    for (const { name, path, method, operation, body } of operations) {
      const parameters: ReadonlyArray<Any> = operation.parameters
      const target = parameters.reduce<string>(
        (text, { name, examples }) => text.replace(`{${name}}`, examples?.default.value),
        path
      )
      const key = path.startsWith("/operator/") ? operatorToken : company.key
      const { status, text } = await service.ask(method.toUpperCase(), target, {
        key,
        ...(body !== undefined && { body: body.content["application/json"].examples.default.value })
      })
      assert.notInclude([400, 401, 415, 500], status, `${name}: ${text}`)
    }
    for (const [path, method] of [
      ["/v1/bitcoin/deposit/lightning-invoice", "POST"],
      ["/v1/bitcoin/deposit/lightning-address", "POST"],
      ["/v1/bitcoin/deposit/on-chain", "POST"]
    ] as const) {
      const found = operations.find((one) => one.name === `${method} ${path}`)
      for (let again = 0; again < 2; again++)
        assert.strictEqual(
          (
            await service.ask(method, path, {
              key: company.key,
              body: found?.body.content["application/json"].examples.default.value
            })
          ).status,
          201
        )
    }
  })
})
