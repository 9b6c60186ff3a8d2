// Metadata with a Standard Schema for each type of record, in this process and over HTTP.
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { errors as embeddedErrors, satrail, SatrailError as EmbeddedError } from "satrail"
import { client, errors, SatrailError, type StandardSchema } from "../src/index.ts"

type Order = Readonly<Record<"order" | "channel", string>>

/** Written by hand, asynchronous, and with a default. */
const order: StandardSchema<{ readonly order: string; readonly channel?: string }, Order> = {
  "~standard": {
    version: 1,
    vendor: "test",
    validate: async (value) => {
      const { order, channel = "web" } = Object(value)
      return /^\d+$/.test(order)
        ? { value: { order, channel } }
        : { issues: [{ message: "expected digits", path: [{ key: "order" }] }] }
    }
  }
}

const voucher = Schema.toStandardSchemaV1(
  Schema.Struct({
    campaign: Schema.Literals(["spring", "autumn"]),
    code: Schema.String.check(Schema.isMaxLength(4))
  })
)

const metadata = { invoices: order, vouchers: voucher }

const operatorToken = "o".repeat(32)
const openEmbedded = () => satrail.test({ logLevel: "error", operatorToken, metadata })

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const typed = <_ extends true>() => {}

describe("metadata with schemas", () => {
  let embedded: Awaited<ReturnType<typeof openEmbedded>>
  let company: string
  let issued: Promise<string> | undefined
  const remote = () => {
    const fetch: typeof globalThis.fetch = (input, init) => embedded.handler(new Request(input, init))
    const key = () =>
      (issued ??= operator.companies
        .issueKey(company, { name: "shop", scopes: ["admin"] })
        .then(({ key }) => key))
    const operator = client({ url: "http://service.example", operatorToken, fetch })
    return client({ url: "http://service.example", key, fetch, metadata })
  }
  beforeAll(async () => {
    embedded = await openEmbedded()
    company = (await embedded.companies.create({ name: "Shop" })).id
  })
  afterAll(() => embedded.close())

  it("schemas: the schema's result is stored, and requests, replies and events have the schema's types", async () => {
    const pay = remote()
    const over = await pay.invoices.create({ amount: 1000, metadata: { order: "7" } })
    const inside = await embedded.invoices.create({ company, amount: 1000, metadata: { order: "8" } })
    assert.deepStrictEqual(
      [over.metadata, inside.metadata],
      [
        { order: "7", channel: "web" },
        { order: "8", channel: "web" }
      ]
    )
    assert.deepStrictEqual((await embedded.invoices.get(company, over.id)).metadata, over.metadata)
    const free = await embedded.checkouts.create({ company, amount: 1000, metadata: { any: "text" } })
    assert.deepStrictEqual(free.metadata, { any: "text" })
    typed<Equal<typeof over.metadata, Order>>()
    typed<Equal<typeof inside.metadata, Order>>()
    typed<Equal<(typeof free.metadata)[string], string>>()
    await embedded.outside.pay(inside)
    const { metadata: seasonal } = await pay.vouchers.create({
      amount: 1,
      metadata: { campaign: "spring", code: "1234" }
    })
    typed<Equal<typeof seasonal, { readonly campaign: "spring" | "autumn"; readonly code: string }>>()
    assert.strictEqual(seasonal.code, "1234")
    embedded.on("invoice.settled", ({ data }) => typed<Equal<typeof data.metadata, Order>>(), {
      after: "now"
    })
    // @ts-expect-error -- the event of an invoice has the metadata of invoices
    embedded.on("invoice.expired", ({ data }) => data.metadata.campaign, { after: "now" })
    // A deposit may also pay a checkout, whose metadata has no schema.
    embedded.on("deposit.settled", ({ data }) => typed<Equal<typeof data.metadata.order, string>>(), {
      after: "now"
    })
  })

  it("schemas: the types reject other fields, other record types, and schemas whose result is not text", () => {
    const pay = remote()
    // Never called: only compiled.
    const wrong = () => {
      // @ts-expect-error -- order is missing
      void pay.invoices.create({ amount: 1, metadata: { channel: "web" } })
      // @ts-expect-error -- order is missing
      void embedded.invoices.create({ company, amount: 1, metadata: { channel: "web" } })
      // @ts-expect-error -- not a campaign
      void pay.vouchers.create({ amount: 1, metadata: { campaign: "winter", code: "1" } })
      // @ts-expect-error -- not a noun
      void satrail({ metadata: { invoice: order } })
      // @ts-expect-error -- not a noun
      client({ url: "http://service.example", metadata: { invoice: order } })
      const numbers = Schema.toStandardSchemaV1(Schema.Struct({ n: Schema.Number }))
      // @ts-expect-error -- a number is not text
      client({ url: "http://service.example", metadata: { invoices: numbers } })
    }
    assert.isFunction(wrong)
  })

  it("schemas: invalid or missing metadata is rejected before anything is created, and the error names the field and the issue", async () => {
    const pay = remote()
    const refused = (call: PromiseLike<unknown>) =>
      Promise.resolve(call).then(
        () => assert.fail("not rejected"),
        (error: unknown) => {
          assert.isTrue(error instanceof SatrailError || error instanceof EmbeddedError)
          assert.isTrue(error instanceof errors.Malformed || error instanceof embeddedErrors.Malformed)
          const { issues, message, isRetryable } = error as SatrailError
          assert.isFalse(isRetryable)
          return { issues, message }
        }
      )
    const digits = "metadata.order: expected digits"
    const isOrder = { issues: [{ path: "metadata.order", message: digits }], message: digits }
    const before = (await embedded.invoices.list(company)).items.length
    for (const metadata of [{ order: "no" }, { order: "" }])
      for (const call of [
        pay.invoices.create({ amount: 1, metadata }),
        embedded.invoices.create({ company, amount: 1, metadata })
      ])
        assert.deepStrictEqual(await refused(call), isOrder)
    assert.deepStrictEqual(await refused(pay.invoices.create({ amount: 1 })), isOrder)
    assert.deepStrictEqual(await refused(embedded.invoices.create({ company, amount: 1 })), isOrder)
    assert.strictEqual((await embedded.invoices.list(company)).items.length, before)
    const long = { campaign: "spring", code: "12345" } as const
    for (const call of [
      pay.vouchers.create({ amount: 1, metadata: long }),
      embedded.vouchers.create({ company, amount: 1, metadata: long })
    ]) {
      const { issues } = await refused(call)
      assert.strictEqual(issues[0]?.path, "metadata.code")
      assert.include(issues[0]?.message ?? "", "metadata.code: ")
    }
  })

  it("schemas: a value that is not a schema is rejected, and so is a schema that returns no text or belongs to no record type", async () => {
    const validate = () => ({ value: { order: 7 } })
    const number = { "~standard": { version: 1, vendor: "test", validate } }
    const pay = await satrail.test({ logLevel: "error", metadata: { invoices: number as never } })
    const shop = await pay.companies.create({ name: "Shop" })
    const error: unknown = await pay.invoices
      .create({ company: shop, metadata: {} as never })
      .catch((error: unknown) => error)
    assert.include(String(error), "metadata.order must be a string")
    await pay.close()
    for (const [metadata, says] of [
      [{ invoice: order }, "(got invoice)"],
      [{ invoices: {} }, "metadata.invoices must be a Standard Schema"]
    ] as const)
      assert.include(
        String(await satrail.test({ metadata: metadata as never }).catch((error: unknown) => error)),
        says
      )
  })
})
