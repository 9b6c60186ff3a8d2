import { assert, describe, it } from "@effect/vitest"
import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Msat from "@satrail/bitcoin/Msat"
import type { SuccessAction } from "@satrail/core/nodes/SuccessAction"
import { Effect, Result } from "effect"
import type http from "node:http"
import * as Lnurl from "../src/Lnurl.ts"
import { metadata, payRequest, paying, resolving, type Said } from "./Recipients.ts"

const url = "https://wallet.example/.well-known/lnurlp/alice"
const amount = Msat.make(123_456n)

/** Requests an offer from a server whose first response has these fields. */
const offered = Effect.fnUntraced(function* (first: Said) {
  return yield* (yield* resolving(paying({ first }))).offer(url)
})

/** Requests an invoice from a server whose second response has these fields. */
const fetched = Effect.fnUntraced(function* (second: Said) {
  const { offer, invoice } = yield* resolving(paying({ second }))
  return yield* invoice(yield* offer(url), amount)
})

const refused = <A, E extends { readonly _tag: string; readonly reason: string }, R>(
  effect: Effect.Effect<A, E, R>
) => Effect.map(Effect.flip(effect), ({ _tag, reason }) => `${_tag}: ${reason}`)

const raw =
  (status: number, body: string): http.RequestListener =>
  (_, response) =>
    response.writeHead(status).end(body)

describe("LUD-06, payRequest", () => {
  it.live(
    "LUD-06: the pay request is read exactly, including every byte of its metadata and numbers of any size",
    () =>
      Effect.gen(function* () {
        const { callback } = payRequest
        assert.deepStrictEqual(yield* offered({}), { callback, min: 1000n, max: 1_000_000n, metadata })
        assert.strictEqual((yield* offered({ minSendable: 1 })).min, 1n)
        const { offer } = yield* resolving(
          raw(200, JSON.stringify(payRequest).replace("1000000", "2000000000000000001"))
        )
        assert.strictEqual((yield* offer(url)).max, 2_000_000_000_000_000_001n)
      })
  )

  it.live("LUD-06: a maximum above the bitcoin supply is capped at the supply", () =>
    Effect.gen(function* () {
      const { offer } = yield* resolving(raw(200, JSON.stringify(payRequest).replace("1000000", "1e30")))
      assert.strictEqual((yield* offer(url)).max, Msat.max)
    })
  )

  for (const [what, first] of [
    ["no callback", { callback: undefined }],
    ["a minimum of zero", { minSendable: 0 }],
    ["a negative amount", { minSendable: -1 }],
    ["half a millisatoshi", { minSendable: 1.5 }],
    ["a minimum above the maximum", { minSendable: 1_000_001 }],
    ["no amount", { maxSendable: null }],
    ["an amount in words", { maxSendable: "much" }],
    ["no metadata", { metadata: undefined }],
    ["metadata that is not JSON", { metadata: "[[" }],
    ["metadata that is not a list", { metadata: '{"text/plain":"x"}' }],
    ["metadata with an entry that is not a list", { metadata: '[["text/plain","x"],"y"]' }],
    ["metadata without a text", { metadata: '[["image/png;base64","AA=="]]' }],
    ["metadata with two texts", { metadata: '[["text/plain","x"],["text/plain","y"]]' }],
    ["metadata whose text is not a string", { metadata: '[["text/plain",{}]]' }],
    ["no tag", { tag: undefined }],
    ["an unknown pay request tag", { tag: "payLater" }]
  ] as const) {
    it.live(`LUD-06: ${what} is rejected`, () =>
      Effect.gen(function* () {
        assert.match(yield* refused(offered(first)), /^RecipientRefused: its server/)
      })
    )
  }

  it.live(
    "LUD-06: status ERROR counts as the recipient's refusal, whatever the HTTP status, and the reason is shortened to one line",
    () =>
      Effect.gen(function* () {
        const body = JSON.stringify({
          status: "ERROR",
          reason: `no\n\u0000such  \u202euser${"!".repeat(500)}`
        })
        for (const status of [200, 404, 500]) {
          const { offer } = yield* resolving(raw(status, body))
          const said = yield* refused(offer(url))
          assert.match(said, /^RecipientRefused: its server says "no such user!+…"$/)
          assert.isBelow(said.length, 200)
        }
      })
  )

  it.live("LUD-06: a body that is not JSON is rejected, but a gateway's error page counts as an outage", () =>
    Effect.gen(function* () {
      for (const body of ["<html>", "", "[]", "null", '"payRequest"', '{"tag":']) {
        const { offer } = yield* resolving(raw(200, body))
        assert.strictEqual(yield* refused(offer(url)), "RecipientRefused: its server did not return JSON")
      }
      const nobody = yield* resolving(raw(404, "<html>"))
      assert.match(yield* refused(nobody.offer(url)), /^RecipientRefused/)
      const away = yield* resolving(raw(502, "<html>"))
      assert.strictEqual(yield* refused(away.offer(url)), "RecipientUnreachable: its server returned 502")
    })
  )

  it.live(
    "LUD-06: a response or metadata with too many values is rejected, or counts as an outage if a gateway reports one",
    () =>
      Effect.gen(function* () {
        const many = Array.from({ length: Lnurl.maxValues }, () => 0)
        const said = `its server returned more than ${Lnurl.maxValues} values`
        assert.strictEqual(yield* refused(offered({ routes: many })), `RecipientRefused: ${said}`)
        assert.strictEqual(yield* refused(fetched({ routes: many })), `RecipientRefused: ${said}`)
        assert.strictEqual((yield* offered({ routes: many.slice(100) })).metadata, metadata)
        const away = yield* resolving(raw(503, JSON.stringify(many)))
        assert.strictEqual(yield* refused(away.offer(url)), "RecipientUnreachable: its server returned 503")
        const entries = JSON.stringify([["text/plain", "Tea", ...many]])
        assert.strictEqual(
          yield* refused(offered({ metadata: entries })),
          "RecipientRefused: its server's metadata does not conform to LUD-06"
        )
      })
  )

  it.live("LUD-06: the callback is requested with the exact amount and keeps its query", () =>
    Effect.gen(function* () {
      for (const [callback, path] of [
        ["https://wallet.example/cb", "/cb?amount=123456"],
        ["https://wallet.example/cb?a=%20b+c&d", "/cb?a=%20b+c&d&amount=123456"],
        ["https://wallet.example/cb?x=1#here", "/cb?x=1&amount=123456"]
      ] as const) {
        const { server, offer, invoice } = yield* resolving(paying({ first: { callback } }))
        const { paymentRequest, successAction } = yield* invoice(yield* offer(url), amount)
        assert.strictEqual(server.asked.at(-1)?.url, path)
        assert.strictEqual(Result.getOrThrow(Bolt11.decode(paymentRequest)).amount, amount)
        assert.isNull(successAction)
      }
    })
  )

  it.live("LUD-06: a response without an invoice is rejected", () =>
    Effect.gen(function* () {
      for (const pr of [undefined, null, "", [], "lnbc1".repeat(1000)])
        assert.strictEqual(
          yield* refused(fetched({ pr })),
          "RecipientRefused: its server did not return an invoice"
        )
    })
  )
})

