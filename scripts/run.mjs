// Runs one task of the project: `node scripts/run.mjs <task>`. The npm scripts call it. It is plain JavaScript
// without dependencies because it runs first, on any Node >= 18. It installs the workspace with a pinned
// version of pnpm if an input changed, and then uses a pinned version of Node. If there is nothing to install,
// it prints nothing; otherwise it prints to stderr.
import { spawn, spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync
} from "node:fs"
import os from "node:os"
import path from "node:path"
import process from "node:process"
import { fileURLToPath } from "node:url"

const PNPM = "12.21.0"
const MINIMUM = { major: 22, minor: 19 } // required by effect and vitest
const PROGRESS_EVERY_MILLIS = 5_000

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
const at = (/** @type {string} */ file) => path.join(root, file)
const stampFile = at("node_modules/.install-stamp")
const packagedNode = at(`node_modules/node-${process.platform}-${process.arch}/bin/node`)

const say = (/** @type {string} */ line) => process.stderr.write(`satrail: ${line}\n`)
const seconds = (/** @type {number} */ sinceMillis) => `${((Date.now() - sinceMillis) / 1000).toFixed(1)} s`
const statusOf = (/** @type {NodeJS.Signals} */ signal) => 128 + os.constants.signals[signal]

/** @type {import("node:child_process").ChildProcess | undefined} */
let child
/** @type {NodeJS.Signals | undefined} */
let stopping
for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM"])) {
  process.on(signal, () => {
    stopping = signal
    if (child === undefined) process.exit(statusOf(signal))
    // A terminal sends Ctrl-C to all its processes. The child has already received it, and a second signal
    // could abort its graceful stop.
    else if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal)
  })
}

/**
 * Runs a program until it exits. `onOutput` receives its output. Without it the program uses our terminal, and
 * `onSpeaking` is called just before its first output on stdout.
 * @param {string} command
 * @param {ReadonlyArray<string>} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, shell?: boolean, onOutput?: (text: string) => void,
 * onSpeaking?: () => void }} [options]
 * @returns {Promise<number>} its exit code
 */
const exec = (command, args, { onOutput, onSpeaking, ...options } = {}) =>
  new Promise((resolve, reject) => {
    /** @type {import("node:child_process").StdioOptions} */
    const stdio =
      onOutput !== undefined
        ? ["ignore", "pipe", "pipe"]
        : onSpeaking !== undefined
          ? ["inherit", "pipe", "inherit"]
          : "inherit"
    const started = spawn(command, args, { stdio, ...options })
    child = started
    if (onOutput !== undefined)
      for (const stream of [started.stdout, started.stderr]) stream?.setEncoding("utf8").on("data", onOutput)
    if (onSpeaking !== undefined) {
      started.stdout?.once("data", onSpeaking)
      started.stdout?.on("data", (bytes) => process.stdout.write(bytes))
    }
    started.on("error", reject)
    started.on("close", (code, signal) => {
      child = undefined
      const status = code ?? (signal === null ? 1 : statusOf(signal))
      if (stopping === undefined) resolve(status)
      else process.exit(status) // a stop was requested, so don't begin another step
    })
  })

/**
 * Prints a stage's progress every few seconds and when it is done. If `about` is missing, a short stage prints
 * nothing.
 * @param {string} name
 * @param {{ about?: string, progress?: () => string }} [options]
 */
const stage = (name, { about, progress = () => "" } = {}) => {
  const startedMillis = Date.now()
  let isTold = about !== undefined
  if (about !== undefined) say(`${name}: ${about}`)
  const ticks = setInterval(() => {
    isTold = true
    say(`${name}: ${Math.round((Date.now() - startedMillis) / 1000)} s${progress()}`)
  }, PROGRESS_EVERY_MILLIS)
  return {
    done: () => {
      clearInterval(ticks)
      if (isTold) say(`${name}: done after ${seconds(startedMillis)}`)
    },
    /** Ends the stage without a message, because the failure is reported elsewhere. */
    over: () => clearInterval(ticks)
  }
}

