import { assert, it, vi } from "@effect/vitest"
import { curve } from "@satrail/bitcoin/Curve"
import * as Nip44 from "@satrail/bitcoin/Nip44"
import * as Nostr from "@satrail/bitcoin/Nostr"
import * as Preimage from "@satrail/bitcoin/Preimage"
import * as WalletConnect from "@satrail/bitcoin/WalletConnect"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import { Arbitrary, Context, Deferred, Effect, Fiber, Option, Redacted, Schema } from "effect"
import { TestClock } from "effect/testing"
import type { Scope } from "@satrail/core/accounts/ApiKey"
import { ApiKeys } from "@satrail/core/accounts/ApiKeys"
import { Stops } from "@satrail/core/accounts/Stops"
import * as Metadata from "@satrail/core/base/Metadata"
import type { Company } from "@satrail/core/accounts/Company"
import { Place, WalletConnections } from "../../../src/wallet-connect/core/WalletConnections.ts"
import { payWaitMillis } from "../../../src/wallet-connect/core/WalletPayments.ts"
import * as WalletMethods from "../../../src/wallet-connect/core/WalletMethods.ts"
import * as WalletRequests from "../../../src/wallet-connect/core/WalletRequests.ts"
import { Conflict, StoreUnavailable } from "@satrail/core/ledger/Journal"
import { NounReads } from "@satrail/core/ledger/NounReads"
import * as Page from "@satrail/core/ledger/Page"
import { Invoices } from "@satrail/core/receiving/Invoices"
import { SendingReads } from "@satrail/core/sending/SendingReads"
import { Withdrawals } from "@satrail/core/sending/Withdrawals"
import {
  asked,
  beginsAtMillis,
  company,
  companyWith,
  everywhere,
  got,
  has,
  invoice,
  inWorld,
  made,
  outside,
  poll,
  type Ports,
  said,
  scenario,
  steps
} from "../../../../core/test/World.ts"

const wallet = Redacted.make("21".repeat(32))
const walletKey = Nostr.publicKeyOf(wallet)
const relay = "wss://relay.example"
const beginsAtSeconds = beginsAtMillis / 1000

const change = (ports: Context.Context<Ports>) =>
  Context.add(ports, Place, { relays: [relay], secretKey: wallet })
const isWallet = { change } as const

/** Connects an app with its own key. */
const connect = Effect.fnUntraced(function* ({ id: companyId }: Company, scopes: ReadonlyArray<Scope>) {
  const { apiKey } = yield* made(
    (yield* ApiKeys).issue({ companyId, name: "app", scopes, expiresAtMillis: null })
  )
  const { text } = yield* made((yield* WalletConnections).create(apiKey.id))
  return { apiKey, secretKey: Redacted.make(new URL(Redacted.value(text)).searchParams.get("secret") ?? "") }
})

/** Answers requests from one relay. */
const requests = Effect.map(WalletRequests.make(wallet), ({ answer }) => ({
  answer: (event: Nostr.Event) => answer(relay, event)
}))

const sealing = (from: Redacted.Redacted, atSeconds = beginsAtSeconds) => ({
  from,
  to: walletKey,
  atSeconds,
  nonce: new Uint8Array(32).fill(3)
})
const request = (
  from: Redacted.Redacted,
  content: WalletConnect.Request,
  atSeconds?: number,
  expiresAtSeconds?: number
) => WalletConnect.request(content, sealing(from, atSeconds), expiresAtSeconds) ?? assert.fail("no event")

const read = (answer: Option.Option<Nostr.Event>, secretKey: Redacted.Redacted) =>
  Option.isNone(answer)
    ? assert.fail("no answer")
    : Option.getOrThrow(WalletConnect.open(answer.value, secretKey, WalletConnect.Response))
const codeOf = (answer: Option.Option<Nostr.Event>, secretKey: Redacted.Redacted) =>
  read(answer, secretKey).error?.code ?? "ok"

const codeOfResponse = ({ error }: WalletConnect.Response) => error?.code ?? "ok"

for (const error of [
  new StoreUnavailable({ operation: "commit", cause: "away" }),
  new Conflict({ change: "WithdrawalRequested", id: "w" })
]) {
  scenario(
    `wallet connect: a payment that may have been made is not reported as failed (${error._tag})`,
    { ...isWallet },
    function* () {
      const { secretKey } = yield* connect(yield* companyWith(5000), ["send"])
      const { answer } = yield* Effect.provideService(requests, Withdrawals, {
        ...(yield* Withdrawals),
        confirm: () => Effect.fail(error)
      })
      const params = { invoice: (yield* outside({ sats: 1000 })).destination }
      const event = request(secretKey, { method: "pay_invoice", params })
      assert.strictEqual(codeOf(yield* answer(event), secretKey), "INTERNAL")
    }
  )
}

scenario(
  "wallet connect: a payment that failed for good is reported as failed, with the reason",
  { ...isWallet },
  function* () {
    const { secretKey } = yield* connect(yield* companyWith(5000), ["send"])
    const { answer } = yield* requests
    const params = { invoice: (yield* outside({ sats: 1000, behaviour: "fail" })).destination }
    const event = request(secretKey, { method: "pay_invoice", params })
    const asking = yield* Effect.forkChild(answer(event), { startImmediately: true })
    yield* steps(3)
    const { error } = read(yield* Fiber.join(asking), secretKey)
    assert.strictEqual(error?.code, "PAYMENT_FAILED")
    assert.match(error?.message ?? "", /^Nothing was paid: /)
  }
)

