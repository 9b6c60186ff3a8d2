import { h } from "preact"
import { linksBox, linksIn, linksLeft, nameField, secretPanel, shownOnce } from "@satrail/ui/console/Issued"
import { features } from "../../features/console.ts"
import * as Formats from "@satrail/ui/console/Format"
import { onePage } from "@satrail/ui/console/List"
import {
  confirmed,
  type Elsewhere,
  may,
  type Page,
  type Shown,
  text,
  type Visit
} from "@satrail/ui/console/Page"
import {
  body,
  button,
  checks,
  confirm,
  date,
  empty,
  entry,
  factPanel,
  facts,
  fields,
  formPanel,
  plain,
  status,
  type Badge
} from "@satrail/ui/console/Parts"
import { type Column, rowLink, table } from "@satrail/ui/console/Table"
import type { ApiKey } from "@satrail/ui/console/wire"
import { limitFacts } from "./Limits.ts"

const staleMillis = 90 * 86_400_000

export const badge = (
  { revoked_at, approval, expires_at, last_used_at, created_at }: ApiKey,
  nowMillis: number
): Badge => {
  if (revoked_at !== null) return { tone: "idle", text: "Revoked" }
  if (approval === "pending") return { tone: "warn", text: "Awaiting approval" }
  if (expires_at !== null && Date.parse(expires_at) <= nowMillis) return { tone: "idle", text: "Expired" }
  if (nowMillis - Date.parse(last_used_at ?? created_at) > staleMillis)
    return { tone: "warn", text: "Not used recently" }
  return { tone: "good", text: "Valid" }
}

export const scopesOf = ({ scopes, limits }: ApiKey): string => {
  const words = scopes.map((scope) => scope.charAt(0).toUpperCase() + scope.slice(1)).join(", ")
  return limits === null || limits.day_sats === null
    ? words
    : `${words}, up to ${Formats.sats(limits.day_sats)} a day`
}

const columns = (visit: Visit): ReadonlyArray<Column<ApiKey>> => {
  const { say, to } = visit
  return [
    {
      title: "Name",
      place: "c1",
      cell: ({ id, name }) => [
        rowLink(to(`keys/${id}`), name === "" ? id : name),
        " ",
        h("code", { class: "faint" }, id)
      ]
    },
    { title: "Permissions", place: "c3", cell: scopesOf },
    { title: "Status", place: "c4", cell: (key) => status(badge(key, say.nowMillis)) },
    {
      title: "Last used",
      place: "all",
      key: "Last used",
      cell: ({ last_used_at }) => date(say, last_used_at)
    },
    { title: "Created", place: "off", kind: "soft", cell: ({ created_at }) => date(say, created_at) },
    {
      title: "",
      place: "c2",
      kind: "r act",
      cell: ({ id, revoked_at, name }) =>
        revoked_at === null &&
        may(visit, "admin") &&
        h(
          "a",
          { class: "btn quiet danger", href: to(`keys/${id}/revoke`) },
          "Revoke…",
          h("span", { class: "visually-hidden" }, ` ${name}`)
        )
    }
  ]
}

const list = async (visit: Visit): Promise<Shown> => {
  const { rows, footer } = await onePage("keys", visit, (query) =>
    visit.api.page("GET /v1/api-keys", { query })
  )
  return {
    title: "API keys",
    lead: "Give keys to programs. A key created here can receive and read, but not send.",
    actions: may(visit, "admin") && button(visit.to("keys/new"), "New key", "main", "plus"),
    body: plain(
      "API keys",
      rows.length === 0
        ? empty("key", "No keys", "No program can use the API yet.")
        : table("API keys, newest first", {
            columns: columns(visit),
            groups: [{ rows }],
            kind: "mid",
            opens: true
          }),
      footer
    )
  }
}

/** The scopes of keys that a company can create itself. */
export const harmless = [
  ["receive", "Receive", "Create checkouts, invoices and addresses"] as const,
  ["read", "Read", "See payments and export"] as const,
  ...features.flatMap(({ keys }) => (keys?.scope === undefined ? [] : [keys.scope]))
]

