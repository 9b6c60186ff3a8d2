// Runs the README's quickstart and compares what it prints with what it shows: node scripts/readme.mjs
//
// A block that opens with ```sh run is run, all of them in one shell and in order, against a service started for it on a free port and in a
// directory of its own. A block that opens with a language and `output` right after it is what it must print; … stands for any text
// on that line that differs from run to run.
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

/** @param {string} expected @param {string} actual */
const matches = (expected, actual) => {
  const pattern = expected
    .trimEnd()
    .split("…")
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
    .join("[^\\n]*?")
  return new RegExp(`^${pattern}$`).test(actual.trimEnd())
}

const blocks = blocksOf(readFileSync(path.join(root, "README.md"), "utf8"))
if (blocks.length === 0) throw new Error("the README has no block to run")

const port = await freePort()
const url = `http://127.0.0.1:${port}`
const data = mkdtempSync(path.join(tmpdir(), "satrail-readme-"))
const service = spawn(process.execPath, ["scripts/run.mjs", "start"], {
  cwd: root,
  env: { ...process.env, PORT: String(port), SATRAIL_DATA: data },
  stdio: ["ignore", "ignore", "pipe"]
})
let log = ""
service.stderr.on("data", (chunk) => {
  log += chunk
})
const ended = once(service, "exit")

const ready = async () => {
  for (let tries = 0; tries < 600 && service.exitCode === null; tries++) {
    const answer = await fetch(`${url}/readyz`).catch(() => undefined)
    if (answer?.status === 200) return
    await setTimeout(100)
  }
  throw new Error(`the service did not start\n${log}`)
}

const mark = "---satrail-readme-block-done---"
let failures = 0
try {
  await ready()
  const script = blocks
    .map(({ command }) => `${command.replaceAll(shown.url, url).replaceAll(`${shown.data}/`, `${data}/`)}\nprintf '\\n%s\\n' '${mark}'\n`)
    .join("")
  const shell = spawn("bash", ["-eu"], { cwd: root, env: { ...process.env, SATRAIL_DATA: data }, stdio: ["pipe", "pipe", "inherit"] })
  let printed = ""
  shell.stdout.on("data", (chunk) => {
    printed += chunk
  })
  shell.stdin.end(script)
  const patience = globalThis.setTimeout(() => shell.kill("SIGKILL"), 120_000) // a block that waits for what never comes
  const [code] = await once(shell, "close")
  clearTimeout(patience)
  const outputs = printed.split(`\n${mark}\n`).map((output) => output.replaceAll(url, shown.url).replaceAll(data, shown.data))
  blocks.forEach(({ command, output }, i) => {
    const actual = outputs[i] ?? ""
    const good = i < outputs.length - 1 && (output === undefined || matches(output, actual))
    if (good) return
    failures++
    console.error(`The README's block\n\n${command}\nmust print\n\n${output ?? "(anything)"}\nand printed\n\n${actual}\n`)
  })
  if (code !== 0) failures++
} finally {
  service.kill("SIGTERM")
  await ended
  rmSync(data, { recursive: true, force: true })
}
console.log(`${blocks.length} README blocks run, ${failures} differ`)
process.exitCode = failures === 0 ? 0 : 1
