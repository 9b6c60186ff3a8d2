import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { boundPort } from "@satrail/testing/boundPort"
import { rmSync } from "node:fs"
import { createServer } from "node:http"
import { Webhook } from "standardwebhooks"
import * as Triggers from "../src/commands/Triggers.ts"
import { run } from "./CommandLine.ts"
import * as Service from "./Service.ts"

describe("the developer commands, with a running sandbox", () => {
  let service: Service.Service
  beforeAll(() => {
    service = Service.make()
    return service.start()
  })
  afterAll(() => service.end())

  for (const { type } of Triggers.all) {
    it.live(`trigger: the command causes the event ${type} and prints it`, () =>
      Effect.gen(function* () {
        const env = {
          SATRAIL_URL: service.url(),
          SATRAIL_API_KEY: service.demo().api_key,
          SATRAIL_DATA: service.data
        }
        const { exit, stdout } = yield* run(`trigger ${type} --json`, env)
        assert.isTrue(Exit.isSuccess(exit), String(exit))
        const event = JSON.parse(stdout)
        assert.strictEqual(event.type, type)
        if ("amount_sats" in event.data)
          assert.strictEqual(event.data.amount_sats, type.includes("on_chain") ? 200_000 : 1000)
      })
    )
  }

  it("dev: runs the sandbox, prints the sandbox's link and key, forwards the sandbox's events, and exits with 0 on SIGTERM", async () => {
    const data = Service.directory()
    const received: Array<{ readonly headers: Record<string, string>; readonly body: string }> = []
    const receiver = createServer((request, response) => {
      let body = ""
      request.setEncoding("utf8").on("data", (text: string) => (body += text))
      request.on("end", () => {
        received.push({
          headers: Object.fromEntries(
            Object.entries(request.headers).map(([name, value]) => [name, String(value)])
          ),
          body
        })
        response.end()
      })
    }).listen(0, "127.0.0.1")
    const port = await boundPort(receiver)
    const dev = Service.run("cli", ["dev", "--forward-to", `http://127.0.0.1:${port}/hooks`], {
      SATRAIL_DATA: data,
      PORT: "0"
    })
    await Service.eventually(
      "events being followed",
      async () => (dev.isOver() ? assert.fail(dev.stderr()) : dev.stderr()),
      (said) => said.includes("Waiting for events")
    )
    for (const words of [
      "/console#link=",
      "sr_regtest_",
      "Ctrl-C",
      `Forwarding to http://127.0.0.1:${port}/hooks, signed with whsec_`
    ])
      assert.include(dev.stdout(), words)
    const { exit } = await Effect.runPromise(run("trigger deposit.settled", { SATRAIL_DATA: data }))
    assert.isTrue(Exit.isSuccess(exit), String(exit))
    await Service.eventually(
      "the posting of the events",
      async () => received.length,
      (count) => count === 3
    )
    const webhook = new Webhook(/whsec_\S+/.exec(dev.stdout())?.[0] ?? "")
    const types = received.map(({ body, headers }) => Object(webhook.verify(body, headers)).type)
    assert.sameMembers(types, ["invoice.created", "invoice.settled", "deposit.lightning.completed"])
    await Service.eventually(
      "a line for each event",
      async () => dev.stdout().match(/→ 200 \(\d+ ms\)\n/g)?.length,
      (count) => count === 3
    )
    dev.kill("SIGTERM")
    const ended = await dev.ended
    assert.deepStrictEqual([ended.code, ended.signal], [0, null], ended.stderr)
    receiver.closeAllConnections()
    receiver.close()
    rmSync(data, { recursive: true, force: true })
  })
})