/** Returns a hash of everything that affects the installation. */
const installInputs = () => {
  const hash = createHash("sha256").update(`${process.platform} ${process.arch}`)
  const workspaces = ["packages", "examples"].flatMap((folder) =>
    existsSync(at(folder)) ? readdirSync(at(folder)).map((name) => `${folder}/${name}/package.json`) : []
  )
  workspaces.sort()
  for (const file of ["package.json", "pnpm-lock.yaml", "pnpm-workspace.yaml", ...workspaces]) {
    if (existsSync(at(file))) hash.update(`\0${file}\0`).update(readFileSync(at(file)))
  }
  return hash.digest("hex")
}

/** @type {ReadonlyArray<readonly [symptom: RegExp, advice: string]>} */
const advices = [
  [
    /ERR_PNPM_OUTDATED_LOCKFILE/,
    `A package.json and pnpm-lock.yaml disagree. After changing one, run: npx -y pnpm@${PNPM} install`
  ],
  [/ENOSPC/, "The disk is full. The installation needs about 700 MB."],
  [/EACCES|EPERM|EROFS/, `No permission to write. This folder and npm's cache must be yours: ${root}`],
  [
    /ENOTFOUND|EAI_AGAIN|ECONN|ETIMEDOUT|ERR_PNPM_META_FETCH|ERR_SOCKET|CERT|certificate|connect|network|dns/i,
    "The package registry could not be reached. Check the network connection, proxy and registry (npm config get registry), " +
      "then run the same command again. Packages that were already downloaded are kept."
  ]
]

/** Installs the workspace if an input has changed since the last time. pnpm's output is shown only if it fails. */
const install = async () => {
  const inputs = installInputs()
  const stamp = existsSync(stampFile) ? readFileSync(stampFile, "utf8") : ""
  if (stamp === inputs) return
  const startedMillis = Date.now()
  let output = ""
  const fetching = stage("fetching", {
    about:
      stamp === ""
        ? "Node, TypeScript and the libraries into node_modules (about 130 MB, once)"
        : "the dependencies changed, so node_modules is being updated",
    progress: () => {
      const [, resolved, added] = [...output.matchAll(/resolved (\d+),.* added (\d+)/g)].at(-1) ?? []
      return resolved === undefined
        ? ", waiting for the package registry"
        : `, ${added} of ${resolved} packages are installed`
    }
  })
  let status = 1
  try {
    status = await exec("npx", ["-y", `pnpm@${PNPM}`, "install", "--frozen-lockfile"], {
      cwd: root,
      // Set CI so that pnpm does not prompt, as nobody may be there to respond. The limit makes npm report a
      // missing network sooner than after 70 s.
      env: { npm_config_fetch_retry_maxtimeout: "10000", ...process.env, CI: "true" },
      shell: process.platform === "win32",
      onOutput: (text) => (output += text)
    })
  } catch (cause) {
    output += `npx could not be started (${String(cause)}). It comes with npm: install Node.js from https://nodejs.org\n`
  }
  if (status !== 0) {
    fetching.over()
    const lines = output
      .split("\n")
      .filter((line) => !/Unsupported engine|Unknown (user|project|env) config/.test(line))
    process.stderr.write(`${lines.slice(-40).join("\n").trimEnd()}\n`)
    say(`setup failed after ${seconds(startedMillis)}; its output is above.`)
    const advice = advices.find(([symptom]) => symptom.test(lines.join("\n")))?.[1]
    if (advice !== undefined) say(advice)
    process.exit(1)
  }
  mkdirSync(path.dirname(stampFile), { recursive: true })
  writeFileSync(stampFile, inputs)
  fetching.done()
}

/**
 * Returns the Node that is installed as a package. Uses the current Node if no package exists for this machine,
 * or if the packaged Node does not start (Alpine lacks glibc).
 */
const findNode = () => {
  if (existsSync(packagedNode) && spawnSync(packagedNode, ["--version"]).status === 0) return packagedNode
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)
  if (major > MINIMUM.major || (major === MINIMUM.major && minor >= MINIMUM.minor)) return process.execPath
  say(
    `Node ${MINIMUM.major}.${MINIMUM.minor} or later is required. This is ${process.version}, and the packaged Node does not run on this machine.`
  )
  say("Install a newer Node from https://nodejs.org and run the same command again.")
  process.exit(1)
}

