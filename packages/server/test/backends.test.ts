import { assert, describe, it } from "@effect/vitest"
import type { Network } from "@satrail/bitcoin/Network"
import * as Nostr from "@satrail/bitcoin/Nostr"
import * as Keys from "@satrail/chain/Keys"
import * as Seed from "@satrail/chain/Seed"
import * as WalletFile from "@satrail/chain/WalletFile"
import { eventually } from "@satrail/contracts/Eventually"
import * as Id from "@satrail/core/base/Id"
import * as Cursor from "@satrail/core/ledger/Cursor"
import { Journal } from "@satrail/core/ledger/Journal"
import { LedgerReads } from "@satrail/core/ledger/LedgerReads"
import { ChainSource, ChainUnavailable } from "@satrail/core/nodes/ChainSource"
import { LightningBooks } from "@satrail/core/nodes/LightningBooks"
import { OfferSender } from "@satrail/core/nodes/OfferSender"
import { LightningReceiver } from "@satrail/core/nodes/LightningReceiver"
import { LightningSender } from "@satrail/core/nodes/LightningSender"
import * as Satrail from "@satrail/service/core/Satrail"
import * as Memory from "@satrail/service/memory/Memory"
import * as Commits from "@satrail/postgres/journal/Commits"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import { Exit, Console, Context, Effect, Fiber, Layer, Option, Redacted, References, Result } from "effect"
import { rmSync } from "node:fs"
import path from "node:path"
import * as Backends from "../src/backends/Backends.ts"
import * as ChainView from "../src/backends/ChainView.ts"
import * as InvoiceSecret from "../src/backends/InvoiceSecret.ts"
import * as LightningNode from "../src/backends/LightningNode.ts"
import * as Banner from "../src/deployment/Banner.ts"
import * as Check from "../src/base/Check.ts"
import * as Checks from "../src/check/Checks.ts"
import * as Environment from "../src/deployment/Environment.ts"
import * as Setting from "../src/environment/Setting.ts"
import { Variables } from "../src/environment/Unknown.ts"
import * as Program from "../src/serving/Program.ts"
import * as Server from "../src/serving/Server.ts"
import * as Service from "./Service.ts"

// A Lightning node and a block source that the service does not know. Each is added as one entry in its table,
// and nothing else is needed.

const needed = Setting.neededWith("LIGHTNING=paper")
const nodeSettings = {
  url: needed({ name: "PAPER_URL", meaning: "Where the paper is", ...Setting.origin("https://host:port") }),
  invoiceSecret: needed({ name: "PAPER_SECRET", meaning: "What is written on it", ...Setting.invoiceSecret })
}
const pretended = Layer.orDie(Sandbox.layer({ seed: "paper", network: "regtest" }))

/** A node without account statements. */
const withoutBooks = Layer.effectContext(
  Effect.map(Layer.build(pretended), Context.pick(LightningReceiver, LightningSender))
)

const paper = LightningNode.make({
  name: "paper",
  title: "Paper",
  prefix: "PAPER_",
  settings: nodeSettings,
  config: Setting.all(nodeSettings),
  identity: ({ url, invoiceSecret }) => ({
    source: "paper",
    at: `Paper at ${url}`,
    setting: "PAPER_URL",
    mayBeAway: () => true,
    ask: Effect.succeed({ nodeId: "02".repeat(33), network: "regtest" }),
    invoiceSecret
  }),
  layer: () => withoutBooks,
  checks: ({ url }) => [{ subject: "Paper", lines: Effect.succeed([Check.right(`it lies at ${url}`)]) }],
  proof: "a desk",
  caveats: [{ says: "paper is untested with money", remedy: "Use gold." }]
})

const stoneSettings = {
  place: Setting.neededWith("CHAIN=stone")({
    name: "STONE_PLACE",
    meaning: "Where the stone stands",
    ...Setting.file
  })
}
const away = Effect.fail(new ChainUnavailable({ operation: "test", cause: "a stone says nothing" }))
const stone = ChainView.make({
  name: "stone",
  title: "Stone",
  prefix: "STONE_",
  settings: stoneSettings,
  config: Setting.all(stoneSettings),
  identity: ({ place }) => ({ at: `stone in ${place}` }),
  layer: () => pretended,
  blocks: () => ({
    tip: away,
    hashAt: () => away,
    timeSecondsAt: () => away,
    block: () => away,
    waiting: away,
    transactions: () => away
  }),
  unspent: () => () => away,
  checks: ({ place }) => [
    { subject: "chain", lines: Effect.succeed([Check.right(`it stands in ${place}`)]) }
  ],
  proof: "a hammer",
  caveats: [{ says: "stone was never tried in rain", remedy: "Wait for the sun." }]
})

