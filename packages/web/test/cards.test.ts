import { assert, describe, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import { Effect } from "effect"
import type http from "node:http"
import * as Cards from "../src/Cards.ts"
import * as Outbound from "../src/Outbound.ts"
import type { Said } from "./Recipients.ts"
import { serve } from "./Server.ts"

/** LUD-03's first answer, of a card that pays 1 to 1000 sats. */
const withdrawRequest: Said = {
  tag: "withdrawRequest",
  callback: "https://card.example/cb?card=7",
  k1: "a secret&of the card",
  defaultDescription: "Card",
  minWithdrawable: 1000,
  maxWithdrawable: 1_000_000
}
const paymentRequest = "lnbcrt1invoice"
const link = "https://card.example/first?p=1&c=2"

/** A card's server that answers with these, and a reader that reaches it as `card.example`. */
const reading = Effect.fnUntraced(function* (first: Said | string, second: Said | http.RequestListener) {
  const server = yield* serve((request, response) => {
    const isFirst = request.url?.startsWith("/first") === true
    if (!isFirst && typeof second === "function") return second(request, response)
    const said = isFirst ? first : second
    return response.end(typeof said === "string" ? said : JSON.stringify(said))
  })
  const allow = new Map([["card.example", new URL(`http://127.0.0.1:${server.port}`)]])
  const { charge } = yield* Effect.provideService(Cards.make, Outbound.Outbound, Outbound.make({ allow, totalMillis: 900 }))
  return { server, charge: (sats = 21) => charge(link, { amount: Msat.fromSats(sats), paymentRequest }) }
})
const refused = (reason: string) => ({ _tag: "refused" as const, reason })

describe("A card that pays (LUD-03)", () => {
  it.live("card: its server is asked with its secret and this very invoice, once, and says that it pays", () =>
    Effect.gen(function* () {
      const { server, charge } = yield* reading(withdrawRequest, { status: "OK" })
      assert.deepStrictEqual(yield* charge(), { _tag: "asked" })
      assert.strictEqual(server.asked.length, 2)
      const asked = new URL(server.asked[1]?.url ?? "", "https://card.example")
      assert.deepStrictEqual(Object.fromEntries(asked.searchParams), { card: "7", k1: "a secret&of the card", pr: paymentRequest })
    })
  )

  it.live("card: an amount that it does not pay, and what is no withdrawRequest, is a no, and nothing is asked to pay", () =>
    Effect.gen(function* () {
      for (const [first, reason] of [
        [{ ...withdrawRequest, maxWithdrawable: 20_999 }, "it pays from 1 to 20 sats"],
        [{ ...withdrawRequest, minWithdrawable: 22_000 }, "it pays from 22 to 1000 sats"],
        [{ ...withdrawRequest, maxWithdrawable: -5 }, "it pays from 1 to 0 sats"],
        [{ ...withdrawRequest, tag: "payRequest" }, "its server did not answer with a withdrawRequest (LUD-03)"],
        [{ ...withdrawRequest, k1: undefined }, "its server did not answer with a withdrawRequest (LUD-03)"],
        [{ status: "ERROR", reason: "Card is\nfrozen" }, 'its server says "Card is frozen"'],
        ["<html>inside</html>", "its server did not answer with JSON"],
        [{ ...withdrawRequest, callback: "https://127.0.0.1/cb" }, "its address cannot be requested: its host is not a public name"]
      ] as const) {
        const { server, charge } = yield* reading(first, { status: "OK" })
        assert.deepStrictEqual(yield* charge(), refused(reason))
        assert.strictEqual(server.asked.length, 1, reason)
      }
    })
  )

  it.live("card: once it was asked, only its own no is a no: whatever else comes, or nothing, is not known", () =>
    Effect.gen(function* () {
      const no = yield* reading(withdrawRequest, { status: "ERROR", reason: "Daily limit" })
      assert.deepStrictEqual(yield* no.charge(), refused('its server says "Daily limit"'))
      const answers: ReadonlyArray<Said | http.RequestListener> = [
        {},
        { status: "PENDING" },
        (request) => request.socket.destroy(),
        (_, response) => response.writeHead(502).end("Bad gateway"),
        (_, response) => response.end("x".repeat(Outbound.defaults.maxBytes + 1)),
        (_, response) => response.write("{"),
        () => undefined,
        (_, response) => response.writeHead(302, { location: "https://127.0.0.1/" }).end(),
        (_, response) => response.writeHead(302, { location: "https://card.example/first" }).end()
      ]
      for (const [index, second] of answers.entries()) {
        const { server, charge } = yield* reading(withdrawRequest, second)
        assert.deepStrictEqual(yield* charge(), { _tag: "unknown" }, `answer ${index}`)
        assert.strictEqual(server.asked.length, 2, `answer ${index}`)
      }
    })
  )

  it.live("card: a server that cannot be reached was asked nothing", () =>
    Effect.gen(function* () {
      const { charge } = yield* Effect.provideService(
        Cards.make,
        Outbound.Outbound,
        Outbound.make({ lookup: async () => ["192.0.2.1"], isAllowed: () => true, connectMillis: 1 })
      )
      const outcome = yield* charge("https://card.example.com/", { amount: Msat.fromSats(21), paymentRequest })
      assert.deepStrictEqual(outcome, refused("its server gave no response"))
    })
  )
})
