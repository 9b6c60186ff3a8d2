// Runs the Journal and its callers in a process without HTTP. Receives each load as a message and replies with
// its result.
import * as Storage from "@satrail/service/postgres/Storage"
import { ManagedRuntime, Redacted, Schema } from "effect"
import * as Drive from "./Drive.ts"

const decode = Schema.decodeUnknownSync(Drive.Drive)
const runtime = ManagedRuntime.make(Storage.layer({ url: Redacted.make(process.env["DATABASE_URL"] ?? "") }))

process.on("message", async (message) => process.send?.(await runtime.runPromise(Drive.run(decode(message)))))
process.once("SIGTERM", () => void runtime.dispose().then(() => process.exit(0)))
