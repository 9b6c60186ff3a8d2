import * as Msat from "@satrail/bitcoin/Msat"
import type { Customers } from "../../story/Customers.ts"
import { amountIn, text } from "../../story/Json.ts"
import { type Acts, latest, type Made } from "../../story/Made.ts"
import type { Outsiders } from "../../story/Outsiders.ts"
import { posting, sats } from "../../story/Requests.ts"
import type { World } from "../../world/World.ts"
import { path } from "./Plot.ts"

interface Created {
  readonly id: string
  readonly bearer: string
  readonly address: string
}

/** Requests by companies and payments by payers. */
export const acts = (
  customers: Customers,
  outsiders: Outsiders,
  made: Made,
  { sandbox }: World
): Acts<"CreateCheckout" | "PayCheckout" | "CancelCheckout"> => {
  const post = posting(customers)
  const created: Array<Created> = []

  const send = (address: string, amount: number): void => {
    if (amount <= 0) return
    const txId = outsiders.attempt(
      "pays a checkout on-chain",
      sandbox.send({ address, amount: Msat.fromSats(amount) })
    )
    if (txId !== undefined) made.transactions.push(txId)
  }

  return {
    CreateCheckout: (act) => {
      const amount = act.sats === null ? { amount: null } : sats(act.sats)
      post(
        act,
        path,
        { ...amount, description: "tea", expiry_seconds: act.expirySeconds },
        (data, bearer) => {
          created.push({ id: text(data, "id"), bearer, address: text(data, "address") })
          made.invoices.push(text(data, "payment_request"))
          made.chainAddresses.push(text(data, "address"))
        }
      )
    },
    PayCheckout: ({ slot, which, how }) => {
      const checkout = latest(created, which)
      if (checkout === undefined) return
      const { id, bearer, address } = checkout
      customers.ask({ slot, method: "GET", path: `${path}/${id}`, bearer }, (data) => {
        const asked = amountIn(data, "amount_sats") || 5000
        const missing = Math.max(asked - amountIn(data, "received_sats"), 0)
        if (how === "lightning" || how === "both") outsiders.pay(text(data, "payment_request"))
        if (how === "chain" || how === "both") send(address, missing)
        if (how === "part") send(address, Math.floor(missing / 2))
      })
    },
    CancelCheckout: ({ slot, which }) => {
      const checkout = latest(created, which)
      if (checkout === undefined) return
      customers.ask({ slot, method: "POST", path: `${path}/${checkout.id}/cancel`, bearer: checkout.bearer })
    }
  }
}
