import { assert, describe, it } from "@effect/vitest"
import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import { Sandbox } from "@satrail/sandbox/Sandbox"
import { Effect, Result } from "effect"
import { TestClock } from "effect/testing"
import { hex } from "@scure/base"
import { Companies } from "../src/accounts/Companies.ts"
import type { Company } from "../src/accounts/Company.ts"
import type { Currency } from "../src/base/Amount.ts"
import { Journal } from "../src/ledger/Journal.ts"
import { Tasks } from "../src/ledger/Tasks.ts"
import { Wakes } from "../src/ledger/Wakes.ts"
import { ExchangeRates } from "../src/nodes/ExchangeRates.ts"
import { LightningReceiver } from "../src/nodes/LightningReceiver.ts"
import { LightningSender } from "../src/nodes/LightningSender.ts"
import { Resolver } from "../src/nodes/Resolver.ts"
import * as Fee from "../src/accounts/Fee.ts"
import * as Max from "../src/sending/Max.ts"
import * as Withdrawal from "../src/sending/Withdrawal.ts"
import { Withdrawals } from "../src/sending/Withdrawals.ts"
import { settings } from "./Rows.ts"
import {
  asked,
  beginsAtMillis,
  company,
  companyWith,
  confirm,
  has,
  invoice,
  lightningAddress,
  made,
  now,
  onChainAddress,
  outside,
  poll,
  replace,
  request,
  run,
  said,
  scenario,
  sound,
  step
} from "./World.ts"

interface Amount {
  readonly amount: string | number
  readonly currency?: Currency
}

const ask = Effect.fnUntraced(function* (company: Company, destination: string, amount?: Amount) {
  return { company, destination, asked: amount && (yield* asked(amount.amount, amount.currency)) }
})
const estimate = Effect.fnUntraced(function* (company: Company, destination: string, amount?: Amount) {
  return yield* (yield* Withdrawals).estimate(yield* ask(company, destination, amount))
})
const confirmWith = Effect.fnUntraced(function* (
  company: Company,
  destination: string,
  amount?: Amount,
  key?: string,
  fingerprint?: string
) {
  return yield* (yield* Withdrawals).confirm({
    ...(yield* ask(company, destination, amount)),
    metadata: {},
    ...(key !== undefined && { request: request(key, fingerprint) })
  })
})

/** Asserts that estimating and confirming have the same outcome, and that a refusal holds nothing. */
const both = Effect.fnUntraced(function* (company: Company, destination: string, amount?: Amount) {
  const before = yield* has(company)
  const [first, second] = [
    yield* said(estimate(company, destination, amount)),
    yield* said(confirmWith(company, destination, amount))
  ]
  assert.strictEqual(second, first)
  if (first !== "ok") assert.deepStrictEqual(yield* has(company), before)
  return first
})

const sats = (amount: number): Amount => ({ amount })

/**
 * Every kind of destination, with its text, type and rail, and the fees for 1000 sats under the default policy.
 */
const kinds = Effect.gen(function* () {
  const payee = yield* company()
  const [own, ownHandle, ownAddress] = [
    yield* invoice(payee, 1000),
    yield* lightningAddress(payee),
    yield* onChainAddress(payee)
  ]
  const page = (yield* outside({ type: "lnurl" })).destination
  return [
    {
      text: (yield* outside({ sats: 1000 })).destination,
      type: "lightning_invoice",
      rail: "lightning",
      service: 2,
      network: 10
    },
    {
      text: (yield* outside({ type: "lightning_address" })).destination,
      type: "lightning_address",
      rail: "lightning",
      service: 2,
      network: 10
    },
    { text: page, type: "lnurl", rail: "lightning", service: 2, network: 10 },
    {
      text: (yield* outside({ type: "chain_address" })).destination,
      type: "chain_address",
      rail: "on_chain",
      service: 101,
      network: 500
    },
    { text: own.paymentRequest, type: "lightning_invoice", rail: "lightning", service: 0, network: 0 },
    {
      text: `${ownHandle.handle}@${ownHandle.domain}`,
      type: "lightning_address",
      rail: "lightning",
      service: 0,
      network: 0
    },
    { text: ownAddress.address, type: "chain_address", rail: "on_chain", service: 0, network: 0 }
  ] as const
})

