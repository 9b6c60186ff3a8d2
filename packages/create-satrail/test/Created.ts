import { assert } from "@effect/vitest"
import { freePort } from "@satrail/testing/freePort"
import { eventually } from "@satrail/testing/Waiting"
import { boundPort } from "@satrail/testing/boundPort"
import { type ChildProcess, execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { createServer } from "node:net"
import { setTimeout } from "node:timers/promises"

/** Type-checks a project and returns the compiler's errors. Empty if there are none. */
export const problems = (tsc: string, folder: string): Promise<string> =>
  new Promise((resolve) => {
    execFile(process.execPath, [tsc, "-p", folder, "--pretty", "false"], (_error, stdout, stderr) =>
      resolve(`${stdout}${stderr}`)
    )
  })

/** The output of each kind of project after the sandbox has paid. */
export const paid = {
  shop: /^Order \S+ is paid\./m,
  wallet:
    /^(?=[^]*^Sent 1000 sats to bob@\S+\.$)(?=[^]*^Received 1000 sats\.)(?=[^]*^Sent 500 sats to settle@wallet\.example\.$)/m,
  payouts: /^Paid 1000 sats to settle@wallet\.example\.$/m,
  bare: /^Received 1000 sats\./m
}

interface Start {
  readonly folder: string
  readonly command: ReadonlyArray<string>
  readonly says: RegExp
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly onPaid?: (origin: string) => Promise<void>
}

/** Signals every process of a detached child, as Ctrl-C in a terminal does. Returns whether any process exists. */
const signalAll = ({ pid = 0 }: ChildProcess, signal: NodeJS.Signals | 0): boolean => {
  try {
    return process.kill(-pid, signal)
  } catch {
    return false
  }
}

const waitMillis = 600_000

/** Starts a project on a port that another program uses, and checks that it ends with one line about the port. */
export const endsOnTakenPort = async ({
  folder,
  command: [command = "", ...args],
  env = {}
}: Omit<Start, "says" | "onPaid">) => {
  const taken = createServer().listen(0, "127.0.0.1")
  const port = await boundPort(taken)
  const child = spawn(command, args, {
    cwd: folder,
    env: {
      PATH: process.env["PATH"],
      HOME: process.env["HOME"],
      ...env,
      PORT: String(port),
      HOST: "127.0.0.1"
    },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true
  })
  let said = ""
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (said += text))
  const timeout = global.setTimeout(() => signalAll(child, "SIGKILL"), waitMillis)
  const [code] = await once(child, "close")
  clearTimeout(timeout)
  taken.close()
  assert.match(said, new RegExp(`EADDRINUSE: .*\\b${port}\\. Set another PORT in \\.env\\.$`, "m"))
  assert.notMatch(said, /^ +at /m)
  assert.notInclude(said, "Open http://")
  assert.strictEqual(code, 1, said)
}

/**
 * Starts a project, opens its page, waits until it reports the payment, and stops it while the page is open.
 * Returns all of its output.
 */
export const runs = async ({
  folder,
  command: [command = "", ...args],
  says,
  env = {},
  onPaid
}: Start): Promise<string> => {
  const port = await freePort()
  const child: ChildProcess = spawn(command, args, {
    cwd: folder,
    env: {
      PATH: process.env["PATH"],
      HOME: process.env["HOME"],
      ...env,
      PORT: String(port),
      HOST: "127.0.0.1"
    },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true
  })
  let said = ""
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (text: string) => (said += text))
  const ended = once(child, "exit")
  let updates: Response | undefined
  try {
    const end = Date.now() + waitMillis
    const page = async (): Promise<Response> => {
      const found = await fetch(`http://127.0.0.1:${port}/`, { redirect: "manual" }).catch(() => undefined)
      if (found !== undefined && found.status < 500) return found
      assert.isNull(child.exitCode, said)
      assert.isBelow(Date.now(), end, said)
      await setTimeout(100)
      return page()
    }
    const home = await page()
    assert.strictEqual(home.status, 303, said)
    const { pathname } = new URL(home.headers.get("location") ?? "", `http://127.0.0.1:${port}`)
    assert.match(pathname, /^\/pay\/[\w-]+$/)
    const checkout = await fetch(`http://127.0.0.1:${port}${pathname}`)
    const text = await checkout.text()
    assert.strictEqual(checkout.status, 200, text)
    assert.include(text, "<!doctype html>")
    const script = await fetch(
      new URL(
        /(?:src|href)="([^"]+\.(?:js|css)[^"]*)"/.exec(text)?.[1] ?? assert.fail(text),
        `http://127.0.0.1:${port}${pathname}`
      )
    )
    assert.strictEqual(script.status, 200, "what the page loads is there")
    while (!says.test(said)) {
      assert.isBelow(Date.now(), end, said)
      await setTimeout(50)
    }
    await onPaid?.(`http://127.0.0.1:${port}`)
    // The page keeps this stream open, and a project must not wait for it.
    updates = await fetch(`http://127.0.0.1:${port}${pathname}/state`, {
      headers: { accept: "text/event-stream" }
    })
    assert.strictEqual(updates.headers.get("content-type"), "text/event-stream")
  } finally {
    signalAll(child, "SIGTERM")
  }
  // npm can exit before the programs that it started.
  await eventually(
    "the project's processes end",
    async () => signalAll(child, 0),
    (alive) => !alive
  ).finally(() => signalAll(child, "SIGKILL"))
  await updates?.body?.cancel().catch(() => {}) // keeps the stream referenced, and so open, until here
  const [code, signal] = await ended
  assert.isTrue(code === 0 || signal === "SIGTERM" || code === 143, `${code} ${signal}: ${said}`)
  return said
}
