import { execFileSync, fork } from "node:child_process"
import { once } from "node:events"
import { existsSync, globSync } from "node:fs"
import path from "node:path"

/** A new PostgreSQL server. It is removed when this process exits, for whatever reason. */
export interface PostgresServer {
  /** The connection URL of a superuser without a password. */
  readonly url: string
  readonly port: number
  /** `immediate` simulates a crash, in which nothing is completed or flushed. */
  readonly stop: (how: "fast" | "immediate") => Promise<void>
  /** Restarts it on the same port. */
  readonly restart: () => Promise<void>
  /** Promotes a standby, so that it accepts writes. */
  readonly promote: () => Promise<void>
  /**
   * Rewinds a stopped server past everything that the server at this port doesn't have, so that it restarts as
   * that server's standby.
   */
  readonly follow: (port: number) => Promise<void>
  /** Stops it and removes all data. */
  readonly end: () => Promise<void>
}

/** Where the server's programs are on this machine, and the user as which they run. */
export interface Installation {
  readonly folder: string
  readonly uid?: number
  readonly gid?: number
}

/** Why no server can be created on this machine. */
export interface Missing {
  readonly missing: string
}

/** The first message to a keeper. */
export interface Order {
  readonly installation: Installation
  /** `name=value`, as in postgresql.conf. */
  readonly settings: ReadonlyArray<string>
  /** Contents of additional files that only the server can read, such as certificates and keys. */
  readonly files: Readonly<Record<string, string>>
  /** The port of a primary. The new server is its standby and copies everything except these settings. */
  readonly standbyOf?: number | undefined
}

/** Later requests to a keeper. */
export type Request = "start" | "stop fast" | "stop immediate" | "promote" | `follow ${number}` | "end"

/** The response to each request. */
export type Reply = { readonly port: number } | { readonly failed: string }

const programs = ["initdb", "postgres"]

/** Finds the installation in the folder TEST_POSTGRES, or the newest one on this machine. */
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
    const id = (flag: string) => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }))
    return { folder, uid: id("-u"), gid: id("-g") }
  } catch {
    return { missing: "PostgreSQL does not run as root, and there is no user postgres" }
  }
}

/** Fast settings with which a former primary can follow the server that took over from it. */
export const rewindable = ["fsync=off", "wal_log_hints=on", "wal_keep_size=512MB"]

/** Fast settings without durability, for data that need not survive a power failure. */
export const careless = ["fsync=off", "full_page_writes=off"]

// A separate process, the keeper, owns the server, so that the server is removed even if this process is
// killed. The keeper is not in our process group, so that Ctrl-C does not reach it.
const keeper = path.join(import.meta.dirname, `keeper${path.extname(import.meta.filename)}`)

/** Creates and starts a server, in about two seconds. */
export const start = async (
  installation: Installation,
  { settings = careless, files = {}, standbyOf }: Partial<Omit<Order, "installation">> = {}
): Promise<PostgresServer> => {
  const child = fork(keeper, [], { detached: true, stdio: ["ignore", "ignore", "inherit", "ipc"], execArgv: [] })
  const ask = async (message: Order | Request): Promise<number> => {
    child.send(message)
    const [reply]: ReadonlyArray<unknown> = await Promise.race([once(child, "message"), once(child, "exit").then(() => [])])
    if (typeof reply === "object" && reply !== null && "port" in reply && typeof reply.port === "number") return reply.port
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
