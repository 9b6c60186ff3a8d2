import { Context, type Stream } from "effect"

/** There is something to do about a topic from `atMillis` on: work of a kind, or something that was committed. */
export interface Signal {
  readonly topic: string
  readonly atMillis: number
}

/** Carries signals between the processes on one store. Any signal may be lost, so its receivers also poll. */
export interface Signals {
  /** Sends a signal to every other process, in one message with other signals of the same moment. Does not wait. */
  readonly send: (signal: Signal) => void
  /** The signals of other processes; null where some may have been missed. */
  readonly received: Stream.Stream<Signal | null>
}

/** A store that only one process can use has none. */
export const Signals = Context.Reference<Signals | undefined>("@satrail/core/ledger/Signals", { defaultValue: () => undefined })
