import type * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import type * as TxId from "@satrail/bitcoin/TxId"
import * as Coin from "@satrail/core/nodes/Coin"
import * as Deposit from "@satrail/core/receiving/Deposit"
import * as Noun from "@satrail/core/ledger/Noun"
import * as Invoice from "@satrail/core/receiving/Invoice"
import * as LightningAddress from "@satrail/core/receiving/LightningAddress"
import type { PayoutReleased } from "@satrail/core/sending/LostPayout"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { Equal, HashMap, Option } from "effect"
import { conflict, type Kind, own } from "./Program.ts"
import * as State from "./State.ts"
import * as Writes from "./Writes.ts"

const terminal = ({ id, status }: Withdrawal.Withdrawal) => new Withdrawal.AlreadyTerminal({ id, status })

const sameSettlement = (
  withdrawal: Withdrawal.Withdrawal,
  { preimage, chainTxId, networkFee }: Withdrawal.Settlement
): boolean =>
  withdrawal.preimage === preimage &&
  withdrawal.chainTxId === chainTxId &&
  withdrawal.networkFee === networkFee

/**
 * Returns whether another withdrawal has this payment hash. A hash belongs to one withdrawal permanently, even
 * if that withdrawal failed.
 */
const hashTaken = (state: State.State, paymentHash: PaymentHash.PaymentHash, byOtherThan: string): boolean =>
  Option.exists(State.named(state, Withdrawal.noun, { paymentHash }), ({ id }) => id !== byOtherThan)

/** Returns whether the stored followers are the same as those in the Change. */
const isLed = (
  state: State.State,
  { id, followers }: Withdrawal.WithdrawalDispatched | Withdrawal.WithdrawalReplaced
): boolean =>
  Equal.equals(
    State.followers(state, id).map((row) => row.id),
    followers.map((follower) => follower.id).toSorted()
  )

/** Returns the followers with their shares. A missing follower is a bug in the caller. */
const led = (
  state: State.State,
  { _tag, atMillis, followers }: Withdrawal.WithdrawalDispatched | Withdrawal.WithdrawalReplaced
): ReadonlyArray<Withdrawal.Withdrawal> =>
  followers.map(({ id, companyId, networkFee }) => {
    const row = Option.getOrUndefined(HashMap.get(State.of(state, Withdrawal.noun), id))
    if (row?.companyId !== companyId) throw new Error(`${_tag}: company ${companyId} has no ${id}`)
    return { ...row, networkFee, updatedAtMillis: atMillis }
  })

/**
 * Adds a transaction that spends `coins` for a payout and its followers, unless another payout spends those
 * coins.
 */
const offer = (
  state: State.State,
  row: Withdrawal.Withdrawal,
  followers: ReadonlyArray<Withdrawal.Withdrawal>,
  { _tag, coins: _, paymentRequest: __, ...candidate }: Withdrawal.Attempt & { readonly _tag: "Chain" },
  coins: ReadonlyArray<string>
): State.State | Withdrawal.CoinTaken => {
  if (coins.some((coin) => Option.exists(HashMap.get(state.withdrawalByCoin, coin), (id) => id !== row.id)))
    return new Withdrawal.CoinTaken({ withdrawalId: row.id })
  const { txId: chainTxId, rawTx } = candidate
  const led = followers.reduce(
    (next, follower) => State.put(next, Withdrawal.noun, { ...follower, chainTxId }),
    state
  )
  return {
    ...State.put(led, Withdrawal.noun, {
      ...row,
      chainTxId,
      rawTx,
      networkFee: Withdrawal.ownShare(candidate, followers)
    }),
    candidates: HashMap.set(state.candidates, row.id, [
      ...State.candidates(state, row.id),
      { ...candidate, standing: "offered" }
    ]),
    withdrawalByCoin: coins.reduce((map, coin) => HashMap.set(map, coin, row.id), state.withdrawalByCoin)
  }
}

