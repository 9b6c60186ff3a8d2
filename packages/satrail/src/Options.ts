import { metadataNouns, type Schemas } from "@satrail/client/Schemas"
import type { Network } from "@satrail/bitcoin/Network"
import type { OwnFeature } from "@satrail/service/features/own"
import { settings as lndSettings } from "@satrail/server/backends/LndSettings"
import { settings as ldkSettings } from "@satrail/server/backends/LdkSettings"
import * as Environment from "@satrail/server/deployment/Environment"
import * as Database from "@satrail/server/environment/Database"
import * as Limits from "@satrail/server/environment/Limits"
import * as Others from "@satrail/server/environment/Others"
import * as Process from "@satrail/server/environment/Process"
import * as Service from "@satrail/server/environment/Service"
import * as Wallet from "@satrail/server/environment/Wallet"
import { Predicate, Result } from "effect"
import { checkNames, OptionsInvalid } from "./KnownOptions.ts"

type Variables = Readonly<Record<string, string | undefined>>

/** A Lightning node: `lnd({…})`, `ldk({…})` or `simulated({…})`. */
export interface Lightning {
  readonly lightning: "lnd" | "ldk" | "sandbox"
  readonly variables: Variables
}

/** A simulated Lightning node. */
export interface Simulated extends Lightning {
  readonly lightning: "sandbox"
}

/** A source of blocks, and a wallet: `bitcoind({…})` or `esplora({…})`. */
export interface Chain {
  readonly chain: "bitcoin-rpc" | "esplora"
  readonly variables: Variables
}

/** The variable that each option sets; undefined for an option that has options of its own. */
type VariableOf<A> = { readonly [K in keyof A]-?: string | undefined }

const entriesOf = (names: Variables) =>
  Object.entries(names).flatMap(([option, variable]) =>
    variable === undefined ? [] : [{ option, variable }]
  )

/** Returns the variables that these options set. A node's secret is `SATRAIL_SECRET` by default. */
const variablesOf = (of: string, given: object, names: Variables): Variables => {
  checkNames(of, given, names)
  const defaults: Variables = { secret: process.env["SATRAIL_SECRET"] }
  return Object.fromEntries(
    entriesOf(names).map(({ option, variable }) => [variable, Reflect.get(given, option) ?? defaults[option]])
  )
}

export interface LndOptions {
  /** lnd's REST interface, such as `https://127.0.0.1:8080`. */
  readonly url: string | undefined
  /** The path of a macaroon that permits receiving, or the macaroon in hex. */
  readonly receiver: string | undefined
  /** The path of a macaroon that permits sending, or the macaroon in hex. */
  readonly sender: string | undefined
  /** A macaroon that permits reading payments and balances, for reconciliation. */
  readonly books?: string | undefined
  /** The path of lnd's `tls.cert`, unless a public authority signed its certificate. */
  readonly certificate?: string | undefined
  /**
   * At least 32 characters from which preimages are derived. Use the same value in every process, and never
   * change it. Default: `process.env.SATRAIL_SECRET`.
   */
  readonly secret?: string | undefined
}

const lndNames: VariableOf<LndOptions> = {
  url: lndSettings.url.name,
  receiver: lndSettings.receiverMacaroon.name,
  sender: lndSettings.senderMacaroon.name,
  books: lndSettings.booksMacaroon.name,
  certificate: lndSettings.certificateFile.name,
  secret: lndSettings.invoiceSecret.name
}

/** Uses your lnd. */
export const lnd = (options: LndOptions): Lightning => ({
  lightning: "lnd",
  variables: variablesOf("lnd", options, lndNames)
})

