import { type Endpoint, Reason, Status } from "../../core/records/Endpoint.ts"
import { Schema } from "effect"
import * as Scalars from "@satrail/http/wire/Scalars"
import * as Member from "@satrail/http/wire/Member"
import * as View from "@satrail/http/wire/View"

/** A webhook endpoint as its owner sees it, without its secret. */
export const view = View.make<Endpoint>()(
  { identifier: "WebhookEndpoint" },
  {
    id: Member.uuid((row) => row.id),
    url: [Scalars.text("https://shop.example/webhooks"), (row) => row.url],
    description: Member.text((row) => row.description),
    types: [
      Schema.Array(Schema.String).annotate({ description: "Event types that are sent; all if empty" }),
      (row) => row.types
    ],
    signature_header: Member.textOrNull(
      (row) => row.signatureHeader,
      "Header that contains the additional signature; null if none"
    ),
    status: [Status, (row) => row.status],
    disabled_reason: [
      Schema.NullOr(Reason).annotate({
        description:
          "Reason it is disabled: `owner`, `gone` (it responded with 410) or `failing` (every attempt failed for five days). null while enabled"
      }),
      (row) => row.disabledReason
    ],
    failing_since: Member.instantOrNull(
      (row) => row.failingSinceMillis,
      "Start of the current series of failed attempts; null if the last attempt succeeded"
    ),
    created_at: Member.instant((row) => row.createdAtMillis),
    updated_at: Member.instant((row) => row.updatedAtMillis)
  }
)
