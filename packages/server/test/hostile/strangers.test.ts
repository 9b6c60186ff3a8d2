import { afterAll, assert, describe, it } from "@effect/vitest"
import { Readiness } from "@satrail/http/api/Readiness"
import { cookieName } from "@satrail/http/edge/Exchange"
import * as Http from "@satrail/service/http/Http"
import { Context, Redacted, Result } from "effect"
import { operatorToken, start } from "../../../http/test/Service.ts"
import * as Environment from "../../src/deployment/Environment.ts"
import * as Server from "../../src/serving/Server.ts"
import * as Worst from "./Worst.ts"

// SATRAIL_REQUESTS_PER_STRANGER limits requests to every route of the router except those listed here.

const service = await start()
const environment = Result.getOrThrow(
  Environment.read({
    PORT: "0",
    SATRAIL_REQUESTS_PER_STRANGER: "1",
    SATRAIL_PROXIES: "1",
    SATRAIL_CONSOLE: "yes"
  })
)
const server = Worst.recorded(
  Server.routes(environment, Redacted.make(operatorToken), Context.add(service.context, Readiness, []))
)
const { handler, dispose } = Http.webHandler(server.routes)
afterAll(async () => {
  await dispose()
  await service.dispose()
})

/**
 * Static files, pages that don't read the store, health checks, and the sandbox, which outsiders cannot use.
 */
const free = [
  /^GET \/$/,
  /^GET \/(healthz|readyz|readyz\/:check|favicon\.ico|console|llms\.txt|llms-full\.txt|openapi\.json|operator\/openapi\.json)$/,
  /^GET \/(docs|docs\/\*|docs\/api|docs\/api\/:file|docs\/errors|operator\/docs|ui\/:file|pay\/embed\.js)$/,
  // A page without scripts, and forms. A form that none of our own pages submitted is rejected before it is
  // read.
  /^GET \/console\/app$/,
  // A redirect, which is always the same.
  /^GET \/operator$/,
  /^POST \/(operator\/)?console\/(?!session)/,
  /^GET \/\.well-known\/satrail-webhook-keys$/,
  /^\w+ \/sandbox\//
]

describe("strangers", () => {
  it("request rates: each route that reads the store counts the requests of each caller without a key, and rejects callers that exceed their limit", async () => {
    const headers = {
      host: "pay.example.com",
      "x-forwarded-for": "192.0.2.1",
      "content-type": "application/json"
    }
    // Without a cookie, the console's pages show the sign-in page and don't read the store.
    const cookie = `${cookieName}=a-guess`
    const ask = async ({ method, path }: Worst.Route) => {
      const target = `${path.replaceAll(Worst.segment, "satoshi")}${path === "/tls/ask" ? "?domain=pay.example.com" : ""}`
      const body = method === "GET" ? {} : { body: JSON.stringify({ credential: "a guess" }) }
      const marked = /^\/(?:operator\/)?console/.test(path)
        ? { "x-satrail-console": "1", cookie }
        : { authorization: "Bearer a-guess" }
      const answer = await handler(
        new Request(`http://pay.example.com${target}`, {
          method,
          headers: { ...headers, ...marked },
          ...body
        })
      )
      const isRefused = answer.status === 429 || (await answer.text()).includes("Rate limit reached")
      return isRefused ? "refused" : `${method} ${path}: ${answer.status}`
    }
    await ask({ method: "GET", path: "/v1/account" })
    const counted = server.added.filter(
      ({ method, path }) => !free.some((one) => one.test(`${method} ${path}`))
    )
    const answered = await Promise.all(counted.map(ask))
    assert.deepStrictEqual(
      answered.filter((one) => one !== "refused"),
      []
    )
    assert.isAbove(counted.length, 100)
  })
})
