import * as Msat from "@satrail/bitcoin/Msat"
import { ChainUnavailable, type Output, type Placement } from "@satrail/core/nodes/ChainSource"
import { Effect } from "effect"
import type * as Block from "./Block.ts"

/** Parses a node's response. Treats an invalid response as an outage of that node. */
export const parsed = <A>(operation: string, parse: () => A) =>
  Effect.try({ try: parse, catch: (cause) => new ChainUnavailable({ operation, cause }) })

/** Returns the outputs of a transaction that are ours, with the transaction's status. */
export const outputsOf = (
  transaction: Block.Transaction,
  placement: Placement,
  mine: ReadonlySet<string>
): ReadonlyArray<Output> =>
  transaction.outputs
    .filter(({ scriptPubKey, sats }) => sats > 0n && mine.has(scriptPubKey))
    .map(({ vout, scriptPubKey, sats }) => ({
      txId: transaction.txId(),
      vout,
      scriptPubKey,
      amount: Msat.fromSats(sats),
      placement
    }))

/** Returns all scripts that these transactions pay, each once. */
export const scriptsOf = (transactions: ReadonlyArray<Block.Transaction>): ReadonlyArray<string> => [
  ...new Set(transactions.flatMap(({ outputs }) => outputs.map(({ scriptPubKey }) => scriptPubKey)))
]
