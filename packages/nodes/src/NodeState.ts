import * as Measure from "@satrail/core/base/Measure"
import * as Outage from "@satrail/core/base/Outage"
import { NodeUnavailable } from "@satrail/core/nodes/LightningReceiver"
import { Effect, Metric } from "effect"

// Whether a node serves us, as all who ask it see it together.

/** The node is certain not to have looked at what was asked: nothing was written, or it turned the call away at its gate. */
export class NotLookedAt extends NodeUnavailable {}

/** 1 as long as the node serves us; 0 from when it is away, locked, starting, or refuses our credentials, until the same works again. */
const isUpBy = Measure.gauge("satrail_node_up", "Whether the node serves us: 1 or 0", ["node"])
export const up = (node: string) => isUpBy({ node })

/** How often it did not. */
const outagesBy = Measure.counter("satrail_node_outages_total", "Questions that the node did not answer", ["node"])
export const outages = (node: string) => outagesBy({ node })

/** Notified of every response and of every outage. Logs an outage once when it begins, with its remedy, and once when it is over. */
export interface NodeState {
  /** Whatever was wrong with these is over. */
  readonly works: (about: ReadonlyArray<string>) => Effect.Effect<void>
  /** Something is wrong with `about`: the node, one of our macaroons, one call. That another works says nothing of this one. */
  readonly fails: (about: string, trouble: Outage.Words & { readonly reason: string }) => Effect.Effect<void>
  /** How often something has been over since. */
  readonly returns: () => number
}

/** Says nothing and measures nothing. */
export const quiet: NodeState = { works: () => Effect.void, fails: () => Effect.void, returns: () => 0 }

export const make = (node: string): NodeState => {
  const troubles = new Map<string, string>()
  const [isUp, failures] = [up(node), outages(node)]
  let returns = 0
  const measure = Effect.suspend(() => Metric.update(isUp, troubles.size === 0 ? 1 : 0))

  return {
    returns: () => returns,
    works: (about) =>
      Effect.suspend(() => {
        if (troubles.size === 0) return measure
        const over = about.flatMap((one) => troubles.get(one) ?? [])
        for (const one of about) troubles.delete(one)
        if (over.length > 0) returns++
        const told = Effect.forEach(over, (reason) => Effect.logInfo(`no longer: ${reason}`), { discard: true })
        return Effect.andThen(told, measure)
      }),
    fails: (about, trouble) =>
      Effect.suspend(() => {
        const isNew = troubles.get(about) !== trouble.reason
        troubles.set(about, trouble.reason)
        const told = isNew ? Effect.logError(Outage.text(trouble) ?? trouble.reason) : Effect.void
        return Effect.andThen(told, Effect.andThen(measure, Metric.update(failures, 1)))
      })
  }
}
