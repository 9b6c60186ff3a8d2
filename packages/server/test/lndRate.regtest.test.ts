import { assert, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import { eventually } from "@satrail/contracts/Eventually"
import * as Policy from "@satrail/core/service/Policy"
import { Network } from "@satrail/regtest/Network"
import * as Peer from "@satrail/regtest/Peer"
import * as Real from "@satrail/regtest/Real"
import { Clock, Effect } from "effect"
import * as Composed from "./Composed.ts"

/** How many payments are under way at once, and how many there are in one round. */
const atOnce = 50
const count = 200
const rounds = 5

const settings = { ...Policy.defaults, network: "regtest", domain: "satrail.localhost", paymentsAtOnce: atOnce } as const

/** Fresh invoices of carol's. */
const invoices = Effect.gen(function* () {
  const { carol } = yield* Network
  const one = Peer.invoice(carol, { amount: Msat.fromSats(100), behaviour: "settle" })
  return yield* Effect.forEach(Array.from({ length: count }), () => one, { concurrency: 20 })
})

/** How many a second. */
const rate = Effect.fnUntraced(function* <E, R>(all: Effect.Effect<unknown, E, R>) {
  const before = yield* Clock.currentTimeMillis
  yield* all
  return (count * 1000) / ((yield* Clock.currentTimeMillis) - before)
})

const median = (values: ReadonlyArray<number>) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

Real.suite("the service on lnd: how much it sends", ["btcd", "lnd"], () => {
  it.layer(Real.network, { excludeTestServices: true })((it) => {
    it.effect(
      "payment worker: pays as much as lnd does when it is called directly: prints both, in payments a second, and their ratio",
      () =>
        Effect.gen(function* () {
          const { alice } = yield* Network
          const [direct, ours]: [Array<number>, Array<number>] = [[], []]
          const directly = Effect.gen(function* () {
            const asked = yield* invoices
            direct.push(yield* rate(Effect.forEach(asked, (one) => Peer.pay(alice, one), { concurrency: atOnce })))
          })
          const through = Effect.fnUntraced(function* (world: Composed.World, shop: Composed.Company) {
            const { run } = world
            const given = yield* invoices
            const all = Effect.gen(function* () {
              yield* Effect.forEach(given, (one) => run(Composed.confirm(shop, one)), { concurrency: atOnce })
              // One question for all of them: to look at each would take the time that is measured.
              yield* eventually(run(Composed.balance(shop)), ({ held }) => held === Msat.zero)
            })
            ours.push(yield* rate(all))
          })
          // Before and after, so that neither has the warmer nodes; the first round of each warms it up. In between the story counts what alice pays.
          for (const _ of [1, 2, 3]) yield* directly
          yield* Composed.story(
            (world) =>
              Effect.gen(function* () {
                const shop = yield* Composed.companyWith(world, 1_000_000)
                for (let round = 0; round <= rounds; round++) yield* through(world, shop)
                const { posted, held } = yield* world.run(Composed.balance(shop))
                assert.deepStrictEqual([posted < Msat.fromSats(1_000_000 - (rounds + 1) * count * 100), held], [true, Msat.zero])
              }),
            20_000,
            settings
          )
          for (const _ of [1, 2, 3]) yield* directly
          for (const measured of [direct, ours]) measured.shift()
          const ratio = median(ours) / median(direct)
          const said = (values: ReadonlyArray<number>) => values.map((value) => value.toFixed(1)).join(", ")
          console.log(
            `lnd asked directly: ${said(direct)} payments a second; the service: ${said(ours)}; ratio of the medians ${ratio.toFixed(2)}`
          )
        })
    )
  })
})
