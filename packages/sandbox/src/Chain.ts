import * as Msat from "@satrail/bitcoin/Msat"
import * as TxId from "@satrail/bitcoin/TxId"
import { coinbaseMaturity, type Placement, type Tip } from "@satrail/core/nodes/ChainSource"
import type * as Coin from "@satrail/core/nodes/Coin"
import { HashMap, Option } from "effect"
import * as Block from "./Block.ts"
import type { ChainEvent } from "./Event.ts"
import * as Transaction from "./Transaction.ts"

type Owner = "wallet" | "outside"

/** The wallet and the key that can spend from a script. */
export interface Ownership extends Coin.Place {
  readonly owner: Owner
}

/** A transaction seen at least once, and where it is now. */
export interface Placed extends Transaction.Transaction {
  readonly placement: Placement
  readonly isCoinbase: boolean
  readonly feeSats: bigint
}

export interface MinedBlock {
  readonly hash: string
  readonly txIds: ReadonlyArray<TxId.TxId>
  /** Undefined for a block of an earlier version. */
  readonly timeSeconds: number | undefined
}

/** The best chain, its mempool, and the state of the wallets. */
export interface State {
  readonly tip: Tip
  readonly blocks: HashMap.HashMap<number, MinedBlock>
  /** Number of blocks ever mined, including those removed by a reorganization. */
  readonly minedCount: number
  readonly transactions: HashMap.HashMap<TxId.TxId, Placed>
  /** The mempool, in an order in which its transactions could be mined. */
  readonly mempool: ReadonlyArray<TxId.TxId>
  /** The transaction that spends each outpoint, unless that transaction is gone. */
  readonly spenders: HashMap.HashMap<string, TxId.TxId>
  /** Scripts of the wallets' keys, and their unspent outputs. */
  readonly owners: HashMap.HashMap<string, Ownership>
  readonly coins: HashMap.HashMap<string, Owner>
  readonly minerScript: string
  /** The next key index of each branch of our wallet. */
  readonly next: readonly [receiving: number, change: number]
  readonly outsideAddressCount: number
  /** All outputs ever seen for a script. The miner's scripts are not tracked. */
  readonly paid: HashMap.HashMap<string, ReadonlyArray<string>>
  /** Numbers each change of an output, except the miner's outputs. Only the last change of each output counts. */
  readonly changes: HashMap.HashMap<number, string>
  readonly changeOf: HashMap.HashMap<string, number>
  readonly changeCount: number
  /** The current fee rate for fast confirmation, in satoshis per virtual byte. */
  readonly feeRate: number
}

/** The initial fee rate. */
export const usualFeeRate = 2

/** The state before the first block. */
export const empty: State = {
  tip: { height: -1, hash: "00".repeat(32) },
  blocks: HashMap.empty(),
  minedCount: 0,
  transactions: HashMap.empty(),
  mempool: [],
  spenders: HashMap.empty(),
  owners: HashMap.empty(),
  coins: HashMap.empty(),
  minerScript: "",
  next: [0, 0],
  outsideAddressCount: 0,
  paid: HashMap.empty(),
  changes: HashMap.empty(),
  changeOf: HashMap.empty(),
  changeCount: 0,
  feeRate: usualFeeRate
}

export const transaction = (state: State, txId: TxId.TxId): Placed | undefined =>
  Option.getOrUndefined(HashMap.get(state.transactions, txId))
export const spender = (state: State, outpoint: string): TxId.TxId | undefined =>
  Option.getOrUndefined(HashMap.get(state.spenders, outpoint))
export const ownership = (state: State, scriptPubKey: string): Ownership | undefined =>
  Option.getOrUndefined(HashMap.get(state.owners, scriptPubKey))

/** Returns the output of an outpoint, with its transaction. */
export const output = (
  state: State,
  outpoint: string
): { readonly of: Placed; readonly vout: number; readonly output: Transaction.Output } | undefined => {
  const [txId = "", place = ""] = outpoint.split(":")
  const of = transaction(state, TxId.make(txId))
  const found = of?.outputs[Number(place)]
  return of === undefined || found === undefined ? undefined : { of, vout: Number(place), output: found }
}

/** Returns whether the transaction's outputs could be spent in the next block. */
export const isSpendable = (state: State, { placement, isCoinbase }: Placed): boolean =>
  placement._tag === "mempool" ||
  (placement._tag === "mined" && (!isCoinbase || state.tip.height + 1 - placement.height >= coinbaseMaturity))

