import { assert } from "@effect/vitest"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import type { Fence } from "@satrail/core/ledger/Change"
import type { Journal } from "@satrail/core/ledger/Journal"
import type * as Noun from "@satrail/core/ledger/Noun"
import { fence, Tasks } from "@satrail/core/ledger/Tasks"
import type * as Written from "@satrail/core/ledger/Written"
import * as Deposit from "@satrail/core/receiving/Deposit"
import * as Invoice from "@satrail/core/receiving/Invoice"
import * as LightningAddress from "@satrail/core/receiving/LightningAddress"
import * as OnChainAddress from "@satrail/core/receiving/OnChainAddress"
import { Records } from "@satrail/core/Records"
import * as Voucher from "@satrail/core/sending/Voucher"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { Effect, Option } from "effect"
import type { Promises } from "./Contract.ts"
import {
  begin,
  companyWith,
  eventsOf,
  found,
  invoice,
  lightningAddress,
  onChainAddress,
  output,
  past,
  payment,
  tally,
  unchanged,
  verdict,
  voucher,
  withdrawal
} from "./Fixtures.ts"

// What every noun promises, from its declaration alone: so a new noun is held to it by one line in `subjects`.

type Made<A> = Effect.Effect<A, unknown, Journal | Records | Tasks>

/** A record of a noun: what creates it, and what takes it further, each made anew whenever it is asked for. */
interface Subject {
  /** Of a company that has 100 sats. */
  readonly create: (companyId: CompanyId.CompanyId) => Made<Written.Any>
  /** Each move of its life, by the Changes that make it of the record that was created. */
  readonly moves: { readonly [move: string]: (created: Written.Any) => Made<Written.Any> }
}

/** What a Change creates, as the type that its maker knows. */
const created = <A extends Noun.Row>(noun: Noun.Noun<A>, change: Written.Any): A => {
  const [first] = change.writes
  // oxlint-disable-next-line typescript/consistent-type-assertions -- the noun says which type it is
  return first?._tag === "Insert" && first.noun.name === noun.name ? (first.record as A) : assert.fail(`no ${noun.name}`)
}

export const subjectOf = <A extends Noun.Row>(
  noun: Noun.Noun<A>,
  create: Subject["create"],
  moves: { readonly [move: string]: (record: A) => Made<Written.Any> } = {}
): Subject => ({
  create,
  moves: Object.fromEntries(Object.entries(moves).map(([name, make]) => [name, (change: Written.Any) => make(created(noun, change))]))
})

/** The claim on the task of a record, which is claimed once: a move may be made of the record again. */
const held = new Map<string, Fence>()

const fenceOf = Effect.fnUntraced(function* (kind: string, id: string, nowMillis: number) {
  const known = held.get(id)
  if (known !== undefined) return known
  const tasks = yield* (yield* Tasks).claim({ kind, nowMillis, leaseMillis: 4_000_000_000_000, limit: 1000 })
  for (const task of tasks) held.set(task.id, fence(task))
  return held.get(id) ?? assert.fail(`no task for ${id}`)
})

