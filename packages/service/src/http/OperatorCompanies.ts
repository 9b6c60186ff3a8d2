import { maxCounted } from "@satrail/core/accounts/AccountReads"
import { ApiKeys as CoreKeys } from "@satrail/core/accounts/ApiKeys"
import * as Core from "@satrail/core/accounts/Companies"
import { Plan } from "@satrail/core/accounts/Plan"
import * as Characters from "@satrail/core/base/Characters"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Balance from "@satrail/core/ledger/Balance"
import * as Pages from "@satrail/core/ledger/Page"
import * as Msat from "@satrail/bitcoin/Msat"
import { Effect, Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import * as Errors from "@satrail/http/wire/Errors"
import { Example, type World } from "@satrail/http/wire/Examples"
import * as OfCompany from "@satrail/http/api/OfCompany"
import * as Page from "@satrail/http/wire/Page"
import * as Scalars from "@satrail/http/wire/Scalars"
import * as Search from "@satrail/http/wire/Search"
import * as Resource from "@satrail/http/api/Resource"
import * as Section from "@satrail/http/api/Section"
import * as Member from "@satrail/http/wire/Member"
import * as View from "@satrail/http/wire/View"
import * as ApiKeys from "@satrail/http/resources/ApiKeys"
import * as Companies from "@satrail/http/resources/Companies"
import * as Deposits from "@satrail/http/resources/Deposits"
import * as Domains from "@satrail/http/resources/Domains"
import * as Events from "./events/Feed.ts"
import * as List from "./Transactions.ts"
import * as Exports from "@satrail/http/resources/Exports"
import * as Found from "@satrail/http/resources/Found"
import * as Invoices from "@satrail/http/resources/Invoices"
import * as LightningAddresses from "@satrail/http/resources/LightningAddresses"
import * as OnChainAddresses from "@satrail/http/resources/OnChainAddresses"
import * as Transactions from "@satrail/http/resources/Transactions"
import * as Feature from "@satrail/http/api/Feature"
import { features } from "../features/http.ts"
import * as Withdrawals from "@satrail/http/resources/Withdrawals"

const view = View.make<Core.Overview>()(
  { identifier: "CompanyOverview" },
  {
    ...View.within(Companies.view.members, ({ company }: Core.Overview) => company),
    posted_sats: Member.exactSats(
      ({ balance }) => balance.posted,
      "Total balance, in satoshis with up to three decimals"
    ),
    held_sats: Member.exactSats(
      ({ balance }) => balance.held,
      "Part of the balance held for pending withdrawals and open vouchers"
    ),
    available_sats: Member.exactSats(
      ({ balance }) => Balance.available(balance),
      "Part of the balance that can be withdrawn"
    ),
    api_keys: [
      Schema.Int.annotate({
        description: `Number of active API keys. ${maxCounted} means ${maxCounted} or more`,
        examples: [2]
      }),
      ({ keys }) => keys
    ],
    last_seen_at: Member.instantOrNull(
      ({ lastSeenAtMillis }) => lastSeenAtMillis,
      "Last use of any of the company's keys, accurate to a minute; null if never used"
    )
  }
)

const example = (world: World): Core.Overview => ({
  company: Companies.example(world),
  balance: { posted: Msat.fromSats(17_965), held: Msat.zero },
  keys: 1,
  lastSeenAtMillis: world.millis(60_000)
})

const page = Page.of(view, "Companies", Companies.path)

const list = Section.operator(
  HttpApiEndpoint.get("listCompanies", Companies.path, {
    query: {
      ...Page.place(),
      search: Schema.optionalKey(
        Schema.String.check(Schema.isMinLength(1), Characters.atMost(Core.maxNameCharacters)).annotate({
          description: "Start of an id, or part of a name (case-insensitive)",
          examples: ["example"]
        })
      ),
      plan: Schema.optionalKey(Plan),
      status: Schema.optionalKey(Schema.Literal("frozen"))
    },
    success: page.success,
    error: Errors.of("malformed", "store_unavailable")
  })
    .annotate(OpenApi.Summary, "List companies")
    .annotate(
      OpenApi.Description,
      `Returns companies with their balances and keys, newest first. The next page is in the \`Link\` header. At most ${Pages.looks} companies are checked per page, so a page can have few rows or none.`
    )
    .annotate(Example, (world) => ({ message: "Companies", data: [view.of(example(world))] })),
  Core.Companies,
  (companies) =>
    Effect.fnUntraced(function* ({ query }) {
      const { search: text, plan, status } = query
      const asked = {
        ...Page.asked(query),
        ...(text !== undefined && { text }),
        ...(plan !== undefined && { plan }),
        ...(status !== undefined && { status })
      }
      const { rows, next } = yield* Errors.answered(companies.list(asked))
      return page.answer(rows, Search.written(query), next)
    })
)

const resource = Resource.make({ path: Companies.path, names: ["Company", "Companies"], view, example })

const get = Section.operator(
  resource.get("getCompany", {
    summary: "Get a company",
    description:
      "Returns a company with its balance and its last use. Its records are available under this path."
  }),
  Core.Companies,
  (companies) => resource.gets((id) => companies.overview(CompanyId.make(id)))
)

const keysPath = `${Companies.path}/:id/api-keys` as const

const keys = Section.operator(
  HttpApiEndpoint.get("listKeys", keysPath, {
    params: { id: Scalars.Id },
    query: Page.place(Pages.limit, Page.KeyCursor),
    success: Page.of(ApiKeys.keyView, "API keys", keysPath).success,
    error: Errors.of("malformed", "not_found", "store_unavailable")
  })
    .annotate(OpenApi.Summary, "List API keys")
    .annotate(
      OpenApi.Description,
      "Returns a company's API keys, newest first, including revoked ones. The next page is in the `Link` header."
    )
    .annotate(Example, (world) => ({
      params: { id: world.companyId },
      message: "API keys",
      data: [
        ApiKeys.keyView.of({
          id: world.apiKey.id,
          companyId: world.companyId,
          name: "till 3",
          scopes: ["receive", "read"],
          createdAtMillis: world.millis(),
          expiresAtMillis: null,
          revokedAtMillis: null,
          lastUsedAtMillis: world.millis(60_000),
          limits: null,
          allowedFrom: null,
          loosening: null,
          approval: null,
          approvedBy: null,
          approvedAtMillis: null
        })
      ]
    })),
  CoreKeys,
  (apiKeys) =>
    Effect.fnUntraced(function* ({ params, query }) {
      const id = CompanyId.make(params.id)
      const { limit } = Page.asked(query)
      const { rows, next } = yield* Errors.answered(apiKeys.list(id, { limit, after: query.cursor ?? null }))
      return Page.of(ApiKeys.keyView, "API keys", keysPath.replace(":id", id)).answer(
        rows,
        { limit: String(limit) },
        next
      )
    })
)

export const section = Section.make(
  "companies",
  { title: "Companies", description: "For the operator: companies, their balances and their records" },
  [
    list,
    Found.searchAll,
    get,
    keys,
    OfCompany.read(Transactions.balance),
    OfCompany.read(List.list),
    OfCompany.read(Exports.transactions),
    OfCompany.read(Withdrawals.get),
    OfCompany.read(Deposits.get),
    OfCompany.read(Deposits.getPayer),
    OfCompany.read(Invoices.list),
    OfCompany.read(Invoices.get),
    OfCompany.read(LightningAddresses.list),
    OfCompany.read(LightningAddresses.get),
    OfCompany.read(OnChainAddresses.list),
    OfCompany.read(OnChainAddresses.get),
    OfCompany.read(Domains.list),
    ...Feature.joined(features, "ofCompany"),
    OfCompany.read(Events.list),
    OfCompany.read(Events.get)
  ]
)
