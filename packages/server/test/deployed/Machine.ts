import { assert } from "@effect/vitest"
import { eventually } from "@satrail/testing/Waiting"
import { spawn } from "node:child_process"
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import path from "node:path"
import { directory } from "../Service.ts"

export const root = path.resolve(import.meta.dirname, "../../../..")

/** A running program and its output. */
export interface Running {
  readonly said: () => string
  readonly isOver: () => boolean
  readonly ended: Promise<number | NodeJS.Signals>
  readonly kill: (signal: NodeJS.Signals) => void
}

const alive = new Set<Running>()
process.once("exit", () => alive.forEach(({ kill }) => kill("SIGKILL")))

export const run = (
  command: string,
  args: ReadonlyArray<string>,
  env: Readonly<Record<string, string>>,
  cwd = "/"
): Running => {
  const child = spawn(command, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] })
  const said: Array<string> = []
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => said.push(text))
  let isOver = false
  const ended = new Promise<number | NodeJS.Signals>((resolve, reject) => {
    child.once("error", reject)
    child.once("close", (code, signal) => {
      isOver = true
      alive.delete(running)
      resolve(code ?? signal ?? -1)
    })
  })
  const running: Running = {
    said: () => said.join(""),
    isOver: () => isOver,
    ended,
    kill: (signal) => void child.kill(signal)
  }
  alive.add(running)
  return running
}

/** Parses an environment file like systemd and Node. */
export const environmentOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    text.split("\n").flatMap((line) => {
      const [, name, value = ""] = /^([A-Z_0-9]+)=(.*)$/.exec(line) ?? []
      return name === undefined ? [] : [[name, value.replace(/^"(.*)"$/, "$1")]]
    })
  )

const mark = "---satrail-block-done---"

/** The guide's machine as a folder: its /etc, /opt and /var are inside, and one shell runs its commands. */
export const make = (
  env: Readonly<Record<string, string>>,
  others: ReadonlyArray<readonly [text: string, by: string]>
) => {
  const home = directory()
  const at = (file: string) => path.join(home, file)
  for (const folder of [
    "bin",
    "etc/satrail",
    "etc/caddy",
    "etc/systemd/system",
    "opt",
    "var/lib/satrail",
    "var/backups"
  ]) {
    mkdirSync(at(folder), { recursive: true })
  }
  const command = (name: string, text: string) => {
    writeFileSync(at(`bin/${name}`), `#!/bin/bash\n${text}\n`)
    chmodSync(at(`bin/${name}`), 0o755)
  }
  // The only user is the one who runs the tests. As with sudo, the command inherits none of the environment
  // except the database's location.
  command("sudo", 'shift 2; exec env -i PATH="$PATH" PGHOST="$PGHOST" PGPORT="$PGPORT" PGUSER="$PGUSER" "$@"')
  command("systemctl", `echo "$@" >> ${at("systemctl.log")}`)
  command("lncli", `exec ${process.execPath} ${path.join(import.meta.dirname, "lncli.ts")} "$@"`)
  command("node", `exec ${process.execPath} "$@"`)

  const substituted = (text: string) =>
    [
      ["/usr/src/satrail", root],
      ...[
        "/etc/satrail",
        "/etc/caddy",
        "/etc/systemd",
        "/opt/satrail",
        "/var/lib/satrail",
        "/var/backups"
      ].map((file) => [file, at(file)]),
      ["/usr/bin/node", process.execPath],
      ["/tmp/withdrawals", at("withdrawals")],
      [" -o satrail -g satrail", ""],
      ["chown -R satrail", "true"],
      ...others
    ].reduce((text, [from = "", by = ""]) => text.replaceAll(from, by), text)

  // Keeps the variables needed for the registry and its cache, but no settings of the service.
  const kept = Object.entries(process.env).filter(([name]) =>
    /^(HOME|TMPDIR|XDG_.*|.*_proxy|npm_config_.*|NODE_EXTRA_CA_CERTS)$/i.test(name)
  )
  const shell = spawn("bash", ["-eu", "-o", "pipefail"], {
    cwd: root,
    env: { ...Object.fromEntries(kept), ...env, PATH: `${at("bin")}:${env["PATH"] ?? ""}` },
    stdio: ["pipe", "pipe", "pipe"]
  })
  let [printed, wrong] = ["", ""]
  shell.stdout.setEncoding("utf8").on("data", (text: string) => (printed += text))
  shell.stderr.setEncoding("utf8").on("data", (text: string) => (wrong += text))
  process.once("exit", () => shell.kill("SIGKILL"))

  return {
    home,
    at,
    substituted,
    /** Runs commands of the guide in the same shell as the previous ones and returns their output. */
    sh: async (text: string): Promise<string> => {
      const from = printed.length
      const file = at("block.sh")
      writeFileSync(file, substituted(text))
      shell.stdin.write(`. ${file} < /dev/null\nprintf '\\n%s\\n' '${mark}'\n`)
      await eventually(
        `the end of\n${text}`,
        async () => shell.exitCode !== null || printed.slice(from).includes(mark),
        (isSo) => isSo
      )
      if (shell.exitCode !== null)
        assert.fail(`ended with ${shell.exitCode}:\n${text}\n${printed.slice(from)}\n${wrong.slice(-3000)}`)
      return printed.slice(from, printed.indexOf(mark, from)).trim()
    },
    /** The `systemctl` calls since the previous query, one per line. */
    systemctl: (): ReadonlyArray<string> => {
      const lines = readFileSync(at("systemctl.log"), "utf8").trim().split("\n")
      writeFileSync(at("systemctl.log"), "")
      return lines
    },
    /** Starts a unit as instance `name`, with changes to its environment. */
    start: (unit: string, name: string, more: Readonly<Record<string, string>>, app?: string): Running => {
      const text = substituted(readFileSync(at(`etc/systemd/system/${unit}`), "utf8")).replaceAll("%i", name)
      const value = (key: string) =>
        new RegExp(`^${key}=(.*)$`, "m").exec(text)?.[1] ?? assert.fail(`${unit} has no ${key}`)
      const own = Object.fromEntries(
        value("Environment")
          .split(" ")
          .map((one): readonly [string, string] => [
            one.slice(0, one.indexOf("=")),
            one.slice(one.indexOf("=") + 1)
          ])
      )
      const [program = "", ...args] = value("ExecStart").split(" ")
      mkdirSync(at(`var/lib/${value("StateDirectory")}`), { recursive: true, mode: 0o700 })
      const settings = environmentOf(readFileSync(value("EnvironmentFile"), "utf8"))
      const moved = app === undefined ? args : args.map((arg) => arg.replace(at("opt/satrail"), app))
      return run(program, moved, { ...own, ...settings, ...more })
    },
    end: () => void shell.kill("SIGKILL")
  }
}
export type Machine = ReturnType<typeof make>