const dispatched: Kind<Withdrawal.WithdrawalDispatched> = {
  before: (state, change) => {
    const row = own(state, Withdrawal.noun, change)
    const attempt = Option.getOrUndefined(HashMap.get(state.attempts, change.id))
    if (attempt !== undefined)
      return Equal.equals(attempt, change.attempt) && isLed(state, change) ? "again" : conflict(change)
    if (row.dispatchedAtMillis !== null) return conflict(change)
    return row.status === "pending" ? undefined : terminal(row)
  },
  move: (state, change) => {
    const { attempt, atMillis } = change
    const attempts = HashMap.set(state.attempts, change.id, attempt)
    const row = {
      ...own(state, Withdrawal.noun, change),
      dispatchedAtMillis: atMillis,
      updatedAtMillis: atMillis
    }
    if (attempt._tag === "Lightning") {
      const { paymentHash, paymentRequest, successAction } = attempt
      return hashTaken(state, paymentHash, change.id)
        ? new Withdrawal.PaymentHashTaken({ paymentHash })
        : {
            ...State.put(state, Withdrawal.noun, { ...row, paymentHash, paymentRequest, successAction }),
            attempts
          }
    }
    if (attempt._tag === "Bolt12")
      return { ...State.put(state, Withdrawal.noun, { ...row, paymentRequest: attempt.offer }), attempts }
    const followers = led(state, change)
    if (
      followers.some(({ status, dispatchedAtMillis }) => status !== "pending" || dispatchedAtMillis !== null)
    )
      return conflict(change)
    const sent = followers.map((follower) => ({ ...follower, dispatchedAtMillis: atMillis }))
    const offered = offer(
      state,
      { ...row, paymentRequest: attempt.paymentRequest ?? null },
      sent,
      attempt,
      attempt.coins
    )
    if ("_tag" in offered) return offered
    const ids = followers.map(({ id }) => id)
    return { ...offered, attempts, followers: HashMap.set(state.followers, change.id, ids) }
  }
}

const replaced: Kind<Withdrawal.WithdrawalReplaced> = {
  before: (state, change) => {
    const row = own(state, Withdrawal.noun, change)
    if (State.candidates(state, change.id).some(({ txId }) => txId === change.attempt.txId)) return "again"
    if (row.status !== "pending") return terminal(row)
    return row.chainTxId === change.replaces.txId && isLed(state, change) ? undefined : conflict(change)
  },
  move: (state, change) => {
    const { attempt, replaces } = change
    const row = { ...own(state, Withdrawal.noun, change), updatedAtMillis: change.atMillis }
    const followers = led(state, change)
    const ended = followers.find(({ status }) => status !== "pending")
    if (ended !== undefined) return terminal(ended)
    return offer(
      state,
      row,
      followers,
      attempt,
      replaces.change === null ? attempt.coins : [...attempt.coins, replaces.change]
    )
  }
}

const standing = (
  state: State.State,
  id: string,
  txId: TxId.TxId,
  standing: State.Signed["standing"]
): State.State => ({
  ...state,
  candidates: HashMap.set(
    state.candidates,
    id,
    State.candidates(state, id).map((one) => (one.txId === txId ? { ...one, standing } : one))
  )
})

const buried: Kind<Withdrawal.PayoutBuried> = {
  before: (state, { id }) =>
    State.candidates(state, id).some(({ standing }) => standing === "buried") ? "again" : undefined,
  move: (state, { id, txId }) => standing(state, id, txId, "buried")
}

const released: Kind<PayoutReleased> = {
  before: (state, change) => {
    const row = own(state, Withdrawal.noun, change)
    if (row.status === "failed") return "again"
    if (row.status !== "pending") return terminal(row)
    return row.chainTxId === change.txId ? undefined : conflict(change)
  },
  move: (state, change) => {
    const failure = Withdrawal.releasedFailure
    const row = {
      ...own(state, Withdrawal.noun, change),
      status: "failed",
      failure,
      counted: null,
      updatedAtMillis: change.atMillis
    } as const
    const withdrawalByCoin = HashMap.filter(
      state.withdrawalByCoin,
      (id, coin) => id !== change.id || !change.coins.includes(coin)
    )
    return State.put({ ...state, withdrawalByCoin }, Withdrawal.noun, row)
  }
}

