// The load generator's process. A load arrives as a message, and its result is sent as one. It is a separate
// process so that nothing else takes its time, and is kept for the whole run so that it is equally fast in
// all rounds.
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
