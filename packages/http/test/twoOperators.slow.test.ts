import { afterAll, assert, describe, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Loosening from "@satrail/core/accounts/Loosening"
import * as SecondOperator from "@satrail/core/accounts/SecondOperator"
import { link } from "@satrail/features/audit/core/AuditLog"
import { Effect } from "effect"
import { bad, operatorToken, seen, start } from "./Service.ts"

const service = await start({ settings: { secondOperatorAbove: Msat.fromSats(500) } })
const off = await start({ settings: { secondOperatorAbove: null } })
afterAll(() => Promise.all([service.dispose(), off.dispose()]))

const ask = (method: string, path: string, key: string, body?: unknown, of = service) =>
  of.ask(method, `/operator${path}`, { key, ...(body !== undefined && { body }) })
const tokenOf = async (name: string, scopes: ReadonlyArray<string>, of = service): Promise<string> =>
  (await ask("POST", "/tokens", operatorToken, { name, scopes }, of)).body.data.token
const [ada, adasOther, bob, stop] = [
  await tokenOf("Ada", ["stop", "loosen"]),
  await tokenOf(" ADA", ["loosen"]),
  await tokenOf("Bob", ["stop", "loosen"]),
  await tokenOf("Stop", ["stop"])
]

/** A company with this balance, and its key's id. */
const holding = async (sats: number, of = service) => {
  const { id, key } = await of.company()
  await of.fund(key, sats)
  const keys = await ask("GET", `/companies/${id}/api-keys`, operatorToken, undefined, of)
  const keyId: string = keys.body.data[0].id
  return { id, keyId }
}

const limits = { day_sats: 1000, approval_above_sats: 500, recipients: ["ada@example.com"] }
const ranges = { for: "everything", ranges: ["203.0.113.0/24"] }
const freeze = { reason: "reported key theft", pending: "wait" }

/** For each protection: a request that sets it, and a request that loosens it. */
const loosened = {
  "a company's limit raised": {
    at: "company",
    path: "limits",
    tight: limits,
    loose: { ...limits, day_sats: 1001 }
  },
  "a company's limits removed": { at: "company", path: "limits", tight: limits, loose: {} },
  "a key's approval threshold removed": {
    at: "key",
    path: "limits",
    tight: limits,
    loose: { ...limits, approval_above_sats: null }
  },
  "a recipient added to a key": {
    at: "key",
    path: "limits",
    tight: limits,
    loose: { ...limits, recipients: ["ada@example.com", "b@example.com"] }
  },
  "a key without address ranges": {
    at: "key",
    path: "allowed-from",
    tight: { allowed_from: ranges },
    loose: { allowed_from: null }
  }
} as const

const pathOf = (
  { id, keyId }: { readonly id: string; readonly keyId: string },
  at: "company" | "key",
  path: string
) => `${at === "company" ? `/companies/${id}` : `/api-keys/${keyId}`}/${path}`
const needed = bad(403, "second_operator_required")

describe("loosening the protections of a company with a large balance", () => {
  for (const [what, { at, path, tight, loose }] of Object.entries(loosened)) {
    it(`two operators: ${what}: the change takes effect when another operator sends the same request`, async () => {
      const route = pathOf(await holding(1000), at, path)
      const shown = async () => {
        const { data } = (
          await ask(
            "GET",
            route.replace("/allowed-from", "").replace(/(api-keys.*)\/limits/, "$1"),
            operatorToken
          )
        ).body
        return JSON.stringify([data.limits, data.allowed_from])
      }
      assert.strictEqual((await ask("PUT", route, stop, tight)).status, 200)
      const before = await shown()
      for (const same of [ada, ada, adasOther])
        assert.deepStrictEqual(seen(await ask("PUT", route, same, loose)), needed)
      assert.strictEqual(await shown(), before)
      assert.strictEqual((await ask("PUT", route, bob, loose)).status, 200)
      assert.notStrictEqual(await shown(), before)
      assert.strictEqual((await ask("PUT", route, stop, tight)).status, 200)
      assert.deepStrictEqual(seen(await ask("PUT", route, bob, loose)), needed)
    })

    it(`two operators: ${what}: a second operator cannot grant a different change, or a change to a protection that has since been tightened`, async () => {
      const route = pathOf(await holding(1000), at, path)
      const [other, tighter] =
        path === "limits"
          ? [
              { ...limits, day_sats: 5000 },
              { ...limits, day_sats: 999 }
            ]
          : [
              { allowed_from: { ...ranges, for: "sending" } },
              { allowed_from: { ...ranges, ranges: ["203.0.113.7"] } }
            ]
      await ask("PUT", route, stop, tight)
      await ask("PUT", route, ada, loose)
      assert.deepStrictEqual(seen(await ask("PUT", route, bob, other)), needed)
      await ask("PUT", route, ada, loose)
      assert.strictEqual((await ask("PUT", route, stop, tighter)).status, 200)
      assert.deepStrictEqual(seen(await ask("PUT", route, bob, loose)), needed)
    })
  }

  it("two operators: unfreezing a company, or resuming its pending payments, takes effect when another operator sends the same request", async () => {
    const { id } = await holding(1000)
    const frozen = async () => (await ask("GET", `/companies/${id}`, operatorToken)).body.data.frozen?.pending
    assert.strictEqual((await ask("POST", `/companies/${id}/freeze`, stop, freeze)).status, 200)
    const goOn = { ...freeze, pending: "go_on" }
    assert.deepStrictEqual(
      seen(await ask("POST", `/companies/${id}/freeze`, stop, goOn)),
      bad(403, "scope_required")
    )
    assert.deepStrictEqual(seen(await ask("POST", `/companies/${id}/freeze`, ada, goOn)), needed)
    assert.strictEqual(await frozen(), "wait")
    assert.strictEqual((await ask("POST", `/companies/${id}/freeze`, bob, goOn)).status, 200)
    assert.strictEqual(await frozen(), "go_on")
    assert.strictEqual((await ask("POST", `/companies/${id}/freeze`, stop, freeze)).status, 200)
    assert.deepStrictEqual(seen(await ask("POST", `/companies/${id}/unfreeze`, ada)), needed)
    assert.deepStrictEqual(seen(await ask("POST", `/companies/${id}/unfreeze`, ada)), needed)
    assert.strictEqual(await frozen(), "wait")
    assert.strictEqual((await ask("POST", `/companies/${id}/unfreeze`, bob)).status, 200)
    assert.isUndefined(await frozen())
    assert.strictEqual((await ask("POST", `/companies/${id}/unfreeze`, bob)).status, 200)
  })

  it("two operators: a token with the stop scope can neither request nor grant a change", async () => {
    const { id } = await holding(1000)
    await ask("PUT", `/companies/${id}/limits`, stop, limits)
    assert.deepStrictEqual(
      seen(await ask("PUT", `/companies/${id}/limits`, stop, {})),
      bad(403, "scope_required")
    )
    assert.deepStrictEqual(seen(await ask("PUT", `/companies/${id}/limits`, ada, {})), needed)
    assert.deepStrictEqual(
      seen(await ask("PUT", `/companies/${id}/limits`, stop, {})),
      bad(403, "scope_required")
    )
  })

  it("two operators: a PATCH that loosens a protection takes effect when another operator sends the same request", async () => {
    const { id } = await holding(1000)
    await ask("PUT", `/companies/${id}/limits`, stop, limits)
    const patch = (token: string) => ask("PATCH", `/companies/${id}/limits`, token, { day_sats: null })
    assert.deepStrictEqual(seen(await patch(ada)), needed)
    const { status, body } = await patch(bob)
    assert.deepStrictEqual(
      [status, body.data.limits.day_sats, body.data.limits.approval_above_sats],
      [200, null, 500]
    )
  })

  it("two operators: one operator is enough if the company's balance does not exceed the threshold, or no threshold is set", async () => {
    const [little, much] = [await holding(500), await holding(1000, off)]
    const anybody = await tokenOf("Ada", ["loosen"], off)
    for (const [{ id }, token, of] of [
      [little, ada, service],
      [much, anybody, off]
    ] as const) {
      await ask("PUT", `/companies/${id}/limits`, operatorToken, limits, of)
      assert.strictEqual((await ask("PUT", `/companies/${id}/limits`, token, {}, of)).status, 200)
    }
  })

  it("two operators: the audit log names the operators who requested and granted a change, and shows the old and new values", async () => {
    const { id } = await holding(1000)
    await ask("PUT", `/companies/${id}/limits`, stop, limits)
    await ask("PUT", `/companies/${id}/limits`, ada, {})
    await ask("PUT", `/companies/${id}/limits`, bob, {})
    await service.run(Effect.repeat(link, { while: (count) => count > 0 }))
    const { data } = (await ask("GET", `/audit?company_id=${id}&limit=20`, operatorToken)).body
    type Changed = { readonly field: string; readonly before: string | null; readonly after: string | null }
    const found = data.flatMap(
      ({
        actor_name,
        changes
      }: {
        readonly actor_name: string
        readonly changes: ReadonlyArray<Changed> | null
      }) =>
        (changes ?? []).map(({ field, before, after }) => [
          actor_name,
          field,
          before !== null,
          after !== null
        ])
    )
    assert.sameDeepMembers(
      found.filter(([name]: readonly [string]) => ["Stop", "Ada", "Bob"].includes(name)),
      [
        ["Stop", "limits", false, true],
        ["Ada", "loosening", false, true],
        ["Bob", "limits", true, false],
        ["Bob", "loosening", true, false]
      ]
    )
  })

  it("two operators: a requested change can be granted for one day", () => {
    const [wanted, first, second] = [{ limits: null }, { id: "1", name: "Ada" }, { id: "2", name: "Bob" }]
    const pending = Loosening.waiting(null, wanted, first, 0)
    assert.deepStrictEqual(pending, {
      wanted,
      requestedById: "1",
      requestedBy: "Ada",
      untilMillis: 24 * 3_600_000
    })
    const last = SecondOperator.waitMillis - 1
    assert.isUndefined(Loosening.waiting(pending ?? null, wanted, second, last))
    assert.strictEqual(Loosening.waiting(pending ?? null, wanted, second, last + 1)?.requestedBy, "Bob")
  })
})
