import { base58 } from "@scure/base"
import { Redacted, Schema } from "effect"
import * as CompanyId from "../base/CompanyId.ts"
import * as SecretHash from "../base/SecretHash.ts"
import type * as Change from "../ledger/Change.ts"
import * as Noun from "../ledger/Noun.ts"
import { type Written, written } from "../ledger/Written.ts"

/**
 * Permissions of an operator token. `read` reads everything. `stop` only tightens (pause, freeze, revoke
 * keys, lower limits). `loosen` reverses that (resume, unfreeze, raise or remove limits). `mend` covers operator
 * equity, suspense, adjustments, lost and waiting withdrawals, and deliveries. `companies` covers companies, people, keys,
 * plans, fees, domains, and tighter limits. `all` includes everything, and manages tokens.
 */
export const Scope = Schema.Literals(["read", "stop", "loosen", "mend", "companies", "all"])
export type Scope = typeof Scope.Type

/**
 * A token of a person or program that operates the service. The token itself is not stored, only its SHA-256.
 */
export const OperatorToken = Schema.Struct({
  id: Noun.Id,
  companyId: CompanyId.CompanyId,
  /** The holder's name, as shown in the audit log. */
  name: Schema.String,
  secretHash: SecretHash.SecretHash,
  scopes: Schema.Array(Scope),
  createdAtMillis: Schema.Int,
  revokedAtMillis: Schema.NullOr(Schema.Int)
})
export interface OperatorToken extends Schema.Schema.Type<typeof OperatorToken> {}

export const noun = Noun.make("operator_tokens", OperatorToken, {
  moving: ["revokedAtMillis"],
  recorded: ["companyId", "name", "secretHash", "scopes", "revokedAtMillis"],
  unique: [["secretHash"]]
})

export const life = {
  revoked: Noun.move(noun, "revoked", {
    empty: ["revokedAtMillis"],
    stamps: ["revokedAtMillis"],
    again: "otherwise"
  })
}

export interface OperatorTokenIssued extends Written<
  "OperatorTokenIssued",
  readonly [Noun.InsertOf<typeof noun>],
  "once"
> {}
export interface OperatorTokenRevoked extends Written<
  "OperatorTokenRevoked",
  readonly [Noun.TransitionOf<typeof life.revoked>]
> {}

/** An authenticated operator: the holder of an issued token, or of the configured token (id `root`). */
export interface Operator {
  readonly id: string
  readonly name: string
  readonly scopes: ReadonlyArray<Scope>
}

/** The holder of the configured token. */
export const root: Operator = { id: "root", name: "configured token", scopes: ["all"] }

/** The program that embeds the service. */
export const program: Operator = { id: "program", name: "program", scopes: ["all"] }

/** Prefix of every generated token. */
export const prefix = "op_"

/** Generates a token. Returns the token's text, and the hash to store. */
export const generate = (entropy: (size: number) => Uint8Array) => {
  const text = `${prefix}${base58.encode(entropy(32))}`
  return { secretHash: SecretHash.of(text), text: Redacted.make(text, { label: "operator token" }) }
}

/** Returns whether a string has the shape of a token. Text of any other shape is not looked up. */
export const isToken = (text: string): boolean => /^op_[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(text)

/** Returns whether the token has `scope` or `all`. */
export const allows = ({ scopes }: Pick<Operator, "scopes">, scope: Scope): boolean =>
  scopes.includes(scope) || scopes.includes("all")

/** Issues a token, which is valid immediately. */
export const issued = (token: OperatorToken, once?: Change.Once): OperatorTokenIssued =>
  written("OperatorTokenIssued", token.createdAtMillis, [Noun.insert(noun, token)], once && { once })

/** Revokes a token. It is no longer valid. */
export const revoked = (token: OperatorToken, atMillis: number): OperatorTokenRevoked =>
  written("OperatorTokenRevoked", atMillis, [Noun.step(life.revoked, token, {})])
