import * as Msat from "@satrail/bitcoin/Msat"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import { Entropy } from "@satrail/core/base/Entropy"
import * as Id from "@satrail/core/base/Id"
import * as Transfer from "@satrail/features/transfers/core/Transfer"
import { Clock, Effect } from "effect"

/** A transfer that is not committed yet. Its id contains its time. */
export const transfer = Effect.fnUntraced(function* (
  companyId: CompanyId.CompanyId,
  recipientId: CompanyId.CompanyId,
  sats: number,
  fields: Partial<Transfer.Transfer> = {}
): Effect.fn.Return<Transfer.Transfer> {
  const createdAtMillis = fields.createdAtMillis ?? (yield* Clock.currentTimeMillis)
  return {
    ...Transfer.of({
      id: Id.fromMillis(createdAtMillis, yield* Entropy),
      companyId,
      recipientId,
      ledgerTxId: yield* Id.make,
      amount: Msat.fromSats(sats),
      description: "half of order 7",
      metadata: { order: "7" },
      rate: "65000.5",
      rateAtMillis: createdAtMillis - 1,
      fiatCurrency: "eur",
      rateSource: "Kraken",
      createdAtMillis
    }),
    ...fields
  }
})

/** A return of a transfer, after `before` sats of it were returned. */
export const returnOf = (original: Transfer.Transfer, sats: number, before = 0) =>
  transfer(original.recipientId, original.companyId, sats, {
    returnOf: original.id,
    returnedBefore: Msat.fromSats(before)
  })