scenario(
  "wallet connect: a pending payment is not reported as failed, and repeating the event later returns the payment's result",
  { ...isWallet },
  function* () {
    const payer = yield* companyWith(5000)
    const { secretKey } = yield* connect(payer, ["send"])
    const { answer } = yield* requests
    const payee = yield* outside({ sats: 1000 })
    const event = request(secretKey, { method: "pay_invoice", params: { invoice: payee.destination } })
    const asking = yield* Effect.forkChild(answer(event), { startImmediately: true })
    yield* TestClock.adjust(payWaitMillis)
    const { error } = read(yield* Fiber.join(asking), secretKey)
    assert.strictEqual(error?.code, "OTHER")
    assert.include(error?.message, "pending")
    assert.deepStrictEqual(yield* got(payee.paymentHash), { times: 0, sats: 0 })
    yield* steps(2)
    const again = read(yield* answer(event), secretKey)
    assert.isTrue(again.error === null, JSON.stringify(again))
    assert.deepStrictEqual(yield* got(payee.paymentHash), { times: 1, sats: 1000 })
    // A new request for the same invoice would be a second payment, so it is refused.
    const other = request(
      secretKey,
      { method: "pay_invoice", params: { invoice: payee.destination } },
      beginsAtSeconds + 1
    )
    assert.strictEqual(codeOf(yield* answer(other), secretKey), "OTHER")
    assert.strictEqual((yield* has(payer)).held, 0)
  }
)

scenario(
  "wallet connect: an invoice without an amount is paid with the amount in the request, in msat",
  { ...isWallet },
  function* () {
    const { secretKey } = yield* connect(yield* companyWith(5000), ["send"])
    const { answer } = yield* requests
    const payee = yield* outside()
    const params = { invoice: payee.destination, amount: 1_000_000 }
    const event = request(secretKey, { method: "pay_invoice", params })
    const paying = yield* Effect.forkChild(answer(event), { startImmediately: true })
    yield* steps(2)
    assert.strictEqual(codeOf(yield* Fiber.join(paying), secretKey), "ok")
    assert.deepStrictEqual(yield* got(payee.paymentHash), { times: 1, sats: 1000 })
  }
)

scenario(
  "wallet connect: of two requests to pay an invoice, the refused one does not report that nothing was paid",
  { ...isWallet },
  function* () {
    const payer = yield* companyWith(5000)
    const { secretKey } = yield* connect(payer, ["send"])
    const { answer } = yield* requests
    const payee = yield* outside({ sats: 1000 })
    const events = [0, 1].map((n) =>
      request(
        secretKey,
        { method: "pay_invoice", params: { invoice: payee.destination } },
        beginsAtSeconds + n
      )
    )
    const asking = yield* Effect.forEach(events, (event) =>
      Effect.forkChild(answer(event), { startImmediately: true })
    )
    yield* steps(3)
    const answers = (yield* Effect.forEach(asking, Fiber.join)).map((answer) => read(answer, secretKey))
    assert.deepStrictEqual(
      answers.map(({ error }) => (error === null ? "paid" : `${error?.code}: ${error?.message}`)).toSorted(),
      ["OTHER: Another payment exists for this invoice. Look it up.", "paid"]
    )
    assert.deepStrictEqual(yield* got(payee.paymentHash), { times: 1, sats: 1000 })
  }
)

for (const [title, change, answers] of [
  [
    "that cannot be read after it was confirmed is reported as pending",
    () => Effect.fail(new StoreUnavailable({ operation: "withdrawal", cause: "away" })),
    ["INTERNAL", "The payment is pending, not failed"]
  ],
  [
    "that settled without a preimage is reported neither as paid with one nor as failed",
    Effect.map((found) => Option.map(found, (row) => ({ ...row, preimage: null }))),
    ["OTHER", "The payment settled without a preimage"]
  ]
] satisfies ReadonlyArray<
  readonly [
    string,
    (
      read: ReturnType<SendingReads["Service"]["withdrawal"]>
    ) => ReturnType<SendingReads["Service"]["withdrawal"]>,
    ReadonlyArray<string>
  ]
>) {
  scenario(`wallet connect: a payment ${title}`, { ...isWallet }, function* () {
    const { secretKey } = yield* connect(yield* companyWith(5000), ["send"])
    const sending = yield* SendingReads
    const { answer } = yield* Effect.provideService(requests, SendingReads, {
      ...sending,
      withdrawal: (...of) => change(sending.withdrawal(...of))
    })
    const event = request(secretKey, {
      method: "pay_invoice",
      params: { invoice: (yield* outside({ sats: 1000 })).destination }
    })
    const asking = yield* Effect.forkChild(answer(event), { startImmediately: true })
    yield* steps(3)
    const { error } = read(yield* Fiber.join(asking), secretKey)
    assert.deepStrictEqual([error?.code, error?.message?.slice(0, answers[1]?.length)], answers)
  })
}

scenario(
  "wallet connect: a payment that was refused is not made later, when a relay sends the event again",
  { ...isWallet },
  function* () {
    const payer = yield* company()
    const { secretKey } = yield* connect(payer, ["send"])
    const { answer } = yield* requests
    const payee = yield* outside({ sats: 1000 })
    const event = request(secretKey, { method: "pay_invoice", params: { invoice: payee.destination } })
    assert.strictEqual(codeOf(yield* answer(event), secretKey), "INSUFFICIENT_BALANCE")
    yield* (yield* Sandbox.Sandbox).pay({ paymentRequest: (yield* invoice(payer, 5000)).paymentRequest })
    yield* poll
    const again = yield* Effect.forkChild(answer(event), { startImmediately: true })
    yield* steps(2)
    assert.strictEqual(codeOf(yield* Fiber.join(again), secretKey), "INSUFFICIENT_BALANCE")
    assert.deepStrictEqual(yield* got(payee.paymentHash), { times: 0, sats: 0 })
    assert.deepStrictEqual(yield* has(payer), { posted: 5000, held: 0 })
  }
)

