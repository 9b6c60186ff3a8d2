/** Counts how often each name occurred, by kind. */
export type Counts = ReadonlyMap<string, number>

export interface Coverage {
  readonly count: (kind: Kind, name: string, times?: number) => void
  readonly counts: (kind: Kind) => Counts
  readonly add: (other: Coverage) => void
}

/** The kinds of names that are counted. */
export const kinds = ["operation", "fault", "change", "transition", "answer"] as const
export type Kind = (typeof kinds)[number]

export const make = (): Coverage => {
  const all: { readonly [kind in Kind]: Map<string, number> } = {
    operation: new Map(),
    fault: new Map(),
    change: new Map(),
    transition: new Map(),
    answer: new Map()
  }
  const self: Coverage = {
    count: (kind, name, times = 1) => {
      all[kind].set(name, (all[kind].get(name) ?? 0) + times)
    },
    counts: (kind) => all[kind],
    add: (other) => {
      for (const kind of kinds) for (const [name, times] of other.counts(kind)) self.count(kind, name, times)
    }
  }
  return self
}
