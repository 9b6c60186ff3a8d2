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
import { money, other, promises, type suite } from "../src/journal/Journal.ts"
import * as Nouns from "../src/Nouns.ts"
import { bites, type Commit, sabotage } from "./bite.ts"

/** A mutant that commits a different Change than it was given. */
const changing = (change: (change: Change) => Change) =>
  sabotage({ commit: (commit) => (given) => commit(change(given)) })

/** A mutant that ignores a refusal, for all or some kinds of Change. */
const deaf = (refusal: Refusal["_tag"], ...kinds: ReadonlyArray<Change["_tag"]>) =>
  sabotage({
    commit: (commit) => (change) =>
      commit(change).pipe(
        Effect.catch((error) =>
          error._tag === refusal && (kinds.length === 0 || kinds.includes(change._tag))
            ? Effect.succeed(applied)
            : Effect.fail(error)
        )
      )
  })

/** Commits these legs directly, ignoring every rule. */
const book = Effect.fnUntraced(function* (commit: Commit, legs: ReadonlyArray<Leg>) {
  return yield* commit({ ...Answer.forgotten(yield* Id.make, 0, 1), legs })
})

const credit = (companyId: CompanyId.CompanyId, amount: Msat.Msat): Written.Giving => ({
  companyId,
  postings: [{ from: "node", to: "available", amount }]
})

const onlyNode = (leg: Leg): Leg => ({
  ...leg,
  postings: leg.postings.map((posting) =>
    posting.from === "loss" ? { ...posting, from: "network_fees" } : posting
  )
})

/** A mutant that replaces the first write of each Change. */
const writing = (other: (first: Noun.Insert | Noun.Transition) => Noun.Insert | Noun.Transition) =>
  sabotage({
    commit: (commit) => (change) => {
      if (!Written.is(change)) return commit(change)
      const [first, ...later] = change.writes
      const spoiled: Change & Written.Any = Object.assign({}, change, {
        writes: first === undefined ? [] : [other(first), ...later]
      })
      return commit(spoiled)
    }
  })

const moving = (spoil: (move: Noun.Move) => Noun.Move) =>
  writing((first) => (first._tag === "Transition" ? { ...first, move: spoil(first.move) } : first))

const inserting = (spoil: (noun: Noun.Noun) => Noun.Noun) =>
  writing((first) => (first._tag === "Insert" ? { ...first, noun: spoil(first.noun) } : first))

/** The company that owns each record, by record id. */
const known = new Map<string, CompanyId.CompanyId>()

