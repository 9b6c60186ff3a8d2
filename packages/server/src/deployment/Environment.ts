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

/** The configuration is invalid. One line per variable: its name, its value, and the expected value. */
export class EnvironmentInvalid extends Schema.TaggedError<EnvironmentInvalid>()("EnvironmentInvalid", {
  problems: Schema.Array(Schema.String)
}) {
  override get message(): string {
    return ["The configuration is not usable:", ...this.problems.map((problem) => `  ${problem}`)].join("\n")
  }
}

/** Settings that apply whichever backends are chosen. */
const plain = {
  ...Process.listening,
  ...Database.settings,
  ...Service.identity,
  ...Service.operator,
  ...Limits.settings,
  ...Process.life,
  sandboxSeed: Others.sandboxSeed
}

/** All settings. Each group of settings has its own file in `environment/`. */
export interface Environment extends Omit<Setting.Values<typeof plain>, "demo" | "corsOrigins"> {
  /** The Lightning node, if it is real. */
  readonly node: LightningNode | undefined
  /** The chain, if it is real. */
  readonly chainNode: Chain | undefined
  readonly rates: "fixed" | "tickers"
  readonly resolver: "sandbox" | "web"
  readonly bip353Resolvers: ReadonlyArray<URL>
  readonly outboundAllow: ReadonlyMap<string, URL>
  readonly corsOrigins: ReadonlyArray<string>
  /** True if a start creates a demo company. */
  readonly demo: boolean
}

const sandbox = "sandbox"

/** Creates a setting whose value names a table entry. */
const choiceOf = (name: string, meaning: string, table: ReadonlyArray<Entry>) =>
  Setting.withDefault({
    name,
    meaning,
    fallback: sandbox,
    ...Setting.oneOf(sandbox, ...table.map(({ name }) => name))
  })

const choicesOf = ({ lightning, chain }: Backends.Backends) => ({
  lightning: choiceOf(
    "LIGHTNING",
    "The Lightning node; sandbox is simulated, for evaluation and tests",
    lightning
  ),
  chain: choiceOf(
    "CHAIN",
    "The source of blocks and the wallet; sandbox is simulated, for evaluation and tests",
    chain
  )
})

/** Adds the wallet to a block source. */
const withWallet = ({ name, settings, config }: ChainView.Backend): Setting.Choice<Chain> => ({
  name,
  settings: { ...settings, ...Wallet.settings },
  config: Config.map(Setting.all({ source: config, wallet: Wallet.config }), ({ source, wallet }) => ({
    ...wallet,
    source
  }))
})

const notOnMainnet = <A>(
  setting: Config.Config<A>,
  isSimulated: (value: A) => boolean,
  problem: string
): Config.Config<void> =>
  Config.flatMap(Setting.all({ network: Service.identity.network, value: setting }), ({ network, value }) =>
    network === "mainnet" && isSimulated(value) ? Setting.refused(problem) : Config.succeed(undefined)
  )

