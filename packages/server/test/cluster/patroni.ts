// Runs three PostgreSQL servers under Patroni with deploy/patroni/patroni.yaml, kills the leader under the
// service's load and prints one line of results per failover. ETCD and PATRONI name the programs (Debian's
// etcd-server; `pip install 'patroni[etcd3]' psycopg2-binary`). Source of the figures in
// docs/guides/high-availability.md.
import * as Client from "@satrail/testing/Client"
import { freePort } from "@satrail/testing/freePort"
import * as PostgresServer from "@satrail/testing/PostgresServer"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import {
  chownSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { eventually } from "../Service.ts"
import * as Callers from "./Callers.ts"
import * as Cluster from "./Cluster.ts"

const found = PostgresServer.find()
if ("missing" in found) throw new Error(`there is no PostgreSQL here: ${found.missing}`)
const { folder, ...identity } = found
const programs = { etcd: process.env["ETCD"] ?? "etcd", patroni: process.env["PATRONI"] ?? "patroni" }
const template = readFileSync(
  path.join(import.meta.dirname, "../../../../deploy/patroni/patroni.yaml"),
  "utf8"
)

const home = mkdtempSync(path.join(tmpdir(), "satrail-patroni-"))
const own = (file: string) => {
  if (identity.uid !== undefined && identity.gid !== undefined) chownSync(file, identity.uid, identity.gid)
}
own(home)

const children = new Set<ChildProcess>()
process.once("exit", () => children.forEach((child) => child.kill("SIGTERM")))
const begin = (name: string, program: string, args: ReadonlyArray<string>): ChildProcess => {
  const log = openSync(path.join(home, `${name}.log`), "a")
  const child = spawn(program, args, { ...identity, cwd: home, stdio: ["ignore", log, log] })
  closeSync(log)
  children.add(
    child
      .once("exit", () => children.delete(child))
      .once("error", (error) => process.stderr.write(`${error.message}\n`))
  )
  return child
}

const [etcdPort, peerPort] = [await freePort(), await freePort()]
const etcd = begin("etcd", programs.etcd, [
  `--data-dir=${path.join(home, "etcd")}`,
  `--listen-client-urls=http://127.0.0.1:${etcdPort}`,
  `--advertise-client-urls=http://127.0.0.1:${etcdPort}`,
  `--listen-peer-urls=http://127.0.0.1:${peerPort}`,
  `--initial-advertise-peer-urls=http://127.0.0.1:${peerPort}`,
  `--initial-cluster=default=http://127.0.0.1:${peerPort}`
])

interface Node {
  readonly name: string
  readonly url: string
  readonly port: number
  readonly start: () => void
  /** Simulates the loss of the machine: no work is finished, and no data is flushed. */
  readonly kill: () => void
}

const nodeOf = async (name: string): Promise<Node> => {
  const [port, restPort, directory] = [await freePort(), await freePort(), path.join(home, name)]
  const values = {
    NAME: name,
    HOST: "127.0.0.1",
    PORT: port,
    REST_PORT: restPort,
    ETCD: `127.0.0.1:${etcdPort}`,
    DIRECTORY: directory,
    BIN: folder
  }
  const text = Object.entries(values).reduce(
    (all, [key, value]) => all.replaceAll(`{${key}}`, String(value)),
    template
  )
  const file = path.join(home, `${name}.yaml`)
  writeFileSync(file, text)
  mkdirSync(directory)
  own(directory)
  let keeper: ChildProcess | undefined
  return {
    name,
    port,
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    start: () => {
      keeper = begin(name, programs.patroni, [file])
    },
    kill: () => {
      keeper?.kill("SIGKILL")
      process.kill(
        Number(readFileSync(path.join(directory, "data/postmaster.pid"), "utf8").split("\n")[0]),
        "SIGKILL"
      )
    }
  }
}

const ask = ({ url }: Node, text: string): string | undefined => {
  try {
    return Client.run(found, "psql", [
      "--no-psqlrc",
      "--quiet",
      "--tuples-only",
      "--no-align",
      `--command=${text}`,
      url
    ]).trim()
  } catch {
    return undefined // not reachable
  }
}

const nodes = [await nodeOf("one"), await nodeOf("two"), await nodeOf("three")]
for (const node of nodes) node.start()

/** Waits until both other servers follow the leader and commits wait for one of them. Returns the leader. */
const leader = async (): Promise<Node> => {
  const isLed = (node: Node) =>
    ask(node, "select count(*) from pg_stat_replication where sync_state = 'quorum'") === "2"
  const seen = await eventually(
    "a leader with two others",
    async () => nodes.find(isLed),
    (node) => node !== undefined
  )
  if (seen === undefined) throw new Error("there is no leader")
  return seen
}

const first = await leader()
const never = () => Promise.reject(new Error("only Patroni may do that"))
const postgres: PostgresServer.PostgresServer = {
  url: `postgres://postgres@${nodes.map(({ port }) => `127.0.0.1:${port}`).join(",")}/postgres`,
  port: first.port,
  stop: never,
  restart: never,
  promote: never,
  follow: never,
  end: async () => {
    for (const child of children) if (child !== etcd) child.kill("SIGTERM")
    await Promise.all([...children].map((child) => (child === etcd ? undefined : once(child, "exit"))))
    etcd.kill("SIGTERM")
    rmSync(home, { recursive: true, force: true })
  }
}

const cluster = await Cluster.make({ postgres: async () => postgres })
try {
  const callers = await Callers.make(cluster, 12)
  await callers.during(async () => {
    for (let times = 1; times <= 2; times++) {
      await callers.grows("answers", callers.answers, 200)
      const dying = await leader()
      const [goneAt, before] = [performance.now(), callers.answers()]
      dying.kill()
      await callers.grows("responses from the new leader", callers.answers, 200)
      const seconds = callers.secondsWithout(goneAt).toFixed(1)
      dying.start()
      const next = await leader()
      process.stdout.write(
        `${dying.name} was killed after ${before} acknowledged payments: ${seconds} s without a response, then ${next.name} became the leader, and ${dying.name} follows it\n`
      )
    }
  })
  cluster.overslept()
  await callers.served()
  process.stdout.write(
    `acknowledged ${callers.answers()}, missing ${await callers.missing()}, without a response ${callers.losses()}\n`
  )
  await callers.agree()
  await cluster.complete()
  await cluster.audit()
  process.stdout.write(
    "every caller has its response, the books balance, and the node paid each payee once\n"
  )
} finally {
  await cluster.end()
}
