import * as Msat from "@satrail/bitcoin/Msat"
import * as Preimage from "@satrail/bitcoin/Preimage"
import { LightningReceiver, type Settled } from "@satrail/core/nodes/LightningReceiver"
import { Clock, Effect, Redacted, Stream } from "effect"
import { promises } from "../src/nodes/LightningReceiver.ts"
import { bites, sabotage } from "./sandbox.ts"

const wrong = Preimage.make("00".repeat(32))

const telling = (change: (one: Settled) => Settled) =>
  sabotage(LightningReceiver, ({ settlements }) => ({
    settlements: (after) => Stream.map(settlements(after), change)
  }))

bites("LightningReceiver", promises, {
  "a node that creates a new invoice for each call": [
    sabotage(LightningReceiver, ({ createInvoice }) => {
      let count = 0
      return { createInvoice: (ask) => createInvoice({ ...ask, id: `${ask.id}/${count++}` }) }
    }),
    ["the same id returns the same invoice", "eight concurrent requests with one id create one invoice"]
  ],
  "a node that returns one invoice for all ids": [
    sabotage(LightningReceiver, ({ createInvoice }) => ({
      createInvoice: (ask) => createInvoice({ ...ask, id: "the one" })
    })),
    ["the same id returns the same invoice"]
  ],
  "a node that reports every invoice as settled": [
    sabotage(LightningReceiver, ({ lookupInvoice }) => ({
      lookupInvoice: (hash) =>
        Effect.map(lookupInvoice(hash), (state) =>
          state._tag === "open" ? { _tag: "settled", received: Msat.zero, preimage: wrong } : state
        )
    })),
    ["an unpaid invoice is open, and one that was never issued is unknown"]
  ],
  "a node that caches the state of an invoice": [
    sabotage(LightningReceiver, () => ({ lookupInvoice: () => Effect.succeed({ _tag: "open" }) })),
    [
      "a paid invoice is settled, with the received amount and a valid preimage",
      "an invoice can be paid only once",
      "C28: amounts are exact to the millisatoshi"
    ]
  ],
  "a node that reports an invalid preimage when looked up": [
    sabotage(LightningReceiver, ({ lookupInvoice }) => ({
      lookupInvoice: (hash) =>
        Effect.map(lookupInvoice(hash), (state) =>
          state._tag === "settled" ? { ...state, preimage: wrong } : state
        )
    })),
    ["a paid invoice is settled, with the received amount and a valid preimage"]
  ],
  "a node that reports an invalid preimage to subscribers": [
    telling((one) => ({ ...one, preimage: wrong })),
    [
      "C60: a settlement that no subscriber received is reported to the next one, with everything needed to credit the payment"
    ]
  ],
  "a node that reports seconds as milliseconds": [
    telling((one) => ({ ...one, settledAtMillis: Math.floor(one.settledAtMillis / 1000) })),
    [
      "C60: a settlement that no subscriber received is reported to the next one, with everything needed to credit the payment"
    ]
  ],
  "a node that reports the requested amount instead of the received one": [
    telling((one) => ({ ...one, received: Msat.fromSats(1000) })),
    ["C33: an overpayment is received in full"]
  ],
  "a node that requests one satoshi where the payer should set the amount": [
    sabotage(LightningReceiver, ({ createInvoice }) => ({
      createInvoice: (ask) => createInvoice({ ...ask, amount: ask.amount ?? Msat.fromSats(1) })
    })),
    ["C33: the payer sets the amount of an invoice that has none, and that amount is received in full"]
  ],
  "a node that settles a payment that should be held": [
    sabotage(LightningReceiver, ({ holding, createInvoice }) =>
      holding === undefined
        ? {}
        : { holding: { ...holding, createInvoice: (ask) => createInvoice({ ...ask, id: `hold/${ask.id}` }) } }
    ),
    [
      "an unpaid hold invoice cannot be settled, and a canceled one cannot be paid; the same id returns the same invoice"
    ]
  ],
  "a node that reports a held payment as returned without returning it": [
    sabotage(LightningReceiver, ({ holding }) =>
      holding === undefined ? {} : { holding: { ...holding, cancel: () => Effect.succeed("canceled") } }
    ),
    ["canceling a held payment returns the money, and the payment can then never settle"]
  ],
  "a node that starts from the beginning, whatever the cursor": [
    sabotage(LightningReceiver, ({ settlements }) => ({ settlements: () => settlements(null) })),
    ["C60: a subscription resumes right after a cursor, without gaps or repetitions"]
  ],
  "a node that skips one settlement after the cursor": [
    sabotage(LightningReceiver, ({ settlements }) => ({
      settlements: (after) => (after === null ? settlements(null) : Stream.drop(settlements(after), 1))
    })),
    [
      "C60: a subscription resumes right after a cursor, without gaps or repetitions",
      "a subscriber receives a settlement as it happens"
    ]
  ],
  "a node that reports only new settlements": [
    sabotage(LightningReceiver, ({ settlements }) => ({
      settlements: (after) =>
        Stream.unwrap(
          Effect.map(Clock.currentTimeMillis, (begun) =>
            Stream.filter(settlements(after), (one) => one.settledAtMillis > begun)
          )
        )
    })),
    [
      "C60: a settlement that no subscriber received is reported to the next one, with everything needed to credit the payment"
    ]
  ],
  "a node that has one cursor for all settlements": [
    telling((one) => ({ ...one, cursor: "1" })),
    ["each settlement has its own cursor and is reported once"]
  ],
  "a node that reports every settlement twice": [
    sabotage(LightningReceiver, ({ settlements }) => ({
      settlements: (after) => Stream.flatMap(settlements(after), (one) => Stream.make(one, one))
    })),
    ["each settlement has its own cursor and is reported once"]
  ],
  "a node that reports a cancellation without canceling": [
    sabotage(LightningReceiver, () => ({
      cancelInvoice: () => Effect.succeed({ _tag: "canceled", preimage: Redacted.make(wrong) })
    })),
    [
      "C15: a canceled invoice can no longer be paid; canceling it again returns the same result",
      "C15: a settled invoice cannot be canceled",
      "C15: an invoice that is canceled and paid concurrently has exactly one outcome"
    ]
  ],
  "a node that puts another description in the invoice": [
    sabotage(LightningReceiver, ({ createInvoice }) => ({
      createInvoice: (ask) => createInvoice({ ...ask, description: { _tag: "Text", text: "pay me" } })
    })),
    [
      "an invoice has the requested fields and this node's signature",
      "an invoice contains the given description hash unchanged (LUD-06)"
    ]
  ],
  "a node that supports whole satoshis only": [
    sabotage(LightningReceiver, ({ createInvoice }) => ({
      createInvoice: (ask) =>
        createInvoice({ ...ask, amount: ask.amount && Msat.fromSats(Msat.toSats(ask.amount)) })
    })),
    ["C28: amounts are exact to the millisatoshi"]
  ]
})
