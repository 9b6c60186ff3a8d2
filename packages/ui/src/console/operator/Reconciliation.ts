import { h } from "preact"
import * as Formats from "../Format.ts"
import { type Elsewhere, type OperatorVisit, type Page, type Shown, numberIn } from "../Page.ts"
import {
  button,
  copied,
  date,
  empty,
  entry,
  factPanel,
  fields,
  formPanel,
  link,
  note,
  panel,
  plain,
  sides,
  stack,
  status,
  sub,
  todo,
  type Badge,
  when
} from "../Parts.ts"
import { type Column, rowLink, table } from "../Table.ts"
import type { Difference, ReconciledAsset, ReconciliationReport } from "../wire.ts"
import { ago, confirming, count, guide, oldestOf } from "./Common.ts"

// The ledger compared with the node and the wallet: the actual amounts, the expected ones, and what explains
// the difference.

interface Side {
  readonly name: string
  readonly more: string
  readonly asset: ReconciledAsset
}

const amount = (sats: number): string => Formats.exact(sats).replace("-", "−")

/** The amount in flight: one figure, or the range of differences that it can explain. */
const inFlight = ({ on_its_way_sats: [least = 0, most = 0] }: ReconciledAsset): string =>
  least === most ? amount(least) : `${amount(least)} to ${amount(most)}`

/** Both sides together. Own funds that are not known yet count as none. */
const totalOf = (node: ReconciledAsset, onChain: ReconciledAsset): ReconciledAsset => ({
  ledger_sats: node.ledger_sats + onChain.ledger_sats,
  own_sats: (node.own_sats ?? 0) + (onChain.own_sats ?? 0),
  owned_sats: node.owned_sats + onChain.owned_sats,
  on_its_way_sats: [0, 1].map(
    (end) => (node.on_its_way_sats[end] ?? 0) + (onChain.on_its_way_sats[end] ?? 0)
  ),
  unexplained_sats: node.unexplained_sats + onChain.unexplained_sats
})

const expected = ({ ledger_sats, own_sats }: ReconciledAsset): number => ledger_sats + (own_sats ?? 0)

const differenceBadge = (sats: number): Badge =>
  sats === 0
    ? { tone: "good", text: "0" }
    : { tone: "bad", text: Formats.signed(sats).replace("+0", amount(sats)) }

const columns: ReadonlyArray<Column<Side>> = [
  {
    title: "Where",
    place: "c1",
    cell: ({ name, more }) => [h("span", { class: "strong" }, name), more !== "" && sub(more)]
  },
  {
    title: "Ledger",
    place: "all",
    key: "Ledger",
    kind: "fiat",
    cell: ({ asset }) => amount(asset.ledger_sats)
  },
  {
    title: "Own funds",
    place: "all",
    key: "Own funds",
    kind: "fiat",
    cell: ({ asset }) => (asset.own_sats === null ? "not known yet" : amount(asset.own_sats))
  },
  {
    title: "Expected",
    place: "all",
    key: "Expected",
    kind: "fiat",
    cell: ({ asset }) => amount(expected(asset))
  },
  {
    title: "Actual",
    place: "all",
    key: "Actual",
    kind: "amount",
    cell: ({ asset }) => amount(asset.owned_sats)
  },
  { title: "In flight", place: "all", key: "In flight", kind: "fiat", cell: ({ asset }) => inFlight(asset) },
  {
    title: "Unexplained",
    place: "c2",
    kind: "amount",
    cell: ({ asset }) => status(differenceBadge(asset.unexplained_sats))
  }
]

/** The meaning of each cause. The guide has more details. */
const causes: Readonly<Record<Difference["cause"], string>> = {
  payment_not_ours: "The node paid something that no withdrawal requested",
  payment_of_failed: "The node paid a withdrawal that had failed and was returned",
  payment_not_booked: "The node paid, and the withdrawal is still pending",
  payment_amount: "The node paid a different amount than was booked",
  payment_fee: "The node paid a different fee than was booked",
  withdrawal_not_paid: "Booked as paid, but the node reports it as failed or unknown",
  withdrawal_not_proven: "The preimage does not match the payment hash",
  receipt_not_ours: "The node was paid for an invoice that the ledger doesn’t have",
  receipt_not_credited: "The node received a payment that was not credited to any company",
  receipt_amount: "The credited amount differs from the amount received",
  deposit_not_received: "A company was credited with money that the node did not receive",
  deposit_amount: "A company was credited with a different amount than arrived",
  deposit_not_credited: "A failed deposit is in a block",
  coin_gone:
    "A coin was spent by another program or by a payout that a restore lost, or its block was removed",
  node_balance: "The node’s funds differ from the ledger and your own funds",
  on_chain_balance: "The wallet’s funds differ from the ledger and your own funds"
}

