import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import { text } from "node:stream/consumers"
import * as Generator from "../src/Generator.ts"
import * as Peers from "../src/Peers.ts"
import * as Requests from "../src/Requests.ts"
import type { Side } from "../src/Side.ts"
import { server } from "./HttpServer.ts"

/** A service that accepts every payment at once, and credits all of them only so long after the last one. */
const late = Effect.fnUntraced(function* (payments: number, lateMillis: number) {
  const accepted: Array<string> = []
  let creditedAt = Infinity
  let made = 0
  const received = async (request: IncomingMessage, response: ServerResponse) => {
    accepted.push(await text(request))
    if (accepted.length === payments) creditedAt = performance.now() + lateMillis
    response.writeHead(201, { "content-length": 0 }).end()
  }
  const port = yield* server((request, response) => void received(request, response))
  const side: Side = {
    name: "late",
    port,
    balance: "",
    createInvoice: "",
    pay: (invoice) => Requests.raw("POST", "/pay", [], { invoice }),
    invoice: () => Effect.sync(() => `invoice ${made++}`),
    received: Effect.sync(() => (performance.now() < creditedAt ? 1000 : 1000 + accepted.length))
  }
  return { side, accepted, isCredited: () => performance.now() >= creditedAt }
})

describe("peers", () => {
  it.live("peers: a payment counts once the payee's balance has it, and each invoice is paid once", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { side, accepted, isCredited } = yield* late(100, 500)
        const { perSecond } = yield* Peers.paid(side, yield* Generator.start, 100)
        assert.isTrue(isCredited())
        assert.isAtMost(perSecond, 100 / 0.5)
        assert.strictEqual(new Set(accepted).size, 100)
        assert.strictEqual(accepted.length, 100)
      })
    )
  )
})
