import { ConfigProvider, Effect, Option } from "effect"
import { CommandFailed } from "@satrail/http/commands/CommandFailed"
import * as Environment from "../deployment/Environment.ts"
import * as Simulated from "../deployment/Simulated.ts"
import { Variables } from "../environment/Unknown.ts"
import * as Output from "../client/Output.ts"
import * as Program from "../serving/Program.ts"
import * as Server from "../serving/Server.ts"
import * as Events from "./Events.ts"

/**
 * Requests are logged only if explicitly enabled, because they would hide the events that the developer is
 * watching.
 */
const quiet = { SATRAIL_REQUEST_LOG: "no", SATRAIL_LOG_LEVEL: "warn" }

const following = { after: Option.none<string>(), types: Option.none<string>(), json: false }

/** Runs the sandbox like `satrail start` and prints or forwards its company's events. */
export const dev = Effect.fnUntraced(function* ({ forwardTo }: { readonly forwardTo: Option.Option<URL> }) {
  const variables = { ...quiet, ...(yield* Variables) }
  const environment = yield* Effect.mapError(Effect.fromResult(Environment.read(variables)), Output.failed)
  if (!Simulated.isSandbox(Simulated.of(environment)))
    return yield* new CommandFailed({
      message: "satrail dev only runs the sandbox. Unset LIGHTNING and CHAIN, or run `satrail start`."
    })
  const besides: Program.Besides = ({ url, demo }) => {
    if (demo === undefined) return Effect.void
    const provider = ConfigProvider.fromEnvRecord({ SATRAIL_URL: url, SATRAIL_API_KEY: demo.api_key })
    const events = Option.isSome(forwardTo)
      ? Events.listen({ ...following, forwardTo: forwardTo.value })
      : Events.tail(following)
    return events.pipe(
      Effect.provideService(ConfigProvider.ConfigProvider, provider),
      Effect.catch(Output.explain)
    )
  }
  yield* Effect.provideService(
    Program.main(Server.services, [], Environment.bundled, besides),
    Variables,
    variables
  )
})
