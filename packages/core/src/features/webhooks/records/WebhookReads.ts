import { Context, type Effect } from "effect"
import type * as CompanyId from "../../../base/CompanyId.ts"
import type { StoreUnavailable } from "../../../ledger/Journal.ts"
import type { Delivery } from "./Delivery.ts"
import type { Endpoint } from "./Endpoint.ts"

type Read<A> = Effect.Effect<A, StoreUnavailable>

/** Webhook endpoints, and what is on its way to them. */
export class WebhookReads extends Context.Service<
  WebhookReads,
  {
    /** The endpoints of a company that were not deleted, by id. */
    readonly endpointsOf: (companyId: CompanyId.CompanyId) => Read<ReadonlyArray<Endpoint>>
    /** Every enabled endpoint, of whichever company, by id, after `after`. */
    readonly enabledEndpoints: (after: string | null, limit: number) => Read<ReadonlyArray<Endpoint>>
    /** What waits to be sent to an endpoint, by id, after `after`. */
    readonly pendingDeliveries: (endpointId: string, after: string | null, limit: number) => Read<ReadonlyArray<Delivery>>
    /** Of which of these places the deliveries to an endpoint are recorded, of one replay. */
    readonly knownDeliveries: (endpointId: string, epoch: number, places: ReadonlyArray<string>) => Read<ReadonlyArray<string>>
    /** The deliveries to an endpoint, the newest first by id, before `before` (exclusive; null for the first page). */
    readonly deliveriesTo: (endpointId: string, before: string | null, limit: number) => Read<ReadonlyArray<Delivery>>
    /** Deletes those of the `limit` oldest deliveries that were made before `beforeMillis` and do not wait. Answers how many. */
    readonly forgetDeliveries: (beforeMillis: number, limit: number) => Read<number>
  }
>()("@satrail/core/features/webhooks/records/WebhookReads") {}
