import { h } from "preact"
import type { AmountLimit } from "@satrail/ui/console/Feature"
import { features } from "../../features/console.ts"
import * as Formats from "@satrail/ui/console/Format"
import { may, type Page, type Shown, type Visit } from "@satrail/ui/console/Page"
import {
  body,
  empty,
  type Fact,
  factPanel,
  facts,
  link,
  panel,
  plain,
  sub,
  two
} from "@satrail/ui/console/Parts"
import { type Column, table } from "@satrail/ui/console/Table"
import type { Account, FeeRate, Limits } from "@satrail/ui/console/wire"

const ofFeatures = features.flatMap(({ keys }) => keys?.limit ?? [])

/** The limits of amounts and of the number of payments, with their labels. */
export const amounts: ReadonlyArray<readonly [name: AmountLimit, label: string]> = [
  ["per_withdrawal_sats", "One payment, sats"],
  ["hour_sats", "1 hour, sats"],
  ["day_sats", "24 hours, sats"],
  ["month_sats", "Month, sats"],
  ["day_count", "24 hours, payments"],
  ...ofFeatures.map(({ name, label }) => [name, label] as const)
]

/** Returns the limits of a company or a key, each with its remaining amount. */
export const limitFacts = ({
  limits,
  remaining
}: Pick<Account, "limits" | "remaining">): ReadonlyArray<Fact> => {
  const leftOf: { readonly [name in AmountLimit]?: number | null } = remaining ?? {}
  return amounts.flatMap(([name, text]): ReadonlyArray<Fact> => {
    const [of, left] = [limits?.[name] ?? null, leftOf[name] ?? null]
    return of === null ? [] : [[text, [Formats.sats(of), left !== null && sub(`${Formats.sats(left)} left`)]]]
  })
}

interface Row {
  readonly what: string
  readonly limit: number
  readonly left: number | null
  readonly isSats: boolean
}

const rowsOf = ({ account: { limits, remaining } }: Visit): ReadonlyArray<Row> => {
  const row = (
    what: string,
    limit: number | null | undefined,
    left: number | null | undefined,
    isSats = true
  ): ReadonlyArray<Row> =>
    limit === null || limit === undefined ? [] : [{ what, limit, left: left ?? null, isSats }]
  return [
    ...row("One outgoing payment", limits?.per_withdrawal_sats, limits?.per_withdrawal_sats),
    ...row("Within any hour", limits?.hour_sats, remaining?.hour_sats),
    ...row("Within any 24 hours", limits?.day_sats, remaining?.day_sats),
    ...row("In a month", limits?.month_sats, remaining?.month_sats),
    ...row("Outgoing payments, 24 hours", limits?.day_count, remaining?.day_count, false)
  ]
}

const columns = ({ say }: Visit): ReadonlyArray<Column<Row>> => [
  { title: "What", place: "c1", cell: ({ what }) => what },
  {
    title: "Limit",
    place: "c2",
    kind: "fiat",
    cell: ({ limit, isSats }) => (isSats ? Formats.inSats(limit) : Formats.sats(limit))
  },
  {
    title: "Used",
    place: "c3",
    key: "Used",
    kind: "fiat",
    cell: ({ limit, left }) => (left === null ? "–" : Formats.sats(limit - left))
  },
  {
    title: "Left",
    place: "c4",
    key: "Left",
    kind: "amount",
    cell: ({ left }) => (left === null ? "–" : Formats.sats(left))
  },
  {
    title: "Left, value",
    place: "off",
    kind: "fiat",
    cell: ({ left, isSats }) => (left === null || !isSats ? "" : (say.fiat(left) ?? ""))
  }
]

export const rateWords = ({ base_sats, parts_per_million }: FeeRate): string => {
  const parts = [
    base_sats > 0 ? Formats.exactSats(base_sats) : "",
    parts_per_million > 0 ? `${parts_per_million / 10_000}%` : ""
  ].filter((text) => text !== "")
  return parts.length === 0 ? "none" : parts.join(" + ")
}

const rules = (limits: Limits | null) => {
  if (limits === null) return []
  const { recipient_types: types, recipients } = limits
  return [
    ...ofFeatures.map(({ name, rule }) => {
      const limit = limits[name]
      return limit === null ? null : rule(limit)
    }),
    types === null ? null : (["Payees", types.map((type) => type.replaceAll("_", " ")).join(", ")] as const),
    recipients === null ? null : (["Only to", recipients.join(", ")] as const)
  ]
}

const get = (visit: Visit): Shown => {
  const { account, to } = visit
  const rows = rowsOf(visit)
  return {
    title: "Limits",
    lead: "Set by the operator. Fees count toward them. Payments that fail or are canceled don’t.",
    body: [
      plain(
        "Limits",
        rows.length === 0
          ? empty("gauge", "No limits", "You can send up to your balance.")
          : table("Limits and remaining amounts", { columns: columns(visit), groups: [{ rows }] })
      ),
      two(
        factPanel("Fees you pay", [
          ["Plan", account.plan],
          ["Lightning", rateWords(account.fees.lightning)],
          ["On-chain", rateWords(account.fees.on_chain)],
          ["Internal", rateWords(account.fees.internal)]
        ]),
        panel(
          "Rules for sending",
          {},
          body(
            facts(rules(account.limits)),
            may(visit, "admin")
              ? h(
                  "p",
                  { class: "soft" },
                  "Each key can have its own limits: see ",
                  link(to("keys"), "API keys"),
                  "."
                )
              : h("p", { class: "soft" }, "Each key can have its own limits.")
          )
        )
      )
    ]
  }
}

export const limits: Page = { path: "limits", nav: "limits", get }
