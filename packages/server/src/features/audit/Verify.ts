import * as AuditVerification from "@satrail/features/audit/core/AuditVerification"
import * as Audit from "@satrail/core/ledger/Audit"
import { Effect, Option, Result } from "effect"
import * as Environment from "../../deployment/Environment.ts"
import * as Secrets from "../../deployment/Secrets.ts"
import { Variables } from "../../environment/Unknown.ts"
import type { Verifying } from "../Verifying.ts"

/**
 * The secret for verifying signed heads, if this command has the service's node settings. Without it,
 * everything except the signatures can be checked.
 */
const signer = Effect.map(Variables, (variables) => {
  const read = Environment.read(variables)
  return Result.isSuccess(read) && read.success.node !== undefined
    ? Secrets.auditSignerOf(read.success)
    : undefined
})

/** Returns a noun's singular: “API key” for `api_keys`. */
export const nameOf = (noun: string): string => {
  const one = noun
    .replace(/^people$/, "person")
    .replace(/ies$/, "y")
    .replace(/s$/, "")
    .replaceAll("_", " ")
  return `${one.charAt(0).toUpperCase()}${one.slice(1)}`.replace("Api", "API")
}

const evidence = ({ kind, id, record = "", field, problem }: AuditVerification.Fault): string => {
  const name = `${nameOf(record)} ${id}`
  if (problem === undefined) return `audit log: ${kind} ${id}`
  if (problem === "differs") return `${name}: \`${field}\` differs from the audit log`
  return problem === "unknown"
    ? `${name}: is not in the audit log`
    : `${name}: is in the audit log but not in the database`
}

/** Checks the chains of the audit log, and the records whose values it contains. */
export const verify: Verifying = Effect.fnUntraced(function* (asked, print) {
  const forged: Array<AuditVerification.Fault> = []
  const head = Option.getOrNull(asked["auditHead"] ?? Option.none())
  const { entries, faults, isSigned, records } = yield* AuditVerification.verify(head, (fault) => {
    forged.push(fault)
    return print(evidence(fault))
  }).pipe(Effect.provideService(Audit.Signing, yield* signer))
  return {
    faults,
    json: { audit: { entries, records, signatures_checked: isSigned, faults: forged } },
    sound: `the audit log is intact (${entries} entries) and matches ${records} records`,
    faulty: `${faults} violations in the audit log`,
    notes: isSigned
      ? []
      : [
          "Signatures of the audit log's heads were not checked. To check them, run this command with the service's node settings, from which the signing secret is derived"
        ]
  }
})