const settledBy = (
  state: State.State,
  change: Withdrawal.WithdrawalSettled | Withdrawal.InternalTransferred
): Withdrawal.Withdrawal => ({
  ...own(state, Withdrawal.noun, change),
  ...change.settlement,
  status: "settled",
  updatedAtMillis: change.atMillis
})

const settled: Kind<Withdrawal.WithdrawalSettled> = {
  before: (state, change) => {
    const row = own(state, Withdrawal.noun, change)
    if (row.status === "settled") return sameSettlement(row, change.settlement) ? "again" : conflict(change)
    return row.status === "pending" ? undefined : terminal(row)
  },
  move: (state, change) => {
    const row = settledBy(state, change)
    const { chainTxId } = row
    if (chainTxId === null) return State.put(state, Withdrawal.noun, row)
    const winner = State.candidates(state, change.id).find(({ txId }) => txId === chainTxId)
    const next = standing(state, change.id, chainTxId, "settled")
    // Release the change output. It was reserved until the transaction was certain to confirm.
    const coin = winner?.change ? Coin.outpoint(chainTxId, winner.change.vout) : ""
    const isKept = Option.exists(HashMap.get(next.withdrawalByCoin, coin), (id) => id === change.id)
    return State.put(
      isKept ? { ...next, withdrawalByCoin: HashMap.remove(next.withdrawalByCoin, coin) } : next,
      Withdrawal.noun,
      {
        ...row,
        rawTx: winner?.rawTx ?? row.rawTx
      }
    )
  }
}

const addressUsed = Noun.touch(LightningAddress.noun, ["lastUsedAtMillis", "updatedAtMillis"])

const transferred: Kind<Withdrawal.InternalTransferred> = {
  before: (state, change) => {
    const row = own(state, Withdrawal.noun, change)
    if (row.status === "pending") return undefined
    const deposit = Option.getOrUndefined(HashMap.get(State.of(state, Deposit.noun), change.deposit.id))
    return Equal.equals(deposit, change.deposit) && sameSettlement(row, change.settlement)
      ? "again"
      : terminal(row)
  },
  move: (state, change) => {
    const { invoice: pays, settlement, deposit, atMillis } = change
    const withdrawal = settledBy(state, change)
    const credited = Writes.follow(state, change, Noun.insert(Deposit.noun, deposit))
    const used = Writes.follow(credited, change, addressUsed(deposit.companyId, change.lightningAddressId))
    if (pays === null) return State.put(used, Withdrawal.noun, withdrawal)
    const invoice = HashMap.getUnsafe(State.of(state, Invoice.noun), pays.id)
    if (
      invoice.status !== "claimed" ||
      invoice.claimedBy !== change.id ||
      hashTaken(state, pays.paymentHash, change.id)
    ) {
      return new Invoice.InvoiceNotPayable({ invoiceId: pays.id, status: invoice.status })
    }
    return State.put(
      State.put(used, Withdrawal.noun, {
        ...withdrawal,
        paymentHash: pays.paymentHash,
        paymentRequest: pays.paymentRequest
      }),
      Invoice.noun,
      {
        ...invoice,
        status: "settled",
        received: deposit.amount,
        preimage: settlement.preimage,
        settledAtMillis: atMillis
      }
    )
  }
}

export const kinds = {
  WithdrawalDispatched: dispatched,
  WithdrawalReplaced: replaced,
  WithdrawalSettled: settled,
  InternalTransferred: transferred,
  PayoutBuried: buried,
  PayoutReleased: released
}
