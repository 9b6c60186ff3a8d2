import { execFileSync } from "node:child_process"
import { root } from "./Package.ts"

/** A command failed. The message contains its output. */
export class CommandFailed extends Error {
  readonly status: number
  constructor(message: string, status: number) {
    super(message)
    this.status = status
  }
}

/** Runs a command and returns its output. */
export const run = (command: string, args: ReadonlyArray<string>, cwd = root, env = process.env): string => {
  try {
    return execFileSync(command, args, {
      cwd,
      env,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
      maxBuffer: 64 * 1024 * 1024
    })
  } catch (cause) {
    const { stdout = "", stderr = "", status } = Object(cause)
    throw new CommandFailed(
      `\`${command} ${args.join(" ")}\` failed.\n${stdout}${stderr}`,
      Number(status ?? 1)
    )
  }
}
