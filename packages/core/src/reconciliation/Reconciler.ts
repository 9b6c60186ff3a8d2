import * as Msat from "@satrail/bitcoin/Msat"
import { Clock, Context, Effect, Layer, Option } from "effect"
import { Entropy } from "../base/Entropy.ts"
import * as Id from "../base/Id.ts"
import * as Worker from "../base/Worker.ts"
import type { Fence } from "../ledger/Change.ts"
import * as Cursor from "../ledger/Cursor.ts"
import * as Duties from "../ledger/Duties.ts"
import { Journal, type StoreUnavailable } from "../ledger/Journal.ts"
import type { Published } from "../ledger/LedgerReads.ts"
import { LedgerReads } from "../ledger/LedgerReads.ts"
import { ChainBooks } from "../nodes/ChainBooks.ts"
import { ChainSource, type ChainUnavailable } from "../nodes/ChainSource.ts"
import * as Coin from "../nodes/Coin.ts"
import { LightningBooks, type Page } from "../nodes/LightningBooks.ts"
import { LightningReceiver, type NodeUnavailable } from "../nodes/LightningReceiver.ts"
import { LightningSender } from "../nodes/LightningSender.ts"
import { Policy } from "../policy/Policy.ts"
import type { Deposit } from "../receiving/Deposit.ts"
import { ReceivingReads } from "../receiving/ReceivingReads.ts"
import { SendingReads } from "../sending/SendingReads.ts"
import type { Withdrawal } from "../sending/Withdrawal.ts"
import * as Difference from "./Difference.ts"
import * as Look from "./Look.ts"
import * as Reconciliation from "./Reconciliation.ts"
import * as Side from "./Side.ts"

const pageSize = 500
const lookupsAtOnce = 8
const behindMillis = 1000

/** How many deposits that were given up one comparison looks at: the newest first, and then on to the oldest and around. */
const givenUpAtOnce = 50

/** Compares our books with the node's and the chain's. It tells what differs and repairs nothing. */
export class Reconciler extends Context.Service<
  Reconciler,
  {
    /**
     * Compares what has come since the last comparison, and what differed or had not ended then. The first one of a database begins here: what was before is
     * taken for right, and what is owned beyond the ledger for the operator's own. Another process that holds what is fenced keeps its own.
     */
    readonly look: (fence?: Fence) => Effect.Effect<Look.Look, NodeUnavailable | ChainUnavailable | StoreUnavailable>
  }
>()("@satrail/core/reconciliation/Reconciler") {}

type Found = Omit<Difference.Difference, "sinceMillis">

/** A line that was looked at, and what it came to. */
interface Looked {
  readonly line: Look.Watched
  readonly judgement: Difference.Judgement
}

/** A line of the node's books. */
type Theirs = Extract<Look.Watched, { readonly _tag: "Sent" | "Taken" }>

const isTheirs = (line: Look.Watched): line is Theirs => line._tag === "Sent" || line._tag === "Taken"

const aboutOf = (line: Look.Watched): string => ("paymentHash" in line ? line.paymentHash : line.id)

/** A payment that failed may be made again, as another line of the books: what counts is the last one. */
const newestOf = (lines: ReadonlyArray<Theirs>): ReadonlyArray<Theirs> =>
  Array.from(new Map(lines.map((line) => [`${line._tag} ${line.paymentHash}`, line])).values())

/** For the log: satoshis, to three decimals. */
const satsOf = (amount: Msat.Msat | null): number | null => (amount === null ? null : Number(amount) / 1000)

const sumOf = (amounts: Iterable<Msat.Msat>): Msat.Msat => Msat.sum(...amounts)

