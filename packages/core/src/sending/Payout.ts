import * as BitcoinAddress from "@satrail/bitcoin/BitcoinAddress"
import * as Msat from "@satrail/bitcoin/Msat"
import * as TxId from "@satrail/bitcoin/TxId"
import { base64, hex } from "@scure/base"
import { p2wpkh } from "@scure/btc-signer/payment.js"
import { Transaction } from "@scure/btc-signer/transaction.js"
import { Effect, Result } from "effect"
import type { Batch, Draft, Payment } from "../nodes/ChainWallet.ts"
import * as Coin from "../nodes/Coin.ts"

/** A key that a coin is locked with, as a PSBT names it: the public half, and the way to it from the master key. */
export interface Key {
  readonly publicKey: Uint8Array
  readonly path: ReadonlyArray<number>
}

/** The public side of a wallet. */
export interface Keys {
  readonly fingerprint: number
  readonly key: (place: Coin.Place) => Key
}

export interface Output {
  readonly scriptPubKey: string
  readonly sats: bigint
}

/** An output that is asked for, and what it adds to the most that mining may cost. */
export interface Asked extends Output {
  readonly feeLimitSats: bigint
}

/** Which coins to spend, and what is left for ourselves and the miners. No change: `changeSats` is 0. */
export interface Selection {
  readonly coins: ReadonlyArray<Coin.Coin>
  readonly feeSats: bigint
  readonly changeSats: bigint
}

/** The same, for some of the outputs that were asked for: `pays` has their places, ascending. */
export interface BatchSelection extends Selection {
  readonly pays: ReadonlyArray<number>
}

/**
 * Whether an input's keys are those of the output it spends is left to the signing, which fails or is worth nothing where they are not (BIP 143 and
 * 341: a signature covers amount and script). Checked each time an input is touched, a payout of 100 coins keeps everybody waiting for a second.
 */
const unchecked = { disableScriptCheck: true }

/** Replaceable (BIP 125). */
const sequence = 0xfffffffd

/** How many coins one payout may spend: each costs milliseconds to sign, and a standard transaction has at most 400 000 weight units. */
export const maxCoins = 60

// Weight units. Signatures are counted at their longest, so a fee is never less than its rate.
const overheadWeight = 42
const outputWeight = (scriptPubKey: string) => (9 + scriptPubKey.length / 2) * 4

/** Where change goes: P2TR, the cheapest to spend. */
export const changeType = "taproot"
const changeWeight = (9 + 34) * 4
const changeDust = BitcoinAddress.dustLimitSats("p2tr")

const byAmount = (one: Coin.Coin, other: Coin.Coin) => (one.amount === other.amount ? 0 : one.amount > other.amount ? -1 : 1)

/**
 * The largest coins first, until they pay for all outputs and a fee: `feeRate`, or as much of it as `feeLimitSats` allows, never less than
 * 1 sat for a virtual byte. Answers what would have been needed when they do not.
 */
export const select = (ask: {
  readonly coins: ReadonlyArray<Coin.Coin>
  readonly outputs: ReadonlyArray<Output>
  readonly feeRate: number
  readonly feeLimitSats: bigint
}): Selection | { readonly neededSats: bigint } => {
  const { outputs, feeRate, feeLimitSats } = ask
  const amount = outputs.reduce((sum, { sats }) => sum + sats, 0n)
  const limited = (weight: number): bigint | undefined => {
    const wanted = Coin.feeFor(weight, feeRate)
    const fee = wanted < feeLimitSats ? wanted : feeLimitSats
    return fee >= Coin.feeFor(weight, 1) ? fee : undefined
  }
  const coins: Array<Coin.Coin> = []
  let total = 0n
  let weight = overheadWeight + outputs.reduce((sum, { scriptPubKey }) => sum + outputWeight(scriptPubKey), 0)
  for (const coin of ask.coins.toSorted(byAmount).slice(0, maxCoins)) {
    const sats = Msat.toSats(coin.amount)
    // From here on every coin costs more than it brings.
    if (sats <= Coin.feeFor(Coin.inputWeight[coin.type], 1)) break
    coins.push(coin)
    total += sats
    weight += Coin.inputWeight[coin.type]
    const withChange = limited(weight + changeWeight)
    const changeSats = withChange === undefined ? 0n : total - amount - withChange
    if (withChange !== undefined && changeSats >= changeDust) return { coins, feeSats: withChange, changeSats }
    // What is too little to be an output of its own goes to the miners, within the limit.
    const rest = total - amount
    if (rest >= (limited(weight) ?? feeLimitSats + 1n) && rest <= feeLimitSats) return { coins, feeSats: rest, changeSats: 0n }
  }
  return { neededSats: amount + Coin.feeFor(weight, feeRate) }
}

