/** Choices that follow from a seed. Not for secrets. */
export interface Random {
  /** From 0 up to and without `end`. */
  readonly below: (end: number) => number
  readonly chance: (probability: number) => boolean
  readonly pick: <A>(all: ReadonlyArray<A>) => A
  readonly word: (minimum: number, maximum: number) => string
}

const letters = "abcdefghijklmnopqrstuvwxyz0123456789"

/** The same choices for the same seed (Mulberry32). */
export const make = (seed: number): Random => {
  let state = seed | 0
  const fraction = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (end: number) => Math.floor(fraction() * end)
  const pick = <A>(all: ReadonlyArray<A>): A => {
    if (all.length === 0) throw new Error("there is nothing to choose from")
    // The index is inside the list, whose members may be undefined.
    return all[below(all.length)] as A
  }
  return {
    below,
    chance: (probability) => fraction() < probability,
    pick,
    word: (minimum, maximum) => Array.from({ length: minimum + below(maximum - minimum + 1) }, () => pick([...letters])).join("")
  }
}
