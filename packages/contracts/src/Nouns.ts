import { assert } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as OperatorRequest from "@satrail/core/accounts/OperatorRequest"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import type { Fence } from "@satrail/core/ledger/Change"
import type { Journal } from "@satrail/core/ledger/Journal"
import * as Audit from "@satrail/core/ledger/Audit"
import * as Noun from "@satrail/core/ledger/Noun"
import type { Tasks } from "@satrail/core/ledger/Tasks"
import type * as Written from "@satrail/core/ledger/Written"
import * as SuspenseAssignment from "@satrail/core/receiving/SuspenseAssignment"
import * as Deposit from "@satrail/core/receiving/Deposit"
import * as Invoice from "@satrail/core/receiving/Invoice"
import * as LightningAddress from "@satrail/core/receiving/LightningAddress"
import * as OnChainAddress from "@satrail/core/receiving/OnChainAddress"
import { Records } from "@satrail/core/service/Records"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { Effect, Equal, Option } from "effect"
import * as AccountRows from "./AccountRows.ts"
import * as Contract from "./Contract.ts"
import type { Promises } from "./Contract.ts"
import {
  arrival,
  begin,
  companyWith,
  eventsOf,
  found,
  invoice,
  lightningAddress,
  onChainAddress,
  once,
  output,
  past,
  payment,
  stray,
  tally,
  unchanged,
  verdict,
  withdrawal
} from "./Fixtures.ts"
import { fenceOf } from "./journal/Fences.ts"
import { together } from "./features/Feature.ts"
import { all, features } from "./features/index.ts"
import { booked, isSound } from "./Ledger.ts"
import { insertOf, type Step, type Subject, subjectOf } from "./Subject.ts"

export { subjectOf } from "./Subject.ts"

// The guarantees that every record type must provide, derived from its `Noun` declaration. One entry in
// `declared` tests one type.

/** Claims on the tasks of withdrawals that have claimed an invoice. */
const claims = new Map<string, Fence>()

/** Every record type of core. `promisesOf` tests a record type of another package the same way. */
export const declared: { readonly [noun: string]: Subject } = {
  operator_tokens: subjectOf(AccountRows.tokens, AccountRows.issue, AccountRows.revoking),
  operator_requests: subjectOf(
    OperatorRequest.noun,
    Effect.fnUntraced(function* (companyId) {
      const wanted = { id: yield* Id.make, companyId, action: "release", toCompanyId: null } as const
      return OperatorRequest.created(wanted, { id: "ada", name: "Ada" }, yield* past)
    }),
    {
      replaced: (row) => {
        const wanted = { ...row, action: "assign", toCompanyId: row.companyId } as const
        return Effect.succeed(
          OperatorRequest.replaced(row, wanted, { id: "bob", name: "Bob" }, row.untilMillis)
        )
      }
    }
  ),
  withdrawals: subjectOf(
    Withdrawal.noun,
    Effect.fnUntraced(function* (companyId) {
      return Withdrawal.requested(yield* withdrawal(companyId, 1, { createdAtMillis: yield* past }))
    }),
    {
      failed: Effect.fnUntraced(function* (row) {
        const claimed = yield* fenceOf(Withdrawal.taskKind, row.id, row.createdAtMillis)
        return Withdrawal.failed(row, "no_route", claimed, row.createdAtMillis + 1)
      })
    }
  ),
  invoices: subjectOf(
    Invoice.noun,
    (companyId) => Effect.map(invoice(companyId, 1), (row) => Invoice.created(row)),
    {
      claimed: Effect.fnUntraced(function* (row) {
        const { withdrawal, fence } = yield* begin(row.companyId, 1)
        claims.set(withdrawal.id, fence)
        return Invoice.claimed(row, withdrawal.id, fence, row.createdAtMillis)
      }),
      released: [
        "claimed",
        (row) => {
          const by = row.claimedBy ?? ""
          return Effect.succeed(
            Invoice.released(row, by, claims.get(by) ?? assert.fail("not claimed"), row.createdAtMillis + 1)
          )
        }
      ],
      held: (row) =>
        Effect.succeed(
          Invoice.held(
            row,
            { held: Msat.fromSats(1), heldUntilMillis: row.createdAtMillis + 3 },
            row.createdAtMillis + 1
          )
        ),
      settling: ["held", (row) => Effect.succeed(Invoice.settling(row, null, row.createdAtMillis + 2))],
      returned: ["held", (row) => Effect.succeed(Invoice.returned(row, row.createdAtMillis + 2))],
      settled: (row) => payment(row, 1),
      expired: (row) => Effect.succeed(Invoice.expired(row, row.expiresAtMillis)),
      canceled: (row) => Effect.succeed(Invoice.canceled(row, row.createdAtMillis + 1)),
      closed: ["canceled", (row) => Effect.succeed(Invoice.closed(row, row.createdAtMillis + 2))]
    }
  ),
  unmatched: subjectOf(
    Invoice.unmatchedNoun,
    Effect.fnUntraced(function* (companyId) {
      return Invoice.unmatched(yield* stray(companyId, 3))
    })
  ),
  suspense_assignments: subjectOf(
    SuspenseAssignment.noun,
    Effect.fnUntraced(function* (companyId) {
      return SuspenseAssignment.assigned(yield* stray(companyId, 3), yield* arrival(companyId, 3))
    })
  ),
  deposits: subjectOf(Deposit.noun, (companyId) => Effect.map(output(companyId, 1), Deposit.seen), {
    placed: (row) => Effect.succeed(Deposit.placed(row, 800, row.createdAtMillis + 1)),
    confirmed: (row) => Effect.succeed(Deposit.confirmed(row, row.createdAtMillis + 1)),
    dropped: (row) => Effect.succeed(Deposit.dropped(row, row.createdAtMillis + 1)),
    reversed: [
      "confirmed",
      (row) => Effect.succeed(Deposit.reversed(row, Msat.zero, row.updatedAtMillis + 1))
    ]
  }),
  lightning_addresses: subjectOf(
    LightningAddress.noun,
    (companyId) => Effect.map(lightningAddress(companyId), (row) => LightningAddress.created(row)),
    {
      changed: Effect.fnUntraced(function* (row) {
        const { companyId } = row
        const settings = {
          minSendable: null,
          maxSendable: Msat.fromSats(7),
          successMessage: yield* Id.make,
          splits: [{ companyId, basisPoints: 1250 }],
          metadata: { shelf: "4" }
        }
        return LightningAddress.changed(row, settings, row.createdAtMillis + 1)
      }),
      deleted: (row) => Effect.succeed(LightningAddress.deleted(row, row.createdAtMillis + 1))
    }
  ),
  on_chain_addresses: subjectOf(OnChainAddress.noun, (companyId) =>
    Effect.map(onChainAddress(companyId), (row) => OnChainAddress.created(row))
  ),
  ...together(features, "subjects")
}

