import { placed, type Sections } from "@satrail/ui/console/Feature"
import { features } from "../features/console.ts"
import { may, type Visit } from "@satrail/ui/console/Page"
import { banner, when } from "@satrail/ui/console/Parts"
import type { Surroundings } from "./Site.ts"

const withoutRead: ReadonlySet<string> = new Set(["overview", "send", "limits"])

/** The navigation without features. */
const sections = (visit: Visit): Sections => ({
  "": [
    { rank: 10, name: "overview", path: "", text: "Overview", glyph: "home" },
    { rank: 20, name: "payments", path: "payments", text: "Payments", glyph: "payments" },
    ...(may(visit, "send")
      ? [{ rank: 40, name: "send", path: "send", text: "Send", glyph: "send" } as const]
      : [])
  ],
  Receive: [
    { rank: 10, name: "invoices", path: "invoices", text: "Invoices", glyph: "receive" },
    { rank: 30, name: "addresses", path: "addresses", text: "Addresses", glyph: "at" }
  ],
  Developers: [
    ...(may(visit, "admin")
      ? [{ rank: 10, name: "keys", path: "keys", text: "API keys", glyph: "key" } as const]
      : []),
    { rank: 30, name: "events", path: "events", text: "Events", glyph: "list" }
  ],
  Company: [{ rank: 20, name: "limits", path: "limits", text: "Limits", glyph: "gauge" }]
})

const entries = (visit: Visit) =>
  Promise.all(
    features.flatMap(({ entry }) =>
      entry === undefined ? [] : [entry].map(async (one) => ({ ...one, badge: await one.mark?.(visit) }))
    )
  )

/** Messages shown on every page: what the operator paused, when the pause began, and why. */
const bannersOf = ({ say, stops: { frozen, sendingMillis, receivingMillis } }: Visit) => [
  frozen !== null &&
    banner("Sending is frozen", [
      "since ",
      when(frozen.sinceMillis, say.since(frozen.sinceMillis)),
      `: “${frozen.reason}”. You can still receive and export. `,
      frozen.waits ? "Outgoing payments are on hold. " : "",
      "Contact the operator."
    ]),
  sendingMillis !== null &&
    banner("Sending is paused for everyone", [
      "since ",
      when(sendingMillis, say.since(sendingMillis)),
      ". Confirmed payments wait, and are sent when the operator resumes sending."
    ]),
  receivingMillis !== null &&
    banner("Receiving is paused for everyone", [
      "since ",
      when(receivingMillis, say.since(receivingMillis)),
      ". No invoice or address can be created. Payments that arrive are credited."
    ])
]

export const surroundings = async (visit: Visit): Promise<Surroundings> => ({
  owner: visit.account.name,
  at: visit.isSandbox
    ? "Sandbox: no real money"
    : visit.account.network === "mainnet"
      ? "satrail"
      : `satrail, ${visit.account.network}`,
  sections: placed(sections(visit), await entries(visit)).flatMap((section) => {
    const shown = section.entries.filter(({ name }) => may(visit, "read") || withoutRead.has(name))
    return shown.length === 0 ? [] : [{ ...section, entries: shown }]
  }),
  placeholder: "Order, invoice, address, id",
  banners: bannersOf(visit),
  live: ""
})
