import type * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import type * as TxId from "@satrail/bitcoin/TxId"
import * as ApiKey from "@satrail/core/accounts/ApiKey"
import * as Company from "@satrail/core/accounts/Company"
import { DomainTaken } from "@satrail/core/accounts/Domain"
import type * as Changes from "@satrail/core/Changes"
import type { Program, Storable } from "@satrail/core/Changes"
import * as Balance from "@satrail/core/ledger/Balance"
import type { Fence, Leg } from "@satrail/core/ledger/Change"
import * as Journal from "@satrail/core/ledger/Journal"
import type * as Noun from "@satrail/core/ledger/Noun"
import * as Written from "@satrail/core/ledger/Written"
import * as Coin from "@satrail/core/nodes/Coin"
import * as Deposit from "@satrail/core/receiving/Deposit"
import * as Invoice from "@satrail/core/receiving/Invoice"
import * as KeyRange from "@satrail/core/receiving/KeyRange"
import * as LightningAddress from "@satrail/core/receiving/LightningAddress"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { Equal, Exit, HashMap, Option } from "effect"
import * as State from "./State.ts"
import * as Writes from "./Writes.ts"

/** How a Change is answered. */
export type Verdict = Exit.Exit<Journal.Applied, Changes.Refusal>

/** The row this Change is about. A Change of what was never made is its maker's bug, not a refusal. */
const own = <A extends Noun.Row>(state: State.State, noun: Noun.Noun<A>, change: Storable): A => {
  const row = Option.getOrUndefined(State.get(state, noun, change.companyId, change.id))
  if (row === undefined) throw new Error(`${change._tag}: company ${change.companyId} has no ${change.id}`)
  return row
}

const conflict = (change: Storable) => new Journal.Conflict({ change: change._tag, id: change.id })
const notPayable = (invoiceId: string, status: string) => new Invoice.InvoiceNotPayable({ invoiceId, status })
const terminal = ({ id, status }: Withdrawal.Withdrawal) => new Withdrawal.AlreadyTerminal({ id, status })

const sameSettlement = (withdrawal: Withdrawal.Withdrawal, { preimage, chainTxId, networkFee }: Withdrawal.Settlement): boolean =>
  withdrawal.preimage === preimage && withdrawal.chainTxId === chainTxId && withdrawal.networkFee === networkFee

/** A creation: nothing is there yet, or it is there as asked for, or otherwise. */
const creation = <A extends object>(
  change: Storable,
  of: Noun.Members<A>,
  map: HashMap.HashMap<string, A>,
  asked: A
): Journal.Conflict | "again" | undefined => {
  const row = Option.getOrUndefined(HashMap.get(map, change.id))
  return row === undefined ? undefined : Writes.isAsAsked(of, row, asked) ? "again" : conflict(change)
}