scenario(
  "wallet connect: a payment that was refused while sending was paused is not made after a restart, when sending was resumed and a relay sends the event again",
  { ...isWallet },
  function* () {
    const payer = yield* companyWith(5000)
    const { secretKey } = yield* connect(payer, ["send"])
    const stops = yield* Stops
    const payee = yield* outside({ sats: 1000 })
    const event = request(secretKey, { method: "pay_invoice", params: { invoice: payee.destination } })
    yield* everywhere(stops.pause("sending"))
    assert.strictEqual(codeOf(yield* (yield* requests).answer(event), secretKey), "RESTRICTED")
    yield* everywhere(stops.resume("sending"))
    const again = yield* Effect.forkChild((yield* requests).answer(event), { startImmediately: true })
    yield* steps(2)
    assert.strictEqual(codeOf(yield* Fiber.join(again), secretKey), "OTHER")
    assert.deepStrictEqual(yield* got(payee.paymentHash), { times: 0, sats: 0 })
    assert.deepStrictEqual(yield* has(payer), { posted: 5000, held: 0 })
  }
)

scenario(
  "wallet connect: events that are too old, from the future, expired, forged or for another wallet get no response",
  { ...isWallet },
  function* () {
    const { secretKey } = yield* connect(yield* company(), ["read"])
    const { answer } = yield* requests
    const content = { method: "get_balance", params: {} }
    const fresh = request(secretKey, content)
    const most = WalletRequests.maxAgeSeconds
    for (const event of [
      fresh,
      request(secretKey, content, beginsAtSeconds - most),
      request(secretKey, content, beginsAtSeconds, beginsAtSeconds + 1)
    ])
      assert.strictEqual(codeOf(yield* answer(event), secretKey), "ok")
    const stranger = Redacted.make("77".repeat(32))
    const unanswered = {
      old: request(secretKey, content, beginsAtSeconds - most - 1),
      future: request(secretKey, content, beginsAtSeconds + most + 1),
      expired: request(secretKey, content, beginsAtSeconds, beginsAtSeconds),
      "of a stranger": request(stranger, content),
      forged: { ...fresh, sig: "00".repeat(64) },
      "with another author": { ...request(stranger, content), pubkey: fresh.pubkey },
      changed: { ...fresh, content: request(secretKey, { method: "get_info" }).content },
      "of another kind": Nostr.signed({ ...fresh, kind: 1 }, secretKey),
      "for another wallet": Nostr.signed(
        {
          ...fresh,
          tags: [
            ["p", fresh.pubkey],
            ["encryption", "nip44_v2"]
          ]
        },
        secretKey
      ),
      "not encrypted": Nostr.signed({ ...fresh, content: JSON.stringify(content) }, secretKey)
    }
    for (const [name, event] of Object.entries(unanswered))
      assert.isTrue(Option.isNone(yield* answer(event)), name)
  }
)

scenario(
  "wallet connect: the error names an unsupported encryption, method or parameter",
  { ...isWallet },
  function* () {
    const { secretKey } = yield* connect(yield* companyWith(1000), ["admin"])
    const { answer } = yield* requests
    const nip04 = Nostr.signed(
      { ...request(secretKey, { method: "get_info" }), tags: [["p", walletKey]] },
      secretKey
    )
    assert.strictEqual(codeOf(yield* answer(nip04), secretKey), "UNSUPPORTED_ENCRYPTION")
    const address = yield* outside({ type: "lightning_address" })
    for (const [content, code] of [
      [{ method: "pay_keysend", params: {} }, "NOT_IMPLEMENTED"],
      [{ method: "toString" }, "NOT_IMPLEMENTED"],
      [{ method: "pay_invoice", params: { invoice: address.destination, amount: 1000 } }, "OTHER"],
      [{ method: "pay_invoice", params: { invoice: 21 } }, "OTHER"],
      [{ method: "pay_invoice" }, "OTHER"],
      [{ method: "make_invoice", params: { amount: 21_500 } }, "OTHER"],
      [{ method: "make_invoice", params: { amount: -1 } }, "OTHER"],
      [{ method: "lookup_invoice", params: { payment_hash: "21" } }, "OTHER"],
      [{ method: "lookup_invoice", params: { payment_hash: "21".repeat(32) } }, "NOT_FOUND"],
      [{ method: "list_transactions", params: { offset: 1e9 } }, "OTHER"],
      [{ method: "list_transactions", params: { type: "incoming", limit: 1e6 } }, "ok"]
    ] as const)
      assert.strictEqual(
        codeOf(yield* answer(request(secretKey, content)), secretKey),
        code,
        JSON.stringify(content)
      )
  }
)

/** The fields of a result that these tests read. */
const Result = Schema.Struct({
  invoice: Schema.optionalKey(Schema.String),
  payment_hash: Schema.optionalKey(Schema.String),
  state: Schema.optionalKey(Schema.String),
  preimage: Schema.optionalKey(Schema.String)
})

const asks = Effect.fnUntraced(function* (
  secretKey: Redacted.Redacted,
  method: string,
  params: unknown = {},
  atSeconds?: number
) {
  const { answer } = yield* requests
  return read(yield* answer(request(secretKey, { method, params }, atSeconds)), secretKey)
})
const resultOf = ({ error, result }: WalletConnect.Response) =>
  error ? assert.fail(JSON.stringify(error)) : Schema.decodeUnknownSync(Result)(result)

