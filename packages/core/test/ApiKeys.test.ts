import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { AccountReads } from "../src/accounts/AccountReads.ts"
import * as ApiKey from "../src/accounts/ApiKey.ts"
import * as Keys from "../src/accounts/ApiKeys.ts"
import { ApiKeys, type Issued } from "../src/accounts/ApiKeys.ts"
import { Companies } from "../src/accounts/Companies.ts"
import type { Company } from "../src/accounts/Company.ts"
import * as CompanyId from "../src/base/CompanyId.ts"
import * as Answer from "../src/ledger/Answer.ts"
import { Journal, StoreUnavailable } from "../src/ledger/Journal.ts"
import { Records } from "../src/service/Records.ts"
import { stalled } from "./SlowPayee.ts"
import { beginsAtMillis, company, companyWith, everywhere, replace, run, said, scenario } from "./World.ts"

type Ask = Parameters<ApiKeys["Service"]["issue"]>[0]

const issue = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId, fields: Partial<Ask> = {}) {
  const { issue } = yield* ApiKeys
  return yield* Effect.flatMap(
    issue({ companyId, name: "till", scopes: ["read"], expiresAtMillis: null, ...fields }),
    Answer.made
  )
})
const check = (text: string) => Effect.flatMap(ApiKeys, ({ check }) => check(text))
const opens = (issued: Issued) => said(check(Redacted.value(issued.text)))
const lastUsed = ({ apiKey: { id } }: Issued) =>
  Effect.gen(function* () {
    yield* Effect.yieldNow // the use is recorded alongside the request
    return Option.getOrThrow(yield* (yield* Records).apiKey(id)).apiKey.lastUsedAtMillis
  })

