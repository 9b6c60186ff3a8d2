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
    ["a deposit is told when it waits in the mempool"]
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
      "C45: a reorganisation that takes it away is told; and that it is back",
      "C45: so is one that a reorganisation took away and another one took the place of"
    ]
  ],
  "one that tells one output of a transaction": [
    telling(() => (outputs) => [...new Map(outputs.map((output) => [output.txId, output])).values()]),
    ["C43: several outputs in one transaction are told one by one"]
  ],
  "one that tells one output of an address": [
    telling(() => (outputs) => [...new Map(outputs.map((output) => [output.scriptPubKey, output])).values()]),
    ["an address that is paid twice has two outputs", "C43: several outputs in one transaction are told one by one"]
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
    ["it is told again when it is mined, with the height it has"]
  ],
  "one that forgets its cursor": [
    sabotage(ChainSource, ({ activity }) => ({ activity: (_, ours) => activity(null, ours) })),
    ["C44: what was told up to a cursor is not told after it, and all that came later is"]
  ],
  "one that begins now whatever the cursor": [
    sabotage(ChainSource, ({ activity }) => ({
      activity: (after, ours) => Effect.flatMap(activity(null, ours), ({ cursor }) => activity(after === null ? null : cursor, ours))
    })),
    ["C44: what was told up to a cursor is not told after it, and all that came later is", "a deposit is told when it waits in the mempool"]
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
    ["a transaction that nobody saw is gone", "C45: a deposit that is spent elsewhere before it is mined is gone"]
  ],
  "one whose tip stands still": [
    sabotage(ChainSource, ({ activity }) => ({
      activity: (after, ours) => Effect.map(activity(after, ours), (seen) => ({ ...seen, tip: { height: 0, hash: "" } }))
    })),
    ["the tip is the last block, also where nothing that is watched changed", "it is told again when it is mined, with the height it has"]
  ],
  "one that tells everybody's": [
    sabotage(ChainSource, ({ activity }) => ({
      activity: (after, ours) => activity(after, (scripts) => Effect.as(ours(scripts), new Set(scripts)))
    })),
    ["scripts that are not ours are not told about"]
  ],
  "one that does not listen to whoever is asked": [
    sabotage(ChainSource, ({ activity }) => ({ activity: (after) => activity(after, (scripts) => Effect.succeed(new Set(scripts))) })),
    ["what stops the asking stops the telling"]
  ],
  "one that deals in fractions": [
    sabotage(ChainSource, ({ feeRate }) => ({ feeRate: Effect.map(feeRate, (rate) => rate / 4) })),
    ["the fee rate is a whole number of satoshis, at least 1"]
  ]
})
