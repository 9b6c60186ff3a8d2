import { afterAll, assert, describe, it } from "@effect/vitest"
import { boundPort } from "@satrail/testing/boundPort"
import { createServer, type RequestListener } from "node:http"
import { client, SatrailError } from "../src/index.ts"

const servers: Array<() => void> = []
afterAll(() => servers.forEach((close) => close()))

const served = async (listener: RequestListener): Promise<string> => {
  const server = createServer(listener).listen(0, "127.0.0.1")
  servers.push(() => server.close())
  return `http://127.0.0.1:${await boundPort(server)}`
}

const taken: Array<string> = []
const other = await served((request, response) => {
  taken.push(`${request.method} ${request.url}`)
  response
    .setHeader("content-type", "application/json")
    .end('{"status":200,"message":"","data":{"id":"1","balance":1}}')
})

describe("a service that redirects", () => {
  for (const status of [301, 302, 303, 307, 308])
    for (const to of [`${other}/v1/elsewhere`, "/v1/elsewhere", "//127.0.0.1:9/"])
      it(`client: a redirect (${status} to ${to.replace(other, "another host")}) is not followed, and the error says where it pointed`, async () => {
        let requests = 0
        const url = await served((request, response) => {
          requests++
          request.resume()
          response.writeHead(status, { location: to }).end()
        })
        taken.length = 0
        const pay = client({ url, key: "sr_regtest_1", operatorToken: "t", retries: 3 })
        const calls = [
          () => pay.transactions.balance(),
          () => pay.invoices.create({ amount: 1 }),
          () => pay.withdrawals.confirm({ amount: 1, destination: "x" }),
          () => pay.companies.create({ name: "x" }),
          async () => {
            for await (const _ of pay.events()) return
          }
        ]
        for (const call of calls) {
          const error: unknown = await Promise.resolve(call()).catch((error: unknown) => error)
          if (!(error instanceof SatrailError)) return assert.fail(String(error))
          assert.deepStrictEqual([error.status, error.code, error.isRetryable], [status, "unreadable", false])
          assert.include(error.message, `${status} to ${to}`)
        }
        assert.deepStrictEqual([taken, requests], [[], calls.length])
      })

  it("client: the answer of a fetch that follows redirects itself is rejected", async () => {
    const url = await served((_, response) => response.writeHead(307, { location: other }).end())
    const pay = client({
      url,
      key: "sr_regtest_1",
      fetch: (to, init) => fetch(to, { ...init, redirect: "follow" })
    })
    const error: unknown = await Promise.resolve(pay.transactions.balance()).catch((error: unknown) => error)
    assert.match(String(error), /Not a satrail response/)
  })
})