/** First: was it applied before, or something else under its id? */
const before = (state: State.State, change: Program): Changes.Refusal | "again" | undefined => {
  switch (change._tag) {
    case "CompanyOpened":
      return creation(change, Company.members, state.companies, change.company)
    case "PlanChanged":
      return HashMap.getUnsafe(state.companies, change.id).plan === change.plan ? "again" : undefined
    case "DomainVerified": {
      const { domain, replaces, companyId } = change
      const row = Option.getOrUndefined(HashMap.get(state.domains, domain.domain))
      if (row === undefined) return undefined
      if (row.companyId === companyId) return row.shownBy === "operator" || domain.shownBy === "dns" ? "again" : undefined
      const isLost = replaces !== null && row.companyId === replaces.companyId && row.lostAtMillis === replaces.lostAtMillis
      return isLost ? undefined : new DomainTaken({ domain: domain.domain })
    }
    case "DomainChecked": {
      const row = Option.getOrUndefined(HashMap.get(state.domains, change.domain))
      const isDue = row?.companyId === change.companyId && row.shownBy === "dns" && row.checkedAtMillis < change.atMillis
      return isDue ? undefined : "again"
    }
    case "ApiKeyIssued":
      return creation(change, ApiKey.noun, State.of(state, ApiKey.noun), change.apiKey)
    case "ApiKeyUsed":
      return (own(state, ApiKey.noun, change).lastUsedAtMillis ?? -1) < change.atMillis ? undefined : "again"
    case "InvoiceForgotten":
      return HashMap.has(State.of(state, Invoice.noun), change.id) ? undefined : "again"
    case "KeyRangeReserved":
      return creation(change, KeyRange.members, state.keyRanges, change.keyRange)
    case "WithdrawalDispatched": {
      const row = own(state, Withdrawal.noun, change)
      const attempt = Option.getOrUndefined(HashMap.get(state.attempts, change.id))
      if (attempt !== undefined) {
        return Equal.equals(attempt, change.attempt) && isLed(state, change) ? "again" : conflict(change)
      }
      if (row.dispatchedAtMillis !== null) return conflict(change)
      return row.status === "pending" ? undefined : terminal(row)
    }
    case "WithdrawalReplaced": {
      const row = own(state, Withdrawal.noun, change)
      if (State.candidates(state, change.id).some(({ txId }) => txId === change.attempt.txId)) return "again"
      if (row.status !== "pending") return terminal(row)
      return row.chainTxId === change.replaces.txId && isLed(state, change) ? undefined : conflict(change)
    }
    case "PayoutBuried":
      return State.candidates(state, change.id).some(({ standing }) => standing === "buried") ? "again" : undefined
    case "WithdrawalSettled": {
      const row = own(state, Withdrawal.noun, change)
      if (row.status === "settled") return sameSettlement(row, change.settlement) ? "again" : conflict(change)
      return row.status === "pending" ? undefined : terminal(row)
    }
    case "InternalTransferred": {
      const row = own(state, Withdrawal.noun, change)
      if (row.status === "pending") return undefined
      const deposit = Option.getOrUndefined(HashMap.get(State.of(state, Deposit.noun), change.deposit.id))
      return Equal.equals(deposit, change.deposit) && sameSettlement(row, change.settlement) ? "again" : terminal(row)
    }
    case "AnswersForgotten":
      return undefined
  }
}

/** Whether those who follow are the ones it names. */
const isLed = (state: State.State, { id, followers }: Withdrawal.WithdrawalDispatched | Withdrawal.WithdrawalReplaced): boolean =>
  Equal.equals(
    State.followers(state, id).map((row) => row.id),
    followers.map((follower) => follower.id).toSorted()
  )

/** Every claim that it is the work of. */
const fences = (change: Storable): ReadonlyArray<Fence> => [
  ...(change.fence === undefined ? [] : [change.fence]),
  ...(!Written.is(change) && change._tag === "WithdrawalDispatched" ? change.followers.map(({ id, token }) => ({ taskId: id, token })) : [])
]

/** Then: does whoever commits it still hold the tasks it is the work of? */
const stale = (state: State.State, change: Storable): Journal.StaleFence | undefined => {
  for (const { taskId, token } of fences(change)) {
    if (Option.getOrUndefined(HashMap.get(state.tasks, taskId))?.token !== token) return new Journal.StaleFence({ taskId })
  }
  return undefined
}

const addressUsed = (state: State.State, id: string | null, atMillis: number): State.State =>
  id === null
    ? state
    : State.put(state, LightningAddress.noun, {
        ...HashMap.getUnsafe(State.of(state, LightningAddress.noun), id),
        lastUsedAtMillis: atMillis,
        updatedAtMillis: atMillis
      })

/** Credits come once under an id. */
const credited = (state: State.State, deposit: Deposit.Deposit): State.State => {
  if (HashMap.has(State.of(state, Deposit.noun), deposit.id)) throw new Error(`deposit ${deposit.id} is there already`)
  return State.put(state, Deposit.noun, deposit)
}

