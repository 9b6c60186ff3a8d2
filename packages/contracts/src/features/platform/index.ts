import { Entropy } from "@satrail/core/base/Entropy"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import * as PlatformKey from "@satrail/features/platform/core/PlatformKey"
import { Effect, Result } from "effect"
import { past } from "../../Fixtures.ts"
import { subjectOf } from "../../Subject.ts"
import * as Feature from "../Feature.ts"

const issue = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId) {
  const { secretHash } = PlatformKey.generate("regtest", yield* Entropy)
  return PlatformKey.issued({
    id: yield* Id.make,
    companyId,
    name: "a platform",
    secretHash,
    scopes: ["send"],
    limits: { daySats: 1000 },
    allowedFrom: null,
    createdAtMillis: yield* past,
    expiresAtMillis: null,
    revokedAtMillis: null,
    requestedById: "ada",
    requestedBy: "Ada",
    approvedBy: null,
    approvedAtMillis: null
  })
})

export const platform = Feature.make({
  subjects: {
    platform_keys: subjectOf(PlatformKey.noun, issue, {
      approved: (key) =>
        Effect.succeed(
          Result.getOrThrow(PlatformKey.approved(key, { id: "bob", name: "Bob" }, key.createdAtMillis + 1))
        ),
      revoked: (key) => Effect.succeed(PlatformKey.revoked(key, key.createdAtMillis + 1))
    })
  }
})
