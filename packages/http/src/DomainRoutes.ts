import * as Domain from "@satrail/core/accounts/Domain"
import { Domains } from "@satrail/core/accounts/Domains"
import { Effect, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Authentication, Caller, Scopes } from "./Authentication.ts"
import { base } from "./Base.ts"
import { Decoding } from "./Decoding.ts"
import * as Envelope from "./Envelope.ts"
import * as Errors from "./Errors.ts"
import * as Field from "./Field.ts"
import * as Handlers from "./Handlers.ts"
import * as Idempotency from "./Idempotency.ts"
import * as Wire from "./Wire.ts"

const path = "/v1/domains"

const Record = Schema.Struct({
  domain: Schema.String.annotate({ examples: ["example.com"] }),
  shown_by: Domain.Domain.fields.shownBy.annotate({
    description: "`dns`: by the TXT record, which has to stay; `operator`: the operator vouches for it"
  }),
  verified_at: Wire.Instant,
  checked_at: Wire.Instant,
  lost_at: Schema.NullOr(Wire.Instant).annotate({ description: "Since when the record has been missing; null while it is there" }),
  txt_name: Schema.String.annotate({ examples: ["_satrail-verify.example.com"] }),
  txt_value: Schema.String.annotate({ examples: ["satrail-verify=018f3b1e-7c00-7a3b-9c1d-2f5e6a7b8c9d"] })
}).annotate({ identifier: "OwnDomain" })

const record = (row: Domain.Domain): typeof Record.Type => {
  const { name, value } = Domain.record(row)
  return {
    domain: row.domain,
    shown_by: row.shownBy,
    verified_at: Wire.instant(row.verifiedAtMillis),
    checked_at: Wire.instant(row.checkedAtMillis),
    lost_at: row.lostAtMillis === null ? null : Wire.instant(row.lostAtMillis),
    txt_name: name,
    txt_value: value
  }
}

const claimDomain = HttpApiEndpoint.post("claimDomain", path, {
  payload: Schema.Struct({ domain: Field.Domain }).annotate({ identifier: "ClaimDomain" }),
  success: Envelope.success(201, Record),
  error: Errors.of(
    "malformed",
    "idempotency_not_supported",
    "plan_required",
    "domain_taken",
    "domain_not_shown",
    "names_unavailable",
    "store_unavailable"
  )
})
  .annotate(Scopes, ["receive"])
  .annotate(OpenApi.Summary, "Claim a domain")
  .annotate(
    OpenApi.Description,
    "Looks for the TXT record that shows the domain to be the company's. While it is not there, the refusal says which to set. Doing it again changes nothing, so an `Idempotency-Key` is refused. Needs a paid plan and the scope `receive`."
  )

const listDomains = HttpApiEndpoint.get("listDomains", path, {
  success: Envelope.success(200, Schema.Array(Record)),
  error: Errors.of("store_unavailable")
})
  .annotate(Scopes, ["read"])
  .annotate(OpenApi.Summary, "List domains")
  .annotate(OpenApi.Description, "The company's own. One that is lost answers for a while, and then no more. Needs the scope `read`.")

/** Domains of a company's own. */
export class Group extends HttpApiGroup.make("domains")
  .add(claimDomain, listDomains)
  .middleware(Decoding)
  .middleware(Authentication)
  .annotate(OpenApi.Title, "Domains")
  .annotate(OpenApi.Description, "Where a company's Lightning addresses may be besides the service's own domain") {}

const askTls = HttpApiEndpoint.get("askTls", "/tls/ask", {
  query: { domain: Schema.String.annotate({ description: "The name that somebody wants a certificate for", examples: ["example.com"] }) },
  success: Envelope.success(200, Schema.Struct({ domain: Schema.String })),
  error: Errors.of("malformed", "not_found", "store_unavailable")
})
  .annotate(OpenApi.Summary, "Whether a domain is served here")
  .annotate(
    OpenApi.Description,
    "For a web server that gets certificates on demand: 200 for the service's own domain and for verified ones that are not lost, else 404. Without a key."
  )

/** For the web server in front. Without a key. */
export class TlsGroup extends HttpApiGroup.make("tls")
  .add(askTls)
  .middleware(Decoding)
  .annotate(OpenApi.Title, "Certificates")
  .annotate(OpenApi.Description, "For the web server in front") {}

export const layer = Handlers.layer(
  base.add(Group),
  "domains",
  Effect.fnUntraced(function* (handlers) {
    const domains = yield* Domains

    return handlers.handleAll({
      claimDomain: Effect.fnUntraced(function* ({ payload, request }) {
        yield* Idempotency.refused(request, "Doing this again changes nothing")
        const {
          apiKey: { companyId: id },
          plan
        } = yield* Caller
        return Envelope.created("Domain verified", record(yield* Errors.answered(domains.verify({ id, plan }, payload.domain))))
      }),
      listDomains: Effect.fnUntraced(function* () {
        const { apiKey } = yield* Caller
        return Envelope.ok("Domains", (yield* Errors.answered(domains.list(apiKey.companyId))).map(record))
      })
    })
  })
)

export const layerTls = Handlers.layer(
  base.add(TlsGroup),
  "tls",
  Effect.fnUntraced(function* (handlers) {
    const domains = yield* Domains

    return handlers.handleAll({
      askTls: Effect.fnUntraced(function* ({ query: { domain } }) {
        if (yield* Errors.answered(domains.isServed(domain))) return Envelope.ok("Served here", { domain })
        return yield* Effect.fail(Errors.failure("not_found", "This domain is not served here"))
      })
    })
  })
)
