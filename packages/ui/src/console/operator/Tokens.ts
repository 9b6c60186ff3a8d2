import { h } from "preact"
import { inAudit, nameField, secretPanel, shownOnce } from "../Issued.ts"
import { Refused } from "../Api.ts"
import { type Elsewhere, type OperatorVisit, type Page, type Shown, text } from "../Page.ts"
import {
  body,
  button,
  checks,
  date,
  empty,
  fields,
  formPanel,
  hidden,
  link,
  plain,
  status
} from "../Parts.ts"
import { table } from "../Table.ts"
import { confirming, guide } from "./Common.ts"

// Tokens of operators' programs, and of people without a passkey.

const scopes = [
  ["read", "Read", "See everything"],
  ["stop", "Stop", "Pause, freeze, revoke keys, lower limits"],
  ["loosen", "Loosen", "Resume, unfreeze, raise limits"],
  ["mend", "Mend", "Suspense, adjustments, own funds, lost or waiting withdrawals, resending your webhooks"],
  ["companies", "Companies", "Companies, keys, plans, fees, domains, people"],
  ["all", "All", "Everything, and managing tokens"]
] as const

const scopeText = (scope: string): string => scopes.find(([one]) => one === scope)?.[1] ?? scope

const list = async ({ api, say, to }: OperatorVisit): Promise<Shown> => {
  const rows = await api.call("GET /operator/tokens", { query: { limit: 1000 } })
  return {
    title: "Tokens",
    lead: "Create one token for each program. Send people invitations, so that the audit log names them.",
    actions: button(to("tokens/new"), "Issue token", "main", "plus"),
    body: plain(
      "Tokens",
      rows.length === 0
        ? empty(
            "key",
            "No tokens",
            "Only the token from the configuration is used. Give each program its own."
          )
        : table("Tokens, newest first", {
            columns: [
              { title: "Name", place: "c1", cell: ({ name }) => h("span", { class: "strong" }, name) },
              {
                title: "Scopes",
                place: "c3",
                kind: "soft",
                cell: (row) => row.scopes.map(scopeText).join(", ")
              },
              {
                title: "Created",
                place: "c4",
                kind: "faint",
                cell: ({ created_at }) => date(say, created_at)
              },
              {
                title: "Status",
                place: "all",
                cell: ({ revoked_at }) =>
                  status(
                    revoked_at === null ? { tone: "good", text: "Valid" } : { tone: "idle", text: "Revoked" }
                  )
              },
              {
                title: "",
                place: "c2",
                kind: "r",
                cell: ({ id, name, revoked_at }) =>
                  revoked_at === null &&
                  h(
                    "a",
                    { class: "btn quiet danger", href: to(`tokens/${id}/revoke`) },
                    "Revoke…",
                    hidden(` ${name}`)
                  )
              }
            ],
            groups: [{ rows }],
            kind: "mid"
          })
    )
  }
}

const issuePage = (visit: OperatorVisit): Shown => {
  const { to, once, form: given } = visit
  const chosen = given.getAll("scopes")
  return {
    title: "Issue a token",
    crumbs: [["Tokens", "tokens"]],
    body: formPanel({ action: to("tokens/new"), label: "Issue a token", once }, [
      fields(
        nameField(visit, inAudit),
        checks("Scopes", "checkbox", "scopes", scopes, chosen.length === 0 ? ["read", "stop"] : chosen),
        h("p", { class: "hint" }, link(guide(visit, "operators#tokens"), "Guide: tokens"))
      ),
      confirming(visit, "Issue token", { why: "It is shown once, on the next page." })
    ])
  }
}

const issue = async (visit: OperatorVisit): Promise<Shown> => {
  const chosen = visit.form.getAll("scopes")
  const { name, token } = await visit.api.call("POST /operator/tokens", {
    once: text(visit, "once"),
    body: {
      name: text(visit, "name"),
      scopes: scopes.flatMap(([scope]) => (chosen.includes(scope) ? [scope] : []))
    }
  })
  return {
    title: `Token “${name}” issued`,
    crumbs: [["Tokens", "tokens"]],
    body: secretPanel("New token", shownOnce, token, visit.to("tokens"))
  }
}

const revokePage = async (visit: OperatorVisit): Promise<Shown> => {
  const { id } = visit
  const found = (await visit.api.call("GET /operator/tokens", { query: { limit: 1000 } })).find(
    (row) => row.id === id
  )
  if (found === undefined) throw new Refused(404, "not_found", "No such token.")
  return {
    title: `Revoke “${found.name}”`,
    crumbs: [["Tokens", "tokens"]],
    body: formPanel({ action: visit.to(`tokens/${id}/revoke`), label: "Revoke" }, [
      body(
        h(
          "p",
          null,
          "Programs with this token stop working immediately, and its sessions end. This cannot be undone."
        )
      ),
      confirming(visit, `Revoke ${found.name}`, { kind: "danger" })
    ])
  }
}

const revoke = async (visit: OperatorVisit): Promise<Elsewhere> => {
  await visit.api.call("DELETE /operator/tokens/{id}", { params: { id: visit.id } })
  return { redirect: "tokens" }
}

export const tokens: ReadonlyArray<Page<OperatorVisit>> = [
  { path: "tokens", nav: "tokens", get: list },
  { path: "tokens/new", nav: "tokens", get: issuePage, post: issue },
  { path: "tokens/:id/revoke", nav: "tokens", get: revokePage, post: revoke }
]