describe("An estimate", () => {
  scenario(
    "estimate: an estimate shows the type and fees of every kind of destination; confirming holds exactly the amount and these fees",
    function* () {
      for (const { text, type, rail, service, network } of yield* kinds) {
        const payer = yield* companyWith(5000)
        const estimated = yield* estimate(payer, text, sats(1000))
        assert.deepStrictEqual([estimated.recipientType, estimated.amount], [type, Msat.fromSats(1000)])
        assert.deepStrictEqual(
          estimated.fee,
          { service: Msat.fromSats(service), network: Msat.fromSats(network) },
          text
        )
        assert.isTrue(estimated.successProbability > 0 && estimated.successProbability <= 1, text)
        if (network === 0 || rail === "on_chain") assert.strictEqual(estimated.successProbability, 1)
        assert.deepStrictEqual(yield* has(payer), { posted: 5000, held: 0 }, "an estimate holds nothing")
        const row = yield* confirm(payer, text, 1000)
        assert.deepStrictEqual(
          [row.recipient, row.recipientType, row.rail, row.amount],
          [estimated.recipient, type, rail, estimated.amount]
        )
        assert.strictEqual(Withdrawal.fee(row), Fee.total(estimated.fee))
        assert.deepStrictEqual(yield* has(payer), { posted: 5000, held: 1000 + service + network }, text)
      }
      yield* sound
    }
  )

  scenario(
    "estimate: the largest amount is estimated and confirmed with its fee, for every kind of destination",
    function* () {
      const invoiceOfAny = (yield* outside({ type: "lightning_invoice" })).destination
      const reusable = (yield* kinds).filter(({ type }) => type !== "lightning_invoice")
      for (const text of [invoiceOfAny, ...reusable.map(({ text }) => text)]) {
        const payer = yield* companyWith(5001)
        const ask = { company: payer, destination: text, asked: Max.everything }
        const withdrawals = yield* Withdrawals
        const { amount, fee } = yield* withdrawals.estimate(ask)
        const withdrawal = yield* made(withdrawals.confirm({ ...ask, metadata: {} }))
        assert.deepStrictEqual([withdrawal.amount, Withdrawal.fee(withdrawal)], [amount, Fee.total(fee)])
        const { posted, held } = yield* has(payer)
        assert.strictEqual(held, Number(amount + Fee.total(fee)) / 1000)
        assert.isTrue(posted - held >= 0 && posted - held < 1.01, `${text} leaves ${posted - held}`)
      }
    }
  )

  scenario("estimate: an estimate of the largest amount is refused as its confirmation is", function* () {
    const withdrawals = yield* Withdrawals
    const onChain = (yield* outside({ type: "chain_address" })).destination
    const of1000 = (yield* outside({ sats: 1000 })).destination
    for (const [balance, destination, keep, refusal] of [
      [0, onChain, 0, "InsufficientBalance"],
      [300, onChain, 0, "DestinationRefused: dust"],
      [5000, of1000, 0, "DestinationRefused: amount_mismatch"],
      [5000, onChain, 5000, "InsufficientBalance"]
    ] as const) {
      const payer = balance === 0 ? yield* company() : yield* companyWith(balance)
      const ask = { company: payer, destination, asked: { keep: Msat.fromSats(keep) } }
      assert.strictEqual(yield* said(withdrawals.estimate(ask)), refusal)
      assert.strictEqual(yield* said(withdrawals.confirm({ ...ask, metadata: {} })), refusal)
    }
  })

  scenario("estimate: the largest amount leaves the amount that the request keeps", function* () {
    const payer = yield* companyWith(5000)
    const { destination } = yield* outside({ type: "lightning_address" })
    const asked = { keep: Msat.fromSats(2000) }
    yield* (yield* Withdrawals).confirm({ company: payer, destination, asked, metadata: {} })
    const { posted, held } = yield* has(payer)
    assert.isTrue(posted - held >= 2000 && posted - held < 2001)
  })

  scenario("estimate: the service fee is higher on the free plan", function* () {
    const [free, paid] = [yield* company("free"), yield* company("paid")]
    const { destination } = yield* outside({ sats: 1000 })
    assert.deepStrictEqual(
      [(yield* estimate(free, destination)).fee.service, (yield* estimate(paid, destination)).fee.service],
      [Msat.fromSats(5), Msat.fromSats(2)]
    )
  })

  scenario("estimate: an estimate needs no funds and sends nothing", function* () {
    const poor = yield* company()
    const { destination, paymentHash } = yield* outside({ sats: 1000 })
    assert.strictEqual(yield* said(estimate(poor, destination)), "ok")
    assert.strictEqual(
      (yield* (yield* LightningSender).lookupPayment(paymentHash ?? PaymentHash.make("")))._tag,
      "notFound"
    )
    assert.strictEqual(yield* said(confirmWith(poor, destination)), "InsufficientBalance")
  })

  scenario(
    "estimate: the probability is 0 without a route, and below 1 over a channel with little liquidity",
    function* () {
      const payer = yield* company()
      assert.strictEqual(
        (yield* estimate(payer, (yield* outside({ sats: 1000, payee: "fern" })).destination))
          .successProbability,
        0
      )
      assert.strictEqual(
        (yield* estimate(
          payer,
          (yield* outside({ type: "lightning_address", payee: "fern" })).destination,
          sats(1000)
        )).successProbability,
        0
      )
      const thin = (yield* estimate(payer, (yield* outside({ sats: 100_000, payee: "elm" })).destination))
        .successProbability
      assert.isTrue(thin > 0.3 && thin < 0.7, String(thin))
    }
  )

  scenario(
    "estimate: while the node is down, an estimate fails, but a withdrawal can be confirmed",
    function* () {
      const payer = yield* companyWith(5000)
      const { destination } = yield* outside({ sats: 1000 })
      yield* (yield* Sandbox).pause("node")
      assert.strictEqual(yield* said(estimate(payer, destination)), "NodeUnavailable")
      assert.strictEqual(yield* said(confirmWith(payer, destination)), "ok") // a worker sends it
    }
  )

  scenario("estimate: estimating and confirming a payout both require the chain's fee rate", function* () {
    const payer = yield* companyWith(5000)
    const { destination } = yield* outside({ type: "chain_address" })
    yield* (yield* Sandbox).pause("chain")
    assert.strictEqual(yield* both(payer, destination, sats(1000)), "ChainUnavailable")
  })
})

