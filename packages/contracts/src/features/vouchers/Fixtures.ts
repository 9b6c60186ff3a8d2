import * as Msat from "@satrail/bitcoin/Msat"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import * as SecretHash from "@satrail/core/base/SecretHash"
import * as Voucher from "@satrail/features/vouchers/core/Voucher"
import { Clock, Effect } from "effect"
import { hex } from "../../Fixtures.ts"

export const row = (fields: Partial<Voucher.Voucher> = {}): Voucher.Voucher => ({
  ...Voucher.open({
    id: "v",
    companyId: CompanyId.make("payer"),
    ledgerTxId: "t",
    amount: Msat.make(1000n),
    serviceFee: Msat.make(5n),
    networkAllowance: Msat.make(10n),
    description: "a gift",
    metadata: {},
    secretHash: SecretHash.make(""),
    createdAtMillis: 1,
    expiresAtMillis: 3_600_001
  }),
  ...fields
})

/** An open voucher without fees, so that it holds exactly its amount. */
export const voucher = Effect.fnUntraced(function* (
  companyId: CompanyId.CompanyId,
  sats: number,
  fields: Partial<Voucher.Voucher> = {}
): Effect.fn.Return<Voucher.Voucher> {
  const atMillis = fields.createdAtMillis ?? (yield* Clock.currentTimeMillis)
  return row({
    id: yield* Id.make,
    companyId,
    ledgerTxId: yield* Id.make,
    amount: Msat.fromSats(sats),
    serviceFee: Msat.zero,
    networkAllowance: Msat.zero,
    metadata: { table: "7" },
    rate: "65000.5",
    rateAtMillis: atMillis - 1,
    fiatCurrency: "eur",
    rateSource: "Kraken",
    secretHash: SecretHash.make(yield* hex(32)),
    createdAtMillis: atMillis,
    expiresAtMillis: atMillis + 3_600_000,
    updatedAtMillis: atMillis,
    ...fields
  })
})
