import { assert, it } from "@effect/vitest"
import * as Outbound from "@satrail/web/Outbound"
import * as PostgresServer from "@satrail/testing/PostgresServer"
import { Effect } from "effect"
import * as Customer from "../Customer.ts"
import { type Company, eventually } from "../Service.ts"
import * as Pair from "./Pair.ts"

// One service of two cells: each a process with its own database and node, as it is deployed, and the small registry that they share.

const run = <A>(use: () => Promise<A>) => Effect.promise(use)

const installation = PostgresServer.find()

const origins = { a: "https://a.pay.example", b: "https://b.pay.example" } as const

const cells = Effect.gen(function* () {
  if ("missing" in installation) throw new Error(`there is no PostgreSQL here: ${installation.missing}`)
  const registry = yield* Effect.acquireRelease(
    run(() => PostgresServer.start(installation)),
    (server) => run(() => server.end())
  )
  const cell = (letter: keyof typeof origins): Pair.Placed => ({
    host: new URL(origins[letter]).host,
    domain: "pay.example",
    more: {
      SATRAIL_CELL: letter,
      SATRAIL_CELLS: `a=${origins.a},b=${origins.b}`,
      SATRAIL_CELL_REGISTRY: registry.url
    }
  })
  const { first: a, second: b, sandbox, allow } = yield* Pair.placed(cell("a"), cell("b"))
  return { a, b, sandbox, registry, world: new Map([...allow, ["pay.example", new URL(a.front.url)]]) }
})

type Cells = Effect.Success<typeof cells>

const addressIn = (company: Company, handle: string) => company.post("/v1/bitcoin/deposit/lightning-address", { handle })

/** A company of this cell, with so many sats that somebody outside paid it. */
const fundedIn = Effect.fnUntraced(function* (cell: Pair.Side, sandbox: Cells["sandbox"], sats: number) {
  const company = yield* run(() => cell.company("paid"))
  const { payment_request: paymentRequest } = yield* run(() => Customer.invoice(company, sats))
  yield* sandbox.pay({ paymentRequest })
  yield* run(() => Customer.hasBalance(company, sats))
  return company
})

const closed = ({ a, b }: Cells) =>
  Effect.andThen(
    a.close(() => Effect.void),
    b.close(() => Effect.void)
  )

it.live("cells: a company pays one of another cell at its Lightning address, and both ledgers agree to the millisatoshi", () =>
  Effect.scoped(
    Effect.gen(function* () {
      const both = yield* cells
      for (const [payer, payee, handle] of [
        [both.a, both.b, "tea"],
        [both.b, both.a, "coffee"]
      ] as const) {
        const [from, shop] = [yield* fundedIn(payer, both.sandbox, 50_000), yield* run(() => payee.company("paid"))]
        const { address } = yield* run(() => Customer.data(201, addressIn(shop, handle)))
        assert.strictEqual(address, `${handle}@pay.example`)
        yield* run(() => Customer.estimate(from, address, 1234))
        const confirmed = yield* run(() => Customer.data(201, Customer.confirm(from, address, 1234)))
        const paid = yield* run(() => Customer.ends(from, confirmed.id, "settled"))
        assert.match(paid.lightning_payment.payment_preimage, /^[0-9a-f]{64}$/)
        yield* run(() => Customer.hasBalance(shop, 1234))
        assert.strictEqual(yield* run(() => Customer.balance(from)), Customer.without(50_000, confirmed))
      }
      yield* closed(both)
    })
  )
)

it.live("cells: a handle is given out once, however many ask in both at the same moment", () =>
  Effect.scoped(
    Effect.gen(function* () {
      const both = yield* cells
      const [one, other] = [yield* run(() => both.a.company("paid")), yield* run(() => both.b.company("paid"))]
      for (const handle of ["first", "second", "third", "fourth", "fifth"]) {
        const answers = yield* run(() => Promise.all([addressIn(one, handle), addressIn(other, handle)]))
        assert.deepStrictEqual(
          answers.map(({ status, code }) => `${status} ${code ?? ""}`).toSorted(),
          ["201 ", "409 handle_taken"],
          handle
        )
      }
      yield* closed(both)
    })
  )
)

