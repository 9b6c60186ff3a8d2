import * as Measure from "@satrail/core/base/Measure"
import * as Outage from "@satrail/core/base/Outage"
import { NodeUnavailable } from "@satrail/core/nodes/LightningReceiver"
import { Effect, Metric } from "effect"

// The availability of a node, shared by all its clients.

/** The node certainly did not process the request: nothing was written, or the node rejected it first. */
export class NotLookedAt extends NodeUnavailable {}

/**
 * 1 while the node serves us. 0 while it is unreachable, locked, starting, or rejects our credentials, until
 * the failed call succeeds again.
 */
const isUpBy = Measure.gauge("satrail_node_up", "Whether the node responds: 1 or 0", ["node"])
export const up = (node: string) => isUpBy({ node })

/** Number of failed calls. */
const outagesBy = Measure.counter("satrail_node_outages_total", "Calls that got no response from the node", [
  "node"
])
export const outages = (node: string) => outagesBy({ node })

/**
 * Receives every response and every outage. Logs an outage once when it begins, with its remedy, and once
 * when it ends.
 */
export interface NodeState {
  /** Ends the problems of these subjects: the node, our macaroons, or single calls. */
  readonly works: (about: ReadonlyArray<string>) => Effect.Effect<void>
  /**
   * Reports a problem of `about`: the node, one of our macaroons, or one call. Only a success of the same
   * subject ends the problem.
   */
  readonly fails: (about: string, trouble: Outage.Words & { readonly reason: string }) => Effect.Effect<void>
  /** Number of problems that have ended. */
  readonly returns: () => number
}

/** A state that neither logs nor measures. */
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
        const told = Effect.forEach(over, (reason) => Effect.logInfo(`no longer: ${reason}`), {
          discard: true
        })
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
