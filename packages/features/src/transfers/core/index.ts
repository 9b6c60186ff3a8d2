import * as Msat from "@satrail/bitcoin/Msat"
import * as Conversion from "@satrail/core/ledger/Conversion"
import * as Feature from "@satrail/core/ledger/Feature"
import { posts } from "@satrail/core/ledger/Posts"
import * as Traced from "@satrail/core/base/Traced"
import * as Transfer from "./Transfer.ts"
import * as Transfers from "./Transfers.ts"

/** Types of transfer events, in the order of the catalog. A published type is never removed. */
const types = ["transfer.sent", "transfer.received", "transfer.returned"] as const

const notice = <const T extends (typeof types)[number]>(type: T) => ({
  as: [type] as const,
  convert: Conversion.ofSubject(
    Transfer.noun,
    // As at the time of the event: nothing was returned yet.
    (record) => ({ kind: "transfer", type, record: { ...record, returned: Msat.zero } }) as const
  )
})

const posted = {
  amount: "amount",
  transfer: "ledgerTxId",
  atMillis: "createdAtMillis",
  isTimeInId: true,
  description: "description",
  metadata: "metadata",
  from: "transfers",
  type: "transfer",
  rail: "internal"
} as const

/** Money between companies of this service. */
export const transfers = Feature.make({
  name: "transfers",
  nouns: [Transfer.noun],
  changes: Feature.changes<Transfer.TransferSent | Transfer.TransferReturned>(),
  events: {
    "transfer.sent": "transfers",
    "transfer.received": "transfers",
    "transfer.returned": "transfers"
  },
  notices: {
    kind: "transfer",
    types,
    byEvent: {
      "transfer.sent": notice("transfer.sent"),
      "transfer.received": notice("transfer.received"),
      "transfer.returned": notice("transfer.returned")
    }
  },
  posts: [
    posts(Transfer.noun, { ...posted, debits: true, recipient: "recipientId" }),
    posts(Transfer.noun, { ...posted, of: "recipientId", recipient: "companyId" })
  ],
  keptSums: [
    Feature.keptSum(Transfer.noun, {
      fault: "returned",
      amount: "amount",
      by: "returnOf",
      ofCompany: "recipientId",
      of: Transfer.noun,
      as: "returned"
    })
  ],
  layer: Traced.over(Transfers.Transfers, Transfers.layer)
})
