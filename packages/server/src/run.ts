import * as NodeRuntime from "@effect/platform-node-shared/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import type { OwnFeature } from "@satrail/service/features/own"
import { Effect, Layer, Runtime } from "effect"
import * as CliConfig from "effect/cli/CliConfig"
import * as Command from "effect/cli/Command"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import * as Output from "./client/Output.ts"
import * as Presenter from "./client/Presenter.ts"
import { satrail, withOwn } from "./commands/Commands.ts"
import { withHelp } from "./commands/Help.ts"
import { version } from "./base/Version.ts"

const builtIns = CliConfig.layer({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions] })

/** Loaded only by a program that has features of its own, so that `--help` stays fast. */
const provided = (own: ReadonlyArray<OwnFeature>) =>
  Layer.unwrap(
    Effect.map(
      Effect.promise(() => import("@satrail/service/features/own")),
      ({ layer }) => layer(own)
    )
  )

/**
 * Runs the command line as the process's main program, with the commands of the program's own features. `start` runs
 * a service that has these features, and `migrate` and `verify` know their records.
 */
export const run = (own: ReadonlyArray<OwnFeature> = []): void =>
  Command.runWith(own.length === 0 ? satrail : withOwn(own), { version })(
    withHelp(process.argv.slice(2))
  ).pipe(
    Effect.catchTags({ CommandFailed: Output.explain, ConfigError: Output.explain }),
    own.length === 0 ? (main) => main : Effect.provide(provided(own)),
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