const tools = {
  tsc: at("node_modules/typescript/bin/tsc"),
  vitest: at("node_modules/vitest/vitest.mjs"),
  oxlint: at("node_modules/oxlint/bin/oxlint"),
  oxfmt: at("node_modules/oxfmt/bin/oxfmt")
}

/**
 * Compiles what has changed. By default, the compiler divides a project among four checkers. Each also checks what
 * its part needs, so on two cores, one checker is faster.
 */
const compile = [
  tools.tsc,
  "-b",
  "--checkers",
  String(Math.max(1, Math.min(4, Math.ceil(os.cpus().length / 2))))
]

/**
 * Returns whether a file or folder changed after a time. A folder changes when something in it is added or removed.
 * @param {string} place
 * @param {number} sinceMillis
 * @returns {boolean}
 */
const isNewer = (place, sinceMillis) => {
  const found = statSync(place, { throwIfNoEntry: false })
  if (found === undefined) return false
  if (found.mtimeMs >= sinceMillis) return true
  return (
    found.isDirectory() && readdirSync(place).some((name) => isNewer(path.join(place, name), sinceMillis))
  )
}

/** What the compiled JavaScript is made of. */
const sources = () => [
  at("tsconfig.base.json"),
  at("node_modules/.install-stamp"),
  ...readdirSync(at("packages")).flatMap((name) =>
    ["src", "tsconfig.json", "package.json"].map((file) => at(`packages/${name}/${file}`))
  )
]

/**
 * Updates the compiled JavaScript. The compiler itself would need more than a second to find that nothing changed, in
 * each call of the command line. If it fails, the task does not run.
 */
const build = async (/** @type {ReadonlyArray<string>} */ ...projects) => {
  const stamp = at(`node_modules/.compiled-${projects.map((name) => path.basename(name)).join("-")}`)
  const built = statSync(stamp, { throwIfNoEntry: false })?.mtimeMs ?? 0
  const isComplete = projects.every((name) => existsSync(at(`${name}/dist/.tsbuildinfo`)))
  if (isComplete && !sources().some((place) => isNewer(place, built))) return
  const isFirst = !existsSync(at("packages/server/dist/.tsbuildinfo"))
  const compiling = stage(
    "compiling",
    isFirst ? { about: "TypeScript to JavaScript (once; later only changed files)" } : {}
  )
  const begun = new Date()
  const status = await node([...compile, ...projects])
  if (status === 0) {
    writeFileSync(stamp, "")
    utimesSync(stamp, begun, begun)
    return compiling.done()
  }
  compiling.over()
  say("the sources do not compile (see above)")
  process.exit(status)
}

/**
 * Bundles the service into one file (docs/decisions/packages.md#0142) if anything has been compiled or
 * installed since the last bundle.
 */
const bundle = async () => {
  const made = statSync(at("packages/server/bundle/main.mjs"), { throwIfNoEntry: false })?.mtimeMs ?? 0
  const builders = readdirSync(at("packages/server/build")).map((name) => `packages/server/build/${name}`)
  const inputs = [...builders, "node_modules/.install-stamp"].concat(
    readdirSync(at("packages")).map((name) => `packages/${name}/dist/.tsbuildinfo`)
  )
  if (inputs.every((file) => (statSync(at(file), { throwIfNoEntry: false })?.mtimeMs ?? 0) < made)) return
  const status = await node([at("packages/server/build/main.ts")])
  if (status !== 0) process.exit(status)
}

/**
 * The service's heap option that must be on the command line (docs/decisions/operations.md#0039). Use the same
 * one in deploy/Dockerfile and the benchmark.
 */
const heap = ["--max-semi-space-size=32"]

/**
 * Runs the embedded database with only V8's baseline compiler, which makes it a quarter slower. Optimizing the
 * database's largest function would take 600 MB of memory (docs/decisions/storage.md#0123).
 */
const embedded = () => ((process.env["DATABASE_URL"] ?? "") === "" ? ["--liftoff-only"] : [])

/** npm start runs compiled JavaScript, which uses less memory and starts faster than the sources. */
const launch = (
  /** @type {string} */ file,
  /** @type {ReadonlyArray<string>} */ args,
  /** @type {{ env?: NodeJS.ProcessEnv, onSpeaking?: () => void }} */ options = {}
) => {
  // These are V8 options, which another version may not support.
  const settings = nodePath === packagedNode ? [...heap, ...embedded()] : []
  return node(["--conditions=compiled", ...settings, at(file), ...args], { cwd: process.cwd(), ...options })
}

