// Runs the README's quickstart and compares what it prints with what it shows: node scripts/readme.mjs
// Of another page, so that its lessons stay true: node scripts/readme.mjs docs/guides/sandbox.md
//
// A block that opens with ```sh run is run, all of them in one shell and in order, against a service started for it on a free port and in a
// directory of its own. A block that opens with a language and `output` right after it is what it must print; … stands for any text
// on that line that differs from run to run. All of them are run three times: first of all; a second time; and on a service that is new
// again, after the commands that it prints at its start. What was there before may change numbers, and nothing else.
// With --record they are run once, and what is printed is kept in docs/assets/story.json: `npm run docs` draws the picture of the README from it.
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import path from "node:path"
import { setTimeout } from "node:timers/promises"
import { blocksOf, commandsOf, matches } from "./readme/Story.mjs"

const root = path.resolve(import.meta.dirname, "..")
const shown = { url: "http://127.0.0.1:8080", data: ".satrail" }

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

const mark = "---satrail-readme-command-done---"
/** Which page, in the workspace. */
const page = process.argv.slice(2).find((argument) => argument.endsWith(".md")) ?? "README.md"
const blocks = blocksOf(readFileSync(path.join(root, page), "utf8"))
if (blocks.length === 0) throw new Error(`${page} has no block to run`)

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
  const steps = blocks.map(({ command }) => commandsOf(command.replaceAll(shown.url, url).replaceAll(`${shown.data}/`, `${data}/`)))
  const script = steps.flat().map((step) => `${step}\nprintf '\\n%s\\n' '${mark}'\n`)
  const { code, printed } = await bash(script.join(""), { SATRAIL_DATA: data })
  const all = printed.split(`\n${mark}\n`).map((output) => output.replaceAll(url, shown.url).replaceAll(data, shown.data))
  const isWhole = all.length === script.length + 1
  /** What each command of each block printed. */
  const outputs = steps.map((block) => block.map(() => all.shift() ?? ""))
  const bad = blocks.flatMap(({ command, output }, i) => {
    const actual = (outputs[i] ?? []).join("")
    const good = isWhole && (output === undefined || matches(output, actual, isExact))
    return good ? [] : [`${what}: ${page}'s block\n\n${command}\nmust print\n\n${output ?? "(anything)"}\nand printed\n\n${actual}\n`]
  })
  for (const one of bad) console.error(one)
  return { outputs, failed: bad.length + (code === 0 ? 0 : 1) }
}

/**
 * Keeps what a start and the blocks printed.
 * @param {Service} service
 * @param {ReadonlyArray<ReadonlyArray<string>>} outputs
 */
const record = ({ url, said }, outputs) => {
  const started = said.split("\n").find((line) => line.startsWith("satrail ")) ?? ""
  const story = {
    started: started.replaceAll(url, shown.url),
    blocks: blocks.map(({ command }, i) => commandsOf(command).map((command, j) => ({ command, output: outputs[i]?.[j] ?? "" })))
  }
  writeFileSync(path.join(root, "docs/assets/story.json"), `${JSON.stringify(story, null, 2)}\n`)
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

/** The blocks, three times; those of another page than the README twice, on one service. */
const check = async () => {
  let failures = 0
  const first = await start()
  try {
    failures += (await runBlocks(first, "at first", true)).failed
    failures += (await runBlocks(first, "a second time", false)).failed
  } finally {
    await first.stop()
  }
  if (page === "README.md") {
    const second = await start()
    try {
      failures += await runPrinted(second)
      failures += (await runBlocks(second, "after what a start says to try", false)).failed
    } finally {
      await second.stop()
    }
  }
  console.log(`${blocks.length} blocks of ${page} run again and again, ${failures} differ`)
  return failures
}

/** The blocks, once. */
const recorded = async () => {
  const service = await start()
  try {
    const { outputs, failed } = await runBlocks(service, "at first", true)
    if (failed === 0) record(service, outputs)
    return failed
  } finally {
    await service.stop()
  }
}

const failures = process.argv.includes("--record") ? await recorded() : await check()
process.exitCode = failures === 0 ? 0 : 1