export interface LdkOptions {
  /** The Unix socket on which `satrail-ldk` accepts requests. */
  readonly socket: string | undefined
  /**
   * The path of `satrail-ldk`, which this process starts and restarts. If it is not set, run `satrail-ldk`
   * yourself.
   */
  readonly program?: string | undefined
  /** The directory of the node's keys and channels, on a local disk. Never start a node from a copy of it. */
  readonly directory?: string | undefined
  /** The bitcoind that the node uses, such as `http://user:password@127.0.0.1:8332`. */
  readonly bitcoind?: string | undefined
  /** The Esplora server that the node uses instead of a bitcoind. */
  readonly esplora?: string | undefined
  /** The address for other nodes, such as `0.0.0.0:9735`. */
  readonly listen?: string | undefined
  /** The node's public name, at most 32 characters. Channels are announced only if it is set. */
  readonly alias?: string | undefined
  /** Required on mainnet, to accept the risks described in docs/guides/ldk.md. */
  readonly mainnet?: "hot-keys-one-machine-no-watchtower" | undefined
  /** Same as for `lnd`. */
  readonly secret?: string | undefined
}

const ldkNames: VariableOf<LdkOptions> = {
  socket: ldkSettings.socket.name,
  program: ldkSettings.program.name,
  directory: ldkSettings.store.name,
  bitcoind: ldkSettings.bitcoind.name,
  esplora: ldkSettings.esplora.name,
  listen: ldkSettings.listen.name,
  alias: ldkSettings.alias.name,
  mainnet: ldkSettings.mainnet.name,
  secret: ldkSettings.invoiceSecret.name
}

/**
 * Uses satrail's LDK node. The `ldk` function of the package `@satrail/ldk` also provides the `satrail-ldk`
 * program.
 */
export const ldk = (options: LdkOptions): Lightning => ({
  lightning: "ldk",
  variables: variablesOf("ldk", options, ldkNames)
})

export interface SimulatedOptions {
  /** Determines the keys, balances and names of the simulated network. Default: `"satrail"`. */
  readonly seed?: string
}

/** Simulates the Lightning network, the chain and the web. This is the default. */
export const simulated = (options: SimulatedOptions = {}): Simulated => ({
  lightning: "sandbox",
  variables: variablesOf("simulated", options, {
    seed: Others.sandboxSeed.name
  } satisfies VariableOf<SimulatedOptions>)
})

/** How the wallet's payments are signed. Set one of `passphrase`, `words` and `signer`. */
export interface WalletOptions {
  /** The wallet file, written by `satrail wallet create`. */
  readonly file?: string | undefined
  /** The passphrase that decrypts the seed in the wallet file. */
  readonly passphrase?: string | undefined
  /** The seed words. */
  readonly words?: string | undefined
  /** A program that signs a PSBT. */
  readonly signer?: string | undefined
}

const wallet = (options: WalletOptions): Variables =>
  variablesOf("wallet", options, {
    file: Wallet.settings.file.name,
    passphrase: Wallet.settings.passphrase.name,
    words: Wallet.settings.words.name,
    signer: Wallet.settings.external.name
  } satisfies VariableOf<WalletOptions>)

export interface BitcoindOptions {
  /** The RPC address, such as `http://127.0.0.1:8332`. */
  readonly url: string | undefined
  readonly user: string | undefined
  readonly password: string | undefined
  readonly wallet: WalletOptions
}

const bitcoindNames: VariableOf<BitcoindOptions> = {
  url: "BITCOIN_RPC_URL",
  user: "BITCOIN_RPC_USER",
  password: "BITCOIN_RPC_PASSWORD",
  wallet: undefined
}

/** Reads blocks from your bitcoin node. */
export const bitcoind = (options: BitcoindOptions): Chain => ({
  chain: "bitcoin-rpc",
  variables: { ...variablesOf("bitcoind", options, bitcoindNames), ...wallet(options.wallet) }
})

export interface EsploraOptions {
  /** The API of an Esplora server, such as `https://blockstream.info/api`. */
  readonly url: string | undefined
  readonly wallet: WalletOptions
}

const esploraNames: VariableOf<EsploraOptions> = { url: "ESPLORA_URL", wallet: undefined }

/** Reads blocks from an Esplora server. */
export const esplora = (options: EsploraOptions): Chain => ({
  chain: "esplora",
  variables: { ...variablesOf("esplora", options, esploraNames), ...wallet(options.wallet) }
})

