import { assert, describe, it } from "@effect/vitest"
import { eventually } from "@satrail/contracts/Eventually"
import * as CompanyId from "@satrail/core/base/CompanyId"
import { boundPort } from "@satrail/testing/boundPort"
import { Effect, Fiber } from "effect"
import { rmSync } from "node:fs"
import { createServer, type RequestListener, type ServerResponse } from "node:http"
import { Webhook } from "standardwebhooks"
import * as Events from "../src/commands/Events.ts"
import * as Triggers from "../src/commands/Triggers.ts"
import * as DemoFile from "../src/deployment/DemoFile.ts"
import { run } from "./CommandLine.ts"
import * as Service from "./Service.ts"

const apiKey = "sr_regtest_key"

const listening = (handler: RequestListener) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const server = createServer(handler).listen(0, "127.0.0.1")
      return { server, url: `http://127.0.0.1:${await boundPort(server)}` }
    }),
    ({ server }) =>
      Effect.sync(() => {
        server.closeAllConnections()
        server.close()
      })
  )

const bodyOf = (id: string) =>
  JSON.stringify({
    id,
    type: "deposit.lightning.completed",
    timestamp: "2026-01-31T12:00:00.000Z",
    data: { id: "deposit-1", amount_sats: 21 }
  })

const sse = (id: string) => `id: ${id}\nevent: deposit.lightning.completed\ndata: ${bodyOf(id)}\n\n`

interface Asked {
  readonly url: string | undefined
  readonly after: string | undefined
  readonly key: string | undefined
}

/**
 * A service whose stream ends after two events, fails once, and then resumes after the last event that was
 * read.
 */
const feed = Effect.gen(function* () {
  const asked: Array<Asked> = []
  const answers: ReadonlyArray<(response: ServerResponse) => void> = [
    (response) =>
      response
        .writeHead(200, { "content-type": "text/event-stream" })
        .end(`retry: 10\n\n${sse("evt_1")}:\n\n${sse("evt_2")}`),
    (response) =>
      response
        .writeHead(503, { "content-type": "application/json" })
        .end(
          JSON.stringify({ status: 503, message: "Away", data: null, error: { code: "store_unavailable" } })
        ),
    (response) => response.writeHead(200, { "content-type": "text/event-stream" }).write(sse("evt_3"))
  ]
  const { url } = yield* listening((request, response) => {
    const { authorization, "last-event-id": after } = request.headers
    const answer = answers[asked.length]
    asked.push({ url: request.url, after: after?.toString(), key: authorization })
    answer?.(response)
  })
  return { asked, env: { SATRAIL_URL: url, SATRAIL_API_KEY: apiKey, SATRAIL_DATA: "/nowhere" } }
})

interface Received {
  readonly headers: Record<string, string>
  readonly body: string
}

/** A company's program, whose second response is an error. */
const receiver = Effect.gen(function* () {
  const received: Array<Received> = []
  const { url } = yield* listening((request, response) => {
    let body = ""
    request.setEncoding("utf8").on("data", (text: string) => (body += text))
    request.on("end", () => {
      const headers = Object.fromEntries(
        Object.entries(request.headers).map(([name, value]) => [name, String(value)])
      )
      received.push({ headers, body })
      response.writeHead(received.length === 2 ? 500 : 204).end()
    })
  })
  return { received, url: `${url}/webhooks` }
})

