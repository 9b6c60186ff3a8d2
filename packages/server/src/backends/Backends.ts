import type { Backend } from "./Backend.ts"
import * as CoreLightning from "./CoreLightning.ts"
import * as Lnd from "./Lnd.ts"

/** The Lightning nodes that LIGHTNING can name besides the sandbox. A new one is one more entry. */
export const all: ReadonlyArray<Backend> = [Lnd.backend, CoreLightning.backend]
