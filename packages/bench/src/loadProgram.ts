// The load generator's process. Receives each load as a message and replies with its result. The process is
// separate so that no other work slows it down, and it runs for the whole benchmark so that it is equally fast
// in all rounds.
import { Schema } from "effect"
import * as Load from "./Load.ts"

const decode = Schema.decodeUnknownSync(Load.Load)

process.on("message", async (message) => process.send?.(await Load.run(decode(message))))
