import { secp256k1 } from "@noble/curves/secp256k1.js"
import * as BitcoinAddress from "@satrail/bitcoin/BitcoinAddress"
import * as Msat from "@satrail/bitcoin/Msat"
import * as TxId from "@satrail/bitcoin/TxId"
import type { Tip } from "@satrail/core/nodes/ChainSource"
import * as Destination from "@satrail/core/sending/Destination"
import { Result } from "effect"
import * as Chain from "./Chain.ts"
import type { ChainEvent } from "./Event.ts"
import * as Genesis from "./Genesis.ts"
import type * as Keys from "./Keys.ts"
import * as Mempool from "./Mempool.ts"
import * as Outside from "./Outside.ts"
import { refuse, type SandboxRefused } from "./Refused.ts"
import * as Transaction from "./Transaction.ts"
import type { Decision, State, World } from "./World.ts"

type Verdict<A> = Result.Result<Decision<A>, SandboxRefused>

/** Maximum number of blocks per command. */
export const maxBlocks = 1_000

/** Mines consecutive blocks. The first includes the mempool if requested. */
const blocks = (
  state: Chain.State,
  count: number,
  takes: "mempool" | "nothing",
  nowMillis: number
): ReadonlyArray<ChainEvent> => {
  const events: Array<ChainEvent> = []
  let now = state
  for (let at = 0; at < count; at++) {
    const event = Chain.nextBlock(now, takes === "mempool" ? now.mempool : [], Math.floor(nowMillis / 1000))
    events.push(event)
    now = Chain.apply(now, event)
  }
  return events
}

/** The highest fee rate, in satoshis per virtual byte. */
export const maxFeeRate = 1000

/** Sets the fee rate for fast confirmation. Our miner still includes everything in the next block. */
export const setFeeRate = (feeRate: number) => (): Verdict<void> =>
  Number.isInteger(feeRate) && feeRate >= 1 && feeRate <= maxFeeRate
    ? Result.succeed({ events: [{ _tag: "FeeRateSet", feeRate }], answer: () => undefined })
    : refuse("out_of_range", `The fee rate must be between 1 and ${maxFeeRate} sats per virtual byte`)

const tip = (after: State): Tip => after.chain.tip

export const mine =
  (count: number) =>
  ({ chain }: State, nowMillis: number): Verdict<Tip> =>
    Number.isInteger(count) && count >= 1 && count <= maxBlocks
      ? Result.succeed({ events: blocks(chain, count, "mempool", nowMillis), answer: tip })
      : refuse("out_of_range", `1 to ${maxBlocks} blocks can be mined per request`)

/**
 * Replaces the last blocks with empty ones, plus one more. The transactions of the replaced blocks wait to be
 * mined again.
 */
export const reorg =
  (depth: number) =>
  ({ chain }: State, nowMillis: number): Verdict<Tip> => {
    const most = Math.min(maxBlocks, chain.tip.height - Genesis.height)
    if (!Number.isInteger(depth) || depth < 1 || depth > most) {
      return refuse(
        "out_of_range",
        `1 to ${most} blocks can be replaced: the first ${Genesis.height + 1} stay`
      )
    }
    const disconnected: ChainEvent = { _tag: "BlocksDisconnected", depth }
    return Result.succeed({
      events: [disconnected, ...blocks(Chain.apply(chain, disconnected), depth + 1, "nothing", nowMillis)],
      answer: tip
    })
  }

/** An output of an external transaction. */
export interface Payment {
  readonly address: string
  /** Whole satoshis. */
  readonly amount: Msat.Msat
}

const outputOf = (
  world: World,
  { address, amount }: Payment
): Result.Result<Transaction.Output, SandboxRefused> =>
  Result.flatMap(
    Result.orElse(Destination.addressIn(address, world.network), ({ message }) =>
      refuse("address_invalid", message)
    ),
    ({ scriptPubKey, kind }) => {
      if (amount <= 0n || amount % 1000n !== 0n)
        return refuse("amount_invalid", "The chain supports whole satoshis only")
      const sats = Msat.toSats(amount)
      return sats < BitcoinAddress.dustLimitSats(kind)
        ? refuse("amount_invalid", `${sats} sats to this address would be dust`)
        : Result.succeed({ scriptPubKey, sats })
    }
  )

const offered = (chain: Chain.State, rawTx: Result.Result<string, string>): Verdict<TxId.TxId> =>
  Result.flatMap(
    Result.orElse(rawTx, (message) => refuse("unfunded", message)),
    (rawTx): Verdict<TxId.TxId> => {
      const verdict = Mempool.judge(chain, rawTx)
      const txId = Transaction.parse(rawTx)?.txId ?? TxId.make("")
      if (Result.isFailure(verdict)) return refuse("rejected", verdict.failure)
      return Result.succeed({
        events: verdict.success._tag === "accepted" ? [verdict.success.event] : [],
        answer: () => txId
      })
    }
  )

/**
 * Has the external wallet pay all of these outputs in one transaction, which stays in the mempool. Returns its
 * id.
 */
export const send =
  (world: World, payments: ReadonlyArray<Payment>) =>
  ({ chain }: State): Verdict<TxId.TxId> => {
    if (payments.length === 0 || payments.length > 100)
      return refuse("out_of_range", "A transaction of the outside wallet has 1 to 100 outputs")
    return Result.flatMap(Result.all(payments.map((one) => outputOf(world, one))), (outputs) =>
      offered(chain, Outside.payment(chain, world.keys, outputs))
    )
  }

/** Replaces a transaction in the mempool with another that spends the same coins. Returns the new id. */
export const doubleSpend =
  (world: World, txId: TxId.TxId) =>
  ({ chain }: State): Verdict<TxId.TxId> => {
    const original = Chain.transaction(chain, txId)
    if (original === undefined) return refuse("transaction_unknown", `The chain has no transaction ${txId}`)
    if (original.placement._tag === "mined")
      return refuse("already_mined", "The transaction is mined. Remove its block first")
    return offered(chain, Outside.conflict(chain, world.keys, original))
  }

/**
 * The payload of an address, by kind: the hash of a key or script, or a key. Nothing is ever spent from the
 * address, so the payload may be the hash of anything.
 */
const payloadOf = (keys: Keys.Keys, kind: BitcoinAddress.Kind, label: string): Uint8Array => {
  switch (kind) {
    case "p2tr":
      return secp256k1.getPublicKey(keys.secret(label)).slice(1)
    case "p2wsh":
      return keys.secret(label)
    default:
      return keys.secret(label).slice(0, 20)
  }
}

export const outsideAddress =
  (world: World, kind: BitcoinAddress.Kind) =>
  ({ chain }: State): Verdict<string> => {
    const number = chain.outsideAddressCount
    const address = BitcoinAddress.fromPayload(
      kind,
      payloadOf(world.keys, kind, `address/${number}`),
      world.network
    )?.address
    return address === undefined
      ? refuse("address_invalid", `No ${kind} address can be made`)
      : Result.succeed({ events: [{ _tag: "OutsideAddressGiven", address }], answer: () => address })
  }
