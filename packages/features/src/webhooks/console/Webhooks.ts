import { h } from "preact"
import { unlessRefused } from "@satrail/ui/console/Api"
import * as Formats from "@satrail/ui/console/Format"
import { cursorOf, pages } from "@satrail/ui/console/List"
import { badgeOf } from "./Failing.ts"
import { type AnyVisit, type Elsewhere, may, type Page, type Shown, text } from "@satrail/ui/console/Page"
import {
  act,
  button,
  copied,
  date,
  empty,
  facts,
  note,
  panel,
  plain,
  sides,
  stack,
  status,
  sub,
  type Badge,
  when
} from "@satrail/ui/console/Parts"
import { type Column, paging, rowLink, table } from "@satrail/ui/console/Table"
import type { WebhookDelivery, WebhookEndpoint } from "@satrail/ui/console/wire"

const perPage = 50

/**
 * The endpoints' path in the API. A company sees its own endpoints; the operator sees the operator's, which
 * receive the events of all companies.
 */
export const rootOf = ({ user }: Pick<AnyVisit, "user">) => (user.kind === "company" ? "/v1" : "/operator")

const mayChange = (visit: AnyVisit): boolean => may(visit, visit.user.kind === "company" ? "webhooks" : "all")

export const short = (url: string): string => url.replace(/^https?:\/\//, "")
const types = ({ types: all }: WebhookEndpoint): string => (all.length === 0 ? "All events" : all.join(", "))

const since = ({ failing_since }: WebhookEndpoint, nowMillis: number): string =>
  failing_since === null ? "" : ` for ${Formats.span(nowMillis - Date.parse(failing_since))}`

export const badge = (endpoint: WebhookEndpoint, nowMillis: number): Badge => {
  const known = badgeOf(endpoint, nowMillis)
  return endpoint.status === "enabled" && endpoint.failing_since !== null
    ? { ...known, text: `Failing${since(endpoint, nowMillis)}` }
    : known
}

/** The last response in words: 502 in 31 ms, or why there was none. */
export const responseOf = ({
  response_status,
  response,
  duration_ms
}: Pick<WebhookDelivery, "response_status" | "response" | "duration_ms">): string => {
  if (response_status === null) return response === null || response === "" ? "none" : response
  return `${response_status}${duration_ms === null ? "" : ` in ${duration_ms} ms`}`
}

export const deliveryBadge = ({ status, attempts }: WebhookDelivery): Badge => {
  if (status === "delivered") return { tone: "good", text: "Delivered" }
  if (status === "failed") return { tone: "bad", text: "Given up" }
  return attempts === 0 ? { tone: "wait", text: "Waiting" } : { tone: "bad", text: "Waiting" }
}

interface Row {
  readonly endpoint: WebhookEndpoint
  readonly last: WebhookDelivery | undefined
}

const columns = ({ say, to }: AnyVisit): ReadonlyArray<Column<Row>> => [
  {
    title: "Endpoint",
    place: "all",
    cell: ({ endpoint }) => [
      rowLink(to(`webhooks/${endpoint.id}`), short(endpoint.url)),
      sub(types(endpoint))
    ]
  },
  { title: "Status", place: "c3", cell: ({ endpoint }) => status(badge(endpoint, say.nowMillis)) },
  {
    title: "Last response",
    place: "off",
    kind: "soft",
    cell: ({ last }) => (last === undefined ? "nothing sent" : responseOf(last))
  },
  {
    title: "Next attempt",
    place: "all",
    key: "Next attempt",
    cell: ({ last }) =>
      last === undefined || last.next_attempt_at === null ? "–" : date(say, last.next_attempt_at)
  }
]

const list = async (visit: AnyVisit): Promise<Shown> => {
  const { api, to, user } = visit
  const isCompany = user.kind === "company"
  const endpoints = await api.call(`GET ${rootOf(visit)}/webhook-endpoints`)
  const rows = await Promise.all(
    endpoints.map(async (endpoint): Promise<Row> => {
      const [last] = await api.call(`GET ${rootOf(visit)}/webhook-endpoints/{id}/deliveries`, {
        params: { id: endpoint.id },
        query: { limit: 1 }
      })
      return { endpoint, last }
    })
  )
  return {
    title: "Webhooks",
    lead: "Your programs receive each event within a second. While an endpoint is down, events are kept and sent again.",
    isLive: true,
    actions: mayChange(visit) && button(to("webhooks/new"), "Add endpoint", "main", "plus"),
    body: [
      plain(
        "Endpoints",
        rows.length === 0
          ? empty(
              "hook",
              "No endpoints yet",
              isCompany
                ? "Add your shop’s URL to be notified of each payment."
                : "Add a program’s URL to be notified of events.",
              mayChange(visit) && button(to("webhooks/new"), "Add endpoint", "main")
            )
          : table("Webhook endpoints", {
              columns: columns(visit),
              groups: [{ rows }],
              kind: "mid",
              opens: true
            })
      ),
      h(
        "p",
        { class: "soft" },
        status({ tone: "warn", text: "Amber" }),
        " after the first failure, ",
        status({ tone: "bad", text: "red" }),
        " after 15 minutes without a delivery. Both appear on ",
        isCompany ? "the overview." : "the page Now."
      )
    ]
  }
}

/** A disabled endpoint has no next attempt. */
const nextAttempt = ({ say }: AnyVisit, { status }: WebhookEndpoint, delivery: WebhookDelivery) => {
  if (delivery.next_attempt_at === null) return "–"
  return status === "enabled" ? date(say, delivery.next_attempt_at) : "Once enabled"
}

/** Sends a delivery again, or before its next attempt, which a disabled endpoint does not have. */
const resend = (
  visit: AnyVisit,
  endpoint: WebhookEndpoint,
  { id, status }: WebhookDelivery,
  look: "quiet" | ""
) => {
  const isPending = status === "pending"
  const isOffered = !isPending || endpoint.status === "enabled"
  return (
    isOffered &&
    act(visit.to(`webhooks/${endpoint.id}`), isPending ? "Send now" : "Resend", look, {
      do: "resend",
      delivery: id
    })
  )
}

const deliveryColumns = (
  visit: AnyVisit,
  endpoint: WebhookEndpoint
): ReadonlyArray<Column<WebhookDelivery>> => [
  {
    title: "Event",
    place: "c1",
    cell: (delivery) => [
      rowLink(visit.to(`webhooks/${endpoint.id}?delivery=${delivery.id}#delivery`), delivery.event_type),
      sub(date(visit.say, delivery.created_at))
    ]
  },
  {
    title: "Status",
    place: "all",
    cell: (delivery) => [
      status(deliveryBadge(delivery)),
      sub(`${delivery.attempts} ${delivery.attempts === 1 ? "attempt" : "attempts"}`)
    ]
  },
  { title: "Last response", place: "off", kind: "soft", cell: responseOf },
  {
    title: "Next attempt",
    place: "all",
    key: "Next attempt",
    cell: (delivery) => nextAttempt(visit, endpoint, delivery)
  },
  {
    title: "",
    place: "c2",
    kind: "r act",
    cell: (delivery) => resend(visit, endpoint, delivery, "quiet")
  }
]

const deliveryPanel = async (visit: AnyVisit, endpoint: WebhookEndpoint, delivery: WebhookDelivery) => {
  const { api, say, user } = visit
  const isOwn = user.kind === "company"
  // An old event is deleted, and a person may be allowed to see deliveries but not events.
  const event = isOwn
    ? await unlessRefused(
        api.call("GET /v1/events/{id}", { params: { id: delivery.event_id } }),
        (status) => status === 403 || status === 404
      )
    : undefined
  return panel(
    delivery.event_type,
    {
      id: "delivery",
      isRuled: true,
      beside: resend(visit, endpoint, delivery, "")
    },
    h(
      "div",
      { class: "body fields" },
      facts([
        ["Status", status(deliveryBadge(delivery))],
        ["Attempts", delivery.attempts],
        ["Last attempt", date(say, delivery.last_attempt_at, "none yet")],
        ["Next attempt", nextAttempt(visit, endpoint, delivery)],
        ["Response", responseOf(delivery)],
        ["Event", copied(delivery.event_id, "event id")]
      ]),
      h(
        "p",
        { class: "label" },
        delivery.response_status === null ? "Why there was no response" : "Body of the last response"
      ),
      h(
        "pre",
        { tabIndex: 0 },
        delivery.response === null || delivery.response === "" ? "empty" : delivery.response
      ),
      delivery.earlier_attempts.length > 0 && [
        h("p", { class: "label" }, "Earlier attempts"),
        table("Earlier attempts, newest first", {
          columns: [
            { title: "Time", place: "c1", cell: ({ at }) => date(say, at) },
            { title: "Response", place: "all", kind: "soft", cell: responseOf }
          ],
          groups: [{ rows: delivery.earlier_attempts }]
        })
      ],
      event !== undefined && [
        h("p", { class: "label" }, "Event sent"),
        h("pre", { tabIndex: 0 }, JSON.stringify(event, null, 2))
      ]
    )
  )
}

/** Maximum number of deliveries that one press of “Resend all” sends, and of those that are read for it. */
const mostResent = 200
const mostChecked = 5000

/** The deliveries of an endpoint that no response confirmed, oldest first. */
const undelivered = async (visit: AnyVisit): Promise<ReadonlyArray<WebhookDelivery>> => {
  const found: Array<WebhookDelivery> = []
  let cursor: string | undefined
  for (let checked = 0; checked < mostChecked;) {
    const page = await visit.api.page(`GET ${rootOf(visit)}/webhook-endpoints/{id}/deliveries`, {
      params: { id: visit.id },
      query: { limit: 1000, cursor }
    })
    checked += page.data.length
    found.push(...page.data.filter(({ status }) => status !== "delivered"))
    cursor = page.next
    if (cursor === undefined) break
  }
  return found.toReversed().slice(0, mostResent)
}

const resendAll = async (visit: AnyVisit) => {
  for (const { id } of await undelivered(visit))
    // A delivery may be deleted in the meantime.
    await unlessRefused(
      visit.api.call(`POST ${rootOf(visit)}/webhook-deliveries/{id}/resend`, { params: { id } }),
      (status) => status === 404
    )
}

const trouble = async (
  endpoint: WebhookEndpoint,
  visit: AnyVisit,
  deliveries: ReadonlyArray<WebhookDelivery>
) => {
  const { say, to } = visit
  const waiting = deliveries.filter(({ status }) => status === "pending")
  const [last] = deliveries.filter(({ status, attempts }) => status !== "delivered" && attempts > 0)
  const because = last === undefined ? "" : `: ${responseOf(last)}`
  if (endpoint.status !== "enabled") {
    const isOwn = endpoint.disabled_reason === "owner"
    return note(
      isOwn ? "info" : "bad",
      `${badge(endpoint, say.nowMillis).text}${isOwn ? "" : because}`,
      h("p", null, "Events are kept. Enable the endpoint to receive those it missed.")
    )
  }
  if (endpoint.failing_since === null) return null
  const next = waiting.map(({ next_attempt_at }) => next_attempt_at).find((at) => at !== null)
  return note(
    "bad",
    `No deliveries since ${say.since(Date.parse(endpoint.failing_since))}${because}`,
    h(
      "p",
      null,
      `${waiting.length} ${waiting.length === 1 ? "event is" : "events are"} waiting.`,
      next !== undefined &&
        next !== null && [" Next attempt: ", when(Date.parse(next), say.seconds(Date.parse(next))), "."]
    ),
    h("div", { class: "do" }, act(to(`webhooks/${endpoint.id}`), "Send a test now", "main", { do: "test" }))
  )
}

const show = async (visit: AnyVisit): Promise<Shown> => {
  const { api, say, to, id, query } = visit
  const [endpoint, page] = await Promise.all([
    api.call(`GET ${rootOf(visit)}/webhook-endpoints/{id}`, { params: { id } }),
    api.page(`GET ${rootOf(visit)}/webhook-endpoints/{id}/deliveries`, {
      params: { id },
      query: { limit: perPage, cursor: cursorOf(visit) }
    })
  ])
  const deliveries: ReadonlyArray<WebhookDelivery> = page.data
  const chosen =
    deliveries.find((delivery) => delivery.id === query.get("delivery")) ??
    deliveries.find(({ status }) => status !== "delivered") ??
    deliveries[0]
  const at = to(`webhooks/${id}`)
  return {
    title: short(endpoint.url),
    status: badge(endpoint, say.nowMillis),
    lead: [endpoint.description, types(endpoint)].filter((text) => text !== "").join(" · "),
    crumbs: [["Webhooks", "webhooks"]],
    actions: mayChange(visit) && [
      button(to(`webhooks/${id}/settings`), "Settings"),
      endpoint.status === "enabled" &&
        deliveries.filter(({ status }) => status !== "delivered").length > 1 &&
        act(at, "Resend all", "", { do: "resend-all" }),
      endpoint.status === "enabled"
        ? act(at, "Send a test", "", { do: "test" })
        : act(at, "Enable", "main", { do: "enable" })
    ],
    body: [
      await trouble(endpoint, visit, deliveries),
      sides(
        panel(
          "Deliveries",
          {
            isRuled: true,
            footer: paging(
              deliveries.length,
              `times in ${say.zone}`,
              pages(`webhooks/${id}`, visit, page.next)
            )
          },
          deliveries.length === 0
            ? empty("hook", "No deliveries yet", "Events appear here with their response.")
            : table("Deliveries, newest first", {
                columns: deliveryColumns(visit, endpoint),
                groups: [{ rows: deliveries }],
                kind: "mid",
                opens: true
              })
        ),
        stack(chosen === undefined ? null : await deliveryPanel(visit, endpoint, chosen))
      )
    ]
  }
}

const doIt = async (visit: AnyVisit): Promise<Elsewhere> => {
  const { api, id } = visit
  const params = { id }
  const delivery = text(visit, "delivery")
  switch (text(visit, "do")) {
    case "resend":
      await api.call(`POST ${rootOf(visit)}/webhook-deliveries/{id}/resend`, { params: { id: delivery } })
      return { redirect: `webhooks/${id}?delivery=${delivery}` }
    case "resend-all":
      await resendAll(visit)
      return { redirect: `webhooks/${id}` }
    case "enable":
      await api.call(`POST ${rootOf(visit)}/webhook-endpoints/{id}/enable`, { params, body: {} })
      return { redirect: `webhooks/${id}` }
    default:
      await api.call(`POST ${rootOf(visit)}/webhook-endpoints/{id}/test`, { params })
      return { redirect: `webhooks/${id}` }
  }
}

export const webhooks: ReadonlyArray<Page<AnyVisit>> = [
  { path: "webhooks", nav: "webhooks", get: list },
  { path: "webhooks/:id", nav: "webhooks", get: show, post: doIt }
]
