import { assert, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Ledger from "@satrail/contracts/Ledger"
import { Records } from "@satrail/core/service/Records"
import * as Storage from "@satrail/postgres/Storage"
import * as Bitcoind from "@satrail/regtest/Bitcoind"
import * as Ldk from "@satrail/regtest/Ldk"
import * as LdkNetwork from "@satrail/regtest/LdkNetwork"
import * as Network from "@satrail/regtest/Network"
import * as Peer from "@satrail/regtest/Peer"
import * as Process from "@satrail/regtest/Process"
import * as Real from "@satrail/regtest/Real"
import { Effect, Layer } from "effect"
import path from "node:path"
import * as LocalRelay from "../../web/test/LocalRelay.ts"
import * as Customer from "./Customer.ts"
import * as OnLdk from "./OnLdk.ts"
import * as Service from "./Service.ts"

const network = Layer.provideMerge(Layer.effect(Network.Network, Network.make), Bitcoind.layer)

const act = <A>(evaluate: () => Promise<A>) => Effect.promise(evaluate)

const begun = Effect.gen(function* () {
  const service = Service.make()
  yield* Effect.addFinalizer(() => act(() => service.end()))
  return service
})

Real.suite("a service whose node is a wallet at another service on LDK", ["bitcoind", "lnd", "ldk"], () => {
  it.layer(network, { excludeTestServices: true })((it) => {
    it.effect("wallet: over two services, a relay and real channels what each owns is the same, to the millisatoshi", () =>
      Effect.gen(function* () {
        const { bob, carol } = yield* Network.Network
        const relay = yield* LocalRelay.make
        const [bank, shop] = [yield* begun, yield* begun]

        // A service on a real node, which has an account for another service: an API key, and an app connected to it.
        const env = yield* OnLdk.settings(yield* Process.folder)
        const allow = `relay.example=http://127.0.0.1:${relay.port}`
        yield* act(() => bank.start({ ...env, SATRAIL_NWC_RELAYS: "wss://relay.example", SATRAIL_OUTBOUND_ALLOW: allow }))
        const dora = { name: "dora", ask: Ldk.asking(env.LDK_SOCKET) }
        yield* LdkNetwork.open(dora, bob)
        const account = yield* act(() => bank.company("paid"))
        const scopes = ["send", "receive", "read"]
        const { id } = yield* act(() => Customer.data(201, bank.operate(`/companies/${account.id}/api-keys`, { name: "shop", scopes })))
        const { connection } = yield* act(() => Customer.data(201, bank.operate(`/api-keys/${id}/connect`, {})))
        const url = new URL(connection)
        url.searchParams.set("relay", `ws://127.0.0.1:${relay.port}`)

        yield* act(() =>
          shop.start({
            LIGHTNING: "nwc",
            RATES: "fixed",
            SATRAIL_DEMO: "yes",
            NWC_URL: url.href,
            NWC_INVOICE_SECRET: "of-the-tests-of-wallets-and-nobody-else"
          })
        )
        const customer = yield* act(() => shop.company("paid"))
        const invoice = yield* act(() => Customer.invoice(customer, 50_000))
        yield* Process.until("carol can pay", Effect.as(Peer.pay(carol, invoice.payment_request), true), 60)
        yield* act(() => Customer.hasBalance(customer, 50_000))
        yield* act(() => Customer.hasBalance(account, 50_000))

        const destination = yield* Peer.invoice(carol, { amount: Msat.fromSats(10_000), behaviour: "settle" })
        yield* LdkNetwork.findsWay(dora, destination, 10_000)
        const paid = yield* act(() => Customer.data(201, Customer.confirm(customer, destination, 10_000)))
        yield* act(() => Customer.ends(customer, paid.id, "settled"))
        // What its payee refuses costs nothing, on either side.
        const refused = yield* Peer.invoice(carol, { amount: Msat.fromSats(2_000), behaviour: "fail" })
        const failed = yield* act(() => Customer.data(201, Customer.confirm(customer, refused, 2_000)))
        yield* act(() => Customer.ends(customer, failed.id, "failed"))
        yield* act(() => Customer.hasBalance(customer, Customer.without(50_000, paid)))

        // The account at the bank is what the shop's books call its node.
        const owned = yield* act(() => Customer.balance(account))
        yield* act(() => shop.stop("SIGTERM"))
        const node = yield* Effect.gen(function* () {
          yield* Ledger.auditAll
          return (yield* (yield* Records).trialBalance).node
        }).pipe(Effect.provide(Storage.layerEmbedded({ directory: path.join(shop.data, "database") })))
        assert.strictEqual(-Number(node) / 1000, owned)
        for (const line of [...shop.logs(), ...shop.stdout()]) assert.notInclude(line, url.searchParams.get("secret") ?? connection)
      }).pipe(Effect.scoped)
    )
  })
})
