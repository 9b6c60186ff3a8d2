import { Network } from "@satrail/bitcoin/Network"
import { base58 } from "@scure/base"
import { Redacted, Result, Schema } from "effect"
import * as CompanyId from "../base/CompanyId.ts"
import * as SecretHash from "../base/SecretHash.ts"
import type * as Change from "../ledger/Change.ts"
import type { Conflict, IdempotencyMismatch } from "../ledger/Journal.ts"
import * as Noun from "../ledger/Noun.ts"
import type { Written } from "../ledger/Written.ts"
import { AllowedFrom } from "./AllowedFrom.ts"
import { CompanyFees } from "./CompanyFees.ts"
import { Limits } from "./Limits.ts"
import { Loosening } from "./Loosening.ts"
import { Plan } from "./Plan.ts"
import { isSame as isSameOperator, type Operator, SameOperator } from "./SecondOperator.ts"

/** What a key may do: `read` what there is, `receive` (create invoices and addresses), `send` withdrawals, `approve` those of other keys, manage `webhooks`. `admin` may do all of it. */
export const Scope = Schema.Literals(["read", "receive", "send", "approve", "webhooks", "admin"])
export type Scope = typeof Scope.Type

/** The scopes that move no money. A company makes keys with these itself; with any other scope, a key can send or approve what others send. */
export const harmless = ["read", "receive", "webhooks"] as const satisfies ReadonlyArray<Scope>

/** Whether a key with these scopes can move money. */
export const movesMoney = (scopes: ReadonlyArray<Scope>): boolean => {
  const none: ReadonlyArray<Scope> = harmless
  return scopes.some((scope) => !none.includes(scope))
}

/** The request of an operator that a second one has to approve. */
export const Approval = Schema.Struct({
  requestedById: Schema.String,
  requestedBy: Schema.String,
  /** The key that it replaces, and how long that one stays valid once this one is approved. */
  replaces: Schema.NullOr(Schema.Struct({ id: Schema.String, overlapSeconds: Schema.Int }))
})
export interface Approval extends Schema.Schema.Type<typeof Approval> {}

/** A company's key. The secret itself is nowhere: only its SHA-256 is kept. */
export const ApiKey = Schema.Struct({
  /** 12 characters, part of the key itself. */
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
  /** What it may send. */
  limits: Schema.NullOr(Limits),
  /** The first of the keys that it replaces, one after another: under that id it is counted what they sent. */
  spendsAs: Schema.NullOr(Schema.String),
  /** From where it may be used; null: from anywhere. Whoever lets callers in by the network asks (`AllowedFrom.has`); a call in process has no address. */
  allowedFrom: Schema.NullOr(AllowedFrom),
  /** What an operator asked to loosen, until a second one asks for the same, or the limits or the ranges change. */
  loosening: Schema.NullOr(Loosening),
  /** Null where no second operator had to approve it. */
  approval: Schema.NullOr(Approval),
  /** The name of the second operator. A key with an `approval` opens nothing before. */
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
  ]
})

/** A key, and the plan, the limits and the fees of the company it belongs to, as they stand now. */
export const Holder = Schema.Struct({
  apiKey: ApiKey,
  plan: Plan,
  companyLimits: Schema.NullOr(Limits),
  fees: Schema.NullOr(CompanyFees),
  feesRevision: Schema.Int
})
export interface Holder extends Schema.Schema.Type<typeof Holder> {}

/** No key, or one that is unknown, expired or revoked, or of another network: that one, and the service's own. */
export class Unauthorized extends Schema.TaggedError<Unauthorized>()("Unauthorized", {
  reason: Schema.Literals(["missing", "unknown", "incomplete", "other_network", "expired", "revoked", "waiting"]),
  networks: Schema.optionalKey(Schema.Struct({ key: Network, service: Network })),
  /** Whose key it is, where that is known: it has ended, or its secret was wrong. For the audit log, and no answer. */
  key: Schema.optionalKey(Schema.Struct({ id: Schema.String, companyId: CompanyId.CompanyId, name: Schema.String }))
}) {}

export interface ApiKeyIssued extends Change.Parts<"ApiKeyIssued", Conflict | IdempotencyMismatch> {
  readonly apiKey: ApiKey
  /** A rotation: this older key of the company's ends at this time, unless it ends earlier. */
  readonly replaces: Replaces | null
}

/** An older key of the company's, and when it ends at the latest. */
export interface Replaces {
  readonly id: string
  readonly expiresAtMillis: number
}

/** A second operator approved the key. Approving it again, or after it was revoked, changes nothing. */
export interface ApiKeyApproved extends Change.Parts<"ApiKeyApproved"> {
  readonly approvedBy: string
  readonly replaces: Replaces | null
}