const bundledAndOurs = Environment.make({
  lightning: [...Backends.all.lightning, paper],
  chain: [...Backends.all.chain, stone]
})
const { read, unknown, documentation } = bundledAndOurs
const [lightning, chain] = [
  ["sandbox", ...Backends.all.lightning.map(({ name }) => name), "paper"].join(", "),
  ["sandbox", ...Backends.all.chain.map(({ name }) => name), "stone"].join(", ")
]

/** The service as composed for an environment, except for its database. */
const inMemory = (environment: Environment.Environment) =>
  Satrail.layer(Server.settingsOf(environment)).pipe(
    Layer.provideMerge(Server.outside(environment)),
    Layer.provideMerge(
      Layer.mergeAll(
        Memory.layer,
        Layer.succeed(Commits.Commits, { check: Effect.void }),
        Layer.succeed(Nostr.SecretKey, environment.nostrKey)
      )
    )
  )

const words = Seed.fromEntropy(new Uint8Array(32).fill(9))

describe("the backend table", () => {
  const secret = "what-is-written-on-this-paper-is-secret"
  const withHome = <A, E>(use: (env: Record<string, string>) => Effect.Effect<A, E>) =>
    Effect.acquireUseRelease(
      Effect.sync(() => Service.directory()),
      (home) =>
        Effect.gen(function* () {
          const walletFile = path.join(home, "wallet.json")
          const accounts = Keys.accountsOf(words, "regtest")
          yield* WalletFile.write(walletFile, { satrailWallet: 1, accounts, birthdaySeconds: 0, seed: null })
          return yield* use({
            LIGHTNING: "paper",
            PAPER_URL: "https://desk.example",
            PAPER_SECRET: secret,
            CHAIN: "stone",
            STONE_PLACE: "/the/yard",
            CHAIN_WALLET: walletFile,
            CHAIN_SEED: Redacted.value(words),
            RATES: "fixed",
            RESOLVER: "sandbox",
            SATRAIL_DATA: home
          })
        }),
      (home) => Effect.sync(() => rmSync(home, { recursive: true, force: true }))
    )

  /** The settings for each kind of node. No LDK node listens at this socket. */
  const nodes: Readonly<Record<string, Record<string, string>>> = {
    paper: {},
    ldk: { LIGHTNING: "ldk", LDK_SOCKET: "/nowhere/ldk.sock", LDK_INVOICE_SECRET: secret },
    sandbox: { LIGHTNING: "sandbox" }
  }

  const problemsOf = (env: Record<string, string>) =>
    Result.match(read(env), { onSuccess: () => [], onFailure: (one) => one.problems })

  it("backends: each entry of the backend table can be selected, and the entry's settings are required and validated", () => {
    assert.deepStrictEqual(problemsOf({ LIGHTNING: "pigeons", CHAIN: "sand" }), [
      `LIGHTNING must be one of ${lightning}, got "pigeons"`,
      `CHAIN must be one of ${chain}, got "sand"`
    ])
    const missing = problemsOf({ LIGHTNING: "paper", CHAIN: "stone" })
    for (const name of [
      "PAPER_URL is required with LIGHTNING=paper",
      "PAPER_SECRET is required",
      "STONE_PLACE is required with CHAIN=stone"
    ])
      assert.isTrue(
        missing.some((problem) => problem.startsWith(name)),
        name
      )
    const unused = 'PAPER_URL must be https://host:port, got "nowhere"'
    assert.deepStrictEqual(problemsOf({ PAPER_URL: "nowhere" }), [unused], "even if it is not selected")
    assert.deepStrictEqual(unknown({ PAPER_URI: "x", STONE_PLACES: "x", PAPERS: "x" }), [
      "PAPER_URI is not a setting: did you mean PAPER_URL?",
      "STONE_PLACES is not a setting: did you mean STONE_PLACE?"
    ])
    assert.deepStrictEqual(
      Environment.unknown({ PAPER_URI: "x", STONE_PLACES: "x" }),
      [],
      "without these entries, the variables are ignored"
    )
  })

  it.live(
    "backends: the service runs on the selected backends, and the banner and the checks show the backends but not the secrets",
    () =>
      withHome((env) =>
        Effect.gen(function* () {
          const environment = Result.getOrThrow(read(env))
          const layer = Server.outside(environment)
          const found = yield* Effect.scoped(
            Effect.map(Layer.build(Layer.fresh(layer)), (ports) => [
              Context.get(ports, LightningReceiver).network,
              typeof Context.get(ports, ChainSource).transaction
            ])
          ).pipe(Effect.provide(Layer.fresh(Memory.layer)))
          assert.deepStrictEqual(found, ["regtest", "function"])
          const banner = Banner.text(environment, {
            url: "http://127.0.0.1",
            operator: { _tag: "Closed" },
            demo: undefined
          })
          for (const said of ["Paper at https://desk.example", "stone in /the/yard"])
            assert.include(banner, said)

          const lines = (yield* Checks.all(environment)).map(Check.text)
          for (const line of [
            "✓ Paper: it lies at https://desk.example",
            "! Paper: paper is untested with money. Use gold.",
            "✓ chain: it stands in /the/yard",
            "! chain: stone was never tried in rain. Wait for the sun."
          ])
            assert.include(lines, line)
          assert.includeMembers([...Check.secretsIn(environment)], [secret, Redacted.value(words)])
        })
      ).pipe(Effect.provideService(References.MinimumLogLevel, "None"))
  )

  it.live(
    "backends: for a custom node without account statements, the service uses neither the simulated node's statements nor its offer payments",
    () =>
      withHome(({ CHAIN: _, STONE_PLACE: __, CHAIN_WALLET: ___, CHAIN_SEED: ____, ...env }) =>
        Effect.gen(function* () {
          const has = (env: Record<string, string>) =>
            Effect.map(Layer.build(Layer.fresh(Server.outside(Result.getOrThrow(read(env))))), (services) => [
              Option.isSome(Context.getOption(services, LightningBooks)),
              Option.isSome(Context.getOption(services, OfferSender))
            ]).pipe(Effect.scoped, Effect.provide(Layer.fresh(Memory.layer)))
          assert.deepStrictEqual(yield* has(env), [false, false])
          assert.deepStrictEqual(yield* has({ SATRAIL_DATA: env["SATRAIL_DATA"] ?? "" }), [true, true])
        })
      ).pipe(Effect.provideService(References.MinimumLogLevel, "None"))
  )

  it.live(
    "backends: a custom node on another network is rejected, and so is a database created with another node",
    () =>
      withHome((env) =>
        Effect.gen(function* () {
          const { node = assert.fail("no node was chosen") } = Result.getOrThrow(read(env))
          const refusal = (network: Network) =>
            Effect.map(Effect.flip(Effect.scoped(Layer.build(Layer.fresh(node.layer(network))))), (error) =>
              "message" in error ? error.message : ""
            )
          assert.include(
            yield* refusal("signet"),
            "Paper at https://desk.example is on regtest, but SATRAIL_NETWORK is signet"
          )
          const value = JSON.stringify({ nodeId: "03".repeat(33), network: "regtest" })
          yield* (yield* Journal).commit(Cursor.moved({ source: "paper", value }, Id.nil, 0))
          assert.match(
            yield* refusal("regtest"),
            /^The database belongs to the node 0303.*Set PAPER_URL to the database's node/
          )
        }).pipe(Effect.provide(Layer.fresh(Memory.layer)))
      ).pipe(Effect.provideService(References.MinimumLogLevel, "None"))
  )

  it.live(
    "backends: a database used with an invoice secret is rejected with another one, which could not settle its held payments",
    () =>
      withHome((env) =>
        Effect.gen(function* () {
          const start = (changed: Record<string, string> = {}) => {
            const { node = assert.fail("no node was chosen") } = Result.getOrThrow(
              read({ ...env, ...changed })
            )
            return Effect.scoped(Layer.build(Layer.fresh(node.layer("regtest"))))
          }
          yield* start()
          yield* start()
          const other = "another-secret-of-thirty-two-or-more-characters"
          const { message } = yield* Effect.flip(start({ PAPER_SECRET: other }))
          assert.match(
            message,
            /^The database is bound to another invoice secret\. Set PAPER_SECRET to that one/
          )
          assert.notInclude(message, other)
          yield* start()
        }).pipe(Effect.provide(Layer.fresh(Memory.layer)))
      ).pipe(Effect.provideService(References.MinimumLogLevel, "None"))
  )

  it.live(
    "backends: of two processes with different invoice secrets that start together on an empty database, one is rejected",
    () =>
      Effect.gen(function* () {
        const confirm = (secret: string) => InvoiceSecret.confirm(Redacted.make(secret), "PAPER_SECRET")
        const reads = yield* LedgerReads
        let other: Effect.Effect<unknown, unknown, Journal | LedgerReads> = confirm("the first")
        const overtaken = LedgerReads.of({
          ...reads,
          cursor: (source) =>
            Effect.tap(reads.cursor(source), () => {
              const now = Effect.provideService(other, LedgerReads, reads)
              other = Effect.void
              return Effect.orDie(Effect.provideService(now, Journal, journal))
            })
        })
        const journal = yield* Journal
        const { message } = yield* Effect.flip(
          Effect.provideService(confirm("the second"), LedgerReads, overtaken)
        )
        assert.include(message, "bound to another invoice secret")
        yield* confirm("the first")
        // As the operator does if the secret is lost.
        const lost = LedgerReads.of({ ...reads, cursor: () => Effect.succeedNone })
        yield* Effect.provideService(confirm("the second"), LedgerReads, lost)
        yield* confirm("the second")
      }).pipe(Effect.provide(Layer.fresh(Memory.layer)))
  )

  it.live(
    "backends: an invoice secret binds an empty database even if its process stops for seconds after a commit",
    () =>
      Effect.gen(function* () {
        const confirm = (secret: string) => InvoiceSecret.confirm(Redacted.make(secret), "PAPER_SECRET")
        const [journal, reads] = [yield* Journal, yield* LedgerReads]
        const ends: Array<boolean> = []
        const second = Effect.provideService(
          Effect.provideService(confirm("the second"), Journal, journal),
          LedgerReads,
          reads
        )
        const slow: Journal["Service"] = {
          ...journal,
          commit: (change) =>
            Effect.tap(journal.commit(change), () =>
              Effect.map(Effect.exit(second), (end) => void ends.push(Exit.isSuccess(end)))
            )
        }
        yield* Effect.provideService(confirm("the first"), Journal, slow)
        assert.deepStrictEqual(ends, [false])
        yield* confirm("the first")
      }).pipe(Effect.provide(Layer.fresh(Memory.layer)))
  )

  it.live(
    "backends: a database used with one kind of node is rejected with every other kind, which is not called",
    () =>
      withHome((env) =>
        Effect.gen(function* () {
          const { CHAIN: _, STONE_PLACE: __, CHAIN_WALLET: ___, CHAIN_SEED: ____, ...onPaper } = env
          const start = (lightning: string) =>
            Effect.scoped(
              Layer.build(
                Layer.fresh(Server.outside(Result.getOrThrow(read({ ...onPaper, ...nodes[lightning] }))))
              )
            )
          const refusal = (lightning: string) =>
            Effect.map(Effect.flip(start(lightning)), (error) => ("message" in error ? error.message : ""))
          const ids = { paper: "02".repeat(33), lnd: "03".repeat(33) }
          for (const [first, then] of [
            ["paper", "ldk"],
            ["paper", "sandbox"],
            ["sandbox", "paper"]
          ] as const)
            yield* Effect.gen(function* () {
              yield* start(first)
              const message = yield* refusal(then)
              assert.include(
                message,
                first === "paper"
                  ? `The database belongs to the paper node ${ids.paper}`
                  : "The database belongs to the simulated node 0"
              )
              assert.match(message, /Set LIGHTNING back to that node, or start with an empty database\.$/)
              yield* start(first)
            }).pipe(Effect.provide(Layer.fresh(Memory.layer)))
          // An earlier version stored the node once per kind.
          const earlier = (source: "paper" | "lnd") =>
            Effect.flatMap(Journal, (journal) =>
              journal.commit(
                Cursor.moved(
                  { source, value: JSON.stringify({ nodeId: ids[source], network: "regtest" }) },
                  Id.nil,
                  0
                )
              )
            )
          yield* Effect.gen(function* () {
            yield* earlier("lnd")
            for (const other of ["paper", "sandbox"])
              assert.include(yield* refusal(other), `The database belongs to the lnd node ${ids.lnd}`)
          }).pipe(Effect.provide(Layer.fresh(Memory.layer)))
          yield* Effect.gen(function* () {
            yield* earlier("paper")
            yield* start("paper")
            assert.include(yield* refusal("sandbox"), `The database belongs to the paper node ${ids.paper}`)
          }).pipe(Effect.provide(Layer.fresh(Memory.layer)))
        })
      ).pipe(Effect.provideService(References.MinimumLogLevel, "None"))
  )

  it.live("backends: a database used with a wallet is rejected with the simulated one, and the reverse", () =>
    withHome((env) =>
      Effect.gen(function* () {
        const { CHAIN: _, STONE_PLACE: __, CHAIN_WALLET: ___, CHAIN_SEED: ____, ...onSandbox } = env
        const start = (env: Record<string, string>) =>
          Effect.scoped(Layer.build(Layer.fresh(Server.outside(Result.getOrThrow(read(env))))))
        const wallet = `the wallet with fingerprint ${Keys.accountsOf(words, "regtest").fingerprint}`
        const simulated = "the simulated wallet"
        for (const [first, then, message] of [
          [
            env,
            onSandbox,
            `${wallet}, but CHAIN selects ${simulated}. Set CHAIN and CHAIN_WALLET to that wallet`
          ],
          [onSandbox, env, `${simulated}, but CHAIN selects ${wallet}. Set CHAIN to sandbox`]
        ] as const)
          yield* Effect.gen(function* () {
            yield* start(first)
            const error = yield* Effect.flip(start(then))
            assert.propertyVal(
              error,
              "message",
              `The database belongs to ${message}, or start with an empty database.`
            )
            yield* start(first)
          }).pipe(Effect.provide(Layer.fresh(Memory.layer)))
      })
    ).pipe(Effect.provideService(References.MinimumLogLevel, "None"))
  )

  it.live(
    "backends: a wallet file with the fingerprint of the seed but other public keys is rejected, as deposits would go to them",
    () =>
      withHome((env) =>
        Effect.gen(function* () {
          const walletFile = `${env["CHAIN_WALLET"] ?? ""}.swapped`
          const other = Keys.accountsOf(Seed.fromEntropy(new Uint8Array(32).fill(10)), "regtest")
          const accounts = { ...other, fingerprint: Keys.accountsOf(words, "regtest").fingerprint }
          yield* WalletFile.write(walletFile, { satrailWallet: 1, accounts, birthdaySeconds: 0, seed: null })
          const swapped = Result.getOrThrow(read({ ...env, CHAIN_WALLET: walletFile }))
          const error = yield* Effect.flip(Effect.scoped(Layer.build(Layer.fresh(Server.outside(swapped)))))
          assert.propertyVal(error, "message", `CHAIN_SEED is not the seed of the wallet in ${walletFile}.`)
        }).pipe(Effect.provide(Layer.fresh(Memory.layer)))
      ).pipe(Effect.provideService(References.MinimumLogLevel, "None"))
  )

  it.live("backends: a program with custom backends starts with them and stops on request", () =>
    withHome((env) =>
      Effect.gen(function* () {
        const said: Array<string> = []
        const umask = process.umask()
        yield* Effect.addFinalizer(() => Effect.sync(() => process.umask(umask)))
        const quiet: Console.Console = {
          ...globalThis.console,
          log: (...text) => void said.push(text.join(" ")),
          error: () => undefined
        }
        const program = yield* Program.main(inMemory, [], bundledAndOurs).pipe(
          Effect.provideService(Variables, { ...env, PORT: "0", SATRAIL_SHUTDOWN_SECONDS: "1" }),
          Effect.provideService(Console.Console, quiet),
          Effect.forkScoped
        )
        const banner = yield* eventually(
          Effect.sync(() => said.join("\n")),
          (text) => text.includes("is running at") || program.pollUnsafe() !== undefined
        )
        for (const words of ["is running at", "Paper at https://desk.example", "stone in /the/yard"])
          assert.include(banner, words)
        yield* Fiber.interrupt(program)
        process.exitCode = undefined
      }).pipe(Effect.scoped)
    )
  )

  it("backends: the documentation lists each backend's settings, tested versions and missing features", () => {
    const text = documentation()
    for (const said of [
      "| `PAPER_URL` |  | Where the paper is; required with LIGHTNING=paper | https://host:port |",
      "| `STONE_PLACE` |  | Where the stone stands; required with CHAIN=stone | a file's path |",
      `one of ${lightning} |`,
      "| `LIGHTNING=paper` | Paper | a desk | paper is untested with money. Use gold. |",
      "| `CHAIN=stone` | Stone | a hammer | stone was never tried in rain. Wait for the sun. |"
    ])
      assert.include(text, said)
    assert.notInclude(Environment.documentation(), "PAPER")
  })

  it("backends: each setting's name starts with the prefix of its backend, so that a misspelled name is detected", () => {
    const { lightning, chain } = Backends.all
    for (const { prefix, settings } of [...lightning, ...chain])
      for (const { name } of Object.values(settings))
        assert.isTrue(name.startsWith(prefix) || name.startsWith("CHAIN_"), name)
  })
})
