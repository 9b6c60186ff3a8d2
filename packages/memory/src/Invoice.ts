import * as Invoice from "@satrail/core/receiving/Invoice"
import { HashMap } from "effect"
import { type Kind, own } from "./Program.ts"
import * as State from "./State.ts"

const forgotten: Kind<Invoice.InvoiceForgotten> = {
  before: (state, { id }) => (HashMap.has(State.of(state, Invoice.noun), id) ? undefined : "again"),
  move: (state, change) => {
    const invoice = own(state, Invoice.noun, change)
    const { id: invoiceId, status } = invoice
    const mayGo = status === "pending" || status === "expired"
    return mayGo
      ? State.remove(state, Invoice.noun, invoice)
      : new Invoice.InvoiceNotPayable({ invoiceId, status })
  }
}

export const kinds = { InvoiceForgotten: forgotten }
