import { assert } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as ApiKey from "@satrail/core/accounts/ApiKey"
import * as Company from "@satrail/core/accounts/Company"
import * as Domain from "@satrail/core/accounts/Domain"
import * as SecretHash from "@satrail/core/base/SecretHash"
import type { Journal } from "@satrail/core/ledger/Journal"
import type { Tasks } from "@satrail/core/ledger/Tasks"
import * as LightningAddress from "@satrail/core/receiving/LightningAddress"
import { Records } from "@satrail/core/service/Records"
import { Clock, Effect } from "effect"
import type { Promises } from "../Contract.ts"
import {
  apiKey,
  company,
  companyWith,
  domain,
  found,
  hex,
  lightningAddress,
  once,
  open,
  tally,
  unchanged,
  unopened,
  verdict
} from "../Fixtures.ts"
import { has, isSound } from "../Ledger.ts"

const holder = Effect.fnUntraced(function* (id: string) {
  return yield* found((yield* Records).apiKey(id))
})

/** Settings that differ from a new address's defaults. */
const settings: LightningAddress.Settings = {
  minSendable: Msat.make(1001n),
  maxSendable: Msat.make(9_007_199_254_740_993n),
  successMessage: "Danke! 🎉",
  splits: null,
  metadata: { shelf: "4" }
}

