// Loaded before a program (`--import`): the modules that put spans around services are replaced by some that have none, so that tracing which is off is compared
// with no tracing at all.
import { registerHooks } from "node:module"

const without: Readonly<Record<string, string>> = {
  Traced: `
import { Layer } from "effect"
export const layer = (key) => Layer.effect(key, key)
export const over = (_, made) => made`,
  Trail: `
import { Effect } from "effect"
export const most = 0
export const isTracedIn = () => false
export const isTraced = Effect.succeed(false)
export const noted = () => (effect) => effect
export const make = Effect.succeed(() => (effect) => effect)
export const headers = Effect.succeed({})`
}

registerHooks({
  load: (url, context, next) => {
    const [, name = ""] = /\/core\/(?:src|dist)\/base\/(\w+)\.[jt]s$/.exec(url) ?? []
    const source = without[name]
    return source === undefined ? next(url, context) : { format: "module", source, shortCircuit: true }
  }
})