/** The same record types, including the transitions that features add. */
const subjects = Object.entries(declared).map(([name, { create, moves }]): readonly [string, Subject] => [
  name,
  { create, moves: Object.assign({}, moves, ...all.map((one) => one.moves?.[name])) }
])

const transitionOf = ({ writes: [first] }: Written.Any): Noun.Transition =>
  first?._tag === "Transition" ? first : assert.fail("no move")

/** Returns the same creation with some of the record's fields replaced. */
const inserting = (change: Written.Any, fields: { readonly [member: string]: unknown }): Written.Any => {
  const { noun, record } = insertOf(change)
  const other = { ...record, ...fields }
  return { ...change, id: other.id, writes: [{ _tag: "Insert", noun, record: other }] }
}

/** Reads the record that a Change creates or updates, or null if it does not exist. */
const recordOf = Effect.fnUntraced(function* ({ companyId, id, writes: [first] }: Written.Any) {
  const noun = first?._tag === "Insert" ? first.noun : (first?.move.noun ?? assert.fail("nothing is written"))
  return Option.getOrNull(yield* (yield* Records).get(noun, companyId, id))
})

/** Returns the same Change, of a record type whose values are all logged. */
const logging = (change: Written.Any): Written.Any => {
  const [first] = change.writes
  const logged = (noun: Noun.Noun): Noun.Noun => ({
    ...noun,
    recorded: new Set(noun.members.map(([member]) => member))
  })
  if (first?._tag === "Insert") return { ...change, writes: [{ ...first, noun: logged(first.noun) }] }
  const { move, ...rest } = transitionOf(change)
  return { ...change, writes: [{ ...rest, move: { ...move, noun: logged(move.noun) } }] }
}

/**
 * Checks that the audit log of a Change, whatever the record was when the Change read it, leads from the stored
 * record to the resulting one.
 */
