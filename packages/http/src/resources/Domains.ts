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
import * as View from "../wire/View.ts"

const path = "/v1/domains"

const GivenDomain = Schema.String.annotate({ examples: ["example.com"] }).check(
  Scalars.stated(Scalars.domainIssue, { pattern: "[^.]\\.[^.]" })
)

/** A company's own domain, as the company sees it. */
export const own = View.make<Domain.Domain>()(
  { identifier: "OwnDomain" },
  {
    domain: [Scalars.text("example.com"), (row) => row.domain],
    shown_by: [
      Domain.Domain.fields.shownBy.annotate({
        description: "`dns`: by the TXT record, which has to stay; `operator`: the operator vouches for it"
      }),
      (row) => row.shownBy
    ],
    verified_at: [Scalars.Instant, (row) => Scalars.instant(row.verifiedAtMillis)],
    checked_at: [Scalars.Instant, (row) => Scalars.instant(row.checkedAtMillis)],
    lost_at: [
      Schema.NullOr(Scalars.Instant).annotate({ description: "Since when the record has been missing; null while it is there" }),
      (row) => Scalars.instantOrNull(row.lostAtMillis)
    ],
    txt_name: [Scalars.text("_satrail-verify.example.com"), (row) => Domain.record(row).name],
    txt_value: [Scalars.text("satrail-verify=018f3b1e-7c00-7a3b-9c1d-2f5e6a7b8c9d"), (row) => Domain.record(row).value]
  }
)

/** The same, as the operator sees it. */
const vouched = View.make<Domain.Domain>()(
  { identifier: "Domain" },
  {
    domain: own.members.domain,
    company_id: [Scalars.Uuid, (row) => row.companyId],
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
      "Checks the TXT record that verifies the domain as the company's. Without the record, the error names the one to set. Repeating the request changes nothing. Needs a paid plan and the scope `receive`."
    )
    .annotate(Example, (world) => ({ body: { domain: world.domain }, message: "Domain verified", data: own.of(example(world)) })),
  Domains,
  (domains) =>
    Effect.fnUntraced(function* ({ payload, headers, request }) {
      const {
        apiKey: { companyId: id },
        plan
      } = yield* Caller
      const once = yield* claiming.once(request, headers["idempotency-key"])
      return claiming.answer(yield* Errors.answered(domains.verify({ id, plan }, payload.domain, once.request)))
    })
)

export const list = Section.company(
  HttpApiEndpoint.get("listDomains", path, {
    success: Envelope.success(200, Schema.Array(own.schema)),
    error: Errors.of("store_unavailable")
  })
    .annotate(Scopes, ["read"])
    .annotate(OpenApi.Summary, "List domains")
    .annotate(OpenApi.Description, "The company's verified domains. A lost one answers for a grace period. Needs the scope `read`.")
    .annotate(Example, (world) => ({ message: "Domains", data: [own.of(example(world))] })),
  Domains,
  (domains) =>
    Effect.fnUntraced(function* () {
      return Envelope.ok("Domains", (yield* Errors.answered(domains.list(yield* companyId))).map(own.of))
    })
)

/** Domains of a company's own. */
export const section = Section.make("domains", { title: "Domains", description: "Companies' own domains for Lightning addresses" }, [
  claim,
  list
])

const vouchPath = "/operator/companies/:companyId/domains"

const vouching = Idempotency.creation(vouchPath, "Domain verified", vouched.of)

/** What the operator does without a TXT record. */
export const vouch = Section.operator(
  HttpApiEndpoint.post("verifyDomain", vouchPath, {
    params: { companyId: Scalars.Uuid },
    headers: Idempotency.headers,
    payload: Schema.Struct({ domain: GivenDomain }).annotate({ identifier: "VerifyDomain" }),
    success: Envelope.success(201, vouched.schema),
    error: Errors.of("malformed", "idempotency_mismatch", "not_found", "domain_taken", "store_unavailable")
  })
    .annotate(OperatorScopes, ["companies"])
    .annotate(OpenApi.Summary, "Vouch for a company's domain")
    .annotate(
      OpenApi.Description,
      "The operator vouches that the domain is the company's: Lightning addresses may be created there. Repeating the request changes nothing."
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
      const companyId = CompanyId.make(params.companyId.toLowerCase())
      const once = yield* vouching.once(request, headers["idempotency-key"], vouchPath.replace(":companyId", companyId))
      return vouching.answer(yield* Errors.answered(companies.verifyDomain(companyId, payload.domain, once.request)))
    })
)

const askTls = Section.open(
  HttpApiEndpoint.get("askTls", "/tls/ask", {
    query: { domain: Schema.String.annotate({ description: "The name of the requested certificate", examples: ["example.com"] }) },
    success: Envelope.success(200, Schema.Struct({ domain: Schema.String })),
    error: Errors.of("malformed", "not_found", "rate_limited", "store_unavailable")
  })
    .annotate(OpenApi.Summary, "Whether a domain is served here")
    .annotate(
      OpenApi.Description,
      "For a web server that gets certificates on demand: 200 for the service's own domain and for verified ones that are not lost, otherwise 404. Without a key."
    )
    .annotate(Example, () => ({ message: "Served here", data: { domain: "example.com" } })),
  Effect.all([Domains, RequestRates, Acting.Proxies]),
  ([domains, { ofStranger }, proxies]) =>
    Effect.fnUntraced(function* ({ query: { domain }, request }) {
      // The web server in front asks from this machine, for everybody.
      if (!isLoopback(addressOf(request, proxies))) yield* ofStranger(request)
      if (yield* Errors.answered(domains.isServed(domain))) return Envelope.ok("Served here", { domain })
      return yield* Effect.fail(Errors.failure("not_found", "This domain is not served here"))
    })
)

/** For the web server in front. */
export const tls = Section.make("tls", { title: "Certificates", description: "For the web server in front" }, [askTls])