/** Guarantees about which company owns a payment. */
export const money = {
  "a Lightning address belongs to one company permanently": Effect.gen(function* () {
    const [companyId, otherId] = [yield* open, yield* open]
    const row = yield* lightningAddress(companyId)
    assert.strictEqual(yield* verdict(LightningAddress.created(row)), "Applied")
    assert.strictEqual(yield* unchanged(LightningAddress.created(row)), "Applied")
    const { handle, domain } = row
    for (const owner of [otherId, companyId]) {
      const again = { ...(yield* lightningAddress(owner)), handle, domain }
      assert.strictEqual(yield* unchanged(LightningAddress.created(again, once(owner, "k"))), "HandleTaken")
    }
    assert.strictEqual(
      yield* unchanged(LightningAddress.created({ ...row, handle: `${handle}x` })),
      "Conflict"
    )
    assert.strictEqual(
      yield* verdict(
        LightningAddress.created({ ...(yield* lightningAddress(otherId)), handle, domain: "other.example" })
      ),
      "Applied"
    )
    assert.deepStrictEqual(
      yield* found((yield* Records).named(LightningAddress.noun, { handle: handle, domain: domain })),
      row
    )
    yield* has(companyId, { posted: 0, held: 0 })
  }),
  "a deleted Lightning address stays deleted and is never issued again": Effect.gen(function* () {
    const records = yield* Records
    const [companyId, otherId] = [yield* open, yield* open]
    const row = yield* lightningAddress(companyId)
    yield* verdict(LightningAddress.created(row))
    const deletedAtMillis = row.createdAtMillis + 5
    assert.strictEqual(yield* verdict(LightningAddress.deleted(row, deletedAtMillis)), "Applied")
    const gone = { ...row, deletedAtMillis, updatedAtMillis: deletedAtMillis }
    assert.deepStrictEqual(yield* found(records.get(LightningAddress.noun, companyId, row.id)), gone)
    assert.strictEqual(yield* unchanged(LightningAddress.deleted(row, deletedAtMillis + 1)), "Applied")
    assert.strictEqual(
      yield* unchanged(LightningAddress.changed(row, settings, deletedAtMillis + 2)),
      "LightningAddressGone"
    )
    for (const owner of [otherId, companyId]) {
      const again = { ...(yield* lightningAddress(owner)), handle: row.handle, domain: row.domain }
      assert.strictEqual(yield* unchanged(LightningAddress.created(again)), "HandleTaken")
    }
    assert.deepStrictEqual(
      yield* found(records.named(LightningAddress.noun, { handle: row.handle, domain: row.domain })),
      gone
    )
    yield* has(companyId, { posted: 0, held: 0 })
  }),
  "a Lightning address that is deleted and changed concurrently ends up deleted": Effect.gen(function* () {
    const companyId = yield* open
    const row = yield* lightningAddress(companyId)
    yield* verdict(LightningAddress.created(row))
    const changes = [LightningAddress.deleted(row, 6), LightningAddress.changed(row, settings, 5)]
    const [deleted, changed = ""] = yield* Effect.forEach(changes, verdict, { concurrency: "unbounded" })
    assert.strictEqual(deleted, "Applied")
    assert.include(["Applied", "LightningAddressGone"], changed)
    assert.strictEqual(
      (yield* found((yield* Records).get(LightningAddress.noun, companyId, row.id))).deletedAtMillis,
      6
    )
    yield* has(companyId, { posted: 0, held: 0 })
  }),
  "a domain belongs to one company; verifying it again changes nothing": Effect.gen(function* () {
    const [companyId, otherId] = [yield* open, yield* open]
    const row = yield* domain(companyId, { shownBy: "operator" })
    assert.strictEqual(yield* verdict(Domain.verified(row)), "Applied")
    assert.strictEqual(
      yield* unchanged(Domain.verified({ ...row, verifiedAtMillis: 1_700_000_000_001 })),
      "Applied"
    )
    assert.strictEqual(yield* unchanged(Domain.verified({ ...row, shownBy: "dns" })), "Applied")
    for (const replaces of [null, { companyId, lostAtMillis: 1_700_000_000_000 }])
      assert.strictEqual(
        yield* unchanged(Domain.verified({ ...row, companyId: otherId }, replaces)),
        "DomainTaken"
      )
    assert.deepStrictEqual(yield* found((yield* Records).domain(row.domain)), row)
    yield* has(companyId, { posted: 0, held: 0 })
  }),
  "if two companies verify a domain concurrently, one gets it": Effect.gen(function* () {
    const { domain: name } = yield* domain(yield* unopened)
    const rows = yield* Effect.forEach([yield* open, yield* open], (companyId) =>
      domain(companyId, { domain: name })
    )
    const asked = rows.map((row) => Domain.verified(row))
    assert.deepStrictEqual(tally(yield* Effect.forEach(asked, verdict, { concurrency: "unbounded" })), {
      Applied: 1,
      DomainTaken: 1
    })
    yield* isSound(asked.map(({ companyId }) => companyId))
  }),
  "a lost domain moves to another company only if the Change states that the domain was lost": Effect.gen(
    function* () {
      const records = yield* Records
      const [companyId, otherId] = [yield* open, yield* open]
      const row = yield* domain(companyId)
      const theirs = { ...row, companyId: otherId, verifiedAtMillis: row.verifiedAtMillis + 9 }
      yield* verdict(Domain.verified(row))
      const lostAtMillis = row.checkedAtMillis + 5
      assert.strictEqual(yield* verdict(Domain.checked(row, false, lostAtMillis)), "Applied")
      for (const replaces of [
        null,
        { companyId, lostAtMillis: lostAtMillis + 1 },
        { companyId: otherId, lostAtMillis }
      ])
        assert.strictEqual(yield* unchanged(Domain.verified(theirs, replaces)), "DomainTaken")
      assert.strictEqual(yield* verdict(Domain.verified(theirs, { companyId, lostAtMillis })), "Applied")
      assert.deepStrictEqual(yield* found(records.domain(row.domain)), theirs)
      assert.deepStrictEqual(yield* records.domainsOf(companyId), [])
      assert.strictEqual(yield* unchanged(Domain.verified(row)), "DomainTaken")
      // This late check concerns a domain that the company no longer owns.
      assert.strictEqual(yield* unchanged(Domain.checked(row, false, lostAtMillis + 50)), "Applied")
      assert.deepStrictEqual(yield* found(records.domain(row.domain)), theirs)
    }
  ),
  "a domain stays with its company if the DNS record reappears": Effect.gen(function* () {
    const [companyId, otherId] = [yield* open, yield* open]
    const row = yield* domain(companyId)
    yield* verdict(Domain.verified(row))
    const lostAtMillis = row.checkedAtMillis + 5
    yield* verdict(Domain.checked(row, false, lostAtMillis))
    assert.strictEqual(
      yield* verdict(Domain.checked({ ...row, lostAtMillis }, true, lostAtMillis + 5)),
      "Applied"
    )
    assert.strictEqual(
      yield* unchanged(Domain.verified({ ...row, companyId: otherId }, { companyId, lostAtMillis })),
      "DomainTaken"
    )
    assert.deepStrictEqual(yield* found((yield* Records).domain(row.domain)), {
      ...row,
      checkedAtMillis: lostAtMillis + 5
    })
  }),
  "a revoked key stays revoked and keeps its first revocation time": Effect.gen(function* () {
    const companyId = yield* open
    const row = yield* apiKey(companyId)
    yield* verdict(ApiKey.issued(row))
    assert.strictEqual(yield* verdict(ApiKey.revoked(row, row.createdAtMillis + 1)), "Applied")
    assert.strictEqual(yield* unchanged(ApiKey.revoked(row, row.createdAtMillis + 2)), "Applied")
    assert.strictEqual(yield* unchanged(ApiKey.issued(row)), "Applied")
    assert.strictEqual((yield* holder(row.id)).apiKey.revokedAtMillis, row.createdAtMillis + 1)
    yield* has(companyId, { posted: 0, held: 0 })
  }),
  "a rotated key stops working when the overlap period ends, or when the key expires if that is earlier":
    Effect.gen(function* () {
      const companyId = yield* open
      const atMillis = yield* Clock.currentTimeMillis
      const endless = yield* apiKey(companyId)
      const short = yield* apiKey(companyId, { expiresAtMillis: atMillis + 10 })
      for (const old of [endless, short]) {
        yield* verdict(ApiKey.issued(old))
        const rotated = ApiKey.issued(yield* apiKey(companyId), {
          id: old.id,
          expiresAtMillis: atMillis + 20
        })
        assert.strictEqual(yield* verdict(rotated), "Applied")
        assert.strictEqual(yield* unchanged(rotated), "Applied")
        assert.isNull((yield* holder(rotated.id)).apiKey.expiresAtMillis)
      }
      assert.deepStrictEqual((yield* holder(endless.id)).apiKey, {
        ...endless,
        expiresAtMillis: atMillis + 20
      })
      assert.deepStrictEqual((yield* holder(short.id)).apiKey, short)
      yield* has(companyId, { posted: 0, held: 0 })
    }),
  "a rotation is refused if the old key's limits or IP ranges differ from the new key's": Effect.gen(
    function* () {
      const companyId = yield* open
      const restricted = {
        limits: { daySats: 5 },
        allowedFrom: { for: "sending" as const, ranges: ["203.0.113.0/24"] }
      }
      const old = yield* apiKey(companyId, restricted)
      const rotated = Effect.map(apiKey(companyId), (row) =>
        ApiKey.issued({ ...row, ...restricted }, { id: old.id, expiresAtMillis: 20 })
      )
      yield* verdict(ApiKey.issued(old))
      for (const moved of [ApiKey.limited(old, { daySats: 4 }, 1), ApiKey.confined(old, null, 1)]) {
        const [before, after] = [yield* rotated, yield* rotated]
        assert.strictEqual(yield* verdict(before), "Applied")
        yield* verdict(moved)
        assert.strictEqual(yield* unchanged(before), "Applied")
        assert.strictEqual(yield* unchanged(after), "ProtectionMoved")
        yield* verdict(ApiKey.limited({ ...old, limits: { daySats: 4 } }, old.limits, 2))
      }
      yield* has(companyId, { posted: 0, held: 0 })
    }
  ),
  "a rotation that needs approval replaces the old key only after the approval": Effect.gen(function* () {
    const companyId = yield* open
    const atMillis = yield* Clock.currentTimeMillis
    const [ada, bob] = [
      { id: "1", name: "Ada" },
      { id: "2", name: "Bob" }
    ]
    const old = yield* apiKey(companyId)
    const approval = {
      requestedById: ada.id,
      requestedBy: ada.name,
      replaces: { id: old.id, overlapSeconds: 60 }
    }
    const row = yield* apiKey(companyId, { approval })
    yield* verdict(ApiKey.issued(old))
    assert.strictEqual(yield* verdict(ApiKey.issued(row)), "Applied")
    assert.strictEqual(yield* unchanged(ApiKey.issued(row)), "Applied")
    assert.deepStrictEqual((yield* holder(row.id)).apiKey, row)
    assert.deepStrictEqual((yield* holder(old.id)).apiKey, old)
    const change = yield* Effect.fromResult(ApiKey.approved(row, bob, atMillis + 5, old))
    const ranges = { for: "sending" as const, ranges: ["203.0.113.0/24"] }
    for (const [restricted, undone] of [
      [
        ApiKey.limited(old, { daySats: 5 }, atMillis),
        ApiKey.limited({ ...old, limits: { daySats: 5 } }, old.limits, atMillis)
      ],
      [
        ApiKey.confined(old, ranges, atMillis),
        ApiKey.confined({ ...old, allowedFrom: ranges }, old.allowedFrom, atMillis)
      ]
    ] as const) {
      yield* verdict(restricted)
      assert.strictEqual(yield* unchanged(change), "ProtectionMoved")
      yield* verdict(undone)
    }
    assert.strictEqual(yield* verdict(change), "Applied")
    assert.strictEqual(yield* unchanged(change), "Applied")
    assert.deepStrictEqual((yield* holder(row.id)).apiKey, {
      ...row,
      approvedBy: "Bob",
      approvedAtMillis: atMillis + 5
    })
    assert.strictEqual((yield* holder(old.id)).apiKey.expiresAtMillis, atMillis + 60_005)
    const later = yield* Effect.fromResult(ApiKey.approved(row, { id: "3", name: "Eve" }, atMillis + 9, old))
    assert.strictEqual(yield* unchanged(later), "Applied")
    yield* has(companyId, { posted: 0, held: 0 })
  }),
  "a pending request to loosen limits is kept until the limits, the IP ranges or the freeze status changes":
    Effect.gen(function* () {
      const companyId = yield* open
      const records = yield* Records
      const row = yield* apiKey(companyId, { limits: { daySats: 5 } })
      yield* verdict(ApiKey.issued(row))
      const loosening = { wanted: { limits: null }, requestedById: "1", requestedBy: "Ada", untilMillis: 9 }
      const frozen = { reason: "a drill", pending: "wait" as const, sinceMillis: 1 }
      const asked = Effect.map(found(records.company(companyId)), (found) => found.loosening)
      const keep = Effect.flatMap(found(records.company(companyId)), (found) =>
        verdict(Company.looseningRequested(found, loosening, 2))
      )
      assert.isNull(yield* asked)
      for (const change of [
        Company.limited(companyId, { daySats: 5 }, 3),
        Company.freezeChanged(companyId, frozen, 3),
        Company.limited(companyId, null, 4),
        Company.freezeChanged(companyId, null, 4)
      ]) {
        assert.strictEqual(yield* keep, "Applied")
        assert.strictEqual(yield* keep, "Applied")
        assert.deepStrictEqual(yield* asked, loosening)
        assert.strictEqual(yield* verdict(change), "Applied")
        assert.isNull(yield* asked)
        yield* keep
        assert.strictEqual(yield* unchanged(change), "Applied")
        assert.deepStrictEqual(yield* asked, loosening)
      }
      const ranges = { for: "sending" as const, ranges: ["203.0.113.0/24"] }
      for (const change of [ApiKey.limited(row, null, 3), ApiKey.confined(row, ranges, 3)]) {
        assert.strictEqual(yield* verdict(ApiKey.looseningRequested(row, loosening, 2)), "Applied")
        assert.deepStrictEqual((yield* holder(row.id)).apiKey.loosening, loosening)
        assert.strictEqual(yield* verdict(change), "Applied")
        assert.isNull((yield* holder(row.id)).apiKey.loosening)
      }
      yield* has(companyId, { posted: 0, held: 0 })
    }),
  "approving a revoked key, or a key that needs no approval, changes nothing": Effect.gen(function* () {
    const companyId = yield* open
    const old = yield* apiKey(companyId)
    const approval = { requestedById: "1", requestedBy: "Ada", replaces: { id: old.id, overlapSeconds: 0 } }
    const revoked = yield* apiKey(companyId, { approval })
    for (const one of [old, revoked]) yield* verdict(ApiKey.issued(one))
    yield* verdict(ApiKey.revoked(revoked, revoked.createdAtMillis + 1))
    for (const one of [old, revoked])
      assert.strictEqual(
        yield* unchanged(
          yield* Effect.fromResult(
            ApiKey.approved(one, { id: "2", name: "Bob" }, one.createdAtMillis + 2, old)
          )
        ),
        "Applied"
      )
    assert.deepStrictEqual((yield* holder(old.id)).apiKey, old)
    yield* has(companyId, { posted: 0, held: 0 })
  }),
  "C53: a rotation never ends another company's key": Effect.gen(function* () {
    const [companyId, otherId] = [yield* open, yield* open]
    const theirs = yield* apiKey(otherId)
    yield* verdict(ApiKey.issued(theirs))
    // Only a bug would commit this. The store may fail in any way, but must not change any of the other
    // company's data.
    yield* Effect.exit(
      verdict(ApiKey.issued(yield* apiKey(companyId), { id: theirs.id, expiresAtMillis: 1 }))
    )
    assert.deepStrictEqual((yield* holder(theirs.id)).apiKey, theirs)
    yield* has(otherId, { posted: 0, held: 0 })
  })
} satisfies Promises<Journal | Records | Tasks>

