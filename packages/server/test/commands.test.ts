import { assert, describe, it } from "@effect/vitest"
import * as Nouns from "@satrail/service/core/Nouns"
import { Config, Effect, Exit } from "effect"
import { Completions } from "effect/cli"
import { CommandFailed } from "@satrail/http/commands/CommandFailed"
import { satrail } from "../src/commands/Commands.ts"
import { nameOf } from "../src/features/audit/Verify.ts"
import { run } from "./CommandLine.ts"

const errorOf = (exit: Exit.Exit<void, unknown>): unknown => {
  const error = Exit.findErrorOption(exit)
  return error._tag === "Some" ? error.value : assert.fail("the command did not fail")
}

const descriptor = Completions.fromCommand(satrail)

/** Lists every command by its full path. */
const commandsIn = (
  one: Completions.CommandDescriptor,
  path: string
): ReadonlyArray<readonly [string, Completions.CommandDescriptor]> => [
  [path, one],
  ...one.subcommands.flatMap((sub) => commandsIn(sub, `${path} ${sub.name}`))
]

describe("the command line", () => {
  it("command line: every command, option and argument has a description", () => {
    const all = commandsIn(descriptor, "satrail")
    assert.includeMembers(
      all.map(([path]) => path),
      [
        "satrail start",
        "satrail check",
        "satrail migrate",
        "satrail companies create",
        "satrail companies list",
        "satrail keys list",
        "satrail fees set",
        "satrail status",
        "satrail liquidity",
        "satrail suspense assign",
        "satrail offers create",
        "satrail refunds create",
        "satrail adjustments approve",
        "satrail backlog",
        "satrail withdrawals show",
        "satrail keys issue",
        "satrail freeze",
        "satrail limits set",
        "satrail reconcile",
        "satrail own-funds",
        "satrail verify",
        "satrail export",
        "satrail statement",
        "satrail wallet rescan"
      ]
    )
    for (const [path, one] of all) {
      for (const { name, description } of [one, ...one.flags, ...one.arguments])
        assert.isAbove(description?.length ?? 0, 10, `${path}: ${name}`)
    }
  })

  for (const [typed, meant] of [
    ["migrat", "migrate"],
    ["strat", "start"],
    ["keys isue", "issue"],
    ["wallet rescna", "rescan"],
    ["verify --jsn", "--json"],
    ["wallet restore --birtday 2026-01-31", "--birthday"],
    ["own-funds --node-sat 5", "--node-sats"]
  ] as const) {
    it.effect(`command line: \`${typed}\` is rejected, and ${meant} is suggested`, () =>
      Effect.gen(function* () {
        const { exit, stderr } = yield* run(typed)
        assert.isTrue(Exit.isFailure(exit))
        assert.match(stderr, new RegExp(`Did you mean this\\?\\s+${meant}\\s*\\nUsage: satrail`))
      })
    )
  }

  it.effect("command line: help works in any environment, and lists the exit codes", () =>
    Effect.gen(function* () {
      const misspelled = { SATRAIL_NETWROK: "mainnet" }
      const help = yield* run("verify --help", misspelled)
      assert.isTrue(Exit.isSuccess(help.exit))
      for (const words of ["satrail verify", "--json", "exit code is 2"]) assert.include(help.stdout, words)
      const refused = errorOf((yield* run("verify", misspelled)).exit)
      assert.instanceOf(refused, CommandFailed)
      assert.strictEqual(
        String(refused.message),
        "SATRAIL_NETWROK is not a setting: did you mean SATRAIL_NETWORK?"
      )
    })
  )

  it.effect(
    "command line: a command that calls a running service rejects a misspelled variable with our prefix, and ignores other programs' variables",
    () =>
      Effect.gen(function* () {
        for (const [name, meant] of [
          ["SATRAIL_OPERATOR_TOKN", "SATRAIL_OPERATOR_TOKEN"],
          ["SATRIAL_OPERATOR_TOKEN", "SATRAIL_OPERATOR_TOKEN"],
          ["SATRAIL_NETWROK", "SATRAIL_NETWORK"]
        ] as const) {
          const refused = errorOf((yield* run("status", { [name]: "x", SATRAIL_DATA: "/nowhere" })).exit)
          assert.instanceOf(refused, CommandFailed)
          assert.strictEqual(refused.message, `${name} is not a setting: did you mean ${meant}?`)
        }
        for (const others of [
          { EDITOR: "vi", CHAIN_ID: "1", DATABASE_URL: "postgres://db" },
          { SATRAIL_NETWORK: "regtest" }
        ]) {
          const away = errorOf((yield* run("status", { ...others, SATRAIL_DATA: "/nowhere" })).exit)
          assert.instanceOf(away, CommandFailed)
          assert.include(away.message, "No service found: start one (`npx satrail dev`")
        }
      })
  )

  it.effect("command line: all problems in a command's environment are reported together", () =>
    Effect.gen(function* () {
      const error = errorOf(
        (yield* run("keys revoke any", { SATRAIL_URL: "somewhere", SATRAIL_DATA: "/nowhere" })).exit
      )
      assert.instanceOf(error, Config.ConfigError)
      assert.include(
        error.message,
        "SATRAIL_URL must be an address such as http://127.0.0.1:8080, without a user name or password, got"
      )
      const missing = errorOf((yield* run("migrate", { DATABASE_URL: "" })).exit)
      assert.instanceOf(missing, CommandFailed)
      assert.strictEqual(
        missing.message,
        "DATABASE_URL must be postgres://user:password@host:port/database, or with several hosts: …@h1:5432,h2:5432/database, got nothing"
      )
    })
  )

  it.effect("command line: a token, key or password that cannot be sent is refused, and never printed", () =>
    Effect.gen(function* () {
      const url = "http://127.0.0.1:9"
      for (const [command, env] of [
        ["status", { SATRAIL_URL: url, SATRAIL_OPERATOR_TOKEN: "op_not-to-be-told\nsecond" }],
        ["refunds list", { SATRAIL_URL: url, SATRAIL_API_KEY: "sr_not-to-be-told\nsecond" }],
        ["status", { SATRAIL_URL: "http://me:not-to-be-told@127.0.0.1:9", SATRAIL_OPERATOR_TOKEN: "op_any" }],
        ["status", { SATRAIL_URL: "me:not-to-be-told@127.0.0.1:9", SATRAIL_OPERATOR_TOKEN: "op_any" }]
      ] as const) {
        const { message } = Object(errorOf((yield* run(command, env)).exit))
        assert.match(message, /SATRAIL_\w+ must be /)
        assert.notInclude(message, "not-to-be-told")
      }
      // A file's last line break is no part of a token.
      const sent = errorOf(
        (yield* run("status", { SATRAIL_URL: url, SATRAIL_OPERATOR_TOKEN: "op_any\n" })).exit
      )
      assert.include(Object(sent).message, "can't be reached")
    })
  )

  it.effect("command line: verify says which form --audit-head has, before it reads the ledger", () =>
    Effect.gen(function* () {
      const hash = "0f".repeat(32)
      const said = (head: string) =>
        Effect.map(
          run(`verify --audit-head ${head}`, { SATRAIL_DATA: "/dev/null/none" }),
          ({ exit, stderr }) => [stderr, String(errorOf(exit))].join("\n")
        )
      for (const head of ["garbage", hash, `7:${hash.slice(1)}`, `7:3:${hash}`, `7:3:${hash}:x`])
        assert.include(
          yield* said(head),
          `Expected a head as it was logged, such as 7:3:HASH:SIGNATURE or 7:HASH, got ${head}`
        )
      for (const head of [`7:${hash}`, `7:3:${hash}:`, `7:3:${hash}:${hash}`])
        assert.include(yield* said(head), "There is no database")
    })
  )

  it("command line: verify names audited records in the singular", () => {
    const audited = Nouns.all.filter((noun) => "recorded" in noun && noun.recorded !== undefined)
    assert.deepStrictEqual(
      audited.map(({ name }) => nameOf(name)),
      [
        "Company",
        "API key",
        "Operator token",
        "Operator request",
        "Webhook endpoint",
        "Person",
        "Console session",
        "Platform key",
        "Wallet connection"
      ]
    )
  })

  it.effect("command line: a limits command without a value is rejected before any request is sent", () =>
    Effect.gen(function* () {
      const error = errorOf(
        (yield* run("limits set company 01a1f768-1c70-748e-8579-81b7373e8599", { SATRAIL_DATA: "/nowhere" }))
          .exit
      )
      assert.instanceOf(error, CommandFailed)
      assert.include(error.message, "limits clear")
    })
  )

  it.effect("command line: a fees command without a value is rejected before any request is sent", () =>
    Effect.gen(function* () {
      const error = errorOf(
        (yield* run("fees set 01a1f768-1c70-748e-8579-81b7373e8599", { SATRAIL_DATA: "/nowhere" })).exit
      )
      assert.instanceOf(error, CommandFailed)
      assert.include(error.message, "fees clear")
    })
  )

  for (const shell of ["bash", "zsh", "fish"] as const) {
    it.effect(`command line: completions for ${shell} include the commands`, () =>
      Effect.gen(function* () {
        const { stdout } = yield* run(`--completions ${shell}`)
        for (const word of ["satrail", "own-funds", "show-xpub", "overlap-seconds"])
          assert.include(stdout, word)
      })
    )
  }
})
