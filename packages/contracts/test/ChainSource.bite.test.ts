import { type Activity, ChainSource, type Output } from "@satrail/core/nodes/ChainSource"
import { Effect } from "effect"
import { promises } from "../src/ChainSource.ts"
import { bites, sabotage } from "./sandbox.ts"

/** One that tells something else. */
const telling = (make: () => (outputs: ReadonlyArray<Output>) => ReadonlyArray<Output>) =>
  sabotage(ChainSource, ({ activity }) => {
    const change = make()
    return {
      activity: (after, ours) => Effect.map(activity(after, ours), (seen): Activity => ({ ...seen, outputs: change(seen.outputs) }))
    }
  })

bites("ChainSource", promises, {
  "one that looks into blocks only": [
    telling(() => (outputs) => outputs.filter(({ placement }) => placement._tag !== "mempool")),
    ["a deposit is reported while it waits in the mempool"]
  ],
  "one that has never heard of reorganisations": [
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
      "C45: a deposit's removal by a reorganisation is reported, and so is its return",
      "C45: a deposit is gone that a reorganisation removed and a double spend replaced"
    ]
  ],
  "one that tells one output of a transaction": [
    telling(() => (outputs) => [...new Map(outputs.map((output) => [output.txId, output])).values()]),
    ["C43: several outputs of one transaction are reported one by one"]
  ],
  "one that tells one output of an address": [
    telling(() => (outputs) => [...new Map(outputs.map((output) => [output.scriptPubKey, output])).values()]),
    ["an address that is paid twice has two outputs", "C43: several outputs of one transaction are reported one by one"]
  ],
  "one that is a block ahead": [
    telling(
      () => (outputs) =>
        outputs.map((output) =>
          output.placement._tag === "mined"
            ? { ...output, placement: { ...output.placement, height: output.placement.height - 1 } }
            : output
        )
    ),
    ["a deposit is reported again when it is mined, with its height"]
  ],
  "one that forgets its cursor": [
    sabotage(ChainSource, ({ activity }) => ({ activity: (_, ours) => activity(null, ours) })),
    ["C44: after a cursor nothing before it is reported, and everything later is"]
  ],
  "one that begins now whatever the cursor": [
    sabotage(ChainSource, ({ activity }) => ({
      activity: (after, ours) => Effect.flatMap(activity(null, ours), ({ cursor }) => activity(after === null ? null : cursor, ours))
    })),
    ["C44: after a cursor nothing before it is reported, and everything later is", "a deposit is reported while it waits in the mempool"]
  ],
  "one that takes known for rejected": [
    sabotage(ChainSource, ({ broadcast }) => ({
      broadcast: (rawTx) =>
        Effect.map(broadcast(rawTx), (said) => (said._tag === "known" ? { _tag: "rejected", reason: "already in block chain" } : said))
    })),
    ["C19: the same transaction offered any number of times is one"]
  ],
  "one that says yes to every transaction": [
    sabotage(ChainSource, ({ broadcast }) => ({ broadcast: (rawTx) => Effect.as(broadcast(rawTx), { _tag: "accepted" }) })),
    [
      "a transaction that spends what a mined one spent is rejected",
      "what is no transaction, and one with a spoiled signature, are rejected",
      "C19: the same transaction offered any number of times is one"
    ]
  ],
  "one that sends nothing": [
    sabotage(ChainSource, () => ({ broadcast: () => Effect.succeed({ _tag: "accepted" }) })),
    ["C19: the same transaction offered any number of times is one"]
  ],
  "one that believes in every transaction": [
    sabotage(ChainSource, ({ transaction }) => ({
      transaction: (txId) => Effect.map(transaction(txId), (placement) => (placement._tag === "gone" ? { _tag: "mempool" } : placement))
    })),
    ["an unknown transaction is gone", "C45: a deposit that is spent elsewhere before it is mined is gone"]
  ],
  "one whose tip stands still": [
    sabotage(ChainSource, ({ activity }) => ({
      activity: (after, ours) => Effect.map(activity(after, ours), (seen) => ({ ...seen, tip: { height: 0, hash: "" } }))
    })),
    [
      "the tip is the last block, also where nothing that is watched changed",
      "a deposit is reported again when it is mined, with its height"
    ]
  ],
  "one that tells everybody's": [
    sabotage(ChainSource, ({ activity }) => ({
      activity: (after, ours) => activity(after, (scripts) => Effect.as(ours(scripts), new Set(scripts)))
    })),
    ["scripts that are not watched are not reported"]
  ],
  "one that does not listen to whoever is asked": [
    sabotage(ChainSource, ({ activity }) => ({ activity: (after) => activity(after, (scripts) => Effect.succeed(new Set(scripts))) })),
    ["a failure of the watched set's look-up fails the read"]
  ],
  "one that deals in fractions": [
    sabotage(ChainSource, ({ feeRate }) => ({ feeRate: Effect.map(feeRate, (rate) => rate / 4) })),
    ["the fee rate is a whole number of satoshis, at least 1"]
  ]
})
