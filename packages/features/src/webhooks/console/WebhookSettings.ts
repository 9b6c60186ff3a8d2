import { type ComponentChildren, h } from "preact"
import { secretPanel } from "@satrail/ui/console/Issued"
import {
  type AnyVisit,
  type Elsewhere,
  type Page,
  type Shown,
  numberIn,
  text
} from "@satrail/ui/console/Page"
import { body, confirm, entry, fields, form, formPanel, panel, plain, stack } from "@satrail/ui/console/Parts"
import type { WebhookEndpoint } from "@satrail/ui/console/wire"
import { rootOf, short } from "./Webhooks.ts"

const settings = (visit: AnyVisit, endpoint?: WebhookEndpoint) => [
  entry(visit, { label: "URL", name: "url", type: "url", required: true, value: endpoint?.url }),
  entry(visit, {
    label: "Description",
    name: "description",
    optional: true,
    maxLength: 200,
    value: endpoint?.description
  }),
  entry(visit, {
    label: "Event types",
    name: "types",
    optional: true,
    hint: "Separated by commas, such as checkout.paid or deposit.*. Leave empty for all",
    value: endpoint?.types.join(", ")
  }),
  entry(visit, {
    label: "Header for an additional signature",
    name: "header",
    optional: true,
    hint: "Such as X-Shop-Signature",
    value: endpoint?.signature_header ?? ""
  })
]

const settingsIn = (visit: AnyVisit) => {
  const header = text(visit, "header")
  return {
    url: text(visit, "url"),
    description: text(visit, "description"),
    types: text(visit, "types")
      .split(/[\s,]+/)
      .filter((one) => one !== ""),
    ...(header !== "" && { signature_header: header })
  }
}

const add = (visit: AnyVisit): Shown => {
  const { isConfirmed, kind } = visit.user
  return {
    title: "Add endpoint",
    crumbs: [["Webhooks", "webhooks"]],
    body: formPanel({ action: visit.to("webhooks/new"), label: "Endpoint", once: visit.once }, [
      fields(settings(visit)),
      confirm("Add endpoint", { isConfirmed, ...(kind === "operator" && { label: "Your operator token" }) })
    ])
  }
}

const secretPage = (visit: AnyVisit, id: string, title: string, secret: string): Shown => ({
  title,
  crumbs: [["Webhooks", "webhooks"]],
  body: secretPanel(
    "Endpoint secret",
    "Your program uses it to check the signature of each delivery. Copy it now: it won’t be shown again.",
    secret,
    visit.to(`webhooks/${id}`)
  )
})

const added = async (visit: AnyVisit): Promise<Shown> => {
  const { id, secret } = await visit.api.call(`POST ${rootOf(visit)}/webhook-endpoints`, {
    once: text(visit, "once"),
    body: settingsIn(visit)
  })
  return secretPage(visit, id, "Endpoint added", secret)
}

const settingsPage = async (visit: AnyVisit): Promise<Shown> => {
  const { id } = visit
  const endpoint = await visit.api.call(`GET ${rootOf(visit)}/webhook-endpoints/{id}`, { params: { id } })
  const at = visit.to(`webhooks/${id}/settings`)
  const simple = (title: string, button: string, name: string, kind: string, children: ComponentChildren) =>
    form(
      at,
      {},
      panel(
        title,
        {},
        body(children),
        h("div", { class: "confirm" }, h("button", { class: `btn ${kind}`, name: "do", value: name }, button))
      )
    )
  return {
    title: "Settings",
    crumbs: [
      ["Webhooks", "webhooks"],
      [short(endpoint.url), `webhooks/${id}`]
    ],
    body: h(
      "div",
      { class: "form-side" },
      form(
        at,
        {},
        plain("Settings", [
          fields(settings(visit, endpoint)),
          h(
            "div",
            { class: "confirm" },
            h("button", { class: "btn main lg", name: "do", value: "save" }, "Save endpoint")
          )
        ])
      ),
      stack(
        simple(
          "Rotate secret",
          "Rotate secret",
          "rotate",
          "",
          entry(visit, {
            label: "Keep signing with the old secret for (hours)",
            name: "overlap",
            inputMode: "numeric",
            value: "24",
            required: true
          })
        ),
        simple(
          "Replay",
          "Replay",
          "replay",
          "",
          entry(visit, {
            label: "Replay events after",
            name: "from",
            hint: "An event id, such as one listed under Deliveries",
            required: true
          })
        ),
        simple(
          "Disable",
          endpoint.status === "enabled" ? "Disable" : "Enable",
          endpoint.status === "enabled" ? "disable" : "enable",
          "",
          h("p", { class: "soft" }, "A disabled endpoint receives nothing. Events are kept.")
        ),
        simple(
          "Delete",
          "Delete endpoint",
          "delete",
          "danger",
          h("p", { class: "soft" }, "Deliveries to it are deleted too.")
        )
      )
    )
  }
}

const change = async (visit: AnyVisit): Promise<Shown | Elsewhere> => {
  const { api, id } = visit
  const params = { id }
  switch (text(visit, "do")) {
    case "rotate": {
      const body = { overlap_seconds: (numberIn(visit, "overlap") ?? 0) * 3600 }
      const { secret } = await api.call(`POST ${rootOf(visit)}/webhook-endpoints/{id}/rotate-secret`, {
        params,
        body
      })
      return secretPage(visit, id, "Secret rotated", secret)
    }
    case "replay":
      await api.call(`POST ${rootOf(visit)}/webhook-endpoints/{id}/replay`, {
        params,
        body: { replay_from: text(visit, "from") }
      })
      break
    case "disable":
      await api.call(`POST ${rootOf(visit)}/webhook-endpoints/{id}/disable`, { params })
      break
    case "enable":
      await api.call(`POST ${rootOf(visit)}/webhook-endpoints/{id}/enable`, { params, body: {} })
      break
    case "delete":
      await api.call(`DELETE ${rootOf(visit)}/webhook-endpoints/{id}`, { params })
      return { redirect: "webhooks" }
    default:
      await api.call(`PUT ${rootOf(visit)}/webhook-endpoints/{id}`, { params, body: settingsIn(visit) })
  }
  return { redirect: `webhooks/${id}` }
}

/** `webhooks/new` must come before the page of an endpoint. */
export const webhookSettings: ReadonlyArray<Page<AnyVisit>> = [
  { path: "webhooks/new", nav: "webhooks", needs: "webhooks", get: add, post: added },
  { path: "webhooks/:id/settings", nav: "webhooks", needs: "webhooks", get: settingsPage, post: change }
]
