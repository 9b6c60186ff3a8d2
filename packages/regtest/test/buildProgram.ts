import { Effect } from "effect"
import * as Binaries from "../src/Binaries.ts"

// Builds btcd if it is missing, and prints its path. With `--lnd`, does the same for lnd.
const names = process.argv.includes("--lnd") ? (["btcd", "lnd"] as const) : (["btcd"] as const)
for (const name of names) process.stdout.write(await Effect.runPromise(Binaries.ensure(name)))
process.exit(0)
