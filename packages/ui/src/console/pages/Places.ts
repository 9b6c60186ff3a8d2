import type { Hit } from "../Api.ts"

/** The names of the parts that a search compares. */
export const places: Readonly<Record<Hit["by"], string>> = {
  order: "Order",
  reference: "Reference",
  text: "Description or metadata",
  id: "Id",
  hash: "Payment hash",
  transaction: "Transaction",
  recipient: "Address or invoice",
  link: "Link",
  email: "Email",
  value: "Fiat amount",
  amount: "Amount"
}
