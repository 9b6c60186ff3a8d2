import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { satrail, SatrailError, type SimulatedPay } from "../src/index.ts"
import { parameters as outside } from "../src/Simulation.ts"
import { parameters } from "../src/Verbs.ts"

type Call = (...given: ReadonlyArray<unknown>) => Promise<unknown>
type Table<A> = Readonly<Record<string, Readonly<Record<string, A>>>>

/** Methods whose arguments are not in the tables, because they are written by hand. */
const elsewhere = new Set([
  "webhooks.verify",
  "withdrawals.settled",
  "outside.pay",
  "clock.now",
  "clock.advance"
])
const taken: Table<ReadonlyArray<object>> = { ...parameters, outside }

const methodsOf = (
  pay: SimulatedPay
): ReadonlyArray<readonly [name: string, call: Call, takes: ReadonlyArray<object>]> =>
  Object.entries(pay).flatMap(([noun, verbs]) =>
    typeof verbs === "object" && !["runtime", "layer"].includes(noun)
      ? Object.entries<Call>(verbs)
          .filter(([verb]) => !elsewhere.has(`${noun}.${verb}`))
          .map(
            ([verb, call]) =>
              [
                `${noun}.${verb}`,
                call,
                taken[noun]?.[verb] ?? assert.fail(`${noun}.${verb} is not in the table`)
              ] as const
          )
      : []
  )

const isOptional = (field: object): boolean =>
  Schema.is(Schema.Struct({ field: field as Schema.Schema<unknown> }))({})

interface Struct {
  readonly fields: Readonly<Record<string, object>>
  /** Whether the object may have other fields. */
  readonly isOpen: boolean
}
const structOf = (parameter: object, isOpen = false): Struct | undefined => {
  if ("fields" in parameter) return { fields: parameter.fields as Struct["fields"], isOpen }
  if ("members" in parameter) return structOf((parameter.members as ReadonlyArray<object>)[0] ?? {})
  return "schema" in parameter ? structOf(parameter.schema as object, "records" in parameter) : undefined
}

/** No argument of any method is a function. */
const wrong = () => 0

/** Wrong arguments of a method, with the name of the field that each refusal must have. */
const wrongs = (
  takes: ReadonlyArray<object>,
  good: ReadonlyArray<unknown>
): ReadonlyArray<readonly [field: RegExp, given: ReadonlyArray<unknown>]> =>
  takes.flatMap((parameter, at) => {
    const struct = structOf(parameter)
    const replaced = (value: unknown) => good.with(at, value)
    if (struct === undefined)
      return [wrong, ...(isOptional(parameter) ? [] : [undefined])].map(
        (value) => [/./, replaced(value)] as const
      )
    const fields = Object.keys(struct.fields)
    const record = good[at] as object
    return [
      [/./, replaced(wrong)] as const,
      ...fields.map((name) => [new RegExp(`^${name}\\b`), replaced({ ...record, [name]: wrong })] as const),
      ...Object.keys(record).map(
        (name) => [new RegExp(`^${name}\\b`), replaced({ ...record, [name]: undefined })] as const
      ),
      ...(struct.isOpen ? [] : [[/^nme$/, replaced({ ...record, nme: 1 })] as const])
    ]
  })

const refusalOf = async (call: () => PromiseLike<unknown>): Promise<unknown> => {
  try {
    await call()
  } catch (error) {
    return error
  }
  return undefined
}

const id = "018f3b1e-7c00-7a3b-9c1d-2f5e6a7b8c9d"

const samples = [id, 1, true, new Date(0), [], ["203.0.113.7"], { recipient: "x" }]

/** Returns an argument or a field that the schema accepts. */
const sampleOf = (schema: object): unknown => {
  const struct = structOf(schema)
  if (struct !== undefined)
    return Object.fromEntries(
      Object.entries(struct.fields).flatMap(([name, field]) =>
        isOptional(field) ? [] : [[name, sampleOf(field)]]
      )
    )
  if ("literal" in schema) return schema.literal
  if ("literals" in schema) return (schema.literals as ReadonlyArray<unknown>)[0]
  return samples.find((one) => Schema.is(schema as Schema.Schema<unknown>)(one))
}

const check = async (pay: SimulatedPay) => {
  let calls = 0
  for (const [name, call, takes] of methodsOf(pay)) {
    const good = takes.map((parameter) => sampleOf(parameter))
    for (const [field, given] of wrongs(takes, good)) {
      const shown = `${name}(${JSON.stringify(given, (_, value: unknown) => (value === wrong ? "wrong" : value))})`
      const error = await refusalOf(async () => call(...given))
      calls += 1
      assert.isTrue(error instanceof SatrailError && error.code === "malformed", `${shown}: ${String(error)}`)
      const { issues, message } = error as SatrailError
      assert.match(issues[0]?.path ?? "", field, `${shown}: ${message}`)
      assert.include(message, issues[0]?.path ?? "", shown)
    }
  }
  return calls
}