/** The service's options. The default is an embedded database in `./.satrail` and a simulated network. */
export interface Options {
  /**
   * A PostgreSQL server, as `postgres://user:password@host:5432/database`. Defaults to the embedded database,
   * which mainnet does not allow.
   */
  readonly database?: string | undefined
  /** The directory of the embedded database and of the simulated network. Default: `./.satrail`. */
  readonly directory?: string | undefined
  /** The Lightning node. Default: simulated. */
  readonly lightning?: Lightning | undefined
  /** The source of blocks, and the wallet. Default: simulated. */
  readonly chain?: Chain | undefined
  /** The bitcoin network. Default: `"regtest"`. */
  readonly network?: Network | undefined
  /** The domain of Lightning addresses and links. */
  readonly domain?: string | undefined
  /**
   * The URL at which payers reach `pay.handler`, including the path under which it is mounted, such as
   * `https://shop.example.com/pay`. Links to payment pages and refunds begin with it. Default: `https://`
   * followed by `domain`, or without a domain `http://localhost:PORT`, where `PORT` is the environment variable
   * or 3000.
   */
  readonly publicUrl?: string | undefined
  /**
   * The number of reverse proxies in front of your program, each of which adds its caller's address to
   * `X-Forwarded-For`. Behind a proxy, all payers share one rate limit if this is 0. Default: 0.
   */
  readonly proxies?: number | undefined
  /** A token for the operator routes of `pay.handler`. Without it, there are no operator routes. */
  readonly operatorToken?: string | undefined
  /** The lowest log level that is written. Default: `"warn"`. */
  readonly logLevel?: "debug" | "info" | "warn" | "error" | undefined
  /** A Standard Schema for the metadata of each resource. This program's requests are validated against it. */
  readonly metadata?: Schemas | undefined
  /**
   * Your own features: records that may hold money, with their tables and routes. `pay.handler` serves the routes, and
   * `pay.runtime` runs Effect programs with the services.
   */
  readonly features?: ReadonlyArray<OwnFeature> | undefined
  /** Other settings by their names in the configuration reference, such as `SATRAIL_MAX_INVOICE_SATS`. */
  readonly settings?: Variables | undefined
}

const names = {
  database: true,
  directory: true,
  lightning: true,
  chain: true,
  network: true,
  domain: true,
  publicUrl: true,
  proxies: true,
  operatorToken: true,
  metadata: true,
  logLevel: true,
  features: true,
  settings: true
} as const

const optionsOf = (
  of: string,
  names: Variables
): ReadonlyArray<readonly [variable: string, option: string]> =>
  entriesOf(names).map(({ option, variable }) => [
    variable,
    `${of}'s ${option}${option === "secret" ? " (or SATRAIL_SECRET)" : ""}`
  ])

/** The option that corresponds to each variable mentioned in a message. */
const optionOf: ReadonlyMap<string, string> = new Map([
  [Database.settings.databaseUrl.name, "database"],
  [Process.dataDirectory.name, "directory"],
  ["LIGHTNING", "lightning"],
  ["CHAIN", "chain"],
  [Service.identity.network.name, "network"],
  [Service.identity.domain.name, "domain"],
  [Service.identity.publicUrl.name, "publicUrl"],
  [Limits.settings.proxies.name, "proxies"],
  [Service.operator.operatorToken.name, "operatorToken"],
  [Process.life.logLevel.name, "logLevel"],
  ...optionsOf("lnd", lndNames),
  ...optionsOf("ldk", ldkNames),
  ...optionsOf("bitcoind", bitcoindNames),
  ...optionsOf("esplora", esploraNames),
  [Wallet.settings.passphrase.name, "the wallet's passphrase"],
  [Wallet.settings.words.name, "its words"],
  [Wallet.settings.external.name, "its signer"]
])

