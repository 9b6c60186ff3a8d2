import { assert, describe, it } from "@effect/vitest"
import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as Preimage from "@satrail/bitcoin/Preimage"
import { Sandbox } from "@satrail/sandbox/Sandbox"
import { Clock, Context, Deferred, Effect, Fiber, Option, Result } from "effect"
import { TestClock } from "effect/testing"
import * as Changes from "../src/service/Changes.ts"
import { Journal, StoreUnavailable } from "../src/ledger/Journal.ts"
import { Tasks } from "../src/ledger/Tasks.ts"
import { LightningReceiver } from "../src/nodes/LightningReceiver.ts"
import { LightningSender } from "../src/nodes/LightningSender.ts"
import { Resolver } from "../src/nodes/Resolver.ts"
import { Records } from "../src/service/Records.ts"
import { PaymentWorker } from "../src/sending/PaymentWorker.ts"
import { settings } from "./Rows.ts"
import {
  accounts,
  company,
  companyWith,
  confirm,
  got,
  has,
  invoice,
  lightningAddress,
  now,
  onChainAddress,
  outside,
  poll,
  type Ports,
  replace,
  run,
  scenario,
  standing,
  start,
  step,
  steps
} from "./World.ts"

const release = (paymentHash: PaymentHash.PaymentHash | undefined, outcome: "settle" | "fail") =>
  Effect.flatMap(Sandbox, (sandbox) => sandbox.release({ paymentHash: paymentHash ?? PaymentHash.make(""), outcome }))
const pause = (part: "node" | "web") => Effect.flatMap(Sandbox, (sandbox) => sandbox.pause(part))
const resume = (part: "node" | "web") => Effect.flatMap(Sandbox, (sandbox) => sandbox.resume(part))

/** Writes down every call that tells the node to do something, as it begins. */
const listening = () => {
  const calls: Array<string> = []
  const note = (call: string) => Effect.sync(() => calls.push(call))
  return {
    calls,
    change: (ports: Context.Context<Ports>) =>
      ports.pipe(
        replace(Journal, (journal) => Journal.of({ commit: (change) => Effect.andThen(note(change._tag), journal.commit(change)) })),
        replace(LightningSender, (sender) =>
          LightningSender.of({
            ...sender,
            pay: (ask) => Effect.andThen(note("pay"), sender.pay(ask)),
            lookupPayment: (hash) => Effect.andThen(note("lookup"), sender.lookupPayment(hash))
          })
        ),
        replace(LightningReceiver, (receiver) =>
          LightningReceiver.of({
            ...receiver,
            cancelInvoice: (hash) => Effect.andThen(note("cancel"), receiver.cancelInvoice(hash))
          })
        )
      )
  }
}

const sending = (change: (sender: LightningSender["Service"]) => Partial<LightningSender["Service"]>) =>
  replace(LightningSender, (sender) => LightningSender.of({ ...sender, ...change(sender) }))

