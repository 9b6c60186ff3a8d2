import * as Core from "@satrail/core/accounts/Companies"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import { PaymentDetails } from "@satrail/core/reports/PaymentDetails"
import * as Search from "@satrail/core/reports/Search"
import * as Destination from "@satrail/core/sending/Destination"
import * as Characters from "@satrail/core/base/Characters"
import { Effect, Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { companyId, Scopes } from "../api/Authentication.ts"
import * as Section from "../api/Section.ts"
import * as Envelope from "../wire/Envelope.ts"
import * as Errors from "../wire/Errors.ts"
import { Example, type World } from "../wire/Examples.ts"
import * as Member from "../wire/Member.ts"
import * as Scalars from "../wire/Scalars.ts"
import * as View from "../wire/View.ts"

// A search finds what people read on a payment's page, a receipt, a wallet, an explorer or an email.

const own = View.make<Search.Hit>()(
  { identifier: "SearchResult" },
  {
    kind: [
      Scalars.text("deposits").annotate({
        description: "Type of the record: `deposits`, `withdrawals`, `invoices`, `checkouts` and others"
      }),
      (hit) => hit.kind
    ],
    id: Member.uuid((hit) => hit.id),
    by: [
      Schema.Literals(Search.ways).annotate({ description: "What matched. If several match, the first" }),
      (hit) => hit.by
    ]
  }
)

interface Owned extends Search.Hit {
  readonly company: string
}

const anyones = View.make<Owned>()(
  { identifier: "CompanySearchResult" },
  {
    company_id: Member.uuid((hit) => hit.companyId),
    company: Member.text((hit) => hit.company, "Name of the company"),
    ...own.members
  }
)

const query = {
  text: Schema.String.annotate({
    description: `Text to look for. The newest ${Search.limits.looks} descriptions, payees and fiat amounts are compared`,
    examples: ["9f0d1c1e52a54f7c8f430b8f6a6c1042"]
  }).check(Schema.isMinLength(1), Characters.atMost(Destination.maxLength))
}

const found = "Search results"

const example = (world: World): Owned => ({
  kind: "checkouts",
  companyId: world.companyId,
  company: "Example Ltd",
  id: world.id("checkout"),
  by: "reference"
})

export const search = Section.company(
  HttpApiEndpoint.get("search", "/v1/search", {
    query,
    success: Envelope.success(200, Schema.Array(own.schema)),
    error: Errors.of("malformed", "store_unavailable")
  })
    .annotate(Scopes, ["read"])
    .annotate(OpenApi.Summary, "Search")
    .annotate(
      OpenApi.Description,
      `Returns the records that match a text, at most ${Search.limits.each} for each way of matching: an order id, a reference or an email address and their beginnings, an id or hash and its beginning, a transaction, an invoice, an address, a link, an amount, a metadata value, or part of a description. Requires the \`read\` scope.`
    )
    .annotate(Example, (world) => ({
      query: { text: "9f0d1c1e52a54f7c8f430b8f6a6c1042" },
      message: found,
      data: [own.of(example(world))]
    })),
  PaymentDetails,
  (details) =>
    Effect.fnUntraced(function* ({ query: { text } }) {
      const { hits } = yield* Errors.answered(details.search(yield* companyId, text))
      return Envelope.ok(found, hits.map(own.of))
    })
)

export const searchAll = Section.operator(
  HttpApiEndpoint.get("searchAll", "/operator/search", {
    query,
    success: Envelope.success(200, Schema.Array(anyones.schema)),
    error: Errors.of("malformed", "store_unavailable")
  })
    .annotate(OpenApi.Summary, "Search all companies")
    .annotate(
      OpenApi.Description,
      "Returns the records of all companies that match a text, like a company's search but without amounts, descriptions and payees. A record that was paid is followed by its deposits."
    )
    .annotate(Example, (world) => ({
      query: { text: "9f0d1c1e52a54f7c8f430b8f6a6c1042" },
      message: found,
      data: [anyones.of(example(world))]
    })),
  Effect.all([PaymentDetails, Core.Companies]),
  ([details, companies]) => {
    const nameOf = (id: CompanyId.CompanyId) =>
      companies.get(id).pipe(
        Effect.map(({ name }) => [id, name] as const),
        Effect.catchTag("NotFound", () => Effect.succeed([id, ""] as const))
      )
    return Effect.fnUntraced(function* ({ query: { text } }) {
      const { hits } = yield* Errors.answered(details.searchAll(text))
      const owners = new Set(hits.map((hit) => hit.companyId))
      const names = new Map(yield* Errors.answered(Effect.forEach(owners, nameOf, { concurrency: 8 })))
      return Envelope.ok(
        found,
        hits.map((hit) => anyones.of({ ...hit, company: names.get(hit.companyId) ?? "" }))
      )
    })
  }
)
