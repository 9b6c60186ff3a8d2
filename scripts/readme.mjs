// Runs the README's quickstart and compares its output with the README: node scripts/readme.mjs
// Does the same for another page, to check its commands: node scripts/readme.mjs docs/guides/sandbox.md
//
// Runs the blocks that start with ```sh run, in order and in one shell, with a service that it starts on a
// free port and with an empty directory. If the next block starts with a language and `output`, it contains
// the expected output, in which … stands for varying text on one line. All blocks are run three times: with
// the new service, again with the same service, and with another new service after running the commands that
// the service suggests when it starts. Only numbers may differ between runs. With --record, the blocks are run
// once and their output is stored in docs/assets/story.json, from which `npm run docs` draws the README's
// picture.
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
      probe.close(() =>
        address !== null && typeof address === "object" ? resolve(address.port) : reject(new Error("no port"))
      )
    })
  })

/**
 * Runs commands in a new shell until they exit.
 * @param {string} script
 * @param {NodeJS.ProcessEnv} [env]
 */
const bash = async (script, env) => {
  const shell = spawn("bash", ["-eu"], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ["pipe", "pipe", "inherit"]
  })
  let printed = ""
  shell.stdout.on("data", (chunk) => {
    printed += chunk
  })
  shell.stdin.end(script)
  const limit = globalThis.setTimeout(() => shell.kill("SIGKILL"), 300_000) // the README's own waits have shorter limits
  const [code] = await once(shell, "close")
  clearTimeout(limit)
  return { code, printed }
}

const mark = "---satrail-readme-command-done---"
/** The page's path in the workspace. */
const page = process.argv.slice(2).find((argument) => argument.endsWith(".md")) ?? "README.md"
const blocks = blocksOf(readFileSync(path.join(root, page), "utf8"))
if (blocks.length === 0) throw new Error(`${page} has no block to run`)

/** Starts a service and waits until it reports that it is running. */
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
    if (said.includes("Ctrl-C") && (await fetch(`${url}/readyz`).catch(() => undefined))?.status === 200)
      return { url, data, said, stop }
    await setTimeout(100)
  }
  await stop()
  throw new Error(`the service did not start\n${said}${log}`)
}

/** @typedef {Awaited<ReturnType<typeof start>>} Service */

/**
 * Runs every block of the page in order. Returns the number of blocks whose output differs from the page.
 * @param {Service} service
 * @param {string} what
 * @param {boolean} isExact
 */
const runBlocks = async ({ url, data }, what, isExact) => {
  const steps = blocks.map(({ command }) =>
    commandsOf(command.replaceAll(shown.url, url).replaceAll(`${shown.data}/`, `${data}/`))
  )
  const script = steps.flat().map((step) => `${step}\nprintf '\\n%s\\n' '${mark}'\n`)
  const { code, printed } = await bash(script.join(""), { SATRAIL_DATA: data })
  const all = printed
    .split(`\n${mark}\n`)
    .map((output) => output.replaceAll(url, shown.url).replaceAll(data, shown.data))
  const isWhole = all.length === script.length + 1
  /** The output of each command in each block. */
  const outputs = steps.map((block) => block.map(() => all.shift() ?? ""))
  const bad = blocks.flatMap(({ command, output }, i) => {
    const actual = (outputs[i] ?? []).join("")
    const good = isWhole && (output === undefined || matches(output, actual, isExact))
    return good
      ? []
      : [
          `${what}: ${page}'s block\n\n${command}\nmust print\n\n${output ?? "(anything)"}\nand printed\n\n${actual}\n`
        ]
  })
  for (const one of bad) console.error(one)
  return { outputs, failed: bad.length + (code === 0 ? 0 : 1) }
}

/**
 * Stores the service's first line of output and the output of the blocks.
 * @param {Service} service
 * @param {ReadonlyArray<ReadonlyArray<string>>} outputs
 */
const record = ({ url, said }, outputs) => {
  const started = said.split("\n").find((line) => line.startsWith("satrail ")) ?? ""
  const story = {
    started: started.replaceAll(url, shown.url),
    blocks: blocks.map(({ command }, i) =>
      commandsOf(command).map((command, j) => ({ command, output: outputs[i]?.[j] ?? "" }))
    )
  }
  writeFileSync(path.join(root, "docs/assets/story.json"), `${JSON.stringify(story, null, 2)}\n`)
}

/**
 * Runs the commands that the service suggests when it starts, line by line, as a reader would. Replaces
 * placeholders in <> with values from earlier responses.
 * @param {Service} service
 */
const runPrinted = async ({ said }) => {
  const lines = said.split("\n").map((line) => line.trim())
  const settings = lines.filter((line) => /^[A-Z]+=/.test(line)).join("\n")
  const commands = lines.filter((line) => line.startsWith("curl "))
  let bad = commands.length === 0 ? 1 : 0
  let request = ""
  for (const command of commands) {
    const { code, printed } = await bash(
      `${settings}\n${command.replace(/<[^>]*payment_request[^>]*>/, request)}\n`
    )
    request = /"payment_request":"([^"]+)"/.exec(printed)?.[1] ?? request
    if (code === 0 && /^\{"status":20\d,/.test(printed)) continue
    bad++
    console.error(`The start suggests\n\n${command}\n\nwhich printed\n\n${printed}\n`)
  }
  return bad
}

/** Runs the README's blocks three times, or another page's blocks twice on one service. */
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
      failures += (await runBlocks(second, "after the commands that a start suggests", false)).failed
    } finally {
      await second.stop()
    }
  }
  console.log(`${blocks.length} blocks of ${page} ran repeatedly, ${failures} differ`)
  return failures
}

/** Runs the blocks once and stores their output. */
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
