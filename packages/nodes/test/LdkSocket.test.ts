import { assert, describe, it } from "@effect/vitest"
import type { NodeUnavailable } from "@satrail/core/nodes/LightningReceiver"
import { Deferred, Effect, Fiber, Schema } from "effect"
import { TestClock } from "effect/testing"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer, type Socket } from "node:net"
import os from "node:os"
import path from "node:path"
import * as LdkSocket from "../src/LdkSocket.ts"
import { NotLookedAt } from "../src/NodeState.ts"
import * as Marks from "./Marks.ts"

interface Request {
  readonly method: string
  readonly run: string
  readonly params: object
}

/** What the node does with a request: sends these bytes, sends a result or an error, or closes the connection. */
type Reply =
  | string
  | { readonly result: unknown }
  | { readonly error: { readonly code: string; readonly message: string } }
  | "close"
  | "silence"

const here = (run: string, change: object = {}) => ({
  result: { node: "02", network: "regtest", version: "1", run, count: "1", started: true, ...change }
})

/** Runs a program in the place of the LDK node, at a socket of its own. */
const nodeAt = (reply: (request: Request) => Reply) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const directory = mkdtempSync(path.join(os.tmpdir(), "satrail-ldk-"))
      const requests: Array<Request> = []
      const open = new Set<Socket>()
      const server = createServer((client) => {
        open.add(client)
        client.on("error", () => {})
        client.once("data", (line) => {
          const request: Request = JSON.parse(String(line))
          requests.push(request)
          const given = reply(request)
          if (given === "silence") return
          if (given === "close") client.destroy()
          else client.end(typeof given === "string" ? given : `${JSON.stringify({ id: 1, ...given })}\n`)
        })
      })
      const socket = path.join(directory, "socket")
      server.listen(socket)
      await once(server, "listening")
      return {
        socket,
        requests,
        methods: () => requests.map(({ method }) => method),
        directory,
        server,
        open
      }
    }),
    ({ directory, server, open }) =>
      Effect.sync(() => {
        for (const client of open) client.destroy()
        server.close()
        rmSync(directory, { recursive: true })
      })
  )

const identity = { nodeId: "02", network: "regtest" } as const
const client = (socket: string, change: Partial<LdkSocket.Options> = {}) =>
  LdkSocket.make({ socket, identity, marks: Marks.inMemory(), ...change })
const Text = Schema.String

/** Responds to `start`, and as given to every other request. */
const started = (reply: (request: Request) => Reply) => (request: Request) =>
  request.method === "start" ? here("1") : reply(request)

/** How a call ended: its result, or whether the node certainly did not process it. */
const ended = <A>(call: Effect.Effect<A, NodeUnavailable | LdkSocket.Refused>) =>
  Effect.match(call, {
    onSuccess: (result): unknown => result,
    onFailure: (error) =>
      error instanceof NotLookedAt
        ? "not processed"
        : error._tag === "Refused"
          ? `refused: ${error.code}`
          : "unknown"
  })

const pay = (socket: string, change: Partial<LdkSocket.Options> = {}) =>
  ended(client(socket, change).ask("pay", { a: 1 }, Text))

