import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Preimage from "@satrail/bitcoin/Preimage"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Answer from "@satrail/core/ledger/Answer"
import { Journal } from "@satrail/core/ledger/Journal"
import * as Id from "@satrail/core/base/Id"
import * as SimulatedDns from "@satrail/sandbox/SimulatedDns"
import * as OpenApi from "@satrail/testing/OpenApi"
import * as Random from "@satrail/testing/Random"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { type Answer as Response, bad, operatorToken, seen, start } from "./Service.ts"

// Sends each request that takes an Idempotency-Key again in other forms that mean the same, and with each of its
// fields changed. Set MEANING_SEED=7, for example, to try other forms.

const seed = Number(process.env["MEANING_SEED"] ?? 1)

const service = await start()
afterAll(service.dispose)
const company = await service.company("paid")

type Body = Readonly<Record<string, unknown>>

interface Creation {
  readonly key: string
  /** Replaces the ids in the path. */
  readonly path?: string
  /** A body that sets as many fields as possible. */
  readonly body: Body
  /** Changes after which the body means the same: defaults, null and empty text, letter case, another order. */
  readonly same?: ReadonlyArray<Body>
  /** Changes after which the body means something else. Together they change every field. */
  readonly others: ReadonlyArray<Body>
}

const later = "2100-01-31T12:00:00Z"
const laterElsewhere = "2100-01-31t14:00:00.000000+02:00"
const [preimage, another] = ["0a", "0b"].map((byte) => Preimage.hashOf(Preimage.make(byte.repeat(32))))
const metadata = { order: "1042", "tab\t/": 'é "☕" 😀' }
const amounts = [{ amount: 22 }, { currency: "btc", amount: 0.0001 }]