describe("the developer commands", () => {
  it.live(
    "listen: posts each event once and in order, signed like a webhook, and resumes after the last event",
    () =>
      Effect.gen(function* () {
        const { asked, env } = yield* feed
        const { received, url } = yield* receiver
        const listening = yield* Effect.forkScoped(
          run(`listen --forward-to ${url} --types deposit.* --json`, env)
        )
        yield* eventually(
          Effect.sync(() => received),
          (all) => all.length === 3
        )
        yield* Fiber.interrupt(listening)
        assert.deepStrictEqual(asked, [
          { url: "/v1/events/stream?types=deposit.*", after: undefined, key: `Bearer ${apiKey}` },
          { url: "/v1/events/stream?types=deposit.*", after: "evt_2", key: `Bearer ${apiKey}` },
          { url: "/v1/events/stream?types=deposit.*", after: "evt_2", key: `Bearer ${apiKey}` }
        ])
        assert.deepStrictEqual(
          received.map(({ body }) => body),
          ["evt_1", "evt_2", "evt_3"].map(bodyOf)
        )
        const webhook = new Webhook(Events.secretOf(apiKey))
        for (const { body, headers } of received) {
          assert.deepStrictEqual(webhook.verify(body, headers), JSON.parse(body))
          assert.strictEqual(headers["webhook-id"], JSON.parse(body).id)
        }
        assert.throws(() =>
          new Webhook(Events.secretOf("another key")).verify(
            received[0]?.body ?? "",
            received[0]?.headers ?? {}
          )
        )
      })
  )

  it.live(
    "listen: prints the signing secret, then a line per event with the response status or the reason why there was no response",
    () =>
      Effect.gen(function* () {
        const { url } = yield* receiver
        const broken = yield* listening((request) => request.socket.destroy())
        const lines: Array<string> = []
        for (const [to, says] of [
          [url, /→ 204 \(\d+ ms\)$/],
          [`${broken.url}/`, /→ \D+ \(\d+ ms\)$/]
        ] as const) {
          const { env } = yield* feed
          const printed: Array<string> = []
          const listening = yield* Effect.forkScoped(
            run(`listen --forward-to ${to}`, env, (line) => printed.push(line))
          )
          yield* eventually(
            Effect.sync(() => printed),
            (all) => all.length === 4
          )
          yield* Fiber.interrupt(listening)
          assert.strictEqual(printed[0], `Forwarding to ${to}, signed with ${Events.secretOf(apiKey)}`)
          assert.match(
            printed[1] ?? "",
            /^\d\d:\d\d:\d\d {2}deposit\.lightning\.completed +21 sats {2}deposit-1 {2}evt_1 {2}→/
          )
          assert.match(printed[1] ?? "", says)
          lines.push(...printed)
        }
        assert.match(lines[2] ?? "", /→ 500 \(/)
      })
  )

  it.live("events tail: with --json each line is the body of a webhook", () =>
    Effect.gen(function* () {
      const { env } = yield* feed
      const printed: Array<string> = []
      const tailing = yield* Effect.forkScoped(
        run("events tail --json --after evt_0", env, (line) => printed.push(line))
      )
      yield* eventually(
        Effect.sync(() => printed),
        (all) => all.length === 3
      )
      yield* Fiber.interrupt(tailing)
      assert.deepStrictEqual(printed, ["evt_1", "evt_2", "evt_3"].map(bodyOf))
    })
  )

  it.live(
    "events tail: a connection lost before the first event resumes at the position that the service sent",
    () =>
      Effect.gen(function* () {
        const asked: Array<string | undefined> = []
        const { url } = yield* listening((request, response) => {
          asked.push(request.headers["last-event-id"]?.toString())
          const stream = response.writeHead(200, { "content-type": "text/event-stream" })
          // The second connection sends an event, then a position after events of other types.
          if (asked.length === 1) stream.end("retry: 10\r\nid: evt_0\r\n\r\n")
          else if (asked.length === 2) stream.end(`${sse("evt_1")}id: evt_4\n\nid: evt_5\n`)
        })
        const tailing = yield* Effect.forkScoped(
          run("events tail", { SATRAIL_URL: url, SATRAIL_API_KEY: apiKey, SATRAIL_DATA: "/nowhere" })
        )
        yield* eventually(
          Effect.sync(() => asked),
          (all) => all.length === 3
        )
        yield* Fiber.interrupt(tailing)
        assert.deepStrictEqual(asked, [undefined, "evt_0", "evt_4"])
      })
  )

  it.live("events tail: fails immediately if the first connection is rejected", () =>
    Effect.gen(function* () {
      const { url } = yield* listening((_request, response) => {
        response.writeHead(503, { "content-type": "application/json" })
        response.end(
          JSON.stringify({ status: 503, message: "Away", data: null, error: { code: "store_unavailable" } })
        )
      })
      const { exit } = yield* run("events tail", {
        SATRAIL_URL: url,
        SATRAIL_API_KEY: apiKey,
        SATRAIL_DATA: "/nowhere"
      })
      assert.include(String(exit), "Away (store_unavailable)")
    })
  )

  it.live("open: prints the console's URL and how to sign in, and reports a disabled console", () =>
    Effect.gen(function* () {
      let status = 200
      const { url } = yield* listening((request, response) =>
        response.writeHead(request.url === "/console" ? status : 500).end()
      )
      const env = { SATRAIL_URL: url, SATRAIL_API_KEY: apiKey, SATRAIL_DATA: "/nowhere" }
      assert.strictEqual(
        (yield* run("open", env)).stdout,
        `${url}/console\nSign in with the API key in SATRAIL_API_KEY.`
      )
      const directory = yield* Effect.acquireRelease(Effect.sync(Service.directory), (made) =>
        Effect.sync(() => rmSync(made, { recursive: true }))
      )
      DemoFile.write(directory, { base_url: url, api_key: apiKey, company_id: CompanyId.operator })
      assert.include(
        (yield* run("open", { SATRAIL_DATA: directory })).stdout,
        `copy the value of "api_key" from ${DemoFile.fileIn(directory)}.\nA sandbox also prints a new sign-in link`
      )
      assert.strictEqual((yield* run("open --json", env)).stdout, JSON.stringify({ url: `${url}/console` }))
      status = 404
      assert.include(String((yield* run("open", env)).exit), "Check that SATRAIL_CONSOLE is not")
    })
  )

  it.effect(
    "trigger: the help lists every event type, and each name exported by the satrail package maps to an event type",
    () =>
      Effect.gen(function* () {
        const { stdout } = yield* run("trigger --help")
        for (const { type } of Triggers.all) assert.include(stdout, type)
        assert.strictEqual(Triggers.named("deposit.settled")?.type, "deposit.lightning.completed")
        for (const [alias, type] of Triggers.aliases)
          assert.deepStrictEqual([alias, Triggers.named(type)?.type], [alias, type])
        assert.isUndefined(Triggers.named("deposit.reversed"))
        const { stderr } = yield* run("trigger deposit.reversed")
        assert.include(stderr, "Invalid value for argument <type>")
      })
  )

  it.effect("dev: refuses to start if a real node is configured", () =>
    Effect.gen(function* () {
      const chain = { CHAIN: "esplora", ESPLORA_URL: "http://127.0.0.1:1", SATRAIL_DATA: "/nowhere" }
      const { exit } = yield* run("dev", { ...chain, CHAIN_SEED: "abandon ".repeat(23) + "art" })
      assert.include(String(exit), "satrail dev only runs the sandbox")
    })
  )
})
