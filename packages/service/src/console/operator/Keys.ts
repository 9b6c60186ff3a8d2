import { h } from "preact"
import { linksBox, linksIn, linksLeft, nameField, secretPanel, shownOnce } from "@satrail/ui/console/Issued"
import { unlessRefused } from "@satrail/ui/console/Api"
import {
  type Elsewhere,
  type OperatorVisit,
  type Page,
  type Shown,
  numberIn,
  text
} from "@satrail/ui/console/Page"
import { Qr } from "@satrail/ui/checkout/Qr"
import {
  body,
  button,
  checks,
  choice,
  copied,
  date,
  entry,
  factPanel,
  facts,
  fields,
  formPanel,
  note,
  panel,
  sides,
  stack
} from "@satrail/ui/console/Parts"
import { harmless, scopesOf, badge } from "../pages/Keys.ts"
import type { ApiKey, LimitedApiKey, WalletConnection } from "@satrail/ui/console/wire"
import { companyCrumbs, confirming, type Part, partOf } from "@satrail/ui/console/operator/Common"
import { limitFields, limitsIn } from "./CompanyTerms.ts"

// Pages on which operators issue, limit, approve and revoke a company's keys.

const scopes = [
  ...harmless,
  ["send", "Send", "Send and refund"],
  ["approve", "Approve", "Approve what another key sends"],
  ["admin", "Admin", "Everything"]
] as const

const issuePage = async (visit: OperatorVisit): Promise<Shown> => {
  const { api, to, id, form: given } = visit
  const company = await api.call("GET /operator/companies/{id}", { params: { id } })
  const chosen = given.getAll("scopes")
  return {
    title: "Issue a key",
    crumbs: companyCrumbs(company),
    body: formPanel({ action: to(`companies/${id}/keys/new`), label: "Issue a key", once: visit.once }, [
      fields(
        nameField(visit, "Where it is used, such as till 3"),
        checks("Permissions", "checkbox", "scopes", scopes, chosen.length === 0 ? ["read"] : chosen),
        entry(visit, { label: "Expires on", name: "expires", type: "date", optional: true })
      ),
      confirming(visit, "Issue key", {
        why: "It is shown once. A key that sends or approves needs a second operator, unless the company is new."
      })
    ])
  }
}

const secret = (
  title: string,
  visit: OperatorVisit,
  companyId: string,
  words: string,
  key: string
): Shown => ({
  title,
  crumbs: [["Companies", "companies"]],
  body: secretPanel(title, words, key, visit.to(`companies/${companyId}`))
})

const issue = async (visit: OperatorVisit): Promise<Shown> => {
  const { id } = visit
  const [expires, chosen] = [text(visit, "expires"), visit.form.getAll("scopes")]
  const { key, name, approval } = await visit.api.call("POST /operator/companies/{id}/api-keys", {
    params: { id },
    once: text(visit, "once"),
    body: {
      name: text(visit, "name"),
      scopes: scopes.flatMap(([scope]) => (chosen.includes(scope) ? [scope] : [])),
      ...(expires !== "" && { expires_at: `${expires}T23:59:59.000Z` })
    }
  })
  return secret(
    `Key “${name}” issued`,
    visit,
    id,
    approval === "pending" ? `${shownOnce} It becomes valid when a second operator approves it.` : shownOnce,
    key
  )
}

const find = ({ api, id }: OperatorVisit) => api.call("GET /operator/api-keys/{id}", { params: { id } })

/** The app that uses the key over Nostr Wallet Connect, if there is one. */
const appOf = ({ api }: OperatorVisit, id: string): Promise<WalletConnection | undefined> =>
  unlessRefused(
    api.call("GET /operator/api-keys/{id}/wallet-connection", { params: { id } }),
    (status) => status === 404
  )

const fromWords = ({ allowed_from: allowed }: Pick<ApiKey, "allowed_from">): string =>
  allowed === null
    ? "anywhere"
    : `${allowed.ranges.join(", ")}${allowed.for === "sending" ? ", to send" : ""}`

const details = ({ say }: OperatorVisit, key: LimitedApiKey) =>
  factPanel("Details", [
    ["Id", copied(key.id, "key id")],
    ["Permissions", scopesOf(key)],
    ["Allowed from", fromWords(key)],
    ["Created", date(say, key.created_at)],
    ["Last used", date(say, key.last_used_at)],
    key.expires_at === null ? null : ["Expires", date(say, key.expires_at)],
    key.revoked_at === null ? null : ["Revoked", date(say, key.revoked_at)]
  ])

const addresses = (visit: OperatorVisit, { allowed_from: allowed }: LimitedApiKey) => [
  entry(visit, {
    label: "IP addresses and ranges",
    name: "ranges",
    hint: "Such as 203.0.113.0/24, separated by spaces. Leave empty to allow all",
    value: allowed?.ranges.join(" ")
  }),
  choice(
    "Applies to",
    "for",
    [
      ["everything", "Everything"],
      ["sending", "Sending"]
    ],
    visit.form.get("for") ?? allowed?.for ?? "everything"
  )
]

