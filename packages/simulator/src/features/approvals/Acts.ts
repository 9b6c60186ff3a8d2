import type { Customers } from "../../story/Customers.ts"
import { type Acts, latest, type Made } from "../../story/Made.ts"
import type { Outsiders } from "../../story/Outsiders.ts"

const waiting = "pending_approval"

/** Decisions by key holders. */
export const acts = (customers: Customers, _: Outsiders, made: Made): Acts<"Decide"> => ({
  Decide: ({ slot, which, by, how }) => {
    const one = latest(
      made.withdrawals.filter(({ status = waiting }) => status === waiting),
      which
    )
    const bearer =
      by === "asker"
        ? one?.bearer
        : customers.companies.find((company) => company.bearer === one?.bearer)?.another
    if (one !== undefined)
      customers.ask({ slot, method: "POST", path: `/v1/transactions/withdrawals/${one.id}/${how}`, bearer })
  }
})
