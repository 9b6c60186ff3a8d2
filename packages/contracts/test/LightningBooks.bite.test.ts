import * as Msat from "@satrail/bitcoin/Msat"
import { LightningBooks, type Page, type Sent, type Taken } from "@satrail/core/nodes/LightningBooks"
import { Effect } from "effect"
import { promises } from "../src/LightningBooks.ts"
import { bites, sabotage } from "./sandbox.ts"

const telling = (
  sent: (lines: ReadonlyArray<Sent>) => ReadonlyArray<Sent>,
  taken: (lines: ReadonlyArray<Taken>) => ReadonlyArray<Taken>
) => {
  const changed =
    <A>(change: (lines: ReadonlyArray<A>) => ReadonlyArray<A>) =>
    (page: Page<A>): Page<A> => ({ ...page, lines: change(page.lines) })
  return sabotage(LightningBooks, (books) => ({
    sent: (after) => Effect.map(books.sent(after), changed(sent)),
    taken: (after) => Effect.map(books.taken(after), changed(taken))
  }))
}

const same = <A>(lines: ReadonlyArray<A>) => lines

bites("LightningBooks", promises, {
  "one that tells only what succeeded": [
    telling((lines) => lines.filter(({ state }) => state === "settled"), same),
    [
      "a failed payment is listed as failed, and a held one as pending, with its amount",
      "every payment is listed once, in the order in which they were begun, from any place on"
    ]
  ],
  "one that takes what is held for settled": [
    telling((lines) => lines.map((line) => (line.state === "pending" ? { ...line, state: "settled" } : line)), same),
    ["a failed payment is listed as failed, and a held one as pending, with its amount"]
  ],
  "one that counts the fee as part of the amount": [
    telling((lines) => lines.map((line) => ({ ...line, amount: Msat.sum(line.amount, line.fee) })), same),
    ["a settled payment is listed with its amount, its fee and its state"]
  ],
  "one that knows no fees": [
    telling((lines) => lines.map((line) => ({ ...line, fee: Msat.zero })), same),
    ["a settled payment is listed with its amount, its fee and its state"]
  ],
  "one that tells the newest first": [
    telling(
      (lines) => lines.toReversed(),
      (lines) => lines.toReversed()
    ),
    [
      "every payment is listed once, in the order in which they were begun, from any place on",
      "every receipt is listed once, in the order in which they settled, from any place on"
    ]
  ],
  "one that leaves one out behind each place": [
    telling(
      (lines) => lines.slice(1),
      (lines) => lines.slice(1)
    ),
    [
      "every payment is listed once, in the order in which they were begun, from any place on",
      "every receipt is listed once, in the order in which they settled, from any place on"
    ]
  ],
  "one that counts what was asked for, not what came": [
    telling(same, (lines) => lines.map((line) => ({ ...line, received: Msat.fromSats(1000) }))),
    ["C33: a receipt is listed with the received amount, which may exceed the invoice's"]
  ],
  "one that calls what is on its way spent": [
    sabotage(LightningBooks, (_, { localBalance }) => ({
      owned: Effect.map(localBalance, (amount) => ({ amount, within: Msat.zero }))
    })),
    ["the node's balance falls by a payment and its fee, and not before it has arrived"]
  ],
  "one that remembers what it owned": [
    sabotage(LightningBooks, () => ({ owned: Effect.succeed({ amount: Msat.fromSats(21), within: Msat.zero }) })),
    ["the node's balance rises by what it received", "the node's balance falls by a payment and its fee, and not before it has arrived"]
  ],
  "one that takes what it can receive for what it can send": [
    sabotage(LightningBooks, ({ capacity }) => ({
      capacity: Effect.map(capacity, ({ incoming, outgoing }) => ({ incoming: outgoing, outgoing: incoming }))
    })),
    ["what it can receive falls by what it received, and what it can send rises"]
  ],
  "one that counts no channels": [
    sabotage(LightningBooks, ({ capacity }) => ({
      capacity: Effect.map(capacity, ({ incoming, outgoing }) => ({ incoming, outgoing }))
    })),
    ["the channels that can be used are counted, and none is being closed"]
  ],
  "one that takes every channel for one that is being closed": [
    sabotage(LightningBooks, ({ capacity }) => ({
      capacity: Effect.map(capacity, ({ channels, ...rest }) => ({
        ...rest,
        ...(channels !== undefined && { channels: { ...channels, forceClosing: channels.active } })
      }))
    })),
    ["the channels that can be used are counted, and none is being closed"]
  ],
  "one that has an answer without its node": [
    sabotage(LightningBooks, () => ({ owned: Effect.succeed({ amount: Msat.zero, within: Msat.max }) })),
    ["without a response there is no statement: an outage"]
  ]
})
