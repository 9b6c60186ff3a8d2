import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as AuditLog from "../../../src/audit/core/AuditLog.ts"
import { verify } from "../../../src/audit/core/AuditVerification.ts"
import * as Audit from "@satrail/core/ledger/Audit"
import { inWorld } from "../../../../core/test/World.ts"

const companies = ["00000000-0000-4000-8000-00000000000a", "00000000-0000-4000-8000-00000000000b"].map((id) =>
  CompanyId.make(id)
)
const sign = Audit.signer(Redacted.make("key"))
const atMillis = 1_700_000_000_000

interface Linked {
  readonly link: Audit.Link
  readonly entry: Audit.Entry | null
}

/** Everything that `verify` reads. */
interface Log {
  readonly chain: ReadonlyArray<Linked>
  readonly head: Audit.Head | undefined
  /** The head at the end of the verification, if it moved meanwhile. */
  readonly headAfter?: Audit.Head
  readonly stray: ReadonlyArray<Audit.Entry>
  readonly unlinked: ReadonlyArray<Audit.Entry>
  /** Entries that are added while the records are read. */
  readonly late?: ReadonlyArray<Audit.Entry>
  readonly records: ReadonlyArray<Audit.Stored>
}

const entryOf = (id: number, changes: ReadonlyArray<Audit.Value> = []): Audit.Entry => {
  const draft = {
    companyId: companies[id % 2] ?? assert.fail("no company"),
    atMillis: atMillis + id * 60_000,
    body: Audit.bodyOf(
      { ...Audit.ofService, verb: "test" },
      { subject: null, outcome: "done", count: 1, changes }
    )
  }
  return { id: BigInt(id), ...Audit.sealed(draft, sign, (size) => new Uint8Array(size).fill(id)) }
}

const limit = (id: number, before: string | null, after: string): Audit.Entry =>
  entryOf(id, [{ record: "companies", id: "c", field: "limits", before, after }])

/** Links entries as the service does. */
const linked = (entries: ReadonlyArray<Audit.Entry>): ReadonlyArray<Linked> => {
  const chains = new Map<string, { readonly seq: number; readonly hash: string }>()
  let whole = Audit.origin
  return entries.map((entry) => {
    const before = chains.get(entry.companyId) ?? { seq: 0, hash: Audit.origin }
    const own = { seq: before.seq + 1, hash: Audit.hashOf(before.hash, entry) }
    chains.set(entry.companyId, own)
    whole = Audit.wholeOf(whole, own.hash)
    return { entry, link: { entryId: entry.id, companyId: entry.companyId, ...own, whole } }
  })
}

const headOf = (chain: ReadonlyArray<Linked>, count = chain.length): Audit.Head | undefined => {
  const last = chain[count - 1]?.link
  return last && Audit.signed({ entryId: last.entryId, count, whole: last.whole }, sign)
}

const recordOf = (limits: string | null): Audit.Stored => ({
  record: "companies",
  id: "c",
  values: new Map([["limits", limits]]),
  untilMillis: null
})

/** A sound log of six entries: two of them set the same value of a record, minutes apart. */
const sound = ((): Log => {
  const chain = linked([
    entryOf(1),
    limit(2, null, "one"),
    entryOf(3),
    entryOf(4),
    limit(5, "one", "two"),
    entryOf(6)
  ])
  return { chain, head: headOf(chain), stray: [], unlinked: [], records: [recordOf("two")] }
})()

const storeOf = ({ chain, head, headAfter, stray, unlinked, late = [], records }: Log) => {
  let [heads, areRecordsRead] = [0, false]
  return Audit.AuditStore.of({
    appendAudit: () => Effect.die("not used"),
    linkAudit: () => Effect.die("not used"),
    auditHeads: () => Effect.die("not used"),
    unlinkedAudit: () => Effect.succeed(unlinked),
    auditHead: Effect.sync(() => (heads++ === 0 ? head : (headAfter ?? head))),
    auditOf: (_, before, limit) =>
      Effect.sync(() =>
        [
          ...chain.flatMap(({ entry, link }) => (entry === null ? [] : [{ entry, link }])),
          ...[...unlinked, ...(areRecordsRead ? late : [])].map((entry) => ({ entry, link: null }))
        ]
          .filter(({ entry }) => before === null || entry.id < before)
          .toReversed()
          .slice(0, limit)
      ),
    auditChain: (after, limit) =>
      Effect.succeed(chain.filter(({ link }) => link.entryId > after).slice(0, limit)),
    recordedKinds: ["companies"],
    recordedAudit: (after) =>
      Effect.sync(() => {
        areRecordsRead = true
        return after === null ? records : []
      }),
    strayAudit: () => Effect.succeed(stray)
  })
}