describe("the LDK node's socket", () => {
  for (const [what, reply, expected] of [
    ["a result", { result: "paid" }, "paid"],
    ["a result of another form", { result: 1 }, "unknown"],
    ["a line that is not JSON", "paid\n", "unknown"],
    ["a connection that ends without a response", "close", "unknown"],
    ["a connection that ends in the middle of a response", `{"id":1,"result":"pa`, "unknown"],
    ["a response of more than 8 MiB", "x".repeat(8 * 1024 * 1024 + 1), "unknown"]
  ] as const) {
    it.live(`C3: ldk: the request was sent and the response is ${what}: ${expected}`, () =>
      Effect.gen(function* () {
        const { socket } = yield* nodeAt(started(() => reply))
        assert.strictEqual(yield* pay(socket), expected)
      }).pipe(Effect.scoped)
    )
  }

  it.live("ldk: a response of up to 8 MiB is read", () =>
    Effect.gen(function* () {
      const text = "x".repeat(7 * 1024 * 1024)
      const { socket } = yield* nodeAt(started(() => ({ result: text })))
      assert.strictEqual(yield* pay(socket), text)
    }).pipe(Effect.scoped)
  )

  it.effect(
    "C3: ldk: a request without a response within its deadline has an unknown outcome, not before",
    () =>
      Effect.gen(function* () {
        const asked = yield* Deferred.make<void>()
        const { socket } = yield* nodeAt(
          started(() => {
            Deferred.doneUnsafe(asked, Effect.void)
            return "silence"
          })
        )
        const { ask } = client(socket, { deadlineMillis: 1000 })
        const call = yield* Effect.forkChild(ended(ask("ends", {}, Text, 500)), { startImmediately: true })
        yield* Deferred.await(asked)
        yield* TestClock.adjust("1499 millis")
        assert.isUndefined(call.pollUnsafe())
        yield* TestClock.adjust("1 millis")
        assert.strictEqual(yield* Fiber.join(call), "unknown")
      }).pipe(Effect.scoped)
  )

  it.live("ldk: a request is not processed if nothing listens at the socket", () =>
    Effect.gen(function* () {
      const { socket } = yield* Effect.scoped(nodeAt(() => "close"))
      assert.strictEqual(yield* pay(socket), "not processed")
      const outage = yield* Effect.flip(client(socket).begin)
      assert.strictEqual(outage.reason, LdkSocket.reasons.absent)
      assert.include(outage.remedy, socket)
    }).pipe(Effect.scoped)
  )

  // The codes of serve.go, and one that is not known.
  for (const [code, expected] of [
    ["unavailable", "not processed"],
    ["late", "not processed"],
    ["bad_request", "refused: bad_request"],
    ["refused", "refused: refused"],
    ["taken", "refused: taken"],
    ["stale", "refused: stale"],
    ["internal", "refused: internal"],
    ["new", "refused: new"]
  ] as const) {
    it.live(`C3: ldk: a request that the node refuses with ${code}: ${expected}`, () =>
      Effect.gen(function* () {
        const { socket, methods } = yield* nodeAt(started(() => ({ error: { code, message: "words" } })))
        assert.strictEqual(yield* pay(socket), expected)
        assert.deepStrictEqual(methods(), ["start", "pay"])
      }).pipe(Effect.scoped)
    )
  }

  it.live(
    "ldk: a request to an earlier run is repeated once in the new run, after the node was checked again",
    () =>
      Effect.gen(function* () {
        let run = "1"
        const { socket, requests, methods } = yield* nodeAt(({ method, run: named }) =>
          method === "start"
            ? here(run)
            : named === run
              ? { result: named }
              : { error: { code: "run", message: "started again" } }
        )
        const { ask } = client(socket)
        assert.strictEqual(yield* ended(ask("pay", {}, Text)), "1")
        assert.strictEqual(yield* ended(ask("pay", {}, Text)), "1")
        run = "2"
        assert.strictEqual(yield* ended(ask("pay", {}, Text)), "2")
        assert.deepStrictEqual(methods(), ["start", "pay", "pay", "pay", "start", "pay"])
        assert.deepStrictEqual(
          requests.filter(({ method }) => method === "pay").map(({ run }) => run),
          ["1", "1", "1", "2"]
        )
      }).pipe(Effect.scoped)
  )

  it.live("ldk: a request that is refused for its run twice is not processed", () =>
    Effect.gen(function* () {
      const { socket, methods } = yield* nodeAt(started(() => ({ error: { code: "run", message: "words" } })))
      assert.strictEqual(yield* pay(socket), "not processed")
      assert.deepStrictEqual(methods(), ["start", "pay", "start", "pay"])
    }).pipe(Effect.scoped)
  )

  for (const [what, reply, reason] of [
    ["another node", here("1", { node: "03" }), LdkSocket.reasons.stranger],
    ["the node of another network", here("1", { network: "signet" }), LdkSocket.reasons.stranger],
    ["a node with an old store", { error: { code: "stale", message: "words" } }, LdkSocket.reasons.stale],
    ["a node that cannot start", { error: { code: "unavailable", message: "words" } }, LdkSocket.reasons.down]
  ] as const) {
    it.live(`C4: ldk: ${what} receives no request, and its progress is not stored`, () =>
      Effect.gen(function* () {
        const { socket, methods } = yield* nodeAt(() => reply)
        const written: Array<LdkSocket.Mark> = []
        const marks = {
          read: Effect.undefined,
          write: (mark: LdkSocket.Mark) => Effect.sync(() => void written.push(mark))
        }
        assert.strictEqual(yield* pay(socket, { marks }), "not processed")
        const outage = yield* Effect.flip(client(socket, { marks }).begin)
        assert.strictEqual(outage.reason, reason)
        assert.deepStrictEqual(methods(), ["start", "start"])
        assert.deepStrictEqual(written, [])
      }).pipe(Effect.scoped)
    )
  }

  it.live(
    "C4: ldk: the node is started with the last progress seen, and receives no request while that cannot be read or stored",
    () =>
      Effect.gen(function* () {
        const { socket, requests, methods } = yield* nodeAt(started(() => ({ result: "paid" })))
        const seen = { run: "0", count: "7" }
        assert.strictEqual(yield* pay(socket, { marks: Marks.inMemory(seen) }), "paid")
        assert.deepInclude(requests[0], { params: { seen }, run: "" })
        assert.strictEqual(yield* pay(socket), "paid")
        assert.deepStrictEqual(requests[2]?.params, {})
        const before = methods().length
        const fails = Effect.fail(new Error("away"))
        assert.strictEqual(
          yield* pay(socket, { marks: { read: fails, write: () => Effect.void } }),
          "not processed"
        )
        assert.strictEqual(
          yield* pay(socket, { marks: { read: Effect.undefined, write: () => fails } }),
          "not processed"
        )
        assert.deepStrictEqual(methods().slice(before), ["start"])
      }).pipe(Effect.scoped)
  )

  it.live("ldk: progress is stored when it changes, and only that of the run that was checked", () =>
    Effect.gen(function* () {
      let [run, count] = ["1", "1"]
      const { socket } = yield* nodeAt(({ method }) =>
        method === "start" ? here("1") : here(run, { count })
      )
      const written: Array<LdkSocket.Mark> = []
      const marks = {
        read: Effect.undefined,
        write: (mark: LdkSocket.Mark) => Effect.sync(() => void written.push(mark))
      }
      const { begin, see } = client(socket, { marks })
      yield* begin
      yield* see
      assert.deepStrictEqual(written, [{ run: "1", count: "1" }])
      count = "2"
      yield* see
      ;[run, count] = ["2", "3"]
      yield* see
      assert.deepStrictEqual(written, [
        { run: "1", count: "1" },
        { run: "1", count: "2" }
      ])
    }).pipe(Effect.scoped)
  )

  it.live(
    "ldk: an outage is reported with its reason, and ends with the next response; a refusal is none",
    () =>
      Effect.gen(function* () {
        let reply: Reply = { error: { code: "unavailable", message: "words" } }
        const { socket } = yield* nodeAt(started(() => reply))
        const told: Array<string> = []
        const state = {
          works: () => Effect.sync(() => void told.push("works")),
          fails: (about: string, { reason }: { readonly reason: string }) =>
            Effect.sync(() => void told.push(`${about}: ${reason}`)),
          returns: () => 0
        }
        const { ask } = client(socket, { state })
        for (const next of [
          "close",
          { error: { code: "refused", message: "words" } },
          { result: "paid" }
        ] as const) {
          yield* ended(ask("pay", {}, Text))
          reply = next
        }
        yield* ended(ask("pay", {}, Text))
        assert.deepStrictEqual(told, [
          `ldk: ${LdkSocket.reasons.down}`,
          `ldk: ${LdkSocket.reasons.silent}`,
          "works"
        ])
      }).pipe(Effect.scoped)
  )
})
