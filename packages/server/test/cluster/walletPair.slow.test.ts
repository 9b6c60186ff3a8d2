import { NWCClient } from "@getalby/sdk/nwc"
import { assert, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Nostr from "@satrail/bitcoin/Nostr"
import * as WalletConnect from "@satrail/bitcoin/WalletConnect"
import { Effect, Exit, Option, Redacted, Scope } from "effect"
import { afterAll } from "vitest"
import * as LocalRelay from "../../../web/test/LocalRelay.ts"
import * as Customer from "../Customer.ts"
import { type Company, eventually } from "../Service.ts"
import { suite } from "./Suite.ts"

// One wallet and one relay for two processes. The app's request is an event that any listener receives.

const scope = Scope.makeUnsafe()
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))
const relay = await Effect.runPromise(Effect.provideService(LocalRelay.make, Scope.Scope, scope))

const more = {
  SATRAIL_NWC_RELAYS: "wss://relay.example",
  SATRAIL_OUTBOUND_ALLOW: `relay.example=http://127.0.0.1:${relay.port}`
}

suite("an app wallet with two processes", { size: 2, more }, (cluster) => {
  const listening = () => relay.listeners(WalletConnect.kinds.request)

  /** An app with a key that may send and belongs to a funded company. */
  const app = async (sats: number) => {
    const company = await cluster().company()
    // Connect before the company's key is used. Afterwards a second operator would have to approve the app's
    // key.
    const { id } = await cluster().operate(`/companies/${company.id}/api-keys`, {
      name: "app",
      scopes: ["send", "read"]
    })
    const { connection, wallet_key: walletKey } = await cluster().operate(`/api-keys/${id}/connect`, {})
    await eventually(
      "a process listens",
      async () => listening(),
      (count) => count > 0
    )
    const { payment_request: paymentRequest } = await Customer.data(
      201,
      company.post("/v1/bitcoin/deposit/lightning-invoice", { amount: sats, currency: "sats" })
    )
    await cluster().outside((sandbox) => sandbox.pay({ paymentRequest }))
    await Customer.hasBalance(company, sats)
    const url = new URL(connection)
    url.searchParams.set("relay", `ws://127.0.0.1:${relay.port}`)
    return {
      company,
      walletKey: String(walletKey),
      secretKey: Redacted.make(url.searchParams.get("secret") ?? ""),
      url: url.href
    }
  }
  type App = Awaited<ReturnType<typeof app>>

  const payee = (behaviour: "hold" | "settle") =>
    cluster().outside((sandbox) =>
      sandbox.destination({ type: "lightning_invoice", amount: Msat.fromSats(1_000), behaviour })
    )

  /** Publishes a request as the app does, and collects the events that respond to it. */
  const asked = ({ walletKey, secretKey }: App, asking: WalletConnect.Request) => {
    const nonce = crypto.getRandomValues(new Uint8Array(32))
    const sealing = { from: secretKey, to: walletKey, atSeconds: Math.floor(Date.now() / 1000), nonce }
    const event = WalletConnect.request(asking, sealing) ?? assert.fail("no event")
    const answers = () =>
      relay.events
        .filter(
          (one) =>
            one.kind === WalletConnect.kinds.response &&
            WalletConnect.tagOf(one, "e") === event.id &&
            Nostr.isGenuine(one)
        )
        .map((one) => Option.getOrThrow(WalletConnect.open(one, secretKey, WalletConnect.Response)))
    return { event, answers, send: () => relay.send(event) }
  }

  const payment = (invoice: string): WalletConnect.Request => ({ method: "pay_invoice", params: { invoice } })

  const paidFor = (company: Company) =>
    eventually(
      "the withdrawal",
      () => Customer.transactions(company),
      (all: ReadonlyArray<{ readonly type: string }>) => all.some(({ type }) => type === "withdrawal")
    )

  const paidOnce = async (paymentHash: string | undefined) => {
    const received = await cluster().outside((sandbox) => sandbox.payments)
    assert.deepStrictEqual(
      received.flatMap((one) => (one.paymentHash === paymentHash ? [one.times] : [])),
      [1]
    )
  }

  const firstResult = (answers: ReadonlyArray<WalletConnect.Response>) =>
    answers.find(({ error }) => !error)?.result

  it("wallet: if every process is killed during an app's payment, the payment is made once, and a restarted process responds", async () => {
    const one = await app(5_000)
    const { destination, paymentHash } = await payee("hold")
    const { answers, send } = asked(one, payment(destination))
    send()
    await paidFor(one.company)
    for (const { running } of cluster().alive()) running.kill("SIGKILL")
    await eventually(
      "the killing of both processes",
      async () => cluster().deaths(),
      (count) => count === 2
    )
    await cluster().complete()
    await cluster().outside((sandbox) =>
      sandbox.release({ paymentHash: paymentHash ?? assert.fail("no hash"), outcome: "settle" })
    )
    // The relay kept the request, so the next listener receives it again.
    const result = await eventually(
      "a response with the preimage",
      async () => firstResult(answers()),
      (found) => found !== undefined
    )
    assert.match(JSON.stringify(result), /"preimage":"[0-9a-f]{64}"/)
    await paidOnce(paymentHash)
    const client = new NWCClient({ nostrWalletConnectUrl: one.url })
    const { balance } = await client.getBalance()
    client.close()
    assert.strictEqual(balance / 1000, await Customer.balance(one.company))
  })

  it("wallet: two processes that both believe they hold the lease make a requested payment once and send the same response", async () => {
    const one = await app(5_000)
    await eventually(
      "exactly one process listening",
      async () => listening(),
      (count) => count === 1
    )
    // A suspended process stays connected. If it held the lease, the other process takes over the lease before
    // responding.
    const takenOver = async () => {
      const { answers, send } = asked(one, { method: "get_balance", params: {} })
      send()
      await eventually(
        "a response from the other process",
        async () => answers(),
        (all) => all.length > 0
      )
      return listening() === 2
    }
    let stopped = 0
    for (const { running } of cluster().alive()) {
      process.kill(running.pid, "SIGSTOP")
      stopped = running.pid
      if (await takenOver()) break
      process.kill(running.pid, "SIGCONT")
    }
    assert.strictEqual(listening(), 2)
    const { destination, paymentHash } = await payee("settle")
    const { answers, send } = asked(one, payment(destination))
    send()
    process.kill(stopped, "SIGCONT")
    await eventually(
      "a response",
      async () => answers(),
      (all) => all.length > 0
    )
    // The process that lost the lease notices the loss, so that only one process listens.
    await eventually(
      "exactly one process listening again",
      async () => listening(),
      (count) => count === 1
    )
    const said = answers()
    assert.strictEqual(
      new Set(said.map(({ error, result }) => JSON.stringify([error, result]))).size,
      1,
      JSON.stringify(said)
    )
    assert.isDefined(firstResult(said))
    await paidOnce(paymentHash)
  })
})
