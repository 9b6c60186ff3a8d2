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
      "one that failed is told as failed, and one that is held as pending, with its amount",
      "every payment is told once, in the order in which they were begun, from any place on"
    ]
  ],
  "one that takes what is held for settled": [
    telling((lines) => lines.map((line) => (line.state === "pending" ? { ...line, state: "settled" } : line)), same),
    ["one that failed is told as failed, and one that is held as pending, with its amount"]
  ],
  "one that counts the fee as part of the amount": [
    telling((lines) => lines.map((line) => ({ ...line, amount: Msat.sum(line.amount, line.fee) })), same),
    ["a payment that was made is told with its amount, its fee, and that it settled"]
  ],
  "one that knows no fees": [
    telling((lines) => lines.map((line) => ({ ...line, fee: Msat.zero })), same),
    ["a payment that was made is told with its amount, its fee, and that it settled"]
  ],
  "one that tells the newest first": [
    telling(
      (lines) => lines.toReversed(),
      (lines) => lines.toReversed()
    ),
    [
      "every payment is told once, in the order in which they were begun, from any place on",
      "everything that was taken is told once, in the order in which it settled, from any place on"
    ]
  ],
  "one that leaves one out behind each place": [
    telling(
      (lines) => lines.slice(1),
      (lines) => lines.slice(1)
    ),
    [
      "every payment is told once, in the order in which they were begun, from any place on",
      "everything that was taken is told once, in the order in which it settled, from any place on"
    ]
  ],
  "one that counts what was asked for, not what came": [
    telling(same, (lines) => lines.map((line) => ({ ...line, received: Msat.fromSats(1000) }))),
    ["C33: what the node took is told with what arrived, which may be more than was asked"]
  ],
  "one that calls what is on its way spent": [
    sabotage(LightningBooks, (_, { localBalance }) => ({
      owned: Effect.map(localBalance, (amount) => ({ amount, within: Msat.zero }))
    })),
    ["what the node owns is less by what it paid and its fee, and not before it has arrived"]
  ],
  "one that remembers what it owned": [
    sabotage(LightningBooks, () => ({ owned: Effect.succeed({ amount: Msat.fromSats(21), within: Msat.zero }) })),
    ["what the node owns is more by what it took", "what the node owns is less by what it paid and its fee, and not before it has arrived"]
  ],
  "one that has an answer without its node": [
    sabotage(LightningBooks, () => ({ owned: Effect.succeed({ amount: Msat.zero, within: Msat.max }) })),
    ["a node that does not answer has no books, which is an outage"]
  ]
})
