import { h } from "preact"
import { inAudit, linksBox, linksIn, linksLeft, nameField } from "@satrail/ui/console/Issued"
import { cursorOf, pages } from "@satrail/ui/console/List"
import { type Elsewhere, type OperatorVisit, type Page, type Shown, text } from "@satrail/ui/console/Page"
import {
  button,
  choice,
  date,
  empty,
  factPanel,
  fields,
  formPanel,
  note,
  plain,
  sides,
  stack,
  status
} from "@satrail/ui/console/Parts"
import { invitationWords, isRole, lastUsed, linkPage, ownPasskeys, roles, roleText, badge } from "./People.ts"
import { type Column, paging, rowLink, table } from "@satrail/ui/console/Table"
import type { OperatorPerson } from "@satrail/ui/console/wire"
import {
  companyChoice,
  companyCrumbs,
  companyIn,
  confirming,
  guide,
  partOf
} from "@satrail/ui/console/operator/Common"

// Pages on which operators invite, approve, recover and remove their own people and companies' people.

/** Number of people on a page. At most 100 of all are not removed, and those that await approval are among the newest. */
export const mostPeople = 1000

const columns = ({ say, to, user }: OperatorVisit): ReadonlyArray<Column<OperatorPerson>> => [
  {
    title: "Name",
    place: "c1",
    cell: ({ id, name }) =>
      id === user.id
        ? [h("bdi", null, name), h("span", { class: "sub" }, "You")]
        : rowLink(to(`people/${id}`), name)
  },
  { title: "Role", place: "c2", cell: ({ role }) => roleText(role) },
  {
    title: "Passkeys",
    place: "off",
    kind: "soft",
    cell: ({ passkeys }) => passkeys.map(({ name }) => name).join(", ") || "none"
  },
  { title: "Last active", place: "off", kind: "soft", cell: (row) => date(say, lastUsed(row)) },
  { title: "Status", place: "c4", cell: (row) => status(badge(row, say.nowMillis)) }
]

/** The operator's people. A company's people are on the company's page. */
const list = async (visit: OperatorVisit): Promise<Shown> => {
  const { api, to } = visit
  const cursor = cursorOf(visit)
  const { data, next } = await api.page("GET /operator/people", { query: { limit: mostPeople, cursor } })
  const rows = data.filter((row) => row.status !== "removed")
  return {
    title: "People",
    lead: "Operators sign in with their own passkey, and the audit log names them. A company’s people are on its page.",
    actions: button(to("people/new"), "Invite", "main", "plus"),
    body: [
      plain(
        "Operators",
        rows.length === 0
          ? cursor === undefined && next === undefined
            ? empty("people", "No people yet", "Invite each operator, so that no one shares a token.")
            : empty("people", "No people on this page", "The people on it were removed.")
          : table("Operators", { columns: columns(visit), groups: [{ rows }], kind: "mid", opens: true }),
        (cursor !== undefined || next !== undefined) && paging(rows.length, "", pages("people", visit, next))
      ),
      ownPasskeys(visit)
    ]
  }
}

const invitePage = async (visit: OperatorVisit): Promise<Shown> => {
  const { to, form: given, query } = visit
  return {
    title: "Invite a person",
    crumbs: [["People", "people"]],
    body: formPanel({ action: to("people/new"), label: "Invite", once: visit.once }, [
      fields(
        nameField(visit, inAudit),
        await companyChoice(visit, "Works for", query.get("company") ?? "", "The operator"),
        choice(
          "Role",
          "role",
          roles.map(([role, name]) => [role, name]),
          given.get("role") ?? (query.has("company") ? "admin" : "viewer")
        ),
        h(
          "p",
          { class: "hint" },
          h("a", { href: guide(visit, "console#people") }, "Guide: what each role can do")
        )
      ),
      confirming(visit, "Create invitation", {
        why: invitationWords
      })
    ])
  }
}

const invitedPage = (
  visit: OperatorVisit,
  made: { readonly name: string; readonly link: string; readonly approval: string | null }
): Shown =>
  linkPage(
    visit,
    made,
    made.approval === "pending" &&
      h(
        "div",
        { class: "note flat" },
        h("p", null, "It becomes valid when a second operator approves the invitation.")
      )
  )

const invite = async (visit: OperatorVisit): Promise<Shown> => {
  const [role, company] = [text(visit, "role"), companyIn(visit)]
  const made = await visit.api.call("POST /operator/people", {
    once: text(visit, "once"),
    body: {
      name: text(visit, "name"),
      role: isRole(role) ? role : "viewer",
      ...(company !== undefined && { company_id: company })
    }
  })
  return invitedPage(visit, made)
}

const show = async (visit: OperatorVisit): Promise<Shown> => {
  const { say, to } = visit
  const row = await visit.person(visit.id)
  const company =
    row.company_id === null ? undefined : (await visit.companies([row.company_id])).get(row.company_id)
  const part = partOf(to(`people/${row.id}`))
  return {
    title: row.name,
    status: badge(row, say.nowMillis),
    crumbs: company === undefined ? [["People", "people"]] : companyCrumbs(company),
    body: [
      row.approval === "pending" &&
        note(
          "",
          `${row.requested_by ?? "An operator"} invited this person. The link becomes valid when another operator approves it.`
        ),
      sides(
        stack(
          row.approval === "pending" &&
            part(
              "Approve",
              "approve",
              `Approve ${row.name}`,
              null,
              "main",
              `The role is ${roleText(row.role)}.`
            ),
          row.status === "removed" &&
            part(linksLeft.title, "remove", linksLeft.button, linksLeft.field, "danger", linksLeft.why),
          row.status !== "removed" && [
            part(
              "Lost or stolen passkey",
              "recover",
              "Revoke passkeys and create a link",
              null,
              "danger",
              "The person is signed out everywhere, and adds a new passkey with the link."
            ),
            part(
              "Remove",
              "remove",
              `Remove ${row.name}`,
              linksBox(visit, "person"),
              "danger",
              "The person loses access immediately. This cannot be undone."
            )
          ]
        ),
        factPanel("Details", [
          [
            "Of",
            company === undefined ? "Operator" : h("a", { href: to(`companies/${company.id}`) }, company.name)
          ],
          ["Role", roleText(row.role)],
          ["Passkeys", row.passkeys.map(({ name }) => name).join(", ") || "none"],
          ["Last active", date(say, lastUsed(row))],
          row.invited_until === null ? null : ["Invited until", date(say, row.invited_until)],
          row.requested_by === null ? null : ["Invited by", row.requested_by]
        ])
      )
    ]
  }
}

const change = async (visit: OperatorVisit): Promise<Shown | Elsewhere> => {
  const params = { id: visit.id }
  switch (text(visit, "do")) {
    case "approve":
      await visit.api.call("POST /operator/people/{id}/approve", { params })
      break
    case "recover":
      return invitedPage(visit, await visit.api.call("POST /operator/people/{id}/recover", { params }))
    default:
      await visit.api.call("DELETE /operator/people/{id}", { params, query: linksIn(visit) })
  }
  return { redirect: "people" }
}

export const people: ReadonlyArray<Page<OperatorVisit>> = [
  { path: "people", nav: "people", get: list },
  { path: "people/new", nav: "people", get: invitePage, post: invite },
  { path: "people/:id", nav: "people", get: show, post: change }
]
