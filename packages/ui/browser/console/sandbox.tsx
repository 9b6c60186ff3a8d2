import { call } from "./api.ts"
import { Act } from "./parts.tsx"
import { pretended } from "./session.ts"

export const isLightningPretended = () => pretended.value.includes("the Lightning network")

/** An outside wallet pays, where nothing has value. Without an amount in the invoice it pays this much. */
const freeSats = 1000
export const PayIt = ({ request, isFree }: { readonly request: string; readonly isFree: boolean }) => (
  <Act
    label="Pay it from the sandbox"
    act={async () => {
      await call("POST /sandbox/pay", { body: { payment_request: request, ...(isFree && { amount_sats: freeSats }) } })
      return "An outside wallet has paid"
    }}
  />
)