/** Guarantees about the fields of a company and its keys. */
export const other = {
  "a domain's DNS record is considered missing from the first failed check on, and an operator's decision about the domain is kept":
    Effect.gen(function* () {
      const records = yield* Records
      const companyId = yield* open
      const row = yield* domain(companyId)
      const at = (n: number) => row.checkedAtMillis + n
      yield* verdict(Domain.verified(row))
      assert.strictEqual(yield* unchanged(Domain.checked(row, true, at(0))), "Applied")
      for (const [n, isShown, lostAtMillis] of [
        [1, true, null],
        [2, false, at(2)],
        [3, false, at(2)],
        [4, true, null],
        [5, false, at(5)]
      ] as const) {
        const before = yield* found(records.domain(row.domain))
        assert.strictEqual(yield* verdict(Domain.checked(before, isShown, at(n))), "Applied")
        assert.deepStrictEqual(yield* found(records.domain(row.domain)), {
          ...row,
          checkedAtMillis: at(n),
          lostAtMillis
        })
      }
      const vouched = {
        ...row,
        shownBy: "operator" as const,
        verifiedAtMillis: at(6),
        checkedAtMillis: at(6)
      }
      assert.strictEqual(yield* verdict(Domain.verified(vouched)), "Applied")
      assert.strictEqual(yield* unchanged(Domain.checked(row, false, at(7))), "Applied")
      assert.deepStrictEqual(yield* found(records.domain(row.domain)), vouched)
    }),
  "a Lightning address keeps all the settings that its owner last chose": Effect.gen(function* () {
    const records = yield* Records
    const companyId = yield* open
    const row = yield* lightningAddress(companyId)
    yield* verdict(LightningAddress.created(row))
    const first = LightningAddress.changed(row, settings, row.createdAtMillis + 5)
    assert.strictEqual(yield* verdict(first), "Applied")
    assert.strictEqual(yield* unchanged(first), "Applied")
    assert.deepStrictEqual(yield* found(records.get(LightningAddress.noun, companyId, row.id)), {
      ...row,
      ...settings,
      updatedAtMillis: row.createdAtMillis + 5
    })
    assert.strictEqual(yield* unchanged(LightningAddress.created(row)), "Applied")
    const bare = { minSendable: null, maxSendable: null, successMessage: null, splits: null, metadata: {} }
    // Computed before the first change, so it would undo it.
    assert.strictEqual(
      yield* unchanged(LightningAddress.changed(row, bare, row.createdAtMillis + 6)),
      "LightningAddressGone"
    )
    const now = yield* found(records.get(LightningAddress.noun, companyId, row.id))
    assert.strictEqual(
      yield* verdict(LightningAddress.changed(now, bare, row.createdAtMillis + 6)),
      "Applied"
    )
    assert.deepStrictEqual(
      yield* found(records.named(LightningAddress.noun, { handle: row.handle, domain: row.domain })),
      {
        ...row,
        ...bare,
        updatedAtMillis: row.createdAtMillis + 6
      }
    )
    yield* has(companyId, { posted: 0, held: 0 })
  }),
  "a company is opened once; a different company with the same id is refused": Effect.gen(function* () {
    const row = yield* company
    assert.strictEqual(yield* verdict(Company.opened(row, once(row.id, "k"))), "Applied")
    assert.strictEqual(yield* unchanged(Company.opened(row)), "Applied")
    assert.strictEqual(yield* unchanged(Company.opened({ ...row, name: "Another" })), "Conflict")
    assert.deepStrictEqual(yield* found((yield* Records).company(row.id)), row)
    yield* has(row.id, { posted: 0, held: 0 })
  }),
  "opening a company again changes none of its money": Effect.gen(function* () {
    const companyId = yield* companyWith(100)
    const row = yield* found((yield* Records).company(companyId))
    yield* verdict(Company.planChanged(companyId, "paid", row.createdAtMillis + 1))
    assert.strictEqual(yield* unchanged(Company.opened(row)), "Applied")
    assert.strictEqual((yield* found((yield* Records).company(companyId))).plan, "paid")
    yield* has(companyId, { posted: 100, held: 0 })
  }),
  "a plan can be changed back; setting the current plan again changes nothing": Effect.gen(function* () {
    const companyId = yield* companyWith(100)
    const key = yield* apiKey(companyId)
    yield* verdict(ApiKey.issued(key))
    for (const plan of ["paid", "free"] as const) {
      const change = Company.planChanged(companyId, plan, 1_700_000_000_000)
      assert.strictEqual(yield* verdict(change), "Applied")
      assert.strictEqual(yield* unchanged(change), "Applied")
      assert.strictEqual((yield* found((yield* Records).company(companyId))).plan, plan)
      assert.strictEqual((yield* holder(key.id)).plan, plan)
    }
    yield* has(companyId, { posted: 100, held: 0 })
  }),
  "a key is issued once; a different key with the same id is refused": Effect.gen(function* () {
    const [companyId, otherId] = [yield* open, yield* open]
    const row = yield* apiKey(companyId)
    assert.strictEqual(yield* verdict(ApiKey.issued(row)), "Applied")
    assert.strictEqual(yield* unchanged(ApiKey.issued(row)), "Applied")
    const others: ReadonlyArray<Partial<ApiKey.ApiKey>> = [
      { name: "x" },
      { scopes: ["admin"] },
      { secretHash: SecretHash.make(yield* hex(32)) },
      { companyId: otherId }
    ]
    for (const other of others)
      assert.strictEqual(yield* unchanged(ApiKey.issued({ ...row, ...other })), "Conflict")
    assert.deepStrictEqual(yield* holder(row.id), {
      apiKey: row,
      plan: "free",
      companyLimits: null,
      fees: null,
      feesRevision: 0
    })
    yield* has(companyId, { posted: 0, held: 0 })
  }),
  "a key's last use is the latest one, whatever the order in which uses are committed": Effect.gen(
    function* () {
      const companyId = yield* open
      const row = yield* apiKey(companyId)
      yield* verdict(ApiKey.issued(row))
      for (const after of [60_000, 180_000, 120_000]) {
        assert.strictEqual(yield* verdict(ApiKey.used(row, row.createdAtMillis + after)), "Applied")
      }
      assert.deepStrictEqual((yield* holder(row.id)).apiKey, {
        ...row,
        lastUsedAtMillis: row.createdAtMillis + 180_000
      })
      yield* has(companyId, { posted: 0, held: 0 })
    }
  )
} satisfies Promises<Journal | Records | Tasks>
