import { verify as audit } from "./audit/Verify.ts"
import type { Verifying } from "./Feature.ts"

/** Checks that features add to the command `verify`. Commands that call a running service don't load them. */
export const verifications: ReadonlyArray<Verifying> = [audit]