describe("An amount", () => {
  const priced = (amount: Msat.Msat) =>
    Effect.map(Sandbox, (sandbox) => sandbox.destination({ type: "lightning_invoice", amount })).pipe(
      Effect.flatten
    )

  scenario("withdrawal: an amount in sats or btc must match the invoice's amount to the sat", function* () {
    const payer = yield* companyWith(10_000_000)
    const verdict = (amount: Amount) =>
      Effect.flatMap(priced(Msat.fromSats(1000)), ({ destination }) => both(payer, destination, amount))
    assert.strictEqual(yield* verdict(sats(999)), "DestinationRefused: amount_mismatch")
    assert.strictEqual(yield* verdict(sats(1001)), "DestinationRefused: amount_mismatch")
    assert.strictEqual(
      yield* verdict({ amount: "0.00001001", currency: "btc" }),
      "DestinationRefused: amount_mismatch"
    )
    assert.strictEqual(yield* verdict({ amount: "0.00001", currency: "btc" }), "ok")
  })

  scenario(
    "withdrawal: for an invoice with a fraction of a sat, both adjacent whole amounts are accepted; the invoice's amount is paid",
    function* () {
      const payer = yield* companyWith(5000)
      for (const [amount, verdict] of [
        [998, "amount_mismatch"],
        [999, "ok"],
        [1000, "ok"],
        [1001, "amount_mismatch"]
      ] as const) {
        const { destination } = yield* priced(Msat.make(999_500n))
        const estimated = yield* Effect.result(estimate(payer, destination, sats(amount)))
        assert.strictEqual(
          Result.isSuccess(estimated) ? "ok" : Reflect.get(estimated.failure, "code"),
          verdict,
          String(amount)
        )
        if (Result.isSuccess(estimated)) assert.strictEqual(estimated.success.amount, 999_500n)
      }
    }
  )

  scenario(
    "withdrawal: a fiat amount must match the invoice's amount within one percent; the invoice's amount is paid",
    function* () {
      const payer = yield* companyWith(10_000_000)
      // 100,000 sats are worth 50 USD at a price of 50,000.
      for (const [usd, verdict] of [
        ["49.50", "ok"],
        ["49.4995", "DestinationRefused: amount_mismatch"],
        ["50.5", "ok"],
        ["50.5005", "DestinationRefused: amount_mismatch"]
      ] as const) {
        const { destination } = yield* priced(Msat.fromSats(100_000))
        assert.strictEqual(
          yield* said(estimate(payer, destination, { amount: usd, currency: "usd" })),
          verdict,
          usd
        )
      }
      const { destination } = yield* priced(Msat.fromSats(100_000))
      const row = yield* made(confirmWith(payer, destination, { amount: "50.5", currency: "usd" }))
      assert.deepStrictEqual([row.amount, row.rate], [Msat.fromSats(100_000), "50000"])
    }
  )

  scenario(
    "withdrawal: a request without an amount uses the amount of the invoice or the URI, and is refused if neither has an amount",
    function* () {
      const payer = yield* companyWith(5000)
      assert.strictEqual(
        (yield* estimate(payer, (yield* priced(Msat.fromSats(700))).destination)).amount,
        Msat.fromSats(700)
      )
      const { destination: address } = yield* outside({ type: "chain_address" })
      assert.strictEqual(
        (yield* estimate(payer, `bitcoin:${address}?amount=0.00000700`)).amount,
        Msat.fromSats(700)
      )
      assert.strictEqual(
        yield* both(payer, `bitcoin:${address}?amount=0.00000700`, sats(701)),
        "DestinationRefused: amount_mismatch"
      )
      for (const { destination } of [
        yield* outside(),
        yield* outside({ type: "lightning_address" }),
        yield* outside({ type: "lnurl" })
      ]) {
        assert.strictEqual(yield* both(payer, destination), "DestinationRefused: amount_required")
      }
      assert.strictEqual(yield* both(payer, address), "DestinationRefused: amount_required")
      assert.strictEqual(yield* both(payer, (yield* outside()).destination, sats(700)), "ok")
    }
  )

  scenario(
    "withdrawal: an amount outside the configured bounds is refused",
    { settings: { ...settings, minAmount: Msat.fromSats(10), maxWithdrawal: Msat.fromSats(1000) } },
    function* () {
      const payer = yield* companyWith(5000)
      const { destination } = yield* outside()
      assert.strictEqual(yield* both(payer, destination, sats(1001)), "Invalid: amount")
      assert.strictEqual(yield* both(payer, destination, sats(9)), "Invalid: amount")
      assert.strictEqual(yield* both(payer, destination, sats(0)), "AmountInvalid: not_positive")
      assert.strictEqual(yield* both(payer, destination, sats(-5)), "AmountInvalid: not_positive")
      assert.strictEqual(yield* both(payer, destination, sats(1000)), "ok")
      assert.strictEqual(
        yield* both(payer, (yield* priced(Msat.make(9_999n))).destination),
        "Invalid: amount"
      )
    }
  )

  const oldPrices = replace(ExchangeRates, (rates) => ({
    rate: (currency) => Effect.map(rates.rate(currency), ({ price }) => ({ price, atMillis: beginsAtMillis }))
  }))

  scenario("withdrawal: a fiat amount requires a current price", { change: oldPrices }, function* () {
    const payer = yield* companyWith(5000)
    yield* TestClock.adjust(60_001)
    assert.strictEqual(
      yield* both(payer, (yield* outside()).destination, { amount: 1, currency: "usd" }),
      "RateUnavailable"
    )
  })
})

