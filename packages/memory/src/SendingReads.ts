import * as Id from "@satrail/core/base/Id"
import type { SendingReads, SettledPayout } from "@satrail/core/sending/SendingReads"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { Array as Arr, HashMap, Option } from "effect"
import { newestFirst, page, type Read, recordOf } from "./Reading.ts"
import * as State from "./State.ts"

const underWay = (state: State.State) =>
  State.all(state, Withdrawal.noun).filter(
    ({ status, dispatchedAtMillis }) => status === "pending" && dispatchedAtMillis !== null
  )

const settledOverLightning = (state: State.State, sinceMillis: number, beforeMillis: number) =>
  State.all(state, Withdrawal.noun).filter(
    ({ id, status, paymentHash, paymentIndex, dispatchedAtMillis, updatedAtMillis }) =>
      id >= Id.floorOf(sinceMillis) &&
      status === "settled" &&
      paymentHash !== null &&
      paymentIndex !== null &&
      dispatchedAtMillis !== null &&
      updatedAtMillis < beforeMillis
  )

const settledPayouts = (state: State.State): ReadonlyArray<SettledPayout> =>
  Array.from(HashMap.entries(state.candidates)).flatMap(([id, all]) =>
    all
      .filter(({ standing }) => standing === "settled")
      .map(({ txId, rawTx }) => ({
        id,
        companyId: HashMap.getUnsafe(State.of(state, Withdrawal.noun), id).companyId,
        txId,
        rawTx
      }))
  )

const candidateOf = ({ standing: _, ...candidate }: State.Signed): Withdrawal.Candidate => candidate

export const make = (read: Read): SendingReads["Service"] => ({
  withdrawal: recordOf(read, Withdrawal.noun),
  withdrawalById: (id) => read((now) => HashMap.get(State.of(now, Withdrawal.noun), id)),
  withdrawalByHash: (paymentHash) => read((now) => State.named(now, Withdrawal.noun, { paymentHash })),
  withdrawalsUnderWay: (after, limit) => read((now) => page(underWay(now), after, limit)),
  settledOverLightning: (since, before) =>
    read((now) => Arr.head(newestFirst(settledOverLightning(now, since, before), null, 1))),
  followers: (withdrawalId) => read((now) => State.followers(now, withdrawalId)),
  candidates: (companyId, id) =>
    read((now) =>
      Option.isSome(State.get(now, Withdrawal.noun, companyId, id))
        ? State.candidates(now, id).map(candidateOf)
        : []
    ),
  payoutOf: (txId) =>
    read((now) => {
      const found = Array.from(HashMap.entries(now.candidates)).find(([, signed]) =>
        signed.some((one) => one.txId === txId)
      )
      return found === undefined ? Option.none() : HashMap.get(State.of(now, Withdrawal.noun), found[0])
    }),
  settledPayouts: (after, limit) => read((now) => page(settledPayouts(now), after, limit)),
  coins: (wallet, limit) => read((now) => State.coins(now, wallet).slice(0, limit)),
  spentCoins: (outpoints) =>
    read((now) => new Set(outpoints.filter((coin) => HashMap.has(now.withdrawalByCoin, coin))))
})
