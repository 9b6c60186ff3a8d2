import { Context, type Effect } from "effect"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import type { StoreUnavailable } from "@satrail/core/ledger/Journal"
import type { Delivery } from "./Delivery.ts"
import type { Endpoint } from "./Endpoint.ts"

type Read<A> = Effect.Effect<A, StoreUnavailable>

/** Reads webhook endpoints and their deliveries. */
export class WebhookReads extends Context.Service<
  WebhookReads,
  {
    /** Returns a company's endpoints that are not deleted, ordered by id. */
    readonly endpointsOf: (companyId: CompanyId.CompanyId) => Read<ReadonlyArray<Endpoint>>
    /** Returns all companies' enabled endpoints after `after`, ordered by id. */
    readonly enabledEndpoints: (after: string | null, limit: number) => Read<ReadonlyArray<Endpoint>>
    /** Returns the pending deliveries to an endpoint after `after`, ordered by id. */
    readonly pendingDeliveries: (
      endpointId: string,
      after: string | null,
      limit: number
    ) => Read<ReadonlyArray<Delivery>>
    /**
     * Returns those of the given positions whose events have a recorded delivery to the endpoint in this
     * replay.
     */
    readonly knownDeliveries: (
      endpointId: string,
      epoch: number,
      places: ReadonlyArray<string>
    ) => Read<ReadonlyArray<string>>
    /**
     * Returns the deliveries to an endpoint, newest first by id, before `before` (exclusive; null for the
     * first page).
     */
    readonly deliveriesTo: (
      endpointId: string,
      before: string | null,
      limit: number
    ) => Read<ReadonlyArray<Delivery>>
    /**
     * Checks the `limit` oldest deliveries after `after` (null: the first). Deletes those created before
     * `beforeMillis`; pending ones, only if created before `pendingBeforeMillis`, which is earlier. Returns the id of
     * the last one created before `beforeMillis`, or null if there was none.
     */
    readonly forgetDeliveries: (ask: {
      readonly beforeMillis: number
      readonly pendingBeforeMillis: number
      readonly after: string | null
      readonly limit: number
    }) => Read<string | null>
  }
>()("@satrail/features/webhooks/core/records/WebhookReads") {}
