import { Network } from "@satrail/bitcoin/Network"
import { base58 } from "@scure/base"
import { Redacted, Result, Schema } from "effect"
import * as CompanyId from "../base/CompanyId.ts"
import * as SecretHash from "../base/SecretHash.ts"
import * as Change from "../ledger/Change.ts"
import type { Conflict, IdempotencyMismatch } from "../ledger/Journal.ts"
import * as Noun from "../ledger/Noun.ts"
import { type Written, written } from "../ledger/Written.ts"
import { AllowedFrom } from "./AllowedFrom.ts"
import { CompanyFees } from "./CompanyFees.ts"
import { Limits } from "./Limits.ts"
import { Loosening, ProtectionMoved } from "./Loosening.ts"
import { Plan } from "./Plan.ts"
import { isSame as isSameOperator, type Operator, SameOperator } from "./SecondOperator.ts"

/**
 * Permissions of a key: `read` (read records), `receive` (create invoices and addresses), `send` (send
 * withdrawals), `approve` (approve withdrawals requested by other keys), and `webhooks` (manage webhooks).
 * `admin` includes all of them.
 */
export const Scope = Schema.Literals(["read", "receive", "send", "approve", "webhooks", "admin"])
export type Scope = typeof Scope.Type

/**
 * Scopes that move no money. A company can itself create keys that have no other scopes. A key with any other
 * scope can send withdrawals, or approve withdrawals requested by other keys.
 */
export const harmless = ["read", "receive", "webhooks"] as const satisfies ReadonlyArray<Scope>

/** Returns whether a key with these scopes can move money. */
export const movesMoney = (scopes: ReadonlyArray<Scope>): boolean => {
  const none: ReadonlyArray<Scope> = harmless
  return scopes.some((scope) => !none.includes(scope))
}

/** A request for a second operator to approve a key. */
export const Approval = Schema.Struct({
  requestedById: Schema.String,
  requestedBy: Schema.String,
  /** The key it replaces, and how long that key stays valid after this one is approved. */
  replaces: Schema.NullOr(Schema.Struct({ id: Schema.String, overlapSeconds: Schema.Int }))
})
export interface Approval extends Schema.Schema.Type<typeof Approval> {}

/** A company's API key. The secret is not stored, only its SHA-256. */
export const ApiKey = Schema.Struct({
  /** 12 characters that are part of the key's text. */
  id: Schema.String,
  companyId: CompanyId.CompanyId,
  name: Schema.String,
  secretHash: SecretHash.SecretHash,
  scopes: Schema.Array(Scope),
  createdAtMillis: Schema.Int,
  expiresAtMillis: Schema.NullOr(Schema.Int),
  revokedAtMillis: Schema.NullOr(Schema.Int),
  /** To within a minute. */
  lastUsedAtMillis: Schema.NullOr(Schema.Int),
  /** The key's sending limits. */
  limits: Schema.NullOr(Limits),
  /** Id of the first key in a chain of rotations. Spending by all keys in the chain is counted under this id. */
  spendsAs: Schema.NullOr(Schema.String),
  /**
   * Addresses from which the key may be used; null allows any. Code that accepts network requests must check
   * this with `AllowedFrom.has`, because in-process calls have no address.
   */
  allowedFrom: Schema.NullOr(AllowedFrom),
  /**
   * An operator's pending request to loosen the key's limits or ranges. Cleared when a second operator sends
   * the same request, or when the limits or ranges change.
   */
  loosening: Schema.NullOr(Loosening),
  /** null if no second operator was needed. */
  approval: Schema.NullOr(Approval),
  /** Name of the second operator. A key with an `approval` is not valid until this is set. */
  approvedBy: Schema.NullOr(Schema.String),
  approvedAtMillis: Schema.NullOr(Schema.Int)
})
export interface ApiKey extends Schema.Schema.Type<typeof ApiKey> {}