/** The parameters of each method in NIP-47, with a value that it never takes. */
const parameters: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  pay_invoice: { invoice: 21, amount: "21", metadata: "text" },
  make_invoice: { amount: "21", description: 21, description_hash: "21", expiry: "21", metadata: "text" },
  make_hold_invoice: {
    payment_hash: "21",
    amount: "21",
    description: 21,
    description_hash: "21",
    expiry: "21",
    min_cltv_expiry_delta: 80,
    metadata: "text"
  },
  settle_hold_invoice: { preimage: "21" },
  cancel_hold_invoice: { payment_hash: "21" },
  lookup_invoice: { payment_hash: "21", invoice: "21" },
  list_transactions: { from: "21", until: "21", limit: "21", offset: "21", unpaid: "yes", type: "both" },
  get_balance: {},
  get_budget: {},
  get_info: {}
}

scenario(
  "wallet connect: every method reads every parameter of NIP-47, and refuses others by their name",
  { ...isWallet },
  function* () {
    const { secretKey } = yield* connect(yield* companyWith(1000), ["admin"])
    const { destination: invoice } = yield* outside({ sats: 21 })
    const valid: Readonly<Record<string, object>> = {
      pay_invoice: { invoice },
      make_hold_invoice: { payment_hash: "21".repeat(32) },
      settle_hold_invoice: { preimage: "21".repeat(32) },
      cancel_hold_invoice: { payment_hash: "21".repeat(32) },
      lookup_invoice: { payment_hash: "21".repeat(32) }
    }
    assert.deepStrictEqual(Object.keys(parameters).toSorted(), [...WalletMethods.names].toSorted())
    for (const [method, wrong] of Object.entries(parameters))
      for (const [name, value] of [
        ...Object.entries(wrong),
        ["surprise", 1] as const,
        ["constructor", false] as const
      ]) {
        const { error } = yield* asks(secretKey, method, { ...valid[method], [name]: value })
        assert.include(error?.message ?? "no error", name, `${method} ${name}`)
      }
  }
)

scenario(
  "wallet connect: list_transactions lists unpaid invoices if the app asks for them",
  { ...isWallet },
  function* () {
    const shop = yield* companyWith(1000)
    const { secretKey } = yield* connect(shop, ["admin"])
    const hashes = new Array<string>()
    for (const description of ["paid", "open", "canceled", "expired"]) {
      yield* TestClock.adjust("1 second")
      const asked = { amount: 21_000, description, ...(description === "expired" && { expiry: 60 }) }
      hashes.push(resultOf(yield* asks(secretKey, "make_invoice", asked)).payment_hash ?? "")
      const { rows } = yield* (yield* Invoices).list(shop.id, { limit: 1, before: null })
      for (const { id, paymentRequest } of rows) {
        if (description === "paid") yield* (yield* Sandbox.Sandbox).pay({ paymentRequest })
        if (description === "canceled") yield* (yield* Invoices).cancel(shop.id, id)
      }
      yield* poll
    }
    yield* TestClock.adjust("61 seconds")
    const listed = Effect.fnUntraced(function* (params: object) {
      const { error, result } = yield* asks(secretKey, "list_transactions", params)
      if (error) return assert.fail(JSON.stringify(error))
      const { transactions } = Schema.decodeUnknownSync(
        Schema.Struct({ transactions: Schema.Array(Result) })
      )(result)
      return transactions.map(({ payment_hash, state }) => [hashes.indexOf(payment_hash ?? ""), state])
    })
    const [paid, funding] = [
      [0, "settled"],
      [-1, "settled"]
    ]
    const unpaid = [
      [3, "expired"],
      [2, "failed"],
      [1, "pending"]
    ]
    assert.deepStrictEqual(yield* listed({}), [paid, funding])
    assert.deepStrictEqual(yield* listed({ unpaid: false }), [paid, funding])
    assert.deepStrictEqual(yield* listed({ unpaid: true }), [...unpaid, paid, funding])
    assert.deepStrictEqual(yield* listed({ unpaid: true, type: "incoming", limit: 2, offset: 2 }), [
      [1, "pending"],
      paid
    ])
    assert.deepStrictEqual(yield* listed({ unpaid: true, type: "outgoing" }), [])
  }
)

scenario(
  "wallet connect: metadata is stored with a payment and an invoice, and returned",
  { ...isWallet },
  function* () {
    const { secretKey } = yield* connect(yield* companyWith(1000), ["admin"])
    const metadata = { comment: "thanks", nostr: { kind: 9734 }, sats: 21 }
    const stored = { comment: "thanks", nostr: '{"kind":9734}', sats: "21" }
    const made = yield* asks(secretKey, "make_invoice", { amount: 21_000, metadata })
    assert.deepStrictEqual(Object(made.result).metadata, stored)
    const { destination: invoice } = yield* outside({ sats: 21 })
    const waiting = yield* Effect.forkChild(asks(secretKey, "pay_invoice", { invoice, metadata }), {
      startImmediately: true
    })
    yield* TestClock.adjust(payWaitMillis)
    yield* Fiber.join(waiting)
    yield* steps(2)
    assert.deepStrictEqual(
      Object((yield* asks(secretKey, "lookup_invoice", { invoice })).result).metadata,
      stored
    )
    const { error } = yield* asks(secretKey, "make_invoice", {
      amount: 21_000,
      metadata: { nostr: "x".repeat(501) }
    })
    assert.include(error?.message, "metadata.nostr must have at most 500 characters")
  }
)

