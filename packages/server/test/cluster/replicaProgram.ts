// The service as `npm start` runs it, but for two things: its nodes are one network that all replicas share, at NETWORK_URL; and
// what it asks of its ports passes the points of POINTS_DIRECTORY, where a test may hold or kill it.
import * as Nostr from "@satrail/bitcoin/Nostr"
import { Place } from "@satrail/core/features/wallet-connect/WalletConnections"
import * as Satrail from "@satrail/core/service/Satrail"
import * as FixedRates from "@satrail/sandbox/FixedRates"
import * as PretendRelays from "@satrail/sandbox/PretendRelays"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import { Effect, Layer } from "effect"
import type { Environment } from "../../src/deployment/Environment.ts"
import * as Program from "../../src/serving/Program.ts"
import * as Server from "../../src/serving/Server.ts"
import * as Points from "./Points.ts"
import * as Remote from "./Remote.ts"

const given = (name: string): string => {
  const text = process.env[name]
  if (text === undefined) throw new Error(`${name} is missing`)
  return text
}

const services = (environment: Environment) => {
  // What is not in the network that all share, such as other people's name servers, each has for itself.
  const own = Layer.merge(Sandbox.layer({ seed: environment.sandboxSeed, network: environment.network }), PretendRelays.layer)
  const ports = Layer.mergeAll(
    Server.storage(environment),
    Layer.merge(own, Remote.layer(given("NETWORK_URL"))),
    FixedRates.layer(),
    Layer.succeed(Nostr.SecretKey, environment.nostrKey),
    Layer.succeed(Place, Server.walletPlace(environment))
  )
  // A replica asks the network whether it is there before it says that it is ready: that is no step of anybody's life.
  return Satrail.layer({ ...Server.settingsOf(environment), invoicePollMillis: 500, dutyLeaseMillis: 1500 }).pipe(
    Layer.provide(Server.webhooks(environment)),
    Layer.provide(Layer.effectContext(Effect.map(Effect.context<Satrail.Ports>(), Points.pass(given("POINTS_DIRECTORY"))))),
    Layer.provideMerge(ports)
  )
}

Program.run(services)
