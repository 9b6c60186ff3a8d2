import * as Endpoint from "@satrail/core/features/webhooks/records/Endpoint"
import * as Delivery from "@satrail/core/features/webhooks/records/Delivery"
import { WebhookReads } from "@satrail/core/features/webhooks/records/WebhookReads"
import { Effect, Option, Ref } from "effect"
import * as State from "../State.ts"

const byId = (a: { readonly id: string }, b: { readonly id: string }): number => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)

/** Implements the port on in-memory state. */
export const over = (state: Ref.Ref<State.State>): WebhookReads["Service"] => {
  const read = <A>(select: (now: State.State) => A) => Effect.map(Ref.get(state), select)
  const endpoints = (now: State.State) => State.all(now, Endpoint.noun).toSorted(byId)
  const deliveries = (now: State.State) => State.all(now, Delivery.noun).toSorted(byId)
  return WebhookReads.of({
    endpointsOf: (companyId) => read((now) => endpoints(now).filter((row) => row.companyId === companyId && row.status !== "deleted")),
    enabledEndpoints: (after, limit) =>
      read((now) =>
        endpoints(now)
          .filter(({ id, status }) => status === "enabled" && (after === null || id > after))
          .slice(0, limit)
      ),
    pendingDeliveries: (endpointId, after, limit) =>
      read((now) =>
        deliveries(now)
          .filter((row) => row.endpointId === endpointId && row.status === "pending" && (after === null || row.id > after))
          .slice(0, limit)
      ),
    knownDeliveries: (endpointId, epoch, places) =>
      read((now) => places.filter((place) => Option.isSome(State.named(now, Delivery.noun, { endpointId, epoch, place })))),
    deliveriesTo: (endpointId, before, limit) =>
      read((now) =>
        deliveries(now)
          .filter((row) => row.endpointId === endpointId && (before === null || row.id < before))
          .toReversed()
          .slice(0, limit)
      ),
    forgetDeliveries: ({ beforeMillis, pendingBeforeMillis, after, limit }) =>
      Ref.modify(state, (now) => {
        const checked = deliveries(now)
          .filter(({ id }) => after === null || id > after)
          .slice(0, limit)
          .filter(({ createdAtMillis }) => createdAtMillis < beforeMillis)
        const old = checked.filter(({ status, createdAtMillis }) => status !== "pending" || createdAtMillis < pendingBeforeMillis)
        return [checked.at(-1)?.id ?? null, old.reduce((all, row) => State.remove(all, Delivery.noun, row), now)]
      })
  })
}