scenario(
  "wallet connect: an invoice may be in any pasted form, and another destination is refused",
  { ...isWallet },
  function* () {
    const { secretKey } = yield* connect(yield* companyWith(100_000), ["receive", "read", "send"])
    const forms = (invoice: string) => [
      invoice.toUpperCase(),
      `LIGHTNING:${invoice.toUpperCase()}`,
      ` <lightning://${invoice}?utm_source=mail>\n`,
      `${invoice.slice(0, 90)}\n  ${invoice.slice(90)}`,
      `bitcoin:?lightning=${invoice}#top`,
      `https://shop.example/?lightning=${invoice}`
    ]
    const { invoice = "", payment_hash: hash } = resultOf(
      yield* asks(secretKey, "make_invoice", { amount: 21_000 })
    )
    for (const form of forms(invoice))
      assert.strictEqual(
        resultOf(yield* asks(secretKey, "lookup_invoice", { invoice: form })).payment_hash,
        hash,
        form
      )
    for (const at of forms(invoice).keys()) {
      const { destination } = yield* outside({ sats: 21 })
      const form = forms(destination)[at] ?? assert.fail()
      const waiting = yield* Effect.forkChild(asks(secretKey, "pay_invoice", { invoice: form }), {
        startImmediately: true
      })
      yield* TestClock.adjust(payWaitMillis)
      yield* Fiber.join(waiting)
      yield* steps(2)
      assert.strictEqual(
        Object((yield* asks(secretKey, "lookup_invoice", { invoice: destination })).result).state,
        "settled",
        form
      )
    }
    for (const form of [
      "lightning:alice@example.com",
      `${invoice} ${invoice}`,
      `[pay](lightning:${invoice})`
    ])
      assert.strictEqual(
        (yield* asks(secretKey, "pay_invoice", { invoice: form })).error?.code,
        "OTHER",
        form
      )
  }
)

scenario(
  "wallet connect: lookup_invoice refuses an invoice and a payment hash that differ",
  { ...isWallet },
  function* () {
    const { secretKey } = yield* connect(yield* companyWith(1000), ["admin"])
    const { invoice, payment_hash: hash = "" } = resultOf(
      yield* asks(secretKey, "make_invoice", { amount: 21_000 })
    )
    assert.strictEqual(
      resultOf(yield* asks(secretKey, "lookup_invoice", { invoice, payment_hash: hash.toUpperCase() }))
        .payment_hash,
      hash
    )
    const { error } = yield* asks(secretKey, "lookup_invoice", { invoice, payment_hash: "21".repeat(32) })
    assert.include(error?.message, "another payment hash")
  }
)

scenario(
  "wallet connect: an app can read the preimages of its own invoices, but not those of its company's other invoices",
  { ...isWallet },
  function* () {
    const shop = yield* company()
    const [till, other] = [yield* connect(shop, ["receive", "read"]), yield* connect(shop, ["read"])]
    const { invoice = "", payment_hash: paymentHash } = resultOf(
      yield* asks(till.secretKey, "make_invoice", { amount: 21_000 })
    )
    yield* (yield* Sandbox.Sandbox).pay({ paymentRequest: invoice })
    yield* poll
    const own = resultOf(yield* asks(till.secretKey, "lookup_invoice", { payment_hash: paymentHash }))
    assert.strictEqual(Preimage.hashOf(Preimage.make(own.preimage ?? "")), paymentHash)
    const seen = resultOf(yield* asks(other.secretKey, "lookup_invoice", { payment_hash: paymentHash }))
    assert.deepStrictEqual([seen.state, seen.preimage], ["settled", undefined])
    assert.notInclude(
      JSON.stringify(yield* asks(other.secretKey, "list_transactions")),
      own.preimage ?? "none"
    )
    assert.include(JSON.stringify(yield* asks(till.secretKey, "list_transactions")), own.preimage ?? "none")
  }
)

scenario(
  "wallet connect: an empty text or 0 counts as an omitted parameter, because apps in Go send all of them",
  { ...isWallet },
  function* () {
    const payer = yield* companyWith(5000)
    const { secretKey } = yield* connect(payer, ["receive", "read", "send"])
    const empty = { description: "", description_hash: "", expiry: 0, metadata: null }
    const { invoice = "", payment_hash: hash = "" } = resultOf(
      yield* asks(secretKey, "make_invoice", { amount: 21_000, ...empty })
    )
    assert.strictEqual(
      resultOf(yield* asks(secretKey, "lookup_invoice", { payment_hash: "", invoice })).payment_hash,
      hash
    )
    yield* (yield* Sandbox.Sandbox).pay({ paymentRequest: invoice })
    yield* poll
    const { result } = yield* asks(secretKey, "list_transactions", {
      from: 0,
      until: 0,
      limit: 0,
      offset: 0,
      unpaid: false,
      type: ""
    })
    assert.include(JSON.stringify(result), hash)
    const payee = yield* outside({ sats: 1000 })
    const { answer } = yield* requests
    const event = request(secretKey, {
      method: "pay_invoice",
      params: { invoice: payee.destination, amount: 0 }
    })
    const paying = yield* Effect.forkChild(answer(event), { startImmediately: true })
    yield* steps(2)
    assert.strictEqual(codeOf(yield* Fiber.join(paying), secretKey), "ok")
  }
)

scenario(
  "wallet connect: an app can list payments that are not on the first page, because their metadata is large",
  { ...isWallet },
  function* () {
    const shop = yield* company()
    const { secretKey } = yield* connect(shop, ["read"])
    const { keys, valueCharacters } = Metadata.limits
    const metadata = Object.fromEntries(
      Array.from({ length: keys }, (_, n) => [`key ${n}`, "v".repeat(valueCharacters)])
    )
    const sandbox = yield* Sandbox.Sandbox
    const count = Math.ceil(Page.maxCharacters / (keys * valueCharacters)) + 2
    for (let n = 0; n < count; n++) {
      const one = {
        companyId: shop.id,
        ...(yield* asked(1)),
        description: `n ${n}`,
        expirySeconds: 3600,
        metadata
      }
      yield* sandbox.pay({ paymentRequest: (yield* made((yield* Invoices).create(one))).paymentRequest })
    }
    yield* poll
    const { result } = yield* asks(secretKey, "list_transactions", { offset: count - 1, limit: 20 })
    const { transactions } = Schema.decodeUnknownSync(
      Schema.Struct({ transactions: Schema.Array(Schema.Unknown) })
    )(result)
    assert.lengthOf(transactions, 1)
  }
)