/** Money may be leaving: stop sending first. */
const urgent: ReadonlySet<Difference["cause"]> = new Set([
  "payment_not_ours",
  "payment_of_failed",
  "deposit_not_received",
  "coin_gone"
])

const difference = ({ ours_sats: ours, theirs_sats: theirs }: Difference): number =>
  (theirs ?? 0) - (ours ?? 0)

const recordOf = (
  { cause, record_id: id, company_id }: Difference,
  { to }: OperatorVisit
): string | undefined => {
  if (id === null) return undefined
  if (cause.startsWith("payment") || cause.startsWith("withdrawal")) return to(`withdrawals/${id}`)
  return cause === "deposit_not_credited"
    ? to(`deposits/${id}`)
    : company_id === null
      ? undefined
      : to(`companies/${company_id}/payments`)
}

const explained = async (visit: OperatorVisit, report: ReconciliationReport) => {
  const { say } = visit
  const rows = report.differences
  const companies = await visit.companies(
    rows.flatMap(({ company_id }) => (company_id === null ? [] : [company_id]))
  )
  const sats = (value: number | null) => (value === null ? "none" : amount(value))
  return panel(
    "The differences, explained",
    { isRuled: true, beside: h("span", { class: "faint" }, count(rows.length, "cause")) },
    table<Difference>("Differences, oldest first", {
      columns: [
        {
          title: "Cause",
          place: "c1",
          cell: (row) => {
            const href = recordOf(row, visit)
            const company = row.company_id === null ? undefined : companies.get(row.company_id)?.name
            return [
              href === undefined
                ? h("span", { class: "strong" }, causes[row.cause])
                : rowLink(href, causes[row.cause]),
              sub(
                h("code", null, row.cause),
                company !== undefined && ` · ${company}`,
                !row.cause.endsWith("_balance") && [" · ", copied(row.about, "subject")]
              )
            ]
          }
        },
        { title: "Since", place: "c3", cell: ({ since }) => date(say, since) },
        {
          title: "Ledger, sats",
          place: "all",
          key: "Ledger",
          kind: "fiat",
          cell: ({ ours_sats }) => sats(ours_sats)
        },
        {
          title: "Node, sats",
          place: "all",
          key: "Node",
          kind: "fiat",
          cell: ({ theirs_sats }) => sats(theirs_sats)
        },
        { title: "Difference", place: "c2", kind: "amount", cell: (row) => Formats.signed(difference(row)) }
      ],
      groups: [{ rows }],
      opens: true
    })
  )
}

const advice = (visit: OperatorVisit, report: ReconciliationReport) => {
  const { to, stops } = visit
  const causesNow = new Set(report.differences.map(({ cause }) => cause))
  const isUrgent = [...causesNow].some((cause) => urgent.has(cause))
  return panel(
    "What to do",
    { isRuled: true, beside: link(guide(visit, "reconcile#causes"), "Guide: causes") },
    h(
      "div",
      { class: "body stack" },
      todo([
        ...(isUrgent && stops.sendingMillis === null
          ? [[link(to("pause"), "Pause sending"), ": money may be leaving."]]
          : []),
        "Find each cause in the guide. It says what to check.",
        "Did you or a colleague move coins, pay with the node, or open or close a channel? Declare it as your own funds. The difference is gone after the next run.",
        "If nobody did, someone else has access to the node. Keep sending paused, and rotate every macaroon."
      ]),
      h(
        "div",
        { class: "do" },
        button(to("reconciliation/own-funds"), "We moved it: declare own funds…", "main")
      )
    )
  )
}

const accountWords = [
  ["available", "Companies, available"],
  ["held", "Companies, held"],
  ["service_fees", "Service fees"],
  ["network_fees", "Network fees"],
  ["suspense", "Suspense"],
  ["adjustments", "Adjustments"],
  ["loss", "Losses"],
  ["node", "Lightning node"],
  ["chain", "On-chain wallet"],
  ["internal", "Internal payments"],
  ["transfers", "Transfers"]
] as const