const creationsOf = async (): Promise<Readonly<Record<string, Creation>>> => {
  await service.fund(company.key, 1_000_000)
  const { data: deposits } = (await service.ask("GET", "/v1/transactions?type=deposit", { key: company.key }))
    .body
  const { data: invoices } = (
    await service.ask("GET", "/v1/bitcoin/deposit/lightning-invoice", { key: company.key })
  ).body
  const [deposit_id, invoice_id] = [deposits[0].id, invoices[0].id]
  const [payer, { id: elsewhere }] = [await service.company("paid"), await service.company()]
  const to = payer.id
  const splits = [{ company_id: to, share: "5%" }]
  await service.fund(payer.key, 100_000)
  const transferred = await service.ask("POST", "/v1/transfers", {
    key: payer.key,
    body: { to: company.id, amount: 50_000, currency: "sats" }
  })
  const received: string = transferred.body.data.id
  const addressed = await service.ask("POST", "/v1/bitcoin/deposit/lightning-address", { key: company.key })
  const { destination } = await service.sandbox((sandbox) =>
    sandbox.destination({ type: "lightning_address" })
  )
  for (const domain of ["shown.example", "other.example"])
    await service.run(
      Effect.flatMap(SimulatedDns.SimulatedDns, ({ set }) =>
        set(`_satrail-verify.${domain}`, [`satrail-verify=${company.id}`])
      )
    )
  const { data: issued } = (
    await service.ask("POST", `/operator/companies/${company.id}/api-keys`, {
      key: operatorToken,
      body: { name: "old", scopes: ["read"] }
    })
  ).body
  const limits = {
    per_withdrawal_sats: 1,
    hour_sats: 2,
    day_sats: 3,
    month_sats: 4,
    day_count: 5,
    approval_above_sats: 6,
    recipient_types: ["lnurl", "lightning_invoice"],
    recipients: ["a@shop.example", "b@shop.example"]
  }
  const key = company.key
  const named = { name: "Ada / 1", role: "viewer" }
  const domains = {
    body: { domain: "shown.example" },
    same: [{ domain: "Shown.EXAMPLE" }],
    others: [{ domain: "other.example" }]
  }
  const hooks = {
    body: {
      url: "https://shop.example/hooks",
      description: "",
      types: ["invoice.settled", "invoice.expired"]
    },
    same: [
      { description: null },
      { types: ["invoice.expired", "invoice.settled"] },
      { signature_header: "" },
      { signature_header: null }
    ],
    others: [
      { url: "https://shop.example/other" },
      { description: "x" },
      { types: ["invoice.settled"] },
      { signature_header: "x-sig" }
    ]
  }
  const confirm = {
    key,
    body: { amount: 1000, currency: "sats", destination, max_fee_sats: 500, metadata },
    same: [{ currency: "SATS" }],
    others: [
      ...amounts,
      { destination: `other${destination}` },
      { max_fee_sats: 500.001 },
      { max_fee_sats: null },
      { metadata: {} },
      { metadata: { ...metadata, order: "1043" } }
    ]
  }
  return {
    "/v1/bitcoin/deposit/lightning-invoice": {
      key,
      body: {
        amount: 2100,
        currency: "sats",
        description: "",
        expiry_seconds: 3600,
        hold: true,
        payment_hash: preimage,
        splits,
        metadata
      },
      same: [
        { description: null },
        { expiry_seconds: null },
        { currency: "Sats" },
        { payment_hash: String(preimage).toUpperCase() },
        { splits: [{ company_id: to.toUpperCase(), share: "5.00%" }] }
      ],
      others: [
        ...amounts,
        { amount: null, currency: null },
        { amount: null, currency: null, min_sats: 5 },
        { amount: null, currency: null, max_sats: 5 },
        { description: "tea" },
        { splits: null },
        { splits: [{ company_id: to, share: "5.01%" }] },
        { expiry_seconds: 3601 },
        { hold: false, payment_hash: null },
        { payment_hash: another },
        { payment_hash: null },
        { metadata: {} }
      ]
    },
    "/v1/bitcoin/deposit/lightning-address": {
      key,
      body: { handle: "shop", domain: "", splits, metadata },
      same: [{ domain: null }, { handle: "Shop" }],
      others: [
        { handle: "shop2" },
        { handle: "" },
        { domain: "shown.example" },
        { splits: null },
        { metadata: {} }
      ]
    },
    "/v1/bitcoin/deposit/on-chain": {
      key,
      body: { address_type: "taproot", metadata },
      same: [{ address_type: null }],
      others: [{ address_type: "segwit" }, { metadata: {} }]
    },
    "/v1/bitcoin/deposit/offer": {
      key,
      body: {
        amount: 2100,
        currency: "sats",
        description: "tea",
        lightning_address_id: addressed.body.data.id,
        metadata
      },
      same: [
        { currency: "SATS" },
        { lightning_address_id: addressed.body.data.id.toUpperCase() },
        { amount: 0.000021, currency: "btc" }
      ],
      others: [
        ...amounts,
        { amount: null, currency: null },
        { description: "coffee" },
        { lightning_address_id: null },
        { metadata: {} }
      ]
    },
    "/v1/transfers": {
      key,
      body: { to, amount: 2100, currency: "sats", description: "", metadata },
      same: [{ description: null }, { currency: "sATs" }, { to: to.toUpperCase() }],
      others: [...amounts, { description: "tea" }, { to: elsewhere }, { metadata: {} }]
    },
    "/v1/transfers/{id}/return": {
      key,
      path: `/v1/transfers/${received}/return`,
      body: { amount: 21, currency: "sats" },
      same: [{ currency: "sATs" }],
      others: amounts
    },
    "/v1/vouchers": {
      key,
      body: { amount: 2100, currency: "sats", description: "", expiry_seconds: null, metadata },
      same: [{ description: null }, { currency: "sATs" }],
      others: [...amounts, { description: "tea" }, { expiry_seconds: 3601 }, { metadata: {} }]
    },
    "/v1/checkouts": {
      key,
      body: {
        amount: 12.5,
        currency: "eur",
        description: "",
        order_id: "1042",
        expiry_seconds: null,
        tolerance_percent: 0,
        return_url: "https://shop.example/thanks",
        cancel_url: null,
        embed_origin: "https://shop.example",
        color: "#1d4ed8",
        locale: "de",
        contact: "help@shop.example",
        options: ["email", "tip"],
        splits,
        metadata
      },
      same: [{ description: null }, { currency: "EUR" }, { options: ["tip", "email"] }],
      others: [
        { amount: 12.51 },
        { splits: null },
        { currency: "usd" },
        { amount: null, currency: null, options: [] },
        { description: "tea" },
        { order_id: "1043" },
        { order_id: null },
        { expiry_seconds: 601 },
        { tolerance_percent: 1 },
        { return_url: "https://shop.example/Thanks" },
        { cancel_url: "https://shop.example/basket" },
        { embed_origin: null },
        { color: "#1d4ed9" },
        { locale: "fr" },
        { contact: null },
        { options: ["email"] },
        { metadata: {} }
      ]
    },
    "/v1/refunds": {
      key,
      body: {
        deposit_id,
        amount: 2100,
        currency: "sats",
        description: "",
        destination: null,
        expiry_seconds: null,
        on_checkout: true,
        metadata
      },
      same: [
        { description: null },
        { on_checkout: null },
        { deposit_id: deposit_id.toUpperCase() },
        { currency: "SATS" }
      ],
      others: [
        ...amounts,
        { amount: null, currency: null },
        { deposit_id: null, invoice_id },
        { deposit_id: null, checkout_id: invoice_id },
        { description: "tea" },
        { destination },
        { expiry_seconds: 3601 },
        { on_checkout: false },
        { metadata: {} }
      ]
    },
    "/v1/bitcoin/withdraw/confirm": confirm,
    "/v1/bitcoin/send/confirm": confirm,
    "/v1/api-keys": {
      key,
      body: {
        name: "a",
        scopes: ["read", "receive"],
        expires_at: later,
        allowed_from: { for: "everything", ranges: ["192.0.2.1", "192.0.2.2"] }
      },
      same: [
        { scopes: ["receive", "read"] },
        { expires_at: laterElsewhere },
        { allowed_from: { for: "everything", ranges: ["192.0.2.2", "192.0.2.1"] } }
      ],
      others: [
        { name: "b" },
        { scopes: ["read"] },
        { expires_at: null },
        { expires_at: "2100-01-31T12:00:00.001Z" },
        { allowed_from: null },
        { allowed_from: { for: "everything", ranges: ["192.0.2.1"] } }
      ]
    },
    "/v1/domains": { key, ...domains },
    "/v1/people": { key, body: named, others: [{ name: "Bob" }, { role: "bookkeeper" }] },
    "/v1/webhook-endpoints": { key, ...hooks },
    "/operator/companies": {
      key: operatorToken,
      body: { name: "a", plan: "free" },
      others: [{ name: "b" }, { plan: "paid" }]
    },
    "/operator/companies/{id}/api-keys": {
      key: operatorToken,
      path: `/operator/companies/${company.id.toUpperCase()}/api-keys`,
      body: { name: "a", scopes: ["read", "receive"], expires_at: later, limits, allowed_from: null },
      same: [
        { scopes: ["receive", "read"] },
        { expires_at: laterElsewhere },
        {
          limits: {
            ...limits,
            recipients: limits.recipients.toReversed(),
            recipient_types: limits.recipient_types.toReversed()
          }
        }
      ],
      others: [
        { name: "b" },
        { scopes: ["read"] },
        { expires_at: null },
        { allowed_from: { for: "sending", ranges: ["192.0.2.1"] } },
        { limits: null },
        { limits: { ...limits, hour_sats: 7 } },
        { limits: { ...limits, recipients: null } },
        { limits: { ...limits, recipient_types: ["lnurl"] } }
      ]
    },
    "/operator/api-keys/{id}/rotate": {
      key: operatorToken,
      path: `/operator/api-keys/${issued.id}/rotate`,
      body: { overlap_seconds: 3600 },
      others: [{ overlap_seconds: 3601 }]
    },
    "/operator/api-keys/{id}/connect": {
      key: operatorToken,
      path: `/operator/api-keys/${issued.id}/connect`,
      body: {},
      others: []
    },
    "/operator/companies/{companyId}/domains": {
      key: operatorToken,
      path: `/operator/companies/${company.id}/domains`,
      ...domains
    },
    "/operator/tokens": {
      key: operatorToken,
      body: { name: "night shift", scopes: ["read", "stop"] },
      same: [{ scopes: ["stop", "read"] }],
      others: [{ name: "day shift" }, { scopes: ["read"] }]
    },
    "/operator/platform-keys": {
      key: operatorToken,
      body: { name: "shops", scopes: ["read", "receive"] },
      same: [{ scopes: ["receive", "read"] }],
      others: [
        { name: "tills" },
        { scopes: ["read"] },
        { limits: { day_sats: 1 } },
        { expires_at: later },
        { allowed_from: { for: "everything", ranges: ["192.0.2.1"] } }
      ]
    },
    "/operator/people": {
      key: operatorToken,
      body: { ...named, company_id: company.id },
      same: [{ company_id: company.id.toUpperCase() }],
      others: [{ name: "Bob" }, { role: "bookkeeper" }, { company_id: (await service.company()).id }]
    },
    "/operator/adjustments": {
      key: operatorToken,
      body: { company_id: company.id, amount_sats: -2100.5, reason: "twice", note: null },
      same: [{ company_id: company.id.toUpperCase() }],
      others: [
        { company_id: (await service.company()).id },
        { amount_sats: 2100.5 },
        { reason: "once" },
        { note: "ticket 1" }
      ]
    },
    "/operator/webhook-endpoints": { key: operatorToken, ...hooks }
  }
}

