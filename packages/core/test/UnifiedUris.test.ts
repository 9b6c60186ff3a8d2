import { assert, describe, it } from "@effect/vitest"
import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Bolt12 from "@satrail/bitcoin/Bolt12"
import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import { SimulatedDns } from "@satrail/sandbox/SimulatedDns"
import { Context, Effect, Result, Scope } from "effect"
import { TestClock } from "effect/testing"
import type { Company } from "../src/accounts/Company.ts"
import { LightningReceiver } from "../src/nodes/LightningReceiver.ts"
import { OfferSender } from "../src/nodes/OfferSender.ts"
import { Invoices } from "../src/receiving/Invoices.ts"
import { Settlements } from "../src/receiving/Settlements.ts"
import { Withdrawals } from "../src/sending/Withdrawals.ts"
import {
  asked,
  company,
  companyWith,
  confirm,
  has,
  invoice,
  mine,
  onChainAddress,
  outside,
  type Ports,
  replace,
  run,
  said,
  scenario,
  standing,
  start,
  step,
  steps
} from "./World.ts"

// A text with several ways to make one payment is paid by the best one that can be paid (BIP 321): the same rule for a
// `bitcoin:` URI that a person pastes and for one in a domain's DNS (BIP 353).

const name = "settle@wallet.example"
const publish = (record: string) =>
  Effect.flatMap(SimulatedDns, ({ set }) => set("settle.user._bitcoin-payment.wallet.example", [record]))

const chainAddress = Effect.map(outside({ type: "chain_address" }), ({ destination }) => destination)

const bolt11 = (fields: Partial<Parameters<typeof Bolt11.encode>[0]>, key = new Uint8Array(32).fill(7)) =>
  Result.getOrThrow(
    Bolt11.encode(
      {
        network: "regtest",
        timestampSeconds: 1_700_000_000,
        paymentHash: PaymentHash.make("22".repeat(32)),
        paymentSecret: "33".repeat(32),
        description: "tea",
        amount: Msat.fromSats(1000),
        ...fields
      },
      Bolt11.signWith(key)
    )
  )

const offer = (draft: Partial<Bolt12.Draft>) =>
  Result.getOrThrow(
    Bolt12.encode({
      networks: ["regtest"],
      description: "tea",
      issuerId: "02eec7245d6b7d2ccb30380bfbe2a3648cd7a942653f5aa340edcea1f283686619",
      ...draft
    })
  )

/** Estimates a payment of 1000 sats to a URI, pasted and published in the DNS. Returns the methods, or the errors. */
const paidWith = Effect.fnUntraced(function* (payer: Company, uri: string, sats?: number) {
  const { estimate } = yield* Withdrawals
  const ask = { company: payer, asked: sats === undefined ? undefined : yield* asked(sats) }
  const pasted = Effect.map(estimate({ ...ask, destination: uri }), ({ recipientType }) => recipientType)
  yield* publish(uri)
  const named = Effect.map(
    estimate({ ...ask, asked: yield* asked(sats ?? 1000), destination: name }),
    ({ instructed }) => instructed?._tag
  )
  const outcome = (effect: typeof pasted | typeof named) =>
    Effect.flatMap(Effect.result(effect), (made) =>
      made._tag === "Success" ? Effect.succeed(made.success) : said(Effect.fail(made.failure))
    )
  return [yield* outcome(pasted), yield* outcome(named)]
})

const onChain = ["chain_address", "ChainAddress"]