it.live("cells: a wallet and a browser that ask in the wrong cell are led to the right one, and a key is told where it belongs", () =>
  Effect.scoped(
    Effect.gen(function* () {
      const both = yield* cells
      const shop = yield* run(() => both.b.company("paid"))
      yield* run(() => Customer.data(201, addressIn(shop, "tea")))
      assert.match(shop.key, /^sr_regtest_b/)
      const web = Outbound.make({ allow: both.world })
      const offer = JSON.parse((yield* web.ask({ url: "https://pay.example/.well-known/lnurlp/tea+table4" })).body)
      assert.deepStrictEqual([offer.tag, new URL(offer.callback).host], ["payRequest", "b.pay.example"])
      assert.include(offer.metadata, "tea+table4@pay.example")
      const { pr } = JSON.parse((yield* web.ask({ url: `${offer.callback}?amount=21000` })).body)
      yield* both.sandbox.pay({ paymentRequest: pr })
      yield* run(() => Customer.hasBalance(shop, 21))

      const nobody = yield* web.ask({ url: "https://pay.example/.well-known/lnurlp/nobody" })
      assert.deepStrictEqual(JSON.parse(nobody.body), { status: "ERROR", reason: "There is no such Lightning address" })
      const page = yield* run(() => fetch(`${both.a.url()}/pay/to/tea`, { redirect: "manual", headers: { host: "pay.example" } }))
      assert.deepStrictEqual([page.status, page.headers.get("location")], [303, "https://b.pay.example/pay/to/tea"])
      const wrong = yield* run(() => both.a.ask("GET", "/v1/transactions/balance", { key: shop.key }))
      assert.deepStrictEqual(
        [wrong.status, wrong.message],
        [401, "The API key is another cell's: send the request to https://b.pay.example"]
      )
      yield* closed(both)
    })
  )
)

it.live("cells: without the registry every payment goes on but to other cells, and a new handle has to wait", () =>
  Effect.scoped(
    Effect.gen(function* () {
      const both = yield* cells
      const [shop, from] = [yield* run(() => both.a.company("paid")), yield* fundedIn(both.a, both.sandbox, 50_000)]
      const [elsewhere] = [yield* run(() => both.b.company("paid"))]
      yield* run(() => Customer.data(201, addressIn(shop, "tea")))
      yield* run(() => Customer.data(201, addressIn(elsewhere, "coffee")))
      yield* run(() => both.registry.stop("immediate"))
      const { id } = yield* run(() => Customer.data(201, Customer.confirm(from, "tea@pay.example", 1000)))
      yield* run(() => Customer.ends(from, id, "settled"))
      yield* run(() => Customer.hasBalance(shop, 1000))
      assert.deepStrictEqual(yield* run(() => Customer.refusal(addressIn(shop, "cake"))), [503, "store_unavailable"])
      assert.deepStrictEqual(yield* run(() => Customer.refusal(Customer.confirm(from, "coffee@pay.example", 1000))), [
        503,
        "store_unavailable"
      ])
      assert.strictEqual(yield* run(() => Customer.balance(from)), 49_000, "nothing is held for it")
      yield* run(() => both.registry.restart())
      yield* run(() =>
        eventually(
          "a new handle",
          () => addressIn(shop, "cake"),
          ({ status }) => status === 201
        )
      )
      yield* closed(both)
    })
  )
)

