import { Schema } from "effect"
import * as CompanyId from "../base/CompanyId.ts"
import * as Metadata from "../base/Metadata.ts"
import type * as Change from "../ledger/Change.ts"
import * as Noun from "../ledger/Noun.ts"
import type { Written } from "../ledger/Written.ts"
import { RecipientType } from "./Destination.ts"

/** `archived` ones are kept and shown, and may be restored. */
export const Status = Schema.Literals(["active", "archived"])
export type Status = typeof Status.Type

/** A payee that a company pays again: a name for a destination that can be paid any number of times. */
export const Contact = Schema.Struct({
  id: Noun.Id,
  companyId: CompanyId.CompanyId,
  name: Schema.String,
  /** As it was understood: the same text for every way of writing it. */
  destination: Schema.String,
  recipientType: RecipientType,
  metadata: Metadata.Metadata,
  status: Status,
  /** Counts the moves: each Change says which one it follows, so that one of before does not move it again. */
  revision: Schema.Int,
  createdAtMillis: Schema.Int,
  updatedAtMillis: Schema.Int
})
export interface Contact extends Schema.Schema.Type<typeof Contact> {}

/** Another request moved the contact first. Read it again. */
export class ContactMoved extends Schema.TaggedError<ContactMoved>()("ContactMoved", { id: Schema.String }) {}

export const noun = Noun.make("contacts", Contact, {
  moving: ["status", "revision", "updatedAtMillis"],
  refused: (id) => new ContactMoved({ id })
})

/** Its life: archived and restored, any number of times. */
export const life = {
  archived: Noun.move(noun, "archived", {
    from: ["active"],
    expects: ["revision"],
    to: "archived",
    sets: ["revision"],
    stamps: ["updatedAtMillis"],
    again: { in: ["archived"], same: ["revision"] }
  }),
  restored: Noun.move(noun, "restored", {
    from: ["archived"],
    expects: ["revision"],
    to: "active",
    sets: ["revision"],
    stamps: ["updatedAtMillis"],
    again: { in: ["active"], same: ["revision"] }
  })
}

export interface ContactCreated extends Written<"ContactCreated", readonly [Noun.InsertOf<typeof noun>], "once"> {}
export interface ContactArchived extends Written<"ContactArchived", readonly [Noun.TransitionOf<typeof life.archived, Contact>]> {}
export interface ContactRestored extends Written<"ContactRestored", readonly [Noun.TransitionOf<typeof life.restored, Contact>]> {}

const parts = ({ id, companyId }: Contact, atMillis: number) => ({ id, companyId, atMillis, legs: [] })

export const created = (contact: Contact, once?: Change.Once): ContactCreated => ({
  _tag: "ContactCreated",
  ...parts(contact, contact.createdAtMillis),
  writes: [Noun.insert(noun, contact)],
  event: { type: "contact.created", subject: contact.id },
  ...(once && { once })
})

/** It is not offered any more, and stays as it is. */
export const archived = (contact: Contact, atMillis: number): ContactArchived => ({
  _tag: "ContactArchived",
  ...parts(contact, atMillis),
  writes: [Noun.step(life.archived, contact, { revision: contact.revision + 1 })],
  event: { type: "contact.archived", subject: contact.id }
})

/** It is offered again. */
export const restored = (contact: Contact, atMillis: number): ContactRestored => ({
  _tag: "ContactRestored",
  ...parts(contact, atMillis),
  writes: [Noun.step(life.restored, contact, { revision: contact.revision + 1 })],
  event: { type: "contact.restored", subject: contact.id }
})
