import { crumbsOf } from "@satrail/ui/console/operator/Common"
import type { OperatorVisit, Page, Shown } from "@satrail/ui/console/Page"
import { copied, date, empty, factPanel, panel, plain, status } from "@satrail/ui/console/Parts"
import { rowLink, table } from "@satrail/ui/console/Table"
import type { WebhookEndpoint } from "@satrail/ui/console/wire"
import { badgeOf } from "./Failing.ts"
import { deliveryBadge, responseOf, badge as endpointBadge } from "./Webhooks.ts"

// Pages and panels about a company's endpoints and deliveries, for the operator. They are read-only.

const perPage = 50

const endpointTable = ({ say, to }: OperatorVisit, companyId: string, rows: ReadonlyArray<WebhookEndpoint>) =>
  table("Webhook endpoints", {
    columns: [
      {
        title: "Endpoint",
        place: "c1",
        cell: ({ id, url }) =>
          rowLink(to(`companies/${companyId}/webhooks/${id}`), url.replace(/^https?:\/\//, ""))
      },
      { title: "Status", place: "c2", cell: (row) => status(badgeOf(row, say.nowMillis)) }
    ],
    groups: [{ rows }],
    kind: "mid",
    opens: true
  })

export const companyPanel = async (visit: OperatorVisit, id: string) => {
  const endpoints = await visit.api.call("GET /operator/companies/{companyId}/webhook-endpoints", {
    params: { companyId: id }
  })
  return endpoints.length > 0 && panel("Webhooks", { isRuled: true }, endpointTable(visit, id, endpoints))
}

/** Shows why a company's endpoint fails. Only the company can enable it and send deliveries again. */
const get = async (visit: OperatorVisit): Promise<Shown> => {
  const { api, say, params, id: companyId } = visit
  const { endpoint: id = "" } = params
  const asked = { params: { companyId, id } }
  const [found, deliveries] = await Promise.all([
    api.call("GET /operator/companies/{companyId}/webhook-endpoints/{id}", asked),
    api.call("GET /operator/companies/{companyId}/webhook-endpoints/{id}/deliveries", {
      ...asked,
      query: { limit: perPage }
    })
  ])
  return {
    title: found.url.replace(/^https?:\/\//, ""),
    status: endpointBadge(found, say.nowMillis),
    crumbs: await crumbsOf(visit),
    lead: "Only the company can change its endpoints and resend deliveries. Let the company know what the last response says.",
    body: [
      factPanel("Details", [
        ["Events", found.types.length === 0 ? "All" : found.types.join(", ")],
        ["Failing since", date(say, found.failing_since, "not failing")],
        ["Endpoint", copied(found.id, "endpoint id")]
      ]),
      plain(
        "Deliveries",
        deliveries.length === 0
          ? empty("hook", "Nothing has been sent yet", "Events appear here with their response.")
          : table("Deliveries, newest first", {
              columns: [
                { title: "Event", place: "c1", cell: ({ event_type }) => event_type },
                { title: "Status", place: "c2", cell: (delivery) => status(deliveryBadge(delivery)) },
                { title: "Attempts", place: "off", kind: "fiat", cell: ({ attempts }) => attempts },
                { title: "Last response", place: "all", kind: "soft", cell: responseOf },
                {
                  title: "Last attempt",
                  place: "c3",
                  kind: "faint",
                  cell: ({ last_attempt_at }) => date(say, last_attempt_at, "none yet")
                },
                {
                  title: "Next attempt",
                  place: "c4",
                  kind: "faint",
                  cell: ({ next_attempt_at }) => date(say, next_attempt_at, "none")
                }
              ],
              groups: [{ rows: deliveries }]
            })
      )
    ]
  }
}

export const companyPage: Page<OperatorVisit> = {
  path: "companies/:id/webhooks/:endpoint",
  nav: "companies",
  get
}
