import * as Id from "@satrail/core/base/Id"
import * as WalletConnection from "@satrail/features/wallet-connect/core/WalletConnection"
import { Effect } from "effect"
import { past } from "../../Fixtures.ts"
import { subjectOf } from "../../Subject.ts"
import * as Feature from "../Feature.ts"

export const walletConnect = Feature.make({
  money: {},
  other: {},
  subjects: {
    wallet_connections: subjectOf(
      WalletConnection.noun,
      Effect.fnUntraced(function* (companyId) {
        const [id, apiKeyId, appKey, createdAtMillis] = [
          yield* Id.make,
          yield* Id.make,
          yield* Id.make,
          yield* past
        ]
        return WalletConnection.connected({ id, companyId, apiKeyId, appKey, createdAtMillis })
      })
    )
  }
})
