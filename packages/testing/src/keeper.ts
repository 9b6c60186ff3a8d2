// Owns a PostgreSQL server for the process that started this one. Removes the server on request, or when that
// process exits.
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { chownSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { freePort } from "./freePort.ts"
import type { Order, Reply, Request } from "./PostgresServer.ts"

const keptCharacters = 4000
const maxStopMillis = 10_000
const maxPorts = 5

/** Creates a new database cluster in this directory. */
const make = (
  directory: string,
  { installation: { folder, uid, gid }, settings, files, standbyOf }: Order
) => {
  const identity = uid === undefined || gid === undefined ? {} : { uid, gid }
  const own = (file: string) => {
    if (uid !== undefined && gid !== undefined) chownSync(file, uid, gid)
  }
  own(directory)
  const data = path.join(directory, "data")
  const env = { ...process.env, LC_ALL: "C" }
  const run = (program: string, ...args: ReadonlyArray<string>) =>
    void execFileSync(path.join(folder, program), args, {
      ...identity,
      env,
      cwd: directory,
      stdio: ["ignore", "ignore", "pipe"]
    })
  if (standbyOf === undefined)
    run("initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync")
  else
    run(
      "pg_basebackup",
      "-D",
      data,
      "-R",
      "-h",
      "127.0.0.1",
      "-p",
      String(standbyOf),
      "-U",
      "postgres",
      "--checkpoint=fast",
      "--no-sync"
    )
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(path.join(data, name), text, { mode: 0o600 })
    own(path.join(data, name))
  }
  let server: ChildProcess | undefined
  let port: number | undefined

  const tryStart = async (at: number): Promise<"ready" | string> => {
    const all = ["listen_addresses=127.0.0.1", "unix_socket_directories=", "max_connections=300", ...settings]
    const child = spawn(
      path.join(folder, "postgres"),
      ["-D", data, "-p", String(at), ...all.flatMap((one) => ["-c", one])],
      {
        ...identity,
        env,
        cwd: directory,
        stdio: ["ignore", "ignore", "pipe"]
      }
    )
    let said = ""
    let isReady = false
    return new Promise((resolve) => {
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        said = (said + text).slice(-keptCharacters)
        if (isReady || !/ready to accept (read-only )?connections/.test(said)) return
        isReady = true
        server = child
        resolve("ready")
      })
      child.once("error", (error) => resolve(error.message))
      child.once("close", () => resolve(said))
    })
  }

  return {
    start: async (): Promise<Reply> => {
      let said = ""
      for (let tries = 0; tries < maxPorts; tries++) {
        const at = port ?? (await freePort())
        said = await tryStart(at)
        if (said === "ready") {
          port = at
          return { port }
        }
        if (!said.includes("could not create any TCP/IP sockets")) break
      }
      return { failed: said }
    },
    stop: async (how: "fast" | "immediate"): Promise<Reply> => {
      const child = server
      if (child === undefined || port === undefined) return { failed: "the server is not running" }
      server = undefined
      if (child.exitCode !== null || child.signalCode !== null) return { port }
      const over = once(child, "exit")
      child.kill(how === "fast" ? "SIGINT" : "SIGQUIT")
      const patience = setTimeout(() => child.kill("SIGQUIT"), maxStopMillis)
      await over
      clearTimeout(patience)
      return { port }
    },
    promote: async (): Promise<Reply> => {
      if (port === undefined) return { failed: "the server is not running" }
      run("pg_ctl", "promote", "-D", data)
      return { port }
    },
    follow: async (other: string): Promise<Reply> => {
      if (port === undefined || server !== undefined) return { failed: "the server has not stopped" }
      // Run a checkpoint on the other server, because until then its files show its previous timeline.
      run("psql", "-X", "-q", "-h", "127.0.0.1", "-p", other, "-U", "postgres", "-c", "checkpoint")
      run(
        "pg_rewind",
        "-D",
        data,
        "-R",
        "--no-sync",
        `--source-server=host=127.0.0.1 port=${other} user=postgres dbname=postgres`
      )
      return { port }
    }
  }
}

const directory = mkdtempSync(path.join(tmpdir(), "satrail-throwaway-"))
let kept: ReturnType<typeof make> | undefined

const serve = async (message: Order | Request): Promise<Reply> => {
  if (typeof message === "object") {
    kept = make(directory, message)
    return kept.start()
  }
  if (message === "end") {
    await kept?.stop("fast")
    rmSync(directory, { recursive: true, force: true })
    return { port: 0 }
  }
  if (kept === undefined) return { failed: "the server was not created" }
  switch (message) {
    case "promote":
      return kept.promote()
    case "start":
      return kept.start()
    case "stop fast":
      return kept.stop("fast")
    case "stop immediate":
      return kept.stop("immediate")
    default:
      return kept.follow(message.slice("follow ".length))
  }
}

// Handle one request at a time, so that a stop requested during a start waits for the start.
let busy = Promise.resolve()
const answer = async (before: Promise<void>, message: Order | Request): Promise<void> => {
  await before
  const reply = await serve(message).catch((error: unknown): Reply => ({ failed: String(error) }))
  if (process.connected) process.send?.(reply)
}
const next = (message: Order | Request) => {
  busy = answer(busy, message)
}
process.on("message", next)
process.once("disconnect", async () => {
  next("end")
  await busy
  process.exit(0)
})
