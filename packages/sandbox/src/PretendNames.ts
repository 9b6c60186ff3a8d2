import { Names, NamesUnavailable } from "@satrail/core/base/Names"
import { Context, Effect, HashMap, Layer, Option, Ref } from "effect"
import { refuse, type SandboxRefused } from "./Refused.ts"

/** How many names have records at once. */
export const maxNames = 1000

/** The other side of DNS: the owner of a domain sets its records. */
export class PretendNames extends Context.Service<
  PretendNames,
  {
    /** The TXT records of a name, instead of those that were there. Refuses one name more than `maxNames`; none takes a name away. */
    readonly set: (name: string, texts: ReadonlyArray<string>) => Effect.Effect<void, SandboxRefused>
    /** While it is away it gives no answer. */
    readonly setAway: (isAway: boolean) => Effect.Effect<void>
  }
>()("@satrail/sandbox/PretendNames") {}

/** A domain name system in memory. Names are in lower case. */
export const layer: Layer.Layer<Names | PretendNames> = Layer.effectContext(
  Effect.gen(function* () {
    const records = yield* Ref.make(HashMap.empty<string, ReadonlyArray<string>>())
    const away = yield* Ref.make(false)
    const control = PretendNames.of({
      set: Effect.fnUntraced(function* (written, texts) {
        const name = written.toLowerCase()
        const isTaken = yield* Ref.modify(records, (all) => {
          if (texts.length === 0) return [true, HashMap.remove(all, name)]
          const isFull = HashMap.size(all) >= maxNames && !HashMap.has(all, name)
          return isFull ? [false, all] : [true, HashMap.set(all, name, texts)]
        })
        if (!isTaken) return yield* Effect.fromResult(refuse("full", `${maxNames} names have records: take one away with an empty value`))
      }),
      setAway: (isAway) => Ref.set(away, isAway)
    })
    const port = Names.of({
      txt: Effect.fnUntraced(function* (name) {
        if (yield* Ref.get(away)) return yield* new NamesUnavailable({ name })
        return Option.getOrElse(HashMap.get(yield* Ref.get(records), name.toLowerCase()), () => [])
      })
    })
    return Context.make(PretendNames, control).pipe(Context.add(Names, port))
  })
)
