// The load generator's process: a load comes in as a message, what came of it goes out as one. Apart from the rest, so that nothing
// else takes its time, and kept for the whole run, so that it is as fast in the first round as in the last.
import { Schema } from "effect"
import * as Load from "./Load.ts"

const decode = Schema.decodeUnknownSync(Load.Load)

process.on("message", (message) => {
  void Load.run(decode(message)).then(
    (outcome) => process.send?.(outcome),
    (cause: unknown) => {
      console.error(cause)
      process.exit(1)
    }
  )
})