const isLogged = (change: Written.Any, before: Noun.Row | null, after: Noun.Row) => {
  const all = logging(change)
  const noun = all.writes[0]?._tag === "Insert" ? insertOf(all).noun : transitionOf(all).move.noun
  const values = new Map(before === null ? [] : Audit.storedOf(noun, before).values)
  for (const { field, after } of Audit.changesOf(all)) values.set(field, after)
  const expected = Audit.storedOf(noun, after).values
  for (const [field, value] of expected)
    assert.strictEqual(values.get(field) ?? null, value, `${change._tag} logs ${noun.name}.${field}`)
}

/** Commits a Change that must be applied, and checks that the resulting record is as declared. Returns that record. */
const taken = Effect.fnUntraced(function* (change: Written.Any) {
  const before = yield* recordOf(change)
  assert.strictEqual(yield* verdict(change), "Applied")
  const declared =
    before === null ? insertOf(change).record : Noun.after(before, transitionOf(change), change.atMillis)
  assert.deepStrictEqual(yield* recordOf(change), declared)
  isLogged(change, before, declared)
  return declared
})

/** Commits a Change that must have no effect, not even on the record. Returns the result. */
const untouched = Effect.fnUntraced(function* (change: Written.Any) {
  const before = yield* recordOf(change)
  const word = yield* unchanged(change)
  assert.deepStrictEqual(yield* recordOf(change), before)
  return word
})

const alike = (a: object, b: object, members: ReadonlyArray<string>): boolean =>
  members.every((member) => Equal.equals(Reflect.get(a, member), Reflect.get(b, member)))

/** Returns the declared outcome of a transition of this record. */
const expected = (row: Noun.Row, change: Written.Any): "applies" | "was applied" | "refused" => {
  const transition = transitionOf(change)
  const { from, empty, expects, again } = transition.move
  const isIn = (statuses: ReadonlyArray<string>) =>
    statuses.length === 0 || statuses.includes(String(Reflect.get(row, "status")))
  const isEmpty = empty.every((member) => Reflect.get(row, member) === null)
  const applies = isIn(from) && isEmpty && alike(row, transition.found, expects)
  const isAgain =
    again === "otherwise"
      ? !applies
      : isIn(again.in) && isEmpty && alike(row, Noun.after(row, transition, change.atMillis), again.same)
  return isAgain ? "was applied" : applies ? "applies" : "refused"
}

const refused = (word: string) => word !== "Applied" && word !== "Replayed"

const eight = Array.from({ length: 8 })

/**
 * Runs commits of a Change, and checks that together they post its amounts once, and that the books of its
 * companies are sound afterward.
 */
const postsOnce = Effect.fnUntraced(function* <A, E, R>(
  { companyId, legs }: Written.Any,
  commits: Effect.Effect<A, E, R>
) {
  const amounts: Record<string, bigint> = {}
  for (const { from, to, amount } of legs.flatMap(({ postings }) => postings)) {
    amounts[from] = (amounts[from] ?? 0n) - amount
    amounts[to] = (amounts[to] ?? 0n) + amount
  }
  const moved = Object.entries(amounts).flatMap(([account, amount]) =>
    amount === 0n ? [] : [[account, Number(amount) / 1000]]
  )
  assert.deepStrictEqual(yield* booked(commits), Object.fromEntries(moved))
  yield* isSound([companyId, ...legs.map(({ companyId }) => companyId)])
})

/** Commits the same Change eight times concurrently, and checks that it takes effect once. */
const takesEffectOnce = Effect.fnUntraced(function* (change: Written.Any) {
  const before = yield* published(change.companyId, [change])
  const all = Effect.forEach(eight, () => verdict(change), { concurrency: "unbounded" })
  yield* postsOnce(
    change,
    Effect.map(all, (verdicts) => assert.deepStrictEqual(tally(verdicts), { Applied: 8 }))
  )
  assert.strictEqual(
    (yield* published(change.companyId, [change])) - before,
    change.event === undefined ? 0 : 1
  )
  assert.strictEqual(yield* untouched(change), "Applied")
})

/** Returns the number of events published about the subjects of these Changes. */
const published = Effect.fnUntraced(function* (
  companyId: CompanyId.CompanyId,
  changes: ReadonlyArray<Written.Any>
) {
  const subjects = new Set(changes.flatMap(({ event }) => (event === undefined ? [] : [event.subject])))
  return (yield* eventsOf(companyId)).filter(({ subject }) => subjects.has(subject)).length
})