export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const ledger = yield* LedgerReads
  const receiving = yield* ReceivingReads
  const sending = yield* SendingReads
  const receiver = yield* LightningReceiver
  const sender = yield* LightningSender
  const lightning = yield* LightningBooks
  const chain = yield* ChainBooks
  const blocks = yield* ChainSource
  const entropy = yield* Entropy
  const policy = (yield* Policy).reconciliation
  const reading = <A, E>(effect: Effect.Effect<A, E, LedgerReads>) => Effect.provideService(effect, LedgerReads, ledger)

  const each = <A, B, E>(all: ReadonlyArray<A>, judge: (one: A) => Effect.Effect<B, E>) =>
    Effect.forEach(all, judge, { concurrency: lookupsAtOnce })

  /** Pages of the node's books, as long as there are any and there is room. */
  const pages = Effect.fnUntraced(function* <A, E>(
    page: (after: string | null) => Effect.Effect<Page<A>, E>,
    after: string | null,
    room: number
  ) {
    const lines: Array<A> = []
    let place = after
    while (lines.length < room || place === null) {
      const more: Page<A> = yield* page(place)
      lines.push(...more.lines)
      place = more.cursor
      if (more.lines.length === 0) return { lines, place, isBehind: false }
    }
    return { lines, place, isBehind: true }
  })

  const eventsAfter = Effect.fnUntraced(function* (after: bigint | undefined, room: number) {
    if (after === undefined) return { events: [], place: yield* ledger.lastEvent, isBehind: false }
    const events: Array<Published> = []
    let place = after
    while (events.length < room) {
      const page: ReadonlyArray<Published> = yield* ledger.events(place, pageSize)
      events.push(...page)
      place = page.at(-1)?.id ?? place
      if (page.length < pageSize) return { events, place, isBehind: false }
    }
    return { events, place, isBehind: true }
  })

  const underWay = Effect.gen(function* () {
    const all: Array<Withdrawal> = []
    let after: string | null = null
    do {
      const page: ReadonlyArray<Withdrawal> = yield* sending.withdrawalsUnderWay(after, pageSize)
      all.push(...page)
      after = page.length < pageSize ? null : (page.at(-1)?.id ?? null)
    } while (after !== null)
    return all
  })

  const receiptOf = Effect.fnUntraced(function* (paymentHash: string): Effect.fn.Return<Difference.Receipt, StoreUnavailable> {
    const invoice = Option.getOrUndefined(yield* receiving.invoiceByHash(paymentHash))
    if (invoice === undefined) return { invoice, deposit: undefined, isFromInside: false, unmatched: undefined }
    const [deposit, payer, unmatched] = yield* Effect.all(
      [
        receiving.depositOfInvoice(invoice.companyId, invoice.id),
        sending.withdrawalByHash(paymentHash),
        receiving.unmatched(invoice.companyId, Id.fromHash(paymentHash))
      ],
      { concurrency: "unbounded" }
    )
    return {
      invoice,
      deposit: Option.getOrUndefined(deposit),
      isFromInside: Option.exists(payer, ({ dispatchedAtMillis }) => dispatchedAtMillis === null),
      unmatched: Option.getOrUndefined(unmatched)
    }
  })

  /** A line of before, as the node has it now. What it does not say of it stays as it was. */
  const refreshed = Effect.fnUntraced(function* (line: Theirs): Effect.fn.Return<Theirs> {
    if (line._tag !== "Sent") return line
    const payment = yield* sender.lookupPayment(line.paymentHash)
    switch (payment._tag) {
      case "settled":
        return { ...line, state: "settled", fee: payment.fee }
      case "failed":
      case "pending":
        return { ...line, state: payment._tag }
      case "unknown":
      case "notFound":
        return line
    }
  })

  /** A line of ours or the node's. `told` are the payments that the node itself has told of in this comparison: it need not be asked about them again. */
  const judge = Effect.fnUntraced(function* (
    line: Look.Watched,
    told: ReadonlySet<string>
  ): Effect.fn.Return<Difference.Judgement, NodeUnavailable | StoreUnavailable> {
    switch (line._tag) {
      case "Sent":
        return Difference.ofSent(line, Option.getOrUndefined(yield* sending.withdrawalByHash(line.paymentHash)))
      case "Taken":
        return Difference.ofTaken(line, yield* receiptOf(line.paymentHash))
      case "Withdrawal": {
        const withdrawal = Option.getOrUndefined(yield* sending.withdrawal(line.companyId, line.id))
        const paymentHash = withdrawal?.paymentHash ?? null
        if (withdrawal?.status !== "settled" || withdrawal.dispatchedAtMillis === null || paymentHash === null) return "same"
        const unproven = Difference.unproven(withdrawal)
        if (unproven !== undefined || told.has(paymentHash)) return unproven ?? "same"
        return Difference.ofSettled(withdrawal, yield* sender.lookupPayment(paymentHash))
      }
      case "Invoice": {
        const invoice = Option.getOrUndefined(yield* receiving.invoice(line.companyId, line.id))
        if (invoice === undefined || told.has(invoice.paymentHash)) return "same"
        const deposit = Option.getOrUndefined(yield* receiving.depositOfInvoice(line.companyId, line.id))
        return Difference.ofCredited(invoice, deposit, yield* receiver.lookupInvoice(invoice.paymentHash))
      }
    }
  })

  const looked =
    (told: ReadonlySet<string>) =>
    (line: Look.Watched): Effect.Effect<Looked, NodeUnavailable | StoreUnavailable> =>
      Effect.map(judge(line, told), (judgement) => ({ line, judgement }))

  /** What events of ours say was settled with the node. */
  const claimsOf = (events: ReadonlyArray<Published>): ReadonlyArray<Look.Watched> =>
    events.flatMap(({ type, companyId, subject }): ReadonlyArray<Look.Watched> => {
      if (type === "withdrawal.settled") return [{ _tag: "Withdrawal", companyId, id: subject }]
      return type === "invoice.settled" ? [{ _tag: "Invoice", companyId, id: subject }] : []
    })

  /** What of the coins that are gone was not spent by payouts of ours meanwhile. */
  const goneCoins = Effect.fnUntraced(function* (gone: ReadonlyArray<{ readonly outpoint: string; readonly amount: Msat.Msat }>) {
    const ours = gone.length === 0 ? new Set<string>() : yield* sending.spentCoins(gone.map(({ outpoint }) => outpoint))
    return gone
      .filter(({ outpoint }) => !ours.has(outpoint))
      .map(({ outpoint, amount }): Found => ({
        cause: "coin_gone",
        about: outpoint,
        companyId: null,
        recordId: null,
        ours: amount,
        theirs: null
      }))
  })

  const knownDeposit = ({ companyId, recordId }: Found) =>
    companyId === null || recordId === null ? Effect.succeedNone : receiving.deposit(companyId, recordId)

  /** What was given up and is in a block all the same: the next ones, and those that were before. */
  const givenUp = Effect.fnUntraced(function* (before: Look.Look | undefined) {
    const next = yield* receiving.depositsGivenUp(before?.places.givenUp ?? null, givenUpAtOnce)
    const known = yield* each(before?.found.filter(({ cause }) => cause === "deposit_not_credited") ?? [], knownDeposit)
    const deposits = new Map([...next, ...known.flatMap(Option.toArray)].map((deposit) => [deposit.id, deposit]))
    const judged = yield* each([...deposits.values()], ({ id, companyId, status, amount, chainTxId, vout }: Deposit) =>
      chainTxId === null || vout === null || status !== "failed"
        ? Effect.succeed([])
        : Effect.map(blocks.transaction(chainTxId), ({ _tag }): ReadonlyArray<Found> =>
            _tag === "mined"
              ? [
                  {
                    cause: "deposit_not_credited",
                    about: Coin.outpoint(chainTxId, vout),
                    companyId,
                    recordId: id,
                    ours: null,
                    theirs: amount
                  }
                ]
              : []
          )
    )
    return { found: judged.flat(), place: next.length < givenUpAtOnce ? null : (next.at(-1)?.id ?? null) }
  })

  const balanceOf = (account: "node" | "chain", { own, ledger, owned, unexplained }: Side.Side): ReadonlyArray<Found> =>
    unexplained === 0n
      ? []
      : [
          {
            cause: account === "node" ? "node_balance" : "chain_balance",
            about: account,
            companyId: null,
            recordId: null,
            ours: Msat.sum(own ?? Msat.zero, ledger),
            theirs: owned
          }
        ]

  /** Who looks after what differs hears of it once, when it has stood for long enough. */
  const tell = Effect.fnUntraced(function* (look: Look.Look, before: Look.Look | undefined) {
    const known = new Set(
      before === undefined ? [] : Look.differences(before, policy.graceMillis).map(({ cause, about }) => `${cause} ${about}`)
    )
    for (const { cause, about, companyId, recordId, ours, theirs } of Look.differences(look, policy.graceMillis)) {
      if (known.has(`${cause} ${about}`)) continue
      yield* Effect.logError("our books differ from the world's: a person has to look", {
        cause,
        about,
        companyId,
        recordId,
        ours: String(ours),
        theirs: String(theirs)
      })
    }
  })

  return Reconciler.of({
    look: Effect.fnUntraced(function* (fence) {
      const nowMillis = yield* Clock.currentTimeMillis
      const before = Option.getOrUndefined(yield* reading(Look.last))
      const own = yield* reading(Reconciliation.ownFunds)
      const room = Math.min(policy.lines, Math.max(0, policy.watched - (before?.watched.length ?? 0)))

      // The order matters: whatever moves between the two counts of ours is known by their difference.
      const first = yield* ledger.tally(before?.tally ?? null)
      const [owned, holdings] = [yield* lightning.owned, yield* chain.holdings]
      const sent = yield* pages(lightning.sent, before?.places.sent ?? null, room)
      const taken = yield* pages(lightning.taken, before?.places.taken ?? null, room)
      const { events, place, isBehind: isBehindEvents } = yield* eventsAfter(before?.places.event, room)

      const known = before?.watched ?? []
      const theirLines = newestOf([
        ...(yield* each(known.filter(isTheirs), refreshed)),
        ...sent.lines.map((line) => ({ _tag: "Sent" as const, ...line })),
        ...taken.lines.map((line) => ({ _tag: "Taken" as const, ...line }))
      ])
      const theirs = yield* each(theirLines, looked(new Set()))
      const told = new Set(theirLines.map(({ paymentHash }) => paymentHash))
      const ours = yield* each([...known.filter((line) => !isTheirs(line)), ...claimsOf(events)], looked(told))
      const lines = [...theirs, ...ours].filter(({ judgement }) => judgement !== "same")

      const inFlight = new Set(lines.flatMap(({ line }) => (line._tag === "Sent" && line.state === "pending" ? [line.paymentHash] : [])))
      const pending = yield* underWay
      const { deposit_without_block, deposit_unconfirmed } = yield* ledger.waiting(0)
      const second = yield* ledger.tally(first)

      const turnovers = { before: first.accounts, after: second.accounts }
      const isBehind = sent.isBehind || taken.isBehind || isBehindEvents
      const uncredited = lines.flatMap(({ judgement }) =>
        typeof judgement === "object" && judgement.cause === "receipt_not_credited" ? [judgement.theirs ?? Msat.zero] : []
      )
      const whole = Side.of({
        ...turnovers,
        account: "node",
        owned: owned.amount,
        within: owned.within,
        own: own.node,
        // What the node still has on its way it counts as its own.
        mayLeave: sumOf(
          pending
            .filter(({ rail, paymentHash }) => rail === "lightning" && !inFlight.has(paymentHash ?? ""))
            .map(({ amount, networkAllowance }) => Msat.sum(amount, networkAllowance))
        ),
        mayArrive: sumOf(uncredited)
      })
      // What was not read yet may explain anything.
      const node = isBehind ? { ...whole, own: own.node, unexplained: Msat.zero } : whole
      const wallet = Side.of({
        ...turnovers,
        account: "chain",
        owned: holdings.owned,
        within: Msat.zero,
        own: own.chain,
        mayLeave: sumOf(
          pending
            .filter(({ rail }) => rail === "on_chain")
            .map(({ amount, networkAllowance, networkFee }) =>
              Msat.sum(amount, networkFee !== null && networkFee > networkAllowance ? networkFee : networkAllowance)
            )
        ),
        mayArrive: Msat.sum(deposit_without_block.amount, deposit_unconfirmed.amount)
      })
      if (node.own !== own.node || wallet.own !== own.chain) {
        yield* Effect.logInfo("reconciliation: opening difference booked as operator equity", {
          node_sats: satsOf(node.own),
          chain_sats: satsOf(wallet.own)
        })
        yield* journal
          .commit(
            Cursor.moved(Reconciliation.stated({ node: node.own, chain: wallet.own }), Id.fromMillis(nowMillis, entropy), nowMillis, fence)
          )
          .pipe(Effect.catchTag("StaleFence", () => Effect.void))
      }

      const sinceOf = new Map(before?.found.map(({ cause, about, sinceMillis }) => [`${cause} ${about}`, sinceMillis]))
      const dated = (one: Found): Difference.Difference => ({ ...one, sinceMillis: sinceOf.get(`${one.cause} ${one.about}`) ?? nowMillis })
      const isRecent = ({ sinceMillis }: Difference.Difference) => nowMillis - sinceMillis < policy.forgetMillis
      const watched = lines.flatMap(
        ({ line, judgement }): ReadonlyArray<{ readonly line: Look.Watched; readonly found?: Difference.Difference }> => {
          if (typeof judgement === "string") return [{ line }]
          const found = dated({ ...judgement, about: aboutOf(line) })
          return isRecent(found) ? [{ line, found }] : []
        }
      )
      const uncreditedDeposits = yield* givenUp(before)
      const look: Look.Look = {
        atMillis: nowMillis,
        node,
        chain: wallet,
        tally: second,
        found: [
          ...watched.flatMap(({ found }) => found ?? []),
          ...[
            ...(yield* goneCoins(holdings.gone)),
            ...uncreditedDeposits.found,
            ...balanceOf("node", node),
            ...balanceOf("chain", wallet)
          ].map(dated)
        ],
        isBehind,
        watched: watched.map(({ line }) => line),
        places: { sent: sent.place, taken: taken.place, event: place, givenUp: uncreditedDeposits.place }
      }
      yield* tell(look, before)
      yield* journal
        .commit(Cursor.moved(Look.kept(look), Id.fromMillis(nowMillis, entropy), nowMillis, fence))
        .pipe(Effect.catchTag("StaleFence", () => Effect.void))
      return look
    })
  })
})

export const layer = Layer.effect(Reconciler, make)

/** Compares for as long as the scope is open, in one process at a time. A comparison can be broken off anywhere: only its end is written down. */
export const layerWorker = Layer.effectDiscard(
  Effect.gen(function* () {
    const { look } = yield* Reconciler
    const { everyMillis } = (yield* Policy).reconciliation
    yield* Duties.run("reconciliation", (fence) => {
      let isBehind = false
      const step = Effect.map(look(fence), (found) => {
        isBehind = found.isBehind
      }).pipe(
        Effect.catchTags({
          NodeUnavailable: (outage) => Effect.logWarning("the node's books cannot be read; nothing is compared", outage),
          ChainUnavailable: (outage) => Effect.logWarning("the chain cannot be read; nothing is compared", outage)
        })
      )
      return Worker.runOpen(
        "reconciliation",
        step,
        Effect.suspend(() => Effect.sleep(isBehind ? Math.min(behindMillis, everyMillis) : everyMillis))
      )
    })
  })
).pipe(Layer.provide(layer))
