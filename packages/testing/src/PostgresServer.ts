import { execFileSync, fork } from "node:child_process"
import { once } from "node:events"
import { existsSync, globSync } from "node:fs"
import path from "node:path"

/** A new PostgreSQL server. It is removed when this process exits for any reason. */
export interface PostgresServer {
  /** The connection URL for a superuser that needs no password. */
  readonly url: string
  readonly port: number
  /** `immediate` simulates a crash: nothing is completed or flushed. */
  readonly stop: (how: "fast" | "immediate") => Promise<void>
  /** Restarts the server on the same port. */
  readonly restart: () => Promise<void>
  /** Promotes a standby, so that it accepts writes. */
  readonly promote: () => Promise<void>
  /**
   * Rewinds a stopped server to the state that it shares with the server at this port, so that it restarts as
   * that server's standby.
   */
  readonly follow: (port: number) => Promise<void>
  /** Stops the server and removes all data. */
  readonly end: () => Promise<void>
}

/** The folder with PostgreSQL's programs on this machine, and the user that runs them. */
export interface Installation {
  readonly folder: string
  readonly uid?: number
  readonly gid?: number
}

/** The reason why a server cannot be created on this machine. */
export interface Missing {
  readonly missing: string
}

/** The first message to a keeper. */
export interface Order {
  readonly installation: Installation
  /** `name=value`, as in postgresql.conf. */
  readonly settings: ReadonlyArray<string>
  /** The contents of additional files, such as certificates and keys. Only the server can read them. */
  readonly files: Readonly<Record<string, string>>
  /**
   * The port of a primary. If set, the new server becomes that primary's standby and copies everything from the
   * primary except the settings above.
   */
  readonly standbyOf?: number | undefined
}

/** Later requests to a keeper. */
export type Request = "start" | "stop fast" | "stop immediate" | "promote" | `follow ${number}` | "end"

/** The response to each request. */
export type Reply = { readonly port: number } | { readonly failed: string }

const programs = ["initdb", "postgres"]

/**
 * Finds the installation in the folder TEST_POSTGRES. If that is not set, finds the newest installation on this
 * machine.
 */
export const find = (): Installation | Missing => {
  const named = process.env["TEST_POSTGRES"]
  if (named !== undefined && !programs.every((name) => existsSync(path.join(named, name))))
    return { missing: `TEST_POSTGRES (${named}) does not contain PostgreSQL's programs` }
  const folder = [
    ...(named === undefined ? [] : [named]),
    ...globSync("/usr/lib/postgresql/*/bin").toSorted((a, b) => b.localeCompare(a, "en", { numeric: true })),
    ...(process.env["PATH"] ?? "").split(path.delimiter)
  ].find((folder) => programs.every((name) => existsSync(path.join(folder, name))))
  if (folder === undefined) return { missing: "PostgreSQL's programs were not found" }
  if (process.getuid?.() !== 0) return { folder }
  try {
    const id = (flag: string) =>
      Number(
        execFileSync("id", [flag, "postgres"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] })
      )
    return { folder, uid: id("-u"), gid: id("-g") }
  } catch {
    return { missing: "PostgreSQL does not run as root, and there is no user postgres" }
  }
}

/** Fast settings that allow a former primary to follow the server that took over from it. */
export const rewindable = ["fsync=off", "wal_log_hints=on", "wal_keep_size=512MB"]

/** Fast settings without durability, for data that doesn't need to survive a power failure. */
export const careless = ["fsync=off", "full_page_writes=off"]

// A separate process, the keeper, owns the server, so that the server is removed even if this process is
// killed. The keeper is not in our process group, so that Ctrl-C does not reach it.
const keeper = path.join(import.meta.dirname, `keeper${path.extname(import.meta.filename)}`)

/** Creates and starts a server. This takes about two seconds. */
export const start = async (
  installation: Installation,
  { settings = careless, files = {}, standbyOf }: Partial<Omit<Order, "installation">> = {}
): Promise<PostgresServer> => {
  const child = fork(keeper, [], {
    detached: true,
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    execArgv: []
  })
  const ask = async (message: Order | Request): Promise<number> => {
    child.send(message)
    const [reply]: ReadonlyArray<unknown> = await Promise.race([
      once(child, "message"),
      once(child, "exit").then(() => [])
    ])
    if (typeof reply === "object" && reply !== null && "port" in reply && typeof reply.port === "number")
      return reply.port
    throw new Error(
      `PostgreSQL: ${typeof reply === "object" && reply !== null && "failed" in reply ? String(reply.failed) : "the keeper exited"}`
    )
  }
  const order: Order = { installation, settings, files, standbyOf }
  const port = await ask(order).catch((cause: unknown) => {
    child.disconnect()
    throw cause
  })
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    port,
    stop: async (how) => void (await ask(`stop ${how}`)),
    restart: async () => void (await ask("start")),
    promote: async () => void (await ask("promote")),
    follow: async (port) => void (await ask(`follow ${port}`)),
    end: async () => {
      await ask("end")
      child.disconnect()
    }
  }
}
