import * as Audit from "@satrail/core/ledger/Audit"
import { root } from "@satrail/core/accounts/OperatorToken"
import { Redacted } from "effect"
import { hkdfSync } from "node:crypto"
import type { Environment } from "./Environment.ts"

/**
 * Returns the secret from which the preimages and the keys below are derived. It must be the same in every
 * process for the lifetime of the service.
 */
export const secretOf = ({
  node,
  sandboxSeed
}: Pick<Environment, "node" | "sandboxSeed">): Redacted.Redacted =>
  node?.invoiceSecret ?? Redacted.make(sandboxSeed)

/** Derives a key for one purpose, 32 bytes in hex. */
export const keyOf = (environment: Environment, purpose: string, label: string): Redacted.Redacted => {
  const key = Buffer.from(
    hkdfSync("sha256", Redacted.value(secretOf(environment)), "", `satrail: ${purpose}`, 32)
  )
  return Redacted.make(key.toString("hex"), { label })
}

/** Identifies the configured operator token in requests that another operator approves, without revealing it. */
export const operatorIdOf = (environment: Environment): string =>
  environment.operatorToken === undefined
    ? root.id
    : `${root.id}:${Redacted.value(keyOf(environment, `operator ${Redacted.value(environment.operatorToken)}`, "operator id")).slice(0, 32)}`

export const auditSignerOf = (environment: Environment): Audit.Signer =>
  Audit.signer(keyOf(environment, "audit heads", "audit key"))
