import { assert, describe, it } from "@effect/vitest"
import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import { Sandbox } from "@satrail/sandbox/Sandbox"
import { Deferred, Effect, Fiber, Result } from "effect"
import { Companies } from "../src/accounts/Companies.ts"
import { Stops } from "../src/accounts/Stops.ts"
import { LightningReceiver } from "../src/nodes/LightningReceiver.ts"
import { Resolver } from "../src/nodes/Resolver.ts"
import { Invoices } from "../src/receiving/Invoices.ts"
import { Withdrawals } from "../src/sending/Withdrawals.ts"
import { listening, pause, resume } from "./Payments.ts"
import {
  asked,
  company,
  companyWith,
  confirm,
  everywhere,
  got,
  has,
  invoice,
  made,
  now,
  paying,
  replace,
  run,
  said,
  scenario,
  standing,
  step,
  steps
} from "./World.ts"

describe("Payments to a Lightning address or LNURL", () => {
  for (const type of ["lightning_address", "lnurl"] as const) {
    scenario(`payment worker: a payment to a ${type} settles`, function* () {
      const { row } = yield* paying(5000, { type }, 1000)
      yield* step
      const { status, paymentHash } = yield* now(row)
      assert.strictEqual(status, "settled")
      assert.deepStrictEqual(yield* got(paymentHash ?? PaymentHash.make("")), { times: 1, sats: 1000 })
    })
  }

  scenario(
    "payment worker: a withdrawal waits while the payee's server is down and is sent once it recovers in time",
    function* () {
      const payer = yield* companyWith(5000)
      const row = yield* confirm(payer, "settle@wallet.example", 1000)
      yield* pause("web")
      yield* steps(18)
      assert.strictEqual(yield* standing(row), "pending")
      yield* resume("web")
      yield* steps(1)
      assert.strictEqual(yield* standing(row), "settled")
    }
  )

  scenario(
    "payment worker: a withdrawal whose payee's server stays down fails without sending anything, and its funds are released",
    listening,
    function* ({ calls }) {
      const payer = yield* companyWith(5000)
      const row = yield* confirm(payer, "settle@wallet.example", 1000)
      yield* pause("web")
      yield* steps(20)
      yield* steps(1) // exactly five minutes after the first attempt
      assert.strictEqual(yield* standing(row), "pending")
      yield* steps(1)
      assert.strictEqual(yield* standing(row), "failed: recipient_unreachable")
      assert.deepStrictEqual(yield* has(payer), { posted: 5000, held: 0 })
      assert.notInclude(calls, "pay")
    }
  )

  scenario(
    "payment worker: time in which sending is paused does not count as time in which the payee's server is down",
    function* () {
      const stops = yield* Stops
      const payer = yield* companyWith(5000)
      const row = yield* confirm(payer, "settle@wallet.example", 1000)
      yield* everywhere(stops.pause("sending"))
      yield* steps(24)
      yield* everywhere(stops.resume("sending"))
      yield* pause("web")
      yield* steps(20)
      assert.strictEqual(yield* standing(row), "pending")
      yield* steps(2)
      assert.strictEqual(yield* standing(row), "failed: recipient_unreachable")
    }
  )

  const key = new Uint8Array(32).fill(7)
  const open = {
    network: "regtest",
    timestampSeconds: 1_700_000_000,
    paymentHash: PaymentHash.make("22".repeat(32)),
    paymentSecret: "33".repeat(32)
  } as const
  const encode = (draft: Parameters<typeof Bolt11.encode>[0]) =>
    Result.getOrThrow(Bolt11.encode(draft, Bolt11.signWith(key)))
  const signed = (fields: Partial<Parameters<typeof Bolt11.encode>[0]>) =>
    encode({ ...open, amount: Msat.fromSats(1000), description: "tea", ...fields })
  const lies: ReadonlyArray<readonly [string, string]> = [
    ["for one sat more", signed({ amount: Msat.fromSats(1001) })],
    ["for one millisatoshi less", signed({ amount: Msat.make(999_999n) })],
    ["without an amount", encode({ ...open, description: "tea" })],
    ["of another network", signed({ network: "mainnet" })],
    [
      "with another description hash",
      encode({ ...open, amount: Msat.fromSats(1000), descriptionHash: "44".repeat(32) })
    ],
    ["that is expired", signed({ timestampSeconds: 1_600_000_000 })],
    ["that could lock up the money for a long time", signed({ minFinalCltvExpiry: 5000 })],
    ["that cannot be parsed", "lnbcrt1nonsense"]
  ]
  for (const [what, paymentRequest] of lies) {
    it.effect(
      `C39: payment worker: an invoice ${what} is not paid; the withdrawal fails and its funds are released`,
      () => {
        const { calls, change } = listening()
        return run(
          {
            change: (ports) =>
              replace(Resolver, () => ({
                invoice: () => Effect.succeed({ paymentRequest, successAction: null })
              }))(change(ports))
          },
          function* () {
            const payer = yield* companyWith(5000)
            const row = yield* confirm(payer, "settle@wallet.example", 1000)
            yield* steps(2)
            assert.strictEqual(yield* standing(row), "failed: recipient_refused")
            assert.deepStrictEqual(yield* has(payer), { posted: 5000, held: 0 })
            assert.notInclude(calls, "pay")
            const ask = { company: payer, asked: yield* asked(1000), destination: "settle@wallet.example" }
            const refused = yield* said((yield* Withdrawals).estimate(ask))
            assert.match(
              refused,
              /^RecipientRefused: its server sent an invoice (for|that cannot be paid: .)/
            )
          }
        )
      }
    )
  }

  it.effect(
    "payment worker: a success action from the payee's server is stored before the node is called",
    () => {
      const successAction = {
        tag: "url",
        description: "Your ticket",
        url: "https://wallet.example/ticket/7"
      } as const
      return run(
        {
          isPending: true,
          change: replace(Resolver, (resolver) => ({
            invoice: (offer, amount) =>
              Effect.map(resolver.invoice(offer, amount), (fetched) => ({ ...fetched, successAction }))
          }))
        },
        function* () {
          const payer = yield* companyWith(5000)
          const row = yield* confirm(payer, "hold@wallet.example", 1000)
          assert.isNull((yield* now(row)).successAction)
          yield* step
          assert.deepStrictEqual((yield* now(row)).successAction, successAction)
        }
      )
    }
  )

  it.effect("payment worker: our own invoice returned by a payee's server is settled internally", () => {
    let ours = ""
    const { calls, change } = listening()
    return run(
      {
        change: (ports) =>
          replace(Resolver, () => ({
            invoice: () => Effect.sync(() => ({ paymentRequest: ours, successAction: null }))
          }))(change(ports))
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

  it.effect(
    "payment worker: a withdrawal fails if the payee's server returns a hold invoice of this service, which stays open",
    () => {
      let ours = ""
      return run(
        {
          change: replace(Resolver, () => ({
            invoice: () => Effect.sync(() => ({ paymentRequest: ours, successAction: null }))
          }))
        },
        function* () {
          const [payer, payee] = [yield* companyWith(5000), yield* company()]
          const ask = {
            companyId: payee.id,
            ...(yield* asked(1000)),
            description: "",
            expirySeconds: 3600,
            metadata: {}
          }
          const held = yield* made((yield* Invoices).create({ ...ask, hold: { paymentHash: null } }))
          ours = held.paymentRequest
          const row = yield* confirm(payer, "settle@wallet.example", 1000)
          yield* step
          assert.strictEqual(yield* standing(row), "failed: invoice_not_payable")
          assert.deepStrictEqual(yield* has(payer), { posted: 5000, held: 0 })
          yield* (yield* Sandbox).pay({ paymentRequest: ours })
          assert.strictEqual(
            (yield* (yield* LightningReceiver).lookupInvoice(held.paymentHash))._tag,
            "accepted"
          )
        }
      )
    }
  )

  it.effect(
    "freeze: if a company is frozen while the payee's server responds, no other company is paid until it is unfrozen",
    () => {
      let ours = ""
      const [asked, answered] = [Deferred.makeUnsafe<void>(), Deferred.makeUnsafe<void>()]
      const answer = Effect.sync(() => ({ paymentRequest: ours, successAction: null }))
      return run(
        {
          change: replace(Resolver, () => ({
            invoice: () =>
              Effect.andThen(
                Deferred.succeed(asked, undefined),
                Effect.andThen(Deferred.await(answered), answer)
              )
          }))
        },
        function* () {
          const [payer, payee] = [yield* companyWith(5000), yield* company()]
          ours = (yield* invoice(payee, 1000)).paymentRequest
          const row = yield* confirm(payer, "settle@wallet.example", 1000)
          const stepping = yield* Effect.forkChild(step)
          yield* Deferred.await(asked)
          const companies = yield* Companies
          yield* everywhere(companies.freeze(payer.id, { reason: "a drill", pending: "wait" }))
          yield* Deferred.succeed(answered, undefined)
          yield* Fiber.join(stepping)
          yield* steps(2)
          assert.deepStrictEqual(
            [yield* standing(row), yield* has(payee)],
            ["pending", { posted: 0, held: 0 }]
          )
          yield* everywhere(companies.unfreeze(payer.id))
          yield* steps(2)
          assert.deepStrictEqual(
            [yield* standing(row), yield* has(payee)],
            ["settled", { posted: 1000, held: 0 }]
          )
        }
      )
    }
  )
})
