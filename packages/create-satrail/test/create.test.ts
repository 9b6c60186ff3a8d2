import { afterAll, assert, describe, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { PassThrough } from "node:stream"
import * as Runtime from "../../bitcoin/src/Runtime.ts"
import { satrail } from "../../satrail/src/index.ts"
import * as Choices from "../src/Choices.ts"
import * as Create from "../src/Create.ts"
import * as Project from "../src/Project.ts"
import { Canceled, questions } from "../src/Questions.ts"
import * as Created from "./Created.ts"

const root = path.join(import.meta.dirname, "../../..")
const work = mkdtempSync(path.join(tmpdir(), "satrail-create-"))

const every = Choices.kinds.flatMap(([kind]) =>
  Choices.frameworks.map(([framework]) => ({ kind, framework }))
)

/** Runs the program with these answers to its prompts, and returns its output. */
const created = async (args: ReadonlyArray<string>, answers?: ReadonlyArray<string>) => {
  const [printed, asked]: readonly [Array<string>, Array<string>] = [[], []]
  const left = [...(answers ?? [])]
  const ask = async (question: string) => {
    asked.push(question)
    return left.shift() ?? assert.fail(`nothing answers ${question}`)
  }
  await Create.run(args, { ask: answers && ask, print: (line) => printed.push(line) })
  return { printed, asked }
}

const refusal = async (run: Promise<unknown>): Promise<string> => {
  try {
    await run
  } catch (error) {
    assert.instanceOf(error, Choices.Refused)
    return error.message
  }
  return assert.fail("it was not refused")
}

const filesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => path.relative(folder, path.join(parentPath, name)))

