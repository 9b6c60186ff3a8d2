// The service as `npm start` runs it, with two differences: its nodes are in one network shared by all
// replicas, at NETWORK_URL, and its port calls go through the points in POINTS_DIRECTORY, where a test can
// pause or kill the replica.
import * as Nostr from "@satrail/bitcoin/Nostr"
import * as Audit from "@satrail/core/ledger/Audit"
import * as Satrail from "@satrail/service/core/Satrail"
import * as FixedRates from "@satrail/sandbox/FixedRates"
import * as SimulatedRelays from "@satrail/sandbox/SimulatedRelays"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import { Effect, Layer } from "effect"
import type { Environment } from "../../src/deployment/Environment.ts"
import * as Secrets from "../../src/deployment/Secrets.ts"
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
  // Parts outside the shared network, such as external name servers, are separate for each replica.
  const own = Layer.merge(
    Sandbox.layer({ seed: environment.sandboxSeed, network: environment.network }),
    SimulatedRelays.layer
  )
  const ports = Layer.mergeAll(
    Server.storage(environment),
    Layer.merge(own, Remote.layer(given("NETWORK_URL"))),
    FixedRates.layer(),
    Layer.succeed(Nostr.SecretKey, environment.nostrKey),
    Layer.succeed(Audit.Signing, Secrets.auditSignerOf(environment))
  )
  // A replica calls the network before it reports that it is ready. That call is not part of any scenario.
  return Satrail.layer({
    ...Server.settingsOf(environment),
    invoicePollMillis: 500,
    dutyLeaseMillis: 1500
  }).pipe(
    Layer.provide(Server.references(environment)),
    Layer.provide(
      Layer.effectContext(Effect.map(Effect.context<Satrail.Ports>(), Points.pass(given("POINTS_DIRECTORY"))))
    ),
    Layer.provideMerge(ports)
  )
}

Program.run(services)
