import { assert, describe, it } from "@effect/vitest"
import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Nostr from "@satrail/bitcoin/Nostr"
import * as SimulatedRelays from "@satrail/sandbox/SimulatedRelays"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import { Context, Effect, Layer, Redacted, type Scope } from "effect"
import { TestClock } from "effect/testing"
import type { Company } from "@satrail/core/accounts/Company"
import { defaults } from "../../../src/zaps/core/ZapOptions.ts"
import { PayRequests } from "@satrail/core/receiving/PayRequests"
import * as Zaps from "../../../src/zaps/core/Zaps.ts"
import {
  audited,
  beginsAtMillis,
  company,
  companyWith,
  confirm,
  inWorld,
  lightningAddress,
  poll,
  type Ports,
  type Process,
  said,
  steps
} from "../../../../core/test/World.ts"

// NIP-57: payments for which a Nostr user requests a public receipt.

const [service, sender] = ["11", "22"].map((byte) => Redacted.make(byte.repeat(32))) as [
  Redacted.Redacted,
  Redacted.Redacted
]
const recipient = "04c915daefee38317fa734444acee390a8269fe5810b2241e5e6dd343dfbecc9"
const note = "9ae37aa68f48645127299e9453eb5d908a0cbb6058ff340d528ed4d37c8994fb"
const relays = ["wss://one.relay.example", "wss://two.relay.example"]

/** A zap request as signed by a client. */
const zapRequest = (
  tags: ReadonlyArray<ReadonlyArray<string>> = [],
  more: Partial<Nostr.Event> = {}
): string => {
  const all = [["relays", ...relays], ["amount", "21000"], ["p", recipient], ...tags]
  return JSON.stringify({
    ...Nostr.signed({ kind: 9734, created_at: 1679673265, content: "Zap!", tags: all, ...more }, sender),
    ...more
  })
}
const bare = (tags: ReadonlyArray<ReadonlyArray<string>>) =>
  JSON.stringify(Nostr.signed({ kind: 9734, created_at: 1679673265, content: "", tags }, sender))

const place = (handle: string) => ({ host: "pay.example", domain: null, user: handle })
const askFor = Effect.fnUntraced(function* (handle: string, nostr: string, amount = "21000") {
  const { invoice } = yield* PayRequests
  return (yield* invoice(place(handle), { amount, comment: null, payerData: null, nostr, caller: "" }))
    .invoice
})

/** Runs a scenario in which the service has a Nostr key and relays. */
const withRelays = <A, E>(
  story: (
    zaps: Zaps.Zaps["Service"],
    relays: SimulatedRelays.SimulatedRelays["Service"]
  ) => Effect.Effect<A, E, Ports | Process | Nostr.Relays | Scope.Scope>
) =>
  inWorld(
    Effect.gen(function* () {
      const zaps = yield* Zaps.make
      return yield* story(zaps, yield* SimulatedRelays.SimulatedRelays)
    }).pipe(Effect.provide(SimulatedRelays.layer)),
    { change: (ports) => Context.add(ports, Nostr.SecretKey, service) }
  )

const shop = Effect.gen(function* () {
  const row: Company = yield* company()
  return { row, address: yield* lightningAddress(row, "shop") }
})

const pay = Effect.fnUntraced(function* (paymentRequest: string) {
  yield* (yield* Sandbox.Sandbox).pay({ paymentRequest })
  yield* poll
})

describe("NIP-57, appendix C: a Lightning address", () => {
  it.effect(
    "zap: the pay request contains the service's Nostr key, which signs the receipts, or offers no zaps if the service has no such key",
    () =>
      Effect.gen(function* () {
        yield* withRelays(() =>
          Effect.gen(function* () {
            yield* shop
            const { nostrPubkey } = yield* (yield* PayRequests).offer(place("shop"))
            assert.strictEqual(nostrPubkey, Nostr.publicKeyOf(service))
          })
        )
        yield* inWorld(
          Effect.gen(function* () {
            yield* shop
            assert.isNull((yield* (yield* PayRequests).offer(place("shop"))).nostrPubkey)
            assert.strictEqual(yield* said(askFor("shop", zapRequest())), "PayRequestRefused: zap")
          })
        )
      })
  )
})

