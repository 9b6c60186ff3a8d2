import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import { type Ask, type Issued, LightningReceiver, NodeUnavailable, type Settled } from "@satrail/core/nodes/LightningReceiver"
import type { Network } from "@satrail/bitcoin/Network"
import { Deferred, Effect, Option, PubSub, Result, Schema, Stream } from "effect"
import { find, incoming, settledOf, Transaction } from "./NwcTransaction.ts"
import { type NwcWallet, refusal } from "./NwcWallet.ts"

/** How many invoices are remembered by their ids: the core asks for each id once. */
const maxIssued = 1_000
/** How often the wallet's list is read: it is told of most by notices, where the wallet has them. */
const [pollMillis, pollWithNoticesMillis] = [10_000, 60_000]
/** How many transactions an answer has, so that it fits through a relay, and how many such pages of the newest are read. */
const [pageSize, maxPages] = [20, 25]

const Made = Schema.Struct({ invoice: Schema.String, payment_hash: PaymentHash.PaymentHash })
const Listed = Schema.Struct({ transactions: Schema.Array(Transaction) })

/** What is wrong with an invoice that the wallet made; undefined where it is the one that was asked for. */
const issueOf = (invoice: Bolt11.Bolt11, network: Network, hash: string, { amount, description }: Ask): string | undefined => {
  if (invoice.network !== network) return `it is an invoice of ${invoice.network}`
  if (invoice.paymentHash !== hash) return "it is an invoice with another hash than the wallet says"
  if (invoice.amount !== (amount ?? undefined)) return `it is an invoice for ${invoice.amount ?? "any"} instead of ${amount} msat`
  if (description._tag === "Hash" && invoice.descriptionHash !== description.sha256)
    return "it is an invoice without the hash of its description"
  return undefined
}

/** A place in the order of settlements: a second, and what was reported of it, since more may settle within it. */
interface Place {
  readonly seconds: number
  readonly told: ReadonlyArray<string>
}

const shortOf = (paymentHash: PaymentHash.PaymentHash) => paymentHash.slice(0, 16)
const textOf = ({ seconds, told }: Place) => `${seconds}:${told.join(",")}`
const placeOf = (cursor: string | null): Place => {
  const [seconds = "", told = ""] = (cursor ?? "0:").split(":")
  return { seconds: Number(seconds), told: told.split(",") }
}

/** What comes after a place, in order, each with the place that comes right after it. */
const after = (place: Place, transactions: ReadonlyArray<Transaction>) => {
  const told: Array<Settled> = []
  let { seconds, told: known } = place
  const timed = transactions.flatMap((one) => {
    const settled = settledOf(one)
    return settled !== undefined && typeof one.settled_at === "number" ? [{ ...settled, at: one.settled_at }] : []
  })
  // The wallet has the newest first: of one second, what was made first comes first.
  for (const { at, ...settled } of timed.toReversed().toSorted((a, b) => a.at - b.at)) {
    const short = shortOf(settled.paymentHash)
    if (at < seconds || (at === seconds && known.includes(short))) continue
    known = at === seconds ? [...known, short] : [short]
    seconds = at
    told.push({ ...settled, settledAtMillis: at * 1000, cursor: textOf({ seconds, told: known }) })
  }
  return { told, place: { seconds, told: known } }
}

export interface Wants {
  readonly nodeId: string
  readonly network: Network
  /** Whether the wallet lists transactions, and tells of payments unasked. */
  readonly lists: boolean
  readonly notifies: boolean
}