describe("Refused destinations", () => {
  const node = hex.decode("e126f68f7eafcc8b74f54d269fe206be715000f94dac067d1c04a8ca3b2db734")
  const foreign = (fields: Partial<Parameters<typeof Bolt11.encode>[0]> = {}) =>
    Result.getOrThrow(
      Bolt11.encode(
        {
          network: "regtest",
          amount: Msat.fromSats(100),
          timestampSeconds: beginsAtMillis / 1000,
          paymentHash: PaymentHash.make("22".repeat(32)),
          paymentSecret: "33".repeat(32),
          description: "tea",
          ...fields
        },
        Bolt11.signWith(node)
      )
    )

  scenario("withdrawal: a destination of another network is refused", function* () {
    const payer = yield* companyWith(5000)
    for (const text of [
      foreign({ network: "mainnet" }),
      "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",
      "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx"
    ]) {
      assert.strictEqual(yield* both(payer, text, sats(100)), "DestinationInvalid: wrong_network", text)
    }
  })

  scenario(
    "withdrawal: an invoice that expires within ten seconds, or whose payee could hold the payment for a long time, is refused",
    function* () {
      const payer = yield* companyWith(5000)
      assert.strictEqual(
        yield* both(payer, foreign({ expirySeconds: 9 })),
        "DestinationRefused: invoice_expired"
      )
      assert.strictEqual(yield* both(payer, foreign({ expirySeconds: 10 })), "ok")
      assert.strictEqual(
        yield* both(payer, foreign({ timestampSeconds: 1_600_000_000 })),
        "DestinationRefused: invoice_expired"
      )
      assert.strictEqual(
        yield* both(
          payer,
          foreign({ minFinalCltvExpiry: 501, paymentHash: PaymentHash.make("44".repeat(32)) })
        ),
        "DestinationRefused: final_cltv_too_long"
      )
    }
  )

  scenario("withdrawal: dust is refused", function* () {
    const payer = yield* companyWith(50_000)
    for (const [kind, dust] of [
      ["p2pkh", 546],
      ["p2sh", 540],
      ["p2wpkh", 294],
      ["p2wsh", 330],
      ["p2tr", 330]
    ] as const) {
      const { destination } = yield* outside({ type: "chain_address", kind })
      assert.strictEqual(
        yield* said(estimate(payer, destination, sats(dust - 1))),
        "DestinationRefused: dust",
        kind
      )
      assert.strictEqual(yield* said(estimate(payer, destination, sats(dust))), "ok", kind)
    }
  })

  scenario("withdrawal: an amount outside the payee's bounds is refused", function* () {
    const payer = yield* companyWith(5000)
    for (const type of ["lightning_address", "lnurl"] as const) {
      const { destination } = yield* outside({ type, sats: 500 })
      assert.strictEqual(
        yield* both(payer, destination, sats(499)),
        "DestinationRefused: amount_out_of_range"
      )
      assert.strictEqual(
        yield* both(payer, destination, sats(501)),
        "DestinationRefused: amount_out_of_range"
      )
      assert.strictEqual(yield* said(estimate(payer, destination, sats(500))), "ok")
    }
  })

  scenario(
    "withdrawal: a withdrawal is refused if its payee does not exist or if the payee's server does not respond",
    function* () {
      const payer = yield* companyWith(5000)
      assert.match(yield* both(payer, "nobody@wallet.example", sats(100)), /^RecipientRefused/)
      assert.strictEqual(
        yield* both(payer, "nobody@pay.example", sats(100)),
        "DestinationRefused: recipient_not_found"
      )
      yield* (yield* Sandbox).pause("web")
      assert.match(yield* both(payer, "settle@wallet.example", sats(100)), /^RecipientUnreachable/)
    }
  )

  scenario("withdrawal: our own paid or expired invoice is refused", function* () {
    const [payer, payee] = [yield* companyWith(5000), yield* company()]
    const [paid, short] = [yield* invoice(payee, 100), yield* invoice(payee, 100, 60)]
    yield* confirm(payer, paid.paymentRequest)
    yield* step
    const before = yield* has(payer)
    assert.strictEqual(
      yield* said(estimate(payer, paid.paymentRequest)),
      "DestinationRefused: invoice_not_payable"
    )
    yield* TestClock.adjust(60_000)
    assert.strictEqual(
      yield* said(confirmWith(payer, short.paymentRequest)),
      "DestinationRefused: invoice_expired"
    )
    assert.deepStrictEqual(yield* has(payer), before)
  })

  scenario(
    "C14: withdrawal: a withdrawal is refused if another withdrawal was created for the same invoice, whatever the outcome of the other one",
    { isPending: true },
    function* () {
      const [one, other] = [yield* companyWith(5000), yield* companyWith(5000)]
      for (const behaviour of ["settle", "fail", "hold"] as const) {
        const { destination } = yield* outside({ sats: 100, behaviour })
        yield* confirm(one, destination)
        yield* step
        assert.strictEqual(yield* both(one, destination), "DestinationRefused: payment_hash_used", behaviour)
        // The error does not reveal another company's withdrawal.
        assert.strictEqual(
          yield* both(other, destination),
          "DestinationRefused: invoice_not_payable",
          behaviour
        )
      }
    }
  )

  scenario(
    "C32: withdrawal: paying an external invoice with the same hash as our own invoice never pays our invoice, which stays payable externally",
    function* () {
      const [payer, victim] = [yield* companyWith(9000), yield* company()]
      const { paymentHash, paymentRequest } = yield* invoice(victim, 4000)
      const row = yield* confirm(payer, foreign({ amount: Msat.fromSats(1), paymentHash }))
      yield* step
      assert.strictEqual((yield* now(row)).failure, "no_route")
      assert.deepStrictEqual(yield* has(victim), { posted: 0, held: 0 })
      // A payment hash can be used by only one withdrawal. The invoice can no longer be paid internally, so it
      // is not canceled at the node.
      assert.strictEqual(yield* both(payer, paymentRequest), "DestinationRefused: payment_hash_used")
      yield* (yield* Sandbox).pay({ paymentRequest })
      yield* poll
      assert.deepStrictEqual(yield* has(victim), { posted: 4000, held: 0 })
    }
  )

  it.effect(
    "C32: withdrawal: an invoice does not count as ours by its hash alone, even if our own node signed it",
    () => {
      const { payee } = Result.getOrThrow(Bolt11.decode(foreign()))
      return run({ change: replace(LightningReceiver, () => ({ nodeId: payee })) }, function* () {
        const [payer, victim] = [yield* companyWith(9000), yield* company()]
        const { paymentHash } = yield* invoice(victim, 4000)
        assert.strictEqual(
          yield* both(payer, foreign({ amount: Msat.fromSats(1), paymentHash })),
          "DestinationRefused: recipient_not_found"
        )
      })
    }
  )
})

