import { Argument, Command, Flag } from "effect/cli"
import { action, call, json } from "../client/CommandParts.ts"

const id = Argument.String("id").pipe(Argument.withDescription("The beginning of the withdrawal's id"))
const of = (withdrawal: string) => `/operator/withdrawals/${encodeURIComponent(withdrawal)}`

export const settle = Command.make(
  "settle",
  {
    id,
    preimage: Flag.String("preimage").pipe(Flag.withDescription("The payee's preimage, in hex; required")),
    feeSats: Flag.Finite("fee-sats").pipe(Flag.withDescription("The routing fee, or 0 if unknown; required")),
    json
  },
  ({ feeSats, id, json, preimage }) => call({ json }, "POST", `${of(id)}/settle`, { preimage, fee_sats: feeSats })
).pipe(Command.withDescription("Settle a lost withdrawal whose payee was paid"))

export const release = Command.make(
  "release",
  {
    id,
    spentBy: Flag.String("spent-by").pipe(
      Flag.withDescription("Another wallet's transaction that spent an on-chain withdrawal's coins"),
      Flag.optional
    ),
    json
  },
  ({ id, json, spentBy }) => call({ json }, "POST", `${of(id)}/release`, { spent_by: spentBy })
).pipe(Command.withDescription("Release a lost withdrawal whose payee was not paid"))

export const book = Command.make(
  "book",
  {
    transaction: Argument.String("transaction").pipe(Argument.withDescription("The id of the transaction that paid the withdrawals")),
    ids: Argument.String("id").pipe(Argument.withDescription("The id of each withdrawal that it pays"), Argument.variadic({ min: 1 })),
    json
  },
  ({ ids, json, transaction }) => call({ json }, "POST", "/operator/payouts", { tx_id: transaction, withdrawal_ids: ids })
).pipe(Command.withDescription("Book a transaction on the chain as the payout of on-chain withdrawals, after a restore"))

export const reject = action("reject", id, "POST", (withdrawal) => `${of(withdrawal)}/reject`, "Reject a withdrawal that awaits approval")
