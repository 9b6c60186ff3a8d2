import * as BitcoinAddress from "@satrail/bitcoin/BitcoinAddress"
import * as Msat from "@satrail/bitcoin/Msat"
import * as TxId from "@satrail/bitcoin/TxId"
import { base64, hex } from "@scure/base"
import { p2wpkh } from "@scure/btc-signer/payment.js"
import { Transaction } from "@scure/btc-signer/transaction.js"
import { Effect } from "effect"
import type { Batch, Draft, Payment } from "../nodes/ChainWallet.ts"
import * as Coin from "../nodes/Coin.ts"

/** The key that locks a coin, as in a PSBT: the public key and its path from the master key. */
export interface Key {
  readonly publicKey: Uint8Array
  readonly path: ReadonlyArray<number>
}

/** The public keys of a wallet. */
export interface Keys {
  readonly fingerprint: number
  readonly key: (place: Coin.Place) => Key
}

export interface Output {
  readonly scriptPubKey: string
  readonly sats: bigint
}

/** A requested output, and how much it adds to the transaction's fee limit. */
export interface Asked extends Output {
  readonly feeLimitSats: bigint
}

/** The coins to spend, the fee and the change. `changeSats` is 0 without change. */
export interface Selection {
  readonly coins: ReadonlyArray<Coin.Coin>
  readonly feeSats: bigint
  readonly changeSats: bigint
}

/** A selection for some of the requested outputs. `pays` lists their indexes in ascending order. */
export interface BatchSelection extends Selection {
  readonly pays: ReadonlyArray<number>
}

/**
 * Skips checking that an input's keys match the output it spends. Signing covers this: with the wrong keys,
 * signing fails or the signature is invalid, because a signature commits to the amount and the script (BIP 143
 * and 341). The check runs at each access to an input, so a payout of 100 coins would block the process for a
 * second.
 */
const unchecked = { disableScriptCheck: true }

/** Signals that the transaction can be replaced (BIP 125). */
const sequence = 0xfffffffd

/**
 * Maximum number of coins in one payout. Each coin takes milliseconds to sign, and a standard transaction has
 * at most 400,000 weight units.
 */
export const maxCoins = 60

/**
 * Minimum fee rate in sats per virtual byte. Nodes do not relay less by default. A payout may pay this rate
 * even if the held fees do not cover it. The excess is at most 6,000 sats, because `maxCoins` limits the size.
 */
export const minimumFeeRate = 1

// Weight units. Signatures are counted at their maximum length, so the actual fee rate is never below the
// target.
const overheadWeight = 42
const outputWeight = (scriptPubKey: string) => (9 + scriptPubKey.length / 2) * 4

/** Address type of change: P2TR, the cheapest to spend. */
export const changeType = "taproot"
const changeWeight = (9 + 34) * 4
const changeDust = BitcoinAddress.dustLimitSats("p2tr")

const minimumFee = (weight: number) => Coin.feeFor(weight, minimumFeeRate)

const byAmount = (one: Coin.Coin, other: Coin.Coin) =>
  one.amount === other.amount ? 0 : one.amount > other.amount ? -1 : 1

/**
 * Selects coins, the largest first, until they pay for all outputs and the fee. The fee is at `feeRate`, or as
 * much of that as `feeLimitSats` allows, but at least the minimum. With `mayExceed`, the limit excludes neither
 * the minimum fee nor a remainder that is too small for a change output. If the coins are not enough, returns
 * the amount needed.
 */
