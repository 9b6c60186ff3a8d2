import * as BitcoinAddress from "@satrail/bitcoin/BitcoinAddress"
import * as Signatures from "@satrail/bitcoin/Signatures"
import * as TxId from "@satrail/bitcoin/TxId"
import { Result } from "effect"
import * as Chain from "./Chain.ts"
import type { ChainEvent } from "./Event.ts"
import * as Transaction from "./Transaction.ts"

/** The network's verdict on a transaction: accepted, already known, or the reason for its rejection. */
export type Verdict = Result.Result<
  { readonly _tag: "accepted"; readonly event: ChainEvent } | { readonly _tag: "known" },
  string
>

/** Minimum relay fee rate, in satoshis per virtual byte. */
export const minFeeRate = 1

const refuse = (reason: string) => Result.fail(reason)

/** Returns the outputs that the transaction spends, if all of them exist and are unspent. */
const spentBy = (
  state: Chain.State,
  { inputs }: Transaction.Transaction
): Result.Result<ReadonlyArray<Transaction.Output>, string> => {
  if (inputs.length === 0 || new Set(inputs).size < inputs.length)
    return refuse("It has no inputs, or spends an output twice")
  const spent: Array<Transaction.Output> = []
  for (const input of inputs) {
    const found = Chain.output(state, input)
    if (found === undefined || found.of.placement._tag === "gone")
      return refuse(`It spends ${input}, which does not exist`)
    if (!Chain.isSpendable(state, found.of))
      return refuse(`It spends ${input}, a coinbase too young to be spent`)
    const by = Chain.spender(state, input)
    const spender = by === undefined ? undefined : Chain.transaction(state, by)
    if (spender?.placement._tag === "mined")
      return refuse(`It spends ${input}, which a confirmed transaction spent`)
    spent.push(found.output)
  }
  return Result.succeed(spent)
}

/**
 * Returns whether a transaction pays enough to replace the ones with which it conflicts (BIP 125, rules 3 and
 * 4; signaling is no longer required).
 */
const replaces = (
  state: Chain.State,
  transaction: Transaction.Transaction,
  feeSats: bigint
): Result.Result<void, string> => {
  const conflicts = transaction.inputs.flatMap((input) => Chain.spender(state, input) ?? [])
  if (conflicts.length === 0) return Result.succeed(undefined)
  const evicted = Chain.withDescendants(state, conflicts)
  if (transaction.inputs.some((input) => evicted.includes(TxId.make(input.split(":")[0] ?? ""))))
    return refuse("It spends an output of a transaction that it would replace")
  const replaced = evicted.reduce((sum, txId) => sum + (Chain.transaction(state, txId)?.feeSats ?? 0n), 0n)
  const least = replaced + BigInt(Transaction.virtualSize(transaction.weight) * minFeeRate)
  return feeSats >= least
    ? Result.succeed(undefined)
    : refuse(
        `It conflicts with ${conflicts[0]} in the mempool and pays ${feeSats} sats, but replacing it requires ${least}`
      )
}

const dust = ({ outputs }: Transaction.Transaction): string | undefined => {
  for (const { scriptPubKey, sats } of outputs) {
    const kind = BitcoinAddress.kindOf(scriptPubKey)
    if (kind === undefined) return `It pays to a script that is not relayed here: ${scriptPubKey}`
    if (sats < BitcoinAddress.dustLimitSats(kind))
      return `It pays ${sats} sats to a ${kind} output, which is dust`
  }
  return undefined
}

/** Judges a transaction as a node does when it receives one. */
export const judge = (state: Chain.State, rawTx: string): Verdict => {
  const transaction = Transaction.parse(rawTx)
  if (transaction === undefined) return refuse("It is not a transaction")
  const known = Chain.transaction(state, transaction.txId)
  if (known !== undefined && known.placement._tag !== "gone") return Result.succeed({ _tag: "known" })
  return Result.gen(function* () {
    const spent = yield* spentBy(state, transaction)
    const problem = dust(transaction)
    if (problem !== undefined) return yield* refuse(problem)
    const sum = (outputs: ReadonlyArray<Transaction.Output>) =>
      outputs.reduce((total, { sats }) => total + sats, 0n)
    const feeSats = sum(spent) - sum(transaction.outputs)
    if (feeSats < BigInt(Transaction.virtualSize(transaction.weight) * minFeeRate))
      return yield* refuse(`It pays ${feeSats} sats, less than ${minFeeRate} for a virtual byte`)
    yield* replaces(state, transaction, feeSats)
    if (!spent.every((_, index) => Signatures.isSigned(transaction.rawTx, spent, index)))
      return yield* refuse("It is not signed by the owner of the spent outputs")
    return {
      _tag: "accepted" as const,
      event: { _tag: "TransactionSeen" as const, rawTx: transaction.rawTx }
    }
  })
}
