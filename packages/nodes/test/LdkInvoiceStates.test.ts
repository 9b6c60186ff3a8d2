import { assert, describe, it } from "@effect/vitest"
import { NodeUnavailable } from "@satrail/core/nodes/LightningReceiver"
import { Effect, Redacted, Schema } from "effect"
import * as LdkReceiver from "../src/LdkReceiver.ts"
import { type LdkSocket, Refused } from "../src/LdkSocket.ts"
import { hash } from "./InLndsPlace.ts"

const outage = new NodeUnavailable({ operation: "test", cause: "connection lost" })

/** The receiver of a node that gives this response to every request. */
const receiverOf = (reply: object) => {
  const socket: LdkSocket = {
    begin: Effect.die("not used"),
    see: Effect.void,
    ask: (_method, _params, result) =>
      reply instanceof Refused || reply instanceof NodeUnavailable
        ? Effect.fail(reply)
        : Effect.mapError(Schema.decodeUnknownEffect(result)(reply), () => outage)
  }
  return LdkReceiver.make(socket, {
    identity: { nodeId: "02", network: "regtest" },
    invoiceSecret: Redacted.make("secret")
  })
}

/** How a call ended: its result, or `unknown` if the node is unavailable. */
const ended = <A, E extends { readonly _tag: string }>(call: Effect.Effect<A, E>) =>
  Effect.match(call, {
    onSuccess: (result): unknown => result,
    onFailure: ({ _tag }) => (_tag === "NodeUnavailable" ? "unknown" : _tag)
  })

const held = { received: "7000", blocksLeft: 30 }
const preimage = "11".repeat(32)
const invoice = { id: "id", paymentHash: hash }

/** The node's reports of an invoice, and what a lookup, a cancellation, and the settling and canceling of a hold invoice return. */
const reports: Record<
  string,
  readonly [reply: object, lookup: unknown, canceled: unknown, settledHold: unknown, canceledHold: unknown]
> = {
  open: [{ state: "open" }, { _tag: "open" }, "unknown", "open", "unknown"],
  claiming: [{ state: "claiming" }, { _tag: "accepted" }, { _tag: "accepted" }, "unknown", "unknown"],
  held: [
    { state: "held", held },
    { _tag: "accepted", held: { received: 7000n, blocksLeft: 30 } },
    { _tag: "accepted" },
    "unknown",
    "unknown"
  ],
  settled: [
    { state: "settled", received: "7000", preimage },
    { _tag: "settled", received: 7000n, preimage },
    { _tag: "settled" },
    "settled",
    "settled"
  ],
  canceled: [
    { state: "canceled", preimage },
    { _tag: "canceled" },
    { _tag: "canceled", preimage },
    "canceled",
    "canceled"
  ],
  "canceled, without its preimage": [
    { state: "canceled", preimage: "" },
    { _tag: "canceled" },
    "unknown",
    "canceled",
    "canceled"
  ],
  unknown: [{ state: "unknown" }, { _tag: "unknown" }, "unknown", "unknown", "unknown"],
  "in a state that is not known": [{ state: "new" }, "unknown", "unknown", "unknown", "unknown"],
  "refused by the node": [
    new Refused({ code: "refused", words: "words" }),
    "unknown",
    "unknown",
    "unknown",
    "unknown"
  ],
  "not reported during an outage": [outage, "unknown", "unknown", "unknown", "unknown"]
}

describe("states of invoices at LDK", () => {
  for (const [what, [reply, lookup, canceled, settledHold, canceledHold]] of Object.entries(reports)) {
    const receiver = receiverOf(reply)
    const holding = receiver.holding ?? assert.fail("no hold invoices")

    it.effect(`ldk: an invoice that is ${what}`, () =>
      Effect.map(ended(receiver.lookupInvoice(hash)), (found) => assert.deepStrictEqual(found, lookup))
    )

    it.effect(`ldk: canceling an invoice that is ${what}`, () =>
      Effect.gen(function* () {
        const result = ended(
          Effect.map(receiver.cancelInvoice(hash), (answer) =>
            answer._tag === "canceled" ? { ...answer, preimage: Redacted.value(answer.preimage) } : answer
          )
        )
        assert.deepStrictEqual(yield* result, canceled)
      })
    )

    it.effect(`ldk: settling or canceling a hold invoice that is ${what}`, () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* ended(holding.settle(invoice, null)), settledHold)
        assert.deepStrictEqual(yield* ended(holding.cancel(invoice)), canceledHold)
      })
    )
  }

  it.effect("ldk: a hold invoice is refused as taken only if the node says so", () =>
    Effect.gen(function* () {
      const description = { _tag: "Text", text: "" } as const
      const ask = { id: "id", amount: null, description, expirySeconds: 60, paymentHash: hash }
      const created = (reply: object) =>
        ended(receiverOf(reply).holding?.createInvoice(ask) ?? Effect.fail(outage))
      assert.strictEqual(yield* created(new Refused({ code: "taken", words: "words" })), "PaymentHashTaken")
      assert.strictEqual(yield* created(new Refused({ code: "refused", words: "words" })), "unknown")
      assert.strictEqual(yield* created(outage), "unknown")
    })
  )
})
