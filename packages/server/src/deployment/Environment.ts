import { Config, ConfigProvider, Effect, Result, Schema } from "effect"
import * as Backends from "../backends/Backends.ts"
import type * as ChainView from "../backends/ChainView.ts"
import type { Entry } from "../backends/Entry.ts"
import type { LightningNode } from "../backends/LightningNode.ts"
import type { Chain } from "./ChainNode.ts"
import * as Database from "../environment/Database.ts"
import * as Limits from "../environment/Limits.ts"
import * as Others from "../environment/Others.ts"
import * as Process from "../environment/Process.ts"
import * as Service from "../environment/Service.ts"
import * as Setting from "../environment/Setting.ts"
import * as Unknown from "../environment/Unknown.ts"
import * as Wallet from "../environment/Wallet.ts"

/** The configuration is wrong. One line a variable: what it is called, what it got, what it wants. */
export class EnvironmentInvalid extends Schema.TaggedError<EnvironmentInvalid>()("EnvironmentInvalid", {
  problems: Schema.Array(Schema.String)
}) {
  override get message(): string {
    return ["The configuration is not usable:", ...this.problems.map((problem) => `  ${problem}`)].join("\n")
  }
}

/** What is the same whatever is chosen. */
const plain = {
  ...Process.listening,
  ...Database.settings,
  ...Service.identity,
  ...Service.operator,
  ...Limits.settings,
  ...Process.life,
  sandboxSeed: Others.sandboxSeed
}

/** Everything a start needs to know. Each subject has a file of its own in `environment/`. */
export interface Environment extends Omit<Setting.Values<typeof plain>, "demo" | "corsOrigins"> {
  /** The Lightning node, where it is a real one. */
  readonly node: LightningNode | undefined
  /** The chain, where it is a real one. */
  readonly chainNode: Chain | undefined
  readonly rates: "fixed" | "tickers"
  readonly resolver: "sandbox" | "web"
  readonly bip353Resolvers: ReadonlyArray<URL>
  readonly outboundAllow: ReadonlyMap<string, URL>
  readonly corsOrigins: ReadonlyArray<string>
  /** Whether a start opens a company to try the service with. */
  readonly demo: boolean
}

const sandbox = "sandbox"

/** What names a member of a table. */
const choiceOf = (name: string, meaning: string, table: ReadonlyArray<Entry>) =>
  Setting.withDefault({ name, meaning, fallback: sandbox, ...Setting.oneOf(sandbox, ...table.map(({ name }) => name)) })

const choicesOf = ({ lightning, chain }: Backends.Backends) => ({
  lightning: choiceOf("LIGHTNING", "The Lightning node; sandbox is simulated, for evaluation and tests", lightning),
  chain: choiceOf("CHAIN", "The source of blocks and the wallet; sandbox is simulated, for evaluation and tests", chain)
})

/** With every source of blocks there is a wallet. */
const withWallet = ({ name, settings, config }: ChainView.Backend): Setting.Choice<Chain> => ({
  name,
  settings: { ...settings, ...Wallet.settings },
  config: Config.map(Setting.all({ source: config, wallet: Wallet.config }), ({ source, wallet }) => ({ ...wallet, source }))
})

const notOnMainnet = <A>(setting: Config.Config<A>, isPretended: (value: A) => boolean, problem: string): Config.Config<void> =>
  Config.flatMap(Setting.all({ network: Service.identity.network, value: setting }), ({ network, value }) =>
    network === "mainnet" && isPretended(value) ? Setting.refused(problem) : Config.succeed(undefined)
  )

