import * as Msat from "@satrail/bitcoin/Msat"
import * as Preimage from "@satrail/bitcoin/Preimage"
import { LightningReceiver, type Settled } from "@satrail/core/nodes/LightningReceiver"
import { Clock, Effect, Redacted, Stream } from "effect"
import { promises } from "../src/LightningReceiver.ts"
import { bites, sabotage } from "./sandbox.ts"

const wrong = Preimage.make("00".repeat(32))

const telling = (change: (one: Settled) => Settled) =>
  sabotage(LightningReceiver, ({ settlements }) => ({ settlements: (after) => Stream.map(settlements(after), change) }))

bites("LightningReceiver", promises, {
  "one that makes a new invoice each time": [
    sabotage(LightningReceiver, ({ createInvoice }) => {
      let count = 0
      return { createInvoice: (ask) => createInvoice({ ...ask, id: `${ask.id}/${count++}` }) }
    }),
    ["the same id gives the same invoice", "one id requested eight times at once is one invoice"]
  ],
  "one that has one invoice for all": [
    sabotage(LightningReceiver, ({ createInvoice }) => ({ createInvoice: (ask) => createInvoice({ ...ask, id: "the one" }) })),
    ["the same id gives the same invoice"]
  ],
  "one that takes everything for settled": [
    sabotage(LightningReceiver, ({ lookupInvoice }) => ({
      lookupInvoice: (hash) =>
        Effect.map(lookupInvoice(hash), (state) =>
          state._tag === "open" ? { _tag: "settled", received: Msat.zero, preimage: wrong } : state
        )
    })),
    ["an unpaid invoice is open, and one that was never issued is unknown"]
  ],
  "one that never looks it up again": [
    sabotage(LightningReceiver, () => ({ lookupInvoice: () => Effect.succeed({ _tag: "open" }) })),
    [
      "a paid invoice is settled, with the received amount and the preimage that proves it",
      "an invoice is paid once",
      "C28: amounts are exact to the millisatoshi"
    ]
  ],
  "one that makes up the preimage": [
    sabotage(LightningReceiver, ({ lookupInvoice }) => ({
      lookupInvoice: (hash) =>
        Effect.map(lookupInvoice(hash), (state) => (state._tag === "settled" ? { ...state, preimage: wrong } : state))
    })),
    ["a paid invoice is settled, with the received amount and the preimage that proves it"]
  ],
  "one that tells a made-up preimage": [
    telling((one) => ({ ...one, preimage: wrong })),
    ["C60: a settlement without a subscriber is reported to the next one, with all that a credit needs"]
  ],
  "one that tells seconds for milliseconds": [
    telling((one) => ({ ...one, settledAtMillis: Math.floor(one.settledAtMillis / 1000) })),
    ["C60: a settlement without a subscriber is reported to the next one, with all that a credit needs"]
  ],
  "one that counts what was asked for, not what came": [
    telling((one) => ({ ...one, received: Msat.fromSats(1000) })),
    ["C33: an overpayment is received in full"]
  ],
  "one that asks for a satoshi where the payer decides": [
    sabotage(LightningReceiver, ({ createInvoice }) => ({
      createInvoice: (ask) => createInvoice({ ...ask, amount: ask.amount ?? Msat.fromSats(1) })
    })),
    ["C33: of an invoice without an amount the payer decides, and it is received in full"]
  ],
  "one that settles what it should hold": [
    sabotage(LightningReceiver, ({ holding, createInvoice }) =>
      holding === undefined ? {} : { holding: { ...holding, createInvoice: (ask) => createInvoice({ ...ask, id: `hold/${ask.id}` }) } }
    ),
    ["a hold invoice that nobody has paid is not settled, is the same for the same id, and takes no payment once it is canceled"]
  ],
  "one that says it has sent back, and has not": [
    sabotage(LightningReceiver, ({ holding }) =>
      holding === undefined ? {} : { holding: { ...holding, cancel: () => Effect.succeed("canceled") } }
    ),
    ["a held payment that is canceled goes back, and is never settled"]
  ],
  "one that begins at the beginning whatever the cursor": [
    sabotage(LightningReceiver, ({ settlements }) => ({ settlements: () => settlements(null) })),
    ["C60: a subscription resumes right after a cursor: nothing is left out and nothing repeated"]
  ],
  "one that leaves one out behind the cursor": [
    sabotage(LightningReceiver, ({ settlements }) => ({
      settlements: (after) => (after === null ? settlements(null) : Stream.drop(settlements(after), 1))
    })),
    ["C60: a subscription resumes right after a cursor: nothing is left out and nothing repeated", "a subscriber is notified as it happens"]
  ],
  "one that tells only what is new": [
    sabotage(LightningReceiver, ({ settlements }) => ({
      settlements: (after) =>
        Stream.unwrap(
          Effect.map(Clock.currentTimeMillis, (begun) => Stream.filter(settlements(after), (one) => one.settledAtMillis > begun))
        )
    })),
    ["C60: a settlement without a subscriber is reported to the next one, with all that a credit needs"]
  ],
  "one that has one cursor for all": [
    telling((one) => ({ ...one, cursor: "1" })),
    ["each settlement has a cursor of its own, and is reported once"]
  ],
  "one that tells everything twice": [
    sabotage(LightningReceiver, ({ settlements }) => ({
      settlements: (after) => Stream.flatMap(settlements(after), (one) => Stream.make(one, one))
    })),
    ["each settlement has a cursor of its own, and is reported once"]
  ],
  "one that says canceled and does nothing": [
    sabotage(LightningReceiver, () => ({ cancelInvoice: () => Effect.succeed({ _tag: "canceled", preimage: Redacted.make(wrong) }) })),
    [
      "C15: a canceled invoice cannot be paid any more; canceling again answers the same",
      "C15: it is too late to cancel what is settled",
      "C15: canceled and paid at once: one of the two"
    ]
  ],
  "one that lets the payer name the text": [
    sabotage(LightningReceiver, ({ createInvoice }) => ({
      createInvoice: (ask) => createInvoice({ ...ask, description: { _tag: "Text", text: "pay me" } })
    })),
    [
      "an invoice has the requested fields, and this node's signature",
      "the hash of a description is in the invoice as it was given (LUD-06)"
    ]
  ],
  "one that knows whole satoshis only": [
    sabotage(LightningReceiver, ({ createInvoice }) => ({
      createInvoice: (ask) => createInvoice({ ...ask, amount: ask.amount && Msat.fromSats(Msat.toSats(ask.amount)) })
    })),
    ["C28: amounts are exact to the millisatoshi"]
  ]
})
