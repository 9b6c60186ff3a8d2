import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { Companies } from "../src/accounts/Companies.ts"
import * as Company from "../src/accounts/Company.ts"
import * as Endpoint from "../src/features/webhooks/records/Endpoint.ts"
import { Webhooks } from "../src/features/webhooks/Webhooks.ts"
import { Journal } from "../src/ledger/Journal.ts"
import * as LightningAddress from "../src/receiving/LightningAddress.ts"
import { LightningAddresses } from "../src/receiving/LightningAddresses.ts"
import { endpoint, world } from "./Receivers.ts"
import { company, everywhere, made, said, scenario } from "./World.ts"

scenario(
  "concurrent changes: a change that others precede 20 times takes effect, and one that they always precede is refused",
  () => world(),
  function* () {
    const { commit } = yield* Journal
    const [addresses, companies, webhooks] = [yield* LightningAddresses, yield* Companies, yield* Webhooks]
    const row = yield* company("paid")
    const address = yield* made(addresses.create({ company: row, handle: "shop", domain: null, metadata: {} }))
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
        overtaken({ ...found, types: [] }, (n) => commit(Endpoint.changed(found, { ...found, description: String(n) }, n)))
      ),
      company: companies.updateFees(row.id, () =>
        overtaken(null, (n) => commit(Company.feesChanged(row.id, { internal: { baseMsat: n, partsPerMillion: n } }, n)))
      )
    }
    for (const [name, change] of Object.entries<Effect.Effect<unknown, { readonly _tag: string }>>(changes)) {
      for (const [others, outcome] of [
        [20, "ok"],
        [200, "StoreUnavailable: overloaded"]
      ] as const) {
        left = others
        const refused = Effect.mapError(change, (error) => ({ ...error, code: "why" in error ? error.why : undefined }))
        assert.strictEqual(yield* said(everywhere(refused)), outcome, `${name}, ${others}`)
      }
    }
  }
)
