import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type http from "node:http"
import * as ValidatingResolver from "../src/ValidatingResolver.ts"
import * as Names from "../src/Names.ts"
import { overHttps, type Said, txt } from "./NameServer.ts"
import { serve } from "./Server.ts"

const name = "alice.user._bitcoin-payment.shop.example"
const uri = "bitcoin:?lno=lno1abc"
const record = txt(name, "bitcoin:", "?lno=lno1abc")

/** What a name server says of `name`. */
const says = (said: Said | undefined) => overHttps((asked) => (asked === name ? said : undefined))
const good = says({ records: [record] })

/** Servers of these, and their URLs. */
const serving = Effect.fnUntraced(function* (...answers: ReadonlyArray<http.RequestListener>) {
  const servers = yield* Effect.forEach(answers, (answer) => serve(answer))
  return { servers, urls: servers.map(({ port }) => new URL(`http://127.0.0.1:${port}/dns-query`)) }
})

const quick = { ...ValidatingResolver.limits, connectMillis: 50, totalMillis: 200 }

const asking = Effect.fnUntraced(function* (...answers: ReadonlyArray<http.RequestListener>) {
  const { servers, urls } = yield* serving(...answers)
  return { servers, result: yield* Effect.result(ValidatingResolver.make(urls, quick)(name)) }
})

describe("RFC 8484, DNS over HTTPS", () => {
  it.live("RFC 8484: records and the AD bit are what the resolver says", () =>
    Effect.gen(function* () {
      const { urls, servers } = yield* serving(good)
      const { validated } = Names.make({ validating: urls })
      assert.deepStrictEqual(yield* validated?.(name) ?? Effect.void, { texts: [uri], isSigned: true })
      const [asked] = servers[0]?.asked ?? []
      assert.strictEqual(asked?.headers.accept, "application/dns-message")
      assert.match(asked?.url ?? "", /^\/dns-query\?dns=[\w-]+$/)
      assert.isUndefined(Names.make().validated)
    })
  )
  it.live("RFC 8484: without the AD bit an answer is not signed", () =>
    Effect.gen(function* () {
      const { result } = yield* asking(says({ records: [record], isAuthentic: false }))
      assert.deepStrictEqual(yield* Effect.fromResult(result), { texts: [uri], isSigned: false })
    })
  )
  it.live("RFC 8484: a name that does not exist, and one without such records, have none", () =>
    Effect.gen(function* () {
      for (const said of [undefined, {}]) {
        const { result } = yield* asking(says(said))
        assert.deepStrictEqual(yield* Effect.fromResult(result), { texts: [], isSigned: true })
      }
    })
  )
  const silent: http.RequestListener = () => {}
  const outages: ReadonlyArray<readonly [what: string, answer: http.RequestListener]> = [
    ["SERVFAIL, as of records that are signed wrongly", says({ code: 2 })],
    ["SERVFAIL with records", says({ code: 2, records: [record] })],
    ["REFUSED", says({ code: 5 })],
    ["NXDOMAIN with records", says({ code: 3, records: [record] })],
    ["a truncated answer", says({ records: [record], isTruncated: true })],
    ["an error of HTTP", (_, response) => response.writeHead(500).end()],
    ["a redirect", (_, response) => response.writeHead(302, { location: "https://elsewhere.example/" }).end()],
    ["an answer of 200 that is a web page", (_, response) => response.end("<html>Sign in</html>")],
    ["nothing", (_, response) => response.end()],
    ["more than a message can have", (_, response) => response.end(Buffer.alloc(70_000))],
    ["an answer that does not come", silent],
    ["a connection that breaks", (request) => request.socket.destroy()]
  ]
  for (const [what, answer] of outages) {
    it.live(`RFC 8484: ${what} is an outage, and no statement that there is no record`, () =>
      Effect.gen(function* () {
        const { result } = yield* asking(answer)
        assert.deepInclude(yield* Effect.flip(Effect.fromResult(result)), { _tag: "NamesUnavailable", name })
      })
    )
    it.live(`RFC 8484: where one resolver has ${what}, the next is asked`, () =>
      Effect.gen(function* () {
        const { result } = yield* asking(answer, good)
        assert.deepStrictEqual(yield* Effect.fromResult(result), { texts: [uri], isSigned: true })
      })
    )
  }
  it.live("RFC 8484: the second resolver is not asked where the first has answered, whatever it said", () =>
    Effect.gen(function* () {
      for (const said of [undefined, {}, { records: [record], isAuthentic: false }]) {
        const { result, servers } = yield* asking(says(said), good)
        assert.notDeepEqual(yield* Effect.fromResult(result), { texts: [uri], isSigned: true })
        assert.strictEqual(servers[1]?.connections(), 0)
      }
    })
  )
  it.live("RFC 8484: a name that no question can have is not asked for", () =>
    Effect.gen(function* () {
      const { urls, servers } = yield* serving(good)
      const { _tag } = yield* Effect.flip(ValidatingResolver.make(urls, quick)("a..example"))
      assert.deepStrictEqual([_tag, servers[0]?.connections()], ["NamesUnavailable", 0])
    })
  )
})
