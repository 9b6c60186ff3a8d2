import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import dgram from "node:dgram"
import * as Dns from "../src/Dns.ts"

const [noError, serverFailure, noSuchName] = [0, 2, 3]

/**
 * Responds to TXT queries (RFC 1035, section 4). Each record is a list of strings, and each response is a list
 * of records.
 */
const nameServer = (zone: Readonly<Record<string, ReadonlyArray<ReadonlyArray<string>> | number>>) =>
  Effect.acquireRelease(
    Effect.callback<dgram.Socket>((resume) => {
      const socket = dgram.createSocket("udp4")
      socket.on("message", (question, from) => {
        const end = question.indexOf(0, 12) + 5
        const labels: Array<string> = []
        for (let at = 12; question[at] !== 0; at += (question[at] ?? 0) + 1)
          labels.push(question.toString("latin1", at + 1, at + 1 + (question[at] ?? 0)))
        const found = zone[labels.join(".").toLowerCase()] ?? noSuchName
        const records = typeof found === "number" ? [] : found
        const header = Buffer.from(question.subarray(0, 12))
        header.writeUInt16BE(0x8180 | (typeof found === "number" ? found : noError), 2)
        header.writeUInt16BE(records.length, 6)
        header.writeUInt32BE(0, 8)
        const answers = records.map((strings) => {
          const data = Buffer.concat(strings.map((text) => Buffer.from([text.length, ...Buffer.from(text, "latin1")])))
          const head = Buffer.from([0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 1, 0, 0])
          head.writeUInt16BE(data.length, 10)
          return Buffer.concat([head, data])
        })
        socket.send(Buffer.concat([header, question.subarray(12, end), ...answers]), from.port, from.address)
      })
      socket.bind(0, "127.0.0.1", () => resume(Effect.succeed(socket)))
    }),
    (socket) => Effect.sync(() => socket.close())
  )

it.live("DNS: TXT records are read in full, a name without records returns an empty list, and a missing response counts as an outage", () =>
  Effect.gen(function* () {
    const socket = yield* nameServer({
      "_verify.shop.example": [["token=abc"], ["v=spf1 ", "-all"]],
      "empty.example": [],
      "broken.example": serverFailure
    })
    const { txt } = Dns.make({ servers: [`127.0.0.1:${socket.address().port}`], timeoutMillis: 60_000, tries: 1 })
    assert.deepStrictEqual(yield* txt("_verify.shop.example"), ["token=abc", "v=spf1 -all"])
    assert.deepStrictEqual(yield* txt("empty.example"), [])
    assert.deepStrictEqual(yield* txt("nobody.example"), [])
    assert.deepInclude(yield* Effect.flip(txt("broken.example")), { _tag: "DnsUnavailable", name: "broken.example" })
    const silent = Dns.make({ servers: ["127.0.0.1:9"], timeoutMillis: 100, tries: 1 })
    assert.strictEqual((yield* Effect.flip(silent.txt("shop.example")))._tag, "DnsUnavailable")
  })
)
