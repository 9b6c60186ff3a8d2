import { afterAll, assert, describe, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import { Journal } from "@satrail/core/ledger/Journal"
import { Channels, judge } from "@satrail/core/nodes/Channels"
import type { Capacity } from "@satrail/core/nodes/LightningBooks"
import { all as features } from "@satrail/service/features/core"
import { Features } from "@satrail/core/ledger/Features"
import * as Feature from "@satrail/core/ledger/Feature"
import * as Duty from "@satrail/core/ledger/Duty"
import { Tasks } from "@satrail/core/ledger/Tasks"
import * as Reconciler from "@satrail/core/reports/reconciliation/Reconciler"
import * as Memory from "@satrail/service/memory/Memory"
import { Clock, Context, Effect, Layer } from "effect"
import { operatorToken, start } from "./Service.ts"

const locked = Effect.fail({ reason: "lnd is locked" })
/** The capacity of the node's channels, for tests that change it. */
let capacity: Capacity | undefined
const instead = Context.make(
  Channels,
  Channels.of({
    now: Effect.sync(() => capacity ?? null),
    warnings: Effect.sync(() => (capacity === undefined ? [] : judge(capacity))),
    issued: () => Effect.void
  })
)
const service = await start({ checks: [{ name: "node", check: locked }], instead })
afterAll(service.dispose)
const get = async (path: string) => (await service.ask("GET", path, { key: operatorToken })).body.data
const compare = () =>
  service.run(
    Effect.scoped(
      Effect.flatMap(Layer.build(Layer.fresh(Reconciler.layer)), (built) =>
        Context.get(built, Reconciler.Reconciler).run()
      )
    )
  )

describe("GET /operator/status", () => {
  it("status: the response shows the network, the node, and failed checks with their reasons, and shows no lag if nothing is pending", async () => {
    const status = await get("/operator/status")
    assert.deepStrictEqual(
      [status.network, status.checks],
      ["regtest", [{ name: "node", reason: "lnd is locked" }]]
    )
    assert.match(status.node_id, /^0[23][0-9a-f]{64}$/)
    assert.deepStrictEqual(
      [status.events_lag_seconds, status.lags, status.roles],
      [0, [{ feature: "webhooks", lag_seconds: 0 }], []]
    )
    assert.isString(status.rates_at)
    assert.isNull(status.database)
  })

  it("status: the response shows when the lease of each role ends, and shows that a released role has no holder", async () => {
    await service.run(
      Effect.gen(function* () {
        const [journal, tasks, nowMillis] = [yield* Journal, yield* Tasks, yield* Clock.currentTimeMillis]
        for (const role of ["webhooks", "domains"]) yield* journal.commit(Duty.started(role, nowMillis))
        yield* tasks.claim({ kind: "webhooks", nowMillis, leaseMillis: 60_000, limit: 1 })
      })
    )
    const { roles } = await get("/operator/status")
    const [free, held] = roles
    assert.deepStrictEqual(
      [held.role, held.claims, free],
      ["webhooks", 1, { role: "domains", held_until: null, claims: 0 }]
    )
    assert.isAbove(Date.parse(held.held_until), Date.now())
  })
})

describe("lags", () => {
  it("lags: the status and the operator's first page show a host's feature whose work is late", async () => {
    const sinceMillis = Date.now() - 3_600_000
    const reminders = Feature.make({
      name: "reminders",
      lag: { about: "age of the oldest reminder", sinceMillis: Effect.succeed(sinceMillis) }
    })
    const storage = Layer.provideMerge(Memory.layer, Layer.succeed(Features, [...features, reminders]))
    const host = await start({ http: { console: true }, storage })
    const { lags } = (await host.ask("GET", "/operator/status", { key: operatorToken })).body.data
    const [webhooks, own] = lags
    assert.deepStrictEqual([webhooks, own.feature], [{ feature: "webhooks", lag_seconds: 0 }, "reminders"])
    assert.isAtLeast(own.lag_seconds, 3600)
    const page = await host.page(await host.signIn(operatorToken), "operator/console")
    assert.include(page, "The work of reminders is late")
    await host.dispose()
  })
})

describe("channel warnings", () => {
  const none = { active: 0, inactive: 1, opening: 0, closing: 0, forceClosing: 1 }
  const codes = ["no_active_channel", "channels_inactive", "channels_force_closing"]

  it("warnings: the status warns about a node without active channels, but not if its channels are unknown", async () => {
    capacity = undefined
    assert.deepStrictEqual((await get("/operator/status")).warnings, [])
    capacity = { outgoing: Msat.zero, incoming: Msat.zero, channels: none }
    const { warnings } = await get("/operator/status")
    assert.deepStrictEqual(
      warnings.map(({ code }: { readonly code: string }) => code),
      codes
    )
    assert.match(warnings[0].message, /no active channel/)
  })

  it("warnings: a node without active channels leaves the service ready, and /readyz has the warnings", async () => {
    const ready = await start({ checks: [{ name: "store", check: Effect.void }], instead })
    capacity = { outgoing: Msat.zero, incoming: Msat.zero, channels: none }
    const said = await ready.ask("GET", "/readyz")
    assert.strictEqual(said.status, 200)
    assert.deepStrictEqual(
      said.body.data.warnings.map(({ code }: { readonly code: string }) => code),
      codes
    )
    capacity = undefined
    assert.deepStrictEqual((await ready.ask("GET", "/readyz")).body.data, { ready: ["store"] })
    await ready.dispose()
  })
})

describe("GET /operator/liquidity", () => {
  it("liquidity: the response shows the channels' current capacity in both directions, and the wallet's balance at the last reconciliation", async () => {
    const before = await get("/operator/liquidity")
    assert.deepStrictEqual([before.wallet_sats, before.days_left], [null, null])
    const { key } = await service.company("paid")
    await service.fund(key, 100_000)
    await compare()
    const after = await get("/operator/liquidity")
    assert.strictEqual(after.outgoing_sats, before.outgoing_sats + 100_000)
    assert.strictEqual(after.incoming_sats, before.incoming_sats - 100_000)
    assert.isNumber(after.wallet_sats)
    assert.deepStrictEqual(after.channels, {
      active: 2,
      inactive: 0,
      opening: 0,
      closing: 0,
      force_closing: 0
    })
    assert.deepStrictEqual([after.spent_sats, after.days_left], [0, null])
    await service.sandbox(({ pause }) => pause("node"))
    assert.deepStrictEqual((await get("/operator/liquidity")).outgoing_sats, null)
  })
})