describe("npm create satrail", () => {
  afterAll(() => rmSync(work, { recursive: true, force: true }))

  it("create: a project has at most six files and a .env, whatever the choices", () => {
    for (const one of every) {
      const files = Object.keys(Project.files({ folder: "shop", ...one }))
      assert.include(files, ".env")
      assert.include(files, ".gitignore")
      assert.include(files, "README.md")
      assert.isAtMost(files.length, 7, JSON.stringify(one))
    }
  })

  it("create: the program asks for missing choices, lists the files, shows them if asked to, and writes them after a yes", async () => {
    const folder = path.join(work, "asked")
    const { asked, printed } = await created([folder], ["9", "wallet", "", "d", "y"])
    assert.lengthOf(asked, 5)
    assert.includeMembers(printed, [
      "What do you build?",
      "Which framework?",
      'There is no "9".',
      `These files will be written to ${folder}:`
    ])
    const files = [
      "package.json",
      "tsconfig.json",
      ".gitignore",
      ".env",
      "README.md",
      "src/pay.ts",
      "src/main.ts"
    ]
    for (const file of files)
      assert.isTrue(
        printed.some((one) => one.startsWith(`  ${file} (`)),
        file
      )
    const steps = readFileSync(path.join(folder, "README.md"), "utf8")
    assert.deepStrictEqual(
      [...steps.matchAll(/^(\d)[.] /gm)].map(([, n]) => n),
      ["1", "2", "3"]
    )
    assert.include(steps, "pay.companies.issueKey(ann.id,")
    assert.sameMembers(filesIn(folder), files)
    for (const file of files) {
      const diff = printed.find((one) => one.includes(`\n+++ ${file}\n`)) ?? assert.fail(file)
      const [removed, , range, ...added] = diff.split("\n")
      assert.deepStrictEqual([removed, range], ["--- /dev/null", `@@ -0,0 +1,${added.length} @@`])
      const text = added.map((line) => line.replace(/^\+/, "")).join("\n")
      assert.strictEqual(`${text}\n`, readFileSync(path.join(folder, file), "utf8"))
    }
    assert.include(printed.at(-1) ?? "", "npm run dev")
    assert.include(readFileSync(path.join(folder, "src/pay.ts"), "utf8"), '"Top up"')
    assert.strictEqual(JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8")).name, "asked")
    const no = await created([path.join(work, "no"), "--kind", "bare", "--framework", "hono"], ["n"])
    assert.deepStrictEqual([no.asked.length, no.printed.at(-1)], [1, "Nothing was written."])
    assert.notInclude(readdirSync(work), "no")
  })

  it("create: with --json, the program asks no questions and prints one line", async () => {
    const folder = path.join(work, "json")
    const { printed } = await created([folder, "--framework", "express", "--json"])
    assert.lengthOf(printed, 1)
    const { files, ...said } = JSON.parse(printed[0] ?? "")
    assert.deepStrictEqual(said, {
      folder,
      kind: "shop",
      framework: "express",
      next: [`cd ${folder}`, "npm install", "npm run dev"]
    })
    assert.sameMembers(files, filesIn(folder))
    assert.include(
      (await created(["--help"])).printed[0] ?? "",
      "--framework FRAMEWORK  none, express, fastify, hono, next"
    )
  })

  it("create: nothing is written if one of the project's files already exists", async () => {
    const folder = path.join(work, "taken")
    mkdirSync(folder)
    writeFileSync(path.join(folder, "tsconfig.json"), "{}")
    assert.include(await refusal(created([folder, "--yes"])), "already has tsconfig.json")
    assert.deepStrictEqual(filesIn(folder), ["tsconfig.json"])
  })

  it("create: nothing is written through a link or into a file, wherever in the project it is", async () => {
    const elsewhere = path.join(work, "elsewhere")
    const plans: Record<string, (at: string) => void> = {
      "a link to a folder": (at) => symlinkSync(elsewhere, at),
      "a link to a file": (at) => symlinkSync(path.join(elsewhere, "file"), at),
      "a dangling link": (at) => symlinkSync(path.join(elsewhere, "missing"), at),
      "a link to itself": (at) => symlinkSync(at, at),
      "a file": (at) => writeFileSync(at, "mine"),
      "a folder": (at) => mkdirSync(at)
    }
    mkdirSync(elsewhere)
    writeFileSync(path.join(elsewhere, "file"), "theirs")
    const snapshot = () => readdirSync(work, { recursive: true, encoding: "utf8" }).toSorted()
    let at = 0
    for (const { kind, framework } of every) {
      const files = Object.keys(Project.files({ folder: "shop", kind, framework }))
      // Every file, every folder that contains one, and the project's folder.
      const paths = new Set(
        files.flatMap((file) =>
          file
            .split("/")
            .map((_, depth, parts) => parts.slice(0, depth).join("/"))
            .concat(file)
        )
      )
      for (const one of paths)
        for (const [what, plant] of Object.entries(plans)) {
          if (what === "a folder" && !files.includes(one)) continue
          const folder = path.join(work, `links-${at++}`)
          mkdirSync(path.dirname(path.join(folder, one)), { recursive: true })
          plant(path.join(folder, one))
          const before = snapshot()
          const said = await refusal(created([folder, "--yes", "--kind", kind, "--framework", framework]))
          assert.include(said, "Nothing was written", `${what} at ${one}`)
          assert.deepStrictEqual(snapshot(), before, `${what} at ${one}`)
          assert.strictEqual(readFileSync(path.join(elsewhere, "file"), "utf8"), "theirs")
          rmSync(folder, { recursive: true, force: true })
        }
    }
    writeFileSync(path.join(work, "not-a-folder"), "mine")
    assert.include(
      await refusal(created([path.join(work, "not-a-folder/shop"), "--yes"])),
      "Nothing was written"
    )
    // The path to the project can contain links.
    symlinkSync(elsewhere, path.join(work, "projects"))
    await created([path.join(work, "projects/shop"), "--yes"])
    assert.include(filesIn(path.join(elsewhere, "shop")), "package.json")
  })

  it("create: the printed commands reach the folder in a shell, whatever its path contains", async () => {
    for (const name of [
      "plain",
      "a b",
      "$(touch hit)",
      "`touch hit`",
      "it's",
      '"',
      "~",
      "&;|<>*?",
      "-n",
      "\\",
      "!"
    ]) {
      const folder = path.join(name, "shop")
      const [cd = ""] = Project.next(folder)
      execFileSync("sh", ["-c", `mkdir -p -- "$0"; ${cd} && touch here`, folder], { cwd: work })
      assert.deepStrictEqual(readdirSync(path.join(work, folder)), ["here"])
    }
    assert.notInclude(readdirSync(work), "hit")
    for (const control of ["\n", "\u001b[2J", "\u0000", "\u007f", "\u0085"])
      assert.include(
        await refusal(created([`a${control}b/shop`, "--yes"])),
        "The folder's name must consist of"
      )
  })

  it("create: on a Node that cannot run the project, nothing is asked or written, and the error is that of the service", async () => {
    const folder = path.join(work, "old")
    for (const old of ["20.20.2", "22.18.0"]) {
      const said = await refusal(Create.run([folder, "--yes"], { ask: undefined, print: assert.fail }, old))
      assert.strictEqual(said, Runtime.problem(old))
    }
    assert.notInclude(readdirSync(work), "old")
    assert.include(
      Project.files({ folder, kind: "shop", framework: "none" })["package.json"],
      `"node": ">=${Runtime.minimumNode}"`
    )
    await Create.run([folder, "--json"], { ask: undefined, print: () => {} }, Runtime.minimumNode)
    assert.include(readdirSync(work), "old")
  })

  it("create: Ctrl-C and Ctrl-D at a question cancel, and the error is one sentence", async () => {
    for (const key of ["\u0003", "\u0004"]) {
      const [input, output] = [new PassThrough(), new PassThrough()]
      const { ask, close } = questions(input, output)
      const folder = ask("Folder: ")
      input.write("shop\r")
      assert.strictEqual(await folder, "shop")
      const canceled = ask("Kind: ")
      input.write(key)
      const error = await canceled.catch((cause: unknown) => cause)
      assert.instanceOf(error, Canceled)
      assert.strictEqual(error.message, "Canceled. Nothing was written.")
      close()
    }
  })

  it("create: the error for unknown input is one sentence", async () => {
    for (const [args, says] of [
      [["--kind", "store", "--yes"], '--kind must be one of shop, wallet, payouts, bare (got "store")'],
      [["--framework", "koa", "--yes"], "--framework must be one of none"],
      [["--fast"], "--fast"],
      [["one", "two", "--yes"], "Only one folder can be given (got one, two). npm needs -- before options."],
      [["My Shop", "--yes"], "The folder's name must consist of"],
      [[], "This is not a terminal"]
    ] as const)
      assert.include(await refusal(created(args)), says)
  })

  // test/create.slow.test.ts starts every kind of project, and test/blocks.slow.test.ts type-checks all of them.
  it("create: a wallet project without a framework starts, serves a checkout, is paid in the sandbox, and ends if its port is taken", async () => {
    const folder = path.join(work, "wallet")
    mkdirSync(path.join(folder, "node_modules"), { recursive: true })
    symlinkSync(path.join(root, "packages/satrail"), path.join(folder, "node_modules/satrail"))
    Project.write(folder, Project.files({ folder, kind: "wallet", framework: "none" }))
    // The template uses the address that has the account's name.
    const pay = await satrail({ directory: path.join(folder, ".satrail"), logLevel: "error" })
    const bob = await pay.companies.create({ name: "bob", plan: "paid" })
    for (const handle of ["bob", "tips"]) await pay.lightningAddresses.create({ company: bob, handle })
    await pay.close()
    const start = {
      folder,
      command: [process.execPath, "--liftoff-only", "src/main.ts"],
      env: { NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] }
    }
    assert.include(await Created.runs({ ...start, says: Created.paid.wallet }), "Open http://127.0.0.1:")
    await Created.endsOnTakenPort(start)
  })
})
