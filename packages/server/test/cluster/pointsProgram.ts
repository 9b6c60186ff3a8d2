// The service as deployed, except that its port calls go through the points in POINTS_DIRECTORY, where a test
// can pause or kill the process.
import * as Nostr from "@satrail/bitcoin/Nostr"
import * as Satrail from "@satrail/service/core/Satrail"
import { Effect, Layer } from "effect"
import * as Identity from "../../src/deployment/Identity.ts"
import * as Program from "../../src/serving/Program.ts"
import * as Server from "../../src/serving/Server.ts"
import * as Points from "./Points.ts"

const directory = process.env["POINTS_DIRECTORY"]
if (directory === undefined) throw new Error("POINTS_DIRECTORY is missing")

Program.run((environment) =>
  Satrail.layer(Server.settingsOf(environment)).pipe(
    Layer.provide(Layer.effectContext(Effect.map(Effect.context<Satrail.Ports>(), Points.pass(directory)))),
    Layer.provideMerge(Server.outside(environment)),
    Layer.provideMerge(Identity.layer(Server.sandboxDirectory(environment))),
    Layer.provideMerge(
      Layer.merge(Server.storage(environment), Layer.succeed(Nostr.SecretKey, environment.nostrKey))
    )
  )
)
