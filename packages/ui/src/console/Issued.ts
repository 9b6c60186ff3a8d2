import { type ComponentChildren, h } from "preact"
import type { AnyVisit } from "./Page.ts"
import { body, button, checks, copy, entry, panel } from "./Parts.ts"

// Parts of the pages that issue and revoke keys, tokens and invitations.

/** The name of a new key, token or person. */
export const nameField = (visit: Pick<AnyVisit, "form">, hint?: string) =>
  entry(visit, {
    label: "Name",
    name: "name",
    required: true,
    maxLength: 100,
    ...(hint !== undefined && { hint })
  })

export const inAudit = "As it appears in the audit log"

export const shownOnce = "Copy it now: it won’t be shown again."

/** A secret that is shown once, and a link to leave the page. */
export const secretPanel = (
  title: string,
  words: ComponentChildren,
  secret: string,
  href: string,
  note?: ComponentChildren
) =>
  panel(
    title,
    {},
    note,
    body(h("p", null, words, " ", copy(secret, title.toLowerCase())), h("pre", { class: "secret" }, secret)),
    h("div", { class: "confirm" }, button(href, "Done", "main"))
  )

/** A box in the form that revokes a key or removes a person, which also cancels its links. */
export const linksBox = ({ form }: Pick<AnyVisit, "form">, maker: "key" | "person") =>
  checks(
    `Vouchers and refund links of this ${maker}`,
    "checkbox",
    "links",
    [["void", "Cancel those still open", "They can no longer be claimed, and their funds are released"]],
    form.getAll("links")
  )

/** The form for a key that is revoked, or a person who is removed. It cancels the links that are left. */
export const linksLeft = {
  title: "Vouchers and refund links",
  button: "Cancel open links",
  field: h("input", { type: "hidden", name: "links", value: "void" }),
  why: "They can no longer be claimed, and their funds are released."
} as const

/** The query of a request from either form. */
export const linksIn = ({ form }: Pick<AnyVisit, "form">) =>
  form.get("links") === "void" ? { links: "void" as const } : {}
