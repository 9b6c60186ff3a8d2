import { assert, it } from "@effect/vitest"
import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Preimage from "@satrail/bitcoin/Preimage"
import { eventually } from "@satrail/contracts/Eventually"
import type * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { toBase64Url } from "@satrail/nodes/LndBytes"
import { Network } from "@satrail/regtest/Network"
import * as Peer from "@satrail/regtest/Peer"
import type * as Proxy from "@satrail/regtest/Proxy"
import * as Real from "@satrail/regtest/Real"
import { Effect, Result } from "effect"
import * as Composed from "./Composed.ts"
import * as CoveredCheckout from "./CoveredCheckout.ts"

const hashOf = (paymentRequest: string) => Result.getOrThrow(Bolt11.decode(paymentRequest)).paymentHash

/** An invoice from carol with this amount and behavior. */
const carols = Effect.fnUntraced(function* (amount: number, behaviour: "settle" | "fail" | "hold") {
  return yield* Peer.invoice((yield* Network).carol, { amount: Msat.fromSats(amount), behaviour })
})

const received = Effect.fnUntraced(function* (paymentRequest: string) {
  return yield* Peer.received((yield* Network).carol, hashOf(paymentRequest))
})

/** Checks that the withdrawal settled with its preimage and that carol was paid once. */
const isSettled = Effect.fnUntraced(function* (
  { run }: Composed.World,
  withdrawal: Withdrawal.Withdrawal,
  paymentRequest: string
) {
  const { status, preimage, networkFee } = yield* run(Composed.end(withdrawal))
  assert.strictEqual(status, "settled")
  assert.isTrue(preimage !== null && Preimage.proves(preimage, hashOf(paymentRequest)))
  assert.isAbove(Number(networkFee), 0, "bob forwards for a fee")
  assert.strictEqual(yield* received(paymentRequest), withdrawal.amount)
})

/** Checks that the withdrawal failed for this reason and that the company's balance is restored. */
const isRefunded = Effect.fnUntraced(function* (
  { run }: Composed.World,
  shop: Composed.Company,
  had: number,
  withdrawal: Withdrawal.Withdrawal,
  reason: string
) {
  const { status, failure } = yield* run(Composed.end(withdrawal))
  assert.deepStrictEqual<ReadonlyArray<unknown>>([status, failure], ["failed", reason])
  assert.deepStrictEqual<unknown>(yield* run(Composed.balance(shop)), {
    posted: Msat.fromSats(had),
    held: Msat.zero
  })
})

/** Three times the number of concurrent payments. */
const many = Array.from({ length: 150 }, (_, at) => at)

const isPending = Effect.fnUntraced(function* ({ run }: Composed.World, withdrawal: Withdrawal.Withdrawal) {
  assert.strictEqual((yield* run(Composed.now(withdrawal))).status, "pending")
})

