import { assert, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Bitcoind from "@satrail/regtest/Bitcoind"
import * as Ldk from "@satrail/regtest/Ldk"
import * as LdkNetwork from "@satrail/regtest/LdkNetwork"
import * as Network from "@satrail/regtest/Network"
import * as Peer from "@satrail/regtest/Peer"
import * as Process from "@satrail/regtest/Process"
import * as Real from "@satrail/regtest/Real"
import { Effect, Layer, Schema } from "effect"
import { cpSync, globSync, rmSync, statSync } from "node:fs"
import path from "node:path"
import * as Customer from "./Customer.ts"
import * as OnLdk from "./OnLdk.ts"
import * as Service from "./Service.ts"

const network = Layer.provideMerge(Layer.effect(Network.Network, Network.make), Bitcoind.layer)

const act = <A>(evaluate: () => Promise<A>) => Effect.promise(evaluate)

/** LDK counts as idle after it has written nothing for this long. */
const restMillis = 2000

/**
 * Waits until LDK is idle. If it were killed between writing a channel and its manager, it would close the
 * channel (see packages/nodes/test/LdkChannels.bitcoind.test.ts).
 */
const atRest = (store: string) =>
  Process.until(
    "LDK is at rest",
    Effect.sync(() => {
      const written = globSync(["ldk/**/manager", "ldk/**/monitors/**"], { cwd: store }).map(
        (file) => statSync(path.join(store, file)).mtimeMs
      )
      return (written.length > 0 && Date.now() - Math.max(...written) > restMillis) || undefined
    })
  )

Real.suite("the service on LDK", ["bitcoind", "lnd", "ldk"], () => {
  it.layer(network, { excludeTestServices: true })((it) => {
    it.effect(
      "ldk: the service starts its node, warns if the node has no channel, receives and pays even if the node is killed, and reconciles its books; the node exits when the service is killed, and an old copy of the node's store is rejected",
      () =>
        Effect.gen(function* () {
          const { bob, carol } = yield* Network.Network
          const folder = yield* Process.folder
          const env = yield* OnLdk.settings(folder)
          const service = Service.make()
          yield* Effect.addFinalizer(() => act(() => service.end()))
          yield* act(() => service.start(env))
          const dora = { name: "dora", ask: Ldk.asking(env.LDK_SOCKET) }

          // Without a channel the service runs and reports the features that do not work.
          const warned = async () => {
            const { status, data } = await service.ask("GET", "/readyz")
            assert.strictEqual(status, 200)
            return (data.warnings ?? []).map(({ code }: { readonly code: string }) => code)
          }
          assert.deepStrictEqual(yield* act(warned), ["no_active_channel"])
          const checked = yield* act(() => Service.run("cli", ["check"], { ...service.env(), ...env }).ended)
          assert.match(checked.stdout + checked.stderr, /! LDK: the Lightning node has no active channel/)

          yield* LdkNetwork.open(dora, bob)
          yield* act(() =>
            Service.eventually("no warning with a channel", warned, (codes) => codes.length === 0)
          )
          const shop = yield* act(() => service.company("paid"))

          // The operator's own funds in channels have no ledger entry. Later incoming and outgoing payments do
          // not change them.
          const compared = act(async () => {
            const since = new Date().toISOString()
            const { data } = await Service.eventually(
              "a complete reconciliation",
              () => service.ask("GET", "/operator/reconciliation", { key: service.token() }),
              ({ data }) =>
                data.report !== null &&
                data.report.reconciled_at > since &&
                data.report.is_behind === false &&
                data.report.node.owned_sats > 7_000_000 &&
                data.report.node.on_its_way_sats[1] === 0
            )
            const causes = Object.keys(data.report.differences_by_cause).filter(
              (cause) => cause !== "node_balance"
            )
            return [Number(data.report.node.unexplained_sats), causes] as const
          })
          const opening = yield* compared
          // 50 million sats, minus the 7 million that were on the peer's side when the channel opened, minus
          // the opening fee.
          assert.approximately(opening[0], 43_000_000, 1000)
          assert.deepStrictEqual(opening[1], [])

          const first = yield* act(() => Customer.invoice(shop, 50_000))
          yield* Process.until("carol can pay", Effect.as(Peer.pay(carol, first.payment_request), true), 60)
          yield* act(() => Customer.hasBalance(shop, 50_000))

          const destination = yield* Peer.invoice(carol, {
            amount: Msat.fromSats(10_000),
            behaviour: "settle"
          })
          yield* LdkNetwork.findsWay(dora, destination, 10_000)
          const paid = yield* act(() => Customer.data(201, Customer.confirm(shop, destination, 10_000)))
          yield* act(() => Customer.ends(shop, paid.id, "settled"))

          yield* atRest(env.LDK_STORE)
          process.kill(Ldk.ownerOf(env.LDK_STORE) ?? assert.fail("no process holds the store"), "SIGKILL")
          const second = yield* act(() =>
            Service.eventually(
              "an invoice from the restarted node",
              () => shop.post("/v1/bitcoin/deposit/lightning-invoice", { amount: 7_000, currency: "sats" }),
              ({ status }) => status === 201
            )
          )
          // Wait for the channel, because a payer whose first attempt fails avoids that route for a while.
          const channels = dora.ask("channels", {}, LdkNetwork.Channels)
          yield* Process.until(
            "the channel is back",
            Effect.map(channels, ({ channels }) => channels.some(({ usable }) => usable) || undefined)
          )
          yield* Process.until(
            "carol can pay",
            Effect.as(Peer.pay(carol, second.data.payment_request), true),
            60
          )
          yield* act(() => Customer.hasBalance(shop, Customer.without(57_000, paid)))
          assert.deepStrictEqual(yield* compared, opening)

          yield* act(() => service.stop("SIGTERM"))
          const backup = `${env.LDK_STORE}.backup`
          cpSync(env.LDK_STORE, backup, { recursive: true })
          yield* act(() => service.start(env))
          yield* act(() => service.stop("SIGKILL"))
          yield* Process.until(
            "the node has exited after the service was killed",
            Effect.map(
              Effect.exit(dora.ask("hello", {}, Schema.Unknown)),
              ({ _tag }) => _tag === "Failure" || undefined
            )
          )
          yield* Process.until(
            "no process holds the store",
            Effect.sync(() => Ldk.ownerOf(env.LDK_STORE) === undefined || undefined)
          )
          // The node's messages appear in the service's log, which has one JSON object per line.
          const said = service.logs().map((line) => JSON.stringify(JSON.parse(line)))
          assert.isTrue(said.some((line) => line.includes("satrail-ldk: node ")))
          rmSync(env.LDK_STORE, { recursive: true })
          cpSync(backup, env.LDK_STORE, { recursive: true })
          const refused = yield* act(() => Service.run("main", [], { ...service.env(), ...env }).ended)
          assert.notStrictEqual(refused.code, 0)
          assert.match(refused.stderr, /older than satrail has seen it[^]*LDK_ACCEPT_STORE=[\da-f]{32}:\d+/)
          assert.notInclude(refused.stderr, env.LDK_INVOICE_SECRET)
          yield* dora.ask("hello", {}, Schema.Unknown).pipe(Effect.flip)
        }).pipe(Effect.scoped)
    )
  })
})