export const life = {
  revoked: Noun.move(noun, "revoked", { empty: ["revokedAtMillis"], stamps: ["revokedAtMillis"], again: "otherwise" }),
  limited: Noun.move(noun, "limited", { sets: ["limits"], clears: ["loosening"], again: { same: ["limits"] } }),
  confined: Noun.move(noun, "confined", { sets: ["allowedFrom"], clears: ["loosening"], again: { same: ["allowedFrom"] } }),
  looseningRequested: Noun.move(noun, "looseningRequested", { sets: ["loosening"], again: { same: ["loosening"] } })
}

export interface ApiKeyRevoked extends Written<"ApiKeyRevoked", readonly [Noun.TransitionOf<typeof life.revoked>]> {}
/** The same limits again change nothing. */
export interface ApiKeyLimited extends Written<"ApiKeyLimited", readonly [Noun.TransitionOf<typeof life.limited>]> {}
/** The same ranges again change nothing. */
export interface ApiKeyConfined extends Written<"ApiKeyConfined", readonly [Noun.TransitionOf<typeof life.confined>]> {}
/** An operator asked to loosen its limits or its ranges. */
export interface ApiKeyLooseningRequested extends Written<
  "ApiKeyLooseningRequested",
  readonly [Noun.TransitionOf<typeof life.looseningRequested>]
> {}
export interface ApiKeyUsed extends Change.Parts<"ApiKeyUsed"> {}

const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
const idLength = 12

/** Whether a text has the shape of a key's id. */
export const isId = (text: string): boolean => /^[1-9A-HJ-NP-Za-km-z]{12}$/.test(text)

/** A new key's two halves: what is kept, and the text that is shown once. */
export const generate = (network: Network, entropy: (size: number) => Uint8Array) => {
  // 58 does not divide 256: bytes from 232 up would favour the first letters, so they are drawn again.
  let id = ""
  while (id.length < idLength)
    for (const byte of entropy(idLength)) if (byte < 232 && id.length < idLength) id += alphabet.charAt(byte % 58)
  const secret = base58.encode(entropy(32))
  return { id, secretHash: SecretHash.of(secret), text: Redacted.make(`${prefix}${network}_${id}_${secret}`, { label: "api key" }) }
}

/** The id and the secret in a key's text, of any company. */
export const parse = (text: string): { readonly network: string; readonly id: string; readonly secret: string } | undefined => {
  const match = /^sr_([a-z]+)_([1-9A-HJ-NP-Za-km-z]{12})_([1-9A-HJ-NP-Za-km-z]{32,44})$/.exec(text)
  if (match === null) return undefined
  const [, network = "", id = "", secret = ""] = match
  return { network, id, secret }
}

/** How every key begins. */
export const prefix = "sr_"

const isNetwork = Schema.is(Network)

/** Why a text that is no key of this network is none, as far as its beginning says. */
export const stranger = (text: string, network: Network): Unauthorized => {
  if (text === "") return new Unauthorized({ reason: "missing" })
  const [, named = ""] = /^sr_([a-z]+)_/.exec(text) ?? []
  if (isNetwork(named) && named !== network)
    return new Unauthorized({ reason: "other_network", networks: { key: named, service: network } })
  return new Unauthorized({ reason: text.startsWith(prefix) ? "incomplete" : "unknown" })
}

/** Whether two texts are the same, in a time that does not reveal how much of them is. */
export const isSame = (one: string, other: string): boolean => {
  let difference = one.length ^ other.length
  for (let i = 0; i < one.length; i++) difference |= one.charCodeAt(i) ^ other.charCodeAt(i)
  return difference === 0
}

/** Whether `secret` is this key's. Takes the same time however much of it is right. */
export const matches = (apiKey: ApiKey, secret: string): boolean => isSame(SecretHash.of(secret), apiKey.secretHash)

/** The key is known, and opens nothing. */
export const closed = ({ id, companyId, name }: ApiKey, reason: "unknown" | "revoked" | "expired" | "waiting"): Unauthorized =>
  new Unauthorized({ reason, key: { id, companyId, name } })

/** Whether a second operator still has to approve the key. */
export const isWaiting = ({ approval, approvedAtMillis }: Pick<ApiKey, "approval" | "approvedAtMillis">): boolean =>
  approval !== null && approvedAtMillis === null