export const noun = Noun.make("api_keys", ApiKey, {
  moving: [
    "expiresAtMillis",
    "revokedAtMillis",
    "lastUsedAtMillis",
    "limits",
    "allowedFrom",
    "loosening",
    "approvedBy",
    "approvedAtMillis"
  ],
  recorded: [
    "companyId",
    "name",
    "secretHash",
    "scopes",
    "expiresAtMillis",
    "revokedAtMillis",
    "limits",
    "spendsAs",
    "allowedFrom",
    "loosening",
    "approval",
    "approvedBy",
    "approvedAtMillis"
  ],
  refused: (id) => new ProtectionMoved({ id })
})

/** A key with its company's current plan, limits and fees. */
export const Holder = Schema.Struct({
  apiKey: ApiKey,
  plan: Plan,
  companyLimits: Schema.NullOr(Limits),
  fees: Schema.NullOr(CompanyFees),
  feesRevision: Schema.Int
})
export interface Holder extends Schema.Schema.Type<typeof Holder> {}

/**
 * The key is missing, unknown, expired, revoked, or for another network. For `other_network`, `networks`
 * contains the key's network and the service's network.
 */
export class Unauthorized extends Schema.TaggedError<Unauthorized>()("Unauthorized", {
  reason: Schema.Literals([
    "missing",
    "unknown",
    "incomplete",
    "other_network",
    "expired",
    "revoked",
    "waiting"
  ]),
  networks: Schema.optionalKey(Schema.Struct({ key: Network, service: Network })),
  /**
   * Identifies a known key that is not valid, or whose secret was wrong. For the audit log only: no response
   * may include it.
   */
  key: Schema.optionalKey(
    Schema.Struct({ id: Schema.String, companyId: CompanyId.CompanyId, name: Schema.String })
  )
}) {}

export interface ApiKeyIssued extends Change.Parts<
  "ApiKeyIssued",
  Conflict | IdempotencyMismatch | ProtectionMoved
> {
  readonly apiKey: ApiKey
  /** For a rotation: the old key, and its latest possible expiry. Refused if the old key has other restrictions. */
  readonly replaces: Replaces | null
}

/** A key that is being replaced, and its latest possible expiry. */
export interface Replaces {
  readonly id: string
  readonly expiresAtMillis: number
}

/** A second operator approved the key. Approving it again, or after it was revoked, changes nothing. */
export interface ApiKeyApproved extends Change.Parts<"ApiKeyApproved", ProtectionMoved> {
  readonly approvedBy: string
  readonly replaces: Replaces | null
  /** If set, the change is refused if the replaced key has other restrictions. */
  readonly expects?: Pick<ApiKey, "limits" | "allowedFrom">
}

export const life = {
  revoked: Noun.move(noun, "revoked", {
    empty: ["revokedAtMillis"],
    stamps: ["revokedAtMillis"],
    again: "otherwise"
  }),
  limited: Noun.move(noun, "limited", {
    expects: ["limits"],
    sets: ["limits"],
    clears: ["loosening"],
    again: { same: ["limits"] }
  }),
  confined: Noun.move(noun, "confined", {
    expects: ["allowedFrom"],
    sets: ["allowedFrom"],
    clears: ["loosening"],
    again: { same: ["allowedFrom"] }
  }),
  looseningRequested: Noun.move(noun, "looseningRequested", {
    sets: ["loosening"],
    again: { same: ["loosening"] }
  })
}

export interface ApiKeyRevoked extends Written<
  "ApiKeyRevoked",
  readonly [Noun.TransitionOf<typeof life.revoked>]
> {}
/** Changes a key's limits, if they are still those that were read. Setting the same limits again changes nothing. */
export interface ApiKeyLimited extends Written<
  "ApiKeyLimited",
  readonly [Noun.TransitionOf<typeof life.limited>]
> {}
/** Changes a key's address ranges, if they are still those that were read. Setting the same ranges again changes nothing. */
export interface ApiKeyConfined extends Written<
  "ApiKeyConfined",
  readonly [Noun.TransitionOf<typeof life.confined>]
> {}
/** An operator asked to loosen a key's limits or ranges. */
export interface ApiKeyLooseningRequested extends Written<
  "ApiKeyLooseningRequested",
  readonly [Noun.TransitionOf<typeof life.looseningRequested>]
