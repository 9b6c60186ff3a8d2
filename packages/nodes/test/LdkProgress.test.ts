import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import os from "node:os"
import path from "node:path"
import * as Ldk from "../src/Ldk.ts"

/** A node's socket. Each response reports more progress than the one before. */
const socket = Effect.acquireRelease(
  Effect.promise(async () => {
    const directory = mkdtempSync(path.join(os.tmpdir(), "satrail-ldk-"))
    let count = 0
    const here = () => ({ node: "02", network: "regtest", version: "1", run: "1", count: String(++count), started: true })
    const server = createServer((client) => {
      client.on("error", () => {})
      client.once("data", () => client.end(`${JSON.stringify({ id: 1, result: here() })}\n`))
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

const aTurn = Effect.callback<void>((resume) => void setImmediate(() => resume(Effect.void)))

it.effect("ldk: the node's progress is stored again after storing it has died", () =>
  Effect.gen(function* () {
    const { at } = yield* socket
    const [died, stored] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
    let writes = 0
    const write = () =>
      Effect.suspend(() => {
        // The first write is that of the start.
        if (++writes < 2) return Effect.void
        return writes === 2 ? Effect.andThen(Deferred.succeed(died, undefined), Effect.die("XX000")) : Deferred.succeed(stored, undefined)
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
