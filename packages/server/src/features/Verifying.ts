import type { StoreUnavailable } from "@satrail/core/ledger/Journal"
import type { Records } from "@satrail/core/service/Records"
import type { Effect, Option } from "effect"

/** The result of a check of a feature's records. */
export interface Verified {
  readonly faults: number
  /** Fields of the JSON output. */
  readonly json: { readonly [member: string]: unknown }
  /** The end of the last printed sentence, if there is no violation (`sound`) or if there are some (`faulty`). */
  readonly sound: string
  readonly faulty: string
  readonly notes: ReadonlyArray<string>
}

/** Checks the records according to the command's options. `print` writes a line of human-readable text. */
export type Verifying = (
  asked: { readonly [option: string]: Option.Option<string> },
  print: (line: string) => Effect.Effect<void>
) => Effect.Effect<Verified, StoreUnavailable, Records>
