import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, Runtime } from "effect"
import { Command } from "effect/cli"
import { FetchHttpClient } from "effect/http"
import { CommandFailed } from "./CommandFailed.ts"
import { satrail } from "./Commands.ts"
import * as Environment from "./Environment.ts"
import { version } from "./Version.ts"

// A wallet's file, and the folder that is made for it, are their owner's alone.
process.umask(0o077)

// A misspelt variable is a default that nobody chose, here as in the service. `check` and `start` say so in their own lines.
const spelt = Effect.suspend(() => {
  const problems = ["check", "start"].includes(process.argv[2] ?? "") ? [] : Environment.unknown(process.env)
  return problems.length === 0 ? Effect.void : Effect.fail(new CommandFailed({ message: problems.join("\n") }))
})

Effect.andThen(spelt, Command.run(satrail, { version })).pipe(
  Effect.catchTag("CommandFailed", ({ message }) =>
    Effect.andThen(
      Console.error(message),
      Effect.sync(() => {
        process.exitCode = 1
      })
    )
  ),
  Effect.provide([NodeServices.layer, FetchHttpClient.layer]),
  NodeRuntime.runMain({
    // Who has decided how the process ends has said so: a service that was told to stop, and stopped, has not failed.
    teardown: (exit, onExit) => (process.exitCode === undefined ? Runtime.defaultTeardown(exit, onExit) : onExit(Number(process.exitCode)))
  })
)
