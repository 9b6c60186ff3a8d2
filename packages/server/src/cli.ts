import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect } from "effect"
import { Command } from "effect/cli"
import { FetchHttpClient } from "effect/http"
import { satrail } from "./Commands.ts"
import { version } from "./Version.ts"

// A wallet's file, and the folder that is made for it, are their owner's alone.
process.umask(0o077)

Command.run(satrail, { version }).pipe(
  Effect.catchTag("CommandFailed", ({ message }) =>
    Effect.andThen(
      Console.error(message),
      Effect.sync(() => {
        process.exitCode = 1
      })
    )
  ),
  Effect.provide([NodeServices.layer, FetchHttpClient.layer]),
  NodeRuntime.runMain
)