/** Then: the rules of its kind, and what it does to the rows it is about. */
const move = (state: State.State, change: Program): State.State | Changes.Refusal => {
  const { atMillis } = change
  switch (change._tag) {
    case "CompanyOpened":
      return { ...state, companies: HashMap.set(state.companies, change.id, change.company) }
    case "PlanChanged":
      return { ...state, companies: HashMap.modify(state.companies, change.id, (company) => ({ ...company, plan: change.plan })) }
    case "DomainVerified":
      return { ...state, domains: HashMap.set(state.domains, change.domain.domain, change.domain) }
    case "DomainChecked":
      return {
        ...state,
        domains: HashMap.modify(state.domains, change.domain, (row) => ({
          ...row,
          checkedAtMillis: atMillis,
          lostAtMillis: change.isShown ? null : (row.lostAtMillis ?? atMillis)
        }))
      }
    case "ApiKeyIssued": {
      const { apiKey, replaces } = change
      const issued = State.put(state, ApiKey.noun, apiKey)
      const old = replaces && Option.getOrUndefined(State.get(state, ApiKey.noun, change.companyId, replaces.id))
      return old && replaces
        ? State.put(issued, ApiKey.noun, {
            ...old,
            expiresAtMillis: Math.min(old.expiresAtMillis ?? Infinity, replaces.expiresAtMillis)
          })
        : issued
    }
    case "ApiKeyUsed":
      return State.put(state, ApiKey.noun, { ...own(state, ApiKey.noun, change), lastUsedAtMillis: atMillis })
    case "InvoiceForgotten": {
      const invoice = own(state, Invoice.noun, change)
      const mayGo = invoice.status === "pending" || invoice.status === "expired"
      return mayGo ? State.remove(state, Invoice.noun, invoice) : notPayable(change.id, invoice.status)
    }
    case "KeyRangeReserved": {
      const { wallet, first } = change.keyRange
      return State.nextKey(state, change.keyRange) === first
        ? { ...state, keyRanges: HashMap.set(state.keyRanges, change.id, change.keyRange) }
        : new KeyRange.KeyRangeTaken({ wallet, first })
    }
    case "WithdrawalDispatched": {
      const { attempt } = change
      const attempts = HashMap.set(state.attempts, change.id, attempt)
      const row = { ...own(state, Withdrawal.noun, change), dispatchedAtMillis: atMillis, updatedAtMillis: atMillis }
      if (attempt._tag === "Lightning") {
        const { paymentHash, paymentRequest, successAction } = attempt
        return hashTaken(state, paymentHash, change.id)
          ? new Withdrawal.PaymentHashTaken({ paymentHash })
          : { ...State.put(state, Withdrawal.noun, { ...row, paymentHash, paymentRequest, successAction }), attempts }
      }
      const followers = led(state, change)
      if (followers.some(({ status, dispatchedAtMillis }) => status !== "pending" || dispatchedAtMillis !== null)) return conflict(change)
      const sent = followers.map((follower) => ({ ...follower, dispatchedAtMillis: atMillis }))
      const offered = offer(state, row, sent, attempt, attempt.coins)
      if ("_tag" in offered) return offered
      const ids = followers.map(({ id }) => id)
      return { ...offered, attempts, followers: HashMap.set(state.followers, change.id, ids) }
    }
    case "WithdrawalReplaced": {
      const { attempt, replaces } = change
      const row = { ...own(state, Withdrawal.noun, change), updatedAtMillis: atMillis }
      const followers = led(state, change)
      const ended = followers.find(({ status }) => status !== "pending")
      if (ended !== undefined) return terminal(ended)
      return offer(state, row, followers, attempt, replaces.change === null ? attempt.coins : [...attempt.coins, replaces.change])
    }
    case "PayoutBuried":
      return standing(state, change.id, change.txId, "buried")
    case "WithdrawalSettled": {
      const row: Withdrawal.Withdrawal = {
        ...own(state, Withdrawal.noun, change),
        ...change.settlement,
        status: "settled",
        updatedAtMillis: atMillis
      }
      const { chainTxId } = row
      if (chainTxId === null) return State.put(state, Withdrawal.noun, row)
      const winner = State.candidates(state, change.id).find(({ txId }) => txId === chainTxId)
      const settled = standing(state, change.id, chainTxId, "settled")
      // Its change was kept from everybody as long as it might not come to be.
      const change_ = winner?.change ? Coin.outpoint(chainTxId, winner.change.vout) : ""
      const isKept = Option.exists(HashMap.get(settled.withdrawalByCoin, change_), (id) => id === change.id)
      return State.put(
        isKept ? { ...settled, withdrawalByCoin: HashMap.remove(settled.withdrawalByCoin, change_) } : settled,
        Withdrawal.noun,
        {
          ...row,
          rawTx: winner?.rawTx ?? row.rawTx
        }
      )
    }
    case "InternalTransferred": {
      const { invoice: pays, settlement, deposit } = change
      const withdrawal: Withdrawal.Withdrawal = {
        ...own(state, Withdrawal.noun, change),
        ...settlement,
        status: "settled",
        updatedAtMillis: atMillis
      }
      const used = addressUsed(credited(state, deposit), change.lightningAddressId, atMillis)
      if (pays === null) return State.put(used, Withdrawal.noun, withdrawal)
      const invoice = HashMap.getUnsafe(State.of(state, Invoice.noun), pays.id)
      if (invoice.status !== "claimed" || invoice.claimedBy !== change.id || hashTaken(state, pays.paymentHash, change.id)) {
        return notPayable(pays.id, invoice.status)
      }
      return State.put(
        State.put(used, Withdrawal.noun, { ...withdrawal, paymentHash: pays.paymentHash, paymentRequest: pays.paymentRequest }),
        Invoice.noun,
        { ...invoice, status: "settled", received: deposit.amount, preimage: settlement.preimage, settledAtMillis: atMillis }
      )
    }
    case "AnswersForgotten":
      return { ...state, answers: HashMap.filter(state.answers, (kept) => kept.forgetAtMillis === null || kept.forgetAtMillis > atMillis) }
  }
}