/** Returns a number in another form of JSON. */
const numeral = (random: Random.Random, value: number): string => {
  if (value === 0) return random.pick(["0.0", "0e5", "0.00E-2"])
  const [whole = "", fraction = ""] = String(value).split(".")
  const zeros = "0".repeat(random.below(4))
  const scale = random.between(0, 5)
  const [sign = "", digits = ""] = [
    whole.startsWith("-") ? "-" : "",
    (whole.replace("-", "") + fraction).replace(/^0+(?=\d)/, "")
  ]
  return random.pick([
    `${whole}.${fraction}${zeros}0`,
    `${whole}${fraction === "" ? "" : `.${fraction}`}${random.pick(["e0", "E0", "e+0", "e-0"])}`,
    `${sign}${digits}${"0".repeat(scale)}${random.pick(["e", "E"])}-${fraction.length + scale}`,
    `${sign}0.${digits}${zeros}e${digits.length - fraction.length}`
  ])
}

const quoted = (random: Random.Random, text: string): string => {
  const unit = (character: string) => {
    if (!random.chance(0.4)) return JSON.stringify(character).slice(1, -1)
    if (character === "/") return "\\/"
    const hex = character.charCodeAt(0).toString(16).padStart(4, "0")
    return `\\u${random.chance(0.5) ? hex : hex.toUpperCase()}`
  }
  // A lone half of a surrogate pair is written as an escape.
  return `"${random.chance(0.5) ? text.split("").map(unit).join("") : JSON.stringify(text).slice(1, -1)}"`
}

