import * as Msat from "@satrail/bitcoin/Msat"
import { ChainWallet, type Derived, type Payment, Unfundable } from "@satrail/core/nodes/ChainWallet"
import { Effect } from "effect"
import { all, promises } from "../src/nodes/ChainWallet.ts"
import { bites, sabotage } from "./sandbox.ts"

const plus = (amount: Msat.Msat, sats: number) => Msat.make(amount + Msat.fromSats(sats))

/** Returns the same request with each payment changed. */
const paying = <A extends { readonly payments: ReadonlyArray<Payment> }>(
  ask: A,
  change: (payment: Payment) => Partial<Payment>
): A => ({
  ...ask,
  payments: ask.payments.map((payment) => ({ ...payment, ...change(payment) }))
})

bites("ChainWallet", promises, {
  "a wallet with one address per type": [
    sabotage(ChainWallet, ({ newAddress }) => {
      const given = new Map<string, Derived>()
      return {
        newAddress: (type) =>
          Effect.suspend(() => {
            const before = given.get(type)
            return before === undefined
              ? Effect.tap(newAddress(type), (one) => Effect.sync(() => given.set(type, one)))
              : Effect.succeed(before)
          })
      }
    }),
    ["no address or derivation index is issued twice"]
  ],
  "a wallet with one type of address": [
    sabotage(ChainWallet, ({ newAddress }) => ({ newAddress: () => newAddress("segwit") })),
    ["no address or derivation index is issued twice"]
  ],
  "a wallet that assigns the same index to every address": [
    sabotage(ChainWallet, ({ newAddress }) => ({
      newAddress: (type) => Effect.map(newAddress(type), (one) => ({ ...one, index: 0 }))
    })),
    ["no address or derivation index is issued twice"]
  ],
  "a wallet that takes the fee from the amount": [
    sabotage(ChainWallet, ({ build }) => ({
      build: (ask) => build(paying(ask, ({ amount }) => ({ amount: plus(amount, -500) })))
    })),
    ["a draft pays exactly the requested amount, and its stated miner fee is within the limit"]
  ],
  "a wallet that states a different fee than it pays": [
    sabotage(ChainWallet, ({ build }) => ({
      build: (ask) => Effect.map(build(ask), (draft) => ({ ...draft, fee: plus(draft.fee, -1) }))
    })),
    [
      "a draft pays exactly the requested amount, and its stated miner fee is within the limit",
      "change that is too small for an output is added to the miner fee, even above the limit"
    ]
  ],
  "a wallet that ignores which coins are permitted": [
    sabotage(ChainWallet, ({ build }) => ({
      build: (ask) =>
        build({ ...ask, free: (outpoints) => Effect.andThen(ask.free(outpoints), all(outpoints)) })
    })),
    [
      "a draft spends only permitted coins, and permission for all coins is requested in one call",
      "a spent coin is not offered again",
      "a draft for more than the available coins is refused, and the refusal states the amount needed"
    ]
  ],
  "a wallet that requests permission for each coin separately": [
    sabotage(ChainWallet, ({ build }) => ({
      build: (ask) =>
        build({
          ...ask,
          free: (outpoints) =>
            Effect.map(
              Effect.forEach(outpoints, (one) => ask.free([one])),
              (sets) => new Set(sets.flatMap((set) => [...set]))
            )
        })
    })),
    ["a draft spends only permitted coins, and permission for all coins is requested in one call"]
  ],
  "a wallet that exceeds the fee limit": [
    sabotage(ChainWallet, ({ build }) => ({
      build: (ask) => build(paying(ask, ({ feeLimit }) => ({ feeLimit: Msat.make(feeLimit * 10n) })))
    })),
    ["a draft's fee exceeds the limit only to pay 1 sat/vB, or by change too small for an output"]
  ],
  "a wallet that pays only the first payment": [
    sabotage(ChainWallet, ({ build }) => ({
      build: (ask) => build({ ...ask, payments: ask.payments.slice(0, 1) })
    })),
    [
      "one transaction makes several payments with one output each, in order, within their combined fee limit",
      "a payment that is too large does not prevent later ones from being included"
    ]
  ],
  "a wallet that reorders payments": [
    sabotage(ChainWallet, ({ build }) => ({
      build: (ask) => build({ ...ask, payments: ask.payments.toReversed() })
    })),
    [
      "one transaction makes several payments with one output each, in order, within their combined fee limit",
      "a payment that is too large does not prevent later ones from being included"
    ]
  ],
  "a wallet that pays either all payments or none": [
    sabotage(ChainWallet, ({ build }) => ({
      build: (ask) =>
        Effect.filterOrFail(
          build(ask),
          ({ pays }) => pays.length === ask.payments.length,
          () => new Unfundable({ neededSats: 0n })
        )
    })),
    ["a payment that is too large does not prevent later ones from being included"]
  ],
  "a wallet that spends unconfirmed coins": [
    sabotage(ChainWallet, ({ build }, sandbox) => ({
      build: (ask) =>
        build({
          ...ask,
          free: (outpoints) =>
            Effect.flatMap(sandbox.state, ({ chain }) =>
              ask.free([...outpoints, ...chain.mempool.flatMap((txId) => [`${txId}:0`, `${txId}:1`])])
            )
        })
    })),
    ["unconfirmed coins are not offered"]
  ],
  "a wallet with a name in place of its fingerprint": [
    sabotage(ChainWallet, () => ({ fingerprint: "hot wallet" })),
    ["the fingerprint is 4 bytes of hex"]
  ]
})