/** What is read of everything that can be chosen in these tables. */
const configOf = ({ lightning, chain }: ReturnType<typeof choicesOf>, backends: Backends.Backends): Config.Config<Environment> => {
  /** Beside a simulated Lightning node the other parts are simulated too, unless the settings say otherwise. */
  const besides = <A>(setting: Config.Config<A | undefined>, pretended: A, real: A): Config.Config<A> =>
    Config.flatMap(setting, (given) =>
      given === undefined ? Config.map(lightning, (name) => (name === sandbox ? pretended : real)) : Config.succeed(given)
    )
  const { bip353Resolvers, outboundAllow } = Others.settings
  const rates = besides<"fixed" | "tickers">(Others.settings.rates, "fixed", "tickers")
  const resolver = besides<"sandbox" | "web">(Others.settings.resolver, sandbox, "web")
  const isSandbox = (name: string) => name === sandbox
  const [got, pretend] = ['on mainnet, got "sandbox"', "simulated payments never mix with real money"]
  // Nothing simulated mixes with real money, and nothing that a power cut takes away.
  const rules = Setting.right([
    notOnMainnet(
      Database.settings.databaseUrl,
      (url) => url === undefined,
      "DATABASE_URL must be a PostgreSQL (15 or newer) on mainnet: the embedded database does not wait for the disk, and a power cut could take back what was paid"
    ),
    notOnMainnet(lightning, isSandbox, `LIGHTNING must be a real node ${got}: ${pretend}`),
    notOnMainnet(chain, isSandbox, `CHAIN must be a real chain ${got}: ${pretend}`),
    notOnMainnet(
      rates,
      (is) => is === "fixed",
      'RATES must be "tickers" on mainnet, got "fixed": a made-up price must not be used for real money'
    ),
    notOnMainnet(resolver, isSandbox, `RESOLVER must be "web" ${got}: ${pretend}`),
    notOnMainnet(outboundAllow, (is) => is !== undefined, `${outboundAllow.name} is for developing, and cannot be used on mainnet`),
    notOnMainnet(
      Service.operator.demo,
      (is) => is === true,
      'SATRAIL_DEMO must be "no" on mainnet, got "yes": a key in a file opens real money. Open companies with `satrail companies create`'
    )
  ])
  const node = Setting.chosen(lightning, backends.lightning)
  const chainNode = Setting.chosen(chain, backends.chain.map(withWallet))
  const others = { rates, resolver, bip353Resolvers, outboundAllow }
  const read = { plain: Setting.all(plain), node, chainNode, ...others, ignored: Unknown.ignored, rules }
  return Config.map(Setting.all(read), ({ plain, node, chainNode, rates, resolver, bip353Resolvers, outboundAllow }) => ({
    ...plain,
    node,
    chainNode,
    rates,
    resolver,
    bip353Resolvers: bip353Resolvers ?? [],
    outboundAllow: outboundAllow ?? new Map<string, URL>(),
    corsOrigins: plain.corsOrigins ?? [],
    demo: plain.demo ?? (node === undefined && chainNode === undefined)
  }))
}

const tableOf = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string =>
  [head, head.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n")

/** The settings of a service that can choose from these tables: those of this package, and whatever else a program has (`Program.run`). */
export const make = (backends: Backends.Backends) => {
  const choices = choicesOf(backends)
  const config = configOf(choices, backends)
  const entries: ReadonlyArray<readonly [choice: string, entry: Entry]> = [
    ...backends.lightning.map((entry) => ["LIGHTNING", entry] as const),
    ...backends.chain.map((entry) => ["CHAIN", entry] as const)
  ]
  /** In the order of the documentation. */
  const settings: ReadonlyArray<Setting.Setting<unknown>> = [
    Process.listening,
    Database.settings,
    Service.identity,
    { lightning: choices.lightning },
    ...backends.lightning.map(({ settings }) => settings),
    { chain: choices.chain },
    ...backends.chain.map(({ settings }) => settings),
    Wallet.settings,
    Others.settings,
    Service.operator,
    Limits.settings,
    Process.life,
    { sandboxSeed: Others.sandboxSeed, ignored: Unknown.ignored }
  ].flatMap((group) => Object.values<Setting.Setting<unknown>>(group))
  /** Settings that several have are reported once. */
  const documented = settings.filter((setting, at) => settings.indexOf(setting) === at)

  /** Variables that look like settings and are none: a line each, with the nearest right name. */
  const unknown = (env: Unknown.Source): ReadonlyArray<string> =>
    Unknown.problems(
      env,
      documented.map(({ name }) => name),
      entries.map(([, { prefix }]) => prefix)
    )

  /** Reads the environment. Reports every variable that is wrong, not only the first; a secret's value is not repeated. */
  const read = (env: Unknown.Source): Result.Result<Environment, EnvironmentInvalid> => {
    const read = Effect.runSync(Effect.result(config.parse(ConfigProvider.fromEnvRecord(env))))
    const problems = [...unknown(env), ...(Result.isFailure(read) ? Setting.problemsOf(read.failure) : [])]
    return Result.isSuccess(read) && problems.length === 0
      ? Result.succeed(read.success)
      : Result.fail(new EnvironmentInvalid({ problems }))
  }

  /** The tables of settings, and of what can be chosen, in Markdown, for the documentation. */
  const documentation = (): string =>
    [
      tableOf(
        ["variable", "default", "what it is", "format"],
        documented.map(({ name, fallback, meaning, wants }) => [`\`${name}\``, fallback === "" ? "" : `\`${fallback}\``, meaning, wants])
      ),
      "## What can be chosen",
      "Besides `sandbox`. Every start and `satrail check` also report what is untested or missing.",
      tableOf(
        ["setting", "what it is", "tested with", "what is missing"],
        entries.map(([choice, { name, title, proof, caveats }]) => [
          `\`${choice}=${name}\``,
          title,
          proof,
          caveats.map(({ says, remedy }) => `${says}. ${remedy}`).join(" ")
        ])
      )
    ].join("\n\n")

  return { read, unknown, documentation }
}

/** With what this package brings. */
export const bundled = make(Backends.all)

export const { read, unknown, documentation } = bundled