/** The outputs of these payments. A payment of a fraction of a satoshi on the chain is a bug of its caller. */
export const asked = (payments: ReadonlyArray<Payment>): Effect.Effect<ReadonlyArray<Asked>> =>
  Effect.forEach(payments, ({ scriptPubKey, amount, feeLimit }) =>
    amount > 0n && amount % 1000n === 0n
      ? Effect.succeed({ scriptPubKey, sats: Msat.toSats(amount), feeLimitSats: Msat.toSats(feeLimit) })
      : Effect.die(new Error(`no transaction pays ${amount} millisatoshis`))
  )

const selectAll = (coins: ReadonlyArray<Coin.Coin>, outputs: ReadonlyArray<Asked>, feeRate: number) =>
  select({ coins, outputs, feeRate, feeLimitSats: outputs.reduce((sum, { feeLimitSats }) => sum + feeLimitSats, 0n) })

/** All of them, or each that still fits after those before it. */
const fitting = (coins: ReadonlyArray<Coin.Coin>, outputs: ReadonlyArray<Asked>, feeRate: number): BatchSelection | undefined => {
  const largest = coins.toSorted(byAmount).slice(0, maxCoins)
  const whole = selectAll(largest, outputs, feeRate)
  if ("coins" in whole) return { ...whole, pays: [...outputs.keys()] }
  let best: BatchSelection | undefined
  for (const place of outputs.keys()) {
    const pays = [...(best?.pays ?? []), place]
    const more = selectAll(
      largest,
      outputs.filter((_, at) => pays.includes(at)),
      feeRate
    )
    if ("coins" in more) best = { ...more, pays }
  }
  return best
}

/**
 * Coins for as many of these outputs as fit, the first before the others: one that is too large keeps none after it from being paid. What is in a
 * block comes first, and change that is not only where more can be paid with it: who spends that waits for two payouts instead of one.
 */
export const selectBatch = (ask: {
  readonly coins: ReadonlyArray<Coin.Coin>
  readonly outputs: ReadonlyArray<Asked>
  readonly feeRate: number
}): BatchSelection | { readonly neededSats: bigint } => {
  const { coins, outputs, feeRate } = ask
  const confirmed = fitting(
    coins.filter(({ isConfirmed }) => isConfirmed),
    outputs,
    feeRate
  )
  if (confirmed?.pays.length === outputs.length) return confirmed
  const any = fitting(coins, outputs, feeRate)
  const best = (any?.pays.length ?? 0) > (confirmed?.pays.length ?? 0) ? any : confirmed
  return best ?? { neededSats: outputs.reduce((sum, { sats, feeLimitSats }) => sum + sats + feeLimitSats, 0n) }
}

/**
 * What each member of a batch bears of a fee: in proportion to what was held from each for mining, so that none bears more than that while all
 * together do not. Rounded down to the msat one after the other, what is left over passed on to the next: 1000 for 1, 1 and 1 are 333, 333 and 334.
 */
export const shares = (fee: Msat.Msat, allowances: ReadonlyArray<Msat.Msat>): ReadonlyArray<Msat.Msat> => {
  const total = Msat.sum(...allowances)
  // Nothing was held from anybody: equal shares.
  const weights = total === 0n ? allowances.map(() => 1n) : allowances
  const whole = total === 0n ? BigInt(allowances.length) : total
  let weight = 0n
  let before = 0n
  return weights.map((own) => {
    weight += own
    const upTo = (fee * weight) / whole
    const share = Msat.make(upTo - before)
    before = upTo
    return share
  })
}

/** The unsigned transaction, with everything in it that a signer needs besides the keys. */
export const draft = (keys: Keys, coins: ReadonlyArray<Coin.Coin>, outputs: ReadonlyArray<Output>): Transaction => {
  const tx = new Transaction(unchecked)
  for (const { outpoint, scriptPubKey, amount, type, branch, index } of coins) {
    const { publicKey, path } = keys.key({ type, branch, index })
    const [txid = "", vout = ""] = outpoint.split(":")
    const derivation = { fingerprint: keys.fingerprint, path: [...path] }
    const xOnly = publicKey.slice(1)
    tx.addInput({
      txid,
      index: Number(vout),
      sequence,
      witnessUtxo: { amount: Msat.toSats(amount), script: hex.decode(scriptPubKey) },
      ...(type === "taproot"
        ? { tapInternalKey: xOnly, tapBip32Derivation: [[xOnly, { hashes: [], der: derivation }]] }
        : { bip32Derivation: [[publicKey, derivation]] }),
      ...(type === "nested_segwit" && { redeemScript: p2wpkh(publicKey).script })
    })
  }
  for (const { scriptPubKey, sats } of outputs) tx.addOutput({ script: hex.decode(scriptPubKey), amount: sats })
  return tx
}

/** What comes back to us of a selection, as the last output; null where nothing does. */
export const changeOf = (
  { changeSats, pays }: BatchSelection,
  place: Pick<Coin.Change, "wallet" | "scriptPubKey" | keyof Coin.Place>
): Coin.Change | null => (changeSats > 0n ? { ...place, vout: pays.length, amount: Msat.fromSats(changeSats) } : null)

