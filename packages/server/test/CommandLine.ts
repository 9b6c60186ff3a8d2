import * as NodeServices from "@effect/platform-node/NodeServices"
import { ConfigProvider, Console, Effect } from "effect"
import { Command } from "effect/cli"
import * as Presenter from "../src/client/Presenter.ts"
import { satrail } from "../src/commands/Commands.ts"
import { withHelp } from "../src/commands/Help.ts"
import { Variables } from "../src/environment/Unknown.ts"
import { version } from "../src/base/Version.ts"

/**
 * Runs a command in this process and returns its output and exit code. `env` holds its settings. `hear`
 * receives each line as it is printed.
 */
export const run = (
  args: string,
  env: Record<string, string> = {},
  hear: (line: string) => void = () => {}
) =>
  Effect.gen(function* () {
    const [stdout, stderr]: readonly [Array<string>, Array<string>] = [[], []]
    const console: Console.Console = {
      ...globalThis.console,
      log: (...said) => {
        stdout.push(said.join(" "))
        hear(said.join(" "))
      },
      error: (...said) => void stderr.push(said.join(" "))
    }
    const exit = yield* Command.runWith(satrail, { version })(
      withHelp(args.split(" ").filter((word) => word !== ""))
    ).pipe(
      Effect.exit,
      Effect.provideService(Console.Console, console),
      Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnvRecord(env)),
      Effect.provideService(Variables, env),
      Effect.provide([NodeServices.layer, Presenter.layer])
    )
    return { exit, stdout: stdout.join("\n"), stderr: stderr.join("\n") }
  })
