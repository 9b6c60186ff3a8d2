import { Names, NamesUnavailable, type Validated } from "@satrail/core/base/Names"
import { Context, Effect, HashMap, Layer, Option, Ref } from "effect"
import { refuse, type SandboxRefused } from "./Refused.ts"

/** How many names have records at once. */
export const maxNames = 1000

/** The other side of DNS: the owner of a domain sets its records. */
export class PretendNames extends Context.Service<
  PretendNames,
  {
    /** The TXT records of a name, signed unless it is said that they are not, instead of those that were there. Refuses one name more than `maxNames`; none takes a name away. */
    readonly set: (name: string, texts: ReadonlyArray<string>, isSigned?: boolean) => Effect.Effect<void, SandboxRefused>
    /** While it is away it gives no answer. */
    readonly setAway: (isAway: boolean) => Effect.Effect<void>
  }
>()("@satrail/sandbox/PretendNames") {}

/** A domain name system in memory, all of it signed but what is said not to be. Names are in lower case. */
export const layer: Layer.Layer<Names | PretendNames> = Layer.effectContext(
  Effect.gen(function* () {
    const records = yield* Ref.make(HashMap.empty<string, Validated>())
    const away = yield* Ref.make(false)
    const control = PretendNames.of({
      set: Effect.fnUntraced(function* (written, texts, isSigned = true) {
        const name = written.toLowerCase()
        const isTaken = yield* Ref.modify(records, (all) => {
          if (texts.length === 0) return [true, HashMap.remove(all, name)]
          const isFull = HashMap.size(all) >= maxNames && !HashMap.has(all, name)
          return isFull ? [false, all] : [true, HashMap.set(all, name, { texts, isSigned })]
        })
        if (!isTaken) return yield* Effect.fromResult(refuse("full", `${maxNames} names have records: take one away with an empty value`))
      }),
      setAway: (isAway) => Ref.set(away, isAway)
    })
    const validated = Effect.fnUntraced(function* (name: string) {
      if (yield* Ref.get(away)) return yield* new NamesUnavailable({ name })
      return Option.getOrElse(HashMap.get(yield* Ref.get(records), name.toLowerCase()), (): Validated => ({ texts: [], isSigned: true }))
    })
    const port = Names.of({ validated, txt: (name) => Effect.map(validated(name), ({ texts }) => texts) })
    return Context.make(PretendNames, control).pipe(Context.add(Names, port))
  })
)
