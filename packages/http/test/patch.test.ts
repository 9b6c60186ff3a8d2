import { afterAll, assert, describe, it } from "@effect/vitest"
import { Journal } from "@satrail/core/ledger/Journal"
import * as Memory from "@satrail/service/memory/Memory"
import { Effect, Layer } from "effect"
import { bad, operatorToken, seen, start } from "./Service.ts"

/** Runs once, right before a change of a record that was already read is committed. */
let meanwhile: (() => Promise<unknown>) | undefined
const overtaken = Layer.effect(
  Journal,
  Effect.map(Journal, ({ commit }) =>
    Journal.of({
      commit: (change) => {
        const first = meanwhile
        if (
          first === undefined ||
          !/^(ApiKeyLimited|CompanyLimited|CompanyFeesChanged|EndpointChanged|LightningAddressChanged)$/.test(
            change._tag
          )
        )
          return commit(change)
        meanwhile = undefined
        return Effect.andThen(Effect.promise(first), commit(change))
      }
    })
  )
)

const service = await start({ storage: Layer.provideMerge(overtaken, Memory.layer) })
afterAll(service.dispose)
const { id, key } = await service.company("paid")
const created = await service.ask("POST", "/v1/bitcoin/deposit/lightning-address", {
  key,
  body: { metadata: { shop: "1" } }
})
const endpoint = await service.ask("POST", "/v1/webhook-endpoints", {
  key,
  body: { url: "https://shop.example/hooks", description: "Orders", types: ["deposit.*"] }
})
const operatorEndpoint = await service.ask("POST", "/operator/webhook-endpoints", {
  key: operatorToken,
  body: { url: "https://operator.example/hooks", description: "Alarms", types: ["deposit.*"] }
})
const issued = await service.ask("POST", `/operator/companies/${id}/api-keys`, {
  key: operatorToken,
  body: { name: "till", scopes: ["send"] }
})

interface Resource {
  readonly path: string
  /** The field of `data` that contains the resource, if any. */
  readonly at?: "limits" | "own"
  readonly key?: string
  /** The initial value, the fields a PATCH changes, and the field it clears. */
  readonly whole: Readonly<Record<string, unknown>>
  readonly changed: Readonly<Record<string, unknown>>
  readonly cleared: readonly [member: string, becomes: unknown]
}

const rate = { base_sats: 1, parts_per_million: 1000 }
const resources: Readonly<Record<string, Resource>> = {
  "a Lightning address": {
    path: `/v1/bitcoin/deposit/lightning-address/${created.body.data.id}`,
    whole: { min_sats: 2, max_sats: 100, success_message: "Thanks", metadata: { shop: "1" } },
    changed: { min_sats: 5 },
    cleared: ["success_message", null]
  },
  "a webhook endpoint": {
    path: `/v1/webhook-endpoints/${endpoint.body.data.id}`,
    whole: {
      url: "https://shop.example/hooks",
      description: "Orders",
      types: ["deposit.*"],
      signature_header: "X-Shop-Signature"
    },
    changed: { url: "https://shop.example/others" },
    cleared: ["signature_header", null]
  },
  "an operator's webhook endpoint": {
    path: `/operator/webhook-endpoints/${operatorEndpoint.body.data.id}`,
    key: operatorToken,
    whole: {
      url: "https://operator.example/hooks",
      description: "Alarms",
      types: ["deposit.*"],
      signature_header: "X-Shop-Signature"
    },
    changed: { description: "All alarms" },
    cleared: ["types", []]
  },
  "an API key's limits": {
    path: `/operator/api-keys/${issued.body.data.id}/limits`,
    at: "limits",
    key: operatorToken,
    whole: { hour_sats: 100, day_sats: 1000, recipients: ["satoshi@wallet.example"] },
    changed: { day_sats: 500 },
    cleared: ["recipients", null]
  },
  "a company's limits": {
    path: `/operator/companies/${id}/limits`,
    at: "limits",
    key: operatorToken,
    whole: { hour_sats: 100, day_sats: 1000, month_sats: 10_000 },
    changed: { day_sats: 500 },
    cleared: ["month_sats", null]
  },
  "a company's fees": {
    path: `/operator/companies/${id}/fees`,
    at: "own",
    key: operatorToken,
    whole: { lightning: rate, on_chain: rate, internal: rate },
    changed: { lightning: { base_sats: 0, parts_per_million: 500 } },
    cleared: ["internal", null]
  }
}

