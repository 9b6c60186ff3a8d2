import { Argument, Command, Flag } from "effect/cli"
import { action, call, json, listed } from "@satrail/http/commands/CommandParts"

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
  ({ feeSats, id, json, preimage }) =>
    call({ json }, "POST", `${of(id)}/settle`, { preimage, fee_sats: feeSats })
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
    id,
    tx: Flag.String("tx").pipe(Flag.withDescription("The transaction that paid the withdrawal; required")),
    others: Flag.String("with").pipe(
      Flag.withDescription("The ids of all other withdrawals that it pays, separated by commas"),
      Flag.map(listed),
      Flag.optional
    ),
    json
  },
  ({ id, json, others, tx }) => call({ json }, "POST", `${of(id)}/book`, { tx_id: tx, with: others })
).pipe(Command.withDescription("Book a transaction on the chain as an on-chain withdrawal, after a restore"))

export const reject = action(
  "reject",
  id,
  "POST",
  (withdrawal) => `${of(withdrawal)}/reject`,
  "Reject a withdrawal that awaits approval"
)
