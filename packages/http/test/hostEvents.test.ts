import { assert, it } from "@effect/vitest"
import * as Feature from "@satrail/core/ledger/Feature"
import { HostFeatures } from "@satrail/core/ledger/HostFeatures"
import * as Memory from "@satrail/memory/Memory"
import { Effect, Layer } from "effect"
import { bad, seen, start } from "./Service.ts"

it("events: the feed, the stream and webhooks accept the event types of a host's feature, and reject unknown ones", async () => {
  const types = ["reminder.due", "invoice.over-due"]
  const told = { "reminder.due": { as: types, tell: () => Effect.succeed([]) } }
  const reminders = Feature.make({ name: "reminders", notices: { kind: "reminder", types, told } })
  const service = await start({ storage: Layer.merge(Memory.layer, Layer.succeed(HostFeatures, [reminders])) })
  const { key } = await service.company("paid")
  const endpoint = (types: ReadonlyArray<string>) =>
    service.ask("POST", "/v1/webhook-endpoints", { key, body: { url: "https://shop.example/webhooks", types } })

  for (const types of ["reminder.due", "invoice.over-due", "reminder.*,invoice.settled"]) {
    assert.strictEqual((await service.ask("GET", `/v1/events?types=${types}`, { key })).status, 200, types)
    const made = await endpoint(types.split(","))
    assert.deepStrictEqual([made.status, made.body.data.types], [201, types.split(",")])
  }
  for (const type of ["reminder.done", "invoice.done", "reminders.*", "reminder", "*", "invoice.*.*"]) {
    const says = `unknown event type "${type}". Known types: deposit.lightning.completed`
    for (const path of ["/v1/events", "/v1/events/stream"]) {
      const listed = await service.ask("GET", `${path}?types=${type}`, { key })
      assert.deepStrictEqual(seen(listed), bad(400, "malformed"), `${path} ${type}`)
      assert.include(listed.body.message, says)
    }
    const made = await endpoint(["invoice.*", type])
    assert.deepStrictEqual([made.status, made.body.error?.issues?.[0]?.path], [400, "types.1"], type)
    assert.include(made.body.message, says)
  }
  await service.dispose()
})
