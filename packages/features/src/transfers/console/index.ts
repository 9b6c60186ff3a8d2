import { found, operatorPages, transfers as pages } from "./Transfers.ts"
import type { Feature } from "@satrail/ui/console/Feature"

const accountId = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export const transfers: Feature = {
  name: "transfers",
  records: { company: "Transfer", finds: found, eventKind: "transfer" },
  pages,
  operatorPages,
  entry: { section: "", rank: 45, name: "transfers", path: "transfers", text: "Transfers", glyph: "send" },
  payments: {
    sends: {
      text: "the id of another account of this service",
      path: (destination) => (accountId.test(destination) ? "transfers/new" : undefined)
    }
  },
  ofCompany: { link: (id) => [`companies/${id}/transfers`, "Transfers"] }
}
