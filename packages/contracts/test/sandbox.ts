import { Context, Effect, Layer } from "effect"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import * as Peers from "../../sandbox/test/Peers.ts"
import * as Mutants from "./mutants.ts"

/** The sandbox as it should be, with the other side of every contract. */
export const sound = Layer.provideMerge(Layer.merge(Peers.layer, Peers.names), Sandbox.layer({ seed: "bite", network: "regtest" }))
type Sound = Layer.Success<typeof sound>

/** The same with one port spoiled. The other side is not. */
export const sabotage = <I extends Sound, S extends object>(
  port: Context.Key<I, S>,
  spoil: (port: S, sandbox: Sandbox.Sandbox["Service"]) => Partial<S>
): Layer.Layer<Sound, Sandbox.LogUnusable> =>
  Layer.provide(
    Layer.effectContext(
      Effect.map(Effect.context<Sound>(), (context): Context.Context<Sound> => {
        const service = Context.get(context, port)
        return Context.add(context, port, { ...service, ...spoil(service, Context.get(context, Sandbox.Sandbox)) })
      })
    ),
    sound
  )

/** Spoiled layers, each with promises that it must break, and that the layer as it should be keeps. */
export const bites = <Promise extends string>(
  port: string,
  promises: { readonly [promise in Promise]: Effect.Effect<void, unknown, Sound> },
  spoiled: Mutants.Mutants<Sound, Sandbox.LogUnusable, Promise>
): void => Mutants.bites(port, promises, sound, spoiled)
