import { verify as audit } from "./audit/Verify.ts"
import type { Verifying } from "./Verifying.ts"

/**
 * The checks that features add to the command `verify`. They are kept in this file so that commands that call a
 * running service don't load them.
 */
export const verifications: ReadonlyArray<Verifying> = [audit]
