import * as Msat from "@satrail/bitcoin/Msat"
import { LightningBooks, type Page, type Sent, type Taken } from "@satrail/core/nodes/LightningBooks"
import { Effect } from "effect"
import { promises } from "../src/nodes/LightningBooks.ts"
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
  "a node that lists only successful payments": [
    telling((lines) => lines.filter(({ state }) => state === "settled"), same),
    [
      "a failed payment is listed as failed and a held one as pending, each with its amount",
      "each payment is listed once, in the order in which payments were started, from any cursor"
    ]
  ],
  "a node that lists held payments as settled": [
    telling(
      (lines) => lines.map((line) => (line.state === "pending" ? { ...line, state: "settled" } : line)),
      same
    ),
    ["a failed payment is listed as failed and a held one as pending, each with its amount"]
  ],
  "a node that adds the fee to the amount": [
    telling((lines) => lines.map((line) => ({ ...line, amount: Msat.sum(line.amount, line.fee) })), same),
    ["a settled payment is listed with its amount, fee and status"]
  ],
  "a node that omits fees": [
    telling((lines) => lines.map((line) => ({ ...line, fee: Msat.zero })), same),
    ["a settled payment is listed with its amount, fee and status"]
  ],
  "a node that lists the newest payments first": [
    telling(
      (lines) => lines.toReversed(),
      (lines) => lines.toReversed()
    ),
    [
      "each payment is listed once, in the order in which payments were started, from any cursor",
      "each receipt is listed once, in the order in which receipts settled, from any cursor"
    ]
  ],
  "a node that skips one entry after each cursor": [
    telling(
      (lines) => lines.slice(1),
      (lines) => lines.slice(1)
    ),
    [
      "each payment is listed once, in the order in which payments were started, from any cursor",
      "each receipt is listed once, in the order in which receipts settled, from any cursor"
    ]
  ],
  "a node that lists the requested amount instead of the received one": [
    telling(same, (lines) => lines.map((line) => ({ ...line, received: Msat.fromSats(1000) }))),
    ["C33: a receipt is listed with the received amount, even if that is above the invoice's amount"]
  ],
  "a node that subtracts pending payments from its balance": [
    sabotage(LightningBooks, (_, { localBalance }) => ({
      owned: Effect.map(localBalance, (amount) => ({ amount, within: Msat.zero }))
    })),
    ["the node's balance falls by a payment and its fee once the payment settles"]
  ],
  "a node that caches its balance": [
    sabotage(LightningBooks, () => ({
      owned: Effect.succeed({ amount: Msat.fromSats(21), within: Msat.zero })
    })),
    [
      "the node's balance rises by each amount received",
      "the node's balance falls by a payment and its fee once the payment settles"
    ]
  ],
  "a node that swaps inbound and outbound liquidity": [
    sabotage(LightningBooks, ({ capacity }) => ({
      capacity: Effect.map(capacity, ({ incoming, outgoing }) => ({ incoming: outgoing, outgoing: incoming }))
    })),
    ["each receipt lowers the inbound liquidity and raises the outbound liquidity"]
  ],
  "a node that counts no channels": [
    sabotage(LightningBooks, ({ capacity }) => ({
      capacity: Effect.map(capacity, ({ incoming, outgoing }) => ({ incoming, outgoing }))
    })),
    ["usable channels are counted as active, and none of them as closing"]
  ],
  "a node that counts every channel as closing": [
    sabotage(LightningBooks, ({ capacity }) => ({
      capacity: Effect.map(capacity, ({ channels, ...rest }) => ({
        ...rest,
        ...(channels !== undefined && { channels: { ...channels, forceClosing: channels.active } })
      }))
    })),
    ["usable channels are counted as active, and none of them as closing"]
  ],
  "a node adapter that returns results while its node does not respond": [
    sabotage(LightningBooks, () => ({ owned: Effect.succeed({ amount: Msat.zero, within: Msat.max }) })),
    ["if the node does not respond, every read fails as unavailable"]
  ]
})
