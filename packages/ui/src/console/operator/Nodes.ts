import { h } from "preact"
import * as Formats from "../Format.ts"
import type { OperatorVisit, Page, Shown } from "../Page.ts"
import { body, copied, cover, date, factPanel, link, note, panel, sides, stack, status } from "../Parts.ts"
import { table } from "../Table.ts"
import type { Liquidity, Status } from "../wire.ts"
import { ago, checkName, count, figure, guide, roleName } from "./Common.ts"

// Node, channels and wallet, and the processes that work with them.

const channelWords = [
  ["active", "Active"],
  ["inactive", "Peer offline"],
  ["opening", "Opening"],
  ["closing", "Closing"],
  ["force_closing", "Force-closing"]
] as const

/** A bar that shows how much the channels can send and receive. */
const balanceBar = ({ outgoing_sats: out, incoming_sats: into }: Liquidity) => {
  const [send, receive] = [out ?? 0, into ?? 0]
  if (send + receive <= 0) return null
  const share = (send / (send + receive)) * 100
  return h(
    "svg",
    {
      class: "meter tall",
      viewBox: "0 0 100 10",
      preserveAspectRatio: "none",
      role: "img",
      "aria-label": `${Math.round(share)}% can be sent, ${Math.round(100 - share)}% received`
    },
    h("rect", { class: "m-in", x: 0, width: 100, height: 10 }),
    h("rect", { class: share < 10 ? "m-warn" : "m-1", x: 0, width: share, height: 10 })
  )
}

const knownSats = (sats: number | null): string => (sats === null ? "unknown" : Formats.inSats(sats))

const channelPanel = (visit: OperatorVisit, liquidity: Liquidity, warnings: Status["warnings"]) => {
  const { channels } = liquidity
  return panel(
    "Channels",
    { isRuled: true, beside: link(guide(visit, "operate#channels"), "Guide: channels") },
    channels === null
      ? body(
          h("p", { class: "soft" }, "The node did not report its channels. lnd requires LND_BOOKS_MACAROON.")
        )
      : [
          body(
            balanceBar(liquidity),
            h(
              "p",
              { class: "hint" },
              `${knownSats(liquidity.outgoing_sats)} to send, ${knownSats(liquidity.incoming_sats)} to receive`
            )
          ),
          table("Channels by state", {
            columns: [
              { title: "State", place: "c1", cell: ([, text]) => text },
              { title: "Channels", place: "c2", kind: "amount", cell: ([name]) => channels[name] }
            ],
            groups: [{ rows: channelWords.filter(([name]) => name === "active" || channels[name] > 0) }]
          })
        ],
    warnings.map(({ message }) => h("div", { class: "note flat" }, h("p", null, message)))
  )
}

const processPanel = ({ say }: OperatorVisit, { checks, roles }: Status) => [
  panel(
    "Checks of this process",
    { isRuled: true },
    table("Checks", {
      columns: [
        { title: "Check", place: "c1", cell: ({ name }) => checkName(name) },
        {
          title: "Status",
          place: "c2",
          cell: ({ reason }) =>
            status(reason === null ? { tone: "good", text: "OK" } : { tone: "bad", text: "Not working" })
        },
        { title: "Reason", place: "all", kind: "soft", cell: ({ reason }) => reason ?? "" }
      ],
      groups: [{ rows: checks }]
    })
  ),
  panel(
    "Background work",
    { isRuled: true, beside: h("span", { class: "faint" }, "one process does each for all") },
    table("Background work", {
      columns: [
        {
          title: "Work",
          place: "c1",
          cell: ({ role }) => roleName(role)
        },
        {
          title: "Status",
          place: "c2",
          cell: ({ held_until }) =>
            status(
              held_until === null ? { tone: "bad", text: "Not running" } : { tone: "good", text: "Active" }
            )
        },
        {
          title: "Lease",
          place: "c3",
          kind: "faint",
          cell: ({ held_until }) =>
            held_until === null ? "" : `until ${say.seconds(Date.parse(held_until))}`
        },
        { title: "Takeovers", place: "off", kind: "fiat", cell: ({ claims }) => Formats.sats(claims) }
      ],
      groups: [{ rows: roles }]
    })
  )
]

const lag = (seconds: number): string =>
  seconds < 1 ? "less than a second" : seconds < 60 ? `${Math.round(seconds)} s` : ago(seconds * 1000)

const get = async (visit: OperatorVisit): Promise<Shown> => {
  const { api, say } = visit
  const [liquidity, found] = await Promise.all([
    api.call("GET /operator/liquidity"),
    api.call("GET /operator/status")
  ])
  const failing = found.checks.filter(({ reason }) => reason !== null)
  const node = found.checks.find(({ name }) => name === "node")
  const { wallet_sats: wallet, days_left: days } = liquidity
  const known = (name: string, sats: number | null) =>
    sats === null ? ([name, "unknown", ""] as const) : figure(say, name, sats)
  return {
    title: "Nodes and channels",
    isLive: true,
    body: [
      failing.map(({ name, reason }) => note("bad", `${checkName(name)}: not working`, h("p", null, reason))),
      cover("Totals", [
        [
          "Lightning node",
          status(
            node === undefined || node.reason === null
              ? { tone: "good", text: "Responding" }
              : { tone: "bad", text: "Not responding" }
          ),
          found.node ?? ""
        ],
        known("Can send", liquidity.outgoing_sats),
        known("Can receive", liquidity.incoming_sats),
        known("On-chain wallet", wallet)
      ]),
      sides(
        stack(channelPanel(visit, liquidity, found.warnings), processPanel(visit, found)),
        stack(
          factPanel("On-chain wallet", [
            ["Source", found.chain ?? "unknown"],
            ["Balance", knownSats(wallet)],
            ["As of", date(say, liquidity.wallet_at)],
            ["Sent", knownSats(liquidity.spent_sats)],
            ["Since", date(say, liquidity.spent_since)],
            ["Lasts for", days === null ? "unknown" : `about ${count(days, "day")}`]
          ]),
          factPanel("This installation", [
            ["Version", found.version ?? "unknown"],
            ["Network", found.network],
            ["Public key", copied(liquidity.node_id, "public key")],
            ["Database", found.database ?? "unknown"],
            ["Rates", found.rates ?? "none"],
            ["Oldest rate", date(say, found.rates_at)],
            ["Event delay", lag(found.events_lag_seconds)],
            ...found.lags.map(
              ({ feature, lag_seconds: seconds }) => [`Delay of ${feature}`, lag(seconds)] as const
            )
          ])
        )
      )
    ]
  }
}

export const nodes: Page<OperatorVisit> = { path: "nodes", nav: "nodes", get }
