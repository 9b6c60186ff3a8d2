import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Fill from "../src/Fill.ts"
import * as Settling from "../src/Settling.ts"
import { server } from "./HttpServer.ts"

const keys = Array.from({ length: Fill.busy }, (_, at) => `key-${at + 1}`)

/**
 * A service in which each company has 7 sats. Reported settlements are credited after this delay; `lost` is the
 * number of those that are never credited.
 */
const service = Effect.fnUntraced(function* (lateMillis: number, lost: number) {
  const credits = new Map<string, number>()
  let creditedAt = 0
  const port = yield* server(({ headers }, response) => {
    const more = performance.now() < creditedAt ? 0 : (credits.get(headers.authorization ?? "") ?? 0)
    const body = JSON.stringify({ data: { balance: 7 + more } })
    response.writeHead(200, { "content-length": body.length }).end(body)
  })
  const settling: Settling.Reported = {
    port,
    keys,
    report: ({ first, count }) =>
      Effect.sync(() => {
        creditedAt = performance.now() + lateMillis
        for (let number = first + lost; number < first + count; number++) {
          const owner = `Bearer key-${1 + (number % Fill.spread)}`
          credits.set(owner, (credits.get(owner) ?? 0) + 1)
        }
      })
  }
  return { settling, isCredited: () => performance.now() >= creditedAt }
})

const run = { kind: 6, first: 990, count: 1500 }

describe("settlements that a node reports", () => {
  it.live("settling: a settlement is counted as soon as its company's balance includes it", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { settling, isCredited } = yield* service(300, 0)
        const { perSecond } = yield* Settling.reported(settling, Fill.spread, run, (timed) => timed)
        assert.isTrue(isCredited())
        assert.isAtMost(perSecond, 1500 / 0.3)
      })
    )
  )

  it.live("settling: the run fails if the balances never include the settlements", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { settling } = yield* service(0, 2)
        const { message } = yield* Effect.flip(Settling.reported(settling, Fill.spread, run, (timed) => timed))
        assert.strictEqual(message, "1500 settlements were reported, and the balances grew by 1498 sats")
      })
    )
  )
})
