import { assert } from "@effect/vitest"
import * as Nostr from "@satrail/bitcoin/Nostr"
import * as WalletConnect from "@satrail/bitcoin/WalletConnect"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import { Context, Effect, Layer, Queue, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { ApiKeys } from "@satrail/core/accounts/ApiKeys"
import type { Company } from "@satrail/core/accounts/Company"
import { Place, WalletConnections } from "../../../src/wallet-connect/core/WalletConnections.ts"
import * as WalletRequests from "../../../src/wallet-connect/core/WalletRequests.ts"
import * as WalletService from "../../../src/wallet-connect/core/WalletService.ts"
import { NounReads } from "@satrail/core/ledger/NounReads"
import {
  beginsAtMillis,
  company,
  companyWith,
  invoice,
  made,
  outside,
  poll,
  type Ports,
  replace,
  scenario
} from "../../../../core/test/World.ts"

const wallet = Redacted.make("21".repeat(32))
const relays = ["wss://one.example", "wss://two.example"]
const change = (ports: Context.Context<Ports>) => Context.add(ports, Place, { relays, secretKey: wallet })

const connect = Effect.fnUntraced(function* ({ id: companyId }: Company) {
  const { apiKey } = yield* made(
    (yield* ApiKeys).issue({ companyId, name: "app", scopes: ["send", "read"], expiresAtMillis: null })
  )
  const { text } = yield* made((yield* WalletConnections).create(apiKey.id))
  return Redacted.make(new URL(Redacted.value(text)).searchParams.get("secret") ?? "")
})

const request = (from: Redacted.Redacted, content: WalletConnect.Request) =>
  WalletConnect.request(content, {
    from,
    to: Nostr.publicKeyOf(wallet),
    atSeconds: beginsAtMillis / 1000,
    nonce: new Uint8Array(32).fill(3)
  }) ?? assert.fail("no event")

/** A store that takes 20 ms to find an app, once a test has moved it far away. */
const far = () => {
  const store = { isFar: false }
  const slowly = replace(NounReads, (nouns) => ({
    ...nouns,
    named: (noun, by) =>
      Effect.andThen(
        Effect.suspend(() => (store.isFar ? Effect.sleep("20 millis") : Effect.void)),
        nouns.named(noun, by)
      )
  }))
  return { store, change: (ports: Context.Context<Ports>) => slowly(change(ports)) }
}

/** Listens to relays that pass on every event that `send` is called with. A silent relay never confirms an event. */
const listeningTo = Effect.fnUntraced(function* (silent: ReadonlyArray<string>) {
  const open: Array<Queue.Queue<Nostr.Event>> = []
  const published: Array<Nostr.Event> = []
  const unconfirmed: Array<Nostr.Event> = []
  const sessions: Nostr.Sessions["Service"] = {
    open: (relay) =>
      Effect.map(Queue.unbounded<Nostr.Event>(), (events) => {
        open.push(events)
        return {
          publish: (event) =>
            silent.includes(relay)
              ? Effect.suspend(() => {
                  unconfirmed.push(event)
                  return Effect.never
                })
              : Effect.sync(() => {
                  published.push(event)
                  return "taken" as const
                }),
          next: Queue.take(events)
        }
      })
  }
  yield* Layer.build(Layer.provide(WalletService.layerWorker, Layer.succeed(Nostr.Sessions, sessions)))
  yield* TestClock.adjust("1 second")
  assert.lengthOf(open, relays.length)
  return {
    send: (event: Nostr.Event) =>
      Effect.forEach(open, (events) => Queue.offer(events, event), { discard: true }),
    unconfirmedTo: ({ id }: Nostr.Event) =>
      unconfirmed.filter((one) => WalletConnect.tagOf(one, "e") === id).length,
    answersTo: ({ id }: Nostr.Event) =>
      published.filter((one) => WalletConnect.tagOf(one, "e") === id).length,
    notices: () => published.filter(({ kind }) => kind === WalletConnect.kinds.notification).length
  }
})
const listening = listeningTo([])

scenario(
  "wallet connect: one company's slow payments, however many, do not delay another company's apps at any relay",
  { change, isPending: true },
  function* () {
    const payer = yield* companyWith(5000)
    const reader = yield* connect(yield* company())
    const { send, answersTo } = yield* listening
    // No worker pays, so each request waits for its payment.
    for (let apps = 0; apps < WalletService.atOnce / WalletRequests.atOnce; apps++) {
      const app = yield* connect(payer)
      for (let n = 0; n < WalletRequests.atOnce; n++)
        yield* send(
          request(app, {
            method: "pay_invoice",
            params: { invoice: (yield* outside({ sats: 1 })).destination }
          })
        )
    }
    yield* TestClock.adjust("1 second")
    const event = request(reader, { method: "get_balance" })
    yield* send(event)
    yield* TestClock.adjust("1 second")
    assert.strictEqual(answersTo(event), relays.length)
  }
)

scenario(
  "wallet connect: requests of strangers, however many, do not delay a company's apps, even if the database is far away",
  far,
  function* ({ store }) {
    const reader = yield* connect(yield* company())
    const { send, answersTo } = yield* listening
    store.isFar = true
    for (let n = 1; n <= 1000; n++)
      yield* send({ ...request(wallet, { method: "get_balance" }), pubkey: n.toString(16).padStart(64, "0") })
    const event = request(reader, { method: "get_balance" })
    yield* send(event)
    yield* Effect.repeat(TestClock.adjust("20 millis"), { times: 50 })
    assert.strictEqual(answersTo(event), relays.length)
  }
)

scenario(
  "wallet connect: a relay that never confirms an event does not delay notifications at other relays",
  { change },
  function* () {
    const shop = yield* company()
    yield* connect(shop)
    const { notices } = yield* listeningTo(relays.slice(0, 1))
    yield* TestClock.adjust("20 seconds")
    const count = 40
    for (let n = 1; n <= count; n++) {
      const { paymentRequest } = yield* invoice(shop, n)
      yield* (yield* Sandbox.Sandbox).pay({ paymentRequest })
    }
    yield* poll
    yield* TestClock.adjust("1 second")
    assert.strictEqual(notices(), count)
  }
)

scenario(
  "wallet connect: a request at a relay that never confirms an event is answered without delay",
  { change },
  function* () {
    const reader = yield* connect(yield* company())
    const { send, unconfirmedTo } = yield* listeningTo(relays)
    const event = request(reader, { method: "get_balance" })
    yield* send(event)
    yield* TestClock.adjust("1 second")
    assert.strictEqual(unconfirmedTo(event), relays.length)
  }
)
