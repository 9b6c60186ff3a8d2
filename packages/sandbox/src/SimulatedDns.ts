import { Dns, DnsUnavailable, type Validated } from "@satrail/core/base/Dns"
import { Context, Effect, HashMap, Layer, Option, Ref } from "effect"
import { refuse, type SandboxRefused } from "./Refused.ts"

/** Maximum number of names with records. */
export const maxNames = 1000

/** The domain owner's side of DNS, which sets records. */
export class SimulatedDns extends Context.Service<
  SimulatedDns,
  {
    /**
     * Replaces a name's TXT records, signed by default. An empty list removes the name. Fails if there would be
     * more than `maxNames` names.
     */
    readonly set: (
      name: string,
      texts: ReadonlyArray<string>,
      isSigned?: boolean
    ) => Effect.Effect<void, SandboxRefused>
    /** Makes the resolver stop responding, or respond again. */
    readonly setAway: (isAway: boolean) => Effect.Effect<void>
  }
>()("@satrail/sandbox/SimulatedDns") {}

/** A domain name system in memory. Its records are signed unless specified otherwise. Names are in lower case. */
export const layer: Layer.Layer<Dns | SimulatedDns> = Layer.effectContext(
  Effect.gen(function* () {
    const records = yield* Ref.make(HashMap.empty<string, Validated>())
    const away = yield* Ref.make(false)
    const control = SimulatedDns.of({
      set: Effect.fnUntraced(function* (written, texts, isSigned = true) {
        const name = written.toLowerCase()
        const isTaken = yield* Ref.modify(records, (all) => {
          if (texts.length === 0) return [true, HashMap.remove(all, name)]
          const isFull = HashMap.size(all) >= maxNames && !HashMap.has(all, name)
          return isFull ? [false, all] : [true, HashMap.set(all, name, { texts, isSigned })]
        })
        if (!isTaken)
          return yield* Effect.fromResult(
            refuse(
              "full",
              `${maxNames} names have records, the maximum. Remove one by setting an empty value`
            )
          )
      }),
      setAway: (isAway) => Ref.set(away, isAway)
    })
    const validated = Effect.fnUntraced(function* (name: string) {
      if (yield* Ref.get(away)) return yield* new DnsUnavailable({ name })
      return Option.getOrElse(HashMap.get(yield* Ref.get(records), name.toLowerCase()), (): Validated => ({
        texts: [],
        isSigned: true
      }))
    })
    const port = Dns.of({ validated, txt: (name) => Effect.map(validated(name), ({ texts }) => texts) })
    return Context.make(SimulatedDns, control).pipe(Context.add(Dns, port))
  })
)
