import { Names, NamesUnavailable } from "@satrail/core/Names"
import { Context, Effect, HashMap, Layer, Option, Ref } from "effect"

/** The other side of the domain name system: whoever owns a domain says what is there. */
export class PretendNames extends Context.Service<
  PretendNames,
  {
    /** The TXT records of a name, instead of those that were there. */
    readonly set: (name: string, texts: ReadonlyArray<string>) => Effect.Effect<void>
    /** While it is away it gives no answer. */
    readonly setAway: (isAway: boolean) => Effect.Effect<void>
  }
>()("sandbox/PretendNames") {}

/** A domain name system in memory. Names are in lower case. */
export const layer: Layer.Layer<Names | PretendNames> = Layer.effectContext(
  Effect.gen(function* () {
    const records = yield* Ref.make(HashMap.empty<string, ReadonlyArray<string>>())
    const away = yield* Ref.make(false)
    const control = PretendNames.of({
      set: (name, texts) => Ref.update(records, (all) => HashMap.set(all, name.toLowerCase(), texts)),
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