describe("LUD-03 and other tags", () => {
  for (const [tag, words] of [
    ["withdrawRequest", "lets you withdraw"],
    ["login", "logs you in"],
    ["channelRequest", "opens a channel"]
  ] as const) {
    it.live(`LNURL: tag ${tag} is rejected, and the error says why`, () =>
      Effect.gen(function* () {
        assert.strictEqual(
          yield* refused(offered({ tag })),
          `RecipientRefused: the LNURL ${words}, so it cannot be paid`
        )
      })
    )
  }
})

describe("LUD-09 and LUD-10, success actions", () => {
  const iv = "5abGVGSYGnLkfjPRFJ8wKQ=="
  const own = "https://wallet.example/order/7"
  const actions: ReadonlyArray<SuccessAction> = [
    { tag: "message", message: "Thank you" },
    { tag: "url", description: "Your order", url: own },
    { tag: "aes", description: "Your code", ciphertext: "IQwkp2DHDgbhStVrZpuVeQ==", iv }
  ]
  for (const successAction of actions) {
    it.live(`LUD-09: ${successAction.tag} is passed on unchanged`, () =>
      Effect.gen(function* () {
        assert.deepStrictEqual((yield* fetched({ successAction })).successAction, successAction)
      })
    )
  }

  it.live("LUD-09: null means no success action", () =>
    Effect.gen(function* () {
      assert.isNull((yield* fetched({ successAction: null })).successAction)
    })
  )

  for (const [what, successAction] of [
    ["an unknown tag", { tag: "open_door", message: "x" }],
    ["no tag", { message: "x" }],
    ["a message that is too long", { tag: "message", message: "x".repeat(145) }],
    ["a message with a NUL character, which PostgreSQL cannot store,", { tag: "message", message: "a\0b" }],
    [
      "a description with half a character, which PostgreSQL cannot store,",
      { tag: "url", description: "\ud800", url: own }
    ],
    [
      "a link with a NUL character, which PostgreSQL cannot store,",
      { tag: "url", description: "x", url: `${own}\0` }
    ],
    ["a message that is not a string", { tag: "message", message: {} }],
    ["a link to another domain", { tag: "url", description: "x", url: "https://else.example/order" }],
    ["a link that is not a URL", { tag: "url", description: "x", url: "javascript:alert(1)" }],
    ["an iv of another length", { tag: "aes", description: "x", ciphertext: "AAAA", iv: "AAAA" }],
    ["a success action that is not an object", "thanks"]
  ] as const) {
    it.live(`LUD-09: ${what} prevents the payment`, () =>
      Effect.gen(function* () {
        assert.match(
          yield* refused(fetched({ successAction })),
          /^RecipientRefused: its server (?:requires|links)/
        )
      })
    )
  }
})

describe("LUD-18, payer data", () => {
  it.live("LUD-18: optional payer data is not sent", () =>
    Effect.gen(function* () {
      const { server, offer, invoice } = yield* resolving(
        paying({ first: { payerData: { name: { mandatory: false }, email: {}, pubkey: null } } })
      )
      yield* invoice(yield* offer(url), amount)
      assert.strictEqual(server.asked.at(-1)?.url, "/cb?to=alice&amount=123456")
    })
  )

  it.live("LUD-18: a recipient that requires payer data is not paid", () =>
    Effect.gen(function* () {
      const said = yield* refused(
        offered({
          payerData: { name: { mandatory: false }, email: { mandatory: true }, auth: { mandatory: true } }
        })
      )
      assert.strictEqual(
        said,
        'RecipientRefused: its server requires the payer\'s "email, auth", which this service does not send'
      )
    })
  )
})
