import { type ComponentChildren, h } from "preact"
import { inAudit, linksBox, linksIn, linksLeft, nameField, secretPanel } from "@satrail/ui/console/Issued"
import { Refused } from "@satrail/ui/console/Api"
import {
  type AnyVisit,
  confirmed,
  type Elsewhere,
  may,
  type Page,
  type Shown,
  text,
  type Visit
} from "@satrail/ui/console/Page"
import {
  button,
  checks,
  confirm,
  date,
  empty,
  factPanel,
  field,
  fields,
  form,
  formPanel,
  hidden,
  panel,
  plain,
  soft,
  status,
  sub,
  type Badge
} from "@satrail/ui/console/Parts"
import { onePage } from "@satrail/ui/console/List"
import { rowLink, table } from "@satrail/ui/console/Table"
import type { Person } from "@satrail/ui/console/wire"

export const roles = [
  ["viewer", "Viewer", "Views and exports payments"],
  ["bookkeeper", "Bookkeeper", "Also creates checkouts, invoices and addresses"],
  ["operator", "Operator", "Also sends, refunds and approves, and manages webhooks"],
  ["admin", "Admin", "Can do everything, including managing people"]
] as const
type Role = (typeof roles)[number][0]
export const isRole = (role: string): role is Role => roles.some(([one]) => one === role)
export const roleText = (role: string): string => roles.find(([one]) => one === role)?.[1] ?? role

/** The permissions of each role, in the order of `abilities`. */
const abilities = ["See", "Receive", "Send and refund", "Approve", "Manage"] as const
const able: { readonly [role in Role]: number } = { viewer: 1, bookkeeper: 2, operator: 4, admin: 5 }

export const badge = ({ status, approval, invited_until }: Person, nowMillis: number): Badge => {
  if (status === "removed") return { tone: "idle", text: "Removed" }
  if (status === "active") return { tone: "good", text: "Active" }
  if (approval === "pending") return { tone: "warn", text: "Awaiting a second operator" }
  return invited_until !== null && Date.parse(invited_until) > nowMillis
    ? { tone: "wait", text: "Invited" }
    : { tone: "idle", text: "Invitation expired" }
}

export const lastUsed = ({ passkeys }: Person): string | null =>
  passkeys
    .flatMap(({ last_used_at }) => (last_used_at === null ? [] : [last_used_at]))
    .toSorted()
    .at(-1) ?? null

const rolePanel = () =>
  panel(
    "What each role can do",
    { isRuled: true },
    h(
      "div",
      { class: "scroll", tabIndex: 0, role: "group", "aria-label": "Roles" },
      h(
        "table",
        { "aria-label": "Roles" },
        h(
          "thead",
          null,
          h(
            "tr",
            null,
            h("th", { scope: "col" }, "Role"),
            abilities.map((one) => h("th", { key: one, scope: "col" }, one))
          )
        ),
        h(
          "tbody",
          null,
          roles.map(([role, name]) =>
            h(
              "tr",
              { key: role },
              h("th", { scope: "row" }, name),
              abilities.map((one, n) =>
                h(
                  "td",
                  { key: one },
                  n < able[role]
                    ? ["✓", hidden("yes")]
                    : [h("span", { "aria-hidden": true }, "–"), hidden("no")]
                )
              )
            )
          )
        )
      )
    )
  )

const deviceField = field({
  label: "Name of this device",
  name: "device",
  required: true,
  maxLength: 40,
  hint: "For example, laptop",
  value: ""
})

/** Passkeys of the signed-in person. Passkeys require a script. */
export const ownPasskeys = ({ user: { passkeys } }: Pick<AnyVisit, "user">) =>
  passkeys === null
    ? null
    : panel(
        "Your passkeys",
        {},
        h("form", { class: "body fields" }, [
          h(
            "ul",
            null,
            passkeys.map(({ id, name }) =>
              h(
                "li",
                { key: id },
                name,
                " ",
                passkeys.length > 1 &&
                  h(
                    "button",
                    {
                      class: "btn quiet danger live",
                      type: "button",
                      "data-passkey": "revoke",
                      value: id,
                      formNoValidate: true
                    },
                    "Revoke",
                    hidden(` ${name}`)
                  )
              )
            )
          ),
          soft(
            passkeys.length > 1
              ? "Revoking a passkey signs you out everywhere."
              : "This is your only passkey. Add another one before you revoke it."
          )
        ]),
        h(
          "form",
          { class: "body fields live" },
          deviceField,
          h("button", { class: "btn", type: "button", "data-passkey": "add" }, "Add a passkey")
        )
      )

const list = async (visit: Visit): Promise<Shown> => {
  const { api, say, to, user } = visit
  const { rows, footer } = await onePage("people", visit, (query) => api.page("GET /v1/people", { query }))
  return {
    title: "People",
    lead: "Each person signs in with their own passkey, and the audit log names them.",
    actions: may(visit, "admin") && button(to("people/new"), "Invite", "main", "plus"),
    body: [
      plain(
        "People",
        rows.length === 0
          ? empty("people", "No people yet", "Invite each person, so that people don’t share keys.")
          : table("People, newest first", {
              columns: [
                {
                  title: "Name",
                  place: "c1",
                  cell: ({ id, name }) => [
                    may(visit, "admin") && id !== user.id
                      ? rowLink(to(`people/${id}`), name)
                      : h("bdi", null, name),
                    id === user.id && sub("You")
                  ]
                },
                { title: "Role", place: "c2", cell: ({ role }) => roleText(role) },
                {
                  title: "Passkeys",
                  place: "all",
                  kind: "soft",
                  key: "Passkeys",
                  cell: ({ passkeys }) => passkeys.map(({ name }) => name).join(", ") || "none"
                },
                { title: "Last active", place: "off", kind: "soft", cell: (row) => date(say, lastUsed(row)) },
                { title: "Status", place: "c3", cell: (row) => status(badge(row, say.nowMillis)) }
              ],
              groups: [{ rows }],
              kind: "mid",
              opens: may(visit, "admin")
            }),
        footer
      ),
      ownPasskeys(visit),
      rolePanel()
    ]
  }
}

