import { Schema } from "effect"
import * as Change from "./Change.ts"
import * as Metadata from "./Metadata.ts"

/** A Lightning address (LUD-16) that we issued: `handle@domain`. */
export const LightningAddress = Schema.Struct({
  id: Schema.String,
  companyId: Schema.String,
  handle: Schema.String,
  domain: Schema.String,
  metadata: Metadata.Metadata,
  createdAtMillis: Schema.Int,
  updatedAtMillis: Schema.Int,
  lastUsedAtMillis: Schema.NullOr(Schema.Int),
  deletedAtMillis: Schema.NullOr(Schema.Int)
})
export interface LightningAddress extends Schema.Schema.Type<typeof LightningAddress> {}

/** Somebody has this address, or had it. */
export class HandleTaken extends Schema.TaggedError<HandleTaken>()("HandleTaken", {
  handle: Schema.String,
  domain: Schema.String
}) {}

export interface LightningAddressCreated extends Change.Parts<"LightningAddressCreated"> {
  readonly lightningAddress: LightningAddress
}

/** The address as a payer types it. */
export const text = ({ handle, domain }: Pick<LightningAddress, "handle" | "domain">): string => `${handle}@${domain}`

/** The address is this company's from here on, for ever. */
export const created = (lightningAddress: LightningAddress, once?: Change.Once): LightningAddressCreated => ({
  _tag: "LightningAddressCreated",
  id: lightningAddress.id,
  companyId: lightningAddress.companyId,
  atMillis: lightningAddress.createdAtMillis,
  legs: [],
  lightningAddress,
  event: { type: "lightning_address.created", subject: lightningAddress.id },
  ...Change.optional({ once })
})