const Listed = Schema.Struct({
  transactions: Schema.Array(
    Schema.Struct({ description: Schema.String, metadata: Schema.Record(Schema.String, Schema.String) })
  )
})

scenario(
  "wallet connect: payments too large for one response are shown without their metadata, and none is left out",
  { ...isWallet },
  function* () {
    const shop = yield* company()
    const { secretKey } = yield* connect(shop, ["read"])
    const { keys, valueCharacters } = Metadata.limits
    const metadataOf = (text: string) =>
      Object.fromEntries(Array.from({ length: keys }, (_, n) => [`key ${n}`, text.repeat(valueCharacters)]))
    const sandbox = yield* Sandbox.Sandbox
    const hashes: Array<string> = []
    for (const metadata of [
      { order: "21" },
      ...Array.from({ length: 3 }, () => metadataOf("v")),
      metadataOf("\u{1f0a1}")
    ]) {
      yield* TestClock.adjust(1000)
      const one = {
        companyId: shop.id,
        ...(yield* asked(1)),
        description: `n ${hashes.length}`,
        expirySeconds: 3600,
        metadata
      }
      const { paymentRequest, paymentHash } = yield* made((yield* Invoices).create(one))
      yield* sandbox.pay({ paymentRequest })
      hashes.push(paymentHash)
      yield* poll
    }
    const listed = Effect.fnUntraced(function* (params: {
      readonly limit?: number
      readonly offset?: number
    }) {
      const { result } = yield* asks(secretKey, "list_transactions", params, beginsAtSeconds + 10)
      const { transactions } = Schema.decodeUnknownSync(Listed)(result)
      return transactions.map(({ description, metadata }) => [description, Object.keys(metadata).length])
    })
    assert.deepStrictEqual(yield* listed({}), [
      ["n 4", 0],
      ["n 3", 0],
      ["n 2", 0],
      ["n 1", 0],
      ["n 0", 1]
    ])
    assert.deepStrictEqual(yield* listed({ offset: 1, limit: 2 }), [
      ["n 3", keys],
      ["n 2", keys]
    ])
    const payment_hash = hashes.at(-1)
    const { result } = yield* asks(secretKey, "lookup_invoice", { payment_hash }, beginsAtSeconds + 10)
    assert.deepInclude(result, { description: "n 4", metadata: {} })
  }
)

scenario(
  "wallet connect: a method whose name is almost as long as a request can be gets an error",
  { ...isWallet },
  function* () {
    const { secretKey } = yield* connect(yield* company(), ["read"])
    const content = { method: "m".repeat(Nip44.maxBytes - 100) }
    const { answer } = yield* requests
    assert.strictEqual(codeOf(yield* answer(request(secretKey, content)), secretKey), "NOT_IMPLEMENTED")
  }
)

scenario(
  "wallet connect: get_budget reports the tighter of the key's daily and monthly limits, fees included",
  { ...isWallet },
  function* () {
    const payer = yield* companyWith(5000)
    const { apiKey, secretKey } = yield* connect(payer, ["send"])
    assert.deepStrictEqual((yield* asks(secretKey, "get_budget")).result, {})
    yield* everywhere((yield* ApiKeys).limit(apiKey.id, { daySats: 2000, monthSats: 3000 }))
    const payee = yield* outside({ sats: 1000 })
    const { answer } = yield* requests
    const paying = yield* Effect.forkChild(
      answer(request(secretKey, { method: "pay_invoice", params: { invoice: payee.destination } })),
      {
        startImmediately: true
      }
    )
    yield* TestClock.adjust(payWaitMillis)
    yield* Fiber.join(paying)
    const { held } = yield* has(payer)
    assert.deepStrictEqual((yield* asks(secretKey, "get_budget", {}, beginsAtSeconds + 1)).result, {
      used_budget: held * 1000,
      total_budget: 2_000_000,
      renewal_period: "daily"
    })
  }
)

scenario(
  "wallet connect: an app can settle or cancel its company's hold invoices by their payment hash",
  { ...isWallet },
  function* () {
    const shop = yield* company()
    const { secretKey } = yield* connect(shop, ["receive", "read"])
    const stranger = yield* connect(yield* company(), ["receive"])
    const [kept, returned] = ["31".repeat(32), "32".repeat(32)].map((preimage) => Preimage.make(preimage))
    if (kept === undefined || returned === undefined) return assert.fail()
    const sandbox = yield* Sandbox.Sandbox
    for (const [preimage, method] of [
      [kept, "settle_hold_invoice"],
      [returned, "cancel_hold_invoice"]
    ] as const) {
      const hash = Preimage.hashOf(preimage)
      const params = method === "settle_hold_invoice" ? { preimage } : { payment_hash: hash }
      const { invoice = "" } = resultOf(
        yield* asks(secretKey, "make_hold_invoice", { amount: 21_000, payment_hash: hash })
      )
      yield* Effect.forkChild(Effect.ignore(sandbox.pay({ paymentRequest: invoice })), {
        startImmediately: true
      })
      yield* steps(1)
      assert.strictEqual(codeOfResponse(yield* asks(stranger.secretKey, method, params)), "NOT_FOUND")
      assert.strictEqual(codeOfResponse(yield* asks(secretKey, method, params)), "ok")
      yield* steps(2)
      const { state } = resultOf(yield* asks(secretKey, "lookup_invoice", { payment_hash: hash }))
      assert.strictEqual(state, method === "settle_hold_invoice" ? "settled" : "failed")
    }
    assert.strictEqual((yield* has(shop)).posted, 21)
  }
)