/** Returns a wallet's spendable coins; with `confirmed`, only those in blocks. */
export const coins = (state: State, owner: Owner, confirmed: boolean): ReadonlyArray<Coin.Coin> =>
  HashMap.toEntries(state.coins).flatMap(([outpoint, whose]) => {
    const found = whose === owner ? output(state, outpoint) : undefined
    const place = found && ownership(state, found.output.scriptPubKey)
    if (found === undefined || place === undefined || !isSpendable(state, found.of)) return []
    const isConfirmed = found.of.placement._tag === "mined"
    if (confirmed && !isConfirmed) return []
    const { scriptPubKey, sats } = found.output
    const { type, branch, index } = place
    return [{ outpoint, scriptPubKey, amount: Msat.fromSats(sats), type, branch, index, isConfirmed }]
  })

const isLive = (placement: Placement | undefined) => placement !== undefined && placement._tag !== "gone"

const outpointsOf = ({ txId, outputs }: Transaction.Transaction): ReadonlyArray<string> =>
  outputs.map((_, vout) => Transaction.outpoint(txId, vout))

/** Returns these transactions and all live descendants, descendants first. */
export const withDescendants = (state: State, txIds: ReadonlyArray<TxId.TxId>): ReadonlyArray<TxId.TxId> => {
  const found = new Set<TxId.TxId>()
  const visit = (txId: TxId.TxId): void => {
    if (found.has(txId)) return
    for (const outpoint of outpointsOf(HashMap.getUnsafe(state.transactions, txId))) {
      const next = spender(state, outpoint)
      if (next !== undefined) visit(next)
    }
    found.add(txId)
  }
  txIds.forEach(visit)
  return [...found]
}

/**
 * Updates whether an output is a wallet's coin. An output is a coin if it belongs to the wallet, exists and is
 * unspent.
 */
const settleCoin = (state: State, outpoint: string): State => {
  const found = output(state, outpoint)
  const owner = found && ownership(state, found.output.scriptPubKey)?.owner
  if (found === undefined || owner === undefined) return state
  const isCoin = isLive(found.of.placement) && spender(state, outpoint) === undefined
  return {
    ...state,
    coins: isCoin ? HashMap.set(state.coins, outpoint, owner) : HashMap.remove(state.coins, outpoint)
  }
}

const noteChange = (state: State, outpoint: string): State => {
  const changeCount = state.changeCount + 1
  const before = HashMap.get(state.changeOf, outpoint)
  const changes = Option.isSome(before) ? HashMap.remove(state.changes, before.value) : state.changes
  return {
    ...state,
    changeCount,
    changes: HashMap.set(changes, changeCount, outpoint),
    changeOf: HashMap.set(state.changeOf, outpoint, changeCount)
  }
}

/** Records where a known transaction is now, and updates everything derived from that. */
const place = (state: State, txId: TxId.TxId, placement: Placement): State => {
  const before = HashMap.getUnsafe(state.transactions, txId)
  const live = isLive(placement)
  let spenders = state.spenders
  for (const input of before.inputs) {
    if (live) spenders = HashMap.set(spenders, input, txId)
    else if (spender(state, input) === txId) spenders = HashMap.remove(spenders, input)
  }
  let next: State = {
    ...state,
    spenders,
    transactions: HashMap.set(state.transactions, txId, { ...before, placement })
  }
  const own = outpointsOf(before)
  for (const outpoint of [...before.inputs, ...own]) next = settleCoin(next, outpoint)
  for (const [vout, outpoint] of own.entries()) {
    if (before.outputs[vout]?.scriptPubKey !== state.minerScript) next = noteChange(next, outpoint)
  }
  return next
}

/** Records a transaction. Does nothing if it is already known. */
const learn = (state: State, rawTx: string, isCoinbase: boolean): readonly [State, TxId.TxId] => {
  const parsed = Transaction.parse(rawTx)
  if (parsed === undefined) throw new Error("A transaction that was accepted cannot be read")
  if (transaction(state, parsed.txId) !== undefined) return [state, parsed.txId]
  const sumIn = parsed.inputs.reduce((sum, input) => sum + (output(state, input)?.output.sats ?? 0n), 0n)
  const feeSats = isCoinbase ? 0n : sumIn - parsed.outputs.reduce((sum, { sats }) => sum + sats, 0n)
  let paid = state.paid
  for (const [vout, { scriptPubKey }] of parsed.outputs.entries()) {
    if (scriptPubKey === state.minerScript) continue
    const earlier = Option.getOrElse(HashMap.get(paid, scriptPubKey), (): ReadonlyArray<string> => [])
    paid = HashMap.set(paid, scriptPubKey, [...earlier, Transaction.outpoint(parsed.txId, vout)])
  }
  const placed: Placed = {
    ...parsed,
    ...(isCoinbase && { inputs: [] }),
    isCoinbase,
    feeSats,
    placement: { _tag: "gone" }
  }
  return [{ ...state, paid, transactions: HashMap.set(state.transactions, parsed.txId, placed) }, parsed.txId]
}