export const select = (ask: {
  readonly coins: ReadonlyArray<Coin.Coin>
  readonly outputs: ReadonlyArray<Output>
  readonly feeRate: number
  readonly feeLimitSats: bigint
  readonly mayExceed?: boolean
}): Selection | { readonly neededSats: bigint } => {
  const { outputs, feeRate, feeLimitSats, mayExceed = false } = ask
  const amount = outputs.reduce((sum, { sats }) => sum + sats, 0n)
  const limited = (weight: number): bigint | undefined => {
    const [wanted, least] = [Coin.feeFor(weight, feeRate), minimumFee(weight)]
    const fee = wanted < feeLimitSats ? wanted : feeLimitSats
    return fee >= least ? fee : mayExceed ? least : undefined
  }
  const coins: Array<Coin.Coin> = []
  let total = 0n
  let weight = overheadWeight + outputs.reduce((sum, { scriptPubKey }) => sum + outputWeight(scriptPubKey), 0)
  for (const coin of ask.coins.toSorted(byAmount).slice(0, maxCoins)) {
    const sats = Msat.toSats(coin.amount)
    // This coin and all smaller ones cost at least as much to spend as they are worth.
    if (sats <= minimumFee(Coin.inputWeight[coin.type])) break
    coins.push(coin)
    total += sats
    weight += Coin.inputWeight[coin.type]
    const withChange = limited(weight + changeWeight)
    const changeSats = withChange === undefined ? 0n : total - amount - withChange
    if (withChange !== undefined && changeSats >= changeDust)
      return { coins, feeSats: withChange, changeSats }
    // A remainder too small for a change output goes to the miners, within the limit.
    const [rest, fee] = [total - amount, limited(weight)]
    if (fee !== undefined && rest >= fee && (mayExceed || rest <= feeLimitSats))
      return { coins, feeSats: rest, changeSats: 0n }
  }
  return { neededSats: amount + Coin.feeFor(weight, feeRate) }
}

/**
 * Returns the outputs of these payments. Dies if an amount has a fraction of a satoshi, which is a bug in the
 * caller.
 */
export const asked = (payments: ReadonlyArray<Payment>): Effect.Effect<ReadonlyArray<Asked>> =>
  Effect.forEach(payments, ({ scriptPubKey, amount, feeLimit }) =>
    amount > 0n && amount % 1000n === 0n
      ? Effect.succeed({ scriptPubKey, sats: Msat.toSats(amount), feeLimitSats: Msat.toSats(feeLimit) })
      : Effect.die(new Error(`no transaction pays ${amount} millisatoshis`))
  )

/** Selects coins for all outputs. If that fails, adds the outputs one by one and skips those that do not fit. */
const fitting = (
  coins: ReadonlyArray<Coin.Coin>,
  outputs: ReadonlyArray<Asked>,
  feeRate: number,
  mayExceed: boolean
): BatchSelection | undefined => {
  const largest = coins.toSorted(byAmount).slice(0, maxCoins)
  const selectAll = (outputs: ReadonlyArray<Asked>) =>
    select({
      coins: largest,
      outputs,
      feeRate,
      feeLimitSats: outputs.reduce((sum, { feeLimitSats }) => sum + feeLimitSats, 0n),
      mayExceed
    })
  const whole = selectAll(outputs)
  if ("coins" in whole) return { ...whole, pays: [...outputs.keys()] }
  let best: BatchSelection | undefined
  for (const place of outputs.keys()) {
    const pays = [...(best?.pays ?? []), place]
    const more = selectAll(outputs.filter((_, at) => pays.includes(at)))
    if ("coins" in more) best = { ...more, pays }
  }
  return best
}

/**
 * Selects coins for as many outputs as fit, in order. An output that is too large does not block those after
 * it. Confirmed coins come first. Unconfirmed change is used only if more outputs can be paid with it,
 * because a payout that spends it waits for two transactions. The fee limit is exceeded only if even more
 * outputs can then be paid, because the operator bears the excess.
 */
export const selectBatch = (ask: {
  readonly coins: ReadonlyArray<Coin.Coin>
  readonly outputs: ReadonlyArray<Asked>
  readonly feeRate: number
}): BatchSelection | { readonly neededSats: bigint } => {
  const { coins, outputs, feeRate } = ask
  const confirmed = coins.filter(({ isConfirmed }) => isConfirmed)
  let best: BatchSelection | undefined
  for (const mayExceed of [false, true]) {
    for (const usable of [confirmed, coins]) {
      const found = fitting(usable, outputs, feeRate, mayExceed)
      if ((found?.pays.length ?? 0) > (best?.pays.length ?? 0)) best = found
      if (best?.pays.length === outputs.length) return best
    }
  }
  return (
    best ?? { neededSats: outputs.reduce((sum, { sats, feeLimitSats }) => sum + sats + feeLimitSats, 0n) }
  )
}

