import { assert, describe, it } from "@effect/vitest"
import { type Nip47Notification, NWCClient } from "@getalby/sdk/nwc"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Nostr from "@satrail/bitcoin/Nostr"
import * as WalletConnect from "@satrail/bitcoin/WalletConnect"
import { eventually } from "@satrail/contracts/Eventually"
import type * as ApiKey from "@satrail/core/accounts/ApiKey"
import { ApiKeys } from "@satrail/core/accounts/ApiKeys"
import { Companies } from "@satrail/core/accounts/Companies"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as Decimal from "@satrail/core/base/Decimal"
import type { Limits } from "@satrail/core/accounts/Limits"
import { Place, WalletConnections } from "@satrail/features/wallet-connect/core/WalletConnections"
import * as WalletRequests from "@satrail/features/wallet-connect/core/WalletRequests"
import * as WalletService from "@satrail/features/wallet-connect/core/WalletService"
import * as Answer from "@satrail/core/ledger/Answer"
import { Invoices } from "@satrail/core/receiving/Invoices"
import * as Settlements from "@satrail/core/receiving/Settlements"
import * as PaymentWorker from "@satrail/core/sending/PaymentWorker"
import * as Policy from "@satrail/core/service/Policy"
import { Records } from "@satrail/core/service/Records"
import * as Satrail from "@satrail/service/core/Satrail"
import * as Memory from "@satrail/service/memory/Memory"
import * as FixedRates from "@satrail/sandbox/FixedRates"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import { Context, Effect, Layer, Redacted, type Scope } from "effect"
import * as Outbound from "../src/Outbound.ts"
import * as WebSocketSessions from "../src/WebSocketSessions.ts"
import * as LocalRelay from "./LocalRelay.ts"

const walletSecret = Redacted.make("21".repeat(32))
const walletKey = Nostr.publicKeyOf(walletSecret)
const place = { relays: ["wss://relay.example"], secretKey: walletSecret }

/**
 * Runs the whole service, including its workers, as a wallet on a local relay. All its processes share one
 * store.
 */
const world = Effect.fnUntraced(function* (processes = 1) {
  const relay = yield* LocalRelay.make
  const allow = new Map([["relay.example", new URL(`http://127.0.0.1:${relay.port}`)]])
  const sessions = Layer.provide(WebSocketSessions.layer, Outbound.layer({ allow }))
  const ports = yield* Layer.build(
    Layer.mergeAll(
      Memory.layer,
      FixedRates.layer(),
      sessions,
      Layer.succeed(Place, place),
      Sandbox.layer({ seed: "wallet", network: "regtest" })
    )
  )
  const settings = { ...Policy.defaults, network: "regtest" as const, domain: "pay.example" }
  const workers = Layer.mergeAll(
    WalletService.layerWorker,
    PaymentWorker.layerWorker,
    Settlements.layerWorker
  )
  const running = yield* Effect.forEach(Array.from({ length: processes }), () =>
    Layer.build(Layer.fresh(Layer.provideMerge(workers, Satrail.layer(settings)))).pipe(
      Effect.provideContext(ports)
    )
  )
  const services = running[0] ?? assert.fail("no process")
  yield* eventually(
    Effect.sync(() => relay.listeners(WalletConnect.kinds.request)),
    (count) => count === 1
  )
  return {
    relay,
    services: Context.merge(ports, services),
    processes: running.map((one) => Context.merge(ports, one))
  }
})
type World = Effect.Success<ReturnType<typeof world>>
type Given<C> = C extends Context.Context<infer S> ? S : never

const story = <A, E>(
  processes: number,
  steps: (world: World) => Effect.Effect<A, E, Given<World["services"]> | Scope.Scope>
) => Effect.flatMap(world(processes), (made) => Effect.provideContext(steps(made), made.services))

const sats = (amount: number) => ({ amount: Decimal.make(BigInt(amount)), currency: "sats" }) as const

const company = Effect.fnUntraced(function* (balance: number) {
  const { id } = yield* Effect.flatMap(Companies, (companies) =>
    Effect.flatMap(companies.open({ name: "Acme", plan: "paid" }), Answer.made)
  )
  const ask = { companyId: id, ...sats(balance), description: "", expirySeconds: 3600, metadata: {} }
  const { paymentRequest } = yield* Effect.flatMap(Invoices, (invoices) =>
    Effect.flatMap(invoices.create(ask), Answer.made)
  )
  yield* (yield* Sandbox.Sandbox).pay({ paymentRequest })
  yield* (yield* Settlements.Settlements).poll
  return id
})

