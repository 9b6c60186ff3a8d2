import { assert, it, vi } from "@effect/vitest"
import { longestMillis } from "@satrail/testing/Waiting"
import * as Dispatcher from "@satrail/features/webhooks/core/Dispatcher"
import { Poster } from "@satrail/core/nodes/Poster"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import * as Feature from "@satrail/core/ledger/Feature"
import { all as features } from "@satrail/service/features/core"
import { Features } from "@satrail/core/ledger/Features"
import { Journal } from "@satrail/core/ledger/Journal"
import type { Written } from "@satrail/core/ledger/Written"
import * as Memory from "@satrail/service/memory/Memory"
import { Effect, Layer, Redacted } from "effect"
import * as EventBody from "@satrail/service/http/events/EventBody"
import * as WebhookKeys from "@satrail/features/webhooks/http/WebhookKeys"
import { bad, posted, seen, start } from "./Service.ts"

interface ReminderDue extends Written<"ReminderDue", readonly [], never, "reminder.due"> {}

it("events: the feed, the stream and webhooks accept the event types of a host's feature, and reject unknown ones; webhooks deliver them", async () => {
  const convert = ({ subject }: { readonly subject: string }) =>
    Effect.succeed([{ kind: "reminder" as const, type: "reminder.due" as const, record: { id: subject } }])
  const types = ["reminder.due", "invoice.over-due"]
  const byEvent = { "reminder.due": { as: types, convert } }
  const reminders = Feature.make({ name: "reminders", notices: { kind: "reminder", types, byEvent } })
  const service = await start({
    storage: Layer.provideMerge(Memory.layer, Layer.succeed(Features, [...features, reminders]))
  })
  const { id: companyId, key } = await service.company("paid")
  const endpoint = (types: ReadonlyArray<string>) =>
    service.ask("POST", "/v1/webhook-endpoints", {
      key,
      body: { url: "https://shop.example/webhooks", types }
    })

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
  const delivered = Effect.gen(function* () {
    yield* Layer.build(Dispatcher.layerWorker)
    const id = yield* Id.make
    const event = { type: "reminder.due", subject: id } as const
    const change = {
      id,
      companyId: CompanyId.make(companyId),
      atMillis: Date.now(),
      legs: [],
      writes: [],
      event
    } as const
    const due: ReminderDue = { _tag: "ReminderDue", ...change }
    yield* (yield* Journal).commit(due)
    const about = () => posted.requests.filter(({ body }) => body.includes(id))
    yield* Effect.promise(() =>
      vi.waitFor(() => assert.strictEqual(about().length, 2), { timeout: longestMillis, interval: 20 })
    )
  })
  const keys = WebhookKeys.layer(Redacted.make("what keeps webhooks' secrets"))
  const webhooks = Layer.mergeAll(EventBody.layer, Layer.succeed(Poster, posted.poster), keys)
  await service.run(Effect.scoped(Effect.provide(delivered, webhooks)))
  await service.dispose()
})
