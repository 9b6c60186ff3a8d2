// A process that simulates a network for any number of services. It stores its state in SANDBOX_DIRECTORY and
// listens on NETWORK_PORT.
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import { Console, Effect } from "effect"
import * as Served from "./Served.ts"

const program = Effect.gen(function* () {
  const port = yield* Served.serve(
    yield* Effect.context<Served.Ports>(),
    Number(process.env["NETWORK_PORT"] ?? 0)
  )
  yield* Console.log(`the network is at http://127.0.0.1:${port}`)
  return yield* Effect.never
})

const network = Sandbox.layer({
  seed: "satrail",
  network: "regtest",
  directory: process.env["SANDBOX_DIRECTORY"]
})

NodeRuntime.runMain(Effect.scoped(Effect.provide(program, network)))
