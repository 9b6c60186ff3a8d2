import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { call, company, example, json, list, of, paging } from "../client/CommandParts.ts"
import { CommandFailed } from "../base/CommandFailed.ts"
import { all as features } from "../features/index.ts"
import { type Kind, listed } from "../features/Look.ts"

// What a company reads, read by an operator. Nothing here changes anything.

const kinds = {
  balance: { all: "transactions/balance" },
  deposit: { one: (id) => `transactions/deposits/${id}` },
  payer: { one: (id) => `transactions/deposits/${id}/payer` },
  withdrawal: { one: (id) => `transactions/withdrawals/${id}` },
  invoices: listed("bitcoin/deposit/lightning-invoice", "id", "status", "amount_sats", "memo"),
  "lightning-addresses": listed("bitcoin/deposit/lightning-address", "id", "address", "created_at", "deleted_at"),
  "on-chain-addresses": listed("bitcoin/deposit/on-chain", "id", "address", "created_at"),
  domains: { all: "domains", columns: ["domain", "shown_by", "verified_at", "checked_at", "lost_at"] },
  events: { ...listed("events", "id", "type", "created_at"), after: "after" }
} as const satisfies { readonly [what: string]: Kind }

const ofFeatures = new Map(features.flatMap(({ look = {} }) => Object.entries(look)))

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

const routeOf = ({ all, one }: Kind, id: string | undefined): string | undefined => (id === undefined ? all : one?.(encodeURIComponent(id)))

export const look = Command.make(
  "look",
  {
    ...paging,
    company,
    what: Argument.Literals("what", whats).pipe(Argument.withDescription("What is read")),
    id: Argument.String("id").pipe(
      Argument.withDescription("Which one: of a deposit, payer, withdrawal or deliveries (of a webhook) it has to be given"),
      Argument.optional
    ),
    json
  },
  ({ after, company, id, json, limit, what }) => {
    const kind: Kind = ofFeatures.get(what) ?? new Map(Object.entries<Kind>(kinds)).get(what) ?? {}
    const route = routeOf(kind, id._tag === "Some" ? id.value : undefined)
    if (route === undefined)
      return Effect.fail(
        new CommandFailed({ message: kind.all === undefined ? `Name the id: look COMPANY ${what} ID` : `${what} have no id` })
      )
    // Of what is one, or no list, all is shown.
    const isList = kind.columns !== undefined && (id._tag === "None" || kind.all === undefined)
    return isList
      ? list({ json, query: { limit, [kind.after ?? "cursor"]: after } }, `${of(company)}/${route}`, kind.columns ?? [])
      : call({ json }, "GET", `${of(company)}/${route}`)
  }
).pipe(
  Command.withDescription("Show what a company reads itself: its balance, records, events and webhooks"),
  example("companies look 01a1f768-1c70-748e-8579-81b7373e8599 invoices", "Its invoices, the newest first")
)