for (const [name, { path, at, key: bearer = key, whole, changed, cleared }] of Object.entries(resources)) {
  const ask = async (method: string, body: unknown) => {
    const answer = await service.ask(method, path, { key: bearer, body })
    assert.strictEqual(answer.status, 200, answer.text)
    const { data } = answer.body
    return at === undefined ? data : data[at]
  }

  describe(`PATCH of ${name}`, () => {
    it(`patch: ${name}: an omitted field keeps its value, and a null field is cleared`, async () => {
      assert.deepInclude(await ask("PUT", whole), whole)
      assert.deepInclude(await ask("PATCH", changed), { ...whole, ...changed })
      assert.deepInclude(await ask("PATCH", {}), { ...whole, ...changed })
      const [member, becomes] = cleared
      assert.deepInclude(await ask("PATCH", { [member]: null }), { ...whole, ...changed, [member]: becomes })
    })

    it(`patch: ${name}: an unknown field is rejected, and changes nothing`, async () => {
      const before = await ask("PATCH", {})
      assert.deepStrictEqual(
        seen(await service.ask("PATCH", path, { key: bearer, body: { ...changed, strange: 1 } })),
        bad(400, "malformed")
      )
      const after = await ask("PATCH", {})
      for (const member of Object.keys(whole)) assert.deepStrictEqual(after[member], before[member], member)
    })
  })
}

describe("PATCH at the same time as another", () => {
  const theirs: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
    "a Lightning address": { max_sats: 50 },
    "a webhook endpoint": { description: "Refunds" },
    "an operator's webhook endpoint": { types: ["withdrawal.*"] },
    "an API key's limits": { hour_sats: 50 },
    "a company's limits": { hour_sats: 50 },
    "a company's fees": { on_chain: { base_sats: 0, parts_per_million: 5 } }
  }
  for (const [name, { path, at, key: bearer = key, whole, changed }] of Object.entries(resources)) {
    it(`patch: ${name}: two changes of different fields at the same time both take effect`, async () => {
      const ask = (method: string, body: unknown) => service.ask(method, path, { key: bearer, body })
      await ask("PUT", whole)
      meanwhile = () => ask("PATCH", theirs[name])
      const { data } = (await ask("PATCH", changed)).body
      assert.isUndefined(meanwhile)
      assert.deepInclude(at === undefined ? data : data[at], { ...whole, ...theirs[name], ...changed })
    })
  }
})

describe("PATCH of a rate's fields", () => {
  const path = `/operator/companies/${id}/fees`
  const own = async (method: string, body: unknown) => {
    const answer = await service.ask(method, path, { key: operatorToken, body })
    assert.strictEqual(answer.status, 200, answer.text)
    return answer.body.data.own
  }

  it("patch: a company's fees: an omitted field of a rate keeps its value, and a null field becomes 0", async () => {
    await own("PUT", { lightning: { base_sats: 1.5, parts_per_million: 1000 }, internal: { base_sats: 2 } })
    const share = await own("PATCH", { lightning: { parts_per_million: 5 } })
    assert.deepStrictEqual(share, {
      lightning: { base_sats: 1.5, parts_per_million: 5 },
      on_chain: null,
      internal: { base_sats: 2, parts_per_million: 0 }
    })
    const base = await own("PATCH", {
      lightning: { base_sats: 3 },
      internal: { base_sats: null, parts_per_million: 7 }
    })
    assert.deepStrictEqual(base, {
      lightning: { base_sats: 3, parts_per_million: 5 },
      on_chain: null,
      internal: { base_sats: 0, parts_per_million: 7 }
    })
    assert.deepStrictEqual(await own("PATCH", { lightning: {} }), base)
  })

  it("patch: a company's fees: in a new rate, an omitted field is 0", async () => {
    await own("PUT", { lightning: rate })
    const { on_chain } = await own("PATCH", { on_chain: { parts_per_million: 5 } })
    assert.deepStrictEqual(on_chain, { base_sats: 0, parts_per_million: 5 })
  })

  it("patch: a company's fees: PUT replaces the entire rate", async () => {
    await own("PUT", { lightning: rate })
    assert.deepStrictEqual((await own("PUT", { lightning: { parts_per_million: 5 } })).lightning, {
      base_sats: 0,
      parts_per_million: 5
    })
  })
})
