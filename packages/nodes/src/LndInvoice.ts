import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as Preimage from "@satrail/bitcoin/Preimage"
import type { Ask, Held, InvoiceState, Settled as Told } from "@satrail/core/nodes/LightningReceiver"
import { Effect, Schema } from "effect"
import { hex, toBase64 } from "./LndBytes.ts"
import { get, type LndRest } from "./LndRest.ts"

/** Returns the request fields that ordinary and hold invoices share. To lnd, an amount of 0 means no amount. */
export const asked = ({ amount, description, expirySeconds }: Ask) => ({
  value_msat: String(amount ?? 0n),
  expiry: String(expirySeconds),
  private: true,
  ...(description._tag === "Text"
    ? { memo: description.text }
    : { description_hash: toBase64(description.sha256) })
})

/** The common fields of every invoice that lnd lists or reports. */
const members = {
  r_hash: hex(PaymentHash.PaymentHash),
  payment_request: Schema.String,
  amt_paid_msat: Msat.FromString,
  settle_date: Schema.NumberFromString,
  settle_index: Schema.BigIntFromString
}
const preimage = hex(Preimage.Preimage)
// lnd doesn't know a hold invoice's preimage until it is settled.
const unknownOrPreimage = Schema.Union([Schema.Literal(""), preimage])
const htlcs = Schema.Array(
  Schema.Struct({
    state: Schema.String,
    amt_msat: Msat.FromString,
    accept_height: Schema.Int,
    expiry_height: Schema.Int
  })
)

const Settled = Schema.Struct({ ...members, r_preimage: preimage, htlcs, state: Schema.Literal("SETTLED") })
const Accepted = Schema.Struct({
  ...members,
  r_preimage: unknownOrPreimage,
  htlcs,
  state: Schema.Literal("ACCEPTED")
})
const Other = Schema.Struct({
  ...members,
  r_preimage: unknownOrPreimage,
  state: Schema.Literals(["OPEN", "CANCELED"])
})
export const Invoice = Schema.Union([Settled, Accepted, Other])
export type Invoice = typeof Invoice.Type
export type Settled = typeof Settled.Type

/**
 * An AMP invoice, which is never ours: the node's operator created it, or a payer without an invoice
 * (`accept-amp`). lnd reports each of its payments with settle index 0, and the payer's invoice without a hash.
 */
const Amp = Schema.Struct({ is_amp: Schema.Literal(true) })

/** Any invoice of the node, whatever its origin. */
export const Listed = Schema.Union([Amp, Invoice])
export type Listed = typeof Listed.Type

export const isSettled = (invoice: Listed): invoice is Settled =>
  "state" in invoice && invoice.state === "SETTLED"

/** A page of invoices, in creation order. */
export const Page = Schema.Struct({
  invoices: Schema.Array(Listed),
  first_index_offset: Schema.BigIntFromString,
  last_index_offset: Schema.BigIntFromString
})

/** Page sizes of a search from the newest invoice. The last settled one is usually on the first page. */
const searchSizes = { first: 100, next: 1000 }

/**
 * Returns whether lnd settled an invoice at this index or a later one. An lnd restored from a static channel
 * backup numbers settlements from 1 again, and reports none before it has passed the index that it is given.
 */
export const hasSettled = Effect.fnUntraced(function* (rest: LndRest, index: bigint) {
  for (let offset = 0n, size = searchSizes.first; ; size = searchSizes.next) {
    const urlParams = { reversed: "true", index_offset: String(offset), num_max_invoices: String(size) }
    const { invoices, first_index_offset } = yield* rest.ask(
      "listInvoices",
      get("/v1/invoices", { urlParams }),
      Page
    )
    if (invoices.some((one) => isSettled(one) && one.settle_index >= index)) return true
    if (invoices.length < size) return false
    offset = first_index_offset
  }
})

/** Returns whether an invoice that isn't settled is a hold invoice. */
export const isHold = ({ r_preimage }: Invoice): boolean => r_preimage === ""

/** Returns an invoice's held payment, given the chain's height. */
export const heldOf = ({ htlcs }: typeof Accepted.Type, height: number): { readonly held?: Held } => {
  const accepted = htlcs.filter(({ state }) => state === "ACCEPTED")
  if (accepted.length === 0) return {}
  const received = Msat.sum(...accepted.map(({ amt_msat }) => amt_msat))
  return {
    held: { received, blocksLeft: Math.min(...accepted.map(({ expiry_height }) => expiry_height)) - height }
  }
}

/**
 * Number of blocks before the expiry of an HTLC from which the payer may be faster on the chain than lnd. From then on,
 * lnd returns held payments by default (v0.21, `invoices.holdexpirydelta`).
 */
export const claimBlocks = 18

/**
 * Number of blocks that may be found while the parts of a payment arrive. Without a restart, lnd waits two minutes for
 * the last part. An HTLC lasts for at least 18 blocks, so 15 are left to claim a part, more than lnd needs.
 */
const arrivalBlocks = 3

/**
 * Returns the amount received for a settled invoice. After a restart, lnd adds the last part of a payment to the parts
 * that arrived before, even if their channel did not come back and the payer has taken them back on the chain since.
 */
export const receivedOf = ({ amt_paid_msat, htlcs }: Settled): Msat.Msat => {
  const settled = htlcs.filter(({ state }) => state === "SETTLED")
  const completedAt = Math.max(...settled.map(({ accept_height }) => accept_height))
  const earlier = settled.filter(({ accept_height }) => accept_height < completedAt - arrivalBlocks)
  const late = earlier.filter(({ expiry_height }) => expiry_height - completedAt <= claimBlocks)
  return Msat.make(amt_paid_msat - Msat.sum(...late.map(({ amt_msat }) => amt_msat)))
}

/** Returns an invoice's state. `height` is the chain's. */
export const stateOf = (invoice: Invoice, height: number): InvoiceState => {
  switch (invoice.state) {
    case "OPEN":
      return { _tag: "open" }
    case "ACCEPTED":
      return { _tag: "accepted", ...(isHold(invoice) && heldOf(invoice, height)) }
    case "CANCELED":
      return { _tag: "canceled" }
    case "SETTLED":
      return { _tag: "settled", received: receivedOf(invoice), preimage: invoice.r_preimage }
  }
}

/** Returns the settlement of an invoice. The cursor is lnd's settle index. */
export const settledOf = (invoice: typeof Settled.Type): Told => ({
  paymentHash: invoice.r_hash,
  received: receivedOf(invoice),
  preimage: invoice.r_preimage,
  settledAtMillis: invoice.settle_date * 1000,
  cursor: String(invoice.settle_index)
})
