import type { Network } from "@satrail/bitcoin/Network"
import { Clock, Deferred, Effect, Exit, HashMap, Result, type Scope } from "effect"
import * as Chain from "./Chain.ts"
import type { Event } from "./Event.ts"
import * as Genesis from "./Genesis.ts"
import * as Keys from "./Keys.ts"
import * as Lightning from "./Lightning.ts"
import * as Log from "./Log.ts"
import * as Web from "./Web.ts"

/** The state of everything outside our process. */
export interface State {
  readonly lightning: Lightning.State
  readonly chain: Chain.State
  readonly web: Web.State
}

export const apply = (state: State, event: Event): State => {
  switch (event._tag) {
    case "AddressGiven":
    case "OutsideAddressGiven":
    case "ScriptsWatched":
    case "TransactionSeen":
    case "BlockMined":
    case "BlocksDisconnected":
    case "FeeRateSet":
      return { ...state, chain: Chain.apply(state.chain, event) }
    case "NamePublished":
      return { ...state, web: Web.apply(state.web, event) }
    default:
      return { ...state, lightning: Lightning.apply(state.lightning, event) }
  }
}

/** A command's events, and its result once they have been applied. */
export interface Decision<A> {
  readonly events: ReadonlyArray<Event>
  readonly answer: (after: State) => A
}

/** Parts that can be paused. `index`: the chain reports blocks, but cannot look up a transaction in one. */
export type Part = "node" | "chain" | "web" | "index"

/** A sandbox: its state, and the only means of changing it. */
export interface World {
  readonly network: Network
  readonly keys: Keys.Keys
  /** Part of the secrets of external invoices, so that no two starts create the same ones. */
  readonly run: string
  readonly state: () => State
  /**
   * Makes a decision on the current state and applies the resulting events, atomically. A failed decision
   * changes nothing.
   */
  readonly commit: <A, E>(
    decide: (state: State, nowMillis: number) => Result.Result<Decision<A>, E>
  ) => Effect.Effect<A, E>
  /** Number of stored events. */
  readonly eventCount: () => number
  readonly isPaused: (part: Part) => boolean
  readonly setPaused: (part: Part, paused: boolean) => Effect.Effect<void>
  /** Completes at the next change of the state. */
  readonly changed: () => Effect.Effect<void>
}

/** Runs an effect unless `part` is paused, in which case it fails with `away`. */
export const reachable = <A, E, Away>(
  world: World,
  part: Part,
  away: () => Away,
  effect: Effect.Effect<A, E>
): Effect.Effect<A, E | Away> =>
  Effect.suspend((): Effect.Effect<A, E | Away> => (world.isPaused(part) ? Effect.fail(away()) : effect))

/** Builds a decision that cannot fail. */
export const decided = <A>(
  events: ReadonlyArray<Event>,
  answer: (after: State) => A
): Result.Result<Decision<A>> => Result.succeed({ events, answer })

/** Returns the initial state, derived from the seed alone. */
export const begin = (keys: Keys.Keys, signed?: Genesis.Signed): State => ({
  lightning: Lightning.begin((channel) => {
    const [high = 0, low = 0] = keys.secret(`channel/${channel}`)
    return (high * 256 + low) / 65_536
  }),
  chain: Genesis.chain(keys, signed),
  web: Web.begin
})

const beginnings = new Map<string, { readonly keys: Keys.Keys; readonly state: State }>()

/**
 * Simulations start the same sandbox repeatedly, and its initial state never changes, so the last few initial
 * states are cached.
 */
const beginning = (seed: string, network: Network) => {
  const name = `${network}/${seed}`
  const known = beginnings.get(name)
  if (known !== undefined) return known
  const keys = Keys.make(seed, network)
  const { usual } = Genesis
  const made = {
    keys,
    state: begin(keys, seed === usual.seed && network === usual.network ? usual : undefined)
  }
  for (const oldest of [...beginnings.keys()].slice(0, -7)) beginnings.delete(oldest)
  beginnings.set(name, made)
  return made
}

/** Returns whether the state still depends on an event. A deleted unpaid invoice has no effect on the state. */
const isNeeded =
  ({ lightning }: State) =>
  (event: Event): boolean => {
    switch (event._tag) {
      case "InvoiceIssued":
      case "InvoiceAccepted":
      case "InvoiceReleased":
      case "InvoiceCanceled":
        return Lightning.invoice(lightning, event.paymentHash) !== undefined
      case "PayeeInvoiced":
        // The last external invoice determines the count, so keep it. Otherwise, numbers would be reused.
        return (
          Lightning.payeeInvoice(lightning, event.paymentHash) !== undefined ||
          event.number + 1 === lightning.payeeInvoiceCount
        )
      default:
        return true
    }
  }

/**
 * Minimum number of events removed from a log at once. At least a third of all events must be removable too,
 * because removing them rewrites the log.
 */
const leastForgotten = 1000

/** Starts a sandbox, or continues the one in `directory`. */
export const make = (options: {
  readonly seed: string
  readonly network: Network
  readonly directory?: string | undefined
}): Effect.Effect<World, Log.LogUnusable, Scope.Scope> =>
  Effect.gen(function* () {
    const { seed, network, directory } = options
    const log = directory === undefined ? Log.memory : yield* Log.file(directory, { network, seed })
    const { keys, state: first } = beginning(seed, network)
    // Without a directory, external invoices are numbered from zero at each start, but a database may contain
    // the invoices of an earlier start.
    const run = directory === undefined ? `${yield* Clock.currentTimeMillis}/` : ""
    let state = log.events.reduce(apply, first)
    let eventCount = log.events.length
    let invoiceCount = 0
    let forgotten = 0
    /** Events of deleted invoices are no longer needed. */
    const compact = () => {
      log.compact(isNeeded(state))
      eventCount -= forgotten
      forgotten = 0
    }
    /** Subtracts the deleted invoices, each of which had one event. */
    const count = (added: number) => {
      eventCount += added
      const { invoices, payeeInvoices } = state.lightning
      const size = HashMap.size(invoices) + HashMap.size(payeeInvoices)
      forgotten += Math.max(0, invoiceCount - size)
      invoiceCount = size
      if (forgotten >= leastForgotten && forgotten >= eventCount / 3) compact()
    }
    if (directory !== undefined) {
      const needed = isNeeded(state)
      forgotten = log.events.reduce((sum, event) => sum + (needed(event) ? 0 : 1), 0)
    }
    count(0)
    let change = Deferred.makeUnsafe<void>()
    const paused = new Set<Part>()
    // A waiting caller resumes immediately, and may then wait for the next change.
    const notify = () => {
      const before = change
      change = Deferred.makeUnsafe<void>()
      Deferred.doneUnsafe(before, Exit.void)
    }
    return {
      network,
      keys,
      run,
      state: () => state,
      commit: (decide) =>
        Effect.flatMap(Clock.currentTimeMillis, (nowMillis) =>
          Effect.suspend(() =>
            Effect.fromResult(
              Result.map(decide(state, nowMillis), ({ events, answer }) => {
                log.append(events)
                state = events.reduce(apply, state)
                if (events.length > 0) {
                  count(events.length)
                  notify()
                }
                return answer(state)
              })
            )
          )
        ),
      eventCount: () => eventCount,
      isPaused: (part) => paused.has(part),
      setPaused: (part, isPaused) =>
        Effect.sync(() => {
          if (isPaused) paused.add(part)
          else paused.delete(part)
          notify()
        }),
      changed: () => Deferred.await(change)
    }
  })