describe("NIP-57, appendix D: a zap request", () => {
  it.effect("zap: a valid request gets an invoice that commits only to that request", () =>
    withRelays(() =>
      Effect.gen(function* () {
        yield* shop
        const own = Nostr.publicKeyOf(service)
        for (const nostr of [
          zapRequest(),
          zapRequest([["e", note]]),
          zapRequest([["a", `30023:${recipient}:an article`]]),
          zapRequest([
            ["P", own],
            ["lnurl", "lnurl1…"],
            ["client", "x"]
          ]),
          ` ${zapRequest([], { content: 'é 🎉 \n "q"' })} `,
          bare([
            ["p", recipient],
            ["relays", ...relays]
          ])
        ]) {
          const { paymentRequest, callback } = yield* askFor("shop", nostr)
          const { descriptionHash, amount } = yield* Effect.fromResult(Bolt11.decode(paymentRequest))
          const hash = yield* Effect.promise(() =>
            crypto.subtle.digest("SHA-256", new TextEncoder().encode(nostr))
          )
          assert.strictEqual(descriptionHash, Buffer.from(hash).toString("hex"))
          assert.strictEqual(amount, 21_000n)
          assert.strictEqual(callback?.zapRequest, nostr)
        }
      })
    )
  )

  it.effect("zap: an invalid request is refused with the reason", () =>
    withRelays(() =>
      Effect.gen(function* () {
        yield* shop
        const relayed = ["relays", ...relays]
        const wrong: Record<string, ReadonlyArray<string>> = {
          "nostr must be a Nostr event as JSON": [
            "{",
            "[]",
            "{}",
            '"x"',
            JSON.stringify({ kind: 9734 }),
            zapRequest([], { sig: "00" })
          ],
          "nostr must have at most 8192 bytes": [zapRequest([], { content: "x".repeat(8000) })],
          "an event of kind 9734": [zapRequest([], { kind: 9735 })],
          "signed: its id or signature is invalid": [
            zapRequest([], { sig: "00".repeat(64) }),
            zapRequest([], { id: "00".repeat(32) }),
            zapRequest().replace("Zap!", "Zip!"),
            zapRequest([], { pubkey: recipient })
          ],
          "exactly one p tag": [
            bare([relayed]),
            zapRequest([["p", recipient]]),
            bare([relayed, ["p", "x"]]),
            bare([relayed, ["p"]]),
            bare([])
          ],
          "one e tag": [
            zapRequest([
              ["e", note],
              ["e", note]
            ]),
            zapRequest([["e", "x"]])
          ],
          "an a tag can refer to": [zapRequest([["a", "30023:x:y"]]), zapRequest([["a"]])],
          "for the requested amount: 21000": [
            zapRequest([["amount", "21001"]]),
            bare([relayed, ["p", recipient], ["amount", "021000"]])
          ],
          "for receipts of this service": [
            zapRequest([["P", recipient]]),
            zapRequest([
              ["P", recipient],
              ["P", recipient]
            ])
          ],
          "a relays tag": [
            bare([["p", recipient]]),
            bare([["p", recipient], ["relays"]]),
            bare([
              ["p", recipient],
              [
                "relays",
                "ws://relay.example",
                "https://relay.example",
                "wss://127.0.0.1",
                "wss://u:p@relay.example",
                "wss://localhost",
                "x"
              ]
            ])
          ]
        }
        for (const [why, requests] of Object.entries(wrong)) {
          for (const nostr of requests) {
            const refusal = yield* Effect.flip(askFor("shop", nostr))
            assert.strictEqual(refusal._tag, "PayRequestRefused", why)
            assert.include("message" in refusal ? refusal.message : "", why, nostr)
          }
        }
      })
    )
  )
})