/** The transaction of a selection, unsigned. */
export const drafted = (
  keys: Keys,
  { coins, pays }: BatchSelection,
  outputs: ReadonlyArray<Output>,
  change: Coin.Change | null
): Transaction => {
  const paid = outputs.filter((_, place) => pays.includes(place))
  return draft(keys, coins, change === null ? paid : [...paid, { scriptPubKey: change.scriptPubKey, sats: Msat.toSats(change.amount) }])
}

/** What is stored of it. */
export const toDraft = (tx: Transaction, { coins, feeSats, pays }: BatchSelection, change: Coin.Change | null): Batch => ({
  pays,
  psbt: toPsbt(tx),
  coins: coins.map(({ outpoint }) => outpoint),
  fee: Msat.fromSats(feeSats),
  change,
  isDeep: coins.some(({ isConfirmed }) => !isConfirmed)
})

export const toPsbt = (tx: Transaction): string => base64.encode(tx.toPSBT())
/** Reads a PSBT (BIP 174, base64). Throws on what is none. */
export const fromPsbt = (psbt: string): Transaction => Transaction.fromPSBT(base64.decode(psbt), unchecked)

const typeOfKind: { readonly [kind in BitcoinAddress.Kind]?: BitcoinAddress.AddressType } = {
  p2tr: "taproot",
  p2wpkh: "segwit",
  p2sh: "nested_segwit"
}

const scriptWeight = (script: Uint8Array): number => {
  // A script has no network: any of them finds its kind.
  const kind = Result.getOrUndefined(Result.map(BitcoinAddress.fromScript(hex.encode(script), "regtest"), ({ kind }) => kind))
  return Coin.inputWeight[(kind && typeOfKind[kind]) ?? "nested_segwit"]
}

/**
 * The same payments from the same coins for more (BIP 125, rules 3 and 4): the old fee and at least 1 sat more for each virtual byte, taken
 * from the change, or undefined where change or limit do not allow it. 1000 in change with a fee of 200 for 150 vB at a new rate of 3: 750 and 450.
 */
export const replacement = (
  before: Pick<Draft, "psbt" | "fee" | "change" | "isDeep">,
  feeRate: number,
  feeLimit: Msat.Msat
): Draft | undefined => {
  const { change } = before
  if (change === null) return undefined
  const tx = fromPsbt(before.psbt)
  const inputs = Array.from({ length: tx.inputsLength }, (_, at) => tx.getInput(at))
  const outputs = Array.from({ length: tx.outputsLength }, (_, at) => tx.getOutput(at))
  const weight = outputs.reduce(
    (sum, { script }) => sum + outputWeight(hex.encode(script ?? new Uint8Array())),
    inputs.reduce((sum, { witnessUtxo }) => sum + scriptWeight(witnessUtxo?.script ?? new Uint8Array()), overheadWeight)
  )
  const [oldSats, limitSats] = [Msat.toSats(before.fee), Msat.toSats(feeLimit)]
  const [wanted, least] = [Coin.feeFor(weight, feeRate), oldSats + Coin.feeFor(weight, 1)]
  const fee = wanted < limitSats ? wanted : limitSats
  if (fee < least) return undefined
  const changeSats = Msat.toSats(change.amount) - (fee - oldSats)
  if (changeSats < changeDust) return undefined
  tx.updateOutput(change.vout, { amount: changeSats })
  return {
    psbt: toPsbt(tx),
    coins: inputs.map(({ txid, index }) => Coin.outpoint(TxId.make(hex.encode(txid ?? new Uint8Array())), index ?? 0)),
    fee: Msat.fromSats(fee),
    change: { ...change, amount: Msat.fromSats(changeSats) },
    isDeep: before.isDeep
  }
}

// Signing the same twice gives the same bytes.
const noRandomness = new Uint8Array(32)

/** Signs one input with the key of `path`, if the input names one of a wallet with this fingerprint. Throws when it does not. */
export const signInput = (
  tx: Transaction,
  index: number,
  fingerprint: number,
  privateKey: (path: ReadonlyArray<number>) => Uint8Array
): void => {
  const { bip32Derivation, tapBip32Derivation } = tx.getInput(index)
  const derivation = tapBip32Derivation?.[0]?.[1].der ?? bip32Derivation?.[0]?.[1]
  if (derivation?.fingerprint !== fingerprint) throw new Error(`Input ${index} names no key of this signer`)
  tx.signIdx(privateKey(derivation.path), index, undefined, noRandomness)
}

/** The transaction, when all of its inputs are signed. Throws when they are not. */
export const finished = (tx: Transaction): { readonly txId: TxId.TxId; readonly rawTx: string } => {
  tx.finalize()
  return serialised(tx)
}

/** The transaction whose inputs are all final. */
export const serialised = (tx: Transaction): { readonly txId: TxId.TxId; readonly rawTx: string } => ({
  txId: TxId.make(tx.id),
  rawTx: tx.hex
})