scenario(
  "wallet connect: an app that exceeds its rate gets a rate limit error",
  { ...isWallet },
  function* () {
    const { secretKey } = yield* connect(yield* company(), ["read"])
    const { answer } = yield* requests
    const event = (n: number) => request(secretKey, { method: "get_balance" }, beginsAtSeconds - n)
    for (let n = 0; n < WalletRequests.perConnection.count; n++)
      assert.strictEqual(codeOf(yield* answer(event(n)), secretKey), "ok")
    assert.strictEqual(
      codeOf(yield* answer(event(WalletRequests.perConnection.count)), secretKey),
      "RATE_LIMITED"
    )
  }
)

scenario(
  "wallet connect: a repeated event gets the same response and does not count toward the app's rate",
  { ...isWallet },
  function* () {
    const { secretKey } = yield* connect(yield* company(), ["read"])
    const { answer } = yield* requests
    const event = (n: number) => request(secretKey, { method: "get_balance" }, beginsAtSeconds - n)
    const first = yield* answer(event(0))
    const together = yield* Effect.replicateEffect(answer(event(1)), WalletRequests.atOnce + 1, {
      concurrency: "unbounded"
    })
    assert.deepStrictEqual(new Set(together.map((one) => codeOf(one, secretKey))), new Set(["ok"]))
    for (let n = 0; n < WalletRequests.perConnection.count; n++) yield* answer(event(n))
    assert.strictEqual(
      codeOf(yield* answer(event(WalletRequests.perConnection.count)), secretKey),
      "RATE_LIMITED"
    )
    assert.deepStrictEqual(yield* answer(event(0)), first)
  }
)

scenario(
  "wallet connect: after a restart, a payment that an app's event made is not reported as refused, although the app exceeds its rate or its key was revoked",
  { ...isWallet },
  function* () {
    const payer = yield* companyWith(5000)
    const { apiKey, secretKey } = yield* connect(payer, ["send"])
    const pay = Effect.fnUntraced(function* (atSeconds = beginsAtSeconds) {
      const { destination } = yield* outside({ sats: 1000 })
      return request(secretKey, { method: "pay_invoice", params: { invoice: destination } }, atSeconds)
    })
    const [event, unpaid] = [yield* pay(), yield* pay(beginsAtSeconds + 1)]
    const asking = yield* Effect.forkChild((yield* requests).answer(event), { startImmediately: true })
    yield* steps(2)
    assert.strictEqual(codeOf(yield* Fiber.join(asking), secretKey), "ok")
    const { answer } = yield* requests
    for (let n = 0; n < WalletRequests.perConnection.count; n++)
      yield* answer(request(secretKey, { method: "get_info" }, beginsAtSeconds - n))
    assert.strictEqual(codeOf(yield* answer(unpaid), secretKey), "RATE_LIMITED")
    assert.strictEqual(codeOf(yield* answer(event), secretKey), "INTERNAL")
    yield* TestClock.adjust("1 minute")
    assert.strictEqual(codeOf(yield* answer(event), secretKey), "ok")
    yield* everywhere((yield* ApiKeys).revoke(apiKey.id))
    const later = yield* requests
    assert.strictEqual(codeOf(yield* later.answer(event), secretKey), "INTERNAL")
    assert.strictEqual(codeOf(yield* later.answer(unpaid), secretKey), "UNAUTHORIZED")
    assert.strictEqual((yield* has(payer)).held, 0)
  }
)

scenario(
  "wallet connect: a slow payment is read ever less often, down to once a second, however many events its company has",
  { ...isWallet, isPending: true },
  function* () {
    const payer = yield* companyWith(5000)
    const { secretKey } = yield* connect(payer, ["send"])
    const sending = yield* SendingReads
    let reads = 0
    const counted: SendingReads["Service"] = {
      ...sending,
      withdrawal: (...of) =>
        Effect.suspend(() => sending.withdrawal(...of)).pipe(Effect.tap(() => Effect.sync(() => reads++)))
    }
    const { answer } = yield* Effect.provideService(requests, SendingReads, counted)
    const event = request(secretKey, {
      method: "pay_invoice",
      params: { invoice: (yield* outside({ sats: 1000 })).destination }
    })
    const asking = yield* Effect.forkChild(answer(event), { startImmediately: true })
    for (let n = 0; n < 100; n++) {
      yield* invoice(payer, 1)
      yield* TestClock.adjust(100)
    }
    assert.isAtMost(reads, 20)
    yield* steps(2)
    yield* TestClock.adjust("1 second")
    assert.strictEqual(codeOf(yield* Fiber.join(asking), secretKey), "ok")
  }
)

/** Counts the signatures that this process verifies. */
const verifications = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => vi.spyOn(curve, "verifySchnorr")),
    (spy) => Effect.sync(() => spy.mockRestore())
  ),
  (spy) => () => spy.mock.calls.length
)

scenario(
  "wallet connect: the signatures of unknown apps' requests are not verified, and only a limited number of unknown apps is looked up at a time for each relay",
  { ...isWallet },
  function* () {
    const nouns = yield* NounReads
    const [looked, mayEnd] = [{ now: 0, most: 0, all: 0 }, yield* Deferred.make<void>()]
    const named: (typeof nouns)["named"] = (noun, by) =>
      Effect.acquireUseRelease(
        Effect.sync(() => {
          looked.all++
          looked.most = Math.max(looked.most, ++looked.now)
        }),
        () => Effect.andThen(Deferred.await(mayEnd), nouns.named(noun, by)),
        () => Effect.sync(() => looked.now--)
      )
    const { answer } = yield* Effect.provideService(WalletRequests.make(wallet), NounReads, {
      ...nouns,
      named
    })
    const verified = yield* verifications
    const strangers = Array.from({ length: WalletRequests.lookups.each + 10 }, (_, n) =>
      request(Redacted.make((n + 1).toString(16).padStart(64, "0")), { method: "get_balance" })
    )
    const relays = [relay, "wss://other.example"]
    const answering = yield* Effect.forkChild(
      Effect.forEach(
        relays,
        (one) => Effect.forEach(strangers, (event) => answer(one, event), { concurrency: "unbounded" }),
        {
          concurrency: "unbounded"
        }
      ),
      { startImmediately: true }
    )
    yield* Deferred.succeed(mayEnd, undefined)
    assert.isTrue((yield* Fiber.join(answering)).flat().every(Option.isNone))
    assert.strictEqual(verified(), 0)
    assert.deepStrictEqual(looked, {
      now: 0,
      most: relays.length * WalletRequests.lookups.each,
      all: relays.length * strangers.length
    })
  }
)

