import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type http from "node:http"
import * as ValidatingResolver from "../src/ValidatingResolver.ts"
import * as Dns from "../src/Dns.ts"
import { overHttps, type Said, txt } from "./NameServer.ts"
import { serve } from "./Server.ts"

const name = "alice.user._bitcoin-payment.shop.example"
const uri = "bitcoin:?lno=lno1abc"
const record = txt(name, "bitcoin:", "?lno=lno1abc")

/** A name server that returns this response for `name`. */
const says = (said: Said | undefined) => overHttps((asked) => (asked === name ? said : undefined))
const good = says({ records: [record] })

/** Starts a server for each of these listeners. Returns the servers and their URLs. */
const serving = Effect.fnUntraced(function* (...answers: ReadonlyArray<http.RequestListener>) {
  const servers = yield* Effect.forEach(answers, (answer) => serve(answer))
  return { servers, urls: servers.map(({ port }) => new URL(`http://127.0.0.1:${port}/dns-query`)) }
})

/** For answers that never count, because a busy machine may not answer in time. */
const quick = { ...ValidatingResolver.limits, totalMillis: 200 }

const asking = Effect.fnUntraced(function* (...answers: ReadonlyArray<http.RequestListener>) {
  const { servers, urls } = yield* serving(...answers)
  return { servers, result: yield* Effect.result(ValidatingResolver.make(urls)(name)) }
})

describe("RFC 8484, DNS over HTTPS", () => {
  it.live("RFC 8484: records and the AD bit come from the resolver's response", () =>
    Effect.gen(function* () {
      const { urls, servers } = yield* serving(good)
      const { validated } = Dns.make({ validating: urls })
      assert.deepStrictEqual(yield* validated?.(name) ?? Effect.void, { texts: [uri], isSigned: true })
      const [asked] = servers[0]?.asked ?? []
      assert.strictEqual(asked?.headers.accept, "application/dns-message")
      assert.match(asked?.url ?? "", /^\/dns-query\?dns=[\w-]+$/)
      assert.isUndefined(Dns.make().validated)
    })
  )
  it.live("RFC 8484: a name that does not exist and a name without TXT records both return no records", () =>
    Effect.gen(function* () {
      for (const said of [undefined, {}]) {
        const { result } = yield* asking(says(said))
        assert.deepStrictEqual(yield* Effect.fromResult(result), { texts: [], isSigned: true })
      }
    })
  )
  const silent: http.RequestListener = () => {}
  const outages: ReadonlyArray<readonly [what: string, answer: http.RequestListener]> = [
    ["SERVFAIL, as for records with invalid signatures", says({ code: 2 })],
    ["SERVFAIL with records", says({ code: 2, records: [record] })],
    ["REFUSED", says({ code: 5 })],
    ["NXDOMAIN with records", says({ code: 3, records: [record] })],
    ["a truncated response", says({ records: [record], isTruncated: true })],
    ["an HTTP error", (_, response) => response.writeHead(500).end()],
    [
      "a redirect",
      (_, response) => response.writeHead(302, { location: "https://elsewhere.example/" }).end()
    ],
    ["a web page with status 200", (_, response) => response.end("<html>Sign in</html>")],
    ["nothing", (_, response) => response.end()],
    ["more bytes than a message can have", (_, response) => response.end(Buffer.alloc(70_000))],
    ["a missing response", silent],
    ["a broken connection", (request) => request.socket.destroy()]
  ]
  for (const [what, answer] of outages) {
    it.live(
      `RFC 8484: ${what} counts as an outage, not as the absence of a record, and the next resolver is queried`,
      () =>
        Effect.gen(function* () {
          const { urls } = yield* serving(answer)
          const alone = yield* Effect.flip(ValidatingResolver.make(urls, quick)(name))
          assert.deepInclude(alone, { _tag: "DnsUnavailable", name })
          const { result } = yield* asking(answer, good)
          assert.deepStrictEqual(yield* Effect.fromResult(result), { texts: [uri], isSigned: true })
        })
    )
  }
  it.live("RFC 8484: the second resolver is not queried if the first gives any valid response", () =>
    Effect.gen(function* () {
      for (const said of [undefined, {}, { records: [record], isAuthentic: false }]) {
        const { result, servers } = yield* asking(says(said), good)
        assert.notDeepEqual(yield* Effect.fromResult(result), { texts: [uri], isSigned: true })
        assert.strictEqual(servers[1]?.connections(), 0)
      }
    })
  )
  it.live("RFC 8484: a name that cannot be encoded in a DNS question is not queried", () =>
    Effect.gen(function* () {
      const { urls, servers } = yield* serving(good)
      const { _tag } = yield* Effect.flip(ValidatingResolver.make(urls)("a..example"))
      assert.deepStrictEqual([_tag, servers[0]?.connections()], ["DnsUnavailable", 0])
    })
  )
})