/** Who follows, as it stands, with its share. Whoever does not exist was never made, which is its maker's bug. */
const led = (
  state: State.State,
  { _tag, atMillis, followers }: Withdrawal.WithdrawalDispatched | Withdrawal.WithdrawalReplaced
): ReadonlyArray<Withdrawal.Withdrawal> =>
  followers.map(({ id, companyId, networkFee }) => {
    const row = Option.getOrUndefined(HashMap.get(State.of(state, Withdrawal.noun), id))
    if (row?.companyId !== companyId) throw new Error(`${_tag}: company ${companyId} has no ${id}`)
    return { ...row, networkFee, updatedAtMillis: atMillis }
  })

/** One more transaction for a payout and those who follow it, which spends `coins` unless another payout does. */
const offer = (
  state: State.State,
  row: Withdrawal.Withdrawal,
  followers: ReadonlyArray<Withdrawal.Withdrawal>,
  { _tag, coins: _, ...candidate }: Withdrawal.Attempt & { readonly _tag: "Chain" },
  coins: ReadonlyArray<string>
): State.State | Withdrawal.CoinTaken => {
  if (coins.some((coin) => Option.exists(HashMap.get(state.withdrawalByCoin, coin), (id) => id !== row.id)))
    return new Withdrawal.CoinTaken({ withdrawalId: row.id })
  const { txId: chainTxId, rawTx } = candidate
  const led = followers.reduce((next, follower) => State.put(next, Withdrawal.noun, { ...follower, chainTxId }), state)
  return {
    ...State.put(led, Withdrawal.noun, { ...row, chainTxId, rawTx, networkFee: Withdrawal.ownShare(candidate, followers) }),
    candidates: HashMap.set(state.candidates, row.id, [...State.candidates(state, row.id), { ...candidate, standing: "offered" }]),
    withdrawalByCoin: coins.reduce((map, coin) => HashMap.set(map, coin, row.id), state.withdrawalByCoin)
  }
}

const standing = (state: State.State, id: string, txId: TxId.TxId, standing: State.Signed["standing"]): State.State => ({
  ...state,
  candidates: HashMap.set(
    state.candidates,
    id,
    State.candidates(state, id).map((one) => (one.txId === txId ? { ...one, standing } : one))
  )
})

