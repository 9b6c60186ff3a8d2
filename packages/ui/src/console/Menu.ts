import { Refused } from "./Api.ts"
import type { Section } from "./Frame.ts"
import { may, type Visit } from "./Page.ts"
import { banner, type Told, when } from "./Parts.ts"
import type { Surroundings } from "./Site.ts"
import type { WebhookEndpoint } from "./wire.ts"

/** After this long without a delivery, an endpoint is red. */
export const redMillis = 15 * 60_000

/** Amber after the first failure, red after 15 minutes or once disabled because of failures. */
export const toldOf = ({ status, disabled_reason, failing_since }: WebhookEndpoint, nowMillis: number): Told => {
  if (status === "deleted") return { tone: "idle", text: "Deleted" }
  if (status === "disabled")
    return disabled_reason === "owner" || disabled_reason === null
      ? { tone: "idle", text: "Disabled" }
      : { tone: "bad", text: disabled_reason === "gone" ? "Disabled: it returned 410" : "Disabled: deliveries failed for too long" }
  if (failing_since === null) return { tone: "good", text: "Delivering" }
  const millis = nowMillis - Date.parse(failing_since)
  return millis < redMillis ? { tone: "warn", text: "Failing" } : { tone: "bad", text: "Failing" }
}

/** Endpoints that fail, worst first. */
export const failing = async (visit: Visit): Promise<ReadonlyArray<WebhookEndpoint & { readonly told: Told }>> => {
  if (!may(visit, "webhooks") && !may(visit, "read")) return []
  const endpoints = await visit.api.call("GET /v1/webhook-endpoints").catch((error: unknown) => {
    if (error instanceof Refused) return []
    throw error
  })
  return endpoints
    .map((endpoint) => ({ ...endpoint, told: toldOf(endpoint, visit.say.nowMillis) }))
    .filter(({ told: { tone } }) => tone === "warn" || tone === "bad")
    .toSorted((a, b) => (a.told.tone === b.told.tone ? 0 : a.told.tone === "bad" ? -1 : 1))
}

interface Trouble {
  readonly webhooks: Told | undefined
}

/** The records that the navigation marks. */
const troubleOf = async (visit: Visit): Promise<Trouble> => {
  const [worst] = await failing(visit)
  return { webhooks: worst === undefined ? undefined : { tone: worst.told.tone, text: "needs attention" } }
}

const sections = (visit: Visit, { webhooks }: Trouble): ReadonlyArray<Section> => [
  {
    entries: [
      { name: "overview", path: "", text: "Overview", glyph: "home" },
      { name: "payments", path: "payments", text: "Payments", glyph: "payments" },
      { name: "checkouts", path: "checkouts", text: "Checkouts", glyph: "checkouts" },
      ...(may(visit, "send") ? [{ name: "send", path: "send", text: "Send", glyph: "send" } as const] : []),
      { name: "statements", path: "statements", text: "Statements", glyph: "book" }
    ]
  },
  {
    title: "Receive",
    entries: [
      { name: "invoices", path: "invoices", text: "Invoices", glyph: "receive" },
      { name: "offers", path: "offers", text: "Offers", glyph: "receive" },
      { name: "addresses", path: "addresses", text: "Addresses", glyph: "at" },
      { name: "vouchers", path: "vouchers", text: "Vouchers and refunds", glyph: "ticket" }
    ]
  },
  {
    title: "Developers",
    entries: [
      { name: "keys", path: "keys", text: "API keys", glyph: "key" },
      { name: "webhooks", path: "webhooks", text: "Webhooks", glyph: "hook", told: webhooks },
      { name: "events", path: "events", text: "Events", glyph: "list" }
    ]
  },
  {
    title: "Company",
    entries: [
      { name: "people", path: "people", text: "People", glyph: "people" },
      { name: "limits", path: "limits", text: "Limits", glyph: "gauge" },
      { name: "audit", path: "audit", text: "Audit log", glyph: "clock" }
    ]
  }
]

/** Messages about every page: what the operator stopped, since when, and why. */
const bannersOf = ({ say, stops: { frozen, sendingMillis, receivingMillis } }: Visit) => [
  frozen !== null &&
    banner("Sending is frozen", [
      "since ",
      when(frozen.sinceMillis, say.since(frozen.sinceMillis)),
      `: “${frozen.reason}” You can still receive and export. `,
      frozen.waits ? "Withdrawals in progress are on hold. " : "",
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

/** The frame around a company's pages. */
export const surroundings = async (visit: Visit): Promise<Surroundings> => ({
  owner: visit.account.name,
  at: visit.isSandbox ? "Sandbox: no real money" : visit.account.network === "mainnet" ? "satrail" : `satrail, ${visit.account.network}`,
  sections: sections(visit, await troubleOf(visit)),
  placeholder: "Order, description, id, amount, hash",
  banners: bannersOf(visit),
  live: ""
})
