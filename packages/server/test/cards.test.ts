import * as CompanyId from "@satrail/core/base/CompanyId"
import { assert, describe, it } from "@effect/vitest"
import * as CheckoutCard from "@satrail/http/CheckoutCard"
import * as Cards from "@satrail/web/Cards"
import * as Outbound from "@satrail/web/Outbound"
import { Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { once } from "node:events"
import { createServer, type RequestListener } from "node:http"

const asking = { uri: "", invoice: "lnbcrt1invoice", address: null, sats: 21 }
const terms = { tag: "withdrawRequest", callback: "https://card.example/cb", k1: "7", minWithdrawable: 1000, maxWithdrawable: 30_000 }

/** A card's server, for as long as it is used. */
const cardServer = (answer: RequestListener) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const server = createServer(answer).listen(0, "127.0.0.1")
      await once(server, "listening")
      return server
    }),
    (server) => Effect.sync(() => server.closeAllConnections() ?? server.close())
  )

/** What the route of a checkout answers to this link, over the guarded way out, which reaches the card's server alone. */
const tapped = Effect.fnUntraced(function* (link: string, answer: RequestListener) {
  const server = yield* cardServer(answer)
  const address = server.address()
  const port = typeof address === "object" ? address?.port : 0
  const outbound = Outbound.make({
    allow: new Map([["card.example", new URL(`http://127.0.0.1:${port}`)]]),
    lookup: async (name) => assert.fail(`${name} was looked up`)
  })
  const charge = CheckoutCard.make(yield* Effect.provideService(Cards.make, Outbound.Outbound, outbound), 0)
  const request = new Request("http://service/", { method: "POST", body: JSON.stringify({ link }) })
  const response = yield* charge(HttpServerRequest.fromWeb(request), { id: "one", companyId: CompanyId.operator }, asking)
  const said: unknown = yield* Effect.promise(() => HttpServerResponse.toWeb(response).json())
  return { status: response.status, said }
})

describe("A card on a page, and its server", () => {
  it.live("card: a link is read, its server asked for the terms and then for the invoice, and what it says is told", () =>
    Effect.gen(function* () {
      const paths: Array<string> = []
      const answering =
        (second: object): RequestListener =>
        (request, response) => {
          paths.push(request.url ?? "")
          response.end(JSON.stringify(request.url?.startsWith("/cb") === true ? second : terms))
        }
      const link = "lnurlw://card.example/first?p=1"
      assert.deepStrictEqual(yield* tapped(link, answering({ status: "OK" })), { status: 200, said: { outcome: "asked", reason: null } })
      assert.deepStrictEqual(paths, ["/first?p=1", "/cb?k1=7&pr=lnbcrt1invoice"])
      assert.deepStrictEqual(yield* tapped(link, answering({ status: "ERROR", reason: "Frozen" })), {
        status: 200,
        said: { outcome: "refused", reason: 'its server says "Frozen"' }
      })
      const lost = yield* tapped(link, (request, response) =>
        request.url?.startsWith("/cb") === true ? request.socket.destroy() : response.end(JSON.stringify(terms))
      )
      assert.deepStrictEqual(lost, { status: 200, said: { outcome: "unknown", reason: null } })
    })
  )

  it.live("C48: card: a server that leads inside is told as a no, and nothing there is asked", () =>
    Effect.gen(function* () {
      for (const callback of ["https://127.0.0.1/", "http://169.254.169.254/latest", "https://db.internal/"]) {
        const { said } = yield* tapped("https://card.example/", (_, response) => response.end(JSON.stringify({ ...terms, callback })))
        assert.include(JSON.stringify(said), '"outcome":"refused","reason":"its address cannot be requested')
      }
    })
  )
})