// The guarantees derived from `Noun` declarations detect a store that ignores the declarations.
bites<string>("Journal", Nouns.money, {
  "a journal that applies a transition from any status": [
    moving((move) => ({ ...move, from: [], empty: [], expects: [] })),
    [
      "vouchers: `claimed` has the declared outcome after another transition, and a refusal changes nothing",
      "invoices: if `settled` and another transition run concurrently, exactly one is applied",
      "deposits: `placed` has the declared outcome after another transition, and a refusal changes nothing"
    ]
  ],
  "a journal that returns another company's records": [
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
    [
      "vouchers: only the owning company finds a record by id or in a list; every unique name finds the record"
    ]
  ],
  "a journal that lists the oldest records first": [
    sabotage({
      records: ({ newestFirst }) => ({
        newestFirst: (noun, companyId, before, limit) =>
          Effect.map(newestFirst(noun, companyId, before, limit), (page) => page.toReversed())
      })
    }),
    [
      "invoices: only the owning company finds a record by id or in a list; every unique name finds the record"
    ]
  ],
  "a journal that refuses every repeated transition": [
    moving((move) => ({ ...move, again: { in: ["nowhere"], same: [] } })),
    [
      "withdrawals: `failed` takes effect once, even if repeated eight times concurrently",
      "invoices: `claimed` takes effect once, even if repeated eight times concurrently"
    ]
  ],
  "a journal that omits a part of a transition": [
    moving((move) => ({ ...move, stamps: [] })),
    [
      "vouchers: `canceled` takes effect once, even if repeated eight times concurrently",
      "lightning_addresses: `changed` has the declared outcome after another transition, and a refusal changes nothing"
    ]
  ],
  "a journal that checks the status but no other precondition of a transition": [
    moving((move) => ({ ...move, expects: [] })),
    ["deposits: repeating `confirmed` after `reversed` changes nothing"]
  ],
  "a journal that accepts any fence for a transition": [
    sabotage({
      commit: (commit) => (change) => {
        if (!("fence" in change)) return commit(change)
        const { fence: _, ...rest } = change
        return commit(rest)
      }
    }),
    [
      "withdrawals: `failed` is refused and changes nothing if the worker has lost its task",
      "invoices: `claimed` is refused and changes nothing if the worker has lost its task",
      "vouchers: `expired` is refused and changes nothing if the worker has lost its task"
    ]
  ],
  "a journal that lets two records share a unique name": [
    inserting((noun) => ({ ...noun, unique: [] })),
    [
      "invoices: a unique name is never used twice; if eight creations run concurrently, one succeeds",
      "lightning_addresses: a unique name is never used twice; if eight creations run concurrently, one succeeds"
    ]
  ],
  "a journal that accepts a different record under a used id": [
    inserting((noun) => ({ ...noun, moving: new Set(noun.members.map(([member]) => member)) })),
    [
      "vouchers: an id cannot be reused with different content",
      "on_chain_addresses: an id cannot be reused with different content"
    ]
  ],
  "a journal that releases a hold at every failure report": [
    sabotage({
      commit: (commit, records) =>
        Effect.fnUntraced(function* (change) {
          if (change._tag !== "WithdrawalFailed") return yield* commit(change)
          const failed = Option.exists(
            yield* records.withdrawal(change.companyId, change.id),
            ({ status }) => status === "failed"
          )
          return yield* failed ? book(commit, change.legs) : commit(change)
        })
    }),
    ["withdrawals: `failed` takes effect once, even if repeated eight times concurrently"]
  ],
  "a journal that creates a voucher for every request": [
    changing((change) => {
      if (change._tag !== "VoucherCreated") return change
      const { once: _, ...rest } = change
      return rest
    }),
    [
      "vouchers: of eight concurrent creations with one idempotency key, one is applied and the others are replayed"
    ]
  ]
})

