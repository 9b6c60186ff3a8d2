import * as Msat from "@satrail/bitcoin/Msat"
import { ChainWallet, type Derived, type Payment, Unfundable } from "@satrail/core/nodes/ChainWallet"
import { Effect } from "effect"
import { all, promises } from "../src/ChainWallet.ts"
import { bites, sabotage } from "./sandbox.ts"

const plus = (amount: Msat.Msat, sats: number) => Msat.make(amount + Msat.fromSats(sats))

/** The same asked, with something else about every payment. */
const paying = <A extends { readonly payments: ReadonlyArray<Payment> }>(ask: A, change: (payment: Payment) => Partial<Payment>): A => ({
  ...ask,
  payments: ask.payments.map((payment) => ({ ...payment, ...change(payment) }))
})

bites("ChainWallet", promises, {
  "one that has one address of each kind": [
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
    ["no address is given out twice, and none has the place of another"]
  ],
  "one that knows one kind of address": [
    sabotage(ChainWallet, ({ newAddress }) => ({ newAddress: () => newAddress("segwit") })),
    ["no address is given out twice, and none has the place of another"]
  ],
  "one that gives everybody the same place": [
    sabotage(ChainWallet, ({ newAddress }) => ({ newAddress: (type) => Effect.map(newAddress(type), (one) => ({ ...one, index: 0 })) })),
    ["no address is given out twice, and none has the place of another"]
  ],
  "one that takes the fee out of the amount": [
    sabotage(ChainWallet, ({ build }) => ({ build: (ask) => build(paying(ask, ({ amount }) => ({ amount: plus(amount, -500) }))) })),
    ["a draft pays exactly the requested amount, and its stated fee to the miners, within the limit"]
  ],
  "one that tells another fee than it pays": [
    sabotage(ChainWallet, ({ build }) => ({ build: (ask) => Effect.map(build(ask), (draft) => ({ ...draft, fee: plus(draft.fee, -1) })) })),
    [
      "a draft pays exactly the requested amount, and its stated fee to the miners, within the limit",
      "what is left and too little for an output goes to the miners only within the limit"
    ]
  ],
  "one that asks and does not listen": [
    sabotage(ChainWallet, ({ build }) => ({
      build: (ask) => build({ ...ask, free: (outpoints) => Effect.andThen(ask.free(outpoints), all(outpoints)) })
    })),
    [
      "only permitted coins are spent, and permission is requested for all at once",
      "a spent coin is not offered again",
      "more than the coins at hand is refused, with what is needed"
    ]
  ],
  "one that asks about each coin by itself": [
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
    ["only permitted coins are spent, and permission is requested for all at once"]
  ],
  "one that takes the limit for a suggestion": [
    sabotage(ChainWallet, ({ build }) => ({
      build: (ask) => build(paying(ask, ({ feeLimit }) => ({ feeLimit: Msat.make(feeLimit * 10n) })))
    })),
    [
      "the fee limit holds where the rate would take more; where not even 1 sat/vB fits, nothing is put together",
      "what is left and too little for an output goes to the miners only within the limit"
    ]
  ],
  "one that pays the first alone": [
    sabotage(ChainWallet, ({ build }) => ({ build: (ask) => build({ ...ask, payments: ask.payments.slice(0, 1) }) })),
    [
      "several payments are one transaction: an output for each, in their order, for at most what they allow together",
      "a payment that is too large keeps none after it from being paid"
    ]
  ],
  "one that pays in an order of its own": [
    sabotage(ChainWallet, ({ build }) => ({ build: (ask) => build({ ...ask, payments: ask.payments.toReversed() }) })),
    [
      "several payments are one transaction: an output for each, in their order, for at most what they allow together",
      "a payment that is too large keeps none after it from being paid"
    ]
  ],
  "one that pays all or none": [
    sabotage(ChainWallet, ({ build }) => ({
      build: (ask) =>
        Effect.filterOrFail(
          build(ask),
          ({ pays }) => pays.length === ask.payments.length,
          () => new Unfundable({ neededSats: 0n })
        )
    })),
    ["a payment that is too large keeps none after it from being paid"]
  ],
  "one that spends what is not confirmed": [
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
    ["coins that are not confirmed are not offered"]
  ],
  "one that has a name instead of a fingerprint": [
    sabotage(ChainWallet, () => ({ fingerprint: "hot wallet" })),
    ["the fingerprint is 4 bytes in hex"]
  ]
})
