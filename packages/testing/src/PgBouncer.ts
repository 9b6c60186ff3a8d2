import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createConnection } from "node:net"
import { tmpdir } from "node:os"
import path from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { freePort } from "./freePort.ts"
import type { Installation, Missing } from "./PostgresServer.ts"

/** A PgBouncer in front of one server. It serves all databases of that server. */
export interface PgBouncer {
  readonly port: number
  readonly end: () => Promise<void>
}

const folders = ["/usr/sbin", "/usr/local/sbin", ...(process.env["PATH"] ?? "").split(path.delimiter)]

/** Finds PgBouncer on this machine. */
export const find = (): string | Missing =>
  folders.map((folder) => path.join(folder, "pgbouncer")).find((file) => existsSync(file)) ?? {
    missing: "pgbouncer was not found"
  }

const listens = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = createConnection(port, "127.0.0.1", () => {
      socket.destroy()
      resolve(true)
    }).on("error", () => resolve(false))
  })

/**
 * Starts PgBouncer with its default settings, except for `settings` (`name=value`). PgBouncer refuses to run as
 * root, so it runs as PostgreSQL's user.
 */
export const start = async (
  program: string,
  { uid, gid }: Pick<Installation, "uid" | "gid">,
  serverPort: number,
  settings: ReadonlyArray<string>
): Promise<PgBouncer> => {
  const directory = mkdtempSync(path.join(tmpdir(), "satrail-pgbouncer-"))
  const port = await freePort()
  const file = path.join(directory, "pgbouncer.ini")
  const lines = [
    "[databases]",
    `* = host=127.0.0.1 port=${serverPort} user=postgres`,
    "[pgbouncer]",
    "listen_addr=127.0.0.1",
    `listen_port=${port}`,
    "unix_socket_dir=",
    "auth_type=any",
    ...settings
  ]
  writeFileSync(file, `${lines.join("\n")}\n`)
  const identity = uid === undefined || gid === undefined ? {} : { uid, gid }
  if (uid !== undefined && gid !== undefined) for (const one of [directory, file]) chownSync(one, uid, gid)
  let said = ""
  const child: ChildProcess = spawn(program, [file], { ...identity, stdio: ["ignore", "ignore", "pipe"] })
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    said = (said + text).slice(-4000)
  })
  const kill = () => child.kill("SIGKILL")
  process.once("exit", kill)
  const end = async () => {
    process.off("exit", kill)
    if (child.exitCode === null && child.signalCode === null) {
      kill()
      await once(child, "exit")
    }
    rmSync(directory, { recursive: true })
  }
  while (!(await listens(port))) {
    if (child.exitCode !== null) {
      rmSync(directory, { recursive: true })
      throw new Error(`pgbouncer exited: ${said}`)
    }
    await pause(50)
  }
  return { port, end }
}
