import { assert, it } from "@effect/vitest"
import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Msat from "@satrail/bitcoin/Msat"
import { LightningSender } from "@satrail/core/nodes/LightningSender"
import { OfferSender } from "@satrail/core/nodes/OfferSender"
import { Context, Deferred, Effect, Layer, Logger, Redacted, Result } from "effect"
import { TestClock } from "effect/testing"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import os from "node:os"
import path from "node:path"
import * as Ldk from "../src/Ldk.ts"
import * as NodeState from "../src/NodeState.ts"
import * as Marks from "./Marks.ts"

/** A node's socket. Each response reports more progress than the one before, or is the given one of its method. */
const socket = (given: Readonly<Record<string, object>> = {}) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const directory = mkdtempSync(path.join(os.tmpdir(), "satrail-ldk-"))
      let count = 0
      const here = () => ({
        node: "02",
        network: "regtest",
        version: "1",
        run: "1",
        count: String(++count),
        started: true
      })
      const server = createServer((client) => {
        client.on("error", () => {})
        client.once("data", (line) => {
          const { method } = JSON.parse(String(line))
          client.end(`${JSON.stringify({ id: 1, ...(given[method] ?? { result: here() }) })}\n`)
        })
      })
      const at = path.join(directory, "socket")
      server.listen(at)
      await once(server, "listening")
      return { at, directory, server }
    }),
    ({ directory, server }) =>
      Effect.sync(() => {
        server.close()
        rmSync(directory, { recursive: true })
      })
  )

/** An invoice from BOLT 11's examples. */
const example =
  "lnbc2500u1pvjluezsp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygspp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqdq5xysxxatsyp3k7enxv4jsxqzpu9qrsgquk0rl77nj30yxdy8j9vdx85fkpmdla2087ne0xh8nhedh8w27kyke0lp53ut353s06fv3qfegext0eh0ymjpf39tuven09sam30g4vgpfna3rh"

const aTurn = Effect.callback<void>((resume) => void setImmediate(() => resume(Effect.void)))

it.effect("ldk: the node's progress is stored again after storing it has died", () =>
  Effect.gen(function* () {
    const { at } = yield* socket()
    const [died, stored] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
    let writes = 0
    const write = () =>
      Effect.suspend(() => {
        // The first write is that of the start.
        if (++writes < 2) return Effect.void
        return writes === 2
          ? Effect.andThen(Deferred.succeed(died, undefined), Effect.die("XX000"))
          : Deferred.succeed(stored, undefined)
      })
    yield* Layer.build(
      Ldk.layer({
        socket: at,
        identity: { nodeId: "02", network: "regtest" },
        invoiceSecret: Redacted.make("secret"),
        marks: { read: Effect.undefined, write: () => Effect.asVoid(write()) }
      })
    )
    yield* Deferred.await(died)
    for (let turn = 0; turn < 10_000 && !(yield* Deferred.isDone(stored)); turn++)
      yield* Effect.andThen(TestClock.adjust("100 millis"), aTurn)
    assert.isTrue(yield* Deferred.isDone(stored))
  })
)

const nodeAt = (socket: string) =>
  Layer.build(
    Ldk.layer({
      socket,
      identity: { nodeId: "02", network: "regtest" },
      invoiceSecret: Redacted.make("secret"),
      marks: Marks.inMemory(),
      state: NodeState.make("ldk")
    })
  )

it.effect("ldk: a payment that the node may have lost is reported with the time of the loss", () =>
  Effect.gen(function* () {
    const { at } = yield* socket({
      lookupPayment: { result: { state: "notFound", lostBefore: 5 } },
      lookupOffer: { result: { state: "notFound" } }
    })
    const node = yield* nodeAt(at)
    const { paymentHash } = Result.getOrThrow(Bolt11.decode(example))
    const found = [
      yield* Context.get(node, LightningSender).lookupPayment(paymentHash),
      yield* Context.get(node, OfferSender).lookupOffer("1")
    ]
    assert.deepStrictEqual<unknown>(found, [{ _tag: "notFound", lostBeforeMillis: 5 }, { _tag: "notFound" }])
  })
)

it.effect("ldk: the log says why the node did not process a payment", () =>
  Effect.gen(function* () {
    const error = { code: "unavailable", message: "its channels are not back yet" }
    const { at } = yield* socket({ pay: { error } })
    const logged: Array<string> = []
    const node = yield* nodeAt(at)
    const { pay } = Context.get(node, LightningSender)
    const invoice = Result.getOrThrow(Bolt11.decode(example))
    const paid = yield* Effect.provide(
      pay({ invoice, amount: Msat.fromSats(1), feeLimit: Msat.zero }),
      Logger.layer([Logger.make(({ message }) => void logged.push(String(message)))])
    )
    assert.deepStrictEqual<unknown>(paid, { _tag: "notSent" })
    assert.include(logged[0] ?? "", "The node reported: its channels are not back yet.")
  })
)
