import * as Caller from "./Caller.ts"

/** The size of a pool, and the share of each holder. */
export interface Shares<Group extends string = never> {
  readonly most: number
  /**
   * Share of one caller (an IPv4 address or an IPv6 /64). A wider network gets a multiple of it
   * (`Caller.widths`), up to half of all slots. A provider's network (`Caller.providers`) has no share of its own.
   */
  readonly perCaller: number
  /** Shares of other holders, such as companies. */
  readonly per: { readonly [group in Group]: number }
}

/** Returns the share of a network. `times` is its multiple of one caller's share. */
export const shareOfNetwork = (
  { most, perCaller }: Pick<Shares, "most" | "perCaller">,
  times: number
): number => Math.min(times * perCaller, Math.max(Math.ceil(most / 2), perCaller))

/** The holders to which a slot is charged: the caller's address, and the id of each other holder. */
export interface Holder<Group extends string = never> {
  readonly caller: string
  readonly of: { readonly [group in Group]: string }
}

/** Slots taken in the whole pool, by a company, or by a network. `places` is used only for the narrowest networks. */
interface Share<A> {
  readonly most: number
  /** Whether it is a /24 or /48, the widest networks with a share of their own. */
  readonly isWidest: boolean
  size: number
  readonly children: Map<string, Share<A>>
  readonly places: Set<Place<A>>
}

interface Place<A> {
  readonly item: A
  /** One path for each holder: the holder's whole share, followed by the caller's networks within that share. */
  readonly paths: ReadonlyArray<ReadonlyArray<readonly [name: string, share: Share<A>]>>
}

const shareOf = <A>(most: number, isWidest = false): Share<A> => ({
  most,
  isWidest,
  size: 0,
  children: new Map(),
  places: new Set()
})

/**
 * Returns the share with the most slots taken, or the first of these if there are several. A holder that left
 * and returned is ordered after those that stayed.
 */
const heaviest = <A>(shares: Iterable<Share<A>>): Share<A> | undefined => {
  let found: Share<A> | undefined
  for (const share of shares) if (found === undefined || share.size > found.size) found = share
  return found
}

/**
 * Returns the oldest slot of the largest holder in a share. Descends into the largest network, then into the
 * largest narrower network within it, and so on.
 */
const oldestOf = <A>(share: Share<A>): Place<A> | undefined => {
  const child = heaviest(share.children.values())
  return child === undefined ? share.places.values().next().value : oldestOf(child)
}

/**
 * Slots for callers that are not authenticated. No request for a slot is rejected. When a share is full, the
 * oldest slot of its largest holder is evicted. Memory is bounded by the number of slots.
 */
export const make = <A, Group extends string = never>({ most, perCaller, per }: Shares<Group>) => {
  const all = shareOf<A>(most)
  const groups = Object.entries<number>(per).map(([name, share]) => ({
    name,
    most: share,
    shares: new Map<string, Share<A>>()
  }))
  const placeOf = new Map<A, Place<A>>()
  /** Number of /24s and /48s in the whole pool with more than one slot. */
  let crowded = 0

  /**
   * Returns the shares from a whole share down to one caller's. Each network's share is limited in the pool,
   * but not within a group.
   */
  const pathOf = (name: string, whole: Share<A>, caller: string): Place<A>["paths"][number] => {
    let parent = whole
    let isWider = true
    const below = Caller.slotNetworks(caller).map(({ name, times }) => {
      const limit =
        whole === all && times !== undefined ? shareOfNetwork({ most, perCaller }, times) : Infinity
      const share =
        parent.children.get(name) ?? shareOf<A>(limit, whole === all && isWider && times !== undefined)
      isWider &&= times === undefined
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
        if (share.isWidest && share.size === 1) crowded--
        if (share.size > 0) return
        if (depth > 0) path[depth - 1]?.[1].children.delete(name)
        else groups[n - 1]?.shares.delete(name)
      })
    })
  }

  /**
   * Returns the slot to evict. If no /24 or /48 holds more than one slot, evicts from the largest holder in the
   * first group, such as companies.
   */
  const victimOf = (share: Share<A>): Place<A> | undefined => {
    const isSpread = share === all && crowded === 0
    return oldestOf((isSpread ? heaviest(groups[0]?.shares.values() ?? []) : undefined) ?? share)
  }

  return {
    /** Takes a slot for `item`. Returns the evicted items. */
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
        for (const [, share] of path) {
          share.size++
          if (share.isWidest && share.size === 2) crowded++
        }
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
    /** Marks the slot of `item` as the caller's newest. */
    touch: (item: A): void => {
      const place = placeOf.get(item)
      if (place === undefined) return
      for (const path of place.paths) {
        const places = path.at(-1)?.[1].places
        places?.delete(place)
        places?.add(place)
      }
    },
    /** Releases a slot. Does nothing if the item has already been evicted. */
    release,
    /** All items, oldest first. */
    items: (): IterableIterator<A> => placeOf.keys()
  }
}
