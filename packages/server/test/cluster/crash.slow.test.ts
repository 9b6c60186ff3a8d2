import { assert, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import { isInTurn } from "@satrail/testing/Turn"
import { Effect } from "effect"
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import * as Customer from "../Customer.ts"
import { type Company, eventually } from "../Service.ts"
import type * as Cluster from "./Cluster.ts"
import { suite } from "./Suite.ts"

/**
 * A payment scenario. `begin` runs before any process may die and returns the rest of the scenario. The rest
 * must return the same result, no matter which process died.
 */
interface Story {
  /**
   * Every store and node call of the scenario, in order. In turn, a process is killed before each call and
   * after the call returns. For a read, it is killed only after the return.
   */
  readonly calls: ReadonlyArray<string>
  readonly begin: (cluster: Cluster.Cluster) => Promise<() => Promise<unknown>>
}

let keys = 0
const key = () => ({ "Idempotency-Key": `crash-${++keys}` })

const funded = async (cluster: Cluster.Cluster, sats: number): Promise<Company> => {
  const company = await cluster.company()
  await Customer.fund(company, sats)
  return company
}

const send = async (company: Company, destination: string, sats: number): Promise<string> =>
  (await Customer.data(201, Customer.confirm(company, destination, sats, key()))).id

/** The company's transactions and its balance. */
const ended = async (company: Company, ...kinds: ReadonlyArray<string>) => {
  const seen = await eventually(
    `the end of ${kinds.join(", ")}`,
    async () => {
      const list: ReadonlyArray<{
        readonly type: string
        readonly status: string
        readonly amount_sats: number
      }> = await Customer.transactions(company)
      return list.map(({ type, status, amount_sats: sats }) => `${type} of ${sats} ${status}`).toSorted()
    },
    (list) => JSON.stringify(list) === JSON.stringify(kinds.toSorted())
  )
  return { seen, balance: await Customer.balance(company) }
}

const mine = (cluster: Cluster.Cluster, blocks: number) => cluster.outside((sandbox) => sandbox.mine(blocks))

const stories: Readonly<Record<string, Story>> = {
  "a withdrawal to a Lightning address": {
    calls: [
      "offer",
      "WithdrawalRequested",
      "claim withdrawal",
      "postpone withdrawal",
      "claim recipient",
      "invoice",
      "WithdrawalDispatched",
      "pay",
      "WithdrawalSettled"
    ],
    begin: async (cluster) => {
      const shop = await funded(cluster, 5000)
      const { destination } = await Customer.outside(shop, "lightning_address")
      return async () => {
        await send(shop, destination, 1000)
        return ended(shop, "deposit of 5000 settled", "withdrawal of 1000 settled")
      }
    }
  },
  "a withdrawal that fails": {
    calls: ["WithdrawalDispatched", "pay", "WithdrawalFailed"],
    begin: async (cluster) => {
      const shop = await funded(cluster, 5000)
      const { destination } = await Customer.outside(shop, "lightning_invoice", {
        amount_sats: 1000,
        behaviour: "fail"
      })
      return async () => {
        await send(shop, destination, 1000)
        return ended(shop, "deposit of 5000 settled", "withdrawal of 1000 failed")
      }
    }
  },
  "a withdrawal whose payment is delayed by the payee": {
    calls: ["pay", "postpone withdrawal", "claim payment", "lookupPayment", "WithdrawalSettled"],
    begin: async (cluster) => {
      const shop = await funded(cluster, 5000)
      const { destination, payment_hash: paymentHash } = await Customer.outside(shop, "lightning_invoice", {
        amount_sats: 1000,
        behaviour: "hold"
      })
      return async () => {
        await send(shop, destination, 1000)
        await eventually(
          "a payment that is held",
          () =>
            cluster.outside((sandbox) =>
              Effect.isSuccess(sandbox.release({ paymentHash, outcome: "settle" }))
            ),
          (released) => released
        )
        return ended(shop, "deposit of 5000 settled", "withdrawal of 1000 settled")
      }
    }
  },
  "a withdrawal to our own invoice": {
    calls: ["InvoiceClaimed", "cancelInvoice", "InternalTransferred"],
    begin: async (cluster) => {
      const [payer, payee] = [await funded(cluster, 5000), await cluster.company()]
      const { payment_request: destination } = await Customer.invoice(payee, 1000)
      return async () => {
        await send(payer, destination, 1000)
        return [
          await ended(payer, "deposit of 5000 settled", "withdrawal of 1000 settled"),
          await ended(payee, "deposit of 1000 settled")
        ]
      }
    }
  },
  "three payouts of two companies in one transaction": {
    calls: [
      "feeRate",
      "WithdrawalRequested",
      "claim payout",
      "build",
      "sign",
      "WithdrawalDispatched",
      "broadcast",
      "postpone payout",
      "transaction",
      "tip",
      "WithdrawalSettled"
    ],
    begin: async (cluster) => {
      const [shop, other] = [await funded(cluster, 50_000), await funded(cluster, 80_000)]
      const destinations = await Promise.all(
        [shop, other, other].map(
          async (company) => (await Customer.outside(company, "chain_address")).destination
        )
      )
      return async () => {
        const ids = await Promise.all(
          [shop, other, other].map((company, n) =>
            send(company, destinations[n] ?? assert.fail("no destination"), 20_000 + n)
          )
        )
        await eventually(
          "payouts in a block",
          async () => {
            await mine(cluster, 1)
            const rows = await Promise.all(
              ids.map((id, n) => Customer.fetchWithdrawal(n === 0 ? shop : other, id))
            )
            return rows.map(({ status }) => status).join(" ")
          },
          (statuses) => statuses === "settled settled settled"
        )
        return [
          await ended(shop, "deposit of 50000 settled", "withdrawal of 20000 settled"),
          await ended(
            other,
            "deposit of 80000 settled",
            "withdrawal of 20001 settled",
            "withdrawal of 20002 settled"
          )
        ]
      }
    }
  },
  "an invoice whose settlement arrives as a notification": {
    calls: ["createInvoice", "InvoiceCreated", "InvoiceSettled"],
    begin: async (cluster) => {
      const shop = await cluster.company()
      return async () => {
        const route = "/v1/bitcoin/deposit/lightning-invoice"
        const { payment_request: paymentRequest } = await Customer.data(
          201,
          shop.post(route, { amount: 1000, currency: "sats" }, key())
        )
        await cluster.outside((sandbox) => sandbox.pay({ paymentRequest }))
        return ended(shop, "deposit of 1000 settled")
      }
    }
  },
  "an invoice whose settlement is found by polling": {
    calls: ["lookupInvoice", "InvoiceSettled"],
    begin: async (cluster) => {
      const shop = await cluster.company()
      const { payment_request: paymentRequest } = await Customer.invoice(shop, 1000)
      return async () => {
        await cluster.outside((sandbox) => sandbox.loseNextNotice)
        await cluster.outside((sandbox) => sandbox.pay({ paymentRequest }))
        return ended(shop, "deposit of 1000 settled")
      }
    }
  },
  "an on-chain deposit removed by a reorganization and confirmed again": {
    calls: [
      "newAddress",
      "OnChainAddressCreated",
      "activity",
      "DepositSeen",
      "CursorMoved",
      "transaction",
      "DepositPlaced",
      "DepositConfirmed",
      "DepositReversed"
    ],
    begin: async (cluster) => {
      const shop = await cluster.company()
      return async () => {
        const { address } = await Customer.data(
          201,
          shop.post("/v1/bitcoin/deposit/on-chain", { address_type: "taproot" }, key())
        )
        await cluster.outside((sandbox) =>
          sandbox.send({ address: address.address, amount: Msat.fromSats(30_000) })
        )
        await ended(shop, "deposit of 30000 pending")
        await mine(cluster, 2)
        await ended(shop, "deposit of 30000 settled")
        await cluster.outside((sandbox) => sandbox.reorg(2))
        await ended(shop, "deposit of 30000 pending")
        await mine(cluster, 3)
        return ended(shop, "deposit of 30000 settled")
      }
    }
  }
}

/**
 * Calls that belong to no scenario: recording a key's last use, taking and renewing leases, taking over dead
 * processes' tasks, checking when the next task is due, and periodic work such as publishing the audit log's
 * head and deleting old stored responses and payouts.
 */
const beside = [
  "ApiKeyUsed",
  "DutyStarted",
  "CancellationEnded",
  "claim duty",
  "postpone duty",
  "takeOver duty",
  "takeOver",
  "renew",
  "dueAt",
  "AnswersForgotten",
  "AuditHeadPublished",
  "PayoutBuried"
]

/** Reads. Dying before a read is the same as dying after it. */
const reading = new Set([
  "offer",
  "feeRate",
  "lookupPayment",
  "lookupInvoice",
  "transaction",
  "tip",
  "activity"
])

const pointsOf = (call: string): ReadonlyArray<string> =>
  reading.has(call) ? [`after ${call}`] : [`before ${call}`, `after ${call}`]

const known = new Set([...Object.values(stories).flatMap(({ calls }) => calls), ...beside])

// Payouts are batched for one second.
suite("a process is killed", { more: { SATRAIL_PAYOUT_WINDOW_SECONDS: "1" } }, (cluster) => {
  for (const [title, { calls, begin }] of Object.entries(stories)) {
    it(`C10: crash: when a process is killed at any step of ${title}, other processes finish the killed process's work`, async () => {
      const { death, trace } = cluster().points
      const undisturbed = await begin(cluster())
      writeFileSync(trace, "")
      const end = await undisturbed()
      const made = new Set(readFileSync(trace, "utf8").trim().split("\n"))
      rmSync(trace)
      for (const call of calls) assert.isTrue(made.has(call), `${call} is a step of this scenario`)
      for (const call of made) assert.isTrue(known.has(call), `${call} is a known step`)

      for (const [number, call] of calls.entries()) {
        for (const point of pointsOf(call).filter((_, index) => isInTurn(number + index))) {
          // All processes must be running when the scenario continues, but its beginning need not wait for
          // them.
          const [rest] = await Promise.all([begin(cluster()), cluster().complete()])
          const deaths = cluster().deaths()
          writeFileSync(death, point)
          assert.deepStrictEqual(await rest(), end, point)
          assert.isFalse(existsSync(death), `a process reached the point ${point}`)
          await eventually(
            `exactly one death at ${point}`,
            async () => cluster().deaths() - deaths,
            (count) => count === 1
          )
        }
      }
    })
  }
})
