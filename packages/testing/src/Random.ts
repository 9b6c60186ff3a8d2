/** Numbers that follow from a seed: the same seed gives the same ones in the same order, for ever. */
export interface Random {
  /** A whole number from 0 up to `count`, which is not among them. */
  readonly below: (count: number) => number
  /** A whole number, both bounds included. */
  readonly between: (least: number, most: number) => number
  readonly chance: (probability: number) => boolean
  readonly pick: <A>(items: ReadonlyArray<A>) => A
  readonly bytes: (size: number) => Uint8Array
  /** Lower-case letters and digits, so many at least and at most. */
  readonly word: (least: number, most: number) => string
}

/** The generator "mulberry32": 32 bits of state, every one of whose values comes once before any comes again. */
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
    word: (least, most) => Array.from({ length: between(least, most) }, () => pick([..."abcdefghijklmnopqrstuvwxyz0123456789"])).join("")
  }
}

/** A seed that goes with a seed and a number, unlike those of the neighbours. */
export const derived = (seed: number, number: number): number =>
  make(Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(number + 1, 0xc2b2ae35)).below(0x1_0000_0000)