/** The service's settings for the C library and Node (docs/decisions/packages.md#0142). */
const surroundings = { MALLOC_ARENA_MAX: "1", NODE_COMPILE_CACHE: at("packages/server/bundle/compiled") }

const compiled = async (
  /** @type {string} */ file,
  /** @type {ReadonlyArray<string>} */ args,
  projects = ["packages/server"]
) => {
  await build(...projects)
  return launch(file, args)
}

/** The service's first output on stdout means that it accepts requests. */
const start = async (/** @type {ReadonlyArray<string>} */ args) => {
  await build("packages/server")
  await bundle()
  const starting = stage("starting")
  const status = await launch("packages/server/bundle/main.mjs", args, {
    env: { ...surroundings, ...env },
    onSpeaking: starting.done
  })
  starting.over()
  return status
}

/** Runs the command line. It is bundled into one file, which makes it start in a quarter of the time. */
const satrail = async (/** @type {ReadonlyArray<string>} */ args) => {
  await build("packages/server")
  await bundle()
  return launch("packages/server/bundle/cli.mjs", args)
}

/** Runs every check that does not require running the program, and prints one line for each. */
const check = async () => {
  /** @type {ReadonlyArray<readonly [name: string, args: ReadonlyArray<string>]>} */
  const steps = [
    ["format", [tools.oxfmt, "--list-different"]],
    ["lint", [tools.oxlint, "--format=unix"]],
    ["types", compile],
    ["words", [at("scripts/words/main.ts")]],
    ["house rules", [tools.vitest, "run", "--project=fast", "test/house.test.ts", "test/defences.test.ts"]]
  ]
  let failures = 0
  for (const [name, args] of steps) {
    const startedMillis = Date.now()
    let output = ""
    const status = await node(args, { env: { ...env, NO_COLOR: "1" }, onOutput: (text) => (output += text) })
    console.log(`${status === 0 ? "ok    " : "failed"} ${name} (${seconds(startedMillis)})`)
    if (status !== 0) {
      failures++
      console.log(output.trimEnd())
    }
  }
  return failures === 0 ? 0 : 1
}

/** Runs the fast tests, unless the arguments name a project, or a file or folder of this workspace. */
const test = (/** @type {ReadonlyArray<string>} */ args) => {
  const says = (/** @type {string} */ arg) =>
    arg.startsWith("--project") || (!arg.startsWith("-") && existsSync(at(arg)))
  return node([tools.vitest, "run", ...(args.some(says) ? [] : ["--project=fast*"]), ...args])
}

const example = async (/** @type {string | undefined} */ name, /** @type {ReadonlyArray<string>} */ args) => {
  const names = existsSync(at("examples"))
    ? readdirSync(at("examples")).filter((folder) => existsSync(at(`examples/${folder}/main.ts`)))
    : []
  if (name !== undefined && names.includes(name)) return node([at(`examples/${name}/main.ts`), ...args])
  say(`which example? One of: ${names.join(", ") || "(none yet)"}`)
  return 1
}

