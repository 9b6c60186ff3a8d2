import { assert, it } from "@effect/vitest"
import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Ledger from "@satrail/contracts/Ledger"
import { Records } from "@satrail/core/service/Records"
import * as Lnd from "@satrail/nodes/Lnd"
import * as Storage from "@satrail/service/postgres/Storage"
import type { Lnd as Node } from "@satrail/regtest/Lnd"
import { Network } from "@satrail/regtest/Network"
import * as Peer from "@satrail/regtest/Peer"
import * as Real from "@satrail/regtest/Real"
import * as Outbound from "@satrail/web/Outbound"
import { Effect, Redacted, Result } from "effect"
import { createHash } from "node:crypto"
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { setTimeout as pass } from "node:timers/promises"
import * as Points from "./cluster/Points.ts"
import * as Customer from "./Customer.ts"
import * as Service from "./Service.ts"

// The service as a separate process on lnd and the embedded database, killed without warning.

/**
 * The lifetime of a killed process's claims: twice the longest time for which the process's call to lnd may be
 * in flight.
 */
const claimMillis = 121_000

/**
 * The delays between a confirmation and the kill: before the withdrawal is started, while it is sent, while it
 * is held, and after it has settled.
 */
const deathsMillis = [0, 15, 40, 80, 150, 400]

const hashOf = (paymentRequest: string) => Result.getOrThrow(Bolt11.decode(paymentRequest)).paymentHash
const uris = (calls: ReadonlyArray<{ readonly uri: string }>) => calls.map(({ uri }) => uri)

const configured = (alice: Node) =>
  Effect.gen(function* () {
    return {
      LIGHTNING: "lnd",
      // The scenarios use the demo company's key.
      SATRAIL_DEMO: "yes",
      // These settings prevent requests to other machines.
      RATES: "fixed",
      RESOLVER: "sandbox",
      LND_REST_URL: alice.url,
      LND_TLS_CERT: alice.certificateFile,
      LND_RECEIVER_MACAROON: Redacted.value(yield* alice.bake(uris(Lnd.receiverCalls))),
      LND_SENDER_MACAROON: Redacted.value(yield* alice.bake(uris(Lnd.senderCalls))),
      LND_INVOICE_SECRET: "known-to-everybody-who-reads-the-tests"
    }
  })

/** Checks the books of a stopped service and returns the node's balance in them. */
const booked = (data: string) =>
  Effect.gen(function* () {
    yield* Ledger.auditAll
    return (yield* (yield* Records).trialBalance).node
  }).pipe(Effect.provide(Storage.layerEmbedded({ directory: path.join(data, "database") })))

const metrics = async (service: ReturnType<typeof Service.make>): Promise<string> =>
  (
    await fetch(`${service.url()}/operator/metrics`, {
      headers: { authorization: `Bearer ${service.token()}` }
    })
  ).text()

type Parts = Effect.Success<ReturnType<typeof begun>>

/** A running service on alice, and a company that has received this many sats from carol. */
const begun = Effect.fnUntraced(function* (alice: Node, carol: Node, sats: number, points?: string) {
  const env = { ...(yield* configured(alice)), ...(points !== undefined && { POINTS_DIRECTORY: points }) }
  const service = yield* Effect.acquireRelease(
    Effect.sync(() => Service.make({ claimMillis, ...(points !== undefined && { program: "points" }) })),
    (service) => Effect.promise(() => service.end())
  )
  const run = <A>(use: () => Promise<A>) => Effect.promise(use)
  const start = run(() => service.start(env))
  yield* start
  const shop = yield* run(() => service.company("paid"))
  if (sats > 0) {
    const { payment_request } = yield* run(() => Customer.invoice(shop, sats))
    yield* Peer.pay(carol, payment_request)
    yield* run(() => Customer.hasBalance(shop, sats))
  }
  return { alice, carol, env, service, run, start, shop }
})

/**
 * Runs a scenario with the service. At the end lnd's balance must match the books to the millisatoshi. Returns the
 * booked balance.
 */
const story = Effect.fnUntraced(function* <E, R>(
  options: { readonly sats: number; readonly points?: string },
  tell: (parts: Parts) => Effect.Effect<unknown, E, R>
) {
  const { alice, carol } = yield* Network
  const before = yield* Peer.restingBalance(alice)
  const parts = yield* begun(alice, carol, options.sats, options.points)
  yield* tell(parts)
  yield* parts.run(() => parts.service.stop("SIGTERM"))
  const node = yield* booked(parts.service.data)
  assert.strictEqual(
    (yield* Peer.restingBalance(alice)) - before,
    -node,
    "lnd's balance matches the books to the millisatoshi"
  )
  return node
})