describe("arguments from plain JavaScript", () => {
  it("arguments: each wrong, unknown or missing argument is refused with the name of its field", async () => {
    const pay = await satrail.test({ logLevel: "error" })
    try {
      assert.isAbove(await check(pay), 400)
    } finally {
      await pay.close()
    }
  })

  it("arguments: a refusal says which value would be right", async () => {
    const pay = await satrail.test({ logLevel: "error" })
    try {
      const shop = await pay.companies.create({ name: "Shop" })
      const { invoices, checkouts, offers, onChainAddresses, webhooks, companies, withdrawals, clock, on } =
        pay
      const confirmWith = (given: object) =>
        withdrawals.confirm({ company: shop, amount: 1, destination: "ann@example.com", ...given })
      const issueWith = (given: object) =>
        pay.apiKeys.create({ company: shop, name: "payroll", scopes: ["send"], ...given })
      const refusals: ReadonlyArray<readonly [call: () => unknown, says: RegExp]> = [
        [() => companies.create({ name: "Gold", plan: "gold" as never }), /plan must be "free" or "paid"/],
        [
          () => companies.charge(shop, { internal: { baseMsat: -5, partsPerMillion: 0 } }),
          /internal\.baseMsat .*between 0 and 1000000000/
        ],
        [() => companies.limit(shop, { day: "much" as never }), /day must be a number of sats/],
        [() => companies.get(undefined as never), /company is required/],
        [
          () => invoices.create({ company: shop, metadata: { order: 1042 } as never }),
          /metadata\.order must be text/
        ],
        [() => invoices.list(shop, { until: "2026-01-31" as never }), /until must be a Date/],
        [() => invoices.list("Shop"), /No such company/],
        [() => invoices.create({ company: shop, signal: 1 as never }), /signal must be an AbortSignal/],
        [() => withdrawals.settled(undefined as never, "1"), /company is required/],
        [
          () => invoices.create({ company: shop, amount: undefined }),
          /amount must not be undefined; leave it out to let the payer decide/
        ],
        [
          () => checkouts.create({ company: shop, amount: undefined }),
          /amount must not be undefined; leave it out to let the payer decide/
        ],
        [
          () => offers.create({ company: shop, amount: undefined }),
          /amount must not be undefined; leave it out to let the payer decide/
        ],
        [
          () => confirmWith({ idempotencyKey: undefined }),
          /idempotencyKey must not be undefined; leave it out to repeat the effect with each call/
        ],
        [() => confirmWith({ idempotencyKey: null as never }), /idempotencyKey must be/],
        [
          () => confirmWith({ maxFee: undefined }),
          /maxFee must not be undefined; leave it out to accept any fee/
        ],
        [
          () => confirmWith({ apiKey: undefined }),
          /apiKey must not be undefined; leave it out to apply no limits of a key/
        ],
        [
          () => issueWith({ limits: undefined }),
          /limits must not be undefined; leave it out to set no limits/
        ],
        [
          () => issueWith({ limits: { day: undefined } }),
          /limits\.day must not be undefined; leave it out to set no such limit/
        ],
        [
          () => issueWith({ allowedFrom: undefined }),
          /allowedFrom must not be undefined; leave it out to allow any address/
        ],
        [
          () => issueWith({ expiresAt: undefined }),
          /expiresAt must not be undefined; leave it out to let the key work until/
        ],
        [
          // @ts-expect-error -- with exactOptionalPropertyTypes, the compiler refuses it too
          () => checkouts.create({ company: shop, idempotencyKey: undefined }),
          /idempotencyKey must not be undefined/
        ],
        [() => checkouts.create({ company: shop, options: [undefined as never] }), /options\.0 is required/],
        [
          () => onChainAddresses.create({ company: shop, addressType: "nested" as never }),
          /addressType must be .*"nested_segwit"/
        ],
        [
          () => webhooks.create({ company: shop, url: "https://shop.example/", types: ["my_type"] }),
          /^unknown event type "my_type".* deposit\.on_chain\.pending,/
        ],
        [
          () => invoices.create({ company: shop, metadata: { my_key: 1 } as never }),
          /metadata\.my_key must be text/
        ],
        [
          () => checkouts.create({ company: shop, returnUrl: "http://shop.example/a_b" }),
          /^returnUrl must be/
        ],
        [() => clock.advance("soon" as never), /span must be milliseconds/],
        [
          () => on("deposit.paid" as never, wrong),
          /there is no event "deposit\.paid": .*deposit\.settled.*"withdrawal\.pending_approval"/
        ],
        [() => on(undefined as never, wrong), /there is no event undefined/],
        [() => on([], wrong), /type is required/],
        [() => on("deposit.settled", undefined as never), /handler must be a function/]
      ]
      for (const [call, says] of refusals) {
        const error = await refusalOf(async () => call())
        assert.isTrue(error instanceof SatrailError, String(error))
        assert.match((error as SatrailError).message, says)
      }
      const { fees } = await companies.get(shop)
      assert.strictEqual(fees, null)
    } finally {
      await pay.close()
    }
  })
})
