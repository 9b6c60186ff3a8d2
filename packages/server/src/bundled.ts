import { Effect } from "effect"
import * as Environment from "./deployment/Environment.ts"
import * as Program from "./serving/Program.ts"
import * as Server from "./serving/Server.ts"

/** Runs the service, as main.ts does, and calls `ready` when it serves requests (build/Load.ts). */
export const run = (ready: () => void): void =>
  Program.run(Server.services, [], Environment.bundled, () => Effect.sync(ready))
