import { assert, describe, it } from "@effect/vitest"
import * as Bolt12 from "@satrail/bitcoin/Bolt12"
import { Effect, Exit, Result } from "effect"
import { cname, framed, answer, asked, overTcp, txt, type Said } from "../../web/test/NameServer.ts"
import * as Check from "../src/base/Check.ts"
import * as DnsResolver from "../src/check/DnsResolver.ts"
import { CommandFailed } from "@satrail/http/commands/CommandFailed"
import { run } from "./CommandLine.ts"

const name = "alice.user._bitcoin-payment.shop.example"
const offer = "lno1pgx9getnwss8vetrw3hhyuckyypwa3eyt44h6txtxquqh7lz5djge4afgfjn7k4rgrkuag0jsd5xvxg"

const resolver = (zone: Readonly<Record<string, Said>>) =>
  Effect.map(
    overTcp((question) => framed(answer(question, zone[asked(question)] ?? { code: 3 }))),
    (port) => `tcp://127.0.0.1:${port}`
  )

/** The output, or the error. */
const names = (args: string, env: Record<string, string> = {}) =>
  Effect.map(run(`names ${args}`, env), ({ exit, stdout }) => {
    const error = Exit.findErrorOption(exit)
    return error._tag === "None"
      ? stdout
      : error.value instanceof CommandFailed
        ? `failed: ${error.value.message}`
        : "broke"
  })

describe("satrail names", () => {
  it.live("names: a lookup shows the resolver's response and how the service interprets it", () =>
    Effect.gen(function* () {
      const BIP353_RESOLVER = yield* resolver({
        [name]: { records: [txt(name, "v=spf1"), txt(name, "bitcoin:", "?lno=lno1abc")] },
        "bob.user._bitcoin-payment.shop.example": {
          records: [cname("bob.user._bitcoin-payment.shop.example", name), txt(name, "bitcoin:?lno=lno1abc")],
          isAuthentic: false
        },
        "carol.user._bitcoin-payment.shop.example": { code: 2 }
      })
      const lookup = (one: string) => names(`lookup ${one}`, { BIP353_RESOLVER })
      assert.strictEqual(
        yield* lookup("₿Alice@shop.example"),
        `${name}  signed\n  v=spf1\n  bitcoin:?lno=lno1abc\npays bitcoin:?lno=lno1abc`
      )
      for (const pasted of [
        "%E2%82%BFAlice@shop.example.",
        "lightning:alice%40shop.example",
        "<⚡alice@shop.example>"
      ])
        assert.match(yield* lookup(pasted), /pays bitcoin:\?lno=lno1abc$/, pasted)
      assert.match(yield* lookup(offer), /^failed: This is not a name/)
      assert.match(yield* lookup("bob@shop.example"), /not signed\n.*\nrefused: .*not signed \(DNSSEC\)$/)
      assert.match(
        yield* lookup("dave@shop.example"),
        /signed\nno record: dave@shop\.example may be a Lightning address$/
      )
      assert.match(yield* lookup("carol@shop.example"), /^failed: No resolver .* signature is invalid\.$/)
      assert.match(yield* lookup("alice"), /^failed: /)
      assert.strictEqual(
        yield* names("lookup alice@shop.example"),
        "failed: BIP353_RESOLVER is not set. Set it to look up names."
      )
      assert.deepStrictEqual(JSON.parse(yield* lookup("alice@shop.example --json")), {
        name,
        records: ["v=spf1", "bitcoin:?lno=lno1abc"],
        is_signed: true,
        result: "pays bitcoin:?lno=lno1abc"
      })
    })
  )
  it.live(
    "names: a record is one zone-file line of strings of at most 255 bytes; an offer that is short-lived or for another network is rejected",
    () =>
      Effect.gen(function* () {
        const record = (one: string, network = "mainnet") =>
          names(`record ₿alice@shop.example ${one}`, { SATRAIL_NETWORK: network })
        for (const pasted of [
          offer,
          offer.toUpperCase(),
          `lightning:${offer}`,
          `bitcoin:?lno=${offer}`,
          `<${offer}>`
        ])
          assert.strictEqual(yield* record(pasted), `${name}. 3600 IN TXT "bitcoin:?lno=${offer}"`, pasted)
        const issuerId = "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"
        const written = (fields: Partial<Bolt12.Draft>) =>
          Result.getOrThrow(Bolt12.encode({ networks: ["mainnet"], issuerId, ...fields }))
        const long = written({ description: "tea ".repeat(100) })
        const [, strings = ""] = /^\S+ 3600 IN TXT (.*)$/.exec(yield* record(long)) ?? []
        const texts = [...strings.matchAll(/"([^"]{1,255})"/g)].map(([, text = ""]) => text)
        assert.isAbove(texts.length, 1)
        assert.strictEqual(texts.join(""), `bitcoin:?lno=${long}`)
        assert.strictEqual(
          yield* record(offer, "signet"),
          "failed: The offer is for mainnet, but SATRAIL_NETWORK is signet."
        )
        const soon = written({ absoluteExpirySeconds: Math.floor(Date.now() / 1000) + 600 })
        assert.match(yield* record(soon), /^failed: The offer has expired, or will expire/)
        for (const none of ["lnbc1x", "lno1xyz"]) assert.match(yield* record(none), /^failed: /)
      })
  )
  it.live(
    "check: a resolver that does not validate is reported as an error, and a resolver that is down as an outage",
    () =>
      Effect.gen(function* () {
        const urls = yield* Effect.forEach(
          [{ records: [] }, { records: [], isAuthentic: false }, { code: 2 }],
          (said) => resolver({ org: said })
        )
        const { lines } = DnsResolver.check({ bip353Resolvers: urls.map((url) => new URL(url)) })
        assert.deepStrictEqual(
          (yield* lines).map((line) => [
            line._tag,
            Check.isFinal({ subject: "names", isWatched: false, line })
          ]),
          [
            ["Right", false],
            ["Wrong", true],
            ["Wrong", false]
          ]
        )
      })
  )
})
