import { Companies } from "@satrail/core/accounts/Companies"
import * as Domain from "@satrail/core/accounts/Domain"
import { Domains } from "@satrail/core/accounts/Domains"
import { isLoopback } from "@satrail/core/base/Caller"
import * as CompanyId from "@satrail/core/base/CompanyId"
import { Effect, Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import * as Acting from "../edge/Acting.ts"
import { addressOf } from "../wire/Address.ts"
import { Audited, Caller, companyId, OperatorScopes, Scopes } from "../api/Authentication.ts"
import * as Envelope from "../wire/Envelope.ts"
import * as Errors from "../wire/Errors.ts"
import { Example, type World } from "../wire/Examples.ts"
import * as Idempotency from "../wire/Idempotency.ts"
import { RequestRates } from "../edge/RequestRates.ts"
import * as Scalars from "../wire/Scalars.ts"
import * as Section from "../api/Section.ts"
import * as Member from "../wire/Member.ts"
import * as View from "../wire/View.ts"

const path = "/v1/domains"

const GivenDomain = Schema.String.annotate({ examples: ["example.com"] }).check(
  Scalars.stated(Scalars.domainIssue, { pattern: "[^.]\\.[^.]" })
)

const askedOf = ({ domain }: { readonly domain: string }) => ({ domain: Scalars.domainOf(domain) })

/** A custom domain as its company sees it. */
export const own = View.make<Domain.Domain>()(
  { identifier: "OwnDomain" },
  {
    domain: [Scalars.text("example.com"), (row) => row.domain],
    shown_by: [
      Domain.Domain.fields.shownBy.annotate({
        description:
          "`dns`: verified by the TXT record, which must stay in place. `operator`: confirmed by the operator"
      }),
      (row) => row.shownBy
    ],
    verified_at: Member.instant((row) => row.verifiedAtMillis),
    checked_at: Member.instant((row) => row.checkedAtMillis),
    lost_at: Member.instantOrNull(
      (row) => row.lostAtMillis,
      "Time at which the TXT record was first found missing; null while it is present"
    ),
    txt_name: [Scalars.text("_satrail-verify.example.com"), (row) => Domain.record(row).name],
    txt_value: [
      Scalars.text("satrail-verify=018f3b1e-7c00-7a3b-9c1d-2f5e6a7b8c9d"),
      (row) => Domain.record(row).value
    ]
  }
)

/** A custom domain as the operator sees it. */
const vouched = View.make<Domain.Domain>()(
  { identifier: "Domain" },
  {
    domain: own.members.domain,
    company_id: Member.uuid((row) => row.companyId),
    verified_at: own.members.verified_at
  }
)

const example = ({ domain, companyId, millis }: World): Domain.Domain => ({
  domain,
  companyId,
  shownBy: "dns",
  verifiedAtMillis: millis(),
  checkedAtMillis: millis(),
  lostAtMillis: null
})

const claiming = Idempotency.creation(path, "Domain verified", own.of)

const claim = Section.company(
  HttpApiEndpoint.post("claimDomain", path, {
    headers: Idempotency.headers,
    payload: Schema.Struct({ domain: GivenDomain }).annotate({ identifier: "ClaimDomain" }),
    success: Envelope.success(201, own.schema),
    error: Errors.of(
      "malformed",
      "idempotency_mismatch",
      "plan_required",
      "domain_taken",
      "domain_not_shown",
      "names_unavailable",
      "store_unavailable"
    )
  })
    .annotate(Scopes, ["receive"])
    .annotate(Audited, true)
    .annotate(OpenApi.Summary, "Claim a domain")
    .annotate(
      OpenApi.Description,
      "Verifies that the domain belongs to the company, by its TXT record. If the record is missing, the error contains the one to set. Repeating the request has no further effect. Custom domains need a paid plan. Requires the `receive` scope."
    )
    .annotate(Example, (world) => ({
      body: { domain: world.domain },
      message: "Domain verified",
      data: own.of(example(world))
    })),
  Domains,
  (domains) =>
    Effect.fnUntraced(function* ({ payload, headers, request }) {
      const {
        apiKey: { companyId: id },
        plan
      } = yield* Caller
      const once = yield* claiming.once(request, headers["idempotency-key"], askedOf(payload))
      return claiming.answer(
        yield* Errors.answered(domains.verify({ id, plan }, payload.domain, once.request))
      )
    })
)

export const list = Section.company(
  HttpApiEndpoint.get("listDomains", path, {
    success: Envelope.success(200, Schema.Array(own.schema)),
    error: Errors.of("store_unavailable")
  })
    .annotate(Scopes, ["read"])
    .annotate(OpenApi.Summary, "List domains")
    .annotate(
      OpenApi.Description,
      "Returns the company's verified domains. A domain whose TXT record is missing keeps working for a grace period. Requires the `read` scope."
    )
    .annotate(Example, (world) => ({ message: "Domains", data: [own.of(example(world))] })),
  Domains,
  (domains) =>
    Effect.fnUntraced(function* () {
      return Envelope.ok("Domains", (yield* Errors.answered(domains.list(yield* companyId))).map(own.of))
    })
)

export const section = Section.make(
  "domains",
  { title: "Domains", description: "Custom domains for Lightning addresses" },
  [claim, list]
)

const vouchPath = "/operator/companies/:companyId/domains"

const vouching = Idempotency.creation(vouchPath, "Domain verified", vouched.of)

/** Marks a domain as verified because the operator confirms it, without a TXT record. */
export const vouch = Section.operator(
  HttpApiEndpoint.post("verifyDomain", vouchPath, {
    params: { companyId: Scalars.Id },
    headers: Idempotency.headers,
    payload: Schema.Struct({ domain: GivenDomain }).annotate({ identifier: "VerifyDomain" }),
    success: Envelope.success(201, vouched.schema),
    error: Errors.of("malformed", "idempotency_mismatch", "not_found", "domain_taken", "store_unavailable")
  })
    .annotate(OperatorScopes, ["companies"])
    .annotate(OpenApi.Summary, "Confirm a company's domain")
    .annotate(
      OpenApi.Description,
      "Confirms that the domain belongs to the company, without checking a TXT record. The company can then create Lightning addresses there. Repeating the request has no further effect."
    )
    .annotate(Example, (world) => ({
      params: { companyId: world.companyId },
      body: { domain: world.domain },
      message: "Domain verified",
      data: vouched.of(example(world))
    })),
  Companies,
  (companies) =>
    Effect.fnUntraced(function* ({ params, payload, headers, request }) {
      const companyId = CompanyId.make(params.companyId)
      const once = yield* vouching.once(
        request,
        headers["idempotency-key"],
        askedOf(payload),
        vouchPath.replace(":companyId", companyId)
      )
      return vouching.answer(
        yield* Errors.answered(companies.verifyDomain(companyId, payload.domain, once.request))
      )
    })
)

const askTls = Section.open(
  HttpApiEndpoint.get("askTls", "/tls/ask", {
    query: {
      domain: Schema.String.annotate({
        description: "Domain name of the requested certificate",
        examples: ["example.com"]
      })
    },
    success: Envelope.success(200, Schema.Struct({ domain: Schema.String })),
    error: Errors.of("malformed", "not_found", "rate_limited", "store_unavailable")
  })
    .annotate(OpenApi.Summary, "Check whether a domain is served here")
    .annotate(
      OpenApi.Description,
      "Returns 200 for the service's own domain and for verified domains, 404 otherwise. A web server can call this endpoint before it requests a certificate on demand. Requires no key."
    )
    .annotate(Example, () => ({ message: "Served here", data: { domain: "example.com" } })),
  Effect.all([Domains, RequestRates, Acting.Proxies]),
  ([domains, { ofStranger }, proxies]) =>
    Effect.fnUntraced(function* ({ query: { domain }, request }) {
      // The local reverse proxy sends these requests for all callers, so they are not rate limited.
      if (!isLoopback(addressOf(request, proxies))) yield* ofStranger(request)
      if (yield* Errors.answered(domains.isServed(domain))) return Envelope.ok("Served here", { domain })
      return yield* Effect.fail(Errors.failure("not_found", "This domain is not served here"))
    })
)

export const tls = Section.make(
  "tls",
  { title: "Certificates", description: "For a reverse proxy that requests certificates" },
  [askTls]
)
