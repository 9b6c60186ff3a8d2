// Runs the Journal and its callers in a process without HTTP. Receives each load as a message and replies with
// its result.
import * as Storage from "@satrail/postgres/Storage"
import { ManagedRuntime, Redacted, Schema } from "effect"
import * as Drive from "./Drive.ts"

const decode = Schema.decodeUnknownSync(Drive.Drive)
const runtime = ManagedRuntime.make(Storage.layer({ url: Redacted.make(process.env["DATABASE_URL"] ?? "") }))

process.on("message", (message) => {
  void runtime.runPromise(Drive.run(decode(message))).then(
    (outcome) => process.send?.(outcome),
    (cause: unknown) => {
      console.error(cause)
      process.exit(1)
    }
  )
})
process.once("SIGTERM", () => void runtime.dispose().then(() => process.exit(0)))
