import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { answer, framed, overTcp, txt } from "./NameServer.ts"
import * as ValidatingResolver from "../src/ValidatingResolver.ts"

const name = "alice.user._bitcoin-payment.shop.example"
const record = txt(name, "bitcoin:", "?lno=lno1abc")
const quick = { ...ValidatingResolver.limits, totalMillis: 200 }

const asking = Effect.fnUntraced(function* (
  say: (question: Uint8Array) => Uint8Array | undefined,
  limits = ValidatingResolver.limits
) {
  const port = yield* overTcp(say)
  return yield* Effect.result(ValidatingResolver.make([new URL(`tcp://127.0.0.1:${port}`)], limits)(name))
})

describe("RFC 7766, DNS over TCP", () => {
  it.live("RFC 7766: bytes after the message are not read", () =>
    Effect.gen(function* () {
      const result = yield* asking((question) =>
        Buffer.concat([framed(answer(question, { records: [record] })), Buffer.alloc(100_000, 1)])
      )
      assert.deepStrictEqual((yield* Effect.fromResult(result)).texts, ["bitcoin:?lno=lno1abc"])
    })
  )
  for (const [what, say] of [
    ["a connection that is closed", () => undefined],
    ["an incomplete response", (question) => framed(answer(question, { records: [record] })).subarray(0, 60)],
    ["a missing response", () => new Uint8Array()],
    ["a length of zero", () => framed(new Uint8Array())],
    ["SERVFAIL", (question) => framed(answer(question, { code: 2 }))],
    [
      "a response to another question",
      (question) => framed(answer(Buffer.from(question).fill(97, 14, 16), { records: [record] }))
    ]
  ] as ReadonlyArray<readonly [string, (question: Uint8Array) => Uint8Array | undefined]>) {
    it.live(`RFC 7766: ${what} counts as an outage`, () =>
      Effect.gen(function* () {
        assert.deepInclude(yield* Effect.flip(Effect.fromResult(yield* asking(say, quick))), {
          _tag: "DnsUnavailable",
          name
        })
      })
    )
  }
  it("RFC 7766: TCP without TLS is allowed only for a resolver on this machine", () => {
    for (const url of [
      "tcp://127.0.0.1",
      "tcp://127.0.0.1:5353",
      "tcp://[::1]:53",
      "tcp://localhost/",
      "https://dns.example.com/dns-query"
    ])
      assert.isDefined(ValidatingResolver.urlOf(url), url)
    for (const url of [
      "tcp://10.0.0.2:53",
      "tcp://dns.example.com",
      "http://dns.example.com/",
      "tcp://127.0.0.1/x",
      "udp://127.0.0.1",
      "127.0.0.1"
    ])
      assert.isUndefined(ValidatingResolver.urlOf(url), url)
  })
})
