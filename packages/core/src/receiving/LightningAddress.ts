import * as Msat from "@satrail/bitcoin/Msat"
import { Schema } from "effect"
import * as CompanyId from "../base/CompanyId.ts"
import * as Metadata from "../base/Metadata.ts"
import type * as Change from "../ledger/Change.ts"
import * as Noun from "../ledger/Noun.ts"
import { type Written, written } from "../ledger/Written.ts"
import * as Purpose from "./Purpose.ts"

/** Maximum length of the message shown by a payer's wallet after a payment (LUD-09). */
export const maxSuccessMessageCharacters = 144

/** Settings that an address's owner may change. Null means the service's default. */
export const Settings = Schema.Struct({
  /** Minimum and maximum of one payment, in msat. */
  minSendable: Schema.NullOr(Msat.Msat),
  maxSendable: Schema.NullOr(Msat.Msat),
  /** Message shown by the payer's wallet after the payment. */
  successMessage: Schema.NullOr(Schema.String),
  /** Companies that get a share of each payment, as of when it is paid. */
  splits: Purpose.members.splits,
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

/** The address is already in use, or was in the past. */
export class HandleTaken extends Schema.TaggedError<HandleTaken>()("HandleTaken", {
  handle: Schema.String,
  domain: Schema.String
}) {}

/** The address was deleted, which is final, or a change found other settings than it had read. */
export class LightningAddressGone extends Schema.TaggedError<LightningAddressGone>()("LightningAddressGone", {
  id: Schema.String
}) {}

export const noun = Noun.make("lightning_addresses", LightningAddress, {
  moving: [
    "minSendable",
    "maxSendable",
    "successMessage",
    "splits",
    "metadata",
    "updatedAtMillis",
    "lastUsedAtMillis",
    "deletedAtMillis"
  ],
  unique: [["handle", "domain"]],
  taken: ({ handle, domain }) => new HandleTaken({ handle, domain }),
  refused: (id) => new LightningAddressGone({ id })
})

const settings = ["minSendable", "maxSendable", "successMessage", "splits", "metadata"] as const

/** Transitions of an address, which may change until it is deleted. */
export const life = {
  // Applies only to the settings that were read, so that it does not undo a concurrent change of other settings.
  changed: Noun.move(noun, "changed", {
    empty: ["deletedAtMillis"],
    expects: settings,
    sets: settings,
    stamps: ["updatedAtMillis"],
    again: { same: settings }
  }),
  deleted: Noun.move(noun, "deleted", {
    empty: ["deletedAtMillis"],
    stamps: ["deletedAtMillis", "updatedAtMillis"],
    again: "otherwise"
  })
}

type Own = Pick<LightningAddress, "id" | "companyId">

export interface LightningAddressCreated extends Written<
  "LightningAddressCreated",
  readonly [Noun.InsertOf<typeof noun>],
  "once"
> {}
/** Applies until the address is deleted, to the settings that were read. */
export interface LightningAddressChanged extends Written<
  "LightningAddressChanged",
  readonly [Noun.TransitionOf<typeof life.changed, Own & Settings>]
> {}
export interface LightningAddressDeleted extends Written<
  "LightningAddressDeleted",
  readonly [Noun.TransitionOf<typeof life.deleted>]
> {}

/** Returns the address as a payer types it. */
export const text = ({ handle, domain }: Pick<LightningAddress, "handle" | "domain">): string =>
  `${handle}@${domain}`

/** Assigns the address permanently to this company. */
export const created = (lightningAddress: LightningAddress, once?: Change.Once): LightningAddressCreated =>
  written(
    "LightningAddressCreated",
    lightningAddress.createdAtMillis,
    [Noun.insert(noun, lightningAddress)],
    {
      event: { type: "lightning_address.created", subject: lightningAddress.id },
      ...(once && { once })
    }
  )

/** Replaces all settings of the address. */
export const changed = (
  found: Own & Settings,
  settings: Settings,
  atMillis: number
): LightningAddressChanged =>
  written("LightningAddressChanged", atMillis, [Noun.step(life.changed, found, settings)], {
    event: { type: "lightning_address.changed", subject: found.id }
  })

/**
 * Deletes the address. It accepts no further payments and is never reassigned, so that nobody can take over a
 * printed address.
 */
export const deleted = ({ id, companyId }: Own, atMillis: number): LightningAddressDeleted =>
  written("LightningAddressDeleted", atMillis, [Noun.step(life.deleted, { id, companyId }, {})], {
    event: { type: "lightning_address.deleted", subject: id }
  })
