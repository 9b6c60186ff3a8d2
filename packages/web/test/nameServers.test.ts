import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import * as NameServers from "../src/NameServers.ts"
import * as Outbound from "../src/Outbound.ts"
import * as NameServer from "./NameServer.ts"
import { serve, trusting } from "./Server.ts"

const [page, silent] = ["page.example.com", "silent.example.com"]
const [serverFailure, noSuchName] = [2, 3]

/** A name server that never responds to queries for names below `silent`, and counts the silent names. */
const silence = Effect.fnUntraced(function* (count: number) {
  const names = new Set<string>()
  const isAsked = yield* Deferred.make<void>()
  const server = yield* NameServer.overUdp((name, type) => {
    if (name === page) return { records: type === "A" ? [NameServer.a(page, "127.0.0.2")] : [] }
    if (names.add(name).size === count) Deferred.doneUnsafe(isAsked, Effect.void)
    return undefined
  })
  return { options: { servers: [server], timeoutMillis: 60_000 }, isAsked: Deferred.await(isAsked) }
})

const outbound = (lookup: Outbound.Options["lookup"]) =>
  Outbound.make({
    ...(lookup && { lookup }),
    isAllowed: (address) => address === "127.0.0.2",
    connectMillis: 60_000,
    totalMillis: 60_000
  })

describe("names of strangers' hosts", () => {
  it.live(
    "outbound: names whose servers never respond do not delay requests to other names, however many they are",
    () =>
      Effect.gen(function* () {
        yield* trusting
        const { port } = yield* serve((_, response) => response.end("hello"), {
          host: "127.0.0.2",
          isSecure: true
        })
        const count = 32
        const { options, isAsked } = yield* silence(count)
        const { ask } = outbound(NameServers.addresses(options))
        const hanging = yield* Effect.forEach(Array.from({ length: count }), (_, n) =>
          Effect.forkScoped(ask({ url: `https://n${n}.${silent}/` }), { startImmediately: true })
        )
        yield* isAsked
        assert.strictEqual((yield* ask({ url: `https://${page}:${port}/` })).body, "hello")
        assert.isTrue(hanging.every((one) => one.pollUnsafe() === undefined))
      })
  )

  it.live("outbound: interrupting a request cancels its DNS query", () =>
    Effect.gen(function* () {
      const { options, isAsked } = yield* silence(1)
      const lookup = NameServers.addresses(options)
      const ended = yield* Deferred.make<unknown>()
      const { ask } = outbound((name, signal) =>
        lookup(name, signal).catch((cause: unknown) => {
          Deferred.doneUnsafe(ended, Effect.succeed(cause))
          throw cause
        })
      )
      const asked = yield* Effect.forkChild(ask({ url: `https://${silent}/` }), { startImmediately: true })
      yield* isAsked
      yield* Fiber.interrupt(asked)
      assert.propertyVal(yield* Deferred.await(ended), "code", "ECANCELLED")
    })
  )

  it.live(
    "names: IPv4 and IPv6 addresses are found, and neither family waits for long for the other's name server",
    () =>
      Effect.gen(function* () {
        const many = Array.from({ length: NameServers.maxPerFamily + 1 }, (_, n) =>
          NameServer.a("many.example.com", `192.0.2.${n}`)
        )
        const zone: Readonly<Record<string, Partial<Record<"A" | "AAAA", NameServer.Said>>>> = {
          "both.example.com": {
            A: { records: [NameServer.a("both.example.com", "192.0.2.1")] },
            AAAA: { records: [NameServer.aaaa("both.example.com", 1)] }
          },
          "old.example.com": { A: { records: [NameServer.a("old.example.com", "192.0.2.1")] } },
          "new.example.com": { AAAA: { records: [NameServer.aaaa("new.example.com", 1)] } },
          "many.example.com": { A: { records: many }, AAAA: {} },
          "empty.example.com": { A: {}, AAAA: {} },
          "missing.example.com": { A: { code: noSuchName }, AAAA: { code: noSuchName } },
          "half.example.com": { A: {}, AAAA: { code: serverFailure } }
        }
        const server = yield* NameServer.overUdp((name, type) =>
          type === "A" || type === "AAAA" ? zone[name]?.[type] : undefined
        )
        const lookup = NameServers.addresses({ servers: [server], timeoutMillis: 60_000, tries: 1 })
        const found = (name: string) => Effect.promise((signal) => lookup(`${name}.example.com`, signal))
        assert.deepStrictEqual(yield* found("both"), ["192.0.2.1", "::1"])
        assert.deepStrictEqual(yield* found("old"), ["192.0.2.1"])
        assert.deepStrictEqual(yield* found("new"), ["::1"])
        assert.lengthOf(yield* found("many"), NameServers.maxPerFamily)
        assert.deepStrictEqual([yield* found("empty"), yield* found("missing")], [[], []])
        const exit = yield* Effect.exit(Effect.tryPromise((signal) => lookup("half.example.com", signal)))
        assert.strictEqual(exit._tag, "Failure", "a failed query does not prove that there are no addresses")
      })
  )
})
