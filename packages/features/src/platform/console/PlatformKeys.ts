import { h } from "preact"
import { Refused } from "@satrail/ui/console/Api"
import {
  inAudit,
  linksBox,
  linksIn,
  linksLeft,
  nameField,
  secretPanel,
  shownOnce
} from "@satrail/ui/console/Issued"
import { sats } from "@satrail/ui/console/Format"
import { cursorOf, pages } from "@satrail/ui/console/List"
import { type Elsewhere, type OperatorVisit, type Page, type Shown, text } from "@satrail/ui/console/Page"
import {
  type Badge,
  button,
  checks,
  date,
  empty,
  entry,
  factPanel,
  fields,
  formPanel,
  link,
  note,
  plain,
  sides,
  stack,
  status
} from "@satrail/ui/console/Parts"
import { paging, rowLink, table } from "@satrail/ui/console/Table"
import type { PlatformKey } from "@satrail/ui/console/wire"
import { confirming, guide, partOf } from "@satrail/ui/console/operator/Common"

// Pages on which operators issue, approve and revoke platform keys.

const path = "platform-keys"

const scopes = [
  ["read", "Read", "See payments and balances"],
  ["receive", "Receive", "Create invoices, addresses and checkouts"],
  ["send", "Send", "Send payments, and create vouchers and refunds"],
  ["approve", "Approve", "Approve payments that another key requested"],
  ["webhooks", "Webhooks", "Manage webhook endpoints"],
  ["admin", "Admin", "All of these"]
] as const

const scopesOf = (row: Pick<PlatformKey, "scopes">): string =>
  scopes.flatMap(([scope, name]) => (row.scopes.includes(scope) ? [name] : [])).join(", ")

const badge = ({ approval, expires_at, revoked_at }: PlatformKey, nowMillis: number): Badge => {
  if (revoked_at !== null) return { tone: "idle", text: "Revoked" }
  if (expires_at !== null && Date.parse(expires_at) <= nowMillis) return { tone: "idle", text: "Expired" }
  if (approval === "pending") return { tone: "warn", text: "Awaiting approval" }
  return { tone: "good", text: "Valid" }
}

const page = (api: OperatorVisit["api"], cursor: string | undefined) =>
  api.page("GET /operator/platform-keys", { query: { limit: 100, cursor } })

const list = async (visit: OperatorVisit): Promise<Shown> => {
  const { api, say, to } = visit
  const cursor = cursorOf(visit)
  const { data: rows, next } = await page(api, cursor)
  return {
    title: "Platform keys",
    lead: "A platform key acts for any company. Each request names the company.",
    actions: button(to(`${path}/new`), "Issue key", "main", "plus"),
    body: plain(
      "Platform keys",
      rows.length === 0
        ? empty("key", "No platform keys", "Issue one for a program that acts for many companies.")
        : table("Platform keys, newest first", {
            columns: [
              { title: "Name", place: "c1", cell: ({ id, name }) => rowLink(to(`${path}/${id}`), name) },
              { title: "Scopes", place: "c2", kind: "soft", cell: scopesOf },
              {
                title: "Created",
                place: "off",
                kind: "faint",
                cell: ({ created_at }) => date(say, created_at)
              },
              { title: "Status", place: "c4", cell: (row) => status(badge(row, say.nowMillis)) }
            ],
            groups: [{ rows }],
            kind: "mid",
            opens: true
          }),
      (cursor !== undefined || next !== undefined) && paging(rows.length, "", pages(path, visit, next))
    )
  }
}