describe("A payment", () => {
  scenario(
    "payment worker: a payment settles: the recipient has it, the customer paid amount and fee, the operator keeps the unused fee",
    function* () {
      const payer = yield* companyWith(5000)
      const { destination, paymentHash } = yield* outside({ sats: 1000 })
      const row = yield* confirm(payer, destination)
      yield* step
      const settled = yield* now(row)
      assert.deepStrictEqual([settled.status, settled.failure, settled.paymentHash], ["settled", null, paymentHash])
      assert.deepStrictEqual(yield* has(payer), { posted: 5000 - 1012, held: 0 })
      assert.deepStrictEqual(yield* got(paymentHash), { times: 1, sats: 1000 })
      const route = Number(settled.networkFee) / 1000
      assert.isTrue(route > 0 && route <= 10)
      assert.deepStrictEqual(yield* accounts, {
        available: 3988,
        node: -5000 + 1000 + route,
        service_fees: 2,
        network_fees: 10 - route
      })
      assert.strictEqual(yield* step, 0)
    }
  )

  scenario(
    "C9 C22: payment worker: the payment hash is stored before the node is called",
    () => ({ ...listening() }),
    function* ({ calls }) {
      const payer = yield* companyWith(5000)
      yield* confirm(payer, (yield* outside({ sats: 1000 })).destination)
      calls.length = 0
      yield* step
      assert.deepStrictEqual(calls, ["WithdrawalDispatched", "pay", "WithdrawalSettled"])
    }
  )

  scenario("C21: payment worker: a failed payment is released in full, once", function* () {
    const payer = yield* companyWith(5000)
    for (const [behaviour, payee, failure] of [
      ["fail", "birch", "incorrect_payment_details"],
      ["settle", "fern", "no_route"]
    ] as const) {
      const { destination, paymentHash } = yield* outside({ sats: 1000, behaviour, payee })
      const row = yield* confirm(payer, destination)
      assert.deepStrictEqual(yield* has(payer), { posted: 5000, held: 1012 })
      yield* steps(4)
      assert.strictEqual(yield* standing(row), `failed: ${failure}`)
      assert.deepStrictEqual(yield* has(payer), { posted: 5000, held: 0 })
      assert.strictEqual((yield* got(paymentHash)).times, 0)
    }
    assert.deepStrictEqual(yield* accounts, { available: 5000, node: -5000 })
  })

  for (const outcome of ["settle", "fail"] as const) {
    scenario(
      `C1: payment worker: a held payment stays pending for days, and ${outcome}s late: never released before the node's final result`,
      function* () {
        const payer = yield* companyWith(5000)
        const { destination, paymentHash } = yield* outside({ sats: 1000, behaviour: "hold" })
        const row = yield* confirm(payer, destination)
        for (let hour = 0; hour < 72; hour++) {
          yield* step
          yield* TestClock.adjust("1 hour")
          assert.strictEqual(yield* standing(row), "pending")
          assert.deepStrictEqual(yield* has(payer), { posted: 5000, held: 1012 })
        }
        yield* release(paymentHash, outcome)
        yield* steps(3)
        assert.strictEqual(yield* standing(row), outcome === "settle" ? "settled" : "failed: incorrect_payment_details")
        assert.deepStrictEqual(yield* has(payer), { posted: outcome === "settle" ? 3988 : 5000, held: 0 })
        assert.strictEqual((yield* got(paymentHash)).times, outcome === "settle" ? 1 : 0)
      }
    )

    scenario(
      `C2 C6 C7: payment worker: a call whose response is lost is pending, not failed; then it ${outcome}s: neither released nor sent twice`,
      function* () {
        const payer = yield* companyWith(5000)
        const { destination, paymentHash } = yield* outside({ sats: 1000, behaviour: `unknown_then_${outcome}` })
        const row = yield* confirm(payer, destination)
        for (let i = 0; i < 3; i++) {
          // the call and two questions have no answer
          yield* step
          assert.strictEqual(yield* standing(row), "pending")
          assert.deepStrictEqual(yield* has(payer), { posted: 5000, held: 1012 })
          yield* TestClock.adjust("20 seconds")
        }
        yield* steps(3)
        assert.strictEqual(yield* standing(row), outcome === "settle" ? "settled" : "failed: timeout")
        assert.deepStrictEqual(yield* has(payer), { posted: outcome === "settle" ? 3988 : 5000, held: 0 })
        assert.strictEqual((yield* got(paymentHash)).times, outcome === "settle" ? 1 : 0)
      }
    )
  }

  scenario("C6: payment worker: a payment that was made is not failed when its look-up fails for a day", function* () {
    const payer = yield* companyWith(5000)
    const { destination, paymentHash } = yield* outside({ sats: 1000, behaviour: "unknown_then_settle" })
    const row = yield* confirm(payer, destination)
    yield* step
    yield* pause("node")
    yield* steps(24, 3600)
    assert.strictEqual(yield* standing(row), "pending")
    assert.strictEqual((yield* has(payer)).held, 1012)
    yield* resume("node")
    yield* steps(4)
    assert.strictEqual(yield* standing(row), "settled")
    assert.deepStrictEqual(yield* got(paymentHash), { times: 1, sats: 1000 })
  })

  scenario("C4: payment worker: waits for a node that is away, and sends once when it is back", function* () {
    const payer = yield* companyWith(5000)
    const { destination, paymentHash } = yield* outside({ sats: 1000 })
    yield* pause("node")
    const row = yield* confirm(payer, destination)
    yield* steps(20)
    assert.strictEqual(yield* standing(row), "pending")
    yield* resume("node")
    yield* steps(4)
    assert.strictEqual(yield* standing(row), "settled")
    assert.deepStrictEqual(yield* got(paymentHash), { times: 1, sats: 1000 })
  })

  it.effect(
    "payment worker: a withdrawal interrupted by a short outage of the store is resumed in seconds, not when its claim ends",
    () => {
      let backAtMillis = 0
      const unlessAway = <A, E>(call: Effect.Effect<A, E>) =>
        Effect.gen(function* () {
          if ((yield* Clock.currentTimeMillis) < backAtMillis) return yield* new StoreUnavailable({ operation: "any", cause: "away" })
          return yield* call
        })
      const change = (ports: Context.Context<Ports>) =>
        ports.pipe(
          replace(Journal, (journal) => Journal.of({ commit: (change) => unlessAway(journal.commit(change)) })),
          replace(Tasks, (tasks) => Tasks.of({ ...tasks, postpone: (task, millis) => unlessAway(tasks.postpone(task, millis)) })),
          replace(LightningSender, (sender) =>
            LightningSender.of({
              ...sender,
              pay: (ask) =>
                Effect.tap(sender.pay(ask), () =>
                  Effect.map(Clock.currentTimeMillis, (atMillis) => {
                    backAtMillis = atMillis + 1000
                  })
                )
            })
          )
        )
      return run({ logsErrors: true, change }, function* () {
        const payer = yield* companyWith(5000)
        const { destination } = yield* outside({ sats: 1000 })
        const withdrawal = yield* confirm(payer, destination)
        const stepping = yield* Effect.forkChild(step)
        yield* TestClock.adjust("5 seconds")
        yield* Fiber.join(stepping)
        assert.strictEqual(yield* standing(withdrawal), "pending")
        yield* step
        assert.strictEqual(yield* standing(withdrawal), "settled")
      })
    }
  )

  scenario("payment worker: an invoice that expired while no node could send it fails before it is sent", listening, function* ({ calls }) {
    const payer = yield* companyWith(5000)
    const row = yield* confirm(payer, (yield* outside({ sats: 1000, expirySeconds: 90 })).destination)
    yield* TestClock.adjust("31 seconds")
    yield* step
    assert.strictEqual(yield* standing(row), "failed: invoice_expired")
    assert.deepStrictEqual(yield* has(payer), { posted: 5000, held: 0 })
    assert.notInclude(calls, "pay")
  })

  scenario(
    "payment worker: an invoice that could hold the money longer than the policy allows by now fails, and not as expired",
    function* () {
      const strict = yield* start(yield* Effect.context<Ports>(), { ...settings, maxFinalCltvExpiry: 1 })
      const payer = yield* companyWith(5000)
      const row = yield* confirm(payer, (yield* outside({ sats: 1000 })).destination)
      yield* Context.get(strict, PaymentWorker).step
      assert.strictEqual(yield* standing(row), "failed: invoice_not_payable")
      assert.deepStrictEqual(yield* has(payer), { posted: 5000, held: 0 })
    }
  )

  scenario(
    "C11 C14: payment worker: two withdrawals to one invoice are one payment; the other withdrawal fails, and names only one of its own company's",
    function* () {
      const [one, other] = [yield* companyWith(5000), yield* companyWith(5000)]
      for (const [second, failure] of [
        [other, "invoice_not_payable"],
        [one, "payment_hash_used"]
      ] as const) {
        const { destination, paymentHash } = yield* outside({ sats: 1000 })
        const rows = [yield* confirm(one, destination), yield* confirm(second, destination)]
        yield* steps(3)
        assert.deepStrictEqual((yield* Effect.forEach(rows, standing)).toSorted(), [`failed: ${failure}`, "settled"])
        assert.deepStrictEqual(yield* got(paymentHash), { times: 1, sats: 1000 })
      }
    }
  )

  scenario(
    "C25: payment worker: a cost above the fee limit is the operator's loss, not the customer's",
    {
      logsErrors: true,
      isPending: true,
      change: sending((sender) => ({
        pay: (ask) =>
          Effect.map(sender.pay(ask), (payment) => (payment._tag === "settled" ? { ...payment, fee: Msat.fromSats(13) } : payment))
      }))
    },
    function* () {
      const payer = yield* companyWith(5000)
      const row = yield* confirm(payer, (yield* outside({ sats: 1000 })).destination)
      yield* step
      assert.strictEqual(yield* standing(row), "settled")
      assert.deepStrictEqual(yield* has(payer), { posted: 3988, held: 0 })
      assert.deepStrictEqual(yield* accounts, { available: 3988, node: -5000 + 1000 + 13, service_fees: 2, loss: -3 })
    }
  )

  it.effect("C25: payment worker: the fee limit at the node is the fee that is held", () => {
    const limits: Array<Msat.Msat> = []
    return run(
      {
        change: sending((sender) => ({
          pay: (ask) => {
            limits.push(ask.feeLimit)
            return sender.pay(ask)
          }
        }))
      },
      function* () {
        const row = yield* confirm(yield* companyWith(5000), (yield* outside({ sats: 1000 })).destination)
        yield* step
        assert.deepStrictEqual(limits, [row.networkAllowance])
      }
    )
  })

  scenario(
    "payment worker: a preimage that proves nothing neither settles nor fails a withdrawal",
    {
      logsErrors: true,
      isPending: true,
      change: sending((sender) => {
        const forge = <P extends { readonly _tag: string }>(payment: P): P =>
          payment._tag === "settled" ? { ...payment, preimage: Preimage.make("00".repeat(32)) } : payment
        return {
          pay: (ask) => Effect.map(sender.pay(ask), forge),
          lookupPayment: (hash) => Effect.map(sender.lookupPayment(hash), forge)
        }
      })
    },
    function* () {
      const payer = yield* companyWith(5000)
      const row = yield* confirm(payer, (yield* outside({ sats: 1000 })).destination)
      yield* steps(5)
      assert.strictEqual(yield* standing(row), "pending")
      assert.deepStrictEqual(yield* has(payer), { posted: 5000, held: 1012 })
    }
  )
})