describe("payment methods of one URI", () => {
  for (const [what, lightning] of [
    ["an expired invoice", bolt11({ timestampSeconds: 1_600_000_000 })],
    ["an invoice that is about to expire", bolt11({ expirySeconds: 5 })],
    ["an invoice that could lock the payment for too long", bolt11({ minFinalCltvExpiry: 2016 })],
    ["an invoice of another network", bolt11({ network: "mainnet" })],
    ["an unreadable invoice", "lnbcrt1nonsense"]
  ] as const) {
    scenario(
      `bitcoin URI: with ${what}, the address is paid; without an address, the URI is refused`,
      function* () {
        const payer = yield* companyWith(5000)
        const to = yield* chainAddress
        for (const sats of [undefined, 1000])
          assert.deepStrictEqual(
            yield* paidWith(payer, `bitcoin:${to}?amount=0.00001&lightning=${lightning}`, sats),
            onChain
          )
        const alone = yield* paidWith(payer, `bitcoin:?amount=0.00001&lightning=${lightning}`)
        for (const outcome of alone)
          assert.match(String(outcome), /^(?:Destination|Recipient)(?:Refused|Invalid): /)
        const row = yield* confirm(payer, `bitcoin:${to}?amount=0.00001&lightning=${lightning}`)
        assert.deepStrictEqual([row.recipient, row.rail], [to, "on_chain"])
      }
    )
  }

  for (const [what, draft] of [
    ["that has expired", { absoluteExpirySeconds: 1_600_000_000 }],
    ["of another network", { networks: ["mainnet"] }],
    ["in another currency", { price: { currency: "EUR", amount: 500n } }]
  ] as const) {
    scenario(`bitcoin URI: an offer ${what} is skipped, also next to one that can be paid`, function* () {
      const payer = yield* companyWith(5000)
      const [to, { destination: good }] = [yield* chainAddress, yield* outside({ type: "bolt12_offer" })]
      const { destination: lightning } = yield* outside({ sats: 1000 })
      const bad = offer(draft)
      assert.deepStrictEqual(yield* paidWith(payer, `bitcoin:${to}?amount=0.00001&lno=${bad}`), onChain)
      assert.deepStrictEqual(
        yield* paidWith(payer, `bitcoin:${to}?amount=0.00001&lno=${bad}&lightning=${lightning}`),
        ["lightning_invoice", "LightningInvoice"]
      )
      assert.deepStrictEqual(yield* paidWith(payer, `bitcoin:${to}?amount=0.00001&lno=${bad}&lno=${good}`), [
        "bolt12_offer",
        "Bolt12Offer"
      ])
    })
  }

  scenario(
    "bitcoin URI: of two invoices, or two addresses, the first that can be paid is used",
    function* () {
      const payer = yield* companyWith(5000)
      const [one, two] = [yield* chainAddress, yield* chainAddress]
      const { destination: good } = yield* outside({ sats: 1000 })
      const expired = bolt11({ timestampSeconds: 1_600_000_000 })
      const row = yield* confirm(
        payer,
        `bitcoin:?bc=nonsense&lightning=${expired}&lightning=${good}&bcrt=${one}`
      )
      assert.strictEqual(row.recipient, good)
      assert.strictEqual(
        (yield* confirm(payer, `bitcoin:?bcrt=nonsense&bcrt=${one}&bcrt=${two}`, 1000)).recipient,
        one
      )
    }
  )

  scenario(
    "bitcoin URI: an amount that differs from the invoice's is refused, also if the invoice cannot be paid",
    function* () {
      const payer = yield* companyWith(5000)
      const [to, expired] = [yield* chainAddress, bolt11({ timestampSeconds: 1_600_000_000 })]
      assert.strictEqual(
        yield* said(confirm(payer, `bitcoin:${to}?amount=0.00002&lightning=${expired}`)),
        "DestinationInvalid: amount_mismatch"
      )
      assert.strictEqual(
        yield* said(confirm(payer, `bitcoin:${to}?lightning=${expired}`, 2000)),
        "DestinationRefused: amount_mismatch"
      )
      assert.strictEqual(
        yield* said(confirm(payer, `bitcoin:${to}?lightning=${expired}`)),
        "DestinationRefused: invoice_expired"
      )
    }
  )

  scenario("bitcoin URI: if no method can be paid, the error is that of the preferred one", function* () {
    const payer = yield* companyWith(5000)
    const small = bolt11({ timestampSeconds: 1_600_000_000, amount: Msat.fromSats(200) })
    assert.strictEqual(
      yield* said(confirm(payer, `bitcoin:${yield* chainAddress}?lightning=${small}`, 200)),
      "DestinationRefused: invoice_expired"
    )
  })

  it.effect(
    "bitcoin URI: a node that cannot pay offers uses the other method, and refuses an offer alone",
    () =>
      run({}, function* () {
        const payer = yield* companyWith(5000)
        const [to, { destination: lno }] = [yield* chainAddress, yield* outside({ type: "bolt12_offer" })]
        const ports = Context.omit(OfferSender)(yield* Effect.context<Ports>())
        const other = yield* Effect.updateContext(start(ports), (context: Context.Context<Scope.Scope>) =>
          Context.pick(Scope.Scope)(context)
        )
        const { estimate } = Context.get(other, Withdrawals)
        const ask = { company: payer, asked: yield* asked(1000) }
        assert.strictEqual(
          (yield* estimate({ ...ask, destination: `bitcoin:${to}?lno=${lno}` })).recipientType,
          "chain_address"
        )
        for (const destination of [lno, `bitcoin:?lno=${lno}`])
          assert.strictEqual(
            yield* said(estimate({ ...ask, destination })),
            "DestinationRefused: unsupported"
          )
      })
  )
})

