import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { Api } from "../../src/http/Api.ts"
import * as Docs from "../../src/http/pages/Docs.ts"

it.effect("openapi: other requests are served while a document is made", () =>
  Effect.gen(function* () {
    for (const whom of ["customer", "operator"] as const) {
      let turns = 0
      yield* Effect.forkChild(
        Effect.forever(
          Effect.andThen(
            Effect.sync(() => turns++),
            Effect.yieldNow
          )
        )
      )
      const made = yield* Docs.document(whom, Api, "regtest")
      assert.isAtLeast(turns, 3, whom)
      assert.deepStrictEqual(made, Docs.documents(Api, { network: "regtest" })[whom])
    }
  })
)

it.effect("openapi: a document is made once, even if the clients that requested it first have left", () =>
  Effect.gen(function* () {
    let made = 0
    const api = new Proxy(Api, {
      get: (target, name) => {
        if (name === "add") made++
        return Reflect.get(target, name)
      }
    })
    const router = yield* HttpRouter.make
    yield* Layer.build(
      Layer.provide(Docs.layer(api, "regtest"), Layer.succeed(HttpRouter.HttpRouter, router))
    )
    const request = HttpServerRequest.fromWeb(new Request(`http://localhost${Docs.paths.openapi}`))
    const ask = Effect.forkChild(
      Effect.provideService(router.asHttpEffect(), HttpServerRequest.HttpServerRequest, request)
    )
    for (let n = 0; n < 3; n++) {
      const client = yield* ask
      yield* Effect.yieldNow
      yield* Fiber.interrupt(client)
    }
    const { status } = yield* Effect.flatMap(ask, Fiber.join)
    assert.deepStrictEqual([status, made], [200, 1])
  })
)