> {}
export interface ApiKeyUsed extends Change.Parts<"ApiKeyUsed"> {}

const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
const idLength = 12

/** Returns whether a string has the shape of a key id. */
export const isId = (text: string): boolean => /^[1-9A-HJ-NP-Za-km-z]{12}$/.test(text)

/** Generates a key. Returns the fields to store, and the text that is shown once. */
export const generate = (network: Network, entropy: (size: number) => Uint8Array) => {
  // 58 does not divide 256, so bytes from 232 up are drawn again. Otherwise, they would favor the first
  // letters.
  let id = ""
  while (id.length < idLength)
    for (const byte of entropy(idLength))
      if (byte < 232 && id.length < idLength) id += alphabet.charAt(byte % 58)
  const secret = base58.encode(entropy(32))
  return {
    id,
    secretHash: SecretHash.of(secret),
    text: Redacted.make(`${prefix}${network}_${id}_${secret}`, { label: "api key" })
  }
}

/** Parses the network, id and secret in a key's text. */
export const parse = (
  text: string
): { readonly network: string; readonly id: string; readonly secret: string } | undefined => {
  const match = /^sr_([a-z]+)_([1-9A-HJ-NP-Za-km-z]{12})_([1-9A-HJ-NP-Za-km-z]{32,44})$/.exec(text)
  if (match === null) return undefined
  const [, network = "", id = "", secret = ""] = match
  return { network, id, secret }
}

/** Returns the key of a caller without one. No secret matches it, and it has no limits of its own. */
export const withoutSecret = (
  fields: Pick<ApiKey, "id" | "companyId" | "name" | "scopes" | "createdAtMillis">
): ApiKey => ({
  ...fields,
  secretHash: SecretHash.make(""),
  expiresAtMillis: null,
  revokedAtMillis: null,
  lastUsedAtMillis: null,
  limits: null,
  spendsAs: null,
  allowedFrom: null,
  loosening: null,
  approval: null,
  approvedBy: null,
  approvedAtMillis: null
})

/** Prefix of every key. */
export const prefix = "sr_"

const isNetwork = Schema.is(Network)

/** Returns why a string is not a key of this network, judging only by its prefix. */
export const stranger = (text: string, network: Network): Unauthorized => {
  if (text === "") return new Unauthorized({ reason: "missing" })
  const [, named = ""] = /^sr_([a-z]+)_/.exec(text) ?? []
  if (isNetwork(named) && named !== network)
    return new Unauthorized({ reason: "other_network", networks: { key: named, service: network } })
  return new Unauthorized({ reason: text.startsWith(prefix) ? "incomplete" : "unknown" })
}

/** Compares two texts in constant time. */
export const isSame = (one: string, other: string): boolean => {
  let difference = one.length ^ other.length
  for (let i = 0; i < one.length; i++) difference |= one.charCodeAt(i) ^ other.charCodeAt(i)
  return difference === 0
}

/** Returns whether `secret` belongs to this key, in constant time. */
export const matches = (apiKey: ApiKey, secret: string): boolean =>
  isSame(SecretHash.of(secret), apiKey.secretHash)

/** Returns the error for a known key that is not valid. */
export const closed = (
  { id, companyId, name }: ApiKey,
  reason: "unknown" | "revoked" | "expired" | "waiting"
): Unauthorized => new Unauthorized({ reason, key: { id, companyId, name } })

/** Returns whether the key still needs approval by a second operator. */
export const isWaiting = ({
  approval,
  approvedAtMillis
}: Pick<ApiKey, "approval" | "approvedAtMillis">): boolean => approval !== null && approvedAtMillis === null

/** Returns why the key is not valid at this time; undefined if it is valid. */
export const refusal = (apiKey: ApiKey, nowMillis: number): Unauthorized | undefined => {
  if (apiKey.revokedAtMillis !== null) return closed(apiKey, "revoked")
  if (apiKey.expiresAtMillis !== null && apiKey.expiresAtMillis <= nowMillis) return closed(apiKey, "expired")
  if (isWaiting(apiKey)) return closed(apiKey, "waiting")
  return undefined
}