/** Every noun of the core's. A noun of another package is held to the same promises by `promisesOf`. */
const subjects: { readonly [noun: string]: Subject } = {
  vouchers: subjectOf(
    Voucher.noun,
    Effect.fnUntraced(function* (companyId) {
      const createdAtMillis = yield* past
      return Voucher.created(yield* voucher(companyId, 1, { createdAtMillis, expiresAtMillis: createdAtMillis + 1000 }))
    }),
    {
      claimed: Effect.fnUntraced(function* (row) {
        const to = { id: yield* Id.make, recipient: `lnbcrt1${yield* Id.make}`, network: "regtest" } as const
        return Voucher.claimed(row, to, row.createdAtMillis)
      }),
      expired: Effect.fnUntraced(function* (row) {
        return Voucher.expired(row, yield* fenceOf(Voucher.taskKind, row.id, row.expiresAtMillis), row.expiresAtMillis)
      }),
      canceled: (row) => Effect.succeed(Voucher.canceled(row, row.createdAtMillis + 1))
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
  invoices: subjectOf(Invoice.noun, (companyId) => Effect.map(invoice(companyId, 1), (row) => Invoice.created(row)), {
    claimed: Effect.fnUntraced(function* (row) {
      const { withdrawal, fence } = yield* begin(row.companyId, 1)
      return Invoice.claimed(row, withdrawal.id, fence, row.createdAtMillis)
    }),
    settled: (row) => payment(row, 1),
    expired: (row) => Effect.succeed(Invoice.expired(row, row.expiresAtMillis))
  }),
  deposits: subjectOf(Deposit.noun, (companyId) => Effect.map(output(companyId, 1), Deposit.seen), {
    placed: (row) => Effect.succeed(Deposit.placed(row, 800, row.createdAtMillis + 1)),
    confirmed: (row) => Effect.succeed(Deposit.confirmed(row, row.createdAtMillis + 1)),
    dropped: (row) => Effect.succeed(Deposit.dropped(row, row.createdAtMillis + 1))
  }),
  lightning_addresses: subjectOf(LightningAddress.noun, (companyId) =>
    Effect.map(lightningAddress(companyId), (row) => LightningAddress.created(row))
  ),
  on_chain_addresses: subjectOf(OnChainAddress.noun, (companyId) =>
    Effect.map(onChainAddress(companyId), (row) => OnChainAddress.created(row))
  )
}

const insertOf = ({ writes: [first] }: Written.Any): Noun.Insert => (first?._tag === "Insert" ? first : assert.fail("no insert"))

const moveOf = ({ writes: [first] }: Written.Any): Noun.Move => (first?._tag === "Transition" ? first.move : assert.fail("no move"))

/** The same creation with other members. */
const inserting = (change: Written.Any, fields: { readonly [member: string]: unknown }): Written.Any => {
  const { noun, record } = insertOf(change)
  const other = { ...record, ...fields }
  return { ...change, id: other.id, writes: [{ _tag: "Insert", noun, record: other }] }
}

/** What the declaration says of `second`, made of a record that `first` has moved since, with values of its own. */
const expected = (first: Noun.Move, second: Noun.Move): "applies" | "was applied" | "refused" => {
  if (first.to === null || second.expects.length > 0) return "refused"
  if (second.from.includes(first.to)) return "applies"
  if (second.again === "otherwise") return "was applied"
  return second.again.in.includes(first.to) && second.again.same.length === 0 ? "was applied" : "refused"
}

const refused = (word: string) => word !== "Applied" && word !== "Replayed"

const eight = Array.from({ length: 8 })

/** Exactly one event of each Change that has one, whoever committed it how often. */
const published = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId, changes: ReadonlyArray<Written.Any>) {
  const subjects = new Set(changes.flatMap(({ event }) => (event === undefined ? [] : [event.subject])))
  return (yield* eventsOf(companyId)).filter(({ subject }) => subjects.has(subject)).length
})

