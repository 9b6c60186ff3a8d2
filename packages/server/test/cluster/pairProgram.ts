// The service as deployed, except that its node is in another process's simulated network, at NETWORK_URL.
import * as FixedRates from "@satrail/sandbox/FixedRates"
import * as SimulatedRelays from "@satrail/sandbox/SimulatedRelays"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import { Layer } from "effect"
import * as Program from "../../src/serving/Program.ts"
import * as Server from "../../src/serving/Server.ts"
import * as Remote from "./Remote.ts"

const network = process.env["NETWORK_URL"]
if (network === undefined) throw new Error("NETWORK_URL is missing")

Program.run((environment) => {
  const own = Layer.merge(
    Sandbox.layer({ seed: environment.sandboxSeed, network: environment.network }),
    SimulatedRelays.layer
  )
  return Server.services(
    environment,
    Layer.mergeAll(
      own,
      FixedRates.layer(),
      Remote.layer(network),
      Layer.provide(Server.web(environment), Server.guarded(environment))
    )
  )
})