Real.suite("the service on lnd", ["btcd", "lnd"], () => {
  it.layer(Real.network, { excludeTestServices: true })((it) => {
    it.effect(
      "C60: lnd: an incoming payment is credited once, even if it arrives while the service is down",
      () =>
        Composed.story((world) =>
          Effect.gen(function* () {
            const { run, start, stop } = world
            const { carol } = yield* Network
            const shop = yield* Composed.companyWith(world, 1000)
            const [second, third] = [
              yield* run(Composed.invoice(shop, 200)),
              yield* run(Composed.invoice(shop, 30))
            ]
            yield* stop
            yield* Peer.pay(carol, second.paymentRequest)
            yield* start
            yield* eventually(run(Composed.balance(shop)), ({ posted }) => posted === Msat.fromSats(1200))
            yield* Peer.pay(carol, third.paymentRequest)
            yield* eventually(run(Composed.balance(shop)), ({ posted }) => posted === Msat.fromSats(1230))
            // Another process checks everything once more.
            yield* stop
            yield* start
            yield* Effect.sleep("1 second")
            assert.strictEqual((yield* run(Composed.balance(shop))).posted, Msat.fromSats(1230))
          })
        )
    )

    it.effect("lnd: a payment received while the connection is down is credited after reconnecting", () =>
      Composed.story((world) =>
        Effect.gen(function* () {
          const { proxy, run } = world
          const { carol } = yield* Network
          const shop = yield* Composed.companyWith(world, 1000)
          const { paymentRequest } = yield* run(Composed.invoice(shop, 500))
          yield* proxy.cut
          yield* Peer.pay(carol, paymentRequest)
          assert.strictEqual((yield* run(Composed.balance(shop))).posted, Msat.fromSats(1000))
          yield* proxy.mend
          yield* eventually(run(Composed.balance(shop)), ({ posted }) => posted === Msat.fromSats(1500))
        })
      )
    )

    it.effect("lnd: once on-chain payments cover a checkout, lnd accepts no payment of its invoices", () =>
      Composed.story(({ run }) =>
        Effect.gen(function* () {
          const { carol } = yield* Network
          const shop = yield* run(Composed.company)
          yield* run(CoveredCheckout.covered(shop, (paymentRequest) => Peer.pay(carol, paymentRequest)))
        })
      )
    )

    it.effect("lnd: a withdrawal settles with its preimage and the fee that lnd paid", () =>
      Composed.story((world) =>
        Effect.gen(function* () {
          const shop = yield* Composed.companyWith(world, 50_000)
          const destination = yield* carols(10_000, "settle")
          yield* isSettled(world, yield* world.run(Composed.confirm(shop, destination)), destination)
        })
      )
    )

    it.effect("lnd: a payment that cannot be made fails, and the whole amount is released", () =>
      Composed.story((world) =>
        Effect.gen(function* () {
          const { run } = world
          const shop = yield* Composed.companyWith(world, 50_000)
          const refused = yield* run(Composed.confirm(shop, yield* carols(10_000, "fail")))
          yield* isRefunded(world, shop, 50_000, refused, "incorrect_payment_details")
          const unreachable = yield* run(
            Composed.confirm(shop, yield* Peer.unreachable(Msat.fromSats(10_000)))
          )
          yield* isRefunded(world, shop, 50_000, unreachable, "no_route")
        })
      )
    )

    it.effect("C26: lnd: a route above the fee limit is not used", () =>
      Composed.story((world) =>
        Effect.gen(function* () {
          const { run } = world
          const shop = yield* Composed.companyWith(world, 50_000)
          const { alice, bob, carol } = yield* Network
          // The fee limit of 5 sats plus 0.5 % is 10 sats for a payment of 1000 sats.
          yield* Peer.charges(bob, Msat.fromSats(20), [alice, carol])
          const destination = yield* carols(1000, "settle")
          const withdrawal = yield* run(Composed.confirm(shop, destination))
          yield* isRefunded(world, shop, 50_000, withdrawal, "no_route")
          assert.strictEqual(yield* received(destination), Msat.zero)
        })
      ).pipe(
        Effect.ensuring(
          Effect.orDie(
            Effect.flatMap(Network, ({ alice, bob, carol }) =>
              Peer.charges(bob, Msat.fromSats(1), [alice, carol])
            )
          )
        )
      )
    )

    for (const outcome of ["settle", "fail"] as const) {
      it.effect(
        `C1: lnd: a held payment stays pending through restarts of the service and of lnd, then ${outcome}s once`,
        () =>
          Composed.story((world) =>
            Effect.gen(function* () {
              const { run, start, stop } = world
              const { alice, carol } = yield* Network
              const shop = yield* Composed.companyWith(world, 50_000)
              const destination = yield* carols(10_000, "hold")
              const withdrawal = yield* run(Composed.confirm(shop, destination))
              yield* Peer.arrived(carol, hashOf(destination))
              yield* isPending(world, withdrawal)
              yield* stop
              yield* start
              yield* isPending(world, withdrawal)
              yield* alice.stop("SIGKILL")
              yield* Effect.sleep("1 second")
              yield* isPending(world, withdrawal)
              yield* alice.start
              yield* isPending(world, withdrawal)
              yield* stop
              yield* alice.stop("SIGTERM")
              yield* alice.start
              yield* start
              yield* isPending(world, withdrawal)
              assert.isAbove(Number((yield* run(Composed.balance(shop))).held), 10_000_000)
              yield* Peer.release(carol, hashOf(destination), outcome)
              if (outcome === "settle") yield* isSettled(world, withdrawal, destination)
              else yield* isRefunded(world, shop, 50_000, withdrawal, "incorrect_payment_details")
            })
          )
      )
    }

    it.effect("lnd: 150 payments in each direction, 50 at a time, are all credited or debited", () =>
      Composed.story((world) =>
        Effect.gen(function* () {
          const { proxy, run } = world
          const { alice, carol } = yield* Network
          const each = { concurrency: 50 }
          const shop = yield* Composed.companyWith(world, 600_000)
          const ours = yield* Effect.forEach(many, () => run(Composed.invoice(shop, 1000)), each)
          const begunAtMillis = performance.now()
          yield* Effect.forEach(ours, ({ paymentRequest }) => Peer.pay(carol, paymentRequest), {
            ...each,
            discard: true
          })
          yield* eventually(
            run(Composed.balance(shop)),
            ({ posted }) => posted === Msat.fromSats(600_000 + many.length * 1000)
          )
          const receivedAtMillis = performance.now()
          const theirs = yield* Effect.forEach(many, () => carols(1000, "settle"), each)
          const beganToSendAtMillis = performance.now()
          // A busy machine may need minutes for all of them, so what counts is that some payment ends.
          let endedAtMillis = performance.now()
          const ended = (withdrawal: Withdrawal.Withdrawal) =>
            Effect.gen(function* () {
              const { status } = yield* run(Composed.now(withdrawal))
              if (status !== "pending") endedAtMillis = performance.now()
              else yield* Effect.sleep(50)
              return status
            }).pipe(
              Effect.repeat({
                while: (status) => status === "pending" && performance.now() - endedAtMillis < 120_000
              })
            )
          const sent = yield* Effect.forEach(
            theirs,
            (destination) =>
              Effect.flatMap(run(Composed.confirm(shop, destination)), (withdrawal) =>
                Effect.map(ended(withdrawal), (status) => ({ destination, withdrawal, status }))
              ),
            each
          )
          const sentAtMillis = performance.now()
          // Now and then, lnd holds a payment in flight, or has no record of it, until it is restarted. The service
          // must go on asking for it.
          const held = sent.filter(({ status }) => status === "pending")
          if (held.length > 0) {
            for (const { destination, withdrawal } of held) {
              const paymentHash = hashOf(destination)
              const calls = new RegExp(`router/track/${toBase64Url(paymentHash)}`)
              const asked = yield* proxy.count(calls)
              const { status, dispatchedAtMillis } = yield* run(Composed.now(withdrawal))
              const said = (yield* Peer.sent(alice, paymentHash)) ?? "no record"
              console.log(
                `lnd: ${paymentHash} ${status}, dispatched ${dispatchedAtMillis}, looked up ${asked} times: ${said}\n${alice.logged(paymentHash)}`
              )
              yield* eventually(
                Effect.all([run(Composed.now(withdrawal)), proxy.count(calls)]),
                ([{ status }, count]) => status !== "pending" || count > asked
              )
            }
            yield* alice.stop("SIGTERM")
            yield* alice.start
          }
          const settled = yield* Effect.forEach(sent, ({ withdrawal }) => run(Composed.end(withdrawal)), each)
          assert.deepStrictEqual([...new Set(settled.map(({ status }) => status))], ["settled"])
          const got = yield* Effect.forEach(theirs, received, each)
          assert.strictEqual(Msat.sum(...got), Msat.fromSats(many.length * 1000))
          const rate = (millis: number) => `${((many.length / millis) * 1000).toFixed(0)} a second`
          const rates = [rate(receivedAtMillis - begunAtMillis), rate(sentAtMillis - beganToSendAtMillis)]
          console.log(`lnd: received ${rates[0]}, sent ${rates[1]}, ${held.length} after lnd's restart`)
        })
      )
    )

    // How long to wait for a lost response.
    const patienceMillis = 3000
    // Every call in a payment's life cycle, and every way in which a call can fail.
    const calls = {
      "to pay": /^\/v2\/router\/send/,
      "to look up a payment's outcome": /^\/v2\/router\/track/,
      "to get the node's identity": /^\/v1\/getinfo/
    }
    const faults: Record<string, Proxy.Fault> = {
      "never arrives": { lose: "request" },
      "is received but its response is lost": { lose: "answer" },
      "gets only half of its response": { lose: "middle" },
      "gets its response after the timeout": { delayMillis: 4000 }
    }
    for (const [how, fault] of Object.entries(faults)) {
      it.effect(
        `C60: lnd: a payment is credited once even if the call that watches the payment's invoice ${how}`,
        () =>
          Composed.story(
            (world) =>
              Effect.gen(function* () {
                const { proxy, run } = world
                const { carol } = yield* Network
                const shop = yield* Composed.companyWith(world, 1000)
                const { paymentRequest } = yield* run(Composed.invoice(shop, 500))
                for (let times = 0; times < 2; times++) {
                  yield* proxy.fail(/^\/v1\/invoices\/subscribe/, fault)
                  yield* proxy.fail(/^\/v1\/invoice\//, fault)
                }
                // Cut all open connections, so that their requests are repeated.
                yield* proxy.cut
                yield* proxy.mend
                yield* Peer.pay(carol, paymentRequest)
                yield* eventually(run(Composed.balance(shop)), ({ posted }) => posted === Msat.fromSats(1500))
              }),
            patienceMillis
          )
      )
    }

    for (const [call, path] of Object.entries(calls)) {
      for (const [how, fault] of Object.entries(faults)) {
        it.effect(
          `C2: lnd: when the call ${call} ${how}, the node determines the outcome, and nothing is sent twice`,
          () =>
            Composed.story(
              (world) =>
                Effect.gen(function* () {
                  const { proxy, run } = world
                  const shop = yield* Composed.companyWith(world, 50_000)
                  const [held, good, bad] = [
                    yield* carols(10_000, "hold"),
                    yield* carols(10_000, "settle"),
                    yield* carols(10_000, "fail")
                  ]
                  const { carol } = yield* Network
                  for (let times = 0; times < 3; times++) yield* proxy.fail(path, fault)
                  const withdrawals = yield* Effect.forEach([held, good, bad], (destination) =>
                    run(Composed.confirm(shop, destination))
                  )
                  const [first, second, third] = withdrawals
                  if (first === undefined || second === undefined || third === undefined)
                    return assert.fail("three were confirmed")
                  yield* Peer.arrived(carol, hashOf(held))
                  yield* isSettled(world, second, good)
                  assert.strictEqual((yield* run(Composed.end(third))).status, "failed")
                  yield* isPending(world, first)
                  yield* Peer.release(carol, hashOf(held), "settle")
                  yield* isSettled(world, first, held)
                  assert.strictEqual(
                    yield* proxy.count(calls["to pay"]),
                    3,
                    "each payment reached the node once"
                  )
                }),
              patienceMillis
            )
        )
      }
    }
  })
})
