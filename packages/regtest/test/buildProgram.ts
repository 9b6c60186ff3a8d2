import { Effect } from "effect"
import * as Binaries from "../src/Binaries.ts"

// Builds btcd where it is not built yet, and says where it is.
process.stdout.write(await Effect.runPromise(Binaries.ensure("btcd")))
process.exit(0)