/** @type {Record<string, readonly [does: string, run: (args: ReadonlyArray<string>) => Promise<number>]>} */
const tasks = {
  start: ["starts the service", start],
  satrail: ["runs a command of the service's command line", satrail],
  test: [
    "runs the fast tests; arguments are passed to vitest, and a named file runs even if it is not a fast test",
    (args) => test(args)
  ],
  "test:all": [
    "runs every test, including those with several processes and real nodes",
    (args) => node([tools.vitest, "run", ...args])
  ],
  check: ["checks format, lint, types, words and house rules, and prints one line for each", check],
  house: [
    "prints metrics of the code's structure, each with its goal; --check fails if a metric exceeds its limit",
    (args) => node([at("scripts/house/main.ts"), ...args])
  ],
  words: [
    "checks the English of pages, messages, comments and test titles; arguments are the paths to check",
    (args) => node([at("scripts/words/main.ts"), ...args])
  ],
  typecheck: [
    "checks all types, including those of tests and examples",
    (args) => node([...compile, ...args])
  ],
  lint: ["runs oxlint; arguments, such as --fix, are passed to it", (args) => node([tools.oxlint, ...args])],
  format: [
    "formats all sources; with --check, only lists the files it would change",
    (args) => node([tools.oxfmt, ...args])
  ],
  build: [
    "compiles every package",
    async () => {
      await build("packages/server", "packages/memory", "packages/contracts", "packages/bench")
      await bundle()
      return 0
    }
  ],
  bench: [
    "measures the service",
    async (args) => {
      await build("packages/server", "packages/bench")
      await bundle()
      return node(["--conditions=compiled", at("packages/bench/src/main.ts"), ...args])
    }
  ],
  regtest: [
    "starts the service with real Lightning nodes on a regtest chain, so that you can try it out",
    async (args) => {
      await build("packages/server", "packages/regtest")
      return node(["--conditions=compiled", at("packages/regtest/src/main.ts"), ...args])
    }
  ],
  soak: [
    "runs a mixed load for --minutes N while processes are killed",
    (args) =>
      compiled("packages/server/test/cluster/soak.ts", args, [
        "packages/server",
        "packages/contracts",
        "packages/testing"
      ])
  ],
  hostile: [
    "sends --calls N (default 2000) hostile requests of each kind to one process, and checks whether memory or rows grow",
    (args) =>
      compiled("packages/server/test/hostile/memory.ts", args, [
        "packages/server",
        "packages/contracts",
        "packages/testing"
      ])
  ],
  canaries: [
    "mutation testing: reintroduces known bugs one at a time; fails unless the tests catch each; arguments select some of them",
    (args) => node([at("test/defences/main.ts"), ...args])
  ],
  simulate: [
    "runs randomized fault-injection scenarios against the whole service, and checks its invariants after every step",
    (args) => node([at("packages/simulator/src/main.ts"), ...args])
  ],
  without: [
    "removes feature NAME and the features that need it from a copy, checks types, and runs the fast tests that do not mention them",
    (args) => node([at("scripts/without.ts"), ...args])
  ],
  docs: [
    "generates the pages of docs/reference and the pictures of docs/assets",
    () => node([at("scripts/reference.ts")])
  ],
  promises: [
    "generates docs/reference/promises.md from a run of the contracts, including real nodes; --from REPORT… uses vitest reports instead, and --check REPORT… compares the page with them",
    (args) => node([at("scripts/promises.ts"), ...args])
  ],
  ui: [
    "builds the files that pages load: packages/ui/assets from packages/ui/browser",
    () => node([at("packages/ui/build/main.ts")])
  ],
  screens: [
    "takes screenshots of every checkout state and console page with chromium and writes them to --out DIR; --pictures takes those for the README",
    (args) => node([at("packages/server/test/browser/screens.ts"), ...args], { cwd: process.cwd() })
  ],
  release: [
    "builds and publishes a release; --dry-run --out DIR only builds it, and --set X.Y.Z sets the version everywhere",
    (args) => node([at("scripts/release/main.ts"), ...args])
  ],
  example: ["runs examples/NAME", ([name, ...args]) => example(name, args)]
}

const [name = "", ...args] = process.argv.slice(2)
const task = Object.hasOwn(tasks, name) ? tasks[name] : undefined
if (task === undefined) {
  const lines = Object.entries(tasks).map(([key, [does]]) => `  ${key.padEnd(10)} ${does}`)
  process.stderr.write(`node scripts/run.mjs TASK [arguments]\n${lines.join("\n")}\n`)
  process.exit(1)
}
await install()
const nodePath = findNode()
const env = { ...process.env, PATH: `${path.dirname(nodePath)}${path.delimiter}${process.env["PATH"] ?? ""}` }
/** Runs a JavaScript or TypeScript file on the pinned Node. */
const node = (
  /** @type {ReadonlyArray<string>} */ nodeArgs,
  /** @type {{ cwd?: string, env?: NodeJS.ProcessEnv, onOutput?: (text: string) => void, onSpeaking?: () => void }} */ options = {}
) => exec(nodePath, nodeArgs, { cwd: root, env, ...options })
process.exitCode = await task[1](args)
