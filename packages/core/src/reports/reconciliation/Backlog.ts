import type { TxId } from "@satrail/bitcoin/TxId"
import { Clock, Context, Effect, Layer, Option } from "effect"
import { found, type NotFound, type StoreUnavailable } from "../../ledger/Journal.ts"
import { Features } from "../../ledger/Features.ts"
import { LedgerReads } from "../../ledger/LedgerReads.ts"
import * as Page from "../../ledger/Page.ts"
import * as Waiting from "../../ledger/Waiting.ts"
import type { Invalid } from "../../base/Invalid.ts"
import { ChainSource } from "../../nodes/ChainSource.ts"
import type { Deposit } from "../../receiving/Deposit.ts"
import { ReceivingReads } from "../../receiving/ReceivingReads.ts"
import { SendingReads } from "../../sending/SendingReads.ts"
import * as NodePayments from "../../sending/NodePayments.ts"
import type { Withdrawal } from "../../sending/Withdrawal.ts"
import { ReportReads } from "../ReportReads.ts"
import { overdueMillis } from "./ReconciliationOptions.ts"
import * as WaitReason from "./WaitReason.ts"

/** Maximum number of records listed for each kind, next to their count. */
export const maxNamed = 10

/** Maximum time to wait for a response from the node or the chain. It is short because the operator is waiting. */
export const answerMillis = 2000

/** Number of records that wait for the same thing, and the oldest of them. */
export interface Kind extends Waiting.Waiting {
  readonly oldest: ReadonlyArray<WaitReason.BacklogItem>
}

export interface Followed<A> {
  readonly record: A
  /** The reason why the record is waiting; null if the record is final. */
  readonly waits: WaitReason.WaitReason | null
  readonly timeline: ReadonlyArray<WaitReason.TimelineEntry>
  /**
   * The status just reported by the node or the chain; null if it was not queried or had nothing to report.
   */
  readonly answer: string | null
}

/** Selects waiting records that are at least `olderThanMillis` old, oldest first. */
export interface Query {
  readonly limit: number
  readonly after: Page.Position | null
  readonly olderThanMillis: number
}

/** Waiting records of all companies, for the operator. Read-only. */
export class Backlog extends Context.Service<
  Backlog,
  {
    readonly all: Effect.Effect<{ readonly [kind in Waiting.Kind]: Kind }, StoreUnavailable>
    readonly withdrawals: (
      query: Query
    ) => Effect.Effect<Page.Page<Followed<Withdrawal> & Page.Position>, Invalid | StoreUnavailable>
    readonly deposits: (
      query: Query
    ) => Effect.Effect<Page.Page<Followed<Deposit> & Page.Position>, Invalid | StoreUnavailable>
    /** Returns a record of any company, final or not, with its status from the node or the chain. */
    readonly withdrawal: (id: string) => Effect.Effect<Followed<Withdrawal>, NotFound | StoreUnavailable>
    readonly deposit: (id: string) => Effect.Effect<Followed<Deposit>, NotFound | StoreUnavailable>
  }
>()("@satrail/core/reports/reconciliation/Backlog") {}

const positionOf = ({ id, sinceMillis }: Waiting.Item): Page.Position => ({
  id,
  createdAtMillis: sinceMillis
})

const none = { after: null, sinceBeforeMillis: Number.MAX_SAFE_INTEGER }

/** Queries the node and the chain for a record's current status. */
const answers = Effect.gen(function* () {
  const { lookup } = yield* NodePayments.make
  const chain = yield* ChainSource
  const sending = yield* SendingReads

  /** Returns the response, or null if it does not arrive in time. */
  const said = <A, E>(ask: Effect.Effect<A, E>, text: (answer: A) => string) =>
    ask.pipe(
      Effect.map(text),
      Effect.timeoutOption(answerMillis),
      Effect.map(Option.getOrElse(() => `no response within ${answerMillis / 1000} seconds`)),
      Effect.catch(() => Effect.succeed("no response"))
    )

  /** Looks up the transactions of one payment, oldest first. */
  const placed = (txIds: ReadonlyArray<TxId>) => {
    const found = Effect.forEach(txIds, (txId) =>
      Effect.map(chain.transaction(txId), (placement) => ({ txId, placement }))
    )
    return said(Effect.all([chain.tip, found]), ([tip, found]) => WaitReason.placed(tip, found))
  }

  const answerOf = Effect.fnUntraced(function* (
    row: Withdrawal
  ): Effect.fn.Return<string | null, StoreUnavailable> {
    const { status, rail, chainTxId, dispatchedAtMillis } = row
    if (status !== "pending" || dispatchedAtMillis === null) return null
    if (rail === "lightning") return yield* said(lookup(row), WaitReason.paid)
    if (chainTxId === null) return null
    const leader = Option.getOrElse(yield* sending.payoutOf(chainTxId), () => row)
    return yield* placed((yield* sending.candidates(leader.companyId, leader.id)).map(({ txId }) => txId))
  })

  return { answerOf, placed }
})