const get = async (visit: OperatorVisit): Promise<Shown> => {
  const { api, say, to } = visit
  const { report } = await api.call("GET /operator/reconciliation")
  const actions = button(to("reconciliation/own-funds"), "Own funds…")
  if (report === null)
    return {
      title: "Reconciliation",
      actions,
      body: plain(
        "Reconciliation",
        empty(
          "scales",
          "No run yet",
          "No process is reading the node’s records, or the first run hasn’t happened yet."
        )
      )
    }
  const off = report.node.unexplained_sats + report.on_chain.unexplained_sats
  const isEven =
    report.differences.length === 0 &&
    report.node.unexplained_sats === 0 &&
    report.on_chain.unexplained_sats === 0
  const sides2: ReadonlyArray<Side> = [
    { name: "Lightning node", more: "channels and its wallet", asset: report.node },
    { name: "On-chain wallet", more: "coins", asset: report.on_chain },
    { name: "Total", more: "", asset: totalOf(report.node, report.on_chain) }
  ]
  const at = Date.parse(report.reconciled_at)
  const since = oldestOf(report.differences.map((one) => one.since))
  return {
    title: "Reconciliation",
    status: isEven
      ? { tone: "good", text: "Equal" }
      : {
          tone: "bad",
          text:
            off === 0
              ? count(report.differences.length, "difference")
              : `${Formats.exactSats(Math.abs(off))} ${off < 0 ? "missing" : "too many"}`
        },
    lead: [
      `Last run ${ago(say.nowMillis - at)} ago`,
      since !== null && [
        " · difference first seen ",
        when(since, say.since(since)),
        `, ${ago(say.nowMillis - since)} ago`
      ]
    ],
    isLive: true,
    actions,
    body: [
      report.is_behind &&
        note("", "There was more to read than one run can process. The next run continues shortly."),
      panel(
        "Actual against expected",
        { isRuled: true, beside: h("span", { class: "faint" }, "sats") },
        table("Actual against expected", {
          columns,
          groups: [{ rows: sides2 }],
          kind: "recon",
          isWrong: ({ name, asset }) => name !== "Total" && asset.unexplained_sats !== 0
        })
      ),
      sides(
        stack(
          report.differences.length > 0 && (await explained(visit, report)),
          isEven
            ? plain(
                "Differences",
                empty(
                  "good",
                  "No differences",
                  "Every payment on the node and the chain matches a ledger record."
                )
              )
            : advice(visit, report)
        ),
        factPanel(
          "Ledger by account",
          [
            ...accountWords
              .slice(0, 2)
              .map(([account, name]) => [name, amount(report.accounts[account])] as const),
            [
              "Owed to companies",
              h("b", null, amount(report.accounts.available + report.accounts.held))
            ] as const,
            ...accountWords
              .slice(2)
              .map(([account, name]) => [name, amount(report.accounts[account])] as const)
          ],
          "sums"
        )
      )
    ]
  }
}

const ownFunds = async (visit: OperatorVisit): Promise<Shown> => {
  const { api, to } = visit
  const { report } = await api.call("GET /operator/reconciliation")
  const now = (asset: ReconciledAsset | undefined) =>
    asset === undefined || asset.own_sats === null ? "" : String(asset.own_sats)
  const hint = (asset: ReconciledAsset | undefined) =>
    asset === undefined || asset.unexplained_sats === 0
      ? "Nothing is unexplained"
      : `With the unexplained difference: ${amount((asset.own_sats ?? 0) + asset.unexplained_sats)}`
  const sats = (label: string, name: string, asset: ReconciledAsset | undefined) =>
    entry(visit, {
      label,
      name,
      inputMode: "decimal",
      hint: hint(asset),
      value: now(asset)
    })
  return {
    title: "Own funds",
    lead: "Your own money in the node and the wallet, separate from the companies’.",
    crumbs: [["Reconciliation", "reconciliation"]],
    body: formPanel({ action: to("reconciliation/own-funds"), label: "Own funds" }, [
      fields(
        h(
          "p",
          null,
          "Declare it after you have moved your own money, and only if you know where it went. ",
          link(guide(visit, "reconcile#operator-equity"), "Guide: operator equity")
        ),
        sats("On the Lightning node, sats", "node", report?.node),
        sats("In the on-chain wallet, sats", "chain", report?.on_chain)
      ),
      confirming(visit, "Declare own funds", {
        why: "Takes effect with the next run. Leave a field empty to keep its current value."
      })
    ])
  }
}

const declare = async (visit: OperatorVisit): Promise<Elsewhere> => {
  const [node, chain] = [numberIn(visit, "node"), numberIn(visit, "chain")]
  await visit.api.call("PATCH /operator/reconciliation/own-funds", {
    body: {
      ...(node !== undefined && { node_sats: node }),
      ...(chain !== undefined && { on_chain_sats: chain })
    }
  })
  return { redirect: "reconciliation" }
}

export const reconciliation: ReadonlyArray<Page<OperatorVisit>> = [
  { path: "reconciliation", nav: "reconciliation", get },
  { path: "reconciliation/own-funds", nav: "reconciliation", get: ownFunds, post: declare }
]
