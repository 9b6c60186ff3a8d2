import { type Activity, ChainSource, type Output } from "@satrail/core/nodes/ChainSource"
import { Effect } from "effect"
import { promises } from "../src/nodes/ChainSource.ts"
import { bites, sabotage } from "./sandbox.ts"

/** A mutant that reports other outputs. */
const telling = (make: () => (outputs: ReadonlyArray<Output>) => ReadonlyArray<Output>) =>
  sabotage(ChainSource, ({ activity }) => {
    const change = make()
    return {
      activity: (after, ours) =>
        Effect.map(activity(after, ours), (seen): Activity => ({ ...seen, outputs: change(seen.outputs) }))
    }
  })

bites("ChainSource", promises, {
  "a source that reads only blocks": [
    telling(() => (outputs) => outputs.filter(({ placement }) => placement._tag !== "mempool")),
    ["a deposit in the mempool is reported"]
  ],
  "a source that ignores reorganizations": [
    telling(() => {
      const mined = new Set<string>()
      return (outputs) =>
        outputs.filter(({ txId, placement }) => {
          const before = mined.has(txId)
          if (placement._tag === "mined") mined.add(txId)
          return !before || placement._tag === "mined"
        })
    }),
    [
      "C45: a deposit's removal by a reorganization is reported, and so is its return",
      "C45: a deposit removed by a reorganization and then double-spent is reported as gone"
    ]
  ],
  "a source that reports one output per transaction": [
    telling(() => (outputs) => [...new Map(outputs.map((output) => [output.txId, output])).values()]),
    ["C43: several outputs of one transaction are reported separately"]
  ],
  "a source that reports one output per address": [
    telling(() => (outputs) => [...new Map(outputs.map((output) => [output.scriptPubKey, output])).values()]),
    [
      "two payments to one address are two outputs",
      "C43: several outputs of one transaction are reported separately"
    ]
  ],
  "a source that reports heights one block too low": [
    telling(
      () => (outputs) =>
        outputs.map((output) =>
          output.placement._tag === "mined"
            ? { ...output, placement: { ...output.placement, height: output.placement.height - 1 } }
            : output
        )
    ),
    ["a deposit is reported again with its block height when it confirms, and the block's time can be read"]
  ],
  "a source that ignores the cursor": [
    sabotage(ChainSource, ({ activity }) => ({ activity: (_, ours) => activity(null, ours) })),
    ["C44: reading from a cursor reports everything after it and nothing before it"]
  ],
  "a source that starts at the tip, whatever the cursor": [
    sabotage(ChainSource, ({ activity }) => ({
      activity: (after, ours) =>
        Effect.flatMap(activity(null, ours), ({ cursor }) => activity(after === null ? null : cursor, ours))
    })),
    [
      "C44: reading from a cursor reports everything after it and nothing before it",
      "a deposit in the mempool is reported"
    ]
  ],
  "a source that reports a known transaction as rejected": [
    sabotage(ChainSource, ({ broadcast }) => ({
      broadcast: (rawTx) =>
        Effect.map(broadcast(rawTx), (said) =>
          said._tag === "known" ? { _tag: "rejected", reason: "already in block chain" } : said
        )
    })),
    ["C19: broadcasting the same transaction repeatedly has the same result"]
  ],
  "a source that accepts every transaction": [
    sabotage(ChainSource, ({ broadcast }) => ({
      broadcast: (rawTx) => Effect.as(broadcast(rawTx), { _tag: "accepted" })
    })),
    [
      "a transaction that double-spends a confirmed one is rejected",
      "malformed transactions and invalid signatures are rejected",
      "C19: broadcasting the same transaction repeatedly has the same result"
    ]
  ],
  "a source that broadcasts nothing": [
    sabotage(ChainSource, () => ({ broadcast: () => Effect.succeed({ _tag: "accepted" }) })),
    ["C19: broadcasting the same transaction repeatedly has the same result"]
  ],
  "a source that finds every transaction": [
    sabotage(ChainSource, ({ transaction }) => ({
      transaction: (txId) =>
        Effect.map(transaction(txId), (placement) =>
          placement._tag === "gone" ? { _tag: "mempool" } : placement
        )
    })),
    [
      "an unknown transaction is reported as gone",
      "C45: a mempool deposit that is double-spent is reported as gone"
    ]
  ],
  "a source that returns another transaction": [
    sabotage(ChainSource, ({ rawTransaction }) => ({
      rawTransaction: (txId) =>
        Effect.map(rawTransaction(txId), (rawTx) => rawTx?.replace(/^02/, "01") ?? null)
    })),
    [
      "C1: a transaction is returned as it was signed while it is in the mempool or a block, and an unknown one is not"
    ]
  ],
  "a source whose tip never changes": [
    sabotage(ChainSource, ({ activity }) => ({
      activity: (after, ours) =>
        Effect.map(activity(after, ours), (seen) => ({ ...seen, tip: { height: 0, hash: "" } }))
    })),
    [
      "the tip is the last block, even if nothing in it is watched",
      "a deposit is reported again with its block height when it confirms, and the block's time can be read"
    ]
  ],
  "a source that reports the deposits of all scripts": [
    sabotage(ChainSource, ({ activity }) => ({
      activity: (after, ours) => activity(after, (scripts) => Effect.as(ours(scripts), new Set(scripts)))
    })),
    ["payments to scripts that are not watched are not reported"]
  ],
  "a source that ignores the lookup of watched scripts": [
    sabotage(ChainSource, ({ activity }) => ({
      activity: (after) => activity(after, (scripts) => Effect.succeed(new Set(scripts)))
    })),
    ["if the lookup of watched scripts fails, the read fails"]
  ],
  "a source with a fractional fee rate": [
    sabotage(ChainSource, ({ feeRate }) => ({ feeRate: Effect.map(feeRate, (rate) => rate / 4) })),
    ["the fee rate is a whole number of sat/vB, at least 1"]
  ]
})