const create = (visit: Visit): Shown => {
  const { to, once, user, form: given } = visit
  const chosen = given.getAll("scopes")
  return {
    title: "New API key",
    crumbs: [["API keys", "keys"]],
    body: formPanel({ action: to("keys/new"), label: "New key", once }, [
      fields(
        nameField(visit, "Where you use it, for example: till 3"),
        checks("Permissions", "checkbox", "scopes", harmless, chosen.length === 0 ? ["receive"] : chosen),
        entry(visit, {
          label: "Expires on",
          name: "expires",
          type: "date",
          optional: true,
          hint: "Without a date, it expires when your key does"
        })
      ),
      confirm("Create key", {
        isConfirmed: user.isConfirmed,
        why: "The key is shown once, on the next page. It cannot send."
      })
    ])
  }
}

const created = async (visit: Visit): Promise<Shown> => {
  await confirmed(visit)
  const expires = text(visit, "expires")
  const chosen = visit.form.getAll("scopes")
  const { key, name } = await visit.api.call("POST /v1/api-keys", {
    once: text(visit, "once"),
    body: {
      name: text(visit, "name"),
      scopes: harmless.flatMap(([scope]) => (chosen.includes(scope) ? [scope] : [])),
      ...(expires !== "" && { expires_at: `${expires}T23:59:59.000Z` })
    }
  })
  return {
    title: `Key “${name}” created`,
    crumbs: [["API keys", "keys"]],
    body: secretPanel("New key", shownOnce, key, visit.to("keys"))
  }
}

const show = async (visit: Visit): Promise<Shown> => {
  const { api, say, to, id } = visit
  const key = await api.call("GET /v1/api-keys/{id}", { params: { id } })
  const { allowed_from: allowed } = key
  return {
    title: key.name === "" ? key.id : key.name,
    status: badge(key, say.nowMillis),
    crumbs: [["API keys", "keys"]],
    actions:
      may(visit, "admin") &&
      button(to(`keys/${id}/revoke`), key.revoked_at === null ? "Revoke…" : "Cancel links…", "danger"),
    body: factPanel("Details", [
      ["Id", h("code", null, key.id)],
      ["Permissions", scopesOf(key)],
      [
        "Allowed from",
        allowed === null
          ? "anywhere"
          : `${allowed.ranges.join(", ")}${allowed.for === "sending" ? ", to send" : ""}`
      ],
      ...limitFacts(key),
      ["Created", date(say, key.created_at)],
      ["Last used", date(say, key.last_used_at)],
      key.expires_at === null ? null : ["Expires", date(say, key.expires_at)],
      key.revoked_at === null ? null : ["Revoked", date(say, key.revoked_at)]
    ])
  }
}

const revoke = async (visit: Visit): Promise<Shown> => {
  const { id } = visit
  const key = await visit.api.call("GET /v1/api-keys/{id}", { params: { id } })
  if (key.revoked_at !== null)
    return {
      title: `Cancel links of “${key.name}”`,
      crumbs: [["API keys", "keys"]],
      body: formPanel({ action: visit.to(`keys/${id}/revoke`), label: linksLeft.button }, [
        fields(linksLeft.field),
        confirm(linksLeft.button, {
          isConfirmed: visit.user.isConfirmed,
          kind: "danger",
          why: linksLeft.why
        })
      ])
    }
  return {
    title: `Revoke “${key.name}”`,
    crumbs: [["API keys", "keys"]],
    body: formPanel({ action: visit.to(`keys/${id}/revoke`), label: "Revoke" }, [
      body(
        h(
          "p",
          null,
          "Programs that use this key stop working immediately, and its sessions end. This cannot be undone."
        ),
        facts([
          ["Id", h("code", null, key.id)],
          ["Last used", date(visit.say, key.last_used_at)]
        ])
      ),
      fields(linksBox(visit, "key")),
      confirm(`Revoke ${key.name}`, { isConfirmed: visit.user.isConfirmed, kind: "danger" })
    ])
  }
}

const revoked = async (visit: Visit): Promise<Elsewhere> => {
  await confirmed(visit)
  const { id } = visit
  await visit.api.call("DELETE /v1/api-keys/{id}", { params: { id }, query: linksIn(visit) })
  return { redirect: "keys" }
}

export const keys: ReadonlyArray<Page> = [
  { path: "keys", nav: "keys", get: list },
  { path: "keys/new", nav: "keys", needs: "admin", get: create, post: created },
  { path: "keys/:id", nav: "keys", get: show },
  { path: "keys/:id/revoke", nav: "keys", needs: "admin", get: revoke, post: revoked }
]