const appPanel = ({ say }: OperatorVisit, app: WalletConnection | undefined, part: Part) =>
  app === undefined
    ? part(
        "App",
        "connect",
        "Connect an app",
        h(
          "p",
          { class: "soft" },
          "An app that supports Nostr Wallet Connect can use the key within its limits."
        )
      )
    : panel(
        "App",
        {},
        body(
          facts([
            ["Public key", copied(app.app_key, "public key")],
            ["Relays", app.relays.join(", ")],
            ["Connected", date(say, app.created_at)]
          ]),
          h("p", { class: "soft" }, "To disconnect it, revoke the key.")
        )
      )

const overlap = (visit: OperatorVisit) =>
  entry(visit, {
    label: "Keep the old key valid for (hours)",
    name: "overlap",
    required: true,
    inputMode: "numeric",
    value: "24"
  })

const show = async (visit: OperatorVisit): Promise<Shown> => {
  const { api, say } = visit
  const key: LimitedApiKey = await find(visit)
  const [app, company] = await Promise.all([
    appOf(visit, key.id),
    api.call("GET /operator/companies/{id}", { params: { id: key.company_id } })
  ])
  const part = partOf(visit.to(`keys/${key.id}`))
  const isValid = key.revoked_at === null
  const isWaiting = isValid && key.approval === "pending"
  return {
    title: key.name === "" ? key.id : `Key “${key.name}”`,
    status: badge(key, say.nowMillis),
    crumbs: companyCrumbs(company),
    body: [
      isWaiting &&
        note(
          "",
          "An operator requested this key. It becomes valid when another operator approves it. To reject it, revoke it."
        ),
      sides(
        stack(
          isWaiting &&
            part(
              "Approve",
              "approve",
              `Approve ${key.name}`,
              h("p", { class: "soft" }, `It can: ${scopesOf(key)}.`),
              "main"
            ),
          isValid && part("Limits", "limits", "Save limits", limitFields(visit, key.limits), "main")
        ),
        stack(
          details(visit, key),
          !isValid &&
            part(linksLeft.title, "revoke", linksLeft.button, linksLeft.field, "danger", linksLeft.why),
          isValid && [
            part("Addresses", "addresses", "Save addresses", addresses(visit, key)),
            appPanel(visit, app, part),
            part("Replace", "rotate", "Replace key", overlap(visit), "", "Use 0 for a stolen key."),
            part(
              "Revoke",
              "revoke",
              `Revoke ${key.name}`,
              [
                h("p", { class: "soft" }, "Programs with this key stop working immediately."),
                linksBox(visit, "key")
              ],
              "danger"
            )
          ]
        )
      )
    ]
  }
}

const connected = async (visit: OperatorVisit, id: string): Promise<Shown> => {
  const { connection } = await visit.api.call("POST /operator/api-keys/{id}/connect", { params: { id } })
  return {
    title: "App connection",
    crumbs: [["Companies", "companies"]],
    body: panel(
      "App connection",
      {},
      body(
        h("p", null, "Scan it with the app, or paste it there. It won’t be shown again."),
        h(Qr, { text: connection, label: "QR code of the connection" }),
        h("pre", { class: "secret" }, connection)
      ),
      h("div", { class: "confirm" }, button(visit.to(`keys/${id}`), "Done", "main"))
    )
  }
}

const change = async (visit: OperatorVisit): Promise<Shown | Elsewhere> => {
  const { api, id } = visit
  const params = { id }
  const stay = { redirect: `keys/${id}` }
  switch (text(visit, "do")) {
    case "approve":
      await api.call("POST /operator/api-keys/{id}/approve", { params })
      return stay
    case "addresses": {
      const ranges = text(visit, "ranges")
        .split(/[\s,]+/)
        .filter((one) => one !== "")
      const kind = text(visit, "for") === "sending" ? ("sending" as const) : ("everything" as const)
      await api.call("PUT /operator/api-keys/{id}/allowed-from", {
        params,
        body: { allowed_from: ranges.length === 0 ? null : { for: kind, ranges } }
      })
      return stay
    }
    case "connect":
      return connected(visit, id)
    case "rotate": {
      const { key, name, company_id } = await api.call("POST /operator/api-keys/{id}/rotate", {
        params,
        body: { overlap_seconds: (numberIn(visit, "overlap") ?? 0) * 3600 }
      })
      return secret(`Key “${name}” replaced`, visit, company_id, shownOnce, key)
    }
    case "revoke": {
      const { company_id } = await find(visit)
      await api.call("DELETE /operator/api-keys/{id}", { params, query: linksIn(visit) })
      return { redirect: `companies/${company_id}` }
    }
    default:
      await api.call("PUT /operator/api-keys/{id}/limits", { params, body: limitsIn(visit) })
      return stay
  }
}

export const keys: ReadonlyArray<Page<OperatorVisit>> = [
  { path: "companies/:id/keys/new", nav: "companies", get: issuePage, post: issue },
  { path: "keys/:id", nav: "companies", get: show, post: change }
]