const keyOf = Effect.fnUntraced(function* (
  companyId: CompanyId.CompanyId,
  scopes: ReadonlyArray<ApiKey.Scope>,
  limits: Limits | null = null
) {
  const issued = (yield* ApiKeys).issue({ companyId, name: "app", scopes, expiresAtMillis: null, limits })
  return (yield* Effect.flatMap(issued, Answer.made)).apiKey
})

/** Connects an app that uses Alby's SDK. */
const app = Effect.fnUntraced(function* ({ relay }: World, apiKey: ApiKey.ApiKey) {
  const { text } = yield* Effect.flatMap((yield* WalletConnections).create(apiKey.id), Answer.made)
  const connection = Redacted.value(text)
  const nostrWalletConnectUrl = connection.replace(
    encodeURIComponent("wss://relay.example"),
    encodeURIComponent(`ws://127.0.0.1:${relay.port}`)
  )
  const client = yield* Effect.acquireRelease(
    Effect.sync(() => new NWCClient({ nostrWalletConnectUrl })),
    (one) => Effect.sync(() => one.close())
  )
  return { client, secretKey: Redacted.make(new URL(connection).searchParams.get("secret") ?? "") }
})

/** Returns the response: the result, or the error's code. */
const answered = <A>(ask: () => Promise<A>) =>
  Effect.match(Effect.tryPromise({ try: ask, catch: (error) => error }), {
    onSuccess: (value) => value,
    onFailure: (error) => (error instanceof Error && "code" in error ? String(error.code) : String(error))
  })

const payee = Effect.fnUntraced(function* (amount: number) {
  return yield* (yield* Sandbox.Sandbox).destination({
    type: "lightning_invoice",
    amount: Msat.fromSats(amount)
  })
})

const balance = (companyId: CompanyId.CompanyId) =>
  Effect.flatMap(Records, (records) =>
    Effect.map(records.balance(companyId), ({ posted, held }) => Number(posted - held) / 1000)
  )

/** The total number of payments to external payees. */
const paidTimes = Effect.map(
  Effect.flatMap(Sandbox.Sandbox, (sandbox) => sandbox.payments),
  (payments) => payments.reduce((sum, { times }) => sum + times, 0)
)

/** An app's request, built without the SDK. */
const requested = (
  secretKey: Redacted.Redacted,
  content: WalletConnect.Request,
  atSeconds = Math.floor(Date.now() / 1000)
) =>
  WalletConnect.request(content, {
    from: secretKey,
    to: walletKey,
    atSeconds,
    nonce: crypto.getRandomValues(new Uint8Array(32))
  }) ?? assert.fail("no event")

const answersTo = ({ relay }: World, event: Nostr.Event) =>
  relay.events.filter(
    (one) => one.kind === WalletConnect.kinds.response && WalletConnect.tagOf(one, "e") === event.id
  )

