import { unlessRefused } from "@satrail/ui/console/Api"
import { may, type OperatorVisit, type Visit } from "@satrail/ui/console/Page"
import type { Concern, Badge } from "@satrail/ui/console/Parts"
import type { WebhookEndpoint } from "@satrail/ui/console/wire"
import { applying, type Problem } from "@satrail/ui/console/Feature"

/** After this long without a delivery, an endpoint is red. */
const redMillis = 15 * 60_000

/** Amber after the first failure, red after 15 minutes or once disabled because of failures. */
export const badgeOf = (
  { status, disabled_reason, failing_since }: WebhookEndpoint,
  nowMillis: number
): Badge => {
  if (status === "deleted") return { tone: "idle", text: "Deleted" }
  if (status === "disabled")
    return disabled_reason === "owner" || disabled_reason === null
      ? { tone: "idle", text: "Disabled" }
      : {
          tone: "bad",
          text:
            disabled_reason === "gone"
              ? "Disabled: it returned 410"
              : "Disabled: deliveries failed for too long"
        }
  if (failing_since === null) return { tone: "good", text: "Delivering" }
  const millis = nowMillis - Date.parse(failing_since)
  return millis < redMillis ? { tone: "warn", text: "Failing" } : { tone: "bad", text: "Failing" }
}

/** Endpoints that fail, worst first. */
const failing = async (visit: Visit): Promise<ReadonlyArray<WebhookEndpoint & { readonly badge: Badge }>> => {
  if (!may(visit, "webhooks") && !may(visit, "read")) return []
  const endpoints = await unlessRefused(
    visit.api.call("GET /v1/webhook-endpoints"),
    (status) => status === 403
  )
  return (endpoints ?? [])
    .map((endpoint) => ({ ...endpoint, badge: badgeOf(endpoint, visit.say.nowMillis) }))
    .filter(({ badge: { tone } }) => tone === "warn" || tone === "bad")
    .toSorted((a, b) => (a.badge.tone === b.badge.tone ? 0 : a.badge.tone === "bad" ? -1 : 1))
}

export const mark = async (visit: Visit): Promise<Badge | undefined> => {
  const [worst] = await failing(visit)
  return worst && { tone: worst.badge.tone, text: "needs attention" }
}

export const concerns = async (visit: Visit): Promise<ReadonlyArray<Concern>> => {
  const { say, to } = visit
  const endpoints = await failing(visit)
  return endpoints.map(({ id, url, status, failing_since, badge }): Concern => {
    const since = failing_since === null ? "" : ` since ${say.since(Date.parse(failing_since))}`
    const isDisabled = status === "disabled"
    const host = URL.canParse(url) ? new URL(url).host : url
    return {
      tone: badge.tone === "bad" ? "bad" : "warn",
      title: `Webhook ${isDisabled ? "disabled, failing" : "failing"}${since}`,
      text: `${host} isn’t accepting events. They are kept and will be sent ${isDisabled ? "once you enable it" : "again"}.`,
      href: to(`webhooks/${id}`),
      action: "See why"
    }
  })
}

export const problems = async ({ api, say, to }: OperatorVisit): Promise<ReadonlyArray<Problem>> => {
  const endpoints = await api.call("GET /operator/webhook-endpoints")
  const found = endpoints.map((endpoint): Problem | false => {
    const { tone, text } = badgeOf(endpoint, say.nowMillis)
    return (
      (tone === "bad" || tone === "warn") && {
        tone,
        glyph: "hook",
        title:
          text === "Failing"
            ? "Your webhook is failing"
            : `Your webhook is ${text.charAt(0).toLowerCase()}${text.slice(1)}`,
        text: endpoint.url,
        sinceMillis: endpoint.failing_since === null ? null : Date.parse(endpoint.failing_since),
        href: to(`webhooks/${endpoint.id}`),
        action: "See why",
        guide: "incidents#missing-webhook"
      }
    )
  })
  return applying(found)
}
