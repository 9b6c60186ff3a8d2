import * as Msat from "@satrail/bitcoin/Msat"
import { Schema } from "effect"
import * as CompanyId from "../base/CompanyId.ts"
import * as Metadata from "../base/Metadata.ts"
import type * as Change from "../ledger/Change.ts"
import * as Noun from "../ledger/Noun.ts"
import type { Written } from "../ledger/Written.ts"

/** The longest message that a payer's wallet shows after a payment (LUD-09). */
export const maxSuccessMessageCharacters = 144

/** What its owner decides about an address, and may change. null: as the service has it. */
export const Settings = Schema.Struct({
  /** The least and the most that one payment may be. */
  minSendable: Schema.NullOr(Msat.Msat),
  maxSendable: Schema.NullOr(Msat.Msat),
  /** What a payer's wallet shows once it has paid. */
  successMessage: Schema.NullOr(Schema.String),
  metadata: Metadata.Metadata
})
export interface Settings extends Schema.Schema.Type<typeof Settings> {}

/** A Lightning address (LUD-16) that we issued: `handle@domain`. */
export const LightningAddress = Schema.Struct({
  id: Noun.Id,
  companyId: CompanyId.CompanyId,
  handle: Schema.String,
  domain: Schema.String,
  ...Settings.fields,
  createdAtMillis: Schema.Int,
  updatedAtMillis: Schema.Int,
  lastUsedAtMillis: Schema.NullOr(Schema.Int),
  deletedAtMillis: Schema.NullOr(Schema.Int)
})
export interface LightningAddress extends Schema.Schema.Type<typeof LightningAddress> {}

/** This address is taken, or was. */
export class HandleTaken extends Schema.TaggedError<HandleTaken>()("HandleTaken", {
  handle: Schema.String,
  domain: Schema.String
}) {}

/** The address was deleted. It stays so, and belongs to no company any more. */
export class LightningAddressGone extends Schema.TaggedError<LightningAddressGone>()("LightningAddressGone", { id: Schema.String }) {}

export const noun = Noun.make("lightning_addresses", LightningAddress, {
  moving: ["minSendable", "maxSendable", "successMessage", "metadata", "updatedAtMillis", "lastUsedAtMillis", "deletedAtMillis"],
  unique: [["handle", "domain"]],
  taken: ({ handle, domain }) => new HandleTaken({ handle, domain }),
  refused: (id) => new LightningAddressGone({ id })
})

/** Its life: it changes until it is deleted. */
export const life = {
  changed: Noun.move(noun, "changed", {
    empty: ["deletedAtMillis"],
    sets: ["minSendable", "maxSendable", "successMessage", "metadata"],
    stamps: ["updatedAtMillis"],
    again: { same: ["minSendable", "maxSendable", "successMessage", "metadata"] }
  }),
  deleted: Noun.move(noun, "deleted", { empty: ["deletedAtMillis"], stamps: ["deletedAtMillis", "updatedAtMillis"], again: "otherwise" })
}

export interface LightningAddressCreated extends Written<"LightningAddressCreated", readonly [Noun.InsertOf<typeof noun>], "once"> {}
/** Applies until the address is deleted. */
export interface LightningAddressChanged extends Written<"LightningAddressChanged", readonly [Noun.TransitionOf<typeof life.changed>]> {}
export interface LightningAddressDeleted extends Written<"LightningAddressDeleted", readonly [Noun.TransitionOf<typeof life.deleted>]> {}

/** The address as a payer types it. */
export const text = ({ handle, domain }: Pick<LightningAddress, "handle" | "domain">): string => `${handle}@${domain}`

/** The address is this company's from here on, for ever. */
export const created = (lightningAddress: LightningAddress, once?: Change.Once): LightningAddressCreated => ({
  _tag: "LightningAddressCreated",
  id: lightningAddress.id,
  companyId: lightningAddress.companyId,
  atMillis: lightningAddress.createdAtMillis,
  legs: [],
  writes: [Noun.insert(noun, lightningAddress)],
  event: { type: "lightning_address.created", subject: lightningAddress.id },
  ...(once && { once })
})

type Own = Pick<LightningAddress, "id" | "companyId">

/** From here on the address is as `settings` say, all of them. */
export const changed = ({ id, companyId }: Own, settings: Settings, atMillis: number): LightningAddressChanged => ({
  _tag: "LightningAddressChanged",
  id,
  companyId,
  atMillis,
  legs: [],
  writes: [Noun.step(life.changed, { id, companyId }, settings)],
  event: { type: "lightning_address.changed", subject: id }
})

/** No payment is accepted there from here on, and the address is never given out again: a printed one cannot be taken over. */
export const deleted = ({ id, companyId }: Own, atMillis: number): LightningAddressDeleted => ({
  _tag: "LightningAddressDeleted",
  id,
  companyId,
  atMillis,
  legs: [],
  writes: [Noun.step(life.deleted, { id, companyId }, {})],
  event: { type: "lightning_address.deleted", subject: id }
})