bites("Journal", promises, {
  "a journal that stores no keys": [
    changing(({ once: _, ...change }) => change),
    [
      "a repeated request with the same key returns the first response and holds the money only once",
      "a key reused with a different body is refused",
      "if eight concurrent requests have the same key, only one takes effect and all get its response",
      "C23: the key is checked first, so the response is the same even if the money was spent or the withdrawal has ended"
    ]
  ],
  "a journal that keeps deleted invoices": [
    sabotage({
      commit: (commit) => (change) =>
        change._tag === "InvoiceForgotten" ? Effect.succeed(applied) : commit(change)
    }),
    ["deleting an unpaid invoice removes it completely, once, and frees its hash"]
  ],
  "a journal that reports a paid invoice as deleted": [
    deaf("InvoiceNotPayable", "InvoiceForgotten"),
    ["a claimed or settled invoice cannot be deleted"]
  ],
  "a journal that shares keys between companies": [
    changing((change) =>
      change.once === undefined ? change : { ...change, once: { ...change.once, owner: CompanyId.operator } }
    ),
    ["two companies can use the same key"]
  ],
  "a journal that replays a response for any body": [
    sabotage({
      commit: (commit) => (change) =>
        Effect.catchTag(commit(change), "IdempotencyMismatch", () =>
          Effect.succeed({ _tag: "Replayed" as const, answer: "" })
        )
    }),
    [
      "a key reused with a different body is refused",
      "if two concurrent requests have the same key but different bodies, one takes effect and the other is refused"
    ]
  ],
  "a journal that lets every key expire": [
    changing((change) =>
      change.once === undefined ? change : { ...change, once: { ...change.once, forgetAtMillis: 1 } }
    ),
    ["a withdrawal's key never expires", "a stored response is kept until its expiry and deleted afterward"]
  ],
  "a journal that stores the key of a refused request": [
    sabotage({
      commit: (commit) => (change) =>
        Effect.tapError(commit(change), () => {
          const { once } = change
          return once === undefined
            ? Effect.void
            : Effect.ignore(commit({ ...Answer.forgotten(Id.nil, 0, 1), once }))
        })
    }),
    ["a refused request does not use up its key"]
  ],
  "a journal that omits the success action": [
    changing((change) =>
      change._tag === "WithdrawalDispatched" && change.attempt._tag === "Lightning"
        ? { ...change, attempt: { ...change.attempt, successAction: null } }
        : change
    ),
    [
      "C9: the attempt is stored before the node is called",
      "C19: a withdrawal has one attempt: repeating the same one succeeds, and a different one is refused"
    ]
  ],
  "a journal that ignores insufficient balances": [
    deaf("InsufficientBalance"),
    [
      "a withdrawal above the balance is refused and changes nothing",
      "C12: if 64 callers send 512 requests and the balance covers 99, exactly 99 are accepted",
      "C45: the spent part of a reversed deposit is posted as the operator's loss until the payment returns"
    ]
  ],
  "a journal that checks the balance in a separate step before it holds": [
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
    ["C12: if 200 concurrent requests ask for the whole balance, exactly one is accepted"]
  ],
  "a journal that ignores freezes": [
    deaf("CompanyFrozen"),
    [
      "freeze: withdrawals, vouchers and voucher claims are refused until the freeze ends; payments already sent still complete"
    ]
  ],
  "a journal that accepts outdated fees": [
    deaf("FeesMoved"),
    [
      "fees: a withdrawal computed with outdated fees is refused, and one computed with the current fees is applied",
      "fees: changing one company's fees affects neither another company nor a Change without a fee revision"
    ]
  ],
  "a journal that lets a frozen company's vouchers be claimed": [
    changing((change) => {
      if (change._tag !== "VoucherClaimed") return change
      const { unlessFrozen: _, ...rest } = change
      return rest
    }),
    [
      "freeze: withdrawals, vouchers and voucher claims are refused until the freeze ends; payments already sent still complete"
    ]
  ],
  "a journal that ignores limits": [
    deaf("LimitExceeded"),
    [
      "limits: an amount that exactly reaches the limit is granted; one sat more is refused and changes nothing",
      "limits: the maximum number of withdrawals per day applies regardless of their amounts"
    ]
  ],
  "a journal that never releases limit usage": [
    sabotage({
      commit: (commit) => (change) => {
        if (change._tag !== "WithdrawalFailed" && change._tag !== "VoucherCanceled") return commit(change)
        const { counts: _, ...rest } = change
        return commit(rest)
      }
    }),
    [
      "limits: when a withdrawal fails, the usage counted for the withdrawal is released only once",
      "limits: a voucher releases its usage when it is canceled or expires, or when its withdrawal fails"
    ]
  ],
  "a journal that counts limit usage in the wrong bucket": [
    changing((change) =>
      change.counts === undefined
        ? change
        : { ...change, counts: change.counts.map((one) => ({ ...one, atMillis: one.atMillis - 3_600_000 })) }
    ),
    [
      "limits: windows slide, so an amount becomes available again in the millisecond in which it leaves the window"
    ]
  ],
  "a journal that checks a limit in a separate step before it counts usage": [
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
    ["C12: limits: when 64 withdrawals run concurrently, only as many as fit the limit are applied"]
  ],
  "a journal that accepts any content for a used id": [
    deaf("Conflict"),
    [
      "C19: a withdrawal has one attempt: repeating the same one succeeds, and a different one is refused",
      "C20 C54: a settled withdrawal stays settled",
      "C32: a payment hash belongs to one invoice"
    ]
  ],
  "a journal that reserves the same keys for everyone": [
    deaf("KeyRangeTaken"),
    [
      "key ranges are reserved consecutively, and each range only once",
      "if eight processes reserve the same key range concurrently, one gets it"
    ]
  ],
  "a journal that lets two payouts use one coin": [
    changing((change) =>
      change._tag === "WithdrawalDispatched" && change.attempt._tag === "Chain"
        ? { ...change, attempt: { ...change.attempt, coins: [] } }
        : change
    ),
    [
      "C19: no two payouts spend the same coin",
      "C19: a payout cannot be replaced if another payout spends its change",
      "a credited deposit is a coin, with its key's derivation index, until a payout spends it"
    ]
  ],
  "a journal that replaces a payout whose change is spent": [
    changing((change) =>
      change._tag === "WithdrawalReplaced"
        ? { ...change, replaces: { ...change.replaces, change: null } }
        : change
    ),
    ["C19: a payout cannot be replaced if another payout spends its change"]
  ],
  "a journal that frees no coin of a released payout": [
    changing((change) => (change._tag === "PayoutReleased" ? { ...change, coins: [] } : change)),
    [
      "C1: a released payout returns its hold once, its unspent coins can be spent again, and its change never can",
      "a released payout returns the change that it spent: of a settled payout, of a pending one, but not of a released one"
    ]
  ],
  "a journal that releases a payout that was just replaced": [
    sabotage({
      commit: (commit, records) =>
        Effect.fnUntraced(function* (change) {
          if (change._tag !== "PayoutReleased") return yield* commit(change)
          const row = yield* records.withdrawal(change.companyId, change.id)
          return yield* commit({ ...change, txId: Option.getOrThrow(row).chainTxId ?? change.txId })
        })
    }),
    ["C10: a payout that was replaced or has settled is not released"]
  ],
  "a journal that assumes the newest candidate was mined": [
    sabotage({
      commit: (commit, records) =>
        Effect.fnUntraced(function* (change) {
          if (change._tag !== "WithdrawalSettled" || change.settlement.chainTxId === null)
            return yield* commit(change)
          const newest = (yield* records.candidates(change.companyId, change.id)).at(-1)?.txId ?? null
          return yield* commit({ ...change, settlement: { ...change.settlement, chainTxId: newest } })
        })
    }),
    ["C19: change of a replaced payout is not spendable until one of the payout's transactions is mined"]
  ],
  "a journal that spends unconfirmed change of unconfirmed change": [
    changing((change) =>
      change._tag === "WithdrawalDispatched" && change.attempt._tag === "Chain"
        ? { ...change, attempt: { ...change.attempt, isDeep: false } }
        : change
    ),
    [
      "change becomes a coin when its payout is sent or, if the payout spends unconfirmed coins, when it is mined; mining confirms the coin"
    ]
  ],
  "a journal that sends only the first withdrawal of a batch": [
    changing((change) =>
      change._tag === "WithdrawalDispatched" ? { ...change, followers: [], eventsForOthers: [] } : change
    ),
    [
      "C19: one transaction can pay several withdrawals, and each withdrawal records its own share of the fee",
      "C19: the same transaction for other withdrawals is refused, and so is another transaction for one of the same withdrawals",
      "C10: if the claim on one withdrawal is stale, the whole batch is refused and the error names the withdrawal",
      "C10: only the leading payout's job can change a batch member",
      "C10: if two concurrent transactions pay one withdrawal, exactly one applies in full",
      "C24: each company's event lists only that company's withdrawals, however many settle in one commit"
    ]
  ],
  "a journal that charges the whole fee to the first withdrawal": [
    changing((change) =>
      change._tag === "WithdrawalDispatched"
        ? { ...change, followers: change.followers.map((one) => ({ ...one, networkFee: Msat.zero })) }
        : change._tag === "WithdrawalReplaced"
          ? { ...change, followers: change.followers.map((one) => ({ ...one, networkFee: Msat.zero })) }
          : change
    ),
    [
      "C19: one transaction can pay several withdrawals, and each withdrawal records its own share of the fee",
      "C19: a replacement must cover the whole batch; a replacement with other members is refused"
    ]
  ],
  "a journal that ignores stale claims in a batch": [
    deaf("StaleFence", "WithdrawalDispatched"),
    [
      "C10: if the claim on one withdrawal is stale, the whole batch is refused and the error names the withdrawal",
      "C10: if two concurrent transactions pay one withdrawal, exactly one applies in full"
    ]
  ],
  "a journal that sends a batch without its coins": [
    deaf("CoinTaken", "WithdrawalDispatched"),
    ["C19: if one coin is already spent, the whole batch is refused"]
  ],
  "a journal that stores no batch members": [
    sabotage({ records: () => ({ followers: () => Effect.succeed([]) }) }),
    [
      "C19: one transaction can pay several withdrawals, and each withdrawal records its own share of the fee",
      "C10: if two concurrent transactions pay one withdrawal, exactly one applies in full"
    ]
  ],
  "a journal that settles a whole batch with its leader": [
    changing((change) =>
      change._tag === "WithdrawalSettled" && change.fence !== undefined
        ? { ...change, id: change.fence.taskId }
        : change
    ),
    [
      "each batch member settles once, with its share; change is a confirmed coin once the leading payout settles"
    ]
  ],
  "a journal that replaces a settled payout": [
    deaf("AlreadyTerminal", "WithdrawalReplaced"),
    ["C19: a partly settled batch cannot be replaced"]
  ],
  "a journal that accepts any replacement": [
    deaf("Conflict", "WithdrawalReplaced"),
    ["C19: a replacement must cover the whole batch; a replacement with other members is refused"]
  ],
  "a journal that stops watching payouts when they settle": [
    sabotage({ records: () => ({ settledPayouts: () => Effect.succeed([]) }) }),
    ["a settled payout is watched until it is buried"]
  ],
  "a journal that watches only pending deposits after a reorganization": [
    sabotage({
      records: ({ depositsAbove }) => ({
        depositsAbove: (...asked) =>
          Effect.map(depositsAbove(...asked), (rows) => rows.filter(({ status }) => status === "pending"))
      })
    }),
    [
      "C45: deposits that a reorganization may have moved are found: those above a block height and those in no block"
    ]
  ],
  "a journal that reads all deposits above a block, whatever the last block asked for": [
    sabotage({
      records: ({ depositsAbove }) => ({
        depositsAbove: (height, _, after, limit) => depositsAbove(height, null, after, limit)
      })
    }),
    [
      "C45: deposits that a reorganization may have moved are found: those above a block height and those in no block"
    ]
  ],
  "a journal that finds no deposits that await confirmations": [
    sabotage({
      records: () => ({
        depositsUnconfirmed: () => Effect.succeed({ ofCompany: new Map(), inBlock: new Map() })
      })
    }),
    ["C46: deposits in blocks above a height are summed by company and block while they await confirmations"]
  ],
  "a journal that stops watching deposits when they are evicted": [
    sabotage({ records: () => ({ depositsGivenUp: () => Effect.succeed([]) }) }),
    [
      "C45: evicted deposits are listed newest first, except those too small to credit and those that returned"
    ]
  ],
  "a journal that finds no deposits whose reversal the operator bears": [
    sabotage({ records: () => ({ depositsOwed: () => Effect.succeed([]) }) }),
    [
      "C45: a hold that is released after a reversal repays the operator, pending or failed, and the ledger stays sound"
    ]
  ],
  "a journal that credits the requested amount": [
    sabotage({
      commit: (commit, records) =>
        Effect.fnUntraced(function* (change) {
          if (change._tag !== "InvoiceSettled") return yield* commit(change)
          const { amount } = Option.getOrThrow(yield* records.invoice(change.companyId, change.id))
          return yield* commit({ ...change, legs: [credit(change.companyId, amount ?? Msat.fromSats(1))] })
        })
    }),
    ["C33: the received amount is credited, whatever the invoice's amount"]
  ],
  "a journal that credits every notification": [
    sabotage({
      commit: (commit, records) =>
        Effect.fnUntraced(function* (change) {
          if (change._tag !== "InvoiceSettled") return yield* commit(change)
          const settled = Option.exists(
            yield* records.invoice(change.companyId, change.id),
            ({ status }) => status === "settled"
          )
          return yield* settled ? book(commit, change.legs) : commit(change)
        })
    }),
    [
      "a second payment of an invoice is refused",
      "C15: an invoice paid internally and over the network concurrently is credited once"
    ]
  ],
  "a journal that refuses late payments": [
    sabotage({
      commit: (commit, records) =>
        Effect.fnUntraced(function* (change) {
          const invoice =
            change._tag === "InvoiceSettled"
              ? yield* records.invoice(change.companyId, change.id)
              : Option.none()
          if (Option.exists(invoice, ({ status }) => status === "expired")) {
            return yield* new InvoiceNotPayable({ invoiceId: change.id, status: "expired" })
          }
          return yield* commit(change)
        })
    }),
    ["a payment that arrives after the invoice expired is credited"]
  ],
  "a journal that lets any withdrawal claim an invoice": [
    deaf("InvoiceNotPayable", "InvoiceClaimed"),
    [
      "C15: a claimed invoice belongs to one withdrawal",
      "C15: if eight withdrawals claim one invoice concurrently, one gets it",
      "C15: a settled or expired invoice cannot be claimed"
    ]
  ],
  "a journal that credits the payee before it checks the invoice": [
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
      "C17: a transfer to an invoice that the withdrawal has not claimed moves no money",
      "C17: a transfer of an ended withdrawal moves no money",
      "C17: repeating a transfer, even concurrently, moves the money once",
      "C15: a network payment of a claimed invoice is credited, and the internal transfer is refused"
    ]
  ],
  "a journal that posts one side of a transfer": [
    changing((change) =>
      change._tag === "InternalTransferred" ? { ...change, legs: change.legs.slice(0, 1) } : change
    ),
    [
      "C17: a transfer debits the payer, credits the payee and posts the operator's fee",
      "C31: a company that pays itself loses only the fee",
      "many concurrent payments between two companies add up exactly"
    ]
  ],
  "a journal that settles or fails an ended withdrawal again": [
    sabotage({
      commit: (commit) => (change) =>
        Effect.catchTag(commit(change), "AlreadyTerminal", () => book(commit, change.legs))
    }),
    [
      "C20 C54: a settled withdrawal stays settled",
      "C20: a failed withdrawal stays failed and keeps its first reason",
      "C20: a withdrawal that is settled and failed concurrently has exactly one outcome",
      "C17: when a withdrawal is transferred and failed concurrently, both companies see the same outcome"
    ]
  ],
  "a journal that ignores fences": [
    changing(({ fence: _, ...change }) => change),
    ["C19: a worker that lost its job cannot change anything"]
  ],
  "a journal that lets two withdrawals pay one hash": [
    deaf("PaymentHashTaken"),
    [
      "C14: a payment hash belongs to one withdrawal permanently, whatever the outcome of that withdrawal",
      "C14: if eight withdrawals would pay one hash concurrently, only one is dispatched"
    ]
  ],
  "a journal that lets two payouts spend one coin": [
    deaf("CoinTaken"),
    [
      "C19: no two payouts spend the same coin",
      "C19: if eight payouts would spend one coin concurrently, only one is dispatched"
    ]
  ],
  "a journal that charges the company for a node's overspending": [
    changing((change) =>
      change._tag === "WithdrawalSettled" ? { ...change, legs: change.legs.map(onlyNode) } : change
    ),
    ["C25: if a node spends more than the fee limit, the excess is the operator's loss, never the company's"]
  ],
  "a journal that does not move the node's cursor": [
    changing((change) => {
      if (change._tag === "CursorMoved" || change._tag === "AuditHeadPublished") return change
      const { cursor: _, ...rest } = change
      return rest
    }),
    ["C60: the node's read cursor moves in the same commit as the credit"]
  ],
  "a journal that identifies a deposit by its id only": [
    sabotage({
      commit: (commit) => (change) =>
        Effect.catchTag(commit(change), "DepositMoved", (moved) => {
          if (change._tag !== "DepositSeen") return Effect.fail(moved)
          const { record } = change.writes[0]
          return commit(
            Deposit.seen({ ...record, chainTxId: TxId.make(record.id.replaceAll("-", "").repeat(2)) })
          )
        })
    }),
    [
      "C42: an output is credited once, whatever ids it is recorded under",
      "C42: an output that eight workers record concurrently is one deposit"
    ]
  ],
  "a journal that identifies a deposit by its transaction only": [
    changing((change) =>
      change._tag === "DepositSeen" ? Deposit.seen({ ...change.writes[0].record, vout: 0 }) : change
    ),
    ["C43: every output of a transaction is credited"]
  ],
  "a journal that confirms a deposit from any state": [
    sabotage({
      commit: (commit) => (change) =>
        Effect.catchTag(commit(change), "DepositMoved", (moved) =>
          change._tag === "DepositConfirmed" ? book(commit, change.legs) : Effect.fail(moved)
        )
    }),
    [
      "a deposit that eight workers confirm concurrently is credited once",
      "C45: a transition from a state that the deposit has left is refused"
    ]
  ],
  "a journal that assigns a name twice": [
    deaf("HandleTaken"),
    ["a Lightning address belongs to one company permanently"]
  ],
  "a journal that reassigns and changes deleted addresses": [
    deaf("LightningAddressGone"),
    ["a deleted Lightning address stays deleted and is never issued again"]
  ],
  "a journal that keeps a removed message": [
    changing((change) =>
      change._tag === "LightningAddressChanged" &&
      Reflect.get(change.writes[0].set, "successMessage") === null
        ? {
            ...change,
            writes: [{ ...change.writes[0], set: { ...change.writes[0].set, successMessage: "" } }]
          }
        : change
    ),
    ["a Lightning address keeps all the settings that its owner last chose"]
  ],
  "a journal that pays a voucher each time it is claimed": [
    sabotage({
      commit: (commit) => (change) =>
        change._tag === "VoucherClaimed"
          ? Effect.catchTag(commit(change), "VoucherNotOpen", () =>
              commit(Withdrawal.requested(change.writes[1].record))
            )
          : commit(change)
    }),
    [
      "C18: if fifty claims run concurrently, exactly one is applied, and there is exactly one withdrawal",
      "if a claimed voucher's withdrawal fails, the money is released and the voucher stays claimed",
      "C21: an expired voucher releases the full hold, once, and can be neither claimed nor canceled",
      "a canceled voucher releases the full hold, once, and cannot be claimed"
    ]
  ],
  "a journal that releases a claimed voucher": [
    sabotage({
      commit: (commit) => (change) =>
        change._tag === "VoucherExpired" || change._tag === "VoucherCanceled"
          ? Effect.catchTag(commit(change), "VoucherNotOpen", () => book(commit, change.legs))
          : commit(change)
    }),
    [
      "C18 C20: a voucher that is claimed, expired and canceled concurrently has one outcome, and its money is moved once"
    ]
  ],
  "a journal whose vouchers hold only their amount": [
    changing((change) =>
      change._tag === "VoucherCreated"
        ? {
            ...change,
            legs: [
              {
                companyId: change.companyId,
                postings: [{ from: "available", to: "held", amount: change.writes[0].record.amount }]
              }
            ]
          }
        : change
    ),
    [
      "a voucher holds its amount and both fees, and is refused if they exceed the balance",
      "claiming a voucher turns it into a withdrawal that holds the same money"
    ]
  ],
  "a journal that holds a voucher above the balance": [
    deaf("InsufficientBalance", "VoucherCreated"),
    ["concurrent vouchers never hold more than the balance"]
  ],
  "a journal that treats a different claim as a repetition": [
    deaf("VoucherNotOpen", "VoucherClaimed"),
    ["C18: if fifty claims run concurrently, exactly one is applied, and there is exactly one withdrawal"]
  ],
  "a journal that assigns a domain twice": [
    deaf("DomainTaken"),
    [
      "a domain belongs to one company; verifying it again changes nothing",
      "if two companies verify a domain concurrently, one gets it",
      "a lost domain moves to another company only if the Change states that the domain was lost",
      "a domain stays with its company if the DNS record reappears"
    ]
  ],
  "a journal that does not store when a domain was lost": [
    changing((change) => (change._tag === "DomainChecked" ? { ...change, isShown: true } : change)),
    [
      "a domain's DNS record is considered missing from the first failed check on, and an operator's decision about the domain is kept"
    ]
  ],
  "a journal that publishes events for other companies to the Change's own company": [
    changing((change) => {
      if (change._tag !== "OnChainAddressCreated") return change
      const { companyId, eventsForOthers = [] } = change
      return { ...change, eventsForOthers: eventsForOthers.map((event) => ({ ...event, companyId })) }
    }),
    ["C24: applied Changes publish their events for other companies to each of them once, in order"]
  ],
  "a journal that publishes an event before the Change is committed": [
    sabotage({
      commit:
        (commit) =>
        ({ event, ...change }) => {
          const told = event && {
            ...Cursor.moved({ source: "spoiled", value: "" }, Id.nil, change.atMillis),
            companyId: change.companyId,
            // An arbitrary event type, on a kind of Change that publishes no event.
            event: { ...event, type: "invoice.created" as const }
          }
          return told === undefined ? commit(change) : Effect.andThen(commit(told), commit(change))
        }
    }),
    [
      "C24: a refused Change publishes no event",
      "C24: concurrent Changes publish one event each",
      "C24: applied Changes publish one event each, in order, with the time of the Change"
    ]
  ]
})

it("contracts: a guarantee in `money` cannot be skipped, and no two guarantees have the same name", () => {
  const skip = (_: Parameters<typeof suite>[2]) => undefined
  skip({ skip: { "C24: a refused Change publishes no event": "the store has no events" } })
  // @ts-expect-error: no reason is good enough
  skip({ skip: { "a payment of an invoice is credited": "the store is slow" } })
  assert.doesNotHaveAnyKeys(other, Object.keys(money))
})
