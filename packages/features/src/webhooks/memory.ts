import * as Endpoint from "./core/records/Endpoint.ts"
import * as Delivery from "./core/records/Delivery.ts"
import type { WebhookReads } from "./core/records/WebhookReads.ts"
import { Option, Ref } from "effect"
import { newestFirst, page, type Read } from "@satrail/memory/Reading"
import * as State from "@satrail/memory/State"

const deliveriesTo = (state: State.State, endpoint: string) =>
  State.all(state, Delivery.noun).filter(({ endpointId }) => endpointId === endpoint)

export const make = (read: Read, state: Ref.Ref<State.State>): WebhookReads["Service"] => ({
  endpointsOf: (companyId) =>
    read((now) =>
      page(
        State.ownedBy(now, Endpoint.noun, companyId).filter(({ status }) => status !== "deleted"),
        null,
        Infinity
      )
    ),
  enabledEndpoints: (after, limit) =>
    read((now) =>
      page(
        State.all(now, Endpoint.noun).filter(({ status }) => status === "enabled"),
        after,
        limit
      )
    ),
  pendingDeliveries: (endpointId, after, limit) =>
    read((now) =>
      page(
        deliveriesTo(now, endpointId).filter(({ status }) => status === "pending"),
        after,
        limit
      )
    ),
  knownDeliveries: (endpointId, epoch, places) =>
    read((now) =>
      places.filter((place) => Option.isSome(State.named(now, Delivery.noun, { endpointId, epoch, place })))
    ),
  deliveriesTo: (endpointId, before, limit) =>
    read((now) => newestFirst(deliveriesTo(now, endpointId), before, limit)),
  forgetDeliveries: ({ beforeMillis, pendingBeforeMillis, after, limit }) =>
    Ref.modify(state, (now) => {
      const checked = page(State.all(now, Delivery.noun), after, limit).filter(
        ({ createdAtMillis }) => createdAtMillis < beforeMillis
      )
      const old = checked.filter(
        ({ status, createdAtMillis }) => status !== "pending" || createdAtMillis < pendingBeforeMillis
      )
      return [
        checked.at(-1)?.id ?? null,
        old.reduce((all, row) => State.remove(all, Delivery.noun, row), now)
      ]
    })
})
