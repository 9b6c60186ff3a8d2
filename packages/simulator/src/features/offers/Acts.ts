import type { Customers } from "../../story/Customers.ts"
import { text } from "../../story/Json.ts"
import { type Acts, latest, type Made } from "../../story/Made.ts"
import type { Outsiders } from "../../story/Outsiders.ts"
import { posting } from "../../story/Requests.ts"
import { path } from "./Plot.ts"

/** Requests by companies, and payments by wallets. */
export const acts = (
  customers: Customers,
  outsiders: Outsiders,
  made: Made
): Acts<"CreateOffer" | "PayOffer"> => {
  const post = posting(customers)
  return {
    CreateOffer: (act) => post(act, path, {}, (data) => void made.offers.push(text(data, "offer"))),
    PayOffer: ({ which, sats }) => {
      const paymentRequest = latest(made.offers, which)
      if (paymentRequest !== undefined) outsiders.paySats("pays an offer", paymentRequest, sats)
    }
  }
}
