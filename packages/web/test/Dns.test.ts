import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Dns from "../src/Dns.ts"
import * as NameServer from "./NameServer.ts"

const [serverFailure, noSuchName] = [2, 3]

it.live(
  "DNS: TXT records are read in full, a name without records returns an empty list, and a missing response counts as an outage",
  () =>
    Effect.gen(function* () {
      const name = "_verify.shop.example"
      const zone: Readonly<Record<string, NameServer.Said>> = {
        [name]: { records: [NameServer.txt(name, "token=abc"), NameServer.txt(name, "v=spf1 ", "-all")] },
        "empty.example": {},
        "broken.example": { code: serverFailure }
      }
      const server = yield* NameServer.overUdp((name) => zone[name] ?? { code: noSuchName })
      const { txt } = Dns.make({ servers: [server], timeoutMillis: 60_000, tries: 1 })
      assert.deepStrictEqual(yield* txt(name), ["token=abc", "v=spf1 -all"])
      assert.deepStrictEqual(yield* txt("empty.example"), [])
      assert.deepStrictEqual(yield* txt("nobody.example"), [])
      assert.deepInclude(yield* Effect.flip(txt("broken.example")), {
        _tag: "DnsUnavailable",
        name: "broken.example"
      })
      const silent = Dns.make({ servers: ["127.0.0.1:9"], timeoutMillis: 100, tries: 1 })
      assert.strictEqual((yield* Effect.flip(silent.txt("shop.example")))._tag, "DnsUnavailable")
    })
)