/** One hash is one withdrawal's for ever, however that one ended. */
const hashTaken = (state: State.State, paymentHash: PaymentHash.PaymentHash, byOtherThan: string): boolean =>
  Option.exists(State.named(state, Withdrawal.noun, { paymentHash }), ({ id }) => id !== byOtherThan)

/** Then: is there enough money? */
const book = (state: State.State, { companyId, postings }: Leg, transferId: string): State.State | Balance.InsufficientBalance => {
  const balance = State.balanceOf(state, companyId)
  const needed = Balance.need(postings)
  if (needed > 0n && needed > Balance.available(balance)) return new Balance.InsufficientBalance({ companyId, needed })
  return {
    ...state,
    balances: HashMap.set(state.balances, companyId, Balance.add(balance, Balance.effect(postings))),
    entries: State.push(state.entries, companyId, ...postings.map((posting) => ({ ...posting, transferId })))
  }
}

const withCursor = (state: State.State, { cursor }: Storable): State.State =>
  cursor === undefined ? state : { ...state, cursors: HashMap.set(state.cursors, cursor.source, cursor.value) }

/** Which withdrawals it is about besides its own. */
const followersOf = (change: Storable) =>
  !Written.is(change) && (change._tag === "WithdrawalDispatched" || change._tag === "WithdrawalReplaced") ? change.followers : []

const withTasks = (tasks: State.State["tasks"], change: Storable): State.State["tasks"] => {
  const { companyId, jobs = [] } = change
  const handedOver =
    !Written.is(change) && change._tag === "WithdrawalDispatched"
      ? HashMap.removeMany(
          tasks,
          change.followers.map(({ id }) => id)
        )
      : tasks
  return jobs.reduce((left, job) => {
    if (job._tag === "Complete") return HashMap.remove(left, job.id)
    const { kind, id, dueAtMillis } = job
    return HashMap.has(left, id) ? left : HashMap.set(left, id, { kind, companyId, lane: "", dueAtMillis, token: 0, attempts: 0 })
  }, handedOver)
}

/** What every company that it is about is told. */
const withEvents = (events: State.State["events"], change: Storable): State.State["events"] => {
  const { event, companyId, atMillis } = change
  if (event === undefined) return events
  const told = [{ companyId, subject: event.subject }, ...followersOf(change).map(({ id, companyId }) => ({ companyId, subject: id }))]
  return told.reduce((all, one) => {
    const id = HashMap.size(all) + 1
    return HashMap.set(all, id, { id: BigInt(id), atMillis, type: event.type, ...one })
  }, events)
}

/** What every kind leaves beside its rows and postings. */
const record = (state: State.State, change: Storable): State.State => {
  const { once } = change
  return {
    ...withCursor(state, change),
    tasks: withTasks(state.tasks, change),
    answers: once === undefined ? state.answers : HashMap.set(state.answers, State.answerAddress(once.owner, once.key), once),
    events: withEvents(state.events, change)
  }
}

/** One Change on one state: the verdict, and the state after it. */
export const apply = (state: State.State, change: Storable): readonly [Verdict, State.State] => {
  const { once } = change
  const answer = once && Option.getOrUndefined(HashMap.get(state.answers, State.answerAddress(once.owner, once.key)))
  if (once !== undefined && answer !== undefined) {
    return answer.fingerprint === once.fingerprint
      ? [Exit.succeed({ _tag: "Replayed", answer: answer.answer }), state]
      : [Exit.fail(new Journal.IdempotencyMismatch({ key: once.key })), state]
  }
  const earlier = Written.is(change) ? Writes.before(state, change) : before(state, change)
  const overtaken = stale(state, change)
  if (earlier === "again") return [Exit.succeed(Journal.applied), overtaken === undefined ? withCursor(state, change) : state]
  const refusal = earlier ?? overtaken
  if (refusal !== undefined) return [Exit.fail(refusal), state]
  let next: State.State | Changes.Refusal = Written.is(change) ? Writes.write(state, change) : move(state, change)
  for (const leg of change.legs) if (!("_tag" in next)) next = book(next, leg, change.transferId ?? change.id)
  return "_tag" in next ? [Exit.fail(next), state] : [Exit.succeed(Journal.applied), record(next, change)]
}