describe("NIP-57, appendix E: a zap receipt", () => {
  it.effect(
    "zap receipt: a receipt is signed after the invoice is paid, and sent to the relays named in the request",
    () =>
      withRelays((zaps, pretend) =>
        audited(
          Effect.gen(function* () {
            yield* shop
            const nostr = zapRequest([["e", note]])
            const invoice = yield* askFor("shop", nostr)
            assert.strictEqual(yield* zaps.step, 0)
            yield* TestClock.adjust(5_500)
            yield* pay(invoice.paymentRequest)
            assert.strictEqual(yield* zaps.step, 1)
            const [receipt, ...more] = yield* pretend.events(relays[0] ?? "")
            assert.isEmpty(more)
            if (receipt === undefined) return assert.fail("there is no receipt")
            assert.deepStrictEqual(yield* pretend.events(relays[1] ?? ""), [receipt])
            const { id: _, sig: __, tags, ...event } = receipt
            assert.isTrue(Nostr.isGenuine(receipt))
            assert.deepStrictEqual(event, {
              pubkey: Nostr.publicKeyOf(service),
              kind: 9735,
              created_at: beginsAtMillis / 1000 + 5,
              content: ""
            })
            const [proof, ...others] = tags.toReversed()
            assert.strictEqual(proof?.[0], "preimage")
            assert.deepStrictEqual(others.toReversed(), [
              ["p", recipient],
              ["e", note],
              ["P", Nostr.publicKeyOf(sender)],
              ["bolt11", invoice.paymentRequest],
              ["description", nostr]
            ])
            yield* TestClock.adjust("1 hour")
            assert.strictEqual(yield* zaps.step, 0)
          })
        )
      )
  )

  it.effect(
    "zap receipt: a receipt is resent unchanged to an unavailable relay until the relay accepts it or the receipt is too old",
    () =>
      withRelays((zaps, pretend) =>
        Effect.gen(function* () {
          yield* shop
          const [one = "", two = ""] = relays
          yield* pretend.behave(two, "away")
          yield* pay((yield* askFor("shop", zapRequest())).paymentRequest)
          yield* zaps.step
          const first = yield* pretend.events(one)
          assert.strictEqual(first.length, 1)
          yield* TestClock.adjust("30 seconds")
          assert.strictEqual(yield* zaps.step, 1)
          yield* pretend.behave(two, "takes")
          yield* TestClock.adjust("1 minute")
          yield* zaps.step
          assert.deepStrictEqual(yield* pretend.events(one), first)
          assert.deepStrictEqual(yield* pretend.events(two), first)
          yield* TestClock.adjust("1 hour")
          assert.strictEqual(yield* zaps.step, 0)

          yield* pretend.behave(two, "away")
          yield* pay((yield* askFor("shop", zapRequest())).paymentRequest)
          let offers = 0
          for (let minute = 0; minute < 120; minute++) {
            offers += yield* zaps.step
            yield* TestClock.adjust("1 minute")
          }
          assert.isAbove(offers, 10)
          assert.isBelow(offers, defaults.publishForMillis / 60_000 + 10)
          assert.strictEqual(yield* zaps.step, 0)
        })
      )
  )

  it.effect("zap receipt: a receipt is not resent to a relay that refused it", () =>
    withRelays((zaps, pretend) =>
      Effect.gen(function* () {
        yield* shop
        for (const relay of relays) yield* pretend.behave(relay, "refuses")
        yield* pay((yield* askFor("shop", zapRequest())).paymentRequest)
        assert.strictEqual(yield* zaps.step, 1)
        yield* TestClock.adjust("1 hour")
        assert.strictEqual(yield* zaps.step, 0)
      })
    )
  )

  it.effect("zap receipt: a receipt is also created for a zap settled internally", () =>
    withRelays((zaps, pretend) =>
      audited(
        Effect.gen(function* () {
          const payer = yield* companyWith(100)
          yield* shop
          const { paymentRequest } = yield* askFor("shop", zapRequest())
          yield* confirm(payer, paymentRequest)
          yield* steps(4)
          yield* zaps.step
          const [receipt] = yield* pretend.events(relays[0] ?? "")
          assert.strictEqual(receipt?.tags.find(([name]) => name === "bolt11")?.[1], paymentRequest)
        })
      )
    )
  )

  it.effect("zap receipt: a receipt is sent to at most ten relays, once to each", () =>
    withRelays((zaps, pretend) =>
      Effect.gen(function* () {
        yield* shop
        const many = Array.from({ length: 12 }, (_, n) => `wss://relay${n}.example`)
        yield* pay(
          (yield* askFor(
            "shop",
            bare([
              ["p", recipient],
              ["relays", ...many.slice(0, 1), ...many]
            ])
          )).paymentRequest
        )
        yield* zaps.step
        const counts = yield* Effect.forEach(many, (relay) =>
          Effect.map(pretend.events(relay), ({ length }) => length)
        )
        assert.deepStrictEqual(counts, [...Array.from({ length: 10 }, () => 1), 0, 0])
      })
    )
  )

  /** Relays at `….silent.example` never respond. Counts the requests in progress there. */
  const silently = Effect.fnUntraced(function* (relays: Nostr.Relays["Service"]) {
    const state = { asked: 0, most: 0 }
    const count = (one: number) =>
      Effect.sync(() => {
        state.asked += one
        state.most = Math.max(state.most, state.asked)
      })
    const publish: (typeof relays)["publish"] = (relay, event) =>
      relay.endsWith(".silent.example")
        ? Effect.acquireUseRelease(
            count(1),
            () => Effect.never,
            () => count(-1)
          )
        : relays.publish(relay, event)
    yield* Layer.build(Layer.fresh(Zaps.layerWorker)).pipe(Effect.provideService(Nostr.Relays, { publish }))
    return state
  })

  const zapTo = Effect.fnUntraced(function* (handle: string, ...to: ReadonlyArray<string>) {
    const request = bare([
      ["p", recipient],
      ["relays", ...to]
    ])
    yield* pay((yield* askFor(handle, request)).paymentRequest)
  })
  const [good = ""] = relays

  it.effect(
    "zap receipt: relays that never respond delay neither receipts of other recipients nor of other companies",
    () =>
      withRelays((_, pretend) =>
        Effect.gen(function* () {
          const { row } = yield* shop
          yield* lightningAddress(row, "other")
          yield* lightningAddress(yield* company(), "elsewhere")
          for (let n = 0; n < 24; n++) yield* zapTo("shop", `wss://n${n}.silent.example`)
          yield* TestClock.adjust(1)
          for (const handle of ["other", "elsewhere"]) yield* zapTo(handle, good)
          const state = yield* silently(yield* Nostr.Relays)
          yield* TestClock.adjust("1 second")
          const published = yield* pretend.events(good)
          yield* TestClock.adjust("2 hours")
          assert.lengthOf(published, 2)
          assert.deepStrictEqual(state, { asked: 0, most: defaults.slots.perLane })
        })
      )
  )

  it.effect(
    "zap receipt: a relay that never responds delays the recipient's receipts to other relays only once",
    () =>
      withRelays((_, pretend) =>
        Effect.gen(function* () {
          yield* shop
          const count = 44
          for (let n = 0; n < count; n++)
            yield* zapTo("shop", "wss://one.silent.example", `wss://n${n}.relay.example`)
          yield* silently(yield* Nostr.Relays)
          yield* TestClock.adjust("15 seconds")
          const published = yield* Effect.forEach(Array.from({ length: count }), (_, n) =>
            pretend.events(`wss://n${n}.relay.example`)
          )
          yield* TestClock.adjust("2 hours")
          assert.lengthOf(published.flat(), count)
        })
      )
  )

  it.effect("zap receipt: no receipt is created for a payment without a zap request", () =>
    withRelays((zaps) =>
      Effect.gen(function* () {
        yield* shop
        const { invoice } = yield* (yield* PayRequests).invoice(place("shop"), {
          amount: "21000",
          comment: null,
          payerData: null,
          nostr: null,
          caller: ""
        })
        yield* pay(invoice.paymentRequest)
        assert.strictEqual(yield* zaps.step, 0)
      })
    )
  )
})
