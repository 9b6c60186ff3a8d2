import type { Network } from "@satrail/bitcoin/Network"
import { base58 } from "@scure/base"
import { Redacted, Result, Schema } from "effect"
import { AllowedFrom } from "@satrail/core/accounts/AllowedFrom"
import * as ApiKey from "@satrail/core/accounts/ApiKey"
import type { Company } from "@satrail/core/accounts/Company"
import { Limits } from "@satrail/core/accounts/Limits"
import { isSame, type Operator, SameOperator } from "@satrail/core/accounts/SecondOperator"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as SecretHash from "@satrail/core/base/SecretHash"
import type * as Change from "@satrail/core/ledger/Change"
import { NotFound } from "@satrail/core/ledger/Journal"
import * as Noun from "@satrail/core/ledger/Noun"
import { type Written, written } from "@satrail/core/ledger/Written"

/**
 * A key that acts for every account of the service, one per request. Only the SHA-256 of the key's text is stored. It
 * belongs to the operator.
 */
export const PlatformKey = Schema.Struct({
  id: Noun.Id,
  companyId: CompanyId.CompanyId,
  name: Schema.String,
  secretHash: SecretHash.SecretHash,
  scopes: Schema.Array(ApiKey.Scope),
  /** Sending limits. They count for each account separately: a total would be one row that every commit locks. */
  limits: Schema.NullOr(Limits),
  allowedFrom: Schema.NullOr(AllowedFrom),
  createdAtMillis: Schema.Int,
  expiresAtMillis: Schema.NullOr(Schema.Int),
  revokedAtMillis: Schema.NullOr(Schema.Int),
  /** The operator who requested a key that needs approval, as the id and name of their token. */
  requestedById: Schema.NullOr(Schema.String),
  requestedBy: Schema.NullOr(Schema.String),
  /** Name of the second operator. A requested key is not valid until this is set. */
  approvedBy: Schema.NullOr(Schema.String),
  approvedAtMillis: Schema.NullOr(Schema.Int)
})
export interface PlatformKey extends Schema.Schema.Type<typeof PlatformKey> {}

export const noun = Noun.make("platform_keys", PlatformKey, {
  moving: ["revokedAtMillis", "approvedBy", "approvedAtMillis"],
  recorded: [
    "companyId",
    "name",
    "secretHash",
    "scopes",
    "limits",
    "allowedFrom",
    "expiresAtMillis",
    "revokedAtMillis",
    "requestedById",
    "requestedBy",
    "approvedBy",
    "approvedAtMillis"
  ],
  unique: [["secretHash"]]
})

export const life = {
  approved: Noun.move(noun, "approved", {
    empty: ["approvedAtMillis", "revokedAtMillis"],
    sets: ["approvedBy"],
    stamps: ["approvedAtMillis"],
    again: "otherwise"
  }),
  revoked: Noun.move(noun, "revoked", {
    empty: ["revokedAtMillis"],
    stamps: ["revokedAtMillis"],
    again: "otherwise"
  })
}

export interface PlatformKeyIssued extends Written<
  "PlatformKeyIssued",
  readonly [Noun.InsertOf<typeof noun>],
  "once"
> {}
export interface PlatformKeyApproved extends Written<
  "PlatformKeyApproved",
  readonly [Noun.TransitionOf<typeof life.approved>]
> {}
export interface PlatformKeyRevoked extends Written<
  "PlatformKeyRevoked",
  readonly [Noun.TransitionOf<typeof life.revoked>]
> {}

/** Prefix of every platform key. API keys have another. */
export const prefix = "sp_"

/** Generates a key. Returns the key's text, and the hash to store. */
export const generate = (network: Network, entropy: (size: number) => Uint8Array) => {
  const text = `${prefix}${network}_${base58.encode(entropy(32))}`
  return { secretHash: SecretHash.of(text), text: Redacted.make(text, { label: "platform key" }) }
}

/** Returns whether a string has the shape of a key of this network. Text of any other shape is not looked up. */
export const isKey = (text: string, network: Network): boolean =>
  text.startsWith(`${prefix}${network}_`) &&
  /^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(text.slice(prefix.length + network.length + 1))

/** Returns whether the key still needs approval by a second operator. */
export const isWaiting = ({
  requestedById,
  approvedAtMillis
}: Pick<PlatformKey, "requestedById" | "approvedAtMillis">): boolean =>
  requestedById !== null && approvedAtMillis === null

/** Returns why the key is not valid at this time; undefined if it is valid. */
export const refusal = (key: PlatformKey, nowMillis: number): ApiKey.Unauthorized | undefined => {
  const { id, companyId, name } = key
  const reason =
    key.revokedAtMillis !== null
      ? "revoked"
      : key.expiresAtMillis !== null && key.expiresAtMillis <= nowMillis
        ? "expired"
        : isWaiting(key)
          ? "waiting"
          : undefined
  return reason && new ApiKey.Unauthorized({ reason, key: { id, companyId, name } })
}

/** Returns the key as it acts for a company: with the company's plan, limits and fees, and its own limits. */
export const holder = (
  { id, name, scopes, createdAtMillis, expiresAtMillis, limits, allowedFrom }: PlatformKey,
  company: Pick<Company, "id" | "plan" | "limits" | "fees" | "feesRevision">
): ApiKey.Holder => ({
  apiKey: {
    ...ApiKey.withoutSecret({ id, companyId: company.id, name, scopes, createdAtMillis }),
    expiresAtMillis,
    limits,
    allowedFrom
  },
  plan: company.plan,
  companyLimits: company.limits,
  fees: company.fees,
  feesRevision: company.feesRevision
})

/** Issues a key, which is valid immediately unless it needs approval. */
export const issued = (key: PlatformKey, once?: Change.Once): PlatformKeyIssued =>
  written("PlatformKeyIssued", key.createdAtMillis, [Noun.insert(noun, key)], once && { once })

/** Approves a key, which becomes valid. The operator who requested it cannot, nor can a revoked or expired key be approved. */
export const approved = (
  key: PlatformKey,
  by: Operator,
  atMillis: number
): Result.Result<PlatformKeyApproved, SameOperator | NotFound> => {
  const { id, requestedById, requestedBy } = key
  if (requestedById !== null && isSame(by, { id: requestedById, name: requestedBy ?? "" }))
    return Result.fail(new SameOperator({ id, name: by.name }))
  if (refusal(key, atMillis)?.reason !== "waiting")
    return Result.fail(new NotFound({ what: "platform key", id }))
  return Result.succeed(
    written("PlatformKeyApproved", atMillis, [Noun.step(life.approved, key, { approvedBy: by.name })])
  )
}

/** Revokes a key. It is no longer valid. */
export const revoked = (key: PlatformKey, atMillis: number): PlatformKeyRevoked =>
  written("PlatformKeyRevoked", atMillis, [Noun.step(life.revoked, key, {})])
