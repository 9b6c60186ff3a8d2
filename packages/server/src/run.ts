import * as NodeRuntime from "@effect/platform-node-shared/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Runtime } from "effect"
import * as CliConfig from "effect/cli/CliConfig"
import * as Command from "effect/cli/Command"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import * as Output from "./client/Output.ts"
import * as Presenter from "./client/Presenter.ts"
import { type Own, satrail, withOwn } from "./commands/Commands.ts"
import { version } from "./base/Version.ts"

const builtIns = CliConfig.layer({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions] })

/** Runs the command line as the process's main program, with the commands of the program's own features. */
export const run = (own: ReadonlyArray<Own> = []): void =>
  Command.run(own.length === 0 ? satrail : withOwn(own), { version }).pipe(
    Effect.catchTags({ CommandFailed: Output.explain, ConfigError: Output.explain }),
    Effect.provide([NodeServices.layer, builtIns, Presenter.layer]),
    (main) =>
      NodeRuntime.runMain(main, {
        // Keep an exit code that the command has set: the command has already reported its result.
        teardown: (exit, onExit) =>
          process.exitCode === undefined
            ? Runtime.defaultTeardown(exit, onExit)
            : onExit(Number(process.exitCode))
      })
  )