/** Returns JSON in another form: white space, order of fields, numbers and escapes. */
const written = (random: Random.Random, value: unknown): string => {
  const blank = () => random.pick(["", "", " ", "\n", "\t\r\n  "])
  const list = (open: string, items: ReadonlyArray<string>, close: string) =>
    blank() +
    open +
    (items.length === 0 ? blank() : items.map((item) => blank() + item + blank()).join(",")) +
    close +
    blank()
  if (typeof value === "number") return numeral(random, value)
  if (typeof value === "string") return quoted(random, value)
  if (Array.isArray(value))
    return list(
      "[",
      value.map((item) => written(random, item)),
      "]"
    )
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  const shuffled = Object.entries(value)
    .map((entry) => [random.below(1 << 30), entry] as const)
    .toSorted(([a], [b]) => a - b)
  return list(
    "{",
    shuffled.map(([, [name, one]]) => `${quoted(random, name)}${blank()}:${blank()}${written(random, one)}`),
    "}"
  )
}

const repliesTo = ({ status, headers, text }: Response) => [status, headers.get("idempotency-replayed"), text]

const documents = await Promise.all(
  ["/openapi.json", "/operator/openapi.json"].map(async (path) => (await service.ask("GET", path)).body)
)
const { operations, resolve } = OpenApi.read(...documents)
const documented = operations.filter(({ parameters }) =>
  parameters.some(({ name }) => name === "Idempotency-Key")
)