/** Why the key opens nothing at this time; undefined when it does. */
export const refusal = (apiKey: ApiKey, nowMillis: number): Unauthorized | undefined => {
  if (apiKey.revokedAtMillis !== null) return closed(apiKey, "revoked")
  if (apiKey.expiresAtMillis !== null && apiKey.expiresAtMillis <= nowMillis) return closed(apiKey, "expired")
  if (isWaiting(apiKey)) return closed(apiKey, "waiting")
  return undefined
}

/** Whether the key may do what needs `scope`. */
export const allows = (apiKey: ApiKey, scope: Scope): boolean => apiKey.scopes.includes(scope) || apiKey.scopes.includes("admin")

/** What the audit log says of a key that is replaced. */
const ended = (replaces: Replaces | null, old: ApiKey | undefined) =>
  replaces === null || old === undefined
    ? []
    : [
        {
          noun,
          id: old.id,
          before: old,
          after: { ...old, expiresAtMillis: Math.min(old.expiresAtMillis ?? Infinity, replaces.expiresAtMillis) },
          sets: new Set(["expiresAtMillis"])
        }
      ]

/** The key opens from here on, unless it waits for a second operator; the one it replaces, until its overlap is over. */
export const issued = (apiKey: ApiKey, replaces: Replaces | null = null, once?: Change.Once, old?: ApiKey): ApiKeyIssued => ({
  _tag: "ApiKeyIssued",
  id: apiKey.id,
  companyId: apiKey.companyId,
  atMillis: apiKey.createdAtMillis,
  legs: [],
  apiKey,
  replaces,
  recorded: [{ noun, id: apiKey.id, before: null, after: apiKey }, ...ended(replaces, old)],
  event: { type: isWaiting(apiKey) ? "api_key.requested" : "api_key.issued", subject: apiKey.id },
  ...(once && { once })
})

/** The key can be used from now on, and the company receives an event. The operator who requested the key cannot approve it. */
export const approved = (apiKey: ApiKey, by: Operator, atMillis: number, old?: ApiKey): Result.Result<ApiKeyApproved, SameOperator> => {
  const { id, companyId, approval } = apiKey
  if (approval !== null && isSameOperator(by, { id: approval.requestedById, name: approval.requestedBy }))
    return Result.fail(new SameOperator({ id, name: by.name }))
  const replaced = approval?.replaces ?? null
  const replaces = replaced && { id: replaced.id, expiresAtMillis: atMillis + replaced.overlapSeconds * 1000 }
  return Result.succeed({
    _tag: "ApiKeyApproved",
    id,
    companyId,
    atMillis,
    legs: [],
    approvedBy: by.name,
    replaces,
    recorded: [
      { noun, id, before: apiKey, after: { ...apiKey, approvedBy: by.name, approvedAtMillis: atMillis } },
      ...ended(replaces, old)
    ],
    event: { type: "api_key.approved", subject: id }
  })
}

/** The key opens nothing from here on. */
export const revoked = (apiKey: ApiKey, atMillis: number): ApiKeyRevoked => ({
  _tag: "ApiKeyRevoked",
  id: apiKey.id,
  companyId: apiKey.companyId,
  atMillis,
  legs: [],
  writes: [Noun.step(life.revoked, apiKey, {})],
  event: { type: "api_key.revoked", subject: apiKey.id }
})

/** The key may send so much from here on. What it has sent stays counted, from when it first had limits. */
export const limited = (apiKey: ApiKey, limits: Limits | null, atMillis: number): ApiKeyLimited => ({
  _tag: "ApiKeyLimited",
  id: apiKey.id,
  companyId: apiKey.companyId,
  atMillis,
  legs: [],
  writes: [Noun.step(life.limited, apiKey, { limits })]
})

/** The key opens from these addresses only, from here on; from anywhere with null. */
export const confined = (apiKey: ApiKey, allowedFrom: AllowedFrom | null, atMillis: number): ApiKeyConfined => ({
  _tag: "ApiKeyConfined",
  id: apiKey.id,
  companyId: apiKey.companyId,
  atMillis,
  legs: [],
  writes: [Noun.step(life.confined, apiKey, { allowedFrom })]
})

/** A second operator has to ask for the same. */
export const looseningRequested = (apiKey: ApiKey, loosening: Loosening, atMillis: number): ApiKeyLooseningRequested => ({
  _tag: "ApiKeyLooseningRequested",
  id: apiKey.id,
  companyId: apiKey.companyId,
  atMillis,
  legs: [],
  writes: [Noun.step(life.looseningRequested, apiKey, { loosening })]
})

/** The key was used. Recorded at most once a minute. */
export const used = (apiKey: ApiKey, atMillis: number): ApiKeyUsed => ({
  _tag: "ApiKeyUsed",
  id: apiKey.id,
  companyId: apiKey.companyId,
  atMillis,
  legs: []
})