describe("Confirming", () => {
  scenario("C12 C27: withdrawal: the balance must cover amount and fee together, to the msat", function* () {
    const payer = yield* companyWith(1012) // 1000, plus 2 for the service and 10 for the network
    const { destination } = yield* outside({ sats: 1000 })
    assert.strictEqual(yield* said(confirmWith(yield* companyWith(1011), destination)), "InsufficientBalance")
    const row = yield* confirm(payer, destination)
    assert.deepStrictEqual(yield* has(payer), { posted: 1012, held: 1012 })
    assert.strictEqual(row.status, "pending")
    assert.strictEqual(
      yield* said(confirmWith(payer, (yield* outside({ sats: 1 })).destination)),
      "InsufficientBalance"
    )
  })

  scenario(
    "C12: withdrawal: of 50 simultaneous withdrawals of the whole balance, one succeeds",
    function* () {
      const payer = yield* companyWith(1012)
      const destinations = yield* Effect.forEach(Array.from({ length: 50 }), () => outside({ sats: 1000 }))
      const verdicts = yield* Effect.forEach(
        destinations,
        ({ destination }) => said(confirmWith(payer, destination)),
        {
          concurrency: "unbounded"
        }
      )
      assert.strictEqual(verdicts.filter((one) => one === "ok").length, 1)
      assert.strictEqual(verdicts.filter((one) => one === "InsufficientBalance").length, 49)
      assert.deepStrictEqual(yield* has(payer), { posted: 1012, held: 1012 })
      yield* sound
    }
  )

  scenario(
    "C23: withdrawal: a withdrawal is created once per idempotency key; the first response is repeated even if the invoice has been paid or has expired, and even during an outage",
    function* () {
      const payer = yield* companyWith(10_000)
      const { destination } = yield* outside({ sats: 1000 })
      const first = yield* made(confirmWith(payer, destination, undefined, "k"))
      const held = yield* has(payer)
      assert.deepStrictEqual(yield* confirmWith(payer, destination, undefined, "k"), {
        _tag: "Replayed",
        answer: first.id
      })
      assert.deepStrictEqual(yield* has(payer), held)
      yield* step
      yield* TestClock.adjust("365 days")
      for (const part of ["node", "chain", "web"] as const) yield* (yield* Sandbox).pause(part)
      assert.deepStrictEqual(yield* confirmWith(payer, destination, undefined, "k"), {
        _tag: "Replayed",
        answer: first.id
      })
      assert.strictEqual(
        yield* said(confirmWith(payer, destination, undefined, "k", "other body")),
        "IdempotencyMismatch"
      )
    }
  )

  scenario(
    "withdrawal: a withdrawal's job is enqueued in the commit that creates the withdrawal, and the process's own worker wakes up",
    function* () {
      const payer = yield* companyWith(5000)
      const wake = yield* (yield* Wakes).listen(Withdrawal.taskKind)
      const row = yield* confirm(payer, (yield* outside({ sats: 100 })).destination)
      yield* wake
      const claimed = yield* (yield* Tasks).claim({
        kind: Withdrawal.taskKind,
        nowMillis: beginsAtMillis,
        leaseMillis: 1,
        limit: 10
      })
      assert.deepStrictEqual(
        claimed.map(({ id }) => id),
        [row.id]
      )
    }
  )

  const failing = replace(Journal, (journal) => ({
    commit: (change) =>
      change._tag === "WithdrawalRequested" ? Effect.die("the store failed") : journal.commit(change)
  }))
  scenario(
    "C22: withdrawal: an interrupted confirmation leaves neither a hold nor a job",
    { change: failing },
    function* () {
      const payer = yield* companyWith(5000)
      yield* Effect.exit(confirm(payer, (yield* outside({ sats: 100 })).destination))
      assert.deepStrictEqual(yield* has(payer), { posted: 5000, held: 0 })
      assert.deepStrictEqual(
        yield* (yield* Tasks).claim({
          kind: Withdrawal.taskKind,
          nowMillis: beginsAtMillis * 2,
          leaseMillis: 1,
          limit: 10
        }),
        []
      )
    }
  )

  const lying = replace(Resolver, (resolver) => ({
    invoice: (offer) => resolver.invoice(offer, Msat.fromSats(7))
  }))
  scenario(
    "C39: withdrawal: an estimate does not use a server's invoice for another amount",
    { change: lying },
    function* () {
      const payer = yield* company()
      assert.match(
        yield* said(estimate(payer, "settle@wallet.example", sats(100))),
        /^RecipientRefused: .*another amount/
      )
    }
  )

  scenario("withdrawal: a payment to another company's own domain is settled internally", function* () {
    const [payer, payee] = [yield* companyWith(5000), yield* company()]
    yield* (yield* Companies).verifyDomain(payee.id, "shop.example")
    yield* lightningAddress(payee, "tea", "shop.example")
    yield* (yield* Sandbox).pause("web")
    assert.strictEqual((yield* estimate(payer, "Tea@Shop.example", sats(100))).fee.network, 0n)
    assert.strictEqual(
      yield* both(payer, "coffee@shop.example", sats(100)),
      "DestinationRefused: recipient_not_found"
    )
  })
})