/** Returns the kinds of faults, in the order in which they are reported. */
const faultsOf = Effect.fnUntraced(function* (log: Log, head: string | null = null) {
  yield* TestClock.setTime(atMillis + 3_600_000)
  const found: Array<string> = []
  const { faults } = yield* verify(head, ({ kind, field, problem }) =>
    Effect.sync(() => void found.push(problem === undefined ? kind : `${kind}: ${field ?? "all"} ${problem}`))
  ).pipe(Effect.provideService(Audit.AuditStore, storeOf(log)), Effect.provideService(Audit.Signing, sign))
  assert.strictEqual(faults, found.length)
  return found
})

/** Changes the link at this place. */
const withLink = (at: number, change: (link: Audit.Link) => Partial<Audit.Link>): Log => ({
  ...sound,
  chain: sound.chain.map((one, n) =>
    n === at ? { ...one, link: { ...one.link, ...change(one.link) } } : one
  )
})

const withEntry = (at: number, change: (entry: Audit.Entry) => Audit.Entry | null): Log => ({
  ...sound,
  chain: sound.chain.map((one, n) => (n === at ? { ...one, entry: one.entry && change(one.entry) } : one))
})

const other = "f".repeat(64)
const last = sound.chain.length - 1
const head = sound.head ?? assert.fail("no head")

const tampered: Record<string, readonly [log: Log, faults: ReadonlyArray<string>]> = {
  nothing: [sound, []],
  "the text of an entry": [
    withEntry(2, (entry) => ({ ...entry, body: entry.body.replace("done", "gone") })),
    ["changed", "unsigned"]
  ],
  "the time of an entry": [withEntry(2, (entry) => ({ ...entry, atMillis: 1 })), ["changed", "unsigned"]],
  "an entry, with a new valid seal": [withEntry(2, () => ({ ...entryOf(9), id: 3n })), ["changed"]],
  "an entry that was removed": [withEntry(2, () => null), ["removed"]],
  "the number of a company's last link": [withLink(last, ({ seq }) => ({ seq: seq + 1 })), ["chain"]],
  "the number of a company's first link": [withLink(0, () => ({ seq: 2 })), ["chain", "chain"]],
  "the hash of a company's chain": [withLink(last, () => ({ hash: other })), ["changed", "chain"]],
  "the hash of all companies, in the middle": [withLink(2, () => ({ whole: other })), ["chain", "chain"]],
  "the hash of all companies, at the end": [withLink(last, () => ({ whole: other })), ["chain", "end"]],
  "the company of a link": [
    withLink(last, () => ({ companyId: companies[1] ?? assert.fail() })),
    ["changed", "chain"]
  ],
  "a link that was removed": [
    { ...sound, chain: sound.chain.filter((_, at) => at !== 2) },
    ["chain", "changed", "chain", "end"]
  ],
  "the end of the chain, cut off": [{ ...sound, chain: sound.chain.slice(0, last) }, ["end"]],
  "the head, of an earlier link": [{ ...sound, head: headOf(sound.chain, 4) }, ["end"]],
  "the head's count": [{ ...sound, head: Audit.signed({ ...head, count: 5 }, sign) }, ["end"]],
  "the head's signature": [{ ...sound, head: { ...head, mac: other } }, ["end"]],
  "a removed head": [{ ...sound, head: undefined }, ["end"]],
  "an inserted entry": [{ ...sound, stray: [entryOf(8)] }, ["inserted"]],
  "a value of a record": [{ ...sound, records: [recordOf("three")] }, ["record: limits differs"]],
  "a value of a record, to its earlier value": [
    { ...sound, records: [recordOf("one")] },
    ["record: limits differs"]
  ],
  "a value of a record, removed": [{ ...sound, records: [recordOf(null)] }, ["record: limits differs"]],
  "a record that was removed": [{ ...sound, records: [] }, ["record: all gone"]],
  "a record that was added": [
    { ...sound, records: [recordOf("two"), { ...recordOf("two"), id: "d" }] },
    ["record: all unknown"]
  ]
}