const issuePage = (visit: OperatorVisit): Shown => {
  const { to, once, form: given } = visit
  const chosen = given.getAll("scopes")
  return {
    title: "Issue a platform key",
    crumbs: [["Platform keys", path]],
    body: formPanel({ action: to(`${path}/new`), label: "Issue a platform key", once }, [
      fields(
        nameField(visit, inAudit),
        checks("Scopes", "checkbox", "scopes", scopes, chosen.length === 0 ? ["read", "receive"] : chosen),
        entry(visit, {
          label: "Most that it sends in a day from each company, in sats",
          name: "day_sats",
          type: "number",
          hint: "Without it, only the companies’ own limits apply"
        }),
        entry(visit, {
          label: "Last day",
          name: "expires",
          type: "date",
          hint: "Without it, the key does not expire"
        }),
        h("p", { class: "hint" }, link(guide(visit, "operators#platform-keys"), "Guide: platform keys"))
      ),
      confirming(visit, "Issue key", {
        why: "It is shown once, on the next page. If it can send, another operator must approve it."
      })
    ])
  }
}

const issue = async (visit: OperatorVisit): Promise<Shown> => {
  const [chosen, most, expires] = [
    visit.form.getAll("scopes"),
    text(visit, "day_sats"),
    text(visit, "expires")
  ]
  const { key, approval } = await visit.api.call("POST /operator/platform-keys", {
    once: text(visit, "once"),
    body: {
      name: text(visit, "name"),
      scopes: scopes.flatMap(([scope]) => (chosen.includes(scope) ? [scope] : [])),
      ...(most !== "" && { limits: { day_sats: Number(most) } }),
      ...(expires !== "" && { expires_at: `${expires}T23:59:59.000Z` })
    }
  })
  return {
    title: "Platform key issued",
    crumbs: [["Platform keys", path]],
    body: secretPanel(
      "New platform key",
      shownOnce,
      key,
      visit.to(path),
      approval === "pending" && note("", "It becomes valid when another operator approves it.")
    )
  }
}

const find = async ({ api, id }: OperatorVisit): Promise<PlatformKey> => {
  for (let cursor: string | undefined; ;) {
    const { data, next }: Awaited<ReturnType<typeof page>> = await page(api, cursor)
    const found = data.find((row) => row.id === id)
    if (found !== undefined) return found
    if (next === undefined) throw new Refused(404, "not_found", "No such platform key.")
    cursor = next
  }
}

const show = async (visit: OperatorVisit): Promise<Shown> => {
  const { say, to } = visit
  const row = await find(visit)
  const part = partOf(to(`${path}/${row.id}`))
  const day = row.limits?.day_sats ?? null
  return {
    title: row.name,
    status: badge(row, say.nowMillis),
    crumbs: [["Platform keys", path]],
    body: sides(
      stack(
        row.revoked_at === null &&
          row.approval === "pending" &&
          part("Approve", "approve", `Approve ${row.name}`, null, "main", `Its scopes are ${scopesOf(row)}.`),
        row.revoked_at === null &&
          part(
            "Revoke",
            "revoke",
            `Revoke ${row.name}`,
            linksBox(visit, "key"),
            "danger",
            "Programs with this key stop working immediately, for every company. This cannot be undone."
          ),
        row.revoked_at !== null &&
          part(linksLeft.title, "revoke", linksLeft.button, linksLeft.field, "danger", linksLeft.why)
      ),
      factPanel("Details", [
        ["Id", row.id],
        ["Scopes", scopesOf(row)],
        day === null ? null : ["A day, for each company", `${sats(day)} sats`],
        row.allowed_from === null ? null : ["Addresses", row.allowed_from.ranges.join(", ")],
        ["Created", date(say, row.created_at)],
        row.expires_at === null ? null : ["Expires", date(say, row.expires_at)],
        row.revoked_at === null ? null : ["Revoked", date(say, row.revoked_at)]
      ])
    )
  }
}

const change = async (visit: OperatorVisit): Promise<Elsewhere> => {
  const params = { id: visit.id }
  if (text(visit, "do") === "approve")
    await visit.api.call("POST /operator/platform-keys/{id}/approve", { params })
  else await visit.api.call("DELETE /operator/platform-keys/{id}", { params, query: linksIn(visit) })
  return { redirect: path }
}

export const operatorPages: ReadonlyArray<Page<OperatorVisit>> = [
  { path, nav: path, get: list },
  { path: `${path}/new`, nav: path, get: issuePage, post: issue },
  { path: `${path}/:id`, nav: path, get: show, post: change }
]