describe("Nostr Wallet Connect", () => {
  it.live("wallet connect: an app pays within its key's limit, and not one satoshi more", () =>
    story(
      1,
      Effect.fnUntraced(function* (world) {
        const companyId = yield* company(50_000)
        const { client } = yield* app(world, yield* keyOf(companyId, ["send", "read"], { daySats: 10_000 }))
        assert.deepInclude(yield* answered(() => client.getWalletServiceInfo()), {
          encryptions: ["nip44_v2"]
        })
        assert.deepInclude(yield* answered(() => client.getInfo()), { network: "regtest" })
        assert.deepStrictEqual(yield* answered(() => client.getBalance()), { balance: 50_000_000 })
        const first = yield* payee(9_000)
        const paid = yield* answered(() => client.payInvoice({ invoice: first.destination }))
        assert.isTrue(typeof paid === "object" && /^[0-9a-f]{64}$/.test(paid.preimage), JSON.stringify(paid))
        const second = yield* payee(9_000)
        assert.strictEqual(
          yield* answered(() => client.payInvoice({ invoice: second.destination })),
          "QUOTA_EXCEEDED"
        )
        assert.strictEqual(yield* paidTimes, 1)
        const { paymentHash } = first
        const found = yield* answered(() => client.lookupInvoice({ payment_hash: paymentHash ?? "" }))
        assert.deepInclude(found, { type: "outgoing", state: "settled", amount: 9_000_000 })
        // The cost reported to the app must equal the amount debited, to the millisatoshi, because the app does
        // its own accounting.
        const gone = 50_000_000 - (yield* balance(companyId)) * 1000
        const toldOf = (one: unknown) =>
          typeof one === "object" && one !== null && "fees_paid" in one
            ? 9_000_000 + Number(one.fees_paid)
            : one
        assert.deepStrictEqual([toldOf(paid), toldOf(found)], [gone, gone])
        const listed = yield* answered(() => client.listTransactions({}))
        assert.strictEqual(typeof listed === "object" ? listed.transactions.length : listed, 2)
      })
    )
  )

  it.live("wallet connect: an app does what its key's scopes allow, until the key is revoked", () =>
    story(
      1,
      Effect.fnUntraced(function* (world) {
        const companyId = yield* company(50_000)
        const apiKey = yield* keyOf(companyId, ["receive", "read"])
        const { client } = yield* app(world, apiKey)
        const { destination } = yield* payee(1_000)
        assert.strictEqual(yield* answered(() => client.payInvoice({ invoice: destination })), "RESTRICTED")
        assert.strictEqual(yield* answered(() => client.signMessage({ message: "hello" })), "NOT_IMPLEMENTED")
        const made = yield* answered(() => client.makeInvoice({ amount: 21_000, description: "tea" }))
        if (typeof made === "string") return assert.fail(made)
        const told: Array<Nip47Notification> = []
        const unsubscribe = yield* Effect.promise(() =>
          client.subscribeNotifications((one) => told.push(one))
        )
        yield* Effect.addFinalizer(() => Effect.sync(unsubscribe))
        yield* eventually(
          Effect.sync(() => world.relay.listeners(WalletConnect.kinds.notification)),
          (count) => count === 1
        )
        yield* (yield* Sandbox.Sandbox).pay({ paymentRequest: made.invoice })
        yield* (yield* Settlements.Settlements).poll
        const found = yield* answered(() => client.lookupInvoice({ payment_hash: made.payment_hash }))
        assert.deepInclude(found, { type: "incoming", state: "settled", amount: 21_000, description: "tea" })
        // The app may also be notified of payments made just before it connected.
        const isIt = (one: Nip47Notification) => one.notification.payment_hash === made.payment_hash
        yield* eventually(
          Effect.sync(() => told.some(isIt)),
          (is) => is
        )
        const notification = { notification_type: "payment_received" as const, notification: found }
        assert.deepStrictEqual<ReadonlyArray<unknown>>(told.filter(isIt), [notification])
        yield* (yield* ApiKeys).revoke(apiKey.id)
        assert.strictEqual(yield* answered(() => client.getBalance()), "UNAUTHORIZED")
      })
    )
  )

  it.live(
    "wallet connect: a repeated event pays once and gets the same response, even after the relay connection is lost",
    () =>
      story(
        1,
        Effect.fnUntraced(function* (world) {
          const companyId = yield* company(50_000)
          const { secretKey } = yield* app(world, yield* keyOf(companyId, ["send"]))
          const { destination } = yield* payee(1_000)
          const event = requested(secretKey, { method: "pay_invoice", params: { invoice: destination } })
          world.relay.send(event)
          world.relay.send(event)
          yield* eventually(
            Effect.sync(() => answersTo(world, event).length),
            (count) => count === 2
          )
          world.relay.cut()
          // When the client reconnects, the relay sends both stored copies of the request again.
          yield* eventually(
            Effect.sync(() => answersTo(world, event).length),
            (count) => count === 4
          )
          const read = answersTo(world, event).map((one) =>
            WalletConnect.open(one, secretKey, WalletConnect.Response)
          )
          for (const one of read) assert.deepStrictEqual(one, read[0])
          assert.strictEqual(yield* paidTimes, 1)
        })
      )
  )

  it.live(
    "wallet connect: only one of two processes listens, and an event that both process is paid once",
    () =>
      story(
        2,
        Effect.fnUntraced(function* (world) {
          const companyId = yield* company(50_000)
          const { client, secretKey } = yield* app(world, yield* keyOf(companyId, ["send", "read"]))
          assert.strictEqual(world.relay.listeners(WalletConnect.kinds.request), 1)
          const { destination } = yield* payee(1_000)
          const event = requested(secretKey, { method: "pay_invoice", params: { invoice: destination } })
          // Both processes respond to the event, as if both held the lease.
          const requests = yield* Effect.forEach(world.processes, (process) =>
            Effect.provideContext(WalletRequests.make(walletSecret), process)
          )
          const answers = yield* Effect.forEach(
            requests,
            ({ answer }) => answer("wss://relay.example", event),
            { concurrency: "unbounded" }
          )
          assert.isTrue(answers.every(({ _tag }) => _tag === "Some"))
          assert.strictEqual(yield* paidTimes, 1)
          assert.deepInclude(yield* answered(() => client.getBalance()), {
            balance: (yield* balance(companyId)) * 1000
          })
        })
      )
  )
})