const insertPromises = (name: string, { create }: Subject) => ({
  [`${name}: only the owning company finds a record by id or in a list; every unique name finds the record`]:
    Effect.gen(function* () {
      const [companyId, otherId] = [yield* companyWith(100), yield* companyWith(100)]
      const records = yield* Records
      const all = yield* Effect.forEach(eight, () => create(companyId))
      for (const change of all) assert.strictEqual(yield* verdict(change), "Applied")
      const ids = all.map(({ id }) => id)
      for (const change of all) {
        const { noun, record } = insertOf(change)
        assert.deepStrictEqual(yield* found(records.get(noun, companyId, record.id)), record)
        assert.isTrue(Option.isNone(yield* records.get(noun, otherId, record.id)))
        for (const members of noun.unique) {
          const name = Object.fromEntries(members.map((member) => [member, Reflect.get(record, member)]))
          const named = yield* records.named(noun, name)
          assert.deepStrictEqual(Option.getOrNull(named), Object.values(name).includes(null) ? null : record)
        }
      }
      const noun = insertOf(all[0] ?? assert.fail()).noun
      const pages = (companyId: CompanyId.CompanyId) =>
        Effect.gen(function* () {
          const read: Array<string> = []
          for (;;) {
            const page: ReadonlyArray<Noun.Row> = yield* records.newestFirst(
              noun,
              companyId,
              read.at(-1) ?? null,
              3
            )
            if (page.length === 0) return read
            read.push(...page.map(({ id }) => id))
          }
        })
      const listed = yield* pages(companyId)
      assert.deepStrictEqual(listed, listed.toSorted().toReversed())
      assert.includeMembers(listed, ids)
      assert.strictEqual(new Set(listed).size, listed.length)
      assert.notIncludeMembers(yield* pages(otherId), ids)
    }),
  [`${name}: creating the same record again, even eight times concurrently, stores it once`]: Effect.gen(
    function* () {
      yield* takesEffectOnce(yield* create(yield* companyWith(100)))
    }
  ),
  [`${name}: of eight concurrent creations with one idempotency key, one is applied and the others are replayed`]:
    Effect.gen(function* () {
      const companyId = yield* companyWith(100)
      const all = yield* Effect.forEach(eight, () => create(companyId))
      const keyed = all.map((change): Written.Any => ({ ...change, once: once(companyId, "k") }))
      const verdicts = yield* Effect.forEach(keyed, verdict, { concurrency: "unbounded" })
      assert.deepStrictEqual(tally(verdicts), { Applied: 1, Replayed: 7 })
      const stored = yield* Effect.filter(keyed, (change) =>
        Effect.map(recordOf(change), (record) => record !== null)
      )
      assert.deepStrictEqual(stored, [keyed[verdicts.indexOf("Applied")]])
      yield* isSound([companyId])
    }),
  [`${name}: an id cannot be reused with different content`]: Effect.gen(function* () {
    const change = yield* create(yield* companyWith(100))
    assert.strictEqual(yield* verdict(change), "Applied")
    const { noun, record } = insertOf(change)
    for (const [member, kind] of noun.members) {
      if (member === "id" || member === "companyId" || noun.moving.has(member) || kind === "choice") continue
      const other = {
        msat: 7n,
        millis: 77,
        integer: 8,
        uuid: yield* Id.make,
        text: "another",
        json: { k: "other" }
      }[kind]
      assert.notDeepEqual(Reflect.get(record, member), other)
      assert.isTrue(refused(yield* untouched(inserting(change, { [member]: other }))), member)
    }
  }),
  [`${name}: a unique name is never used twice; if eight creations run concurrently, one succeeds`]:
    Effect.gen(function* () {
      const [companyId, otherId] = [yield* companyWith(100), yield* companyWith(100)]
      const first = yield* create(companyId)
      const { noun, record } = insertOf(first)
      for (const members of noun.unique.filter(
        (members) => !members.some((member) => noun.moving.has(member))
      )) {
        const name = Object.fromEntries(members.map((member) => [member, Reflect.get(record, member)]))
        const rivalId = members.includes("companyId") ? companyId : otherId
        const again = (n: number) =>
          Effect.map(create(n % 2 === 0 ? companyId : rivalId), (one) => inserting(one, name))
        const all = yield* Effect.forEach(eight, (_, n) => again(n))
        const words = yield* Effect.forEach(all, verdict, { concurrency: "unbounded" })
        assert.strictEqual(words.filter((word) => !refused(word)).length, 1, members.join())
        for (const n of [0, 1]) assert.isTrue(refused(yield* unchanged(yield* again(n))), members.join())
      }
    })
})

