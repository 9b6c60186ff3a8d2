import { assert, describe } from "@effect/vitest"
import { urlOf } from "@satrail/bitcoin/LightningAddressText"
import * as Lnurl from "@satrail/bitcoin/Lnurl"
import * as Msat from "@satrail/bitcoin/Msat"
import { Sandbox } from "@satrail/sandbox/Sandbox"
import { Context, Effect, Option } from "effect"
import { TestClock } from "effect/testing"
import type { Company } from "../src/accounts/Company.ts"
import { LightningReceiver, NodeUnavailable } from "../src/nodes/LightningReceiver.ts"
import * as LightningAddress from "../src/receiving/LightningAddress.ts"
import { Invoices } from "../src/receiving/Invoices.ts"
import { LightningAddresses } from "../src/receiving/LightningAddresses.ts"
import { Records } from "../src/service/Records.ts"
import { type Hook, Hooks } from "../src/sending/WithdrawalHooks.ts"
import { listening, pause, release, resume } from "./Payments.ts"
import {
  accounts,
  company,
  companyWith,
  confirm,
  everywhere,
  has,
  invoice,
  lightningAddress,
  made,
  now,
  onChainAddress,
  poll,
  replace,
  said,
  scenario,
  standing,
  step,
  steps,
  unheld
} from "./World.ts"

/** Returns the stored status of an invoice. */
const statusOf = Effect.fnUntraced(function* ({ id: companyId }: Company, id: string) {
  return Option.getOrThrow(yield* (yield* Records).invoice(companyId, id)).status
})