describe("A payment to a Lightning address or LNURL", () => {
  for (const type of ["lightning_address", "lnurl"] as const) {
    scenario(`payment worker: a payment to a ${type} settles`, function* () {
      const payer = yield* companyWith(5000)
      const row = yield* confirm(payer, (yield* outside({ type })).destination, 1000)
      yield* step
      const { status, paymentHash } = yield* now(row)
      assert.strictEqual(status, "settled")
      assert.deepStrictEqual(yield* got(paymentHash ?? PaymentHash.make("")), { times: 1, sats: 1000 })
    })
  }

  scenario("payment worker: a withdrawal waits for a recipient's server that is away, and is sent when it is back in time", function* () {
    const payer = yield* companyWith(5000)
    const row = yield* confirm(payer, "settle@wallet.example", 1000)
    yield* pause("web")
    yield* steps(18)
    assert.strictEqual(yield* standing(row), "pending")
    yield* resume("web")
    yield* steps(1)
    assert.strictEqual(yield* standing(row), "settled")
  })

  scenario(
    "payment worker: a withdrawal whose recipient's server stays away fails with the money back; nothing was sent",
    listening,
    function* ({ calls }) {
      const payer = yield* companyWith(5000)
      const row = yield* confirm(payer, "settle@wallet.example", 1000)
      yield* pause("web")
      yield* steps(20)
      assert.strictEqual(yield* standing(row), "pending") // five minutes sharp
      yield* steps(1)
      yield* steps(1)
      assert.strictEqual(yield* standing(row), "failed: recipient_unreachable")
      assert.deepStrictEqual(yield* has(payer), { posted: 5000, held: 0 })
      assert.notInclude(calls, "pay")
    }
  )

  const key = new Uint8Array(32).fill(7)
  const open = {
    network: "regtest",
    timestampSeconds: 1_700_000_000,
    paymentHash: PaymentHash.make("22".repeat(32)),
    paymentSecret: "33".repeat(32)
  } as const
  const encode = (draft: Parameters<typeof Bolt11.encode>[0]) => Result.getOrThrow(Bolt11.encode(draft, Bolt11.signWith(key)))
  const signed = (fields: Partial<Parameters<typeof Bolt11.encode>[0]>) =>
    encode({ ...open, amount: Msat.fromSats(1000), description: "tea", ...fields })
  const lies: ReadonlyArray<readonly [string, string]> = [
    ["for a sat more", signed({ amount: Msat.fromSats(1001) })],
    ["for a millisatoshi less", signed({ amount: Msat.make(999_999n) })],
    ["without an amount", encode({ ...open, description: "tea" })],
    ["of another network", signed({ network: "mainnet" })],
    ["for another text", encode({ ...open, amount: Msat.fromSats(1000), descriptionHash: "44".repeat(32) })],
    ["that is expired", signed({ timestampSeconds: 1_600_000_000 })],
    ["that would hold the money for long", signed({ minFinalCltvExpiry: 5000 })],
    ["that is none", "lnbcrt1nonsense"]
  ]
  for (const [what, paymentRequest] of lies) {
    it.effect(`C39: payment worker: an invoice ${what} is not paid: the withdrawal fails, and its money is released`, () => {
      const { calls, change } = listening()
      return run(
        {
          change: (ports) =>
            replace(Resolver, (resolver) =>
              Resolver.of({ ...resolver, invoice: () => Effect.succeed({ paymentRequest, successAction: null }) })
            )(change(ports))
        },
        function* () {
          const payer = yield* companyWith(5000)
          const row = yield* confirm(payer, "settle@wallet.example", 1000)
          yield* steps(2)
          assert.strictEqual(yield* standing(row), "failed: recipient_refused")
          assert.deepStrictEqual(yield* has(payer), { posted: 5000, held: 0 })
          assert.notInclude(calls, "pay")
        }
      )
    })
  }

  it.effect("payment worker: a success action of the payee's server is stored before the node is called", () => {
    const successAction = { tag: "url", description: "Your ticket", url: "https://wallet.example/ticket/7" } as const
    return run(
      {
        isPending: true,
        change: replace(Resolver, (resolver) =>
          Resolver.of({
            ...resolver,
            invoice: (offer, amount) => Effect.map(resolver.invoice(offer, amount), (fetched) => ({ ...fetched, successAction }))
          })
        )
      },
      function* () {
        const payer = yield* companyWith(5000)
        const row = yield* confirm(payer, "hold@wallet.example", 1000)
        assert.isNull((yield* now(row)).successAction)
        yield* step
        assert.deepStrictEqual((yield* now(row)).successAction, successAction)
      }
    )
  })

  it.effect("payment worker: an invoice of ours from a recipient's server is paid inside", () => {
    let ours = ""
    const { calls, change } = listening()
    return run(
      {
        change: (ports) =>
          replace(Resolver, (resolver) =>
            Resolver.of({ ...resolver, invoice: () => Effect.sync(() => ({ paymentRequest: ours, successAction: null })) })
          )(change(ports))
      },
      function* () {
        const [payer, payee] = [yield* companyWith(5000), yield* company()]
        ours = (yield* invoice(payee, 1000)).paymentRequest
        const row = yield* confirm(payer, "settle@wallet.example", 1000)
        yield* step
        assert.strictEqual(yield* standing(row), "settled")
        assert.notInclude(calls, "pay")
        assert.deepStrictEqual(
          [yield* has(payer), yield* has(payee)],
          [
            { posted: 3988, held: 0 },
            { posted: 1000, held: 0 }
          ]
        )
      }
    )
  })
})

