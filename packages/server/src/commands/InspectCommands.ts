import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { call, company, example, json, list, of, paging } from "@satrail/http/commands/CommandParts"
import { CommandFailed } from "@satrail/http/commands/CommandFailed"
import { all as features } from "@satrail/service/features/commands"
import { type Listing, listed } from "@satrail/http/commands/Listing"

// Commands that read a company's records as an operator. They change nothing.

const listings = {
  balance: { all: "transactions/balance" },
  deposit: { one: (id) => `transactions/deposits/${id}` },
  payer: { one: (id) => `transactions/deposits/${id}/payer` },
  withdrawal: { one: (id) => `transactions/withdrawals/${id}` },
  invoices: listed("bitcoin/deposit/lightning-invoice", "id", "status", "amount_sats", "memo"),
  "lightning-addresses": listed(
    "bitcoin/deposit/lightning-address",
    "id",
    "address",
    "created_at",
    "deleted_at"
  ),
  "on-chain-addresses": listed("bitcoin/deposit/on-chain", "id", "address", "created_at"),
  domains: { all: "domains", columns: ["domain", "shown_by", "verified_at", "checked_at", "lost_at"] },
  events: { ...listed("events", "id", "type", "created_at"), after: "after" }
} as const satisfies { readonly [what: string]: Listing }

const ofFeatures = new Map(features.flatMap(({ listings = {} }) => Object.entries(listings)))

const whats: ReadonlyArray<string> = [
  "balance",
  "deposit",
  "payer",
  "withdrawal",
  "invoices",
  "lightning-addresses",
  "on-chain-addresses",
  "domains",
  "events",
  ...ofFeatures.keys()
]

const routeOf = ({ all, one }: Listing, id: string | undefined): string | undefined =>
  id === undefined ? all : one?.(encodeURIComponent(id))

export const inspect = Command.make(
  "look",
  {
    ...paging,
    company,
    what: Argument.Literals("what", whats).pipe(Argument.withDescription("What to show")),
    id: Argument.String("id").pipe(
      Argument.withDescription(
        "The record's id; required for deposit, payer, withdrawal and deliveries (the endpoint's id)"
      ),
      Argument.optional
    ),
    json
  },
  ({ after, company, id, json, limit, what }) => {
    const listing: Listing =
      ofFeatures.get(what) ?? new Map(Object.entries<Listing>(listings)).get(what) ?? {}
    const route = routeOf(listing, id._tag === "Some" ? id.value : undefined)
    if (route === undefined)
      return Effect.fail(
        new CommandFailed({
          message:
            listing.all === undefined ? `The id is missing: look COMPANY ${what} ID` : `${what} have no id`
        })
      )
    // A single record, or a result that is not a list, is printed in full.
    const isList = listing.columns !== undefined && (id._tag === "None" || listing.all === undefined)
    return isList
      ? list(
          { json, query: { limit, [listing.after ?? "cursor"]: after } },
          `${of(company)}/${route}`,
          listing.columns ?? []
        )
      : call({ json }, "GET", `${of(company)}/${route}`)
  }
).pipe(
  Command.withDescription("Show what the company itself sees: its balance, records, events and webhooks"),
  example(
    "companies look 01a1f768-1c70-748e-8579-81b7373e8599 invoices",
    "The company's invoices, newest first"
  )
)
