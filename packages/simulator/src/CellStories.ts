import * as Random from "@satrail/testing/Random"
import * as Books from "./checks/Books.ts"
import * as Deliveries from "./checks/Deliveries.ts"
import * as Seen from "./checks/Seen.ts"
import type { Operation, Tag } from "./plot/Operation.ts"
import { draws } from "./plot/Draw.ts"
import * as Plot from "./plot/Plot.ts"
import { handler, settings } from "./Simulation.ts"
import * as Stage from "./story/Stage.ts"
import * as Story from "./story/Story.ts"
import * as Cells from "./world/Cells.ts"
import * as Coverage from "./world/Coverage.ts"
import type { Store } from "./world/Store.ts"
import type * as World from "./world/World.ts"

// Two cells of one service, a story in each, and each pays invoices and Lightning addresses of the other. Everything goes wrong in both that does in one.

/** How the stories went. */
export interface Outcome {
  readonly seed: number
  readonly violation: string | undefined
  /** What became of everybody's money. Empty when a promise was broken. */
  readonly ending: string
  /** How many withdrawals of one cell reached the other. */
  readonly crossed: number
  readonly hash: string
  readonly history: ReadonlyArray<string>
  readonly coverage: Coverage.Coverage
}

/** The second cell's node counts the first one's blocks, and the service its own: nothing is held there for a company. And webhooks are another story. */
const left = new Set<Tag>(["CreateHold", "SettleHold", "CreateEndpoint", "Webhook", "Receive"])

/** What happens in a cell: as in any story, but that every other withdrawal goes to the other cell, and some more companies can be paid by name. */
const plot = (random: Random.Random, count: number): ReadonlyArray<Operation> =>
  Plot.list(random, count).flatMap((operation): ReadonlyArray<Operation> => {
    const { act } = operation
    if (left.has(act._tag)) return []
    if (act._tag === "CreateInvoice" && random.chance(0.2)) return [operation, { ...operation, act: draws.CreateAddress(random) }]
    if (act._tag !== "Withdraw" || random.chance(0.5)) return [operation]
    return [{ ...operation, act: { ...act, to: { _tag: "OwnInvoice", which: random.pick([1, 3, 5, 7]) } } }]
  })

/** Tells both stories of a seed, in turns, and says what was broken. `spoil` exchanges ports of the first. */
export const run = async (
  seed: number,
  options: { readonly store: Store; readonly operations: number; readonly spoil?: World.Spoil }
): Promise<Outcome> => {
  const { store, operations, spoil = (ports) => ports } = options
  const routes = await handler(store)
  const coverage = Coverage.make()
  const stages: Array<Stage.Stage> = []
  const ask =
    (which: 0 | 1): Cells.Ask =>
    (path, done) =>
      stages[which]?.ask({ slot: 0, method: "GET", path }, (answer) => done(answer?.status === 200 ? answer.text : undefined))
  const worlds = await Cells.worlds(seed, store, spoil, ask)
  const cells = worlds.map((world, i) => {
    // An answer of one may wait for one of the other.
    const stage = Stage.make({
      world,
      handler: routes,
      settings,
      coverage,
      slots: 2,
      hasWebhooks: false,
      isAsync: true,
      host: Cells.hosts[i]
    })
    stages.push(stage)
    const seen = Seen.make(world.watch, coverage)
    const books = Books.make(world, seen, coverage, true, stage.keyOf)
    const story = Story.make(stage, seen, Deliveries.make(world, seen, coverage))
    const drawn = plot(Random.make(Random.derived(seed, 10 + i)), operations)
    return { world, stage, books, story, drawn, shared: { invoices: 0, addresses: 0 } }
  })
  const [one, other] = cells
  if (one === undefined || other === undefined) throw new Error("there are two")

  /** What has been made in a cell since it was asked last may be paid from the other one. */
  const share = (from: typeof one, to: typeof one) => {
    const { invoices, addresses } = from.story.made
    to.story.made.elsewhere.push(...addresses.slice(from.shared.addresses), ...invoices.slice(from.shared.invoices))
    from.shared = { invoices: invoices.length, addresses: addresses.length }
  }

  let violation: string | undefined
  let ending = ""
  let crossed = 0
  try {
    for (let at = 0; at < Math.max(...cells.map(({ drawn }) => drawn.length)); at++) {
      for (const { story, books, drawn } of cells) {
        const operation = drawn[at]
        if (operation === undefined) continue
        await story.tell(operation)
        share(one, other)
        share(other, one)
        if (!operation.rushes) await books.look()
      }
    }
    for (const { stage } of cells) await stage.calm()
    for (const { story } of cells) await story.finish(2)
    for (const { world } of cells) crossed += Cells.crossings(world)
    ending = (await Promise.all(cells.map(({ books }) => books.close()))).join("\n")
  } catch (error) {
    violation = error instanceof Error ? error.message : String(error)
  }
  for (const { stage } of cells) await stage.end()
  const history = cells.flatMap(({ stage }, i) => stage.history().map((line) => `${Cells.hosts[i]?.charAt(0)} ${line}`))
  return { seed, violation, ending, crossed, hash: cells.map(({ stage }) => stage.hash()).join(" "), history, coverage }
}
