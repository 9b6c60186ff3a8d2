import { Console, Effect } from "effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import { spawn } from "node:child_process"
import { CommandFailed } from "@satrail/http/commands/CommandFailed"
import * as Operator from "../client/Operator.ts"

const opener = (platform: NodeJS.Platform): readonly [command: string, ...args: ReadonlyArray<string>] =>
  platform === "darwin" ? ["open"] : platform === "win32" ? ["cmd", "/c", "start", ""] : ["xdg-open"]

/** Ignores a failure, because the address is also printed. */
const browse = (url: string) =>
  Effect.sync(() => {
    const [command, ...args] = opener(process.platform)
    spawn(command, [...args, url], { detached: true, stdio: "ignore" })
      .on("error", () => undefined)
      .unref()
  })

export const open = Effect.fnUntraced(function* ({ json }: { readonly json: boolean }) {
  const { url, file } = yield* Operator.target("/v1/")
  const address = new URL("/console", url).href
  const { status } = yield* HttpClient.get(address).pipe(
    Effect.provide(FetchHttpClient.layer),
    Effect.mapError(Operator.away(url))
  )
  if (status !== 200)
    return yield* new CommandFailed({
      message: `There is no console at ${address} (HTTP ${status}). Check that SATRAIL_CONSOLE is not "no".`
    })
  const how =
    file === undefined
      ? "Sign in with the API key in SATRAIL_API_KEY."
      : `Sign in with the API key: copy the value of "api_key" from ${file}.\nA sandbox also prints a new sign-in link each time it starts.`
  yield* Console.log(json ? JSON.stringify({ url: address }) : `${address}\n${how}`)
  if (!json && process.stdout.isTTY) yield* browse(address)
})
