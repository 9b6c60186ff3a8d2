import { Clock, Context, Effect, Layer, Option } from "effect"
import * as Id from "../../base/Id.ts"
import { NotFound, type StoreUnavailable } from "../../ledger/Journal.ts"
import { LedgerReads } from "../../ledger/LedgerReads.ts"
import * as Page from "../../ledger/Page.ts"
import * as Waiting from "../../ledger/Waiting.ts"
import type { Invalid } from "../../base/Invalid.ts"
import { ChainSource } from "../../nodes/ChainSource.ts"
import type { Deposit } from "../../receiving/Deposit.ts"
import { ReceivingReads } from "../../receiving/ReceivingReads.ts"
import { SendingReads } from "../../sending/SendingReads.ts"
import * as Ways from "../../sending/Ways.ts"
import type { Withdrawal } from "../../sending/Withdrawal.ts"
import { ReconciliationOptions } from "./ReconciliationOptions.ts"
import * as Waits from "./Waits.ts"

/** How many of each kind are named beside their count. */
export const maxNamed = 10

/** How long a node or the chain may take to say how something stands: who looks is waiting. */
export const answerMillis = 2000

/** All that waits for one thing, and the oldest of them by name. */
export interface Kind extends Waiting.Waiting {
  readonly oldest: ReadonlyArray<Waits.Named>
}

/** A record, and how far it is. */
export interface Followed<A> {
  readonly record: A
  /** What is still to be done about it; null where it has ended. */
  readonly waits: Waits.Waits | null
  readonly timeline: ReadonlyArray<Waits.Step>
  /** The answer of the node or the chain when it was asked just now; null where it was not asked, or has nothing to say. */
  readonly answer: string | null
}

/** Which of those that wait: at least `olderThanMillis` old, the oldest first. */
export interface Query {
  readonly limit: number
  readonly after: Page.Position | null
  readonly olderThanMillis: number
}

/** What waits, of all companies, for the operator. It is read, and nothing is done about it. */
export class Backlog extends Context.Service<
  Backlog,
  {
    readonly all: Effect.Effect<{ readonly [kind in Waiting.Kind]: Kind }, StoreUnavailable>
    readonly withdrawals: (query: Query) => Effect.Effect<Page.Page<Followed<Withdrawal> & Page.Position>, Invalid | StoreUnavailable>
    readonly deposits: (query: Query) => Effect.Effect<Page.Page<Followed<Deposit> & Page.Position>, Invalid | StoreUnavailable>
    /** Of whichever company, ended or not; asks the node or the chain how it stands. */
    readonly withdrawal: (id: string) => Effect.Effect<Followed<Withdrawal>, NotFound | StoreUnavailable>
    readonly deposit: (id: string) => Effect.Effect<Followed<Deposit>, NotFound | StoreUnavailable>
  }
>()("@satrail/core/reports/reconciliation/Backlog") {}

const none = { after: null, sinceBeforeMillis: Number.MAX_SAFE_INTEGER }

/** What node and chain say of something, now. */
const answers = Effect.gen(function* () {
  const { lookup } = yield* Ways.make
  const chain = yield* ChainSource

  /** What is said within a while; who says nothing in time has not answered. */
  const said = <A, E>(ask: Effect.Effect<A, E>, text: (answer: A) => string) =>
    ask.pipe(
      Effect.map(text),
      Effect.timeoutOption(answerMillis),
      Effect.map(Option.getOrElse(() => `no answer within ${answerMillis / 1000} seconds`)),
      Effect.catch(() => Effect.succeed("no answer"))
    )

  const placed = (txId: NonNullable<Deposit["chainTxId"]>) =>
    said(Effect.all([chain.tip, chain.transaction(txId)]), ([tip, placement]) => Waits.placed(tip, placement))

  const answerOf = (row: Withdrawal): Effect.Effect<string | null> => {
    if (row.status !== "pending" || row.dispatchedAtMillis === null) return Effect.succeed(null)
    if (row.rail === "lightning") return said(lookup(row), Waits.paid)
    return row.chainTxId === null ? Effect.succeed(null) : placed(row.chainTxId)
  }

  return { answerOf, placed }
})