export const make = Effect.gen(function* () {
  const ledger = yield* LedgerReads
  const sending = yield* SendingReads
  const receiving = yield* ReceivingReads
  const { answerOf, placed } = yield* answers
  const reports = yield* ReportReads
  const features = yield* Features
  const kinds = Waiting.kinds(features)

  /** Returns a page of waiting records. Each record is read again to get its current state. */
  const pageOf = <A>(
    { limit, after, olderThanMillis }: Query,
    kinds: ReadonlyArray<Waiting.Kind>,
    read: (item: Waiting.Item) => Effect.Effect<Option.Option<A>, StoreUnavailable>,
    timeline: (record: A) => ReadonlyArray<WaitReason.TimelineEntry>,
    hostOf: (record: A) => string | null
  ) =>
    Effect.gen(function* () {
      const nowMillis = yield* Clock.currentTimeMillis
      const find = Effect.fnUntraced(function* (limit: number, from: Page.Position | null) {
        const items = yield* ledger.backlog({
          kinds,
          overdueBeforeMillis: 0,
          sinceBeforeMillis: nowMillis - olderThanMillis,
          after: from && { sinceMillis: from.createdAtMillis, id: from.id },
          perKind: limit,
          limit
        })
        const found = yield* Effect.forEach(
          items,
          (item) =>
            Effect.map(
              read(item),
              Option.map((record) => ({
                record,
                waits: WaitReason.of(item, nowMillis, features, hostOf(record)),
                timeline: timeline(record),
                answer: null,
                ...positionOf(item)
              }))
            ),
          { concurrency: "unbounded" }
        )
        const last = items.length < limit ? undefined : items.at(-1)
        return { rows: found.flatMap(Option.toArray), lookedTo: last === undefined ? null : positionOf(last) }
      })
      return yield* Page.pick(limit, (limit, from) => find(limit, from ?? after))
    })

  return Backlog.of({
    all: Effect.gen(function* () {
      const nowMillis = yield* Clock.currentTimeMillis
      const overdueBeforeMillis = nowMillis - overdueMillis
      const limit = maxNamed * kinds.length
      const counts = yield* ledger.waiting(overdueBeforeMillis)
      const items = yield* ledger.backlog({
        ...none,
        kinds,
        overdueBeforeMillis,
        perKind: maxNamed,
        limit
      })
      return Waiting.byKind(kinds, (kind) => ({
        ...counts[kind],
        oldest: items
          .filter((item) => item.kind === kind)
          .map((item) => ({ ...item, waits: WaitReason.of(item, nowMillis, features) }))
      }))
    }),
    withdrawals: (query) =>
      pageOf(
        query,
        WaitReason.withdrawalKinds,
        ({ companyId, id }) => sending.withdrawal(companyId, id),
        WaitReason.ofWithdrawal,
        WaitReason.hostOf
      ),
    deposits: (query) =>
      pageOf(
        query,
        WaitReason.depositKinds,
        ({ companyId, id }) => receiving.deposit(companyId, id),
        (record) => WaitReason.ofDeposit(record, []),
        () => null
      ),
    withdrawal: Effect.fnUntraced(function* (id) {
      const record = yield* found("withdrawal", id, sending.withdrawalById(id))
      const job = Option.getOrNull(yield* ledger.job(record.companyId, id))
      const kind = WaitReason.withdrawalKind(record, job)
      const waits =
        kind === undefined
          ? null
          : WaitReason.of({ kind, job }, yield* Clock.currentTimeMillis, features, WaitReason.hostOf(record))
      return { record, waits, timeline: WaitReason.ofWithdrawal(record), answer: yield* answerOf(record) }
    }),
    deposit: Effect.fnUntraced(function* (id) {
      const record = yield* found("deposit", id, receiving.depositById(id))
      const kind = WaitReason.depositKind(record)
      const waits =
        kind === undefined
          ? null
          : WaitReason.of({ kind, job: null }, yield* Clock.currentTimeMillis, features)
      const answer =
        kind === undefined || record.chainTxId === null ? null : yield* placed([record.chainTxId])
      const posted = yield* reports.postingsOf(record.companyId, record.ledgerTxId)
      return { record, waits, timeline: WaitReason.ofDeposit(record, posted), answer }
    })
  })
})

export const layer = Layer.effect(Backlog, make)
