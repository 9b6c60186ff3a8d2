import { Context, type Stream } from "effect"

/**
 * Reports that a topic has something to process from `atMillis` on. A topic is a kind of work or a kind of
 * committed entry.
 */
export interface Signal {
  readonly topic: string
  readonly atMillis: number
}

/** Carries signals between the processes on one store. Any signal may be lost, so receivers also poll. */
export interface Signals {
  /**
   * Sends a signal to every other process, combined with others sent at the same moment. Of a topic's times, the
   * first and the last arrive. Does not wait.
   */
  readonly send: (signal: Signal) => void
  /** Signals from other processes; null if some may have been missed. */
  readonly received: Stream.Stream<Signal | null>
}

/** Undefined for a store that only one process can use. */
export const Signals = Context.Reference<Signals | undefined>("@satrail/core/ledger/Signals", {
  defaultValue: () => undefined
})
