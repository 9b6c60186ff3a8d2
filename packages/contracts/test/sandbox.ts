import { Context, Effect, Layer } from "effect"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import * as Peers from "../../sandbox/test/Peers.ts"
import * as Mutants from "./mutants.ts"

/** The unchanged sandbox, with the peers of all contracts. */
export const sound = Layer.provideMerge(
  Layer.merge(Peers.layer, Peers.names),
  Sandbox.layer({ seed: "bite", network: "regtest" })
)
type Sound = Layer.Success<typeof sound>

/** The sandbox with one port changed. The peers stay unchanged. */
export const sabotage = <I extends Sound, S extends object>(
  port: Context.Key<I, S>,
  spoil: (port: S, sandbox: Sandbox.Sandbox["Service"]) => Partial<S>
): Layer.Layer<Sound, Sandbox.LogUnusable> =>
  Layer.provide(
    Layer.effectContext(
      Effect.map(Effect.context<Sound>(), (context): Context.Context<Sound> => {
        const service = Context.get(context, port)
        return Context.add(context, port, {
          ...service,
          ...spoil(service, Context.get(context, Sandbox.Sandbox))
        })
      })
    ),
    sound
  )

/**
 * Tests mutants of the sandbox. Each mutant must break its listed guarantees, which the unchanged sandbox
 * provides.
 */
export const bites = <Promise extends string>(
  port: string,
  promises: { readonly [promise in Promise]: Effect.Effect<void, unknown, Sound> },
  spoiled: Mutants.Mutants<Sound, Sandbox.LogUnusable, Promise>
): void => Mutants.bites(port, promises, sound, spoiled)
