// Runs the README's quickstart and compares what it prints with what it shows: node scripts/readme.mjs
//
// A block that opens with ```sh run is run, all of them in one shell and in order, against a service started for it on a free port and in a
// directory of its own. A block that opens with a language and `output` right after it is what it must print; … stands for any text
// on that line that differs from run to run. All of them are run three times: first of all; a second time; and on a service that is new
// again, after the commands that it prints at its start. What was there before may change numbers, and nothing else.
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import path from "node:path"
import { setTimeout } from "node:timers/promises"

const root = path.resolve(import.meta.dirname, "..")
const shown = { url: "http://127.0.0.1:8080", data: ".satrail" }

/** @param {string} markdown */
const blocksOf = (markdown) => {
  const fences = [...markdown.matchAll(/^```(\w+) (run|output)\n([\s\S]*?)^```$/gm)]
  /** @type {Array<{ command: string, output: string | undefined }>} */
  const blocks = []
  for (const [, , kind, text = ""] of fences) {
    const last = blocks.at(-1)
    if (kind === "run") blocks.push({ command: text, output: undefined })
    else if (last !== undefined && last.output === undefined) last.output = text
    else throw new Error("the README has an output block that belongs to no command")
  }
  return blocks
}

/** @returns {Promise<number>} */
const freePort = () =>
  new Promise((resolve, reject) => {
    const probe = createServer()
    probe.on("error", reject)
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address()
      probe.close(() => (address !== null && typeof address === "object" ? resolve(address.port) : reject(new Error("no port"))))
    })
  })

/**
 * @param {string} expected
 * @param {string} actual
 * @param {boolean} isExact whether numbers must be the same; where something was done before, balances are others
 */
const matches = (expected, actual, isExact) => {
  const pattern = expected
    .trimEnd()
    .split("…")
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
    .map((part) => (isExact ? part : part.replace(/\d+/g, "\\d+")))
    .join("[^\\n]*?")
  return new RegExp(`^${pattern}$`).test(actual.trimEnd())
}

/**
 * Runs commands in a shell of their own, to their end.
 * @param {string} script
 * @param {NodeJS.ProcessEnv} [env]
 */
const bash = async (script, env) => {
  const shell = spawn("bash", ["-eu"], { cwd: root, env: { ...process.env, ...env }, stdio: ["pipe", "pipe", "inherit"] })
  let printed = ""
  shell.stdout.on("data", (chunk) => {
    printed += chunk
  })
  shell.stdin.end(script)
  const limit = globalThis.setTimeout(() => shell.kill("SIGKILL"), 300_000) // every wait in the README has an end of its own
  const [code] = await once(shell, "close")
  clearTimeout(limit)
  return { code, printed }
}

const mark = "---satrail-readme-block-done---"
const blocks = blocksOf(readFileSync(path.join(root, "README.md"), "utf8"))
if (blocks.length === 0) throw new Error("the README has no block to run")

/** A service of its own, which has said that it is running. */
const start = async () => {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const data = mkdtempSync(path.join(tmpdir(), "satrail-readme-"))
  const service = spawn(process.execPath, ["scripts/run.mjs", "start"], {
    cwd: root,
    env: { ...process.env, PORT: String(port), SATRAIL_DATA: data },
    stdio: ["ignore", "pipe", "pipe"]
  })
  let said = ""
  let log = ""
  service.stdout.on("data", (chunk) => (said += chunk))
  service.stderr.on("data", (chunk) => (log += chunk))
  const ended = once(service, "exit")
  const stop = async () => {
    service.kill("SIGTERM")
    await ended
    rmSync(data, { recursive: true, force: true })
  }
  for (let tries = 0; tries < 1800 && service.exitCode === null; tries++) {
    if (said.includes("Ctrl-C") && (await fetch(`${url}/readyz`).catch(() => undefined))?.status === 200) return { url, data, said, stop }
    await setTimeout(100)
  }
  await stop()
  throw new Error(`the service did not start\n${said}${log}`)
}

/** @typedef {Awaited<ReturnType<typeof start>>} Service */

/**
 * Every block of the README, in order. Answers how many of them print something else than it shows.
 * @param {Service} service
 * @param {string} what
 * @param {boolean} isExact
 */
const runBlocks = async ({ url, data }, what, isExact) => {
  const script = blocks
    .map(({ command }) => `${command.replaceAll(shown.url, url).replaceAll(`${shown.data}/`, `${data}/`)}\nprintf '\\n%s\\n' '${mark}'\n`)
    .join("")
  const { code, printed } = await bash(script, { SATRAIL_DATA: data })
  const outputs = printed.split(`\n${mark}\n`).map((output) => output.replaceAll(url, shown.url).replaceAll(data, shown.data))
  const bad = blocks.flatMap(({ command, output }, i) => {
    const actual = outputs[i] ?? ""
    const good = i < outputs.length - 1 && (output === undefined || matches(output, actual, isExact))
    return good ? [] : [`${what}: the README's block\n\n${command}\nmust print\n\n${output ?? "(anything)"}\nand printed\n\n${actual}\n`]
  })
  for (const one of bad) console.error(one)
  return bad.length + (code === 0 ? 0 : 1)
}

/**
 * What a start says to try, line by line, as somebody copies it: a text in <> is filled in from an answer before.
 * @param {Service} service
 */
const runPrinted = async ({ said }) => {
  const lines = said.split("\n").map((line) => line.trim())
  const settings = lines.filter((line) => /^[A-Z]+=/.test(line)).join("\n")
  const commands = lines.filter((line) => line.startsWith("curl "))
  let bad = commands.length === 0 ? 1 : 0
  let request = ""
  for (const command of commands) {
    const { code, printed } = await bash(`${settings}\n${command.replace(/<[^>]*payment_request[^>]*>/, request)}\n`)
    request = /"payment_request":"([^"]+)"/.exec(printed)?.[1] ?? request
    if (code === 0 && /^\{"status":20\d,/.test(printed)) continue
    bad++
    console.error(`A start says to try\n\n${command}\n\nand it printed\n\n${printed}\n`)
  }
  return bad
}

let failures = 0
const first = await start()
try {
  failures += await runBlocks(first, "at first", true)
  failures += await runBlocks(first, "a second time", false)
} finally {
  await first.stop()
}
const second = await start()
try {
  failures += await runPrinted(second)
  failures += await runBlocks(second, "after what a start says to try", false)
} finally {
  await second.stop()
}
console.log(`${blocks.length} README blocks run three times, ${failures} differ`)
process.exitCode = failures === 0 ? 0 : 1