/** Replaces variables in a service's message with the options' names. */
export const inOptions = (message: string): string =>
  message.replace(/\b[A-Z][A-Z\d]*(?:_[A-Z\d]+)*\b/g, (name) => optionOf.get(name) ?? name)

const schemaProblems = (schemas: Schemas): ReadonlyArray<string> =>
  Object.entries(schemas).flatMap(([noun, schema]) => {
    if (!metadataNouns.some((one) => one === noun))
      return [`metadata must have schemas for ${metadataNouns.join(", ")} (got ${noun})`]
    return typeof schema?.["~standard"]?.validate === "function"
      ? []
      : [`metadata.${noun} must be a Standard Schema`]
  })

/** Without this check, `lightning: "lnd"` would be ignored, and the network simulated. */
const backendProblems = ({ lightning, chain }: Options): ReadonlyArray<string> => [
  ...(lightning === undefined || Predicate.hasProperty(lightning, "lightning")
    ? []
    : ["lightning must be the result of lnd(…), ldk(…) or simulated(…)"]),
  ...(chain === undefined || Predicate.hasProperty(chain, "chain")
    ? []
    : ["chain must be the result of bitcoind(…) or esplora(…)"])
]

/** Without this check, an empty variable of the host's environment would select the default, such as the embedded database. */
const emptyProblems = (variables: Readonly<Record<string, string | undefined>>): ReadonlyArray<string> =>
  [...optionOf].flatMap(([variable, option]) =>
    variables[variable]?.trim() === "" ? [`${option} must not be empty: leave it out for its default`] : []
  )

/** Without this check, these settings would be ignored. */
const settingProblems = ({ settings }: Options): ReadonlyArray<string> =>
  [Service.identity.network.name, "LIGHTNING", "CHAIN", Service.operator.operatorToken.name]
    .filter((name) => settings?.[name] !== undefined)
    .map((name) => `use the option ${optionOf.get(name)} instead of ${name} in settings`)

/** The URL at which most programs listen in development. */
const localUrl = () => `http://localhost:${/^\d+$/.exec(process.env["PORT"] ?? "")?.[0] ?? 3000}`

/** Converts the options to the server's environment. */
export const environment = (options: Options): Environment.Environment => {
  checkNames("satrail", options, names)
  const {
    database,
    directory,
    lightning,
    chain,
    network,
    domain,
    publicUrl,
    proxies,
    operatorToken,
    logLevel,
    settings
  } = options
  const named = domain ?? settings?.[Service.identity.domain.name]
  const variables = {
    [Service.operator.demo.name]: "no",
    [Process.life.requestLog.name]: "no",
    [Process.life.logLevel.name]: logLevel ?? "warn",
    [Process.listening.port.name]: "0",
    ...settings,
    [Database.settings.databaseUrl.name]: database ?? settings?.[Database.settings.databaseUrl.name],
    [Process.dataDirectory.name]: directory ?? settings?.[Process.dataDirectory.name],
    LIGHTNING: lightning?.lightning,
    CHAIN: chain?.chain,
    [Service.identity.network.name]: network,
    [Service.identity.domain.name]: named,
    [Service.identity.publicUrl.name]:
      publicUrl ??
      settings?.[Service.identity.publicUrl.name] ??
      (named === undefined ? localUrl() : undefined),
    [Limits.settings.proxies.name]:
      proxies === undefined ? settings?.[Limits.settings.proxies.name] : String(proxies),
    [Service.operator.operatorToken.name]: operatorToken,
    ...lightning?.variables,
    ...chain?.variables
  }
  const read = Environment.read(variables, [""]) // every name in `settings` must be a setting, because a typo would turn a limit off
  const problems = [
    ...backendProblems(options),
    ...settingProblems(options),
    ...emptyProblems(variables),
    ...schemaProblems(options.metadata ?? {}),
    ...(Result.isFailure(read) ? read.failure.problems.map(inOptions) : [])
  ]
  if (Result.isFailure(read) || problems.length > 0)
    throw new OptionsInvalid(["The options are not usable:", ...problems].join("\n  "))
  return read.success
}
