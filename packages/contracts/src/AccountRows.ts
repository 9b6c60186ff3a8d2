import * as OperatorToken from "@satrail/core/accounts/OperatorToken"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import { Entropy } from "@satrail/core/base/Entropy"
import * as Id from "@satrail/core/base/Id"
import { Effect } from "effect"
import { past } from "./Fixtures.ts"

// Creates and revokes operator tokens.

export const { noun: tokens } = OperatorToken

export const issue = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId) {
  const { secretHash } = OperatorToken.generate(yield* Entropy)
  const [id, createdAtMillis] = [yield* Id.make, yield* past]
  return OperatorToken.issued({
    id,
    companyId,
    name: "on call",
    secretHash,
    scopes: ["read"],
    createdAtMillis,
    revokedAtMillis: null
  })
})
export const revoking = {
  revoked: (row: OperatorToken.OperatorToken) =>
    Effect.succeed(OperatorToken.revoked(row, row.createdAtMillis + 1))
}