/** Returns the config that reads all settings, given these tables of choices. */
const configOf = (
  { lightning, chain }: ReturnType<typeof choicesOf>,
  backends: Backends.Backends
): Config.Config<Environment> => {
  /** Returns a part's setting. Without one, the part is simulated if Lightning is simulated, and otherwise real. */
  const besides = <A>(setting: Config.Config<A | undefined>, simulated: A, real: A): Config.Config<A> =>
    Config.flatMap(setting, (given) =>
      given === undefined
        ? Config.map(lightning, (name) => (name === sandbox ? simulated : real))
        : Config.succeed(given)
    )
  const { bip353Resolvers, outboundAllow } = Others.settings
  const rates = besides<"fixed" | "tickers">(Others.settings.rates, "fixed", "tickers")
  const resolver = besides<"sandbox" | "web">(Others.settings.resolver, sandbox, "web")
  const isSandbox = (name: string) => name === sandbox
  const [got, pretend] = ['on mainnet, got "sandbox"', "simulated payments never mix with real money"]
  // Real money must not be combined with anything simulated or volatile. Rates and servers that are not set are as real as the node.
  const rules = Setting.right([
    notOnMainnet(
      Database.settings.databaseUrl,
      (url) => url === undefined,
      "DATABASE_URL must be a PostgreSQL server (15 or newer) on mainnet: the embedded database does not wait for the disk, and a power failure could undo payments"
    ),
    notOnMainnet(lightning, isSandbox, `LIGHTNING must be a real node ${got}: ${pretend}`),
    notOnMainnet(chain, isSandbox, `CHAIN must be a real chain ${got}: ${pretend}`),
    notOnMainnet(
      Others.settings.rates,
      (is) => is === "fixed",
      'RATES must be "tickers" on mainnet, got "fixed": a simulated price must not be used for real money'
    ),
    notOnMainnet(
      Others.settings.resolver,
      (is) => is === sandbox,
      `RESOLVER must be "web" ${got}: ${pretend}`
    ),
    notOnMainnet(
      outboundAllow,
      (is) => is !== undefined,
      `${outboundAllow.name} is for development and cannot be used on mainnet`
    ),
    notOnMainnet(
      Service.operator.demo,
      (is) => is === true,
      'SATRAIL_DEMO must be "no" on mainnet, got "yes": a key in a file would give access to real money. Create companies with `satrail companies create`'
    )
  ])
  const node = Setting.chosen(lightning, backends.lightning)
  const chainNode = Setting.chosen(chain, backends.chain.map(withWallet))
  const others = { rates, resolver, bip353Resolvers, outboundAllow }
  const read = { plain: Setting.all(plain), node, chainNode, ...others, ignored: Unknown.ignored, rules }
  return Config.map(
    Setting.all(read),
    ({ plain, node, chainNode, rates, resolver, bip353Resolvers, outboundAllow }) => ({
      ...plain,
      node,
      chainNode,
      rates,
      resolver,
      bip353Resolvers: bip353Resolvers ?? [],
      outboundAllow: outboundAllow ?? new Map<string, URL>(),
      corsOrigins: plain.corsOrigins ?? [],
      demo: plain.demo ?? (node === undefined && chainNode === undefined)
    })
  )
}

const tableOf = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string =>
  [head, head.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n")

/**
 * Builds the settings of a service with these backends: those of this package, plus any that a program adds
 * (`Program.run`).
 */
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
  /** The settings without repetitions, because several choices share a setting. */
  const documented = settings.filter((setting, at) => settings.indexOf(setting) === at)

  /**
   * Returns a line for each variable that looks like a setting but isn't one. The line suggests the most
   * similar setting.
   */
  const unknown = (
    env: Unknown.Source,
    others: ReadonlyArray<string> = entries.map(([, { prefix }]) => prefix)
  ): ReadonlyArray<string> =>
    Unknown.problems(
      env,
      documented.map(({ name }) => name),
      others
    )

  /**
   * Reads the environment. Reports every invalid variable, not only the first, and never repeats a secret's
   * value. Every name with one of the prefixes in `others` must be a setting.
   */
  const read = (
    env: Unknown.Source,
    others?: ReadonlyArray<string>
  ): Result.Result<Environment, EnvironmentInvalid> => {
    const read = Effect.runSync(Effect.result(config.parse(ConfigProvider.fromEnvRecord(env))))
    const problems = [
      ...unknown(env, others),
      ...(Result.isFailure(read) ? Setting.problemsOf(read.failure) : [])
    ]
    return Result.isSuccess(read) && problems.length === 0
      ? Result.succeed(read.success)
      : Result.fail(new EnvironmentInvalid({ problems }))
  }

  /** Returns the Markdown tables of settings and choices for the documentation. */
  const documentation = (): string =>
    [
      tableOf(
        ["variable", "default", "meaning", "format"],
        documented.map(({ name, fallback, meaning, wants }) => [
          `\`${name}\``,
          fallback === "" ? "" : `\`${fallback}\``,
          meaning,
          wants
        ])
      ),
      "## Available backends",
      "These backends exist in addition to `sandbox`. The service reports anything untested or missing at startup, and so does `satrail check`.",
      tableOf(
        ["setting", "backend", "tested with", "not covered"],
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

/** The settings with this package's choices. */
export const bundled = make(Backends.all)

export const { read, unknown, documentation } = bundled