describe("An API key", () => {
  scenario(
    "API key: a key gives access to its company's account, with the company's current plan",
    function* () {
      const row = yield* company("free")
      const issued = yield* issue(row.id, { scopes: ["read", "send", "read"] })
      const holder = yield* check(Redacted.value(issued.text))
      assert.deepStrictEqual(
        [holder.apiKey.companyId, holder.apiKey.scopes, holder.plan],
        [row.id, ["read", "send"], "free"]
      )
      yield* everywhere((yield* Companies).changePlan(row.id, "paid"))
      assert.strictEqual((yield* check(Redacted.value(issued.text))).plan, "paid")
    }
  )

  scenario(
    "API key: a key is rejected if it is missing, incomplete, unknown or for another network",
    function* () {
      const row = yield* company()
      const [one, other] = [yield* issue(row.id), yield* issue(row.id)]
      const [text, wrong] = [Redacted.value(one.text), Redacted.value(other.text)]
      assert.strictEqual(yield* said(check("")), "Unauthorized: missing")
      const crossed = `${text.slice(0, text.lastIndexOf("_"))}${wrong.slice(wrong.lastIndexOf("_"))}`
      for (const bad of [
        "x",
        crossed,
        text.slice(0, -1),
        text.replace(/.$/, (last) => (last === "1" ? "2" : "1")),
        `Bearer ${text}`
      ]) {
        assert.strictEqual(yield* said(check(bad)), "Unauthorized: unknown", bad)
      }
      for (const bad of [text.slice(0, -20), `${text}xxxxx`, text.replace("regtest", "moonnet"), "sr_"]) {
        assert.strictEqual(yield* said(check(bad)), "Unauthorized: incomplete", bad)
      }
      for (const bad of [text.replace("regtest", "mainnet"), "sr_signet_"]) {
        assert.strictEqual(yield* said(check(bad)), "Unauthorized: other_network", bad)
      }
    }
  )

  it.effect(
    "API key: a wrong secret is rejected while the right key is cached, and does not evict that key",
    () => {
      let asked = 0
      const counted = replace(AccountReads, (records) => ({
        apiKey: (id) =>
          Effect.andThen(
            Effect.sync(() => asked++),
            records.apiKey(id)
          )
      }))
      return run({ change: counted }, function* () {
        const row = yield* company()
        const [one, other] = [yield* issue(row.id), yield* issue(row.id)]
        const [text, wrong] = [Redacted.value(one.text), Redacted.value(other.text)]
        assert.strictEqual(yield* opens(one), "ok")
        yield* Effect.yieldNow // the key's use was recorded, so the key is read again
        assert.strictEqual(yield* opens(one), "ok")
        const before = asked
        const head = text.slice(0, text.lastIndexOf("_") + 1)
        for (const guess of [
          `${head}${wrong.slice(wrong.lastIndexOf("_") + 1)}`,
          text.replace(/.$/, (last) => (last === "1" ? "2" : "1")),
          text.slice(0, -1),
          `${head}${"1".repeat(44)}`
        ]) {
          assert.strictEqual(yield* said(check(guess)), "Unauthorized: unknown", guess)
          assert.strictEqual(asked, before, "the key was cached, so the store was not read")
          assert.strictEqual(yield* opens(one), "ok")
        }
      })
    }
  )

  scenario("API key: a new key must have a valid name, scopes and expiry", function* () {
    const { id } = yield* company()
    assert.strictEqual(yield* said(issue(id, { name: " " })), "Invalid: name")
    assert.strictEqual(yield* said(issue(id, { scopes: [] })), "Invalid: scopes")
    assert.strictEqual(yield* said(issue(id, { expiresAtMillis: beginsAtMillis })), "Invalid: expires_at")
    assert.strictEqual(yield* said(issue(id, { expiresAtMillis: beginsAtMillis + 1 })), "ok")
    assert.strictEqual(yield* said(issue(CompanyId.make("nobody"))), "NotFound")
  })

  scenario("API key: an expired key is rejected", function* () {
    const issued = yield* issue((yield* company()).id, { expiresAtMillis: beginsAtMillis + 1000 })
    yield* TestClock.adjust(999)
    assert.strictEqual(yield* opens(issued), "ok")
    yield* TestClock.adjust(1)
    assert.strictEqual(yield* opens(issued), "Unauthorized: expired")
  })

  scenario("C52: API key: revocation is immediate and final", function* () {
    const issued = yield* issue((yield* company()).id)
    const { revoke, rotate } = yield* ApiKeys
    assert.strictEqual(yield* opens(issued), "ok")
    yield* everywhere(revoke(issued.apiKey.id))
    assert.strictEqual(yield* opens(issued), "Unauthorized: revoked")
    yield* everywhere(revoke(issued.apiKey.id))
    assert.strictEqual(yield* said(rotate(issued.apiKey.id, 60)), "NotFound")
    assert.strictEqual(yield* said(revoke("nobody")), "NotFound")
  })

  scenario("C52: API key: once a key's revocation returns, every process refuses the key", function* () {
    const issued = yield* issue((yield* company()).id)
    const other = yield* Keys.make // another process on the same store
    const opensThere = said(other.check(Redacted.value(issued.text)))
    assert.strictEqual(yield* opensThere, "ok")
    assert.strictEqual(yield* lastUsed(issued), beginsAtMillis)
    assert.strictEqual(yield* opensThere, "ok") // now the process has cached the key with its last use
    const revoking = yield* Effect.forkChild((yield* ApiKeys).revoke(issued.apiKey.id), {
      startImmediately: true
    })
    while (revoking.pollUnsafe() === undefined) {
      yield* opensThere // the process's cached copy stays valid for a moment
      yield* TestClock.adjust(10)
    }
    assert.strictEqual(yield* opensThere, "Unauthorized: revoked")
  })

  scenario("C52: API key: a clock set back does not extend the use of a cached key", function* () {
    const issued = yield* issue((yield* company()).id)
    const other = yield* Keys.make // another process on the same store
    const opensThere = said(other.check(Redacted.value(issued.text)))
    assert.strictEqual(yield* opensThere, "ok")
    assert.strictEqual(yield* lastUsed(issued), beginsAtMillis)
    assert.strictEqual(yield* opensThere, "ok") // rereads the key after storing its use
    yield* TestClock.setTime(beginsAtMillis - 3_600_000)
    yield* everywhere((yield* ApiKeys).revoke(issued.apiKey.id))
    assert.strictEqual(yield* opensThere, "Unauthorized: revoked")
  })

  scenario(
    "API key: both keys work during a rotation's overlap, and then only the new key works",
    function* () {
      const old = yield* issue((yield* company()).id, {
        scopes: ["read", "receive"],
        expiresAtMillis: beginsAtMillis + 10_000_000
      })
      const fresh = yield* everywhere(Effect.flatMap((yield* ApiKeys).rotate(old.apiKey.id, 60), Answer.made))
      assert.deepStrictEqual(
        [fresh.apiKey.scopes, fresh.apiKey.expiresAtMillis, fresh.apiKey.name],
        [old.apiKey.scopes, old.apiKey.expiresAtMillis, "till"]
      )
      yield* TestClock.adjust(59_749)
      assert.deepStrictEqual([yield* opens(old), yield* opens(fresh)], ["ok", "ok"])
      yield* TestClock.adjust(1)
      assert.deepStrictEqual([yield* opens(old), yield* opens(fresh)], ["Unauthorized: expired", "ok"])
      assert.strictEqual(yield* said((yield* ApiKeys).rotate(old.apiKey.id, 60)), "NotFound")
    }
  )

  scenario("API key: rotation does not extend a key's lifetime", function* () {
    const { rotate } = yield* ApiKeys
    const old = yield* issue((yield* company()).id, { expiresAtMillis: beginsAtMillis + 1000 })
    yield* everywhere(rotate(old.apiKey.id, 3600))
    yield* everywhere(rotate(old.apiKey.id, 0))
    assert.strictEqual(yield* opens(old), "Unauthorized: expired")
    for (const seconds of [-1, 0.5, NaN, 30 * 24 * 3600 + 1])
      assert.strictEqual(yield* said(rotate(old.apiKey.id, seconds)), "Invalid: overlap_seconds")
  })

  scenario(
    "API key: restrictions that a key gets while its successor awaits approval also apply to the successor",
    function* () {
      const keys = yield* ApiKeys
      const [ada, bob] = [
        { id: "01", name: "Ada" },
        { id: "02", name: "Bob" }
      ]
      const of = yield* companyWith(100_000)
      const office = { for: "sending" as const, ranges: ["192.0.2.0/24"] }
      const rotated = Effect.fnUntraced(function* () {
        const { apiKey: old } = yield* issue(of.id, { scopes: ["send"], limits: { daySats: 50_000 } })
        const { apiKey: next } = yield* everywhere(
          Effect.flatMap(keys.rotate(old.id, 0, undefined, ada), Answer.made)
        )
        return { old, next }
      })
      const approved = Effect.fnUntraced(function* (id: string) {
        const { limits, allowedFrom, approvedBy } = yield* everywhere(keys.approve(id, bob))
        return { limits, allowedFrom, approvedBy }
      })

      const tightened = yield* rotated()
      yield* everywhere(keys.limit(tightened.old.id, { daySats: 1 }, bob))
      yield* everywhere(keys.allowFrom(tightened.old.id, office, bob))
      assert.strictEqual(yield* said(keys.approve(tightened.next.id, ada)), "SameOperator")
      assert.deepStrictEqual((yield* keys.get(tightened.next.id)).apiKey.limits, { daySats: 50_000 })
      assert.deepStrictEqual(yield* approved(tightened.next.id), {
        limits: { daySats: 1 },
        allowedFrom: office,
        approvedBy: "Bob"
      })

      // A successor that was itself restricted keeps its restrictions.
      const restricted = yield* rotated()
      yield* everywhere(keys.limit(restricted.next.id, { daySats: 1 }, bob))
      yield* everywhere(keys.allowFrom(restricted.next.id, office, bob))
      assert.deepStrictEqual(yield* approved(restricted.next.id), {
        limits: { daySats: 1 },
        allowedFrom: office,
        approvedBy: "Bob"
      })

      // If both keys were restricted, both restrictions apply.
      const both = yield* rotated()
      yield* everywhere(
        keys.limit(both.old.id, { daySats: 1, recipientTypes: ["lnurl", "bolt12_offer"] }, bob)
      )
      yield* everywhere(
        keys.limit(
          both.next.id,
          { daySats: 50_000, dayCount: 2, recipientTypes: ["bolt12_offer", "chain_address"] },
          bob
        )
      )
      const { limits } = yield* approved(both.next.id)
      assert.deepStrictEqual(limits, { daySats: 1, dayCount: 2, recipientTypes: ["bolt12_offer"] })
    }
  )

  /** Restricts this key just before another one is approved, or replaces it. */
  const late: { apiKey?: ApiKey.ApiKey; isAway?: boolean; next?: ApiKey.ApiKey } = {}
  const restricting = replace(Journal, (journal) => ({
    commit: (change) => {
      const { apiKey, next } = late
      if (next !== undefined && change._tag === "ApiKeyLimited" && change.id === next.id) {
        delete late.next
        return Effect.andThen(
          Effect.orDie(journal.commit(ApiKey.limited(next, { daySats: 2 }, change.atMillis))),
          journal.commit(change)
        )
      }
      if (late.isAway === true && change._tag === "ApiKeyLimited")
        return Effect.fail(new StoreUnavailable({ operation: "commit", cause: "a drill" }))
      const isLate =
        (change._tag === "ApiKeyApproved" || change._tag === "ApiKeyIssued") &&
        "replaces" in change &&
        change.replaces !== null
      return isLate && apiKey !== undefined
        ? Effect.andThen(
            Effect.orDie(journal.commit(ApiKey.limited(apiKey, { daySats: 1 }, change.atMillis))),
            journal.commit(change)
          )
        : journal.commit(change)
    }
  }))

  scenario(
    "API key: a restriction that a key gets while its successor is approved also applies to the successor",
    { change: restricting, isUnlogged: true },
    function* () {
      const keys = yield* ApiKeys
      const of = yield* companyWith(100_000)
      const { apiKey: old } = yield* issue(of.id, { scopes: ["send"] })
      late.apiKey = old
      const { apiKey: next } = yield* everywhere(
        Effect.flatMap(keys.rotate(old.id, 0, undefined, { id: "01", name: "Ada" }), Answer.made)
      )
      const { limits, approvedBy } = yield* everywhere(keys.approve(next.id, { id: "02", name: "Bob" }))
      assert.deepStrictEqual([limits, approvedBy], [{ daySats: 1 }, "Bob"])
    }
  )

  scenario(
    "API key: an approval ends, even if both the key and the one that it replaces are restricted while it runs",
    { change: restricting, isUnlogged: true },
    function* () {
      const keys = yield* ApiKeys
      const of = yield* companyWith(100_000)
      const { apiKey: old } = yield* issue(of.id, { scopes: ["send"] })
      const { apiKey: next } = yield* everywhere(
        Effect.flatMap(keys.rotate(old.id, 0, undefined, { id: "01", name: "Ada" }), Answer.made)
      )
      Object.assign(late, { apiKey: old, next })
      const { limits, approvedBy } = yield* everywhere(keys.approve(next.id, { id: "02", name: "Bob" }))
      assert.deepStrictEqual([limits, approvedBy], [{ daySats: 1 }, "Bob"])
    }
  )

  scenario(
    "API key: a restriction that a key gets while it is rotated also applies to its successor",
    { change: restricting, isUnlogged: true },
    function* () {
      const { apiKey: old } = yield* issue((yield* companyWith(100_000)).id, { scopes: ["send"] })
      late.apiKey = old
      const { apiKey: next } = yield* everywhere(
        Effect.flatMap((yield* ApiKeys).rotate(old.id, 0), Answer.made)
      )
      assert.deepStrictEqual((yield* (yield* ApiKeys).get(next.id)).apiKey.limits, { daySats: 1 })
      assert.deepStrictEqual(next.limits, { daySats: 1 })
    }
  )

  scenario(
    "API key: an approval that cannot store a restriction fails, and a repeated one undoes no later change",
    { change: restricting, isUnlogged: true },
    function* () {
      const keys = yield* ApiKeys
      const of = yield* companyWith(100_000)
      const { apiKey: old } = yield* issue(of.id, { scopes: ["send"] })
      const { apiKey: next } = yield* everywhere(
        Effect.flatMap(keys.rotate(old.id, 0, undefined, { id: "01", name: "Ada" }), Answer.made)
      )
      const approve = keys.approve(next.id, { id: "02", name: "Bob" })
      Object.assign(late, { apiKey: old, isAway: true })
      assert.strictEqual(yield* said(approve), "StoreUnavailable")
      late.isAway = false
      assert.isTrue(ApiKey.isWaiting((yield* keys.get(next.id)).apiKey))
      assert.deepStrictEqual((yield* everywhere(approve)).limits, { daySats: 1 })
      yield* everywhere(keys.limit(next.id, null))
      assert.strictEqual((yield* everywhere(approve)).limits, null)
    }
  )

  const uses: Array<number> = []
  const counting = replace(Journal, (journal) => ({
    commit: (change) => {
      if (change._tag === "ApiKeyUsed") uses.push(change.atMillis)
      return journal.commit(change)
    }
  }))

  scenario(
    "API key: a key's last use is stored to the minute, with one write per minute",
    { change: counting },
    function* () {
      uses.length = 0
      const issued = yield* issue((yield* company()).id)
      for (let i = 0; i < 50; i++) {
        yield* opens(issued)
        yield* TestClock.adjust(2000)
      }
      assert.strictEqual(yield* lastUsed(issued), beginsAtMillis + 60_000)
      assert.deepStrictEqual(uses, [beginsAtMillis, beginsAtMillis + 60_000])
    }
  )

  scenario("API key: a request with a wrong secret does not count as a use of the key", function* () {
    const issued = yield* issue((yield* company()).id)
    yield* said(check(`${Redacted.value(issued.text)}1`))
    assert.isNull(yield* lastUsed(issued))
  })

  const limited = ({ id }: Company) => issue(id, { scopes: ["send"], limits: { daySats: 2000 } })
  stalled("API key: a key sends while the payee's server is slow", limited, () => Effect.void, "ok")
  stalled(
    "API key: a key that is revoked while the payee's server is slow sends nothing",
    limited,
    ({ apiKey: { id } }) => everywhere(Effect.flatMap(ApiKeys, ({ revoke }) => revoke(id))),
    "Unauthorized: revoked"
  )
  stalled(
    "limits: a limit that is lowered while the payee's server is slow applies, and the error says what remains of it",
    limited,
    ({ apiKey: { id } }) => everywhere(Effect.flatMap(ApiKeys, ({ limit }) => limit(id, { daySats: 1 }))),
    "LimitExceeded"
  )
  stalled(
    "limits: a company's limit that is lowered while the payee's server is slow applies to an embedding program",
    (payer) => Effect.succeed({ payer, apiKey: undefined }),
    ({ payer: { id } }) => everywhere(Effect.flatMap(Companies, ({ limit }) => limit(id, { daySats: 1 }))),
    "LimitExceeded"
  )
  stalled(
    "limits: a limit that is lowered while the payee's server is slow applies, even if the company's fees change, too",
    limited,
    ({ apiKey: { id } }) =>
      Effect.gen(function* () {
        const { companyId } = yield* everywhere((yield* ApiKeys).limit(id, { daySats: 1 }))
        yield* everywhere((yield* Companies).changePlan(companyId, "free"))
      }),
    "LimitExceeded"
  )
})
