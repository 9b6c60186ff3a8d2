import * as Caller from "./Caller.ts"

/** How many places there are, and the share of each holder. */
export interface Shares<Group extends string = never> {
  readonly most: number
  /** The share of one caller (an IPv4 address, an IPv6 /64). A wider network has a multiple of it (`Caller.widths`), up to half of all places. */
  readonly perCaller: number
  /** The shares of other holders, such as a company. */
  readonly per: { readonly [group in Group]: number }
}

/** The share of a network that has `times` the share of one caller. */
export const shareOfNetwork = ({ most, perCaller }: Pick<Shares, "most" | "perCaller">, times: number): number =>
  Math.min(times * perCaller, Math.max(Math.ceil(most / 2), perCaller))

/** The holders that a place counts for: the caller's address, and the id of each other holder. */
export interface Holder<Group extends string = never> {
  readonly caller: string
  readonly of: { readonly [group in Group]: string }
}

/** A set of places: of the pool, of one company, of one network. Only the narrowest networks have `places`. */
interface Share<A> {
  readonly most: number
  size: number
  readonly children: Map<string, Share<A>>
  readonly places: Set<Place<A>>
}

interface Place<A> {
  readonly item: A
  /** One path for each holder: its whole share first, then the caller's networks in it. */
  readonly paths: ReadonlyArray<ReadonlyArray<readonly [name: string, share: Share<A>]>>
}

const shareOf = <A>(most: number): Share<A> => ({ most, size: 0, children: new Map(), places: new Set() })

/** The first of those that hold most. A holder that came back is behind those that stayed. */
const heaviest = <A>(shares: Iterable<Share<A>>): Share<A> | undefined => {
  let found: Share<A> | undefined
  for (const share of shares) if (found === undefined || share.size > found.size) found = share
  return found
}

/** Returns the oldest place of the largest holder of a share: of its largest network, then of the largest narrower network in that one, and so on. */
const oldestOf = <A>(share: Share<A>): Place<A> | undefined => {
  const child = heaviest(share.children.values())
  return child === undefined ? share.places.values().next().value : oldestOf(child)
}

/**
 * Places that strangers can take. No request for one is refused: when a share is full, its largest holder loses the oldest place. Memory is bounded by the
 * number of places.
 */
export const make = <A, Group extends string = never>({ most, perCaller, per }: Shares<Group>) => {
  const all = shareOf<A>(most)
  const groups = Object.entries<number>(per).map(([name, share]) => ({ name, most: share, shares: new Map<string, Share<A>>() }))
  const placeOf = new Map<A, Place<A>>()

  /** The shares on the way from a whole share to one caller's. Callers have shares of their own in the pool, and not in a group. */
  const pathOf = (name: string, whole: Share<A>, caller: string): Place<A>["paths"][number] => {
    let parent = whole
    const below = Caller.networks(caller).map(({ name, times }) => {
      const limit = whole === all ? shareOfNetwork({ most, perCaller }, times) : Infinity
      const share = parent.children.get(name) ?? shareOf<A>(limit)
      parent.children.set(name, share)
      parent = share
      return [name, share] as const
    })
    return [[name, whole], ...below]
  }

  const release = (item: A): void => {
    const place = placeOf.get(item)
    if (place === undefined) return
    placeOf.delete(item)
    place.paths.forEach((path, n) => {
      path.at(-1)?.[1].places.delete(place)
      path.forEach(([name, share], depth) => {
        share.size--
        if (share.size > 0) return
        if (depth > 0) path[depth - 1]?.[1].children.delete(name)
        else groups[n - 1]?.shares.delete(name)
      })
    })
  }

  /** If no network holds more than one place, the largest holder is looked for in the first group, such as companies. */
  const victimOf = (share: Share<A>): Place<A> | undefined => {
    const isSpread = share === all && (heaviest(all.children.values())?.size ?? 0) <= 1
    return oldestOf((isSpread ? heaviest(groups[0]?.shares.values() ?? []) : undefined) ?? share)
  }

  return {
    /** Takes a place for `item`, and returns the items that lost theirs. */
    take: ({ caller, of }: Holder<Group>, item: A): ReadonlyArray<A> => {
      release(item)
      const held: ReadonlyMap<string, string> = new Map(Object.entries<string>(of))
      const wholes = groups.map(({ name, most, shares }) => {
        const id = held.get(name) ?? ""
        const share = shares.get(id) ?? shareOf<A>(most)
        shares.set(id, share)
        return [id, share] as const
      })
      const place: Place<A> = {
        item,
        paths: [pathOf("", all, caller), ...wholes.map(([id, share]) => pathOf(id, share, caller))]
      }
      placeOf.set(item, place)
      for (const path of place.paths) {
        for (const [, share] of path) share.size++
        path.at(-1)?.[1].places.add(place)
      }
      const evicted: Array<A> = []
      for (const path of place.paths)
        for (const [, share] of path.toReversed())
          while (share.size > share.most) {
            const victim = victimOf(share)
            if (victim === undefined) break
            release(victim.item)
            evicted.push(victim.item)
          }
      return evicted
    },
    /** Makes the place of `item` the caller's newest one. */
    touch: (item: A): void => {
      const place = placeOf.get(item)
      if (place === undefined) return
      for (const path of place.paths) {
        const places = path.at(-1)?.[1].places
        places?.delete(place)
        places?.add(place)
      }
    },
    /** Gives a place back. Nothing happens where it was lost before. */
    release,
    /** All items, the oldest first. */
    items: (): IterableIterator<A> => placeOf.keys()
  }
}
