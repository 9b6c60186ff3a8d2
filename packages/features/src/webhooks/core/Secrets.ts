import { Context } from "effect"
import type * as CompanyId from "@satrail/core/base/CompanyId"

/** Seals the endpoints' secrets, and signs with the service's key. */
export interface Secrets {
  readonly seal: (text: string, owner: CompanyId.CompanyId) => string
  /** Returns undefined if the text was sealed with another key. */
  readonly open: (sealed: string, owner: CompanyId.CompanyId) => string | undefined
  /** Returns an Ed25519 signature in base64. */
  readonly sign: (text: string) => string
  /** The public key that verifies these signatures, in base64. */
  readonly publicKey: string
}

/** Required as soon as endpoints are created. Null in a program that sends no webhooks. */
export const Secrets = Context.Reference<Secrets | null>("@satrail/features/webhooks/core/Secrets", {
  defaultValue: () => null
})
