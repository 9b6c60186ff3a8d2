import { assert, describe, it } from "@effect/vitest"
import { Effect, Metric, Option, Redacted, References, Schema, Stream } from "effect"
import * as LndRest from "../src/LndRest.ts"
import * as NodeState from "../src/NodeState.ts"
import { json, server } from "./InLndsPlace.ts"

const Anything = Schema.Struct({ n: Schema.Int })
const call = LndRest.get("/call")
const quiet = Effect.provideService(References.MinimumLogLevel, "None")

const client = (url: string, deadlineMillis = 5000) =>
  LndRest.make({ url, macaroon: Redacted.make("00"), deadlineMillis, state: NodeState.make("LndRest") })
const asked = (url: string, deadlineMillis?: number) =>
  Effect.flip(client(url, deadlineMillis).ask("call", call, Anything))

describe("A call to lnd", () => {
  it.live("lnd: a call without a response ends at its deadline, as an outage", () =>
    Effect.gen(function* () {
      const { url } = yield* server(() => "silence")
      const outage = yield* Effect.timeoutOption(asked(url, 100), "20 seconds")
      assert.deepInclude(Option.getOrThrow(outage), {
        _tag: "NodeUnavailable",
        reason: "lnd does not respond"
      })
    }).pipe(Effect.scoped, quiet)
  )

  it.live(
    "C3: lnd: a request certainly did not reach lnd if the connection was refused, but not if it was cut",
    () =>
      Effect.gen(function* () {
        const { url: cut } = yield* server(() => undefined)
        const { url: closed } = yield* Effect.scoped(server(() => undefined))
        assert.deepStrictEqual(
          [
            (yield* asked(cut)) instanceof NodeState.NotLookedAt,
            (yield* asked(closed)) instanceof NodeState.NotLookedAt
          ],
          [false, true]
        )
      }).pipe(Effect.scoped, quiet)
  )

  it.live("lnd: a response ends the outage of its call", () =>
    Effect.gen(function* () {
      let answer = { status: 502, body: "Bad Gateway" }
      const { url } = yield* server(() => answer)
      const rest = client(url)
      const isUp = Effect.map(Metric.value(NodeState.up("LndRest")), ({ value }) => value)
      yield* Effect.flip(rest.ask("call", call, Anything))
      assert.deepStrictEqual([yield* isUp, rest.returns()], [0, 0])
      answer = json(200, { n: 1 })
      assert.deepStrictEqual(yield* rest.ask("call", call, Anything), { n: 1 })
      assert.deepStrictEqual([yield* isUp, rest.returns()], [1, 1])
    }).pipe(Effect.scoped, quiet)
  )

  it.live("lnd: blank lines of a stream are skipped", () =>
    Effect.gen(function* () {
      const { url } = yield* server(() => ({
        status: 200,
        body: `\n{"result":{"n":1}}\n\n{"result":{"n":2}}\n`
      }))
      const told = yield* Stream.runCollect(client(url).listen("call", call, Anything))
      assert.deepStrictEqual(
        told.map(({ n }) => n),
        [1, 2]
      )
    }).pipe(Effect.scoped, quiet)
  )
})