/**
 * Returns each batch member's share of a fee, in proportion to its mining allowance, so that no share exceeds
 * its allowance unless the fee exceeds their sum. Each share is rounded down to the msat, and the remainder is
 * carried to the next one: a fee of 1000 for allowances of 1, 1 and 1 gives 333, 333 and 334.
 */
export const shares = (fee: Msat.Msat, allowances: ReadonlyArray<Msat.Msat>): ReadonlyArray<Msat.Msat> => {
  const total = Msat.sum(...allowances)
  // Without allowances, the shares are equal.
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

/** Returns the unsigned transaction with everything a signer needs except the keys. */
export const draft = (
  keys: Keys,
  coins: ReadonlyArray<Coin.Coin>,
  outputs: ReadonlyArray<Output>
): Transaction => {
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
  for (const { scriptPubKey, sats } of outputs)
    tx.addOutput({ script: hex.decode(scriptPubKey), amount: sats })
  return tx
}

/** Returns the change of a selection, which is the last output, or null if there is none. */
export const changeOf = (
  { changeSats, pays }: BatchSelection,
  place: Pick<Coin.Change, "wallet" | "scriptPubKey" | keyof Coin.Place>
): Coin.Change | null =>
  changeSats > 0n ? { ...place, vout: pays.length, amount: Msat.fromSats(changeSats) } : null

/** Returns the unsigned transaction for a selection. */
export const drafted = (
  keys: Keys,
  { coins, pays }: BatchSelection,
  outputs: ReadonlyArray<Output>,
  change: Coin.Change | null
): Transaction => {
  const paid = outputs.filter((_, place) => pays.includes(place))
  return draft(
    keys,
    coins,
    change === null
      ? paid
      : [...paid, { scriptPubKey: change.scriptPubKey, sats: Msat.toSats(change.amount) }]
  )
}

export const toDraft = (
  tx: Transaction,
  { coins, feeSats, pays }: BatchSelection,
  change: Coin.Change | null
): Batch => ({
  pays,
  psbt: toPsbt(tx),
  coins: coins.map(({ outpoint }) => outpoint),
  fee: Msat.fromSats(feeSats),
  change,
  isDeep: coins.some(({ isConfirmed }) => !isConfirmed)
})

export const toPsbt = (tx: Transaction): string => base64.encode(tx.toPSBT())
/** The PSBT of a transaction that was found on the chain, and therefore can't be replaced. */
export const withoutPsbt = ""
/** Parses a PSBT (BIP 174, base64). Throws if it is invalid. */
export const fromPsbt = (psbt: string): Transaction => Transaction.fromPSBT(base64.decode(psbt), unchecked)

const typeOfKind: { readonly [kind in BitcoinAddress.Kind]?: BitcoinAddress.AddressType } = {
  p2tr: "taproot",
  p2wpkh: "segwit",
  p2sh: "nested_segwit"
}

const scriptWeight = (script: Uint8Array): number => {
  const kind = BitcoinAddress.kindOf(hex.encode(script))
  return Coin.inputWeight[(kind && typeOfKind[kind]) ?? "nested_segwit"]
}

/**
 * Returns a replacement with the same coins and payments at a higher fee (BIP 125, rules 3 and 4): the old fee
 * plus at least 1 sat/vB, taken from the change. With change of 1000, a fee of 200 and a size of 150 vB, a new
 * rate of 3 sat/vB gives a fee of 450 and change of 750. If too little change would be left for an output, all of
 * it becomes the fee. If that exceeds the limit, the smallest possible change is left. The limit is `times` the
 * allowance, or `times` the minimum fee if that is more.
 *
 * `current`: the fee already is about what `feeRate` requires. `limited`: the change or the limit does not allow
 * a replacement.
 */
export const replacement = (
  before: Pick<Draft, "psbt" | "fee" | "change" | "isDeep">,
  feeRate: number,
  { allowance, times }: { readonly allowance: Msat.Msat; readonly times: number }
): Draft | "current" | "limited" => {
  const { change, isDeep } = before
  if (before.psbt === withoutPsbt) return "limited"
  const tx = fromPsbt(before.psbt)
  const inputs = Array.from({ length: tx.inputsLength }, (_, at) => tx.getInput(at))
  const outputs = Array.from({ length: tx.outputsLength }, (_, at) => tx.getOutput(at))
  const weight = outputs.reduce(
    (sum, { script }) => sum + outputWeight(hex.encode(script ?? new Uint8Array())),
    inputs.reduce(
      (sum, { witnessUtxo }) => sum + scriptWeight(witnessUtxo?.script ?? new Uint8Array()),
      overheadWeight
    )
  )
  const [oldSats, allowanceSats, minimum] = [
    Msat.toSats(before.fee),
    Msat.toSats(allowance),
    minimumFee(weight)
  ]
  const limitSats = (allowanceSats > minimum ? allowanceSats : minimum) * BigInt(times)
  const [wanted, least] = [Coin.feeFor(weight, feeRate), oldSats + minimum]
  if (wanted < least) return "current"
  if (change === null) return "limited"
  const draft = (tx: Transaction, feeSats: bigint, change: Coin.Change | null): Draft => ({
    psbt: toPsbt(tx),
    coins: inputs.map(({ txid, index }) =>
      Coin.outpoint(TxId.make(hex.encode(txid ?? new Uint8Array())), index ?? 0)
    ),
    fee: Msat.fromSats(feeSats),
    change,
    isDeep
  })
  const allSats = oldSats + Msat.toSats(change.amount)
  const target = wanted < limitSats ? wanted : limitSats
  const withChange = target < allSats - changeDust ? target : allSats - changeDust
  const isGivenUp = withChange < target || target < least
  if (
    isGivenUp &&
    allSats <= limitSats &&
    allSats >= oldSats + minimumFee(weight - outputWeight(change.scriptPubKey))
  ) {
    const without = new Transaction(unchecked)
    for (const input of inputs) without.addInput(input)
    for (const [at, output] of outputs.entries()) if (at !== change.vout) without.addOutput(output)
    return draft(without, allSats, null)
  }
  if (withChange < least) return "limited"
  tx.updateOutput(change.vout, { amount: allSats - withChange })
  return draft(tx, withChange, { ...change, amount: Msat.fromSats(allSats - withChange) })
}

// Makes signing deterministic.
const noRandomness = new Uint8Array(32)

/**
 * Signs one input with the private key at the path that the input names. Throws if the input has no key of the
 * wallet with this fingerprint.
 */
export const signInput = (
  tx: Transaction,
  index: number,
  fingerprint: number,
  privateKey: (path: ReadonlyArray<number>) => Uint8Array
): void => {
  const { bip32Derivation, tapBip32Derivation } = tx.getInput(index)
  const derivation = tapBip32Derivation?.[0]?.[1].der ?? bip32Derivation?.[0]?.[1]
  if (derivation?.fingerprint !== fingerprint)
    throw new Error(`Input ${index} contains no key of this signer`)
  tx.signIdx(privateKey(derivation.path), index, undefined, noRandomness)
}

/**
 * Finalizes a transaction whose inputs are all signed. Throws if one of them is not. Some signers, such as Bitcoin
 * Core, finalize inputs themselves.
 */
export const finished = (tx: Transaction): { readonly txId: TxId.TxId; readonly rawTx: string } => {
  for (let at = 0; at < tx.inputsLength; at++)
    if (tx.getInput(at).finalScriptWitness === undefined) tx.finalizeIdx(at)
  return serialised(tx)
}

/** Returns the outputs that a draft spends. */
export const spent = (tx: Transaction): ReadonlyArray<Output> =>
  Array.from({ length: tx.inputsLength }, (_, at) => {
    const { witnessUtxo } = tx.getInput(at)
    return {
      scriptPubKey: hex.encode(witnessUtxo?.script ?? new Uint8Array()),
      sats: witnessUtxo?.amount ?? 0n
    }
  })

/** Returns a transaction whose inputs are all final. */
export const serialised = (tx: Transaction): { readonly txId: TxId.TxId; readonly rawTx: string } => ({
  txId: TxId.make(tx.id),
  rawTx: tx.hex
})