const insertPromises = (name: string, { create }: Subject) => ({
  [`${name}: read by its id, by each of its names and in the list of its company, and by no other company`]: Effect.gen(function* () {
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
          const page: ReadonlyArray<Noun.Row> = yield* records.newestFirst(noun, companyId, read.at(-1) ?? null, 3)
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
  [`${name}: created again it is the one that is there, eight times at once too`]: Effect.gen(function* () {
    const change = yield* create(yield* companyWith(100))
    const verdicts = yield* Effect.forEach(eight, () => verdict(change), { concurrency: "unbounded" })
    assert.deepStrictEqual(tally(verdicts), { Applied: 8 })
    assert.strictEqual(yield* published(change.companyId, [change]), change.event === undefined ? 0 : 1)
    assert.strictEqual(yield* unchanged(change), "Applied")
  }),
  [`${name}: created with any other content under its id it is refused`]: Effect.gen(function* () {
    const change = yield* create(yield* companyWith(100))
    assert.strictEqual(yield* verdict(change), "Applied")
    const { noun, record } = insertOf(change)
    for (const [member, kind] of noun.members) {
      if (member === "id" || member === "companyId" || noun.moving.has(member) || kind === "choice") continue
      const other = { msat: 7n, millis: 77, integer: 8, uuid: yield* Id.make, text: "another", json: { k: "other" } }[kind]
      assert.notDeepEqual(Reflect.get(record, member), other)
      assert.isTrue(refused(yield* unchanged(inserting(change, { [member]: other }))), member)
    }
  }),
  [`${name}: created with a name that another has it is refused, and of eight at once one gets it`]: Effect.gen(function* () {
    const companyId = yield* companyWith(100)
    const first = yield* create(companyId)
    const { noun, record } = insertOf(first)
    for (const members of noun.unique.filter((members) => !members.some((member) => noun.moving.has(member)))) {
      const name = Object.fromEntries(members.map((member) => [member, Reflect.get(record, member)]))
      const all = yield* Effect.forEach(eight, () => Effect.map(create(companyId), (one) => inserting(one, name)))
      const words = yield* Effect.forEach(all, verdict, { concurrency: "unbounded" })
      assert.strictEqual(words.filter((word) => !refused(word)).length, 1, members.join())
      assert.isTrue(refused(yield* unchanged(inserting(yield* create(companyId), name))), members.join())
    }
  })
})

const movePromises = (name: string, { create, moves }: Subject, move: string) => {
  const make = moves[move] ?? assert.fail(move)
  /** A record, and this move of it. */
  const made = Effect.gen(function* () {
    const creation = yield* create(yield* companyWith(100))
    assert.strictEqual(yield* verdict(creation), "Applied")
    return [creation, yield* make(creation)] as const
  })
  return {
    [`${name}: ${move} again is applied once, eight times at once too`]: Effect.gen(function* () {
      const [creation, change] = yield* made
      const before = yield* published(creation.companyId, [change])
      const verdicts = yield* Effect.forEach(eight, () => verdict(change), { concurrency: "unbounded" })
      assert.deepStrictEqual(tally(verdicts), { Applied: 8 })
      assert.strictEqual((yield* published(creation.companyId, [change])) - before, change.event === undefined ? 0 : 1)
      assert.strictEqual(yield* unchanged(change), "Applied")
    }),
    [`${name}: ${move} by a worker that lost its task changes nothing`]: Effect.gen(function* () {
      const [, change] = yield* made
      if (change.fence === undefined) return
      assert.strictEqual(yield* unchanged({ ...change, fence: { ...change.fence, token: change.fence.token - 1 } }), "StaleFence")
      assert.strictEqual(yield* verdict(change), "Applied")
    }),
    [`${name}: ${move} after any other move is what its declaration says, and changes nothing where it is refused`]: Effect.gen(
      function* () {
        for (const [other, makeOther] of Object.entries(moves)) {
          const [creation, change] = yield* made
          const first = yield* makeOther(creation)
          assert.strictEqual(yield* verdict(first), "Applied", other)
          const outcome = expected(moveOf(first), moveOf(change))
          const word = outcome === "applies" ? yield* verdict(change) : yield* unchanged(change)
          // The very same values again: nothing tells it from the first.
          const isSame = other === move && word === "Applied"
          assert.strictEqual(refused(word) && !isSame, outcome === "refused" && !isSame, `${move} after ${other}: ${word}`)
        }
      }
    ),
    [`${name}: ${move} and any other move at once: one of them wins`]: Effect.gen(function* () {
      for (const [other, makeOther] of Object.entries(moves)) {
        const [creation, change] = yield* made
        const rival = yield* makeOther(creation)
        const [one, two] = [moveOf(change), moveOf(rival)]
        if (expected(one, two) === "applies" || expected(two, one) === "applies") continue
        const words = yield* Effect.forEach([change, rival], verdict, { concurrency: "unbounded" })
        assert.include(words, "Applied")
        // Whoever lost is refused again, and whoever won is applied again: nothing moves any more.
        assert.deepStrictEqual([yield* unchanged(change), yield* unchanged(rival)], words, `${move} and ${other}`)
        const events = yield* published(creation.companyId, [change, rival])
        const withEvent = [change, rival].filter(({ event }) => event !== undefined).length
        assert.isAtMost(events, 1 + Math.min(1, withEvent), `${move} and ${other}`)
      }
    })
  }
}

/** What a noun promises: that of its creation, and that of each of its moves. */
export const promisesOf = (name: string, subject: Subject): Promises<Journal | Records | Tasks> => ({
  ...insertPromises(name, subject),
  ...Object.assign({}, ...Object.keys(subject.moves).map((move) => movePromises(name, subject, move)))
})

export const money: Promises<Journal | Records | Tasks> = Object.assign(
  {},
  ...Object.entries(subjects).map(([name, subject]) => promisesOf(name, subject))
)
