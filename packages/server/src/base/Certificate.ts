import { readFileSync } from "node:fs"
import { reasonOf } from "./Files.ts"
import { type Line, misconfigured } from "./Check.ts"

/** Returns the problem with the CHAIN_TLS_CERT file, if any. */
export const certificate = (file: string | undefined): Line | undefined => {
  if (file === undefined) return undefined
  const remedy = "Set CHAIN_TLS_CERT to a PEM certificate that this user may read."
  try {
    const isPem = readFileSync(file, "utf8").includes("-----BEGIN CERTIFICATE-----")
    return isPem ? undefined : misconfigured(`CHAIN_TLS_CERT: ${file} is not a PEM certificate`, remedy)
  } catch (cause) {
    return misconfigured(`CHAIN_TLS_CERT cannot be read: ${file}: ${reasonOf(cause)}`, remedy)
  }
}