describe("Verification of the audit log", () => {
  for (const [what, [log, faults]] of Object.entries(tampered)) {
    it.effect(
      `audit: verification of a log in which somebody changed ${what} reports ${faults.join(", ") || "no fault"}`,
      () => inWorld(Effect.map(faultsOf(log), (found) => assert.deepStrictEqual(found, faults)))
    )
  }

  it.effect(
    "audit: a head that was noted earlier must be in the chain, with its count and its signature",
    () =>
      inWorld(
        Effect.gen(function* () {
          for (const count of [1, 4, sound.chain.length]) {
            const noted = headOf(sound.chain, count) ?? assert.fail("no head")
            assert.deepStrictEqual(yield* faultsOf(sound, Audit.textOf(noted)), [])
            assert.deepStrictEqual(yield* faultsOf(sound, `${noted.entryId}:${noted.whole}`), [], "in short")
            assert.deepStrictEqual(
              yield* faultsOf(sound, Audit.textOf(Audit.signed({ ...noted, count: count + 1 }, sign))),
              ["head"]
            )
            assert.deepStrictEqual(yield* faultsOf(sound, Audit.textOf({ ...noted, mac: other })), ["head"])
            assert.deepStrictEqual(
              yield* faultsOf(sound, Audit.textOf(Audit.signed({ ...noted, whole: other }, sign))),
              ["head"]
            )
          }
          const cut: Log = {
            ...sound,
            chain: sound.chain.slice(0, 2),
            head: headOf(sound.chain, 2),
            records: [recordOf("one")]
          }
          assert.deepStrictEqual(yield* faultsOf(cut, Audit.textOf(head)), ["head"])
          assert.deepStrictEqual(yield* faultsOf(cut), [])
        })
      )
  )

  it.effect(
    "audit: the head may move forward during a verification, but neither back nor to one with an invalid signature",
    () =>
      inWorld(
        Effect.gen(function* () {
          const later = Audit.signed({ entryId: 7n, count: 7, whole: other }, sign)
          assert.deepStrictEqual(yield* faultsOf({ ...sound, headAfter: later }), [])
          assert.deepStrictEqual(yield* faultsOf({ ...sound, headAfter: { ...later, mac: other } }), ["end"])
          for (const count of [1, last])
            assert.deepStrictEqual(
              yield* faultsOf({ ...sound, headAfter: headOf(sound.chain, count) ?? assert.fail() }),
              ["end"]
            )
        })
      )
  )

  it.effect(
    "audit: a record that changes while the records are read may have any of its values of that time, and no other",
    () =>
      inWorld(
        Effect.gen(function* () {
          const late = [limit(7, "two", "three"), limit(8, "three", "four")]
          for (const value of ["two", "three", "four"])
            assert.deepStrictEqual(yield* faultsOf({ ...sound, late, records: [recordOf(value)] }), [], value)
          for (const value of ["one", "five"])
            assert.deepStrictEqual(
              yield* faultsOf({ ...sound, late, records: [recordOf(value)] }),
              ["record: limits differs"],
              value
            )
        })
      )
  )

  it.effect("audit: an entry without a link is a fault once a minute has passed, not before", () =>
    inWorld(
      Effect.gen(function* () {
        const nowMillis = atMillis + 3_600_000
        const unlinked = (ageMillis: number): Log => ({
          ...sound,
          unlinked: [
            {
              id: 90n,
              ...Audit.sealed(
                { ...entryOf(90), atMillis: nowMillis - ageMillis },
                sign,
                (size) => new Uint8Array(size)
              )
            }
          ]
        })
        assert.deepStrictEqual(yield* faultsOf(unlinked(AuditLog.unlinkedMillis)), [])
        assert.deepStrictEqual(yield* faultsOf(unlinked(AuditLog.unlinkedMillis + 1)), ["unlinked"])
      })
    )
  )

  it.effect("audit: every page of a long log is verified", () =>
    inWorld(
      Effect.gen(function* () {
        for (const count of [1000, 1001]) {
          const chain = linked(Array.from({ length: count }, (_, n) => entryOf(n + 1)))
          const log: Log = { ...sound, chain, head: headOf(chain), records: [] }
          assert.deepStrictEqual(yield* faultsOf(log), [])
          const forged = chain.with(count - 1, { ...(chain.at(-1) ?? assert.fail()), entry: null })
          assert.deepStrictEqual(yield* faultsOf({ ...log, chain: forged }), ["removed"])
        }
      })
    )
  )
})
