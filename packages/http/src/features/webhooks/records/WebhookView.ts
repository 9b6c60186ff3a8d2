import { type Endpoint, Reason, Status } from "@satrail/core/features/webhooks/records/Endpoint"
import { Schema } from "effect"
import * as Scalars from "../../../wire/Scalars.ts"
import * as View from "../../../wire/View.ts"

/** A webhook endpoint as its owner sees it: never its secret. */
export const view = View.make<Endpoint>()(
  { identifier: "WebhookEndpoint" },
  {
    id: [Scalars.Uuid, (row) => row.id],
    url: [Scalars.text("https://shop.example/webhooks"), (row) => row.url],
    description: [Schema.String, (row) => row.description],
    types: [Schema.Array(Schema.String).annotate({ description: "The events that are sent; empty: all" }), (row) => row.types],
    signature_header: [
      Schema.NullOr(Schema.String).annotate({ description: "The header of the plain signature; null for none" }),
      (row) => row.signatureHeader
    ],
    status: [Status, (row) => row.status],
    disabled_reason: [
      Schema.NullOr(Reason).annotate({
        description: "`owner`; `gone`: it answered 410; `failing`: everything failed for five days. null while it is enabled"
      }),
      (row) => row.disabledReason
    ],
    failing_since: [
      Schema.NullOr(Scalars.Instant).annotate({ description: "Since when no attempt has succeeded; null while one does" }),
      (row) => Scalars.instantOrNull(row.failingSinceMillis)
    ],
    created_at: [Scalars.Instant, (row) => Scalars.instant(row.createdAtMillis)],
    updated_at: [Scalars.Instant, (row) => Scalars.instant(row.updatedAtMillis)]
  }
)
