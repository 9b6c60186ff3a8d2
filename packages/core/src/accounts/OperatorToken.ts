import { base58 } from "@scure/base"
import { Redacted, Schema } from "effect"
import * as CompanyId from "../base/CompanyId.ts"
import * as SecretHash from "../base/SecretHash.ts"
import type * as Change from "../ledger/Change.ts"
import * as Noun from "../ledger/Noun.ts"
import type { Written } from "../ledger/Written.ts"

/**
 * What an operator's token may do: `read` everything; `stop`, which only tightens (pause, freeze, revoke keys, lower limits); `loosen` (resume, unfreeze, raise or
 * remove limits); `mend` (reconciliation, deliveries, suspense); `companies` (companies, keys, plans, domains, and tighter limits). `all` may do everything, and
 * manages tokens.
 */
export const Scope = Schema.Literals(["read", "stop", "loosen", "mend", "companies", "all"])
export type Scope = typeof Scope.Type

/** A token of one person or program that operates the service. The token itself is nowhere: only its SHA-256 is kept. */
export const OperatorToken = Schema.Struct({
  id: Noun.Id,
  companyId: CompanyId.CompanyId,
  /** Whose it is: what the audit log calls who has it. */
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
  revoked: Noun.move(noun, "revoked", { empty: ["revokedAtMillis"], stamps: ["revokedAtMillis"], again: "otherwise" })
}

export interface OperatorTokenIssued extends Written<"OperatorTokenIssued", readonly [Noun.InsertOf<typeof noun>], "once"> {}
export interface OperatorTokenRevoked extends Written<"OperatorTokenRevoked", readonly [Noun.TransitionOf<typeof life.revoked>]> {}

/** Who asks as the operator: a token, or the configured one, whose id is `root`. */
export interface Operator {
  readonly id: string
  readonly name: string
  readonly scopes: ReadonlyArray<Scope>
}

/** Who has the configured token. */
export const root: Operator = { id: "root", name: "configured token", scopes: ["all"] }

/** How every token begins that is made here. */
export const prefix = "op_"

/** A new token's text, and what is kept of it. */
export const generate = (entropy: (size: number) => Uint8Array) => {
  const text = `${prefix}${base58.encode(entropy(32))}`
  return { secretHash: SecretHash.of(text), text: Redacted.make(text, { label: "operator token" }) }
}

/** Whether a text can be one of these: any other is looked for nowhere. */
export const isToken = (text: string): boolean => /^op_[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(text)

/** Whether it may do what needs `scope`. */
export const allows = ({ scopes }: Pick<Operator, "scopes">, scope: Scope): boolean => scopes.includes(scope) || scopes.includes("all")

/** The token opens from here on. */
export const issued = (token: OperatorToken, once?: Change.Once): OperatorTokenIssued => ({
  _tag: "OperatorTokenIssued",
  id: token.id,
  companyId: token.companyId,
  atMillis: token.createdAtMillis,
  legs: [],
  writes: [Noun.insert(noun, token)],
  ...(once && { once })
})

/** The token opens nothing from here on. */
export const revoked = (token: OperatorToken, atMillis: number): OperatorTokenRevoked => ({
  _tag: "OperatorTokenRevoked",
  id: token.id,
  companyId: token.companyId,
  atMillis,
  legs: [],
  writes: [Noun.step(life.revoked, token, {})]
})