export const invitationWords =
  "You get a link to send to the person. It can be used once and expires after three days."

/** The roles that can be chosen. A key can invite only people who cannot send, and the others say why not. */
const roleChoice = ({ user }: Visit, chosen: string) => {
  const isKey = user.passkeys === null
  return checks(
    "Role",
    "radio",
    "role",
    isKey ? roles.slice(0, 2) : roles,
    [chosen],
    isKey
      ? roles.slice(2).map((option) => ({
          option,
          why: "You are signed in with a key, which can’t give this role. An administrator who signs in with a passkey can; if there is none yet, ask the operator to invite one."
        }))
      : []
  )
}

const invite = (visit: Visit): Shown => {
  const { to, once, user, form: given } = visit
  return {
    title: "Invite a person",
    crumbs: [["People", "people"]],
    body: formPanel({ action: to("people/new"), label: "Invite", once }, [
      fields(nameField(visit, inAudit), roleChoice(visit, given.get("role") ?? "viewer")),
      confirm("Create invitation", {
        isConfirmed: user.isConfirmed,
        why: `${invitationWords} You and the people you invite can’t approve each other’s payments.`
      })
    ])
  }
}

export const linkPage = (
  { to }: AnyVisit,
  { name, link }: { readonly name: string; readonly link: string },
  note?: ComponentChildren
): Shown => ({
  title: `Invitation for ${name}`,
  crumbs: [["People", "people"]],
  body: secretPanel(
    "Link",
    "Send this to the person over a channel that only they can read. It won’t be shown again, and anyone who has it can use it once.",
    link,
    to("people"),
    note
  )
})

const invited = async (visit: Visit): Promise<Shown> => {
  await confirmed(visit)
  const role = text(visit, "role")
  const made = await visit.api.call("POST /v1/people", {
    once: text(visit, "once"),
    body: { name: text(visit, "name"), role: isRole(role) ? role : "viewer" }
  })
  return linkPage(visit, made)
}

/** Number of people that are read at a time to find one. At most 100 are not removed. */
const atOnce = 1000

export const find = async ({ api, id }: Pick<Visit, "api" | "id">): Promise<Person> => {
  let cursor: string | undefined
  do {
    const { data, next } = await api.page("GET /v1/people", { query: { limit: atOnce, cursor } })
    const found = data.find((row) => row.id === id)
    if (found !== undefined) return found
    cursor = next
  } while (cursor !== undefined)
  throw new Refused(404, "not_found", "No such person.")
}

const show = async (visit: Visit): Promise<Shown> => {
  const { say, to, user, form: given } = visit
  const row = await find(visit)
  const { isConfirmed } = user
  const at = to(`people/${row.id}`)
  const act = (
    title: string,
    what: string,
    button: string,
    more: ComponentChildren,
    why: string,
    kind = "main"
  ) =>
    form(
      at,
      { class: "form-side" },
      panel(
        title,
        {},
        h("input", { type: "hidden", name: "do", value: what }),
        more !== null && fields(more),
        confirm(button, { isConfirmed, why, kind, id: what })
      )
    )
  return {
    title: row.name,
    status: badge(row, say.nowMillis),
    crumbs: [["People", "people"]],
    body: [
      factPanel("Details", [
        ["Role", roleText(row.role)],
        ["Passkeys", row.passkeys.map(({ name }) => name).join(", ") || "none"],
        ["Last active", date(say, lastUsed(row))],
        row.invited_until === null ? null : ["Invited until", date(say, row.invited_until)]
      ]),
      row.status === "removed" &&
        act(linksLeft.title, "remove", linksLeft.button, linksLeft.field, linksLeft.why, "danger"),
      row.status !== "removed" && [
        act(
          "Change role",
          "role",
          "Change role",
          roleChoice(visit, given.get("role") ?? row.role),
          "Applies immediately."
        ),
        act(
          "Lost or stolen passkey",
          "recover",
          "Revoke passkeys and create a link",
          null,
          "The person is signed out everywhere, and adds a new passkey with the link. You and the person can then no longer approve each other’s payments.",
          "danger"
        ),
        act(
          "Remove",
          "remove",
          `Remove ${row.name}`,
          linksBox(visit, "person"),
          "The person loses access immediately. This cannot be undone.",
          "danger"
        )
      ]
    ]
  }
}

const changed = async (visit: Visit): Promise<Shown | Elsewhere> => {
  await confirmed(visit)
  const { id } = visit
  const [what, role] = [text(visit, "do"), text(visit, "role")]
  if (what === "recover") {
    const made = await visit.api.call("POST /v1/people/{id}/recover", { params: { id } })
    return linkPage(visit, made)
  }
  if (what === "remove")
    await visit.api.call("DELETE /v1/people/{id}", { params: { id }, query: linksIn(visit) })
  else if (isRole(role)) await visit.api.call("PUT /v1/people/{id}/role", { params: { id }, body: { role } })
  return { redirect: "people" }
}

export const people: ReadonlyArray<Page> = [
  { path: "people", nav: "people", get: list },
  { path: "people/new", nav: "people", needs: "admin", get: invite, post: invited },
  { path: "people/:id", nav: "people", needs: "admin", get: show, post: changed }
]
