import * as Id from "@satrail/core/base/Id"
import * as Voucher from "@satrail/features/vouchers/core/Voucher"
import { Effect } from "effect"
import * as Feature from "../Feature.ts"
import { fenceOf } from "../../journal/Fences.ts"
import { committed, past } from "../../Fixtures.ts"
import { subjectOf } from "../../Subject.ts"
import { voucher } from "./Fixtures.ts"
import * as Journal from "./Journal.ts"
import * as Reads from "./Reads.ts"
import * as Stopped from "./Stopped.ts"

export const vouchers = Feature.make({
  money: { ...Journal.money, ...Stopped.money },
  other: Reads.other,
  subjects: {
    vouchers: subjectOf(
      Voucher.noun,
      Effect.fnUntraced(function* (companyId) {
        const createdAtMillis = yield* past
        return Voucher.created(
          yield* voucher(companyId, 1, { createdAtMillis, expiresAtMillis: createdAtMillis + 1000 })
        )
      }),
      {
        claimed: Effect.fnUntraced(function* (row) {
          const to = {
            id: yield* Id.make,
            recipient: `lnbcrt1${yield* Id.make}`,
            network: "regtest"
          } as const
          return Voucher.claimed(row, to, row.createdAtMillis)
        }),
        expired: Effect.fnUntraced(function* (row) {
          return Voucher.expired(
            row,
            yield* fenceOf(Voucher.taskKind, row.id, row.expiresAtMillis),
            row.expiresAtMillis
          )
        }),
        canceled: (row) => Effect.succeed(Voucher.canceled(row, row.createdAtMillis + 1))
      }
    )
  },
  spends: [(companyId, sats) => Effect.map(voucher(companyId, sats), (row) => Voucher.created(row))],
  holds: {
    voucher_open: (companyId, sats, fields) =>
      Effect.map(voucher(companyId, sats, fields), (row) => Voucher.created(row))
  },
  everyState: Effect.fnUntraced(function* (companyId) {
    const [left, back, claimed] = [
      yield* voucher(companyId, 50),
      yield* voucher(companyId, 50),
      yield* voucher(companyId, 50)
    ]
    yield* committed(
      Voucher.created(left),
      Voucher.created(back),
      Voucher.created(claimed),
      Voucher.canceled(back, back.createdAtMillis)
    )
    yield* committed(
      Voucher.claimed(
        claimed,
        { id: yield* Id.make, recipient: "lnbcrt1…", network: "regtest" },
        claimed.createdAtMillis
      )
    )
  })
})