Real.suite("the service on lnd, as a process", ["btcd", "lnd"], () => {
  it.layer(Real.network, { excludeTestServices: true })((it) => {
    it.effect(
      "C10: lnd: a confirmed withdrawal is sent once and gets lnd's outcome, no matter when the process is killed",
      () =>
        story({ sats: 500_000 }, ({ carol, service, run, start, shop }) =>
          Effect.gen(function* () {
            const sent: Array<{
              readonly id: string
              readonly destination: string
              readonly isHeld: boolean
            }> = []
            for (const [at, deathMillis] of deathsMillis.entries()) {
              const isHeld = at % 2 === 1
              const amount = Msat.fromSats(1000 + at)
              const destination = yield* Peer.invoice(carol, {
                amount,
                behaviour: isHeld ? "hold" : "settle"
              })
              const { id } = yield* run(() =>
                Customer.data(201, Customer.confirm(shop, destination, 1000 + at))
              )
              yield* run(() => pass(deathMillis))
              yield* run(() => service.stop("SIGKILL"))
              // A payment arrives while no process runs.
              if (at === 0) {
                yield* start
                const late = yield* run(() => Customer.invoice(shop, 777))
                yield* run(() => service.stop("SIGKILL"))
                yield* Peer.pay(carol, late.payment_request)
              }
              sent.push({ id, destination, isHeld })
              yield* start
            }
            for (const { id, destination, isHeld } of sent) {
              if (isHeld) {
                yield* Peer.arrived(carol, hashOf(destination))
                assert.strictEqual((yield* run(() => Customer.fetchWithdrawal(shop, id))).status, "pending")
                yield* Peer.release(carol, hashOf(destination), "settle")
              }
              const { lightning_payment: payment } = yield* run(() => Customer.ends(shop, id, "settled"))
              assert.strictEqual(Customer.hashOf(payment.payment_preimage), hashOf(destination))
            }
          })
        )
    )

    it.effect(
      "C10: lnd: killing the process before or after any step of an incoming or outgoing payment does not change the payment's outcome",
      () =>
        Effect.gen(function* () {
          const directory = yield* Effect.acquireRelease(
            Effect.sync(() => mkdtempSync(path.join(tmpdir(), "satrail-points-"))),
            (made) => Effect.sync(() => rmSync(made, { recursive: true }))
          )
          const { death } = Points.files(directory)
          yield* story({ sats: 500_000, points: directory }, ({ carol, env, service, run, shop }) =>
            Effect.gen(function* () {
              let deaths = 0
              const again = async () => {
                deaths++
                await service.stop("SIGKILL")
                await service.start(env)
              }
              /** Repeats a request until it gets a response, as a customer would. Restarts the process if necessary. */
              const insist = async (ask: () => Promise<Service.Answer>): Promise<Service.Answer> => {
                for (;;) {
                  const answer = await ask().catch(() => undefined)
                  if (answer !== undefined) return answer
                  await again()
                }
              }
              /**
               * Waits until a process has died at each of these points. A repeated request may already have
               * started the next process.
               */
              const died = async (point: string, points: number) => {
                if (deaths < points) {
                  await Service.eventually(
                    `a death ${point}`,
                    async () => service.isOver(),
                    (isOver) => isOver
                  )
                  await again()
                }
                assert.deepStrictEqual([deaths, existsSync(death)], [points, false], point)
              }

              const sends = [
                "WithdrawalRequested",
                "claim withdrawal",
                "WithdrawalDispatched",
                "pay",
                "WithdrawalSettled"
              ]
              for (const [at, point] of sends
                .flatMap((call) => [`before ${call}`, `after ${call}`])
                .entries()) {
                const destination = yield* Peer.invoice(carol, {
                  amount: Msat.fromSats(1000 + at),
                  behaviour: "settle"
                })
                writeFileSync(death, point)
                const headers = { "Idempotency-Key": point.replaceAll(" ", "-") }
                const { id } = yield* run(() =>
                  Customer.data(
                    201,
                    insist(() => Customer.confirm(shop, destination, 1000 + at, headers))
                  )
                )
                yield* run(() => died(point, at + 1))
                const { lightning_payment: payment } = yield* run(() => Customer.ends(shop, id, "settled"))
                assert.strictEqual(Customer.hashOf(payment.payment_preimage), hashOf(destination), point)
              }

              const receives = ["createInvoice", "InvoiceCreated", "InvoiceSettled"]
              let received = 0
              for (const [at, point] of receives
                .flatMap((call) => [`before ${call}`, `after ${call}`])
                .entries()) {
                writeFileSync(death, point)
                const sats = 2000 + at
                const headers = { "Idempotency-Key": point.replaceAll(" ", "-") }
                const ask = () =>
                  shop.post(
                    "/v1/bitcoin/deposit/lightning-invoice",
                    { amount: sats, currency: "sats" },
                    headers
                  )
                const { payment_request } = yield* run(() => Customer.data(201, insist(ask)))
                const had = yield* run(() => Customer.balance(shop))
                yield* Peer.pay(carol, payment_request)
                yield* run(() => died(point, 2 * sends.length + at + 1))
                yield* run(() => Customer.hasBalance(shop, had + sats))
                received += sats
              }
              assert.strictEqual(received, 12_015)
            })
          )
        })
    )

    it.effect("lnd: a wallet pays a Lightning address and sees the payment settled (LUD-06, 16, 21)", () =>
      Effect.gen(function* () {
        const node = yield* story({ sats: 0 }, ({ carol, service, run, shop }) =>
          Effect.gen(function* () {
            const { address } = yield* run(() =>
              Customer.data(201, shop.post("/v1/bitcoin/deposit/lightning-address", {}))
            )
            const [handle, domain] = address.split("@")

            const wallet = Outbound.make({ allow: new Map([[domain, new URL(service.url())]]) })
            const asked = (url: string) => Effect.map(wallet.ask({ url }), ({ body }) => JSON.parse(body))
            const offer = yield* asked(`https://${domain}/.well-known/lnurlp/${handle}`)
            const { pr, verify } = yield* asked(`${offer.callback}?amount=1234567`)
            const { amount, descriptionHash, paymentHash } = Result.getOrThrow(Bolt11.decode(pr))
            const committed = createHash("sha256").update(offer.metadata, "utf8").digest("hex")
            assert.deepStrictEqual([amount, descriptionHash], [Msat.make(1_234_567n), committed])
            assert.deepStrictEqual(yield* asked(verify), { status: "OK", settled: false, preimage: null, pr })

            yield* Peer.pay(carol, pr)
            yield* run(() => Customer.hasBalance(shop, 1234))
            const { settled, preimage } = yield* asked(verify)
            assert.deepStrictEqual([settled, Customer.hashOf(preimage)], [true, paymentHash])
          })
        )
        assert.strictEqual(node, -1_234_567n)
      })
    )

    it.effect(
      "lnd: during an outage, reads work and withdrawals wait, even if the service is restarted; after the outage, all work resumes",
      () =>
        story({ sats: 100_000 }, ({ alice, carol, env, service, run, shop }) =>
          Effect.gen(function* () {
            const destination = yield* Peer.invoice(carol, {
              amount: Msat.fromSats(1000),
              behaviour: "settle"
            })
            yield* Effect.acquireUseRelease(
              alice.stop("SIGKILL"),
              () =>
                run(async () => {
                  await service.stop("SIGTERM")
                  await service.start(env, 503)
                  const readiness = await service.ask("GET", "/readyz")
                  assert.strictEqual(readiness.message, "Not ready: node, sender")
                  assert.include(readiness.text, '{"path":"node","message":"lnd refuses the connection"}')
                  assert.include((await metrics(service)).split("\n"), 'satrail_node_up{node="lnd"} 0')
                  assert.strictEqual(await Customer.balance(shop), 100_000)
                  assert.strictEqual(
                    (
                      await Customer.refusal(
                        shop.post("/v1/bitcoin/deposit/lightning-invoice", { amount: 5, currency: "sats" })
                      )
                    )[0],
                    503
                  )
                  const { id } = await Customer.data(201, Customer.confirm(shop, destination, 1000))
                  assert.strictEqual((await Customer.fetchWithdrawal(shop, id)).status, "pending")
                  await Service.eventually(
                    "a log line about the outage",
                    async () => service.logs(),
                    (lines) =>
                      lines.some((line) =>
                        line.includes(`lnd refuses the connection. Nothing listens at ${alice.url}`)
                      )
                  )
                  return id
                }),
              () => Effect.orDie(alice.start)
            ).pipe(
              Effect.flatMap((id) =>
                run(async () => {
                  await Service.eventually(
                    "readiness",
                    () => service.ask("GET", "/readyz"),
                    ({ status }) => status === 200
                  )
                  // The withdrawal's pay call was never sent, so it is sent now, without the grace period for a
                  // call that may be in flight.
                  const backMillis = performance.now()
                  await Customer.ends(shop, id, "settled")
                  console.info(
                    `withdrawal settled ${Math.round(performance.now() - backMillis)} ms after /readyz was 200 again`
                  )
                  assert.include((await metrics(service)).split("\n"), 'satrail_node_up{node="lnd"} 1')
                  const begins = service
                    .logs()
                    .filter((line) => line.includes('"lnd refuses the connection.'))
                  assert.isAtMost(begins.length, 2, "each process logs the outage at most once")
                })
              )
            )
          })
        )
    )
  })
})