it.live("cells: a cell that dies while it is paid is paid once, when it is back, or its payer has all of his money again", () =>
  Effect.scoped(
    Effect.gen(function* () {
      const both = yield* cells
      const [from, shop] = [yield* fundedIn(both.a, both.sandbox, 50_000), yield* run(() => both.b.company("paid"))]
      const { address } = yield* run(() => Customer.data(201, addressIn(shop, "tea")))
      // Nobody answers for the address: it is refused, or waits until somebody does.
      const sent: Array<{ readonly id: string; readonly sats: number }> = []
      yield* both.b.dies(async () => {
        const confirmed = await Customer.confirm(from, address, 1000)
        if (confirmed.status === 201) sent.push({ id: confirmed.data.id, sats: 1000 })
      })
      const { id } = yield* run(() => Customer.data(201, Customer.confirm(from, address, 2000)))
      yield* both.b.dies(async () => {})
      yield* run(() => Customer.ends(from, id, "settled"))
      const ended = yield* run(() =>
        Promise.all(
          [...sent, { id, sats: 2000 }].map(async ({ id, sats }) => {
            const withdrawal = await eventually(
              `the end of ${id}`,
              () => Customer.fetchWithdrawal(from, id),
              ({ status }) => status !== "pending"
            )
            return { withdrawal, sats: withdrawal.status === "settled" ? sats : 0 }
          })
        )
      )
      yield* run(() =>
        Customer.hasBalance(
          shop,
          ended.reduce((sum, { sats }) => sum + sats, 0)
        )
      )
      const settled = ended.flatMap(({ withdrawal, sats }) => (sats > 0 ? [withdrawal] : []))
      assert.strictEqual(yield* run(() => Customer.balance(from)), Customer.without(50_000, ...settled))
      yield* closed(both)
    })
  )
)

it.live(
  "cells: a company moves with its address and its money, and nothing that is paid meanwhile or afterwards goes to anybody else",
  () =>
    Effect.scoped(
      Effect.gen(function* () {
        const both = yield* cells
        const before = yield* fundedIn(both.a, both.sandbox, 50_000)
        const [after, neighbour] = [yield* run(() => both.b.company("paid")), yield* run(() => both.b.company("paid"))]
        const { id, address } = yield* run(() => Customer.data(201, addressIn(before, "tea")))
        const web = Outbound.make({ allow: both.world })
        const offered = Effect.map(web.ask({ url: "https://pay.example/.well-known/lnurlp/tea" }), ({ body }) => JSON.parse(body))
        const invoiced = (callback: string, sats: number) =>
          Effect.map(web.ask({ url: `${callback}?amount=${sats * 1000}` }), ({ body }) => JSON.parse(body))
        const old = yield* offered
        const unpaid = yield* invoiced(old.callback, 500)

        const handOver = { cell: "b", company_id: after.id }
        for (const _ of ["once", "again"]) {
          const { deleted_at: deletedAt } = yield* run(() =>
            Customer.data(200, both.a.operate(`/companies/${before.id}/bitcoin/deposit/lightning-address/${id}/hand-over`, handOver))
          )
          assert.isNotNull(deletedAt)
        }
        assert.strictEqual((yield* offered).reason, "There is no such Lightning address", "nobody is paid for it in between")
        for (const company of [before, neighbour])
          assert.deepStrictEqual(yield* run(() => Customer.refusal(addressIn(company, "tea"))), [409, "handle_taken"])
        assert.strictEqual((yield* run(() => Customer.data(201, addressIn(after, "tea")))).address, address)

        const moved = yield* run(() => Customer.data(201, Customer.confirm(before, address, 49_000)))
        yield* run(() => Customer.ends(before, moved.id, "settled"))
        yield* run(() => Customer.hasBalance(after, 49_000))
        const left = Customer.without(50_000, moved)
        assert.strictEqual(yield* run(() => Customer.balance(before)), left)

        const { callback } = yield* offered
        assert.strictEqual(new URL(callback).host, "b.pay.example")
        yield* both.sandbox.pay({ paymentRequest: (yield* invoiced(callback, 300)).pr })
        yield* run(() => Customer.hasBalance(after, 49_300))
        yield* both.sandbox.pay({ paymentRequest: unpaid.pr })
        yield* run(() => Customer.hasBalance(before, left + 500))
        assert.strictEqual((yield* invoiced(old.callback, 500)).reason, "There is no such Lightning address")
        assert.strictEqual(yield* run(() => Customer.balance(neighbour)), 0)
        yield* closed(both)
      })
    )
)
