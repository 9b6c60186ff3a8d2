import { execFileSync, fork } from "node:child_process"
import { once } from "node:events"
import { existsSync, globSync } from "node:fs"
import path from "node:path"

/** A PostgreSQL server of one's own, made from nothing and gone with its process, however that one ends. */
export interface PostgresServer {
  /** As a role that may do anything, without a password. */
  readonly url: string
  readonly port: number
  /** `immediate` is a crash: nothing is finished or written out. */
  readonly stop: (how: "fast" | "immediate") => Promise<void>
  /** Starts it again where it stopped, on the same port. */
  readonly restart: () => Promise<void>
  /** Where it is a standby: it takes writes from now on. */
  readonly promote: () => Promise<void>
  /** Where it has stopped: what it has that the server at this port does not is taken back, and from its next start it is that one's standby. */
  readonly follow: (port: number) => Promise<void>
  /** Stops it and removes everything. */
  readonly end: () => Promise<void>
}

/** What it takes to make one here: its programs, and the user that they run as. */
export interface Installation {
  readonly folder: string
  readonly uid?: number
  readonly gid?: number
}

/** No server can be made here, and why. */
export interface Missing {
  readonly missing: string
}

/** The first message to a keeper. */
export interface Order {
  readonly installation: Installation
  /** `name=value`, as in postgresql.conf. */
  readonly settings: ReadonlyArray<string>
  /** Text of files beside that configuration, readable to the server alone: certificates, their keys. */
  readonly files: Readonly<Record<string, string>>
  /** The port of the server whose standby it is; a copy of that one, settings of its own excepted. */
  readonly standbyOf?: number | undefined
}

/** What a keeper is asked for later. */
export type Request = "start" | "stop fast" | "stop immediate" | "promote" | `follow ${number}` | "end"

/** What it answers to each. */
export type Reply = { readonly port: number } | { readonly failed: string }

const programs = ["initdb", "postgres"]

/** The installation whose programs are in the folder TEST_POSTGRES; without it the newest of this machine. */
export const find = (): Installation | Missing => {
  const named = process.env["TEST_POSTGRES"]
  if (named !== undefined && !programs.every((name) => existsSync(path.join(named, name))))
    return { missing: `TEST_POSTGRES (${named}) does not have its programs` }
  const folder = [
    ...(named === undefined ? [] : [named]),
    ...globSync("/usr/lib/postgresql/*/bin").toSorted((a, b) => b.localeCompare(a, "en", { numeric: true })),
    ...(process.env["PATH"] ?? "").split(path.delimiter)
  ].find((folder) => programs.every((name) => existsSync(path.join(folder, name))))
  if (folder === undefined) return { missing: "its programs were not found" }
  if (process.getuid?.() !== 0) return { folder }
  try {
    const id = (flag: string) => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }))
    return { folder, uid: id("-u"), gid: id("-g") }
  } catch {
    return { missing: "it does not run as root, and there is no user postgres to run it as" }
  }
}

/** What makes a server fast, with what it takes to follow the one that took over from it. */
export const rewindable = ["fsync=off", "wal_log_hints=on", "wal_keep_size=512MB"]

/** What makes a server fast and forgetful: for data that need not outlive the machine's next power cut. */
export const careless = ["fsync=off", "full_page_writes=off"]

// A process of its own keeps the server, so that this one may be killed: it notices when we are gone. Not in our group, so that Ctrl-C is ours alone.
const keeper = path.join(import.meta.dirname, `keeper${path.extname(import.meta.filename)}`)

/** Makes a server and starts it, in about two seconds. */
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
      `PostgreSQL: ${typeof reply === "object" && reply !== null && "failed" in reply ? String(reply.failed) : "its keeper ended"}`
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
