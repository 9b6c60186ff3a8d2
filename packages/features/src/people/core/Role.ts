import { Schema } from "effect"
import { type Scope, movesMoney } from "@satrail/core/accounts/ApiKey"
import type { Scope as OperatorScope } from "@satrail/core/accounts/OperatorToken"

/** A person's permissions, in a company or for the operator. */
export const Role = Schema.Literals(["viewer", "bookkeeper", "operator", "admin"])
export type Role = typeof Role.Type

/** The scopes of each role: API key scopes in a company, and operator token scopes for the operator. */
export const scopes: {
  readonly [role in Role]: {
    readonly company: ReadonlyArray<Scope>
    readonly operator: ReadonlyArray<OperatorScope>
  }
} = {
  viewer: { company: ["read"], operator: ["read"] },
  bookkeeper: { company: ["read", "receive"], operator: ["read", "mend"] },
  operator: {
    company: ["read", "receive", "send", "approve", "webhooks"],
    operator: ["read", "stop", "loosen", "mend", "companies"]
  },
  admin: { company: ["admin"], operator: ["all"] }
}

/** Returns whether a person with this role in a company can move money. */
export const sends = (role: Role): boolean => movesMoney(scopes[role].company)
