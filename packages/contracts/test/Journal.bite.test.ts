import { assert, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as TxId from "@satrail/bitcoin/TxId"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import type { Change } from "@satrail/core/service/Changes"
import type { Refusal } from "@satrail/core/service/Changes"
import * as Balance from "@satrail/core/ledger/Balance"
import type { Leg } from "@satrail/core/ledger/Change"
import type * as Noun from "@satrail/core/ledger/Noun"
import * as Written from "@satrail/core/ledger/Written"
import * as Answer from "@satrail/core/ledger/Answer"
import * as Cursor from "@satrail/core/ledger/Cursor"
import * as Limit from "@satrail/core/ledger/Limit"
import { applied } from "@satrail/core/ledger/Journal"
import { InvoiceNotPayable } from "@satrail/core/receiving/Invoice"
import * as Deposit from "@satrail/core/receiving/Deposit"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { Effect, Option } from "effect"
import { money, other, promises, type suite } from "../src/Journal.ts"
import * as Nouns from "../src/Nouns.ts"
import { bites, type Commit, sabotage } from "./bite.ts"

/** One that commits something else than it was given. */
const changing = (change: (change: Change) => Change) => sabotage({ commit: (commit) => (given) => commit(change(given)) })

/** One that takes no notice of a refusal, at least of some kinds of Change. */
const deaf = (refusal: Refusal["_tag"], ...kinds: ReadonlyArray<Change["_tag"]>) =>
  sabotage({
    commit: (commit) => (change) =>
      commit(change).pipe(
        Effect.catch((error) =>
          error._tag === refusal && (kinds.length === 0 || kinds.includes(change._tag)) ? Effect.succeed(applied) : Effect.fail(error)
        )
      )
  })

/** Books for itself, beside any rule. */
const book = Effect.fnUntraced(function* (commit: Commit, legs: ReadonlyArray<Leg>) {
  return yield* commit({ ...Answer.forgotten(yield* Id.make, 0), legs })
})

const credit = (companyId: CompanyId.CompanyId, amount: Msat.Msat): Written.Giving => ({
  companyId,
  postings: [{ from: "node", to: "available", amount }]
})

const onlyNode = (leg: Leg): Leg => ({
  ...leg,
  postings: leg.postings.map((posting) => (posting.from === "loss" ? { ...posting, from: "network_fees" } : posting))
})

/** Changes whose first write is another. */
const writing = (other: (first: Noun.Insert | Noun.Transition) => Noun.Insert | Noun.Transition) =>
  sabotage({
    commit: (commit) => (change) => {
      if (!Written.is(change)) return commit(change)
      const [first, ...later] = change.writes
      const spoiled: Change & Written.Any = Object.assign({}, change, { writes: first === undefined ? [] : [other(first), ...later] })
      return commit(spoiled)
    }
  })

const moving = (spoil: (move: Noun.Move) => Noun.Move) =>
  writing((first) => (first._tag === "Transition" ? { ...first, move: spoil(first.move) } : first))

const inserting = (spoil: (noun: Noun.Noun) => Noun.Noun) =>
  writing((first) => (first._tag === "Insert" ? { ...first, noun: spoil(first.noun) } : first))

/** Whose a record is, by its id. */
const known = new Map<string, CompanyId.CompanyId>()

// What follows from the declarations of nouns notices a store that does not go by them.
bites<string>("Journal", Nouns.money, {
  "one that moves a record from wherever it is": [
    moving((move) => ({ ...move, from: [], empty: [], expects: [] })),
    [
      "vouchers: claimed after any other move is what its declaration says, and changes nothing where it is refused",
      "invoices: settled and any other move at once: one of them wins",
      "deposits: placed after any other move is what its declaration says, and changes nothing where it is refused"
    ]
  ],
  "one that reads what is another company's": [
    sabotage({
      records: ({ get }) => ({
        get: (noun, companyId, id) =>
          Effect.flatMap(get(noun, companyId, id), (own) =>
            Option.isSome(own) ? Effect.succeed(own) : get(noun, known.get(id) ?? companyId, id)
          )
      }),
      commit: (commit) => (change) => {
        known.set(change.id, change.companyId)
        return commit(change)
      }
    }),
    ["vouchers: read by its id, by each of its names and in the list of its company, and by no other company"]
  ],
  "one whose lists begin with the oldest": [
    sabotage({
      records: ({ newestFirst }) => ({
        newestFirst: (noun, companyId, before, limit) =>
          Effect.map(newestFirst(noun, companyId, before, limit), (page) => page.toReversed())
      })
    }),
    ["invoices: read by its id, by each of its names and in the list of its company, and by no other company"]
  ],
  "one that knows no move when it comes again": [
    moving((move) => ({ ...move, again: { in: ["nowhere"], same: [] } })),
    [
      "withdrawals: failed again is applied once, eight times at once too",
      "invoices: claimed again is applied once, eight times at once too"
    ]
  ],
  "one that leaves out a part of a move": [
    moving((move) => ({ ...move, stamps: [] })),
    [
      "vouchers: canceled again is applied once, eight times at once too",
      "lightning_addresses: changed after any other move is what its declaration says, and changes nothing where it is refused"
    ]
  ],
  "one that goes by the status, and not by what a move expects": [
    moving((move) => ({ ...move, expects: [] })),
    ["deposits: confirmed once more after reversed changes nothing"]
  ],
  "one that takes any fence for a move": [
    sabotage({
      commit: (commit) => (change) => {
        if (!("fence" in change)) return commit(change)
        const { fence: _, ...rest } = change
        return commit(rest)
      }
    }),
    [
      "withdrawals: failed by a worker that lost its task changes nothing",
      "invoices: claimed by a worker that lost its task changes nothing"
    ]
  ],
  "one that lets two records have one name": [
    inserting((noun) => ({ ...noun, unique: [] })),
    [
      "invoices: created with a name that another has it is refused, and of eight at once one gets it",
      "lightning_addresses: created with a name that another has it is refused, and of eight at once one gets it"
    ]
  ],
  "one that takes another record under an id for the one that is there": [
    inserting((noun) => ({ ...noun, moving: new Set(noun.members.map(([member]) => member)) })),
    [
      "vouchers: created with any other content under its id it is refused",
      "on_chain_addresses: created with any other content under its id it is refused"
    ]
  ]
})

bites("Journal", promises, {
  "one that forgets keys": [
    changing(({ once: _, ...change }) => change),
    [
      "a key used again gets the first answer and holds once",
      "a key used again with another body is refused",
      "one key eight times at once: one takes effect, all get its answer",
      "C23: the key is looked at first: spent money and ended withdrawals do not change the answer"
    ]
  ],
  "one that keeps what is forgotten": [
    sabotage({ commit: (commit) => (change) => (change._tag === "InvoiceForgotten" ? Effect.succeed(applied) : commit(change)) }),
    ["an unpaid invoice is forgotten, once, and nothing of it is there any more; its hash may be another's"]
  ],
  "one that says it forgot what was paid": [
    deaf("InvoiceNotPayable", "InvoiceForgotten"),
    ["an invoice that is claimed or settled is not forgotten"]
  ],
  "one that mixes up whose a key is": [
    changing((change) => (change.once === undefined ? change : { ...change, once: { ...change.once, owner: CompanyId.operator } })),
    ["two companies may use the same key"]
  ],
  "one that answers any body": [
    sabotage({
      commit: (commit) => (change) =>
        Effect.catchTag(commit(change), "IdempotencyMismatch", () => Effect.succeed({ _tag: "Replayed" as const, answer: "" }))
    }),
    ["a key used again with another body is refused", "one key with two bodies at once: one takes effect, the other is refused"]
  ],
  "one that forgets every key in time": [
    changing((change) => (change.once === undefined ? change : { ...change, once: { ...change.once, forgetAtMillis: 1 } })),
    ["a withdrawal's key is never forgotten", "an answer is kept until its time is over and it is cleared away"]
  ],
  "one that keeps the key of what it refused": [
    sabotage({
      commit: (commit) => (change) =>
        Effect.tapError(commit(change), () => {
          const { once } = change
          return once === undefined ? Effect.void : Effect.ignore(commit({ ...Answer.forgotten(Id.nil, 0), once }))
        })
    }),
    ["a refused request leaves its key free"]
  ],
  "one that forgets what is to be shown": [
    changing((change) =>
      change._tag === "WithdrawalDispatched" && change.attempt._tag === "Lightning"
        ? { ...change, attempt: { ...change.attempt, successAction: null } }
        : change
    ),
    [
      "C9: the attempt is stored before any node is called",
      "C19: one withdrawal has one attempt: the same again is applied, another is refused"
    ]
  ],
  "one that says yes to everything": [
    deaf("InsufficientBalance"),
    [
      "a withdrawal that does not fit is refused and changes nothing",
      "C12: 64 callers with 512 requests for money that covers 99: exactly 99 are held",
      "C45: the spent part of a reversed deposit is the operator's loss until the payment returns"
    ]
  ],
  "one that checks the balance first and holds afterwards": [
    sabotage({
      commit: (commit, records) =>
        Effect.fnUntraced(function* (change) {
          if (change._tag !== "WithdrawalRequested") return yield* commit(change)
          const needed = Balance.need(change.legs.flatMap(({ postings }) => postings))
          const enough = Balance.available(yield* records.balance(change.companyId)) >= needed
          yield* Effect.yieldNow
          if (!enough) return yield* commit(change)
          return yield* Effect.catchTag(commit(change), "InsufficientBalance", () =>
            Effect.andThen(book(commit, [credit(change.companyId, needed)]), commit(change))
          )
        })
    }),
    ["C12: 200 requests at once for all there is: exactly one is held"]
  ],
  "one that freezes nobody": [
    deaf("CompanyFrozen"),
    ["freeze: withdrawals, vouchers and their claims are refused until it ends; what was on its way ends as it must"]
  ],
  "one that goes by fees as they were": [
    deaf("FeesMoved"),
    [
      "fees: what was counted by others than the company's is refused, and what is counted by its own is applied",
      "fees: those of one company refuse nothing of another's, and what says none is not asked"
    ]
  ],
  "one that claims vouchers of whoever is frozen": [
    changing((change) => {
      if (change._tag !== "VoucherClaimed") return change
      const { unlessFrozen: _, ...rest } = change
      return rest
    }),
    ["freeze: withdrawals, vouchers and their claims are refused until it ends; what was on its way ends as it must"]
  ],
  "one that knows no limits": [
    deaf("LimitExceeded"),
    [
      "limits: what fits to the last sat is granted, one sat more is refused and changes nothing",
      "limits: so many a day, whatever they come to"
    ]
  ],
  "one that gives no room back": [
    sabotage({
      commit: (commit) => (change) => {
        if (change._tag !== "WithdrawalFailed" && change._tag !== "VoucherCanceled") return commit(change)
        const { counts: _, ...rest } = change
        return commit(rest)
      }
    }),
    [
      "limits: a withdrawal that failed gives its room back, once",
      "limits: a voucher gives its room back when it is canceled or expires, and by the withdrawal that it became"
    ]
  ],
  "one that counts in a bucket of its own making": [
    changing((change) =>
      change.counts === undefined
        ? change
        : { ...change, counts: change.counts.map((one) => ({ ...one, atMillis: one.atMillis - 3_600_000 })) }
    ),
    ["limits: a window slides: what left it is free, and not a millisecond before"]
  ],
  "one that looks at what is left first and counts afterwards": [
    sabotage({
      commit: (commit, records) =>
        Effect.fnUntraced(function* (change) {
          const [first] = change.counts ?? []
          if (change._tag !== "WithdrawalRequested" || first === undefined) return yield* commit(change)
          const needed = Balance.need(change.legs.flatMap(({ postings }) => postings))
          const limit = Limit.over(yield* records.spent(change.companyId, first.subject), first, needed)
          yield* Effect.yieldNow
          const { counts: _, ...rest } = change
          return yield* limit === undefined ? commit(rest) : commit(change)
        })
    }),
    ["C12: limits: of 64 withdrawals at once as many are applied as there is room for"]
  ],
  "one that takes any content for the same": [
    deaf("Conflict"),
    [
      "the same id with other content is refused",
      "C19: one withdrawal has one attempt: the same again is applied, another is refused",
      "C20 C54: a settled withdrawal stays settled",
      "an invoice is created once; another under its id is refused",
      "an on-chain address is given to one company, once",
      "C32: one payment hash is one invoice's"
    ]
  ],
  "one that gives the same keys to everybody": [
    deaf("KeyRangeTaken"),
    ["keys are reserved from where the last range ended, and once", "keys reserved by eight processes at once are one process's"]
  ],
  "one that lets two payouts have one coin": [
    changing((change) =>
      change._tag === "WithdrawalDispatched" && change.attempt._tag === "Chain"
        ? { ...change, attempt: { ...change.attempt, coins: [] } }
        : change
    ),
    [
      "C19: no two payouts spend the same coin",
      "C19: what another payout spends the change of is not replaced",
      "a credited deposit is a coin, with the place of its key, until a payout spends it"
    ]
  ],
  "one that leaves the change of what was replaced to others": [
    changing((change) => (change._tag === "WithdrawalReplaced" ? { ...change, replaces: { ...change.replaces, change: null } } : change)),
    ["C19: what another payout spends the change of is not replaced"]
  ],
  "one that takes the newest candidate for the one that was mined": [
    sabotage({
      commit: (commit, records) =>
        Effect.fnUntraced(function* (change) {
          if (change._tag !== "WithdrawalSettled" || change.settlement.chainTxId === null) return yield* commit(change)
          const newest = (yield* records.candidates(change.companyId, change.id)).at(-1)?.txId ?? null
          return yield* commit({ ...change, settlement: { ...change.settlement, chainTxId: newest } })
        })
    }),
    ["C19: change of a replaced transaction is not spent until it is known which of them is mined"]
  ],
  "one that spends change two payouts away from a block": [
    changing((change) =>
      change._tag === "WithdrawalDispatched" && change.attempt._tag === "Chain"
        ? { ...change, attempt: { ...change.attempt, isDeep: false } }
        : change
    ),
    ["change is a coin at once, and a confirmed one when its payout is mined; of a deep payout only then"]
  ],
  "one that sends the first alone": [
    changing((change) => (change._tag === "WithdrawalDispatched" ? { ...change, followers: [] } : change)),
    [
      "C19: several are paid by one transaction, which is on record for all of them, each with its share",
      "C19: the same transaction for others, and another one for one of them, are refused",
      "C10: a stale claim on one of them refuses all, and says whose",
      "C10: a batch member is the work of the leader's job, and of no other",
      "C10: two transactions that would pay one withdrawal at once: one of them, whole",
      "C24: every company's event has its own withdrawals, of any number at once"
    ]
  ],
  "one that leaves the whole fee to the first": [
    changing((change) =>
      change._tag === "WithdrawalDispatched"
        ? { ...change, followers: change.followers.map((one) => ({ ...one, networkFee: Msat.zero })) }
        : change._tag === "WithdrawalReplaced"
          ? { ...change, followers: change.followers.map((one) => ({ ...one, networkFee: Msat.zero })) }
          : change
    ),
    [
      "C19: several are paid by one transaction, which is on record for all of them, each with its share",
      "C19: a replacement is for the whole batch; for other members it is refused"
    ]
  ],
  "one that takes no notice of whose they are": [
    deaf("StaleFence", "WithdrawalDispatched"),
    [
      "C10: a stale claim on one of them refuses all, and says whose",
      "C10: two transactions that would pay one withdrawal at once: one of them, whole"
    ]
  ],
  "one that sends without its coins": [deaf("CoinTaken", "WithdrawalDispatched"), ["C19: a coin that is taken refuses all"]],
  "one that knows nobody who follows": [
    sabotage({ records: () => ({ followers: () => Effect.succeed([]) }) }),
    [
      "C19: several are paid by one transaction, which is on record for all of them, each with its share",
      "C10: two transactions that would pay one withdrawal at once: one of them, whole"
    ]
  ],
  "one that settles all with the one that leads": [
    changing((change) =>
      change._tag === "WithdrawalSettled" && change.fence !== undefined ? { ...change, id: change.fence.taskId } : change
    ),
    ["each is settled by itself, once, for its share; its change is a coin like any other when the one that leads is"]
  ],
  "one that replaces what is paid already": [
    deaf("AlreadyTerminal", "WithdrawalReplaced"),
    ["C19: what is settled in part is not replaced"]
  ],
  "one that replaces whatever it is given": [
    deaf("Conflict", "WithdrawalReplaced"),
    ["C19: a replacement is for the whole batch; for other members it is refused"]
  ],
  "one that lets go of payouts when they settle": [
    sabotage({ records: () => ({ settledPayouts: () => Effect.succeed([]) }) }),
    ["a payout that settled is looked after until it is buried"]
  ],
  "one that looks at pending deposits only after a reorganisation": [
    sabotage({
      records: ({ depositsAbove }) => ({
        depositsAbove: (height, after, limit) =>
          Effect.map(depositsAbove(height, after, limit), (rows) => rows.filter(({ status }) => status === "pending"))
      })
    }),
    ["C45: deposits that a reorganisation may have moved are found by their height, and those in no block by having none"]
  ],
  "one that forgets what else waits for its confirmations": [
    sabotage({ records: () => ({ depositsUnconfirmed: () => Effect.succeed({ ofCompany: new Map(), inBlock: new Map() }) }) }),
    ["C46: what waits for its confirmations is summed by company and by block, above a height"]
  ],
  "one that lets go of deposits when they are given up": [
    sabotage({ records: () => ({ depositsGivenUp: () => Effect.succeed([]) }) }),
    ["C45: evicted deposits are found, the newest first, without those that were too small or returned"]
  ],
  "one that credits what was asked": [
    sabotage({
      commit: (commit, records) =>
        Effect.fnUntraced(function* (change) {
          if (change._tag !== "InvoiceSettled") return yield* commit(change)
          const { amount } = Option.getOrThrow(yield* records.invoice(change.companyId, change.id))
          return yield* commit({ ...change, legs: [credit(change.companyId, amount ?? Msat.fromSats(1))] })
        })
    }),
    ["C33: the received amount is credited, whatever the invoice's"]
  ],
  "one that credits every notice": [
    sabotage({
      commit: (commit, records) =>
        Effect.fnUntraced(function* (change) {
          if (change._tag !== "InvoiceSettled") return yield* commit(change)
          const settled = Option.exists(yield* records.invoice(change.companyId, change.id), ({ status }) => status === "settled")
          return yield* settled ? book(commit, change.legs) : commit(change)
        })
    }),
    ["an invoice is credited once", "a second payment of an invoice is refused", "C15: paid from inside and outside at once: credited once"]
  ],
  "one that takes no late payment": [
    sabotage({
      commit: (commit, records) =>
        Effect.fnUntraced(function* (change) {
          const invoice = change._tag === "InvoiceSettled" ? yield* records.invoice(change.companyId, change.id) : Option.none()
          if (Option.exists(invoice, ({ status }) => status === "expired")) {
            return yield* new InvoiceNotPayable({ invoiceId: change.id, status: "expired" })
          }
          return yield* commit(change)
        })
    }),
    ["an expired invoice that is paid after all is credited"]
  ],
  "one that lets anybody claim": [
    deaf("InvoiceNotPayable", "InvoiceClaimed"),
    [
      "C15: a claimed invoice is one withdrawal's",
      "C15: eight withdrawals that claim one invoice at once: one has it",
      "C15: a settled or expired invoice is not claimed"
    ]
  ],
  "one that credits the payee before it asks whether the invoice is still open": [
    sabotage({
      commit: (commit) =>
        Effect.fnUntraced(function* (change) {
          if (change._tag !== "InternalTransferred") return yield* commit(change)
          const [from, ...to] = change.legs
          yield* book(commit, to)
          return yield* commit({ ...change, legs: from === undefined ? [] : [from] })
        })
    }),
    [
      "C17: an invoice that the withdrawal has not claimed: neither company's money moves",
      "C17: a withdrawal that ended: neither company's money moves",
      "C17: the same transfer again, also at once, moves the money once",
      "C15: a claimed invoice that is paid from outside is credited, and its transfer is refused"
    ]
  ],
  "one that books one side of a transfer": [
    changing((change) => (change._tag === "InternalTransferred" ? { ...change, legs: change.legs.slice(0, 1) } : change)),
    [
      "C17: from one company to another: the one has less, the other more, and the operator its fee",
      "C31: a company that pays itself has what it had, less the fee",
      "two companies that pay each other many times at once come out exact"
    ]
  ],
  "one that ends what has ended": [
    sabotage({
      commit: (commit) => (change) => Effect.catchTag(commit(change), "AlreadyTerminal", () => book(commit, change.legs))
    }),
    [
      "C20 C54: a settled withdrawal stays settled",
      "C20: a failed withdrawal stays failed, for its first reason",
      "C20: settled and failed at once: one of them, whole",
      "C17: transferred and failed at once: both companies agree"
    ]
  ],
  "one that gives back as often as it is told": [
    sabotage({
      commit: (commit, records) =>
        Effect.fnUntraced(function* (change) {
          if (change._tag !== "WithdrawalFailed") return yield* commit(change)
          const failed = Option.exists(yield* records.withdrawal(change.companyId, change.id), ({ status }) => status === "failed")
          return yield* failed ? book(commit, change.legs) : commit(change)
        })
    }),
    ["C21: failed by eight workers at once: everything is back, once"]
  ],
  "one that does not know who holds a task": [
    changing(({ fence: _, ...change }) => change),
    ["C19: a worker that lost its job changes nothing any more"]
  ],
  "one that lets two withdrawals pay one hash": [
    deaf("PaymentHashTaken"),
    [
      "C14: a payment hash is one withdrawal's for ever, however that one ends",
      "C14: eight withdrawals that would pay one hash at once: one may"
    ]
  ],
  "one that lets two payouts spend one coin": [
    deaf("CoinTaken"),
    ["C19: no two payouts spend the same coin", "C19: eight payouts that would spend one coin at once: one may"]
  ],
  "one that lets the company pay what a node overspent": [
    changing((change) => (change._tag === "WithdrawalSettled" ? { ...change, legs: change.legs.map(onlyNode) } : change)),
    ["C25: what a node spent above its limit is the operator's loss, never the company's"]
  ],
  "one that forgets how far it has read": [
    changing((change) => {
      if (change._tag === "CursorMoved" || change._tag === "AuditHeadPublished") return change
      const { cursor: _, ...rest } = change
      return rest
    }),
    ["C60: how far the node was read moves with the credit"]
  ],
  "one that knows a deposit by its id alone": [
    sabotage({
      commit: (commit) => (change) =>
        Effect.catchTag(commit(change), "DepositMoved", (moved) => {
          if (change._tag !== "DepositSeen") return Effect.fail(moved)
          const { record } = change.writes[0]
          return commit(Deposit.seen({ ...record, chainTxId: TxId.make(record.id.replaceAll("-", "").repeat(2)) }))
        })
    }),
    [
      "C42: an output is credited once, under whatever ids it is recorded",
      "C42: an output recorded by eight workers at once is one deposit"
    ]
  ],
  "one that knows a deposit by its transaction alone": [
    changing((change) => (change._tag === "DepositSeen" ? Deposit.seen({ ...change.writes[0].record, vout: 0 }) : change)),
    ["C43: every output of a transaction is credited"]
  ],
  "one that confirms whatever came before": [
    sabotage({
      commit: (commit) => (change) =>
        Effect.catchTag(commit(change), "DepositMoved", (moved) =>
          change._tag === "DepositConfirmed" ? book(commit, change.legs) : Effect.fail(moved)
        )
    }),
    ["confirmed by eight workers at once: credited once", "C45: a move from where the deposit is no more is refused"]
  ],
  "one that gives a name away twice": [
    deaf("HandleTaken"),
    ["a Lightning address is one company's for ever", "one handle requested by eight companies at once: one gets it"]
  ],
  "one that gives away what was deleted, and changes it": [
    deaf("LightningAddressGone"),
    ["a deleted Lightning address stays deleted, and is never given out again"]
  ],
  "one that keeps a message that was taken back": [
    changing((change) =>
      change._tag === "LightningAddressChanged" && Reflect.get(change.writes[0].set, "successMessage") === null
        ? { ...change, writes: [{ ...change.writes[0], set: { ...change.writes[0].set, successMessage: "" } }] }
        : change
    ),
    ["a Lightning address is as its owner set it last, all of it"]
  ],
  "one that pays a voucher as often as it is claimed": [
    sabotage({
      commit: (commit) => (change) =>
        change._tag === "VoucherClaimed"
          ? Effect.catchTag(commit(change), "VoucherNotOpen", () => commit(Withdrawal.requested(change.writes[1].record)))
          : commit(change)
    }),
    [
      "C18: fifty claims at once: one is applied, and one withdrawal is there",
      "a failed withdrawal of a voucher gives the money back, and the voucher stays claimed",
      "C21: a voucher that expires gives everything back, once, and cannot be claimed",
      "a voucher that is canceled gives everything back, once, and cannot be claimed"
    ]
  ],
  "one that gives back what was claimed": [
    sabotage({
      commit: (commit) => (change) =>
        change._tag === "VoucherExpired" || change._tag === "VoucherCanceled"
          ? Effect.catchTag(commit(change), "VoucherNotOpen", () => book(commit, change.legs))
          : commit(change)
    }),
    [
      "a claimed voucher neither expires nor is canceled",
      "C18 C20: claimed, expired and canceled at once: it ends one way, and the money goes one way"
    ]
  ],
  "one whose voucher holds only its amount": [
    changing((change) =>
      change._tag === "VoucherCreated"
        ? {
            ...change,
            legs: [{ companyId: change.companyId, postings: [{ from: "available", to: "held", amount: change.writes[0].record.amount }] }]
          }
        : change
    ),
    [
      "a voucher holds its amount and both fees, and what does not fit is refused",
      "a claim makes it a withdrawal that holds the same money"
    ]
  ],
  "one that holds a voucher whatever there is": [
    deaf("InsufficientBalance", "VoucherCreated"),
    ["vouchers created at once hold no more than the balance"]
  ],
  "one that makes a voucher for every request": [
    changing((change) => {
      if (change._tag !== "VoucherCreated") return change
      const { once: _, ...rest } = change
      return rest
    }),
    ["a key makes one voucher of any number of requests"]
  ],
  "one that takes another's claim for the first": [
    deaf("VoucherNotOpen", "VoucherClaimed"),
    ["C18: the same claim again, also at once, is applied once", "C18: fifty claims at once: one is applied, and one withdrawal is there"]
  ],
  "one that takes any fence for an expiry": [
    changing((change) => {
      if (change._tag !== "VoucherExpired") return change
      const { fence: _, ...rest } = change
      return rest
    }),
    ["a worker that lost the job of the expiry changes nothing"]
  ],
  "one that gives a domain away twice": [
    deaf("DomainTaken"),
    [
      "a domain is one company's; verified again it stays as it is",
      "a domain verified by two companies at once is one's",
      "a lost domain goes to another company only by a Change that names the loss",
      "a domain whose record is found again stays its company's"
    ]
  ],
  "one that forgets since when a domain is lost": [
    changing((change) => (change._tag === "DomainChecked" ? { ...change, isShown: true } : change)),
    ["a domain is missing since it was first missed, and is the operator's word once he gave it"]
  ],
  "one that tells before it commits": [
    sabotage({
      commit:
        (commit) =>
        ({ event, ...change }) => {
          const told = event && {
            ...Cursor.moved({ source: "spoiled", value: "" }, Id.nil, change.atMillis),
            companyId: change.companyId,
            // Any kind's, on a Change of a kind that publishes none.
            event: { ...event, type: "invoice.created" as const }
          }
          return told === undefined ? commit(change) : Effect.andThen(commit(told), commit(change))
        }
    }),
    [
      "C24: a refused Change is no event",
      "C24: concurrent Changes are one event each",
      "C24: every applied Change is one event, in order, with its time"
    ]
  ]
})

it("contracts: a promise of money cannot be skipped, and no two promises have one name", () => {
  const skip = (_: Parameters<typeof suite>[2]) => undefined
  skip({ skip: { "C24: a refused Change is no event": "it has no events" } })
  // @ts-expect-error: no reason is good enough
  skip({ skip: { "an invoice is credited once": "it is slow" } })
  assert.doesNotHaveAnyKeys(other, Object.keys(money))
})
