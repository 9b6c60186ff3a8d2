import { assert, describe, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as Preimage from "@satrail/bitcoin/Preimage"
import { SimulatedDns } from "@satrail/sandbox/SimulatedDns"
import { type Context, Effect, Option, Stream } from "effect"
import { Companies } from "@satrail/core/accounts/Companies"
import type { Company } from "@satrail/core/accounts/Company"
import { LightningReceiver, type Settled } from "@satrail/core/nodes/LightningReceiver"
import * as OfferIssuer from "@satrail/core/nodes/OfferIssuer"
import { OfferSender } from "@satrail/core/nodes/OfferSender"
import * as LightningAddress from "@satrail/core/receiving/LightningAddress"
import { LightningAddresses } from "@satrail/core/receiving/LightningAddresses"
import { Settlements } from "@satrail/core/receiving/Settlements"
import { Offers } from "../../../src/offers/core/Offers.ts"
import { Transactions } from "@satrail/core/reports/Transactions"
import { Refunds } from "../../../src/refunds/core/Refunds.ts"
import { Withdrawals } from "@satrail/core/sending/Withdrawals"
import { Records } from "@satrail/core/service/Records"
import { listening as hearing, pause } from "../../../../core/test/Payments.ts"
import {
  accounts,
  asked,
  company,
  companyWith,
  confirm,
  everywhere,
  has,
  lightningAddress,
  made,
  now,
  outside,
  type Ports,
  replace,
  run,
  said,
  scenario,
  standing,
  step,
  steps,
  unheld
} from "../../../../core/test/World.ts"

const metadata = { shelf: "3" }

/** Returns an offer issued by our node for a company or for one of its Lightning addresses. */
const offerOf = Effect.fnUntraced(function* (payee: Company, lightningAddressId: string | null = null) {
  const ask = { companyId: payee.id, memo: "coffee", amount: null, metadata, lightningAddressId }
  return (yield* made((yield* Offers).create(ask))).offer
})

const deposits = Effect.fnUntraced(function* (payee: Company) {
  const { rows: transactions } = yield* (yield* Transactions).list(payee.id, { limit: 10, type: "deposit" })
  const { deposit } = yield* Records
  return yield* Effect.forEach(transactions, ({ id }) => Effect.map(deposit(payee.id, id), Option.getOrThrow))
})

/** Records each commit and each call to the node, including offer quotes and offer payments. */
const listening = () => {
  const { calls, change } = hearing()
  const note = <A, E>(call: string, effect: Effect.Effect<A, E>) =>
    Effect.suspend(() => {
      calls.push(call)
      return effect
    })
  return {
    calls,
    change: (ports: Context.Context<Ports>) =>
      replace(OfferSender, ({ payOffer, quote }) => ({
        payOffer: (ask) => note("payOffer", payOffer(ask)),
        quote: (ask) => note("quote", quote(ask))
      }))(change(ports))
  }
}

/** The same offer in uppercase, split by `+` and a space as BOLT 12 allows. */
const inPieces = (offer: string) => `${offer.slice(0, 30)}+ ${offer.slice(30)}`.toUpperCase()

/** One company pays another's offer in every form in which an offer can be given. */
const paidInside = function* ({ calls }: ReturnType<typeof listening>) {
  const [payer, payee] = [yield* companyWith(5000), yield* company()]
  const offer = yield* offerOf(payee)
  const name = "₿payee@wallet.example"
  yield* (yield* SimulatedDns).set("payee.user._bitcoin-payment.wallet.example", [`bitcoin:?lno=${offer}`])
  const ways = [offer, ` lightning:${inPieces(offer)}`, `bitcoin:?lno=${offer.toUpperCase()}`, name]
  for (const [n, destination] of ways.entries()) {
    const ask = { company: payer, asked: yield* asked(1000), destination }
    const estimate = yield* (yield* Withdrawals).estimate(ask)
    assert.deepStrictEqual(
      [estimate.successProbability, estimate.fee],
      [1, { service: Msat.zero, network: Msat.zero }]
    )
    const row = yield* confirm(payer, destination, 1000)
    const recipient = destination === name ? name : offer
    assert.strictEqual(estimate.recipientType, destination === name ? "lightning_address" : "bolt12_offer")
    assert.deepStrictEqual(
      [row.recipientType, row.recipient, row.rail],
      [estimate.recipientType, recipient, "lightning"]
    )
    yield* steps(2)
    assert.strictEqual(yield* standing(row), "settled")
    const all = yield* deposits(payee)
    assert.strictEqual(all.length, n + 1)
    assert.deepInclude(all[0], {
      amount: Msat.fromSats(1000),
      status: "settled",
      recipient,
      metadata,
      rail: "lightning"
    })
  }
  assert.deepStrictEqual([yield* has(payer), yield* has(payee)], [unheld(1000), unheld(4000)])
  assert.deepStrictEqual(
    calls.filter((call) => /^[a-z]/.test(call)),
    []
  )
  assert.deepStrictEqual(yield* accounts, { available: 5000, node: -5000 })
}

describe("Our own offers", () => {
  scenario(
    "own offers: a payment is settled internally without calling the node, and the offer's company has one deposit",
    listening,
    paidInside
  )

  scenario(
    "own offers: a payment is settled internally even if the node cannot pay offers",
    () => ({ ...listening(), lacksOffers: true as const }),
    paidInside
  )

  scenario(
    "own offers: if the node cannot pay offers, external offers are not paid",
    { lacksOffers: true },
    function* () {
      const [payer, payee] = [yield* companyWith(5000), yield* company()]
      const [own, { destination: other }] = [yield* offerOf(payee), yield* outside({ type: "bolt12_offer" })]
      const names = yield* SimulatedDns
      yield* names.set("other.user._bitcoin-payment.wallet.example", [`bitcoin:?lno=${other}`])
      for (const destination of [other, `bitcoin:?lno=${other}`]) {
        assert.strictEqual(yield* said(confirm(payer, destination, 1000)), "DestinationRefused: unsupported")
      }
      assert.strictEqual(
        yield* said(confirm(payer, "₿other@wallet.example", 1000)),
        "DestinationRefused: unsupported"
      )
      // If an invoice is given as well, an external offer is skipped, but our own offer is paid.
      const { destination: invoice } = yield* outside({ sats: 1000 })
      const beside = (offer: string) =>
        Effect.map(
          confirm(payer, `bitcoin:?lno=${offer}&lightning=${invoice}`, 1000),
          ({ recipient }) => recipient
        )
      assert.deepStrictEqual([yield* beside(own), yield* beside(other)], [own, invoice])
      yield* steps(2)
      assert.deepStrictEqual(yield* has(payee), { posted: 1000, held: 0 })
    }
  )

  scenario(
    "own offers: a Lightning address's offer is paid like the address, with the address's metadata, even while the node is down",
    function* () {
      const [payer, payee] = [yield* companyWith(5000), yield* company()]
      const { id, handle, domain } = yield* lightningAddress(payee, "tea")
      const offer = yield* offerOf(payee, id)
      yield* pause("node")
      const row = yield* confirm(payer, offer, 1000)
      yield* step
      assert.strictEqual(yield* standing(row), "settled")
      const records = yield* Records
      const used = yield* records.named(LightningAddress.noun, { handle: handle, domain: domain })
      assert.isTrue(used._tag === "Some" && used.value.lastUsedAtMillis !== null)
      assert.deepStrictEqual(
        (yield* deposits(payee)).map((one) => one.metadata),
        [{}]
      )
    }
  )

  scenario(
    "own offers: a deleted Lightning address's offer is refused, and a payment already confirmed fails",
    function* () {
      const [payer, payee] = [yield* companyWith(5000), yield* company()]
      const { id } = yield* lightningAddress(payee, "tea")
      const offer = yield* offerOf(payee, id)
      const row = yield* confirm(payer, offer, 1000)
      yield* everywhere((yield* LightningAddresses).remove(payee.id, id))
      assert.strictEqual(yield* said(confirm(payer, offer, 1000)), "DestinationRefused: recipient_not_found")
      yield* step
      assert.strictEqual(yield* standing(row), "failed: recipient_refused")
      assert.deepStrictEqual([yield* has(payer), yield* has(payee)], [unheld(5000), unheld(0)])
    }
  )

  scenario(
    "own offers: a frozen company can still be paid through its offers, as through its addresses",
    function* () {
      const [payer, payee] = [yield* companyWith(5000), yield* company()]
      const offer = yield* offerOf(payee)
      yield* everywhere((yield* Companies).freeze(payee.id, { reason: "a drill", pending: "wait" }))
      const row = yield* confirm(payer, offer, 1000)
      yield* step
      assert.strictEqual(yield* standing(row), "settled")
      assert.deepStrictEqual(yield* has(payee), { posted: 1000, held: 0 })
    }
  )

  it.effect(
    "own offers: a settlement that the node reports without a valid preimage records no invoice",
    () => {
      const notices = new Array<Settled>()
      const change = replace(LightningReceiver, () => ({ settlements: () => Stream.fromIterable(notices) }))
      return run({ change }, function* () {
        const payee = yield* company()
        const ask = { companyId: payee.id, memo: "coffee", amount: null, metadata, lightningAddressId: null }
        const { id } = yield* made((yield* Offers).create(ask))
        const paymentHash = PaymentHash.make("ab".repeat(32))
        const preimage = Preimage.make("cd".repeat(32))
        const received = Msat.fromSats(9)
        notices.push({ paymentHash, received, preimage, settledAtMillis: 1, cursor: "7", offerId: id })
        yield* (yield* Settlements).listen()
        assert.deepStrictEqual(yield* (yield* Records).invoiceByHash(paymentHash), Option.none())
        assert.deepStrictEqual(yield* accounts, {})
      })
    }
  )

  scenario("C31: own offers: a company that pays its own offer gains and loses nothing", function* () {
    const self = yield* companyWith(5000)
    const row = yield* confirm(self, yield* offerOf(self), 1000)
    yield* steps(2)
    assert.strictEqual(yield* standing(row), "settled")
    assert.deepStrictEqual(yield* has(self), { posted: 5000, held: 0 })
  })

  scenario(
    "own offers: a refund, like a withdrawal, can pay our own offer even if the node cannot pay offers",
    { lacksOffers: true },
    function* () {
      const [payer, payee] = [yield* companyWith(5000), yield* company()]
      const [paid] = yield* deposits(payer)
      const destination = yield* offerOf(payee)
      const ask = {
        company: payer,
        asked: yield* asked(700),
        destination,
        description: "",
        expirySeconds: 3600,
        metadata: {}
      }
      yield* (yield* Refunds).create({ ...ask, depositId: paid?.id ?? assert.fail("no deposit") })
      yield* step
      assert.deepStrictEqual([yield* has(payer), yield* has(payee)], [unheld(4300), unheld(700)])
    }
  )

  scenario(
    "own offers: an offer signed by our node but issued to no company is not settled internally",
    listening,
    function* ({ calls }) {
      const payer = yield* companyWith(5000)
      const issuer = (yield* OfferIssuer.available) ?? assert.fail("the sandbox issues offers")
      const offer = yield* issuer.createOffer({ id: crypto.randomUUID(), description: "", amount: null })
      const row = yield* confirm(payer, offer, 1000)
      yield* steps(2)
      assert.include(calls, "payOffer")
      assert.match(yield* standing(row), /^failed: /)
      assert.deepStrictEqual(yield* has(payer), { posted: 5000, held: 0 })
      assert.isNull((yield* now(row)).preimage)
    }
  )
})
