import { assert, describe, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import { Effect } from "effect"
import * as ApiKey from "../src/accounts/ApiKey.ts"
import { ApiKeys } from "../src/accounts/ApiKeys.ts"
import { Companies } from "../src/accounts/Companies.ts"
import * as Company from "../src/accounts/Company.ts"
import * as CompanyId from "../src/base/CompanyId.ts"
import * as Loosening from "../src/accounts/Loosening.ts"
import { OperatorTokens } from "../src/accounts/OperatorTokens.ts"
import type * as SecondOperator from "../src/accounts/SecondOperator.ts"
import { Journal } from "../src/ledger/Journal.ts"
import { settings } from "./Rows.ts"
import { companyWith, everywhere, made, replace, said, scenario } from "./World.ts"

const onCall = { id: "01", name: "Ada", mayLoosen: false }
const lead = { id: "02", name: "Bob", mayLoosen: true }

type Change = Company.CompanyLimited | Company.FreezeChanged | ApiKey.ApiKeyLimited | ApiKey.ApiKeyConfined

/** A colleague's change, committed right before the next Change of the same kind, which was already checked. */
const tightening = () => {
  const of: { change?: Change } = {}
  const change = replace(Journal, (journal) => ({
    commit: (change) => {
      const first = of.change
      if (first === undefined || first._tag !== change._tag) return journal.commit(change)
      delete of.change
      return Effect.andThen(Effect.orDie(journal.commit<Change>(first)), journal.commit(change))
    }
  }))
  return { of, change, settings: { ...settings, secondOperatorAbove: Msat.fromSats(500) } }
}

describe("Loosening", () => {
  it("loosening: only another operator who repeats the same request, within a day, makes the change", () => {
    const wanted = { limits: { daySats: 5 } }
    const first = Loosening.waiting(null, wanted, lead, 1000) ?? assert.fail("nothing stored")
    assert.deepStrictEqual(first, {
      wanted,
      requestedById: "02",
      requestedBy: "Bob",
      untilMillis: 1000 + 86_400_000
    })
    const other = { id: "03", name: "Eve" }
    assert.isUndefined(Loosening.waiting(first, { limits: { daySats: 5 } }, other, first.untilMillis - 1))
    assert.strictEqual(
      Loosening.waiting(first, wanted, lead, 2000),
      first,
      "the same operator's repetition changes nothing"
    )
    const again = { requestedById: "03", requestedBy: "Eve", untilMillis: first.untilMillis + 86_400_000 }
    assert.deepStrictEqual(
      Loosening.waiting(first, wanted, other, first.untilMillis),
      { wanted, ...again },
      "too late"
    )
    for (const changed of [{ limits: { daySats: 6 } }, { limits: null }, { frozen: null }]) {
      const replaced = Loosening.waiting(first, changed, other, 2000)
      assert.deepStrictEqual([replaced?.wanted, replaced?.requestedById], [changed, "03"], "another request")
    }
  })

  for (const [above, sats, refused] of [
    [500, 500, undefined],
    [500, 501, "SecondOperatorRequired"],
    [null, 1_000_000, undefined]
  ] as const)
    it.effect(
      `loosening: above ${above ?? "no"} sats, a balance of ${sats} sats takes ${refused === undefined ? "one operator" : "two"}`,
      () =>
        Effect.gen(function* () {
          const standings = () => Effect.succeed([{ balance: { posted: Msat.fromSats(sats) } }])
          const check = yield* Loosening.checkOf(
            { standings },
            { mayAct: () => Effect.succeed(true), stored: (by) => by }
          )
          const asked = {
            companyId: CompanyId.operator,
            loosening: null,
            loosens: true,
            wanted: { limits: null },
            keep: () => Effect.void
          }
          assert.strictEqual(yield* said(check({ ...asked, by: lead })), refused ?? "ok")
          assert.strictEqual(
            yield* said(check({ ...asked, by: undefined })),
            "ok",
            "the host program needs no operator"
          )
          assert.strictEqual(yield* said(check({ ...asked, by: onCall, loosens: false })), "ok", "tightening")
        }).pipe(
          Effect.provideService(Loosening.Options, {
            secondOperatorAbove: above === null ? null : Msat.fromSats(above)
          })
        )
    )

  const limits = [{ daySats: 5000 }, { daySats: 1 }] as const
  const ranges = [
    { for: "sending", ranges: ["203.0.113.0/24"] },
    { for: "sending", ranges: ["203.0.113.7"] }
  ] as const
  const frozen = { reason: "key stolen", pending: "wait", sinceMillis: 1 } as const

  scenario(
    "loosening: an operator's request no longer counts once their token is revoked",
    { settings: { ...settings, secondOperatorAbove: Msat.fromSats(500) } },
    function* () {
      const { id } = yield* companyWith(1000)
      const [companies, tokens] = [yield* Companies, yield* OperatorTokens]
      const { token: ada } = yield* made(tokens.issue({ name: "Ada", scopes: ["loosen"] }))
      yield* everywhere(companies.limit(id, { daySats: 1 }))
      const loosened = (by: SecondOperator.Operator) => said(companies.limit(id, { daySats: 2 }, by))
      assert.strictEqual(yield* loosened(ada), "SecondOperatorRequired")
      yield* tokens.revoke(ada.id)
      assert.strictEqual(yield* loosened(lead), "SecondOperatorRequired")
      assert.deepStrictEqual((yield* companies.get(id)).limits, { daySats: 1 })
      assert.strictEqual(yield* everywhere(loosened({ id: "03", name: "Eve" })), "ok")
    }
  )

  const company = tightening()
  scenario(
    "loosening: one operator cannot undo another's freeze or limits of a company with a change that was checked just before",
    company,
    function* () {
      const { id } = yield* companyWith(1000)
      const companies = yield* Companies
      const found = Effect.orDie(companies.get(id))
      yield* everywhere(companies.limit(id, limits[0]))
      for (const [by, refused] of [
        [onCall, "LooseningRefused"],
        [lead, "SecondOperatorRequired"]
      ] as const) {
        company.of.change = Company.freezeChanged(id, frozen, 1)
        assert.strictEqual(yield* said(everywhere(companies.unfreeze(id, by))), refused)
        assert.deepStrictEqual((yield* found).frozen, frozen)
        yield* everywhere(companies.unfreeze(id))
        company.of.change = Company.limited(id, limits[1], 1)
        assert.strictEqual(yield* said(everywhere(companies.limit(id, limits[0], by))), refused)
        assert.deepStrictEqual((yield* found).limits, limits[1])
        yield* everywhere(companies.limit(id, limits[0]))
      }
      // A change that is tighter than both takes effect.
      company.of.change = Company.limited(id, limits[1], 1)
      yield* everywhere(companies.limit(id, { daySats: 0 }, onCall))
      assert.deepStrictEqual((yield* found).limits, { daySats: 0 })
    }
  )

  const key = tightening()
  scenario(
    "loosening: one operator cannot undo another's limits or address ranges of a key with a change that was checked just before",
    key,
    function* () {
      const { id: companyId } = yield* companyWith(1000)
      const keys = yield* ApiKeys
      const asked = {
        companyId,
        name: "till",
        scopes: ["send"],
        expiresAtMillis: null,
        limits: limits[0],
        allowedFrom: ranges[0]
      } as const
      const { apiKey } = yield* made(keys.issue(asked))
      const found = Effect.map(Effect.orDie(keys.get(apiKey.id)), ({ apiKey }) => apiKey)
      for (const [by, refused] of [
        [onCall, "LooseningRefused"],
        [lead, "SecondOperatorRequired"]
      ] as const) {
        key.of.change = ApiKey.limited(yield* found, limits[1], 1)
        assert.strictEqual(yield* said(everywhere(keys.limit(apiKey.id, limits[0], by))), refused)
        assert.deepStrictEqual((yield* found).limits, limits[1])
        yield* everywhere(keys.limit(apiKey.id, limits[0]))
        key.of.change = ApiKey.confined(yield* found, ranges[1], 1)
        assert.strictEqual(yield* said(everywhere(keys.allowFrom(apiKey.id, ranges[0], by))), refused)
        assert.deepStrictEqual((yield* found).allowedFrom, ranges[1])
        yield* everywhere(keys.allowFrom(apiKey.id, ranges[0]))
      }
    }
  )
})
