import { Layer } from "effect"
import * as Feature from "@satrail/core/ledger/Feature"
import * as InvoiceJobs from "@satrail/core/receiving/InvoiceJobs"
import * as Zap from "./Zap.ts"
import { defaults } from "./ZapOptions.ts"
import * as ZapRequests from "./ZapRequests.ts"

/**
 * Payments for which a Nostr user requests a public receipt (NIP-57). A host program with a Nostr key and
 * relays runs `Zaps.layerWorker`, which sends the receipts.
 */
export const zaps = Feature.make({
  name: "zaps",
  changes: Feature.changes<Zap.ZapReceipted>(),
  events: { "zap.receipted": "invoices" },
  limits: [
    ["size of a zap request, bytes", `${defaults.requestBytes}`],
    ["relays to which a zap receipt is sent", `${defaults.relays}`],
    [
      "concurrent zap receipts per process: total / per company / per Lightning address",
      `${defaults.slots.atOnce} / ${defaults.slots.perCompany} / ${defaults.slots.perLane}`
    ],
    ["time for which a zap receipt is retried, minutes", `${defaults.publishForMillis / 60_000}`]
  ],
  extensions: Layer.merge(InvoiceJobs.layer(Zap.jobs), ZapRequests.layer)
})