/** The fields of an operation's body. */
const fieldsOf = ({ body }: OpenApi.Operation): ReadonlyArray<string> => {
  if (body === undefined) return []
  const schemas = [body.schema, ...OpenApi.alternatives(body.schema)]
    .flatMap(OpenApi.parts)
    .map(resolve)
    .flatMap(OpenApi.parts)
  return schemas.flatMap(({ properties }) => Object.keys(OpenApi.isObject(properties) ? properties : {}))
}

describe("idempotency keys compare what requests mean", () => {
  let creations: Awaited<ReturnType<typeof creationsOf>>
  beforeAll(async () => {
    creations = await creationsOf()
  })

  it("idempotency key: every operation that takes one is tried, with every field of its body", () => {
    assert.deepStrictEqual(documented.map(({ path }) => path).toSorted(), Object.keys(creations).toSorted())
    for (const operation of documented) {
      const { others = [] } = creations[operation.path] ?? {}
      assert.deepStrictEqual(
        new Set(others.flatMap(Object.keys)),
        new Set(fieldsOf(operation)),
        operation.name
      )
    }
  })

  for (const [number, { path: route }] of documented.entries()) {
    const the = () => creations[route] ?? assert.fail(route)
    const sends = (creation: Creation) => (text: string) =>
      service.ask("POST", creation.path ?? route, {
        key: creation.key,
        body: text,
        headers: { "idempotency-key": `meaning-${route}` }
      })

    it(`idempotency key: POST ${route}: the same meaning in any form returns the stored response, and another meaning is refused`, async () => {
      const creation = the()
      const send = sends(creation)
      const random = Random.make(Random.derived(seed, number))
      const first = await send(JSON.stringify(creation.body))
      assert.strictEqual(first.status, 201, first.text)
      for (const change of [{}, {}, {}, {}, ...(creation.same ?? [])]) {
        const text = written(random, { ...creation.body, ...change })
        assert.deepStrictEqual(
          repliesTo(await send(text)),
          [201, "true", first.text],
          `seed ${seed}: ${text}`
        )
      }
      // A field that is null, or empty where that means "not given", may be left out.
      const given = Object.fromEntries(
        Object.entries(creation.body).filter(([, value]) => value !== null && value !== "")
      )
      assert.deepStrictEqual(repliesTo(await send(JSON.stringify(given))), [201, "true", first.text])
      for (const change of creation.others) {
        const answer = await send(written(random, { ...creation.body, ...change }))
        assert.deepStrictEqual(
          seen(answer),
          bad(422, "idempotency_mismatch"),
          `seed ${seed}: ${JSON.stringify(change)} ${answer.text}`
        )
        assert.notMatch(answer.body.message, /new key|another key|other key/i)
      }
    })

    it(`idempotency key: POST ${route}: a response stored by a version that compared bytes is returned for the same bytes`, async () => {
      const { key, path = route, body, others } = the()
      const text = JSON.stringify(body)
      const owner = key === operatorToken ? CompanyId.operator : company.id
      const at = path.replace(company.id.toUpperCase(), company.id).replace("/send/", "/withdraw/")
      const once = {
        owner,
        key: `bytes-${route}`,
        fingerprint: createHash("sha256").update(`POST ${at} ${text}`).digest("hex"),
        answer: '{"status":201,"message":"stored","data":{}}',
        forgetAtMillis: null
      }
      await service.run(
        Effect.flatMap(Journal, (journal) =>
          Effect.flatMap(Id.make, (id) => journal.commit(Answer.kept(id, owner, Date.now(), once)))
        )
      )
      const send = (body: string) =>
        service.ask("POST", path, { key, body, headers: { "idempotency-key": once.key } })
      // A response with a secret is stored sealed, and this one is not.
      const answer = await send(text)
      if (answer.status === 409) assert.deepStrictEqual(seen(answer), bad(409, "answer_not_readable"))
      else assert.deepStrictEqual(repliesTo(answer), [201, "true", once.answer])
      for (const change of others.slice(0, 1))
        assert.deepStrictEqual(
          seen(await send(JSON.stringify({ ...body, ...change }))),
          bad(422, "idempotency_mismatch")
        )
    })
  }
})