describe("payment methods of one URI, paid once", () => {
  /** Refuses the invoice next to every other method, pasted and in the DNS, now and after the invoice has expired. */
  const staysRefused = Effect.fnUntraced(function* (payer: Company, lightning: string, code: string) {
    const [to, { destination: lno }] = [yield* chainAddress, yield* outside({ type: "bolt12_offer" })]
    const { destination: other } = yield* outside({ sats: 1000 })
    const before = yield* has(payer)
    for (const _ of ["open", "expired"]) {
      for (const uri of [
        `bitcoin:${to}?amount=0.00001&lightning=${lightning}`,
        `bitcoin:${to}?amount=0.00001&lno=${lno}&lightning=${lightning}`,
        `bitcoin:?amount=0.00001&lightning=${other}&lightning=${lightning}`
      ]) {
        assert.deepStrictEqual(yield* paidWith(payer, uri), [code, code])
        assert.deepStrictEqual(
          [yield* said(confirm(payer, uri)), yield* said(confirm(payer, name, 1000))],
          [code, code]
        )
      }
      yield* TestClock.adjust("2 hours")
    }
    assert.deepStrictEqual(yield* has(payer), before)
  })

  scenario(
    "bitcoin URI: an invoice that this company paid stays refused, whatever else the URI contains, also when it has expired",
    function* () {
      const payer = yield* companyWith(50_000)
      const { destination } = yield* outside({ sats: 1000 })
      const row = yield* confirm(payer, destination)
      yield* step
      assert.strictEqual(yield* standing(row), "settled")
      yield* staysRefused(payer, destination, "DestinationRefused: payment_hash_used")
      assert.strictEqual(yield* said(confirm(payer, destination)), "DestinationRefused: payment_hash_used")
    }
  )

  scenario(
    "bitcoin URI: an invoice whose payment is in flight stays refused, whatever else the URI contains",
    function* () {
      const payer = yield* companyWith(50_000)
      const { destination, paymentHash = "" } = yield* outside({ sats: 1000, behaviour: "hold" })
      const row = yield* confirm(payer, destination)
      yield* step
      assert.strictEqual(yield* standing(row), "pending")
      yield* staysRefused(payer, destination, "DestinationRefused: payment_hash_used")
      yield* (yield* Sandbox.Sandbox).release({
        paymentHash: PaymentHash.make(paymentHash),
        outcome: "settle"
      })
      yield* steps(2)
    }
  )

  scenario(
    "bitcoin URI: an invoice that another company paid stays refused, whatever else the URI contains",
    function* () {
      const [payer, other] = [yield* companyWith(50_000), yield* companyWith(5000)]
      const { destination } = yield* outside({ sats: 1000 })
      yield* confirm(other, destination)
      yield* step
      yield* staysRefused(payer, destination, "DestinationRefused: invoice_not_payable")
    }
  )

  scenario(
    "bitcoin URI: an invoice without an amount that this company paid stays refused, next to an offer with one",
    function* () {
      const payer = yield* companyWith(50_000)
      const [open, lno] = [yield* outside({}), yield* outside({ type: "bolt12_offer", sats: 1000 })]
      yield* confirm(payer, open.destination, 1000)
      yield* step
      for (const uri of [
        `bitcoin:?lno=${lno.destination}&lightning=${open.destination}`,
        `bitcoin:${yield* chainAddress}?lightning=${open.destination}`
      ])
        for (const sats of [undefined, 1000])
          assert.match(
            yield* said(confirm(payer, uri, sats)),
            /^DestinationRefused: (?:payment_hash_used|amount_required)$/
          )
      assert.strictEqual(
        yield* said(confirm(payer, `bitcoin:?lno=${lno.destination}&lightning=${open.destination}`)),
        "DestinationRefused: payment_hash_used"
      )
    }
  )

  for (const [what, end] of [
    [
      "was paid from outside",
      (row: { readonly paymentRequest: string }) =>
        Effect.andThen(
          Effect.flatMap(Sandbox.Sandbox, ({ pay }) => pay({ paymentRequest: row.paymentRequest })),
          Effect.flatMap(Settlements, ({ poll }) => poll)
        )
    ],
    [
      "was canceled",
      (row: { readonly companyId: Company["id"]; readonly id: string }) =>
        Effect.flatMap(Invoices, ({ cancel }) => cancel(row.companyId, row.id))
    ]
  ] as const) {
    scenario(
      `bitcoin URI: an invoice of this service that ${what} stays refused, whatever else the URI contains`,
      function* () {
        const [payer, payee] = [yield* companyWith(50_000), yield* company()]
        const row = yield* invoice(payee, 1000)
        yield* end(row)
        yield* staysRefused(payer, row.paymentRequest, "DestinationRefused: invoice_not_payable")
      }
    )
  }

  scenario(
    "bitcoin URI: if the payment of its invoice failed, the address is paid, because nothing was paid before",
    function* () {
      const payer = yield* companyWith(50_000)
      const [to, { destination }] = [yield* chainAddress, yield* outside({ sats: 1000, behaviour: "fail" })]
      const uri = `bitcoin:${to}?amount=0.00001&lightning=${destination}`
      const first = yield* confirm(payer, uri)
      yield* steps(2)
      assert.match(yield* standing(first), /^failed/)
      const second = yield* confirm(payer, uri)
      assert.deepStrictEqual([second.recipient, second.rail], [to, "on_chain"])
      yield* steps(2)
      yield* mine(1)
      yield* steps(2)
      assert.strictEqual(yield* standing(second), "settled")
    }
  )

  scenario(
    "bitcoin URI: a node that cannot cancel our open invoice pays our address next to it",
    {
      change: replace(LightningReceiver, (receiver) => ({ ...receiver, lacks: new Set(["cancel"] as const) }))
    },
    function* () {
      const [payer, payee] = [yield* companyWith(50_000), yield* company()]
      const { paymentRequest } = yield* invoice(payee, 1000)
      const { address } = yield* onChainAddress(payee)
      assert.strictEqual(
        yield* said(confirm(payer, paymentRequest)),
        "DestinationRefused: invoice_not_payable"
      )
      assert.strictEqual(
        (yield* confirm(payer, `bitcoin:${address}?amount=0.00001&lightning=${paymentRequest}`)).recipient,
        address
      )
    }
  )
})
