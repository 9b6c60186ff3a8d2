import * as NodeServices from "@effect/platform-node/NodeServices"
import { ConfigProvider, Console, Effect } from "effect"
import { Command } from "effect/cli"
import { satrail } from "../src/commands/Commands.ts"
import { Variables } from "../src/environment/Unknown.ts"
import { version } from "../src/base/Version.ts"

/** What a command prints, and how it ends, in this process. `env` is what it reads its settings from. */
export const run = (args: string, env: Record<string, string> = {}) =>
  Effect.gen(function* () {
    const [stdout, stderr]: readonly [Array<string>, Array<string>] = [[], []]
    const console: Console.Console = {
      ...globalThis.console,
      log: (...said) => void stdout.push(said.join(" ")),
      error: (...said) => void stderr.push(said.join(" "))
    }
    const exit = yield* Command.runWith(satrail, { version })(args.split(" ").filter((word) => word !== "")).pipe(
      Effect.exit,
      Effect.provideService(Console.Console, console),
      Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnvRecord(env)),
      Effect.provideService(Variables, env),
      Effect.provide(NodeServices.layer)
    )
    return { exit, stdout: stdout.join("\n"), stderr: stderr.join("\n") }
  })