/** Returns whether the key has `scope` or `admin`. */
export const allows = (apiKey: ApiKey, scope: Scope): boolean =>
  apiKey.scopes.includes(scope) || apiKey.scopes.includes("admin")

/** Returns the audit record of a replaced key. */
const ended = (replaces: Replaces | null, old: ApiKey | undefined) =>
  replaces === null || old === undefined
    ? []
    : [
        {
          noun,
          id: old.id,
          before: old,
          after: {
            ...old,
            expiresAtMillis: Math.min(old.expiresAtMillis ?? Infinity, replaces.expiresAtMillis)
          },
          sets: new Set(["expiresAtMillis"])
        }
      ]

/**
 * Issues a key, which is valid immediately unless it needs approval. The key it replaces stays valid until the
 * end of the overlap.
 */
export const issued = (
  apiKey: ApiKey,
  replaces: Replaces | null = null,
  once?: Change.Once,
  old?: ApiKey
): ApiKeyIssued => ({
  _tag: "ApiKeyIssued",
  ...Change.on(apiKey, apiKey.createdAtMillis),
  apiKey,
  replaces,
  recorded: [{ noun, id: apiKey.id, before: null, after: apiKey }, ...ended(replaces, old)],
  event: { type: isWaiting(apiKey) ? "api_key.requested" : "api_key.issued", subject: apiKey.id },
  ...(once && { once })
})

/**
 * Approves a key, which becomes valid, and notifies the company. The operator who requested the key cannot
 * approve it.
 */
export const approved = (
  apiKey: ApiKey,
  by: Operator,
  atMillis: number,
  old?: ApiKey
): Result.Result<ApiKeyApproved, SameOperator> => {
  const { id, companyId, approval } = apiKey
  if (approval !== null && isSameOperator(by, { id: approval.requestedById, name: approval.requestedBy }))
    return Result.fail(new SameOperator({ id, name: by.name }))
  const replaced = approval?.replaces ?? null
  const replaces = replaced && { id: replaced.id, expiresAtMillis: atMillis + replaced.overlapSeconds * 1000 }
  return Result.succeed({
    _tag: "ApiKeyApproved",
    ...Change.on({ id, companyId }, atMillis),
    approvedBy: by.name,
    replaces,
    ...(old && replaces && { expects: { limits: old.limits, allowedFrom: old.allowedFrom } }),
    recorded: [
      { noun, id, before: apiKey, after: { ...apiKey, approvedBy: by.name, approvedAtMillis: atMillis } },
      ...ended(replaces, old)
    ],
    event: { type: "api_key.approved", subject: id }
  })
}

/** Revokes a key. It is no longer valid. */
export const revoked = (apiKey: ApiKey, atMillis: number): ApiKeyRevoked =>
  written("ApiKeyRevoked", atMillis, [Noun.step(life.revoked, apiKey, {})], {
    event: { type: "api_key.revoked", subject: apiKey.id }
  })

/** Changes a key's limits. Spending since the key first had limits still counts. */
export const limited = (apiKey: ApiKey, limits: Limits | null, atMillis: number): ApiKeyLimited =>
  written("ApiKeyLimited", atMillis, [Noun.step(life.limited, apiKey, { limits })])

/** Limits a key to these addresses; null allows any. */
export const confined = (apiKey: ApiKey, allowedFrom: AllowedFrom | null, atMillis: number): ApiKeyConfined =>
  written("ApiKeyConfined", atMillis, [Noun.step(life.confined, apiKey, { allowedFrom })])

/** Stores a request to loosen the key's limits or ranges. A second operator must repeat it. */
export const looseningRequested = (
  apiKey: ApiKey,
  loosening: Loosening,
  atMillis: number
): ApiKeyLooseningRequested =>
  written("ApiKeyLooseningRequested", atMillis, [Noun.step(life.looseningRequested, apiKey, { loosening })])

/** Records that the key was used, at most once per minute. */
export const used = (apiKey: ApiKey, atMillis: number): ApiKeyUsed => ({
  _tag: "ApiKeyUsed",
  ...Change.on(apiKey, atMillis)
})
