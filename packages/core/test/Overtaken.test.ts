import { assert } from "@effect/vitest"
import { type Context, Effect } from "effect"
import { Companies } from "../src/accounts/Companies.ts"
import * as Company from "../src/accounts/Company.ts"
import * as Endpoint from "@satrail/features/webhooks/core/records/Endpoint"
import { Webhooks } from "@satrail/features/webhooks/core/Webhooks"
import { Journal } from "../src/ledger/Journal.ts"
import * as LightningAddress from "../src/receiving/LightningAddress.ts"
import { LightningAddresses } from "../src/receiving/LightningAddresses.ts"
import { endpoint, world } from "./Receivers.ts"
import { company, everywhere, made, type Ports, replace, said, scenario } from "./World.ts"

/** Adds to an error why the store is unavailable. */
const told = <A, E extends { readonly _tag: string }>(change: Effect.Effect<A, E>) =>
  Effect.mapError(change, (error) => ({ ...error, code: "why" in error ? error.why : undefined }))

scenario(
  "concurrent changes: a change that others precede 20 times takes effect, and one that they always precede is refused",
  () => ({ ...world(), isUnlogged: true }),
  function* () {
    const { commit } = yield* Journal
    const [addresses, companies, webhooks] = [yield* LightningAddresses, yield* Companies, yield* Webhooks]
    const row = yield* company("paid")
    const address = yield* made(
      addresses.create({ company: row, handle: "shop", domain: null, metadata: {} })
    )
    const { id } = (yield* endpoint(row)).endpoint
    let left = 0
    /** Commits a colleague's change, if any is left, between the read and the commit of another change. */
    const overtaken = <A, E, R, B>(settings: A, colleague: (n: number) => Effect.Effect<B, E, R>) =>
      Effect.as(left > 0 ? Effect.orDie(colleague(left--)) : Effect.void, settings)
    const changes = {
      address: addresses.updateSettings(row.id, address.id, (found) =>
        overtaken({ ...found, successMessage: "Thanks!" }, (n) =>
          commit(LightningAddress.changed(found, { ...found, successMessage: String(n) }, n))
        )
      ),
      endpoint: webhooks.updateSettings(row.id, id, (found) =>
        overtaken({ ...found, types: [] }, (n) =>
          commit(Endpoint.changed(found, { ...found, description: String(n) }, n))
        )
      ),
      company: companies.updateFees(row.id, () =>
        overtaken(null, (n) =>
          commit(Company.feesChanged(row.id, { internal: { baseMsat: n, partsPerMillion: n } }, n))
        )
      )
    }
    for (const [name, change] of Object.entries<Effect.Effect<unknown, { readonly _tag: string }>>(changes)) {
      for (const [others, outcome] of [
        [20, "ok"],
        [200, "StoreUnavailable: overloaded"]
      ] as const) {
        left = others
        assert.strictEqual(yield* said(everywhere(told(change))), outcome, `${name}, ${others}`)
      }
    }
  }
)

/** Commits the rival's change before each of the first `left` Changes of this kind. */
const overtaking = () => {
  const made = world()
  const of: { left: number; tag: string; rival: Effect.Effect<unknown, unknown> } = {
    left: 0,
    tag: "",
    rival: Effect.void
  }
  const overtaken = replace(Journal, (journal) => ({
    commit: (change) => {
      if (change._tag !== of.tag || of.left === 0) return journal.commit(change)
      const { tag } = of
      of.left--
      of.tag = ""
      const rival = Effect.ensuring(
        Effect.orDie(of.rival),
        Effect.sync(() => (of.tag = tag))
      )
      return Effect.andThen(rival, journal.commit(change))
    }
  }))
  return { ...made, of, change: (ports: Context.Context<Ports>) => overtaken(made.change?.(ports) ?? ports) }
}

scenario(
  "concurrent changes: a webhook endpoint is disabled, and its secret rotated, although others precede it, but not if they always do",
  () => ({ ...overtaking(), isUnlogged: true }),
  function* ({ of }) {
    const [webhooks, { commit }] = [yield* Webhooks, yield* Journal]
    const row = yield* company("paid")
    const { id } = (yield* endpoint(row)).endpoint
    let n = 0
    of.rival = Effect.flatMap(webhooks.get(row.id, id), (found) =>
      commit(Endpoint.rotated(found, `secret ${++n}`, 0, n))
    )
    const changes: Readonly<Record<string, Effect.Effect<unknown, { readonly _tag: string }>>> = {
      EndpointRotated: webhooks.rotate(row.id, id, 0),
      EndpointDisabled: webhooks.disable(row.id, id)
    }
    for (const [tag, change] of Object.entries(changes))
      for (const [others, outcome] of [
        [200, "StoreUnavailable: overloaded"],
        [20, "ok"]
      ] as const) {
        Object.assign(of, { left: others, tag })
        assert.strictEqual(yield* said(told(change)), outcome, `${tag}, ${others}`)
      }
    assert.strictEqual((yield* webhooks.get(row.id, id)).status, "disabled")
  }
)

scenario(
  "concurrent changes: 100 changes of one webhook endpoint and 100 rotations of its secret all take effect",
  () => world(),
  function* () {
    const webhooks = yield* Webhooks
    const row = yield* company("paid")
    const { id } = (yield* endpoint(row)).endpoint
    const changes = Array.from({ length: 100 }, (_, n) => [
      webhooks.updateSettings(row.id, id, (found) =>
        Effect.as(Effect.yieldNow, { ...found, description: `${found.description}${n} ` })
      ),
      webhooks.rotate(row.id, id, 0)
    ])
    const outcomes = yield* Effect.forEach(
      changes.flat(),
      (change) => said(told<unknown, { readonly _tag: string }>(change)),
      {
        concurrency: "unbounded"
      }
    )
    assert.deepStrictEqual([...new Set(outcomes)], ["ok"])
    const { description } = yield* webhooks.get(row.id, id)
    assert.strictEqual(new Set(description.trim().split(" ")).size, 100)
  }
)