/**
 * Removes these transactions and their descendants, because a conflicting transaction was accepted or a block
 * was removed.
 */
const evict = (state: State, txIds: ReadonlyArray<TxId.TxId>): State => {
  const gone = new Set(withDescendants(state, txIds))
  const after = [...gone].reduce((now, txId) => place(now, txId, { _tag: "gone" }), state)
  return { ...after, mempool: after.mempool.filter((txId) => !gone.has(txId)) }
}

const seen = (state: State, rawTx: string): State => {
  const [known, txId] = learn(state, rawTx, false)
  const conflicts = HashMap.getUnsafe(known.transactions, txId).inputs.flatMap(
    (input) => spender(known, input) ?? []
  )
  const free = conflicts.length === 0 ? known : evict(known, conflicts)
  return { ...place(free, txId, { _tag: "mempool" }), mempool: [...free.mempool, txId] }
}

const mined = (state: State, block: Extract<ChainEvent, { readonly _tag: "BlockMined" }>): State => {
  const height = state.tip.height + 1
  const [known, coinbase] = learn(state, block.coinbase, true)
  const txIds = [coinbase, ...block.txIds]
  const included = new Set(block.txIds)
  return {
    ...txIds.reduce(
      (now, txId) => place(now, txId, { _tag: "mined", height, isCoinbase: txId === coinbase }),
      known
    ),
    tip: { height, hash: block.hash },
    blocks: HashMap.set(state.blocks, height, { hash: block.hash, txIds, timeSeconds: block.timeSeconds }),
    minedCount: state.minedCount + 1,
    mempool: state.mempool.filter((txId) => !included.has(txId))
  }
}

const disconnected = (state: State, depth: number): State => {
  let after = state
  for (let left = depth; left > 0; left--) {
    const { height } = after.tip
    const [coinbase = TxId.make(""), ...txIds] = HashMap.getUnsafe(after.blocks, height).txIds
    after = txIds.reduce((now, txId) => place(now, txId, { _tag: "mempool" }), after)
    after = evict(
      {
        ...after,
        blocks: HashMap.remove(after.blocks, height),
        tip: { height: height - 1, hash: HashMap.getUnsafe(after.blocks, height - 1).hash },
        mempool: [...txIds, ...after.mempool]
      },
      [coinbase]
    )
  }
  return after
}

/** Applies an event, which must have been decided on this state. */
export const apply = (state: State, event: ChainEvent): State => {
  switch (event._tag) {
    case "AddressGiven": {
      const { owner, type, branch, index, scriptPubKey } = event
      const owners = HashMap.set(state.owners, scriptPubKey, { owner, type, branch, index })
      if (owner === "outside") return { ...state, owners, minerScript: scriptPubKey }
      const [receiving, change] = state.next
      return { ...state, owners, next: branch === 0 ? [index + 1, change] : [receiving, index + 1] }
    }
    case "OutsideAddressGiven":
      return { ...state, outsideAddressCount: state.outsideAddressCount + 1 }
    case "ScriptsWatched":
      return state // occurs only in logs of earlier versions
    case "TransactionSeen":
      return seen(state, event.rawTx)
    case "BlockMined":
      return mined(state, event)
    case "BlocksDisconnected":
      return disconnected(state, event.depth)
    case "FeeRateSet":
      return { ...state, feeRate: event.feeRate }
  }
}

/** Builds the next block, with these transactions and the miner's reward. */
export const nextBlock = (state: State, txIds: ReadonlyArray<TxId.TxId>, timeSeconds: number): ChainEvent => {
  const fees = txIds.reduce((sum, txId) => sum + HashMap.getUnsafe(state.transactions, txId).feeSats, 0n)
  const reward = { scriptPubKey: state.minerScript, sats: Block.subsidySats + fees }
  const coinbase = Block.coinbase(state.tip.height + 1, state.minedCount, reward)
  const coinbaseTxId = Transaction.parse(coinbase)?.txId ?? TxId.make("")
  return {
    _tag: "BlockMined",
    hash: Block.hash(state.tip.hash, [coinbaseTxId, ...txIds], timeSeconds),
    coinbase,
    txIds,
    timeSeconds
  }
}