/** Takes payments. */
export const make = Effect.fnUntraced(function* (wallet: NwcWallet, { nodeId, network, lists, notifies }: Wants) {
  const scope = yield* Effect.scope
  const { ask, notices } = wallet
  const issued = new Map<string, Deferred.Deferred<Issued, NodeUnavailable>>()

  const issue = Effect.fnUntraced(function* (asked: Ask): Effect.fn.Return<Issued, NodeUnavailable> {
    const { amount, description, expirySeconds } = asked
    if (amount === null) return yield* new NodeUnavailable({ operation: "make_invoice", cause: "a wallet wants an amount" })
    const about = description._tag === "Text" ? { description: description.text } : { description_hash: description.sha256 }
    const made = yield* Effect.catchTag(
      ask("make_invoice", { amount: Number(amount), expiry: expirySeconds, ...about }, Made),
      "Refused",
      refusal("make_invoice")
    )
    const { invoice, payment_hash: paymentHash } = made
    const decoded = Bolt11.decode(invoice)
    const issue = Result.isFailure(decoded) ? decoded.failure.message : issueOf(decoded.success, network, paymentHash, asked)
    if (issue !== undefined)
      return yield* new NodeUnavailable({ operation: "make_invoice", cause: `the wallet made another invoice: ${issue}` })
    return { paymentHash, paymentRequest: invoice }
  })

  const state = Effect.fnUntraced(function* (paymentHash: PaymentHash.PaymentHash) {
    const found = yield* find(wallet, paymentHash)
    return found === undefined ? ({ _tag: "unknown" } as const) : yield* incoming(found)
  })

  const page = (offset: number) =>
    Effect.map(
      Effect.catchTag(
        ask("list_transactions", { type: "incoming", limit: pageSize, offset }, Listed),
        "Refused",
        refusal("list_transactions")
      ),
      ({ transactions }) => transactions
    )

  /**
   * What settled after a place. The wallet's list goes by when an invoice was made: all of it is read the first time, as far as it is read at all, and then until a page
   * has nothing new. What is overlooked so, or by a wallet without a list, is found by looking open invoices up.
   */
  const news = Effect.fnUntraced(function* (place: Place, isFirst: boolean) {
    const all: Array<Transaction> = []
    for (let number = 0; number < maxPages; number++) {
      const found = yield* page(number * pageSize)
      all.push(...found)
      if (found.length === 0 || (!isFirst && after(place, found).told.length === 0)) break
    }
    return after(place, all)
  })

  /** What a notice is about, as the wallet has it when it is asked. */
  const noticed = Effect.fnUntraced(function* (place: Place, paymentHash: PaymentHash.PaymentHash) {
    const found = yield* find(wallet, paymentHash)
    return after(place, found === undefined ? [] : [found])
  })

  const follow = (from: Place) =>
    Stream.unwrap(
      Effect.map(PubSub.subscribe(notices), (heard) => {
        const received: Effect.Effect<PaymentHash.PaymentHash> = Effect.flatMap(PubSub.take(heard), ({ type, paymentHash }) =>
          type === "payment_received" ? Effect.succeed(paymentHash) : received
        )
        const wait = Effect.timeoutOption(received, notifies ? pollWithNoticesMillis : pollMillis)
        const step = Effect.fnUntraced(function* ({ place, isFirst }: { readonly place: Place; readonly isFirst: boolean }) {
          const notice = isFirst ? Option.none() : yield* wait
          const { told, place: next } = Option.isSome(notice)
            ? yield* noticed(place, notice.value)
            : lists
              ? yield* news(place, isFirst)
              : { told: [], place }
          return [told, Option.some({ place: next, isFirst: false })] as const
        })
        return Stream.paginate({ place: from, isFirst: true }, step)
      })
    )

  return LightningReceiver.of({
    nodeId,
    network,
    // It has no call that closes an invoice, and its document wants an amount; whose key its invoices are signed with is the wallet's affair.
    lacks: new Set(["cancel", "amountless", "own_key"]),
    /** The wallet would make another one each time: it is asked once for an id, whoever waits for it. */
    createInvoice: Effect.fnUntraced(function* (asked) {
      const before = issued.get(asked.id)
      if (before !== undefined) return yield* Deferred.await(before)
      for (const oldest of issued.keys()) if (issued.size >= maxIssued) issued.delete(oldest)
      const made = Deferred.makeUnsafe<Issued, NodeUnavailable>()
      issued.set(asked.id, made)
      const forget = Effect.sync(() => issued.delete(asked.id))
      yield* Effect.forkIn(
        Deferred.into(
          Effect.onError(issue(asked), () => forget),
          made
        ),
        scope
      )
      return yield* Deferred.await(made)
    }),
    lookupInvoice: state,
    cancelInvoice: (paymentHash) =>
      Effect.flatMap(state(paymentHash), ({ _tag }) =>
        _tag === "settled"
          ? Effect.succeed({ _tag } as const)
          : Effect.fail(new NodeUnavailable({ operation: "cancelInvoice", cause: "a wallet has no call that closes an invoice" }))
      ),
    settlements: (cursor) => follow(placeOf(cursor))
  })
})