/** Returns the transitions that take a new record to the state in which this transition starts. */
const wayTo = (moves: Subject["moves"], move: string): ReadonlyArray<Step> => {
  const { after } = moves[move] ?? assert.fail(move)
  return after === null ? [] : [...wayTo(moves, after), moves[after] ?? assert.fail(after)]
}

const movePromises = (name: string, { create, moves }: Subject, move: string) => {
  const step = moves[move] ?? assert.fail(move)
  /** A record in the state in which this transition starts, the transition, and the record's creation. */
  const made = Effect.gen(function* () {
    const creation = yield* create(yield* companyWith(100))
    let record = yield* taken(creation)
    for (const { make } of wayTo(moves, move)) record = yield* taken(yield* make(record))
    return [record, yield* step.make(record), creation] as const
  })
  const rivals = Object.entries(moves).filter(([, { after }]) => after === step.after)
  const followers = Object.entries(moves).filter(([, { after }]) => after === move)
  return {
    [`${name}: \`${move}\` takes effect once, even if repeated eight times concurrently`]: Effect.gen(
      function* () {
        const [record, change, creation] = yield* made
        yield* takesEffectOnce(change)
        assert.deepStrictEqual(
          yield* recordOf(change),
          Noun.after(record, transitionOf(change), change.atMillis)
        )
        assert.strictEqual(yield* untouched(creation), "Applied")
      }
    ),
    [`${name}: \`${move}\` is refused and changes nothing if the worker has lost its task`]: Effect.gen(
      function* () {
        const [, change] = yield* made
        if (change.fence === undefined) return
        assert.strictEqual(
          yield* untouched({ ...change, fence: { ...change.fence, token: change.fence.token - 1 } }),
          "StaleFence"
        )
        assert.strictEqual(yield* verdict(change), "Applied")
      }
    ),
    [`${name}: \`${move}\` has the declared outcome after another transition, and a refusal changes nothing`]:
      Effect.gen(function* () {
        for (const [other, { make }] of rivals) {
          const [record, change] = yield* made
          const now = yield* taken(yield* make(record))
          const outcome = expected(now, change)
          if (outcome === "applies") yield* taken(change)
          else
            assert.strictEqual(
              refused(yield* untouched(change)),
              outcome === "refused",
              `${move} after ${other}`
            )
        }
      }),
    [`${name}: if \`${move}\` and another transition run concurrently, exactly one is applied`]: Effect.gen(
      function* () {
        for (const [other, { make }] of rivals) {
          const [record, change] = yield* made
          const rival = yield* make(record)
          const isNext = (first: Written.Any, second: Written.Any) =>
            expected(Noun.after(record, transitionOf(first), first.atMillis), second) === "applies"
          if (isNext(change, rival) || isNext(rival, change)) continue
          const before = yield* published(record.companyId, [change, rival])
          const words = yield* Effect.forEach([change, rival], verdict, { concurrency: "unbounded" })
          assert.include(words, "Applied")
          // When the Changes are repeated, the refused one is refused again, and the applied one succeeds without
          // effect.
          assert.deepStrictEqual(
            [yield* untouched(change), yield* untouched(rival)],
            words,
            `${move} and ${other}`
          )
          const events = (yield* published(record.companyId, [change, rival])) - before
          assert.isAtMost(events, 1, `${move} and ${other}`)
        }
      }
    ),
    ...Object.fromEntries(
      followers.map(([follower, { make }]) => [
        `${name}: repeating \`${move}\` after \`${follower}\` changes nothing`,
        Effect.gen(function* () {
          const [, change] = yield* made
          yield* taken(yield* make(yield* taken(change)))
          yield* untouched(change)
        })
      ])
    )
  }
}

/** Builds the guarantees of a record type, for its creation and for each of its transitions. */
export const promisesOf = (name: string, subject: Subject): Promises<Journal | Records | Tasks> => ({
  ...insertPromises(name, subject),
  ...Object.assign({}, ...Object.keys(subject.moves).map((move) => movePromises(name, subject, move)))
})

/**
 * Tests a store against the guarantees of one record type, for example from your own package:
 * `Nouns.suite("tickets", subject)("my store", layer)`.
 */
export const suite = (name: string, subject: Subject) => {
  const money = promisesOf(name, subject)
  return Contract.suite<Journal | Records | Tasks, typeof money, Record<string, never>>("Journal", {
    money,
    other: {}
  })
}

export const money: Promises<Journal | Records | Tasks> = Object.assign(
  {},
  ...subjects.map(([name, subject]) => promisesOf(name, subject))
)
