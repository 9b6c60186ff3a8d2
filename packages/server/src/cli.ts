import * as NodeRuntime from "@effect/platform-node-shared/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Runtime } from "effect"
import * as CliConfig from "effect/cli/CliConfig"
import * as Command from "effect/cli/Command"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import * as Output from "./client/Output.ts"
import { satrail } from "./commands/Commands.ts"
import { version } from "./base/Version.ts"

// A wallet's file, and the folder that is made for it, are their owner's alone.
process.umask(0o077)

const builtIns = CliConfig.layer({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions] })

Command.run(satrail, { version }).pipe(
  Effect.catchTags({ CommandFailed: Output.explain, ConfigError: Output.explain }),
  Effect.provide([NodeServices.layer, builtIns]),
  (main) =>
    NodeRuntime.runMain(main, {
      // A command that has set an exit code has reported how this ends.
      teardown: (exit, onExit) =>
        process.exitCode === undefined ? Runtime.defaultTeardown(exit, onExit) : onExit(Number(process.exitCode))
    })
)