scenario(
  "wallet connect: forged requests of an app are verified only at a limited rate, and do not count toward the app's rate or its requests from other relays",
  { ...isWallet },
  function* () {
    const { secretKey } = yield* connect(yield* company(), ["read"])
    const { answer } = yield* WalletRequests.make(wallet)
    const verified = yield* verifications
    const genuine = request(secretKey, { method: "get_balance" })
    const { count } = WalletRequests.verified
    for (let n = 0; n < count + 10; n++)
      assert.isTrue(Option.isNone(yield* answer(relay, { ...genuine, sig: "00".repeat(64) })))
    assert.strictEqual(verified(), count)
    assert.isTrue(Option.isNone(yield* answer(relay, genuine)), "the relay that sent the forged requests")
    assert.strictEqual(codeOf(yield* answer("wss://other.example", genuine), secretKey), "ok")
    yield* TestClock.adjust(WalletRequests.verified.everyMillis)
    assert.strictEqual(codeOf(yield* answer(relay, genuine), secretKey), "ok")
  }
)

scenario(
  "wallet connect: requests signed with unknown keys, however many, do not prevent responses to a new app",
  { ...isWallet },
  function* () {
    const { secretKey } = yield* connect(yield* company(), ["read"])
    const { answer } = yield* requests
    for (let n = 1; n <= 100; n++) {
      const stranger = Redacted.make(n.toString(16).padStart(64, "0"))
      assert.isTrue(
        Option.isNone(yield* answer(request(stranger, { method: "get_balance" }, beginsAtSeconds)))
      )
    }
    assert.strictEqual(
      codeOf(yield* answer(request(secretKey, { method: "get_balance" }, beginsAtSeconds)), secretKey),
      "ok"
    )
  }
)

scenario(
  "wallet connect: a key can have one app, and a key restricted to certain IP addresses can have none",
  { ...isWallet },
  function* () {
    const { id: companyId } = yield* company()
    const allowedFrom = { for: "sending", ranges: ["203.0.113.0/24"] } as const
    const confined = yield* made(
      (yield* ApiKeys).issue({
        companyId,
        name: "till",
        scopes: ["admin"],
        expiresAtMillis: null,
        allowedFrom
      })
    )
    const connections = yield* WalletConnections
    assert.strictEqual(yield* said(connections.create(confined.apiKey.id)), "Invalid: allowed_from")
    const { apiKey, secretKey } = yield* connect(yield* companyWith(5000), ["send", "read"])
    assert.strictEqual(yield* said(connections.create(apiKey.id)), "Invalid: id")
    assert.strictEqual((yield* connections.get(apiKey.id)).walletKey, walletKey)
    // A key that is later restricted to certain IP addresses can still read, but not pay.
    const { answer } = yield* requests
    const pays = request(secretKey, {
      method: "pay_invoice",
      params: { invoice: (yield* outside({ sats: 10 })).destination }
    })
    yield* everywhere((yield* ApiKeys).allowFrom(apiKey.id, allowedFrom))
    assert.strictEqual(codeOf(yield* answer(pays), secretKey), "RESTRICTED")
    assert.strictEqual(codeOf(yield* answer(request(secretKey, { method: "get_balance" })), secretKey), "ok")
  }
)

scenario("wallet connect: without relays, no connection can be created", function* () {
  const { id: companyId } = yield* company()
  const { apiKey } = yield* made(
    (yield* ApiKeys).issue({ companyId, name: "app", scopes: ["read"], expiresAtMillis: null })
  )
  const connections = yield* WalletConnections
  assert.strictEqual(yield* said(connections.create(apiKey.id)), "Invalid: relays")
  assert.strictEqual(yield* said(connections.get(apiKey.id)), "NotFound")
})

it.effect.prop(
  "wallet connect: any input from an app gets a response or is ignored, moves no money and breaks nothing",
  {
    method: Arbitrary.schema(Schema.String),
    params: Arbitrary.schema(Schema.Json),
    tags: Arbitrary.schema(Schema.Array(Schema.Array(Schema.String)))
  },
  ({ method, params, tags }) =>
    inWorld(
      Effect.gen(function* () {
        const payer = yield* companyWith(1000)
        const { secretKey } = yield* connect(payer, ["admin"])
        const { answer } = yield* requests
        for (const name of [method, "pay_invoice", "make_invoice", "lookup_invoice", "list_transactions"]) {
          const event = request(secretKey, { method: name, params })
          const others = [
            Nostr.signed({ ...event, tags }, secretKey),
            Nostr.signed({ ...event, content: method }, secretKey)
          ]
          for (const one of [event, ...others]) {
            const said = yield* answer(one)
            if (Option.isSome(said)) assert.notStrictEqual(codeOf(said, secretKey), "INTERNAL", name)
          }
        }
        assert.deepStrictEqual(yield* has(payer), { posted: 1000, held: 0 })
      }),
      { change }
    ),
  { arbitrary: { seed: 7, runs: 30 } }
)
