import { assert } from "@effect/vitest"
import * as Nostr from "@satrail/bitcoin/Nostr"
import * as WalletConnect from "@satrail/bitcoin/WalletConnect"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import { Context, Effect, Option, Redacted, Schema } from "effect"
import { TestClock } from "effect/testing"
import type { Scope } from "@satrail/core/accounts/ApiKey"
import { ApiKeys } from "@satrail/core/accounts/ApiKeys"
import * as Metadata from "@satrail/core/base/Metadata"
import type { Company } from "@satrail/core/accounts/Company"
import { Place, WalletConnections } from "../../../src/wallet-connect/core/WalletConnections.ts"
import * as WalletNotices from "../../../src/wallet-connect/core/WalletNotices.ts"
import { EventStore } from "@satrail/core/ledger/EventStore"
import { LedgerReads } from "@satrail/core/ledger/LedgerReads"
import { Invoices } from "@satrail/core/receiving/Invoices"
import {
  asked,
  company,
  companyWith,
  confirm,
  everywhere,
  invoice,
  made,
  outside,
  poll,
  type Ports,
  scenario,
  steps
} from "../../../../core/test/World.ts"

const wallet = Redacted.make("21".repeat(32))
const change = (ports: Context.Context<Ports>) =>
  Context.add(ports, Place, { relays: ["wss://relay.example"], secretKey: wallet })
const Told = Schema.Struct({
  notification_type: Schema.String,
  notification: Schema.Struct({
    type: Schema.String,
    payment_hash: Schema.String,
    amount: Schema.Int,
    preimage: Schema.optionalKey(Schema.String)
  })
})

const connect = Effect.fnUntraced(function* ({ id: companyId }: Company, scopes: ReadonlyArray<Scope>) {
  const { apiKey } = yield* made(
    (yield* ApiKeys).issue({ companyId, name: "app", scopes, expiresAtMillis: null })
  )
  const { text } = yield* made((yield* WalletConnections).create(apiKey.id))
  const secretKey = Redacted.make(new URL(Redacted.value(text)).searchParams.get("secret") ?? "")
  return { apiKey, secretKey, appKey: Nostr.publicKeyOf(secretKey) }
})

/** Returns an effect whose result is the notifications for everything committed since the last call. */
const telling = Effect.gen(function* () {
  const eventsFor = yield* WalletNotices.make(wallet)
  let after = yield* (yield* LedgerReads).lastEvent
  return Effect.gen(function* () {
    const page = yield* (yield* EventStore).eventsOf(null, after, 1000)
    after = page.at(-1)?.id ?? after
    return (yield* Effect.forEach(page, eventsFor)).flat()
  })
})

scenario(
  "wallet connect: apps whose keys may read are notified of payments to and from their company, and other apps are not notified",
  { change },
  function* () {
    const shop = yield* companyWith(5000)
    const reads = yield* connect(shop, ["read"])
    yield* connect(shop, ["send", "receive"])
    yield* connect(yield* company(), ["read"])
    const revoked = yield* connect(shop, ["admin"])
    yield* everywhere((yield* ApiKeys).revoke(revoked.apiKey.id))
    const confined = yield* connect(shop, ["read"])
    yield* everywhere(
      (yield* ApiKeys).allowFrom(confined.apiKey.id, { for: "everything", ranges: ["203.0.113.0/24"] })
    )
    const told = yield* telling
    const { paymentRequest, paymentHash } = yield* invoice(shop, 21)
    yield* (yield* Sandbox.Sandbox).pay({ paymentRequest })
    yield* poll
    const payee = yield* outside({ sats: 1000 })
    yield* confirm(shop, payee.destination)
    yield* steps(2)
    const events = yield* told
    assert.deepStrictEqual(
      events.map((event) => [
        event.kind,
        WalletConnect.tagOf(event, "p"),
        event.pubkey,
        Nostr.isGenuine(event)
      ]),
      Array.from({ length: 2 }, () => [23197, reads.appKey, Nostr.publicKeyOf(wallet), true])
    )
    const read = events.map((event) => Option.getOrThrow(WalletConnect.open(event, reads.secretKey, Told)))
    assert.deepStrictEqual(
      read.map(({ notification_type, notification }) => [
        notification_type,
        notification.payment_hash,
        notification.amount,
        notification.preimage !== undefined
      ]),
      [
        ["payment_received", paymentHash, 21_000, false],
        ["payment_sent", payee.paymentHash ?? "", 1_000_000, true]
      ]
    )
  }
)

scenario(
  "wallet connect: an internal payment notifies the payer's app of the debit and the payee's app of the credit",
  { change },
  function* () {
    const [payer, payee] = [yield* companyWith(5000), yield* company()]
    const [sends, receives] = [yield* connect(payer, ["read"]), yield* connect(payee, ["read"])]
    const told = yield* telling
    const { paymentRequest } = yield* invoice(payee, 100)
    yield* confirm(payer, paymentRequest)
    yield* steps(2)
    yield* TestClock.adjust(1000)
    const events = yield* told
    const types = (app: typeof sends) =>
      events
        .flatMap((event) => Option.toArray(WalletConnect.open(event, app.secretKey, Told)))
        .map((one) => one.notification_type)
    assert.deepStrictEqual([types(sends), types(receives)], [["payment_sent"], ["payment_received"]])
  }
)

scenario(
  "wallet connect: an app is notified of a payment whose metadata is too large for a notification, without the metadata",
  { change },
  function* () {
    const shop = yield* company()
    const { secretKey } = yield* connect(shop, ["read"])
    const told = yield* telling
    const { keys, valueCharacters } = Metadata.limits
    const metadata = Object.fromEntries(
      Array.from({ length: keys }, (_, n) => [`key ${n}`, "\u{1f0a1}".repeat(valueCharacters)])
    )
    const one = { companyId: shop.id, ...(yield* asked(21)), description: "", expirySeconds: 3600, metadata }
    const { paymentRequest, paymentHash } = yield* made((yield* Invoices).create(one))
    yield* (yield* Sandbox.Sandbox).pay({ paymentRequest })
    yield* poll
    const read = (yield* told).map((event) => Option.getOrThrow(WalletConnect.open(event, secretKey, Told)))
    assert.deepStrictEqual(
      read.map(({ notification }) => notification.payment_hash),
      [paymentHash]
    )
  }
)