describe("Internal payments", () => {
  const lacks = new Set<"cancel">()
  scenario(
    "payment worker: an internal payment fails if the node that is now in use cannot close the invoice, which stays open",
    { change: replace(LightningReceiver, () => ({ lacks })) },
    function* () {
      const [payer, payee] = [yield* companyWith(5000), yield* company()]
      const { id, paymentRequest } = yield* invoice(payee, 1000)
      const row = yield* confirm(payer, paymentRequest)
      lacks.add("cancel")
      yield* step
      assert.strictEqual(yield* standing(row), "failed: invoice_not_payable")
      assert.strictEqual(yield* statusOf(payee, id), "pending")
      assert.deepStrictEqual(yield* has(payer), unheld(5000))
      lacks.clear()
    }
  )

  scenario(
    "C16: payment worker: an internal payment that has claimed its invoice continues at a node that would not start it",
    () => {
      const lacks = new Set<"cancel">()
      return { lacks, change: replace(LightningReceiver, () => ({ lacks })), logsErrors: true }
    },
    function* ({ lacks }) {
      const [payer, payee] = [yield* companyWith(5000), yield* company()]
      const { id, paymentRequest } = yield* invoice(payee, 1000)
      const row = yield* confirm(payer, paymentRequest)
      yield* pause("node")
      yield* step
      assert.strictEqual(yield* statusOf(payee, id), "claimed")
      yield* resume("node")
      lacks.add("cancel")
      yield* steps(2)
      assert.deepStrictEqual([yield* standing(row), yield* has(payee)], ["settled", unheld(1000)])
    }
  )

  scenario(
    "C16: payment worker: an internal payment waits while the node, which knows the invoice, does not confirm that it is closed",
    () => {
      const node = { isAway: true }
      const change = replace(LightningReceiver, ({ cancelInvoice }) => ({
        cancelInvoice: (hash) =>
          node.isAway
            ? Effect.fail(new NodeUnavailable({ operation: "cancelInvoice", cause: "away" }))
            : cancelInvoice(hash)
      }))
      return { node, change, logsErrors: true }
    },
    function* ({ node }) {
      const [payer, payee] = [yield* companyWith(5000), yield* company()]
      const { id, paymentRequest } = yield* invoice(payee, 1000)
      const row = yield* confirm(payer, paymentRequest)
      yield* steps(2)
      assert.deepStrictEqual([yield* standing(row), yield* statusOf(payee, id)], ["pending", "claimed"])
      node.isAway = false
      yield* steps(2)
      assert.deepStrictEqual([yield* standing(row), yield* has(payee)], ["settled", unheld(1000)])
    }
  )

  scenario(
    "C16 C17: payment worker: an internal payment claims the invoice, closes it at the node, and only then posts both legs together",
    listening,
    function* ({ calls }) {
      const [payer, payee] = [yield* companyWith(5000), yield* company()]
      const { id, paymentRequest, paymentHash } = yield* invoice(payee, 1000)
      const row = yield* confirm(payer, paymentRequest)
      calls.length = 0
      yield* step
      assert.deepStrictEqual(calls, ["InvoiceClaimed", "cancel", "InternalTransferred"])
      const settled = yield* now(row)
      assert.deepStrictEqual([settled.status, settled.paymentHash], ["settled", paymentHash])
      assert.deepStrictEqual([yield* has(payer), yield* has(payee)], [unheld(4000), unheld(1000)])
      const paid = Option.getOrThrow(yield* (yield* Records).invoice(payee.id, id))
      assert.deepStrictEqual(
        [paid.status, paid.received, paid.preimage],
        ["settled", Msat.fromSats(1000), settled.preimage]
      )
      assert.deepStrictEqual(yield* accounts, { available: 5000, node: -5000 })
    }
  )

  scenario(
    "C15: payment worker: an internal payment fails if an external payment came first; the invoice is credited once, with the amount received, to the msat",
    function* () {
      const [payer, payee] = [yield* companyWith(5000), yield* company()]
      const { paymentRequest } = yield* invoice(payee, 1000)
      const row = yield* confirm(payer, paymentRequest)
      yield* (yield* Sandbox).pay({ paymentRequest, amount: Msat.fromSats(1010) })
      yield* steps(2)
      yield* poll
      yield* poll
      assert.strictEqual(yield* standing(row), "failed: invoice_not_payable")
      assert.deepStrictEqual([yield* has(payer), yield* has(payee)], [unheld(5000), unheld(1010)])
    }
  )

  for (const outcome of ["settle", "fail"] as const) {
    scenario(
      `C15: payment worker: an internal payment fails if the node holds an external payment, which then ${outcome}s`,
      function* () {
        const [payer, payee] = [yield* companyWith(5000), yield* company()]
        const { id, paymentRequest, paymentHash } = yield* invoice(payee, 1000)
        const row = yield* confirm(payer, paymentRequest)
        yield* (yield* Sandbox).pay({ paymentRequest, hold: true })
        yield* steps(2)
        assert.strictEqual(yield* standing(row), "failed: invoice_not_payable")
        assert.strictEqual(yield* statusOf(payee, id), "pending")
        yield* poll
        assert.deepStrictEqual([yield* has(payer), yield* has(payee)], [unheld(5000), unheld(0)])
        yield* release(paymentHash, outcome)
        yield* poll
        assert.deepStrictEqual(yield* has(payee), { posted: outcome === "settle" ? 1000 : 0, held: 0 })
        // Once the claim on the invoice is released, it can be paid externally again.
        if (outcome === "fail") {
          yield* (yield* Sandbox).pay({ paymentRequest })
          yield* poll
          assert.deepStrictEqual(yield* has(payee), { posted: 1000, held: 0 })
        }
      }
    )
  }

  scenario(
    "payment worker: a withdrawal that is stopped after it claimed an invoice releases the invoice, and another withdrawal pays it",
    () => {
      const stopped = new Set<string>()
      const hook: Hook = {
        mayBegin: () => Effect.undefined,
        maySend: ({ id }) => Effect.succeed(stopped.has(id) ? "never" : "now")
      }
      return { stopped, change: Context.add(Hooks, [hook]), logsErrors: true }
    },
    function* ({ stopped }) {
      const [payer, payee] = [yield* companyWith(5000), yield* company()]
      const { id, paymentRequest } = yield* invoice(payee, 1000)
      const row = yield* confirm(payer, paymentRequest)
      yield* pause("node")
      yield* step
      assert.strictEqual(yield* statusOf(payee, id), "claimed")
      stopped.add(row.id)
      yield* steps(2)
      assert.deepStrictEqual(
        [yield* standing(row), yield* statusOf(payee, id)],
        ["failed: canceled", "pending"]
      )
      yield* resume("node")
      const other = yield* confirm(payer, paymentRequest)
      yield* steps(2)
      assert.deepStrictEqual([yield* standing(other), yield* has(payee)], ["settled", unheld(1000)])
    }
  )

  scenario(
    "C15: payment worker: a withdrawal that may not pay an invoice does not release it while another withdrawal is paying it",
    { logsErrors: true },
    function* () {
      const [payer, payee] = [yield* companyWith(5000), yield* company()]
      const { id, paymentRequest } = yield* invoice(payee, 1000)
      const rows = [yield* confirm(payer, paymentRequest), yield* confirm(payer, paymentRequest)]
      yield* pause("node")
      yield* step
      const standings = yield* Effect.forEach(rows, standing)
      assert.deepStrictEqual(standings.toSorted(), ["failed: invoice_not_payable", "pending"])
      assert.strictEqual(yield* statusOf(payee, id), "claimed")
      yield* resume("node")
      yield* steps(2)
      assert.deepStrictEqual((yield* Effect.forEach(rows, standing)).toSorted(), [
        "failed: invoice_not_payable",
        "settled"
      ])
      assert.deepStrictEqual([yield* has(payer), yield* has(payee)], [unheld(4000), unheld(1000)])
    }
  )

  scenario(
    "payment worker: an internal payment of an invoice without an amount pays the amount that the payer chose",
    function* () {
      const [payer, payee] = [yield* companyWith(5000), yield* company()]
      const open = {
        amount: null,
        minAmount: null,
        maxAmount: null,
        description: "tip",
        expirySeconds: 3600,
        metadata: {}
      }
      const { id, paymentRequest } = yield* made((yield* Invoices).create({ companyId: payee.id, ...open }))
      const row = yield* confirm(payer, paymentRequest, 777)
      yield* steps(2)
      assert.strictEqual(yield* standing(row), "settled")
      assert.deepStrictEqual(yield* has(payee), { posted: 777, held: 0 })
      assert.strictEqual((yield* (yield* Invoices).get(payee.id, id)).received, Msat.fromSats(777))
    }
  )

  scenario(
    "C15: payment worker: of two simultaneous internal payments of one invoice, one succeeds and the other withdrawal fails",
    function* () {
      const [one, other, payee] = [yield* companyWith(5000), yield* companyWith(5000), yield* company()]
      const { paymentRequest } = yield* invoice(payee, 1000)
      const rows = [yield* confirm(one, paymentRequest), yield* confirm(other, paymentRequest)]
      yield* steps(3)
      assert.deepStrictEqual((yield* Effect.forEach(rows, standing)).toSorted(), [
        "failed: invoice_not_payable",
        "settled"
      ])
      assert.deepStrictEqual(yield* has(payee), { posted: 1000, held: 0 })
    }
  )

  scenario(
    "payment worker: a withdrawal keeps its claim on the invoice while the node is down",
    { logsErrors: true },
    function* () {
      const [payer, payee] = [yield* companyWith(5000), yield* company()]
      const { paymentRequest } = yield* invoice(payee, 1000, 120)
      const row = yield* confirm(payer, paymentRequest)
      yield* pause("node")
      yield* steps(12)
      assert.strictEqual(yield* standing(row), "pending")
      yield* resume("node")
      yield* steps(2)
      assert.strictEqual(yield* standing(row), "settled") // the invoice was claimed in time, so it is paid although it has expired since
      assert.deepStrictEqual(yield* has(payee), { posted: 1000, held: 0 })
    }
  )

  scenario(
    "payment worker: a withdrawal fails if the invoice expired before the withdrawal claimed it",
    function* () {
      const [payer, payee] = [yield* companyWith(5000), yield* company()]
      const row = yield* confirm(payer, (yield* invoice(payee, 1000, 60)).paymentRequest)
      yield* TestClock.adjust("60 seconds")
      yield* step
      assert.strictEqual(yield* standing(row), "failed: invoice_expired")
      assert.deepStrictEqual(yield* has(payer), { posted: 5000, held: 0 })
    }
  )

  scenario(
    "payment worker: a payment to our own Lightning or on-chain address needs no node",
    listening,
    function* ({ calls }) {
      const [payer, payee] = [yield* companyWith(5000), yield* company()]
      const handle = yield* lightningAddress(payee, "tea")
      const rows = [
        yield* confirm(payer, "tea@pay.example", 1000),
        yield* confirm(payer, (yield* onChainAddress(payee)).address, 300)
      ]
      yield* steps(2)
      assert.deepStrictEqual(yield* Effect.forEach(rows, standing), ["settled", "settled"])
      assert.deepStrictEqual([yield* has(payer), yield* has(payee)], [unheld(3700), unheld(1300)])
      assert.deepStrictEqual(
        calls.filter((call) => /^[a-z]/.test(call)),
        []
      )
      const used = Option.getOrThrow(
        yield* (yield* Records).named(LightningAddress.noun, { handle: handle.handle, domain: handle.domain })
      )
      assert.isNotNull(used.lastUsedAtMillis)
      const deposits = yield* (yield* Records).transactions(payee.id, { limit: 10, type: "deposit" })
      assert.deepStrictEqual(deposits.map(({ amount, status }) => `${status} ${amount}`).toSorted(), [
        "settled 1000000",
        "settled 300000"
      ])
    }
  )

  scenario(
    "payment worker: the LNURL of our own Lightning address is paid like the address, and its server is not requested",
    function* () {
      const [payer, payee] = [yield* companyWith(5000), yield* company()]
      const own = yield* lightningAddress(payee, "tea")
      // The service may be unable to reach its own public address.
      yield* (yield* Sandbox).pause("web")
      const url = urlOf(own)
      for (const [n, destination] of [
        Lnurl.encode(url),
        Lnurl.encode(url).toUpperCase(),
        url.replace("https:", "lnurlp:")
      ].entries()) {
        const row = yield* confirm(payer, destination, 1000)
        assert.deepStrictEqual([row.recipientType, row.serviceFee, row.networkAllowance], ["lnurl", 0n, 0n])
        yield* steps(2)
        assert.strictEqual(yield* standing(row), "settled")
        assert.deepStrictEqual(yield* has(payee), unheld(1000 * (n + 1)))
      }
      yield* everywhere((yield* LightningAddresses).remove(payee.id, own.id))
      assert.strictEqual(
        yield* said(confirm(payer, Lnurl.encode(url), 1000)),
        "DestinationRefused: recipient_not_found"
      )
    }
  )

  scenario("C31: payment worker: a company that pays itself gains and loses nothing", function* () {
    const self = yield* companyWith(5000)
    const own = yield* lightningAddress(self)
    const rows = [
      yield* confirm(self, (yield* invoice(self, 1000)).paymentRequest),
      yield* confirm(self, `${own.handle}@${own.domain}`, 1000),
      yield* confirm(self, (yield* onChainAddress(self)).address, 1000)
    ]
    yield* steps(3)
    assert.deepStrictEqual(yield* Effect.forEach(rows, standing), ["settled", "settled", "settled"])
    assert.deepStrictEqual(yield* has(self), { posted: 5000, held: 0 })
  })
})