describe("A payment inside the service", () => {
  scenario(
    "C16 C17: payment worker: an invoice of the service is claimed, closed at the node, and only then booked, both legs together",
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
      assert.deepStrictEqual(
        [yield* has(payer), yield* has(payee)],
        [
          { posted: 4000, held: 0 },
          { posted: 1000, held: 0 }
        ]
      )
      const paid = Option.getOrThrow(yield* (yield* Records).invoice(payee.id, id))
      assert.deepStrictEqual([paid.status, paid.received, paid.preimage], ["settled", Msat.fromSats(1000), settled.preimage])
      assert.deepStrictEqual(yield* accounts, { available: 5000, node: -5000 })
    }
  )

  scenario("C15: payment worker: an inside payment closes the invoice to the outside", function* () {
    const [payer, payee] = [yield* companyWith(5000), yield* company()]
    const { paymentRequest } = yield* invoice(payee, 1000)
    yield* confirm(payer, paymentRequest)
    yield* step
    const refused = yield* Effect.flip((yield* Sandbox).pay({ paymentRequest }))
    assert.strictEqual(refused.reason, "invoice_canceled")
    yield* poll
    assert.deepStrictEqual(yield* has(payee), { posted: 1000, held: 0 })
  })

  scenario(
    "C15: payment worker: an inside payment fails when the outside was first; the invoice is credited once, to the msat that came",
    function* () {
      const [payer, payee] = [yield* companyWith(5000), yield* company()]
      const { paymentRequest } = yield* invoice(payee, 1000)
      const row = yield* confirm(payer, paymentRequest)
      yield* (yield* Sandbox).pay({ paymentRequest, amount: Msat.fromSats(1010) })
      yield* steps(2)
      yield* poll
      yield* poll
      assert.strictEqual(yield* standing(row), "failed: invoice_not_payable")
      assert.deepStrictEqual(
        [yield* has(payer), yield* has(payee)],
        [
          { posted: 5000, held: 0 },
          { posted: 1010, held: 0 }
        ]
      )
    }
  )

  for (const outcome of ["settle", "fail"] as const) {
    scenario(
      `C15: payment worker: an inside payment fails when the outside's payment is held at the node, which then ${outcome}s`,
      function* () {
        const [payer, payee] = [yield* companyWith(5000), yield* company()]
        const { paymentRequest, paymentHash } = yield* invoice(payee, 1000)
        const row = yield* confirm(payer, paymentRequest)
        yield* (yield* Sandbox).pay({ paymentRequest, hold: true })
        yield* steps(2)
        assert.strictEqual(yield* standing(row), "failed: invoice_not_payable")
        yield* poll
        assert.deepStrictEqual(
          [yield* has(payer), yield* has(payee)],
          [
            { posted: 5000, held: 0 },
            { posted: 0, held: 0 }
          ]
        )
        yield* release(paymentHash, outcome)
        yield* poll
        assert.deepStrictEqual(yield* has(payee), { posted: outcome === "settle" ? 1000 : 0, held: 0 })
        // Released, it is open again to the outside.
        if (outcome === "fail") {
          yield* (yield* Sandbox).pay({ paymentRequest })
          yield* poll
          assert.deepStrictEqual(yield* has(payee), { posted: 1000, held: 0 })
        }
      }
    )
  }

  scenario("C15: payment worker: two inside payments at once are one; the other withdrawal fails", function* () {
    const [one, other, payee] = [yield* companyWith(5000), yield* companyWith(5000), yield* company()]
    const { paymentRequest } = yield* invoice(payee, 1000)
    const rows = [yield* confirm(one, paymentRequest), yield* confirm(other, paymentRequest)]
    yield* steps(3)
    assert.deepStrictEqual((yield* Effect.forEach(rows, standing)).toSorted(), ["failed: invoice_not_payable", "settled"])
    assert.deepStrictEqual(yield* has(payee), { posted: 1000, held: 0 })
  })

  scenario("payment worker: a withdrawal keeps its claim while the node is away", { logsErrors: true }, function* () {
    const [payer, payee] = [yield* companyWith(5000), yield* company()]
    const { paymentRequest } = yield* invoice(payee, 1000, 120)
    const row = yield* confirm(payer, paymentRequest)
    yield* pause("node")
    yield* steps(12)
    assert.strictEqual(yield* standing(row), "pending")
    yield* resume("node")
    yield* steps(2)
    assert.strictEqual(yield* standing(row), "settled") // what was claimed in time is paid, though it expired since
    assert.deepStrictEqual(yield* has(payee), { posted: 1000, held: 0 })
  })

  scenario("payment worker: an invoice that expired before it was taken up fails", function* () {
    const [payer, payee] = [yield* companyWith(5000), yield* company()]
    const row = yield* confirm(payer, (yield* invoice(payee, 1000, 60)).paymentRequest)
    yield* TestClock.adjust("60 seconds")
    yield* step
    assert.strictEqual(yield* standing(row), "failed: invoice_expired")
    assert.deepStrictEqual(yield* has(payer), { posted: 5000, held: 0 })
  })

  scenario("payment worker: a Lightning address or an on-chain address of ours is paid without a node", listening, function* ({ calls }) {
    const [payer, payee] = [yield* companyWith(5000), yield* company()]
    const handle = yield* lightningAddress(payee, "tea")
    const rows = [yield* confirm(payer, "tea@pay.example", 1000), yield* confirm(payer, (yield* onChainAddress(payee)).address, 300)]
    yield* steps(2)
    assert.deepStrictEqual(yield* Effect.forEach(rows, standing), ["settled", "settled"])
    assert.deepStrictEqual(
      [yield* has(payer), yield* has(payee)],
      [
        { posted: 3700, held: 0 },
        { posted: 1300, held: 0 }
      ]
    )
    assert.deepStrictEqual(
      calls.filter((call) => /^[a-z]/.test(call)),
      []
    )
    const used = Option.getOrThrow(yield* (yield* Records).lightningAddress(handle.handle, handle.domain))
    assert.isNotNull(used.lastUsedAtMillis)
    const deposits = yield* (yield* Records).transactions(payee.id, { limit: 10, type: "deposit" })
    assert.deepStrictEqual(deposits.map(({ amount, status }) => `${status} ${amount}`).toSorted(), ["settled 1000000", "settled 300000"])
  })

  scenario("C31: payment worker: a payment to oneself makes and loses nothing", function* () {
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

describe("Several workers", () => {
  scenario("C12 C19: payment worker: several at once over one store send every withdrawal once", listening, function* ({ calls }) {
    const ports = yield* Effect.context<Ports>()
    const workers = yield* Effect.forEach([1, 2, 3], () => Effect.map(start(ports), (process) => Context.get(process, PaymentWorker)))
    const payers = yield* Effect.forEach([1, 2, 3, 4], () => companyWith(50_000))
    const behaviours = ["settle", "fail", "unknown_then_settle", "unknown_then_fail"] as const
    const rows = yield* Effect.forEach(
      Array.from({ length: 60 }),
      Effect.fnUntraced(function* (_, at) {
        const payer = payers[at % 4] ?? (yield* Effect.die("four payers"))
        const { destination, paymentHash } = yield* outside({ sats: 100 + at, behaviour: behaviours[at % 4] ?? "settle" })
        return { row: yield* confirm(payer, destination), paymentHash, settles: at % 2 === 0 }
      })
    )
    for (let i = 0; i < 12; i++) {
      yield* Effect.all(
        workers.map(({ step }) => step),
        { concurrency: "unbounded" }
      )
      yield* TestClock.adjust("10 seconds")
    }
    for (const { row, paymentHash, settles } of rows) {
      assert.match(yield* standing(row), settles ? /^settled$/ : /^failed/)
      assert.strictEqual((yield* got(paymentHash)).times, settles ? 1 : 0)
    }
    assert.strictEqual(calls.filter((call) => call === "pay").length, 60)
  })
})

describe("A call to the node", () => {
  it.effect(
    "C10: payment worker: a worker that slept on its claim makes no call: another had the job, and the withdrawal failed and was released",
    () => {
      const pays: Array<string> = []
      const counting = (who: string) =>
        sending((sender) => ({
          pay: (ask) => {
            pays.push(who)
            return sender.pay(ask)
          }
        }))
      return run({}, function* () {
        const ports = yield* Effect.context<Ports>()
        const wakes = yield* Deferred.make<void>()
        const sleepy = yield* start(
          ports.pipe(
            counting("sleepy"),
            replace(Journal, (journal) =>
              Journal.of({
                commit: (change) =>
                  change._tag === "WithdrawalDispatched"
                    ? Effect.tap(journal.commit(change), () => Deferred.await(wakes))
                    : journal.commit(change)
              })
            )
          )
        )
        const other = yield* start(counting("other")(ports))
        const payer = yield* companyWith(5000)
        const { destination } = yield* outside({ sats: 1000, behaviour: "fail" })
        const row = yield* confirm(payer, destination)
        const sleeping = yield* Effect.forkChild(Context.get(sleepy, PaymentWorker).step)
        yield* TestClock.adjust("121 seconds")
        yield* Context.get(other, PaymentWorker).step
        assert.strictEqual(yield* standing(row), "failed: incorrect_payment_details")
        yield* Deferred.succeed(wakes, undefined)
        yield* Fiber.join(sleeping)
        assert.deepStrictEqual(pays, ["other"])
        assert.deepStrictEqual(yield* has(payer), { posted: 5000, held: 0 })
      })
    }
  )

  it.effect(
    "payment worker: a withdrawal that another worker decided on meanwhile is left alone by one that slept and would pay another invoice",
    () => {
      return run({}, function* () {
        const ports = yield* Effect.context<Ports>()
        const wakes = yield* Deferred.make<void>()
        const sleepy = yield* start(
          replace(Journal, (journal) =>
            Journal.of({
              commit: (change) =>
                change._tag === "WithdrawalDispatched"
                  ? Effect.andThen(Deferred.await(wakes), journal.commit(change))
                  : journal.commit(change)
            })
          )(ports)
        )
        const payer = yield* companyWith(50_000)
        // Each worker gets an invoice of its own, and chooses its own coins.
        const rows = [
          yield* confirm(payer, (yield* outside({ type: "lightning_address" })).destination, 1000),
          yield* confirm(payer, (yield* outside({ type: "chain_address" })).destination, 10_000)
        ]
        const sleeping = yield* Effect.forkChild(Context.get(sleepy, PaymentWorker).step)
        yield* TestClock.adjust("121 seconds")
        yield* step
        yield* Deferred.succeed(wakes, undefined)
        yield* Fiber.join(sleeping)
        yield* (yield* Sandbox).mine(1)
        yield* steps(3)
        for (const row of rows) assert.strictEqual(yield* standing(row), "settled")
      })
    }
  )

  /** A node that 60 seconds later may still hear a call, and that heard none of them so far. Says when it was called. */
  const deaf = (callSeconds: number) => {
    const atSeconds: Array<number> = []
    const change = sending(() => ({
      graceMillis: 60_000,
      pay: () =>
        Effect.gen(function* () {
          const nowMillis = yield* Clock.currentTimeMillis
          atSeconds.push(nowMillis / 1000 - 1_700_000_000)
          yield* Effect.sleep(callSeconds * 1000)
          return { _tag: "unknown" } as const
        })
    }))
    return { atSeconds, change }
  }

  it.effect("C2: payment worker: a call that breaks is one without a response: it may have been made", () => {
    const { atSeconds, change } = deaf(0)
    return run(
      {
        logsErrors: true,
        change: (ports) => sending((sender) => ({ pay: (ask) => Effect.andThen(sender.pay(ask), Effect.die("not JSON")) }))(change(ports))
      },
      function* () {
        const payer = yield* companyWith(5000)
        const row = yield* confirm(payer, (yield* outside({ sats: 1000 })).destination)
        yield* steps(9)
        assert.strictEqual(yield* standing(row), "pending")
        assert.deepStrictEqual(atSeconds, [0, 60, 120])
      }
    )
  })

  for (const callSeconds of [0, 30]) {
    scenario(
      `C8: payment worker: a call without a response for ${callSeconds} seconds is not repeated while it may still arrive: not found proves nothing`,
      () => ({ ...deaf(callSeconds) }),
      function* ({ atSeconds }) {
        const payer = yield* companyWith(5000)
        const row = yield* confirm(payer, (yield* outside({ sats: 1000 })).destination)
        const { step } = yield* PaymentWorker
        yield* Effect.forkChild(Effect.forever(Effect.andThen(step, Effect.sleep("1 second"))))
        yield* TestClock.adjust("10 minutes")
        assert.isTrue(atSeconds.length >= 4, "it is tried again")
        for (const [at, seconds] of atSeconds.entries()) {
          if (at > 0) assert.isTrue(seconds - (atSeconds[at - 1] ?? 0) >= callSeconds + 60, `called after ${atSeconds.join(", ")} seconds`)
        }
        assert.strictEqual(yield* standing(row), "pending")
        assert.deepStrictEqual(yield* has(payer), { posted: 5000, held: 1012 })
      }
    )
  }

  scenario(
    "C8: payment worker: a call by a worker that died in it is not repeated by the next while it may still arrive",
    () => ({ ...deaf(0) }),
    function* ({ atSeconds }) {
      const ports = yield* Effect.context<Ports>()
      const payer = yield* companyWith(5000)
      yield* confirm(payer, (yield* outside({ sats: 1000 })).destination)
      // Each worker dies in its call, in its second half of a minute.
      for (let i = 0; i < 4; i++) {
        const dying = yield* start(sending((sender) => ({ pay: (ask) => Effect.andThen(sender.pay(ask), Effect.never) }))(ports))
        yield* Effect.forkDetach(Effect.forever(Effect.andThen(Context.get(dying, PaymentWorker).step, Effect.sleep("1 second"))))
        yield* TestClock.adjust("119 seconds")
      }
      assert.isTrue(atSeconds.length >= 3, "it is tried again")
      for (const [at, seconds] of atSeconds.entries())
        if (at > 0) assert.isTrue(seconds - (atSeconds[at - 1] ?? 0) >= 60, `called after ${atSeconds.join(", ")} seconds`)
    }
  )

  for (const [seconds, calls] of [
    [59, 1],
    [61, 0]
  ] as const) {
    it.effect(
      `C10: payment worker: ${calls === 0 ? "a worker" : "one"} that slept for ${seconds} of 120 seconds of its claim calls the node ${calls} times, though the job is unclaimed`,
      () => {
        const { atSeconds, change } = deaf(0)
        const sleeping = replace(Journal, (journal) =>
          Journal.of({
            commit: (next) =>
              next._tag === "WithdrawalDispatched"
                ? Effect.tap(journal.commit(next), () => Effect.sleep(seconds * 1000))
                : journal.commit(next)
          })
        )
        return run({ change: (ports) => sleeping(change(ports)) }, function* () {
          const row = yield* confirm(yield* companyWith(5000), (yield* outside({ sats: 1000 })).destination)
          const stepping = yield* Effect.forkChild(step)
          yield* TestClock.adjust(seconds * 1000)
          yield* Fiber.join(stepping)
          assert.strictEqual(atSeconds.length, calls)
          assert.strictEqual(yield* standing(row), "pending")
        })
      }
    )
  }

  it.effect("C10: payment worker: a claim lasts twice as long as a call may be under way: no other process looks before", () => {
    const lookedAtSeconds: Array<number> = []
    const slow = sending((sender) => ({
      graceMillis: 60_000,
      pay: () => Effect.never,
      lookupPayment: (hash) =>
        Effect.flatMap(Clock.currentTimeMillis, (nowMillis) => {
          lookedAtSeconds.push(nowMillis / 1000 - 1_700_000_000)
          return sender.lookupPayment(hash)
        })
    }))
    return run({ change: slow }, function* () {
      const other = Context.get(yield* start(yield* Effect.context<Ports>()), PaymentWorker)
      yield* confirm(yield* companyWith(5000), (yield* outside({ sats: 1000 })).destination)
      yield* Effect.forkDetach(step)
      yield* TestClock.adjust("1 second")
      yield* Effect.forkDetach(Effect.forever(Effect.andThen(other.step, Effect.sleep("1 second"))))
      yield* TestClock.adjust("118 seconds")
      assert.deepStrictEqual(lookedAtSeconds, [])
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual(lookedAtSeconds.length, 1)
    })
  })

  it.effect(
    "C8: payment worker: a payment that the node first reports pending and then does not find is not sent again before the grace",
    () => {
      const atSeconds: Array<number> = []
      const forgetful = sending(() => ({
        graceMillis: 60_000,
        pay: () =>
          Effect.map(Clock.currentTimeMillis, (nowMillis) => {
            atSeconds.push(nowMillis / 1000 - 1_700_000_000)
            return { _tag: "pending" } as const
          }),
        lookupPayment: () => Effect.succeed({ _tag: "notFound" } as const)
      }))
      return run({ change: forgetful }, function* () {
        const row = yield* confirm(yield* companyWith(5000), (yield* outside({ sats: 1000 })).destination)
        yield* steps(59, 1)
        assert.deepStrictEqual(atSeconds, [0])
        yield* steps(3, 1)
        assert.strictEqual(atSeconds[1], 60)
        assert.strictEqual(yield* standing(row), "pending")
      })
    }
  )

  it.effect("C11: payment worker: a withdrawal that another worker already pays by another invoice is left to it", () => {
    const { calls, change } = listening()
    // Under the same claim, as after an answer that was lost.
    const decided = replace(Journal, (journal) =>
      Changes.journal((next) =>
        next._tag === "WithdrawalDispatched"
          ? Effect.andThen(
              journal.commit({ ...next, attempt: { ...next.attempt, paymentHash: PaymentHash.make("77".repeat(32)) } }),
              journal.commit(next)
            )
          : journal.commit(next)
      )
    )
    return run({ change: (ports) => decided(change(ports)) }, function* () {
      const payer = yield* companyWith(5000)
      const row = yield* confirm(payer, (yield* outside({ type: "lightning_address" })).destination, 1000)
      yield* step
      assert.strictEqual(yield* standing(row), "pending")
      assert.deepStrictEqual(yield* has(payer), { posted: 5000, held: 1012 })
      assert.notInclude(calls, "pay")
    })
  })

  /** A node that refuses every connection until it is there, whose adapter vouches for a call after 60 seconds. Writes down when each call was made. */
  const refusing = () => {
    const state = { isThere: false, atSeconds: new Array<number>() }
    const change = sending((sender) => ({
      graceMillis: 60_000,
      pay: (ask) =>
        Effect.flatMap(Clock.currentTimeMillis, (nowMillis) => {
          state.atSeconds.push(nowMillis / 1000 - 1_700_000_000)
          return state.isThere ? sender.pay(ask) : Effect.succeed({ _tag: "notSent" } as const)
        }),
      lookupPayment: (hash) => (state.isThere ? sender.lookupPayment(hash) : Effect.succeed({ _tag: "unknown" } as const))
    }))
    return { state, change }
  }

  scenario(
    "C4: payment worker: a payment that was not sent, since the node refused the connection, is sent when the node is back, not after the grace",
    refusing,
    function* ({ state }) {
      const payer = yield* companyWith(5000)
      const { destination, paymentHash } = yield* outside({ sats: 1000 })
      const row = yield* confirm(payer, destination)
      yield* steps(3, 1)
      assert.strictEqual(yield* standing(row), "pending")
      state.isThere = true
      yield* steps(2, settings.trackMillis.maximum / 1000)
      assert.strictEqual(yield* standing(row), "settled")
      assert.deepStrictEqual(yield* got(paymentHash), { times: 1, sats: 1000 })
      assert.isBelow(state.atSeconds.at(-1) ?? 0, 60)
    }
  )

  scenario(
    "C8: payment worker: that its call was not sent counts for nothing once another process has had the job",
    refusing,
    function* ({ state }) {
      const ports = yield* Effect.context<Ports>()
      const payer = yield* companyWith(5000)
      const { destination } = yield* outside({ sats: 1000 })
      const row = yield* confirm(payer, destination)
      yield* step
      assert.deepStrictEqual(state.atSeconds, [0])
      // Another process takes the task up, hears from the node that there is no such payment, and leaves it until the grace is over.
      state.isThere = true
      const other = Context.get(yield* start(ports), PaymentWorker)
      yield* TestClock.adjust("1 second")
      yield* other.step
      // The first has it again, as if the other had called and died.
      const tasks = yield* Tasks
      const nowMillis = yield* Clock.currentTimeMillis
      yield* tasks.postpone({ kind: "withdrawal", id: row.id, companyId: row.companyId, lane: "", token: 2, attempts: 2 }, nowMillis)
      yield* step
      assert.deepStrictEqual(state.atSeconds, [0])
      yield* TestClock.adjust("60 seconds")
      yield* step
      assert.strictEqual(yield* standing(row), "settled")
    }
  )
})
