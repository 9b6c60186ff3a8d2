import * as Transaction from "@satrail/core/reports/Transaction"
import * as Transactions from "@satrail/http/resources/Transactions"
import { all } from "../features/core.ts"

/** The list of transactions, with the types that features post. */
export const { view, list } = Transactions.make(Transaction.types(all))
