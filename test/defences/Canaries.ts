import type { Canary } from "./Canary.ts"
import { canaries as accounts } from "./areas/accounts.ts"
import { canaries as core } from "./areas/core.ts"
import { canaries as http } from "./areas/http.ts"
import { canaries as memory } from "./areas/memory.ts"
import { canaries as nodes } from "./areas/nodes.ts"
import { canaries as postgres } from "./areas/postgres.ts"
import { canaries as receiving } from "./areas/receiving.ts"
import { canaries as sending } from "./areas/sending.ts"
import { canaries as server } from "./areas/server.ts"
import { canaries as ui } from "./areas/ui.ts"
import { canaries as web } from "./areas/web.ts"
import { features } from "./Features.ts"

export type { Canary } from "./Canary.ts"
export { fits, patched } from "./Damage.ts"

/** The test file that runs the simulator's scenarios. */
export const stories = "test/defences/stories.ts"

/** Each mutant is listed with the feature it damages, or with the package or folder of core. */
export const canaries: ReadonlyArray<Canary> = [
  ...[accounts, sending, receiving, core, memory, postgres, nodes, http, web, server, ui].flat(),
  ...features.flat()
]