export const make = Effect.gen(function* () {
  const ledger = yield* LedgerReads
  const sending = yield* SendingReads
  const receiving = yield* ReceivingReads
  const { answerOf, placed } = yield* answers
  const { overdueMillis } = (yield* ReconciliationOptions).reconciliation

  /** A page of records that wait: each is read again, as it is by now. */
  const pageOf = <A>(
    { limit, after, olderThanMillis }: Query,
    kinds: ReadonlyArray<Waiting.Kind>,
    read: (item: Waiting.Item) => Effect.Effect<Option.Option<A>, StoreUnavailable>,
    timeline: (record: A) => ReadonlyArray<Waits.Step>,
    hostOf: (record: A) => string | null
  ) =>
    Effect.gen(function* () {
      const nowMillis = yield* Clock.currentTimeMillis
      const { rows, next } = yield* Page.pick(limit, (limit) =>
        Effect.map(
          ledger.backlog({
            kinds,
            overdueBeforeMillis: 0,
            sinceBeforeMillis: nowMillis - olderThanMillis,
            after: after && { sinceMillis: after.createdAtMillis, id: after.id },
            perKind: limit,
            limit
          }),
          (items) => ({ rows: items.map((item) => ({ ...item, createdAtMillis: item.sinceMillis })), lookedTo: null })
        )
      )
      const found = yield* Effect.forEach(
        rows,
        (item) =>
          Effect.map(
            read(item),
            Option.map((record) => ({
              record,
              waits: Waits.of(item, nowMillis, hostOf(record)),
              timeline: timeline(record),
              answer: null,
              id: item.id,
              createdAtMillis: item.createdAtMillis
            }))
          ),
        { concurrency: "unbounded" }
      )
      return { rows: found.flatMap(Option.toArray), next }
    })

  const get = <A extends { readonly id: string }>(
    what: string,
    id: string,
    read: (id: string) => Effect.Effect<Option.Option<A>, StoreUnavailable>
  ) =>
    Effect.gen(function* () {
      const found = Id.is(id) ? yield* read(id) : Option.none<A>()
      return Option.isSome(found) ? found.value : yield* new NotFound({ what, id })
    })

  return Backlog.of({
    all: Effect.gen(function* () {
      const nowMillis = yield* Clock.currentTimeMillis
      const overdueBeforeMillis = nowMillis - overdueMillis
      const limit = maxNamed * Waiting.kinds.length
      const counts = yield* ledger.waiting(overdueBeforeMillis)
      const items = yield* ledger.backlog({ ...none, kinds: Waiting.kinds, overdueBeforeMillis, perKind: maxNamed, limit })
      return Waiting.byKind((kind) => ({
        ...counts[kind],
        oldest: items.filter((item) => item.kind === kind).map((item) => ({ ...item, waits: Waits.of(item, nowMillis) }))
      }))
    }),
    withdrawals: (query) =>
      pageOf(query, Waits.withdrawalKinds, ({ companyId, id }) => sending.withdrawal(companyId, id), Waits.ofWithdrawal, Waits.hostOf),
    deposits: (query) =>
      pageOf(
        query,
        Waits.depositKinds,
        ({ companyId, id }) => receiving.deposit(companyId, id),
        Waits.ofDeposit,
        () => null
      ),
    withdrawal: Effect.fnUntraced(function* (id) {
      const record = yield* get("withdrawal", id, sending.withdrawalById)
      const job = Option.getOrNull(yield* ledger.job(record.companyId, id))
      const kind = Waits.stepOf(record)
      const waits = kind === undefined ? null : Waits.of({ kind, job }, yield* Clock.currentTimeMillis, Waits.hostOf(record))
      return { record, waits, timeline: Waits.ofWithdrawal(record), answer: yield* answerOf(record) }
    }),
    deposit: Effect.fnUntraced(function* (id) {
      const record = yield* get("deposit", id, receiving.depositById)
      const kind = Waits.placeOf(record)
      const waits = kind === undefined ? null : Waits.of({ kind, job: null }, yield* Clock.currentTimeMillis)
      const answer = kind === undefined || record.chainTxId === null ? null : yield* placed(record.chainTxId)
      return { record, waits, timeline: Waits.ofDeposit(record), answer }
    })
  })
})

export const layer = Layer.effect(Backlog, make)
