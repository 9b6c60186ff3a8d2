/** A random number generator with a seed. The same seed always gives the same sequence. */
export interface Random {
  /** Returns an integer from 0 to `count` - 1. */
  readonly below: (count: number) => number
  /** Returns an integer between these bounds, both inclusive. */
  readonly between: (least: number, most: number) => number
  readonly chance: (probability: number) => boolean
  readonly pick: <A>(items: ReadonlyArray<A>) => A
  readonly bytes: (size: number) => Uint8Array
  /** Returns a string of lowercase letters and digits whose length is between these bounds, both inclusive. */
  readonly word: (least: number, most: number) => string
}

/** The generator "mulberry32": 32 bits of state, with a full period. */
export const make = (seed: number): Random => {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
  const below = (count: number) => Math.floor((next() / 0x1_0000_0000) * count)
  const between = (least: number, most: number) => least + below(most - least + 1)
  const pick = <A>(items: ReadonlyArray<A>): A => {
    const at = below(items.length)
    for (const item of items.slice(at, at + 1)) return item
    throw new Error("there is nothing to pick from")
  }
  return {
    below,
    between,
    chance: (probability) => next() < probability * 0x1_0000_0000,
    pick,
    bytes: (size) => Uint8Array.from({ length: size }, () => next() >>> 24),
    word: (least, most) =>
      Array.from({ length: between(least, most) }, () =>
        pick([..."abcdefghijklmnopqrstuvwxyz0123456789"])
      ).join("")
  }
}

/** Derives a seed from a seed and a number. The seeds of adjacent numbers are unrelated. */
export const derived = (seed: number, number: number): number =>
  make(Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(number + 1, 0xc2b2ae35)).below(0x1_0000_0000)
