import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import { Entropy } from "@satrail/core/base/Entropy"
import * as Id from "@satrail/core/base/Id"
import { Journal } from "@satrail/core/ledger/Journal"
import * as Invoice from "@satrail/core/receiving/Invoice"
import { Clock, Effect } from "effect"
import type { start } from "./Service.ts"

/** Records a payment in suspense that the node reported for a company's invoice. Returns its id. */
export const suspended = (
  { run, sats }: Awaited<ReturnType<typeof start>>,
  companyId: CompanyId.CompanyId,
  received = 1000
): Promise<string> =>
  run(
    Effect.gen(function* () {
      const paymentHash = PaymentHash.make(Id.toHex((yield* Entropy)(32)))
      const [id, createdAtMillis, reason] = [
        Id.fromHash(paymentHash),
        yield* Clock.currentTimeMillis,
        "invoice settled by another payment"
      ]
      yield* (yield* Journal).commit(
        Invoice.unmatched({ id, companyId, paymentHash, received: sats(received), reason, createdAtMillis })
      )
      return id
    })
  )
