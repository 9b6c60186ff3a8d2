import { metadataNouns, type Schemas } from "@satrail/client/Schemas"
import type { Network } from "@satrail/bitcoin/Network"
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

/** Uses your lnd. */
export const lnd = (options: LndOptions): Lightning => {
  checkNames("lnd", options, { url: true, receiver: true, sender: true, books: true, certificate: true, secret: true })
  const { url, receiver, sender, books, certificate, secret = process.env["SATRAIL_SECRET"] } = options
  return {
    lightning: "lnd",
    variables: {
      [lndSettings.url.name]: url,
      [lndSettings.receiverMacaroon.name]: receiver,
      [lndSettings.senderMacaroon.name]: sender,
      [lndSettings.booksMacaroon.name]: books,
      [lndSettings.certificateFile.name]: certificate,
      [lndSettings.invoiceSecret.name]: secret
    }
  }
}

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

const ldkNames = {
  socket: true,
  program: true,
  directory: true,
  bitcoind: true,
  esplora: true,
  listen: true,
  alias: true,
  mainnet: true,
  secret: true
} as const

/**
 * Uses satrail's LDK node. The `ldk` function of the package `@satrail/ldk` also provides the `satrail-ldk`
 * program.
 */
export const ldk = (given: LdkOptions): Lightning => {
  checkNames("ldk", given, ldkNames)
  const { secret = process.env["SATRAIL_SECRET"] } = given
  return {
    lightning: "ldk",
    variables: {
      [ldkSettings.socket.name]: given.socket,
      [ldkSettings.program.name]: given.program,
      [ldkSettings.store.name]: given.directory,
      [ldkSettings.bitcoind.name]: given.bitcoind,
      [ldkSettings.esplora.name]: given.esplora,
      [ldkSettings.listen.name]: given.listen,
      [ldkSettings.alias.name]: given.alias,
      [ldkSettings.mainnet.name]: given.mainnet,
      [ldkSettings.invoiceSecret.name]: secret
    }
  }
}

export interface SimulatedOptions {
  /** Determines the keys, balances and names of the simulated network. Default: `"satrail"`. */
  readonly seed?: string
}

/** Simulates the Lightning network, the chain and the web. This is the default. */
export const simulated = (options: SimulatedOptions = {}): Simulated => {
  checkNames("simulated", options, { seed: true })
  return { lightning: "sandbox", variables: { [Others.sandboxSeed.name]: options.seed } }
}

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

const wallet = (options: WalletOptions): Variables => {
  checkNames("wallet", options, { file: true, passphrase: true, words: true, signer: true })
  return {
    [Wallet.settings.file.name]: options.file,
    [Wallet.settings.passphrase.name]: options.passphrase,
    [Wallet.settings.words.name]: options.words,
    [Wallet.settings.external.name]: options.signer
  }
}

export interface BitcoindOptions {
  /** The RPC address, such as `http://127.0.0.1:8332`. */
  readonly url: string | undefined
  readonly user: string | undefined
  readonly password: string | undefined
  readonly wallet: WalletOptions
}

/** Reads blocks from your bitcoin node. */
export const bitcoind = (options: BitcoindOptions): Chain => {
  checkNames("bitcoind", options, { url: true, user: true, password: true, wallet: true })
  const { url, user, password, wallet: keys } = options
  return {
    chain: "bitcoin-rpc",
    variables: { BITCOIN_RPC_URL: url, BITCOIN_RPC_USER: user, BITCOIN_RPC_PASSWORD: password, ...wallet(keys) }
  }
}

export interface EsploraOptions {
  /** The API of an Esplora server, such as `https://blockstream.info/api`. */
  readonly url: string | undefined
  readonly wallet: WalletOptions
}

/** Reads blocks from an Esplora server. */
export const esplora = (options: EsploraOptions): Chain => {
  checkNames("esplora", options, { url: true, wallet: true })
  return { chain: "esplora", variables: { ESPLORA_URL: options.url, ...wallet(options.wallet) } }
}

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
  settings: true
} as const

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
  [lndSettings.url.name, "lnd's url"],
  [lndSettings.receiverMacaroon.name, "lnd's receiver"],
  [lndSettings.senderMacaroon.name, "lnd's sender"],
  [lndSettings.booksMacaroon.name, "lnd's books"],
  [lndSettings.certificateFile.name, "lnd's certificate"],
  [lndSettings.invoiceSecret.name, "lnd's secret (or SATRAIL_SECRET)"],
  [ldkSettings.socket.name, "ldk's socket"],
  [ldkSettings.program.name, "ldk's program"],
  [ldkSettings.store.name, "ldk's directory"],
  [ldkSettings.bitcoind.name, "ldk's bitcoind"],
  [ldkSettings.esplora.name, "ldk's esplora"],
  [ldkSettings.listen.name, "ldk's listen"],
  [ldkSettings.alias.name, "ldk's alias"],
  [ldkSettings.mainnet.name, "ldk's mainnet"],
  [ldkSettings.invoiceSecret.name, "ldk's secret (or SATRAIL_SECRET)"],
  ["BITCOIN_RPC_URL", "bitcoind's url"],
  ["BITCOIN_RPC_USER", "bitcoind's user"],
  ["BITCOIN_RPC_PASSWORD", "bitcoind's password"],
  ["ESPLORA_URL", "esplora's url"],
  [Wallet.settings.passphrase.name, "the wallet's passphrase"],
  [Wallet.settings.words.name, "its words"],
  [Wallet.settings.external.name, "its signer"]
])

/** Replaces variables in a service's message with the options' names. */
export const inOptions = (message: string): string =>
  message.replace(/\b[A-Z][A-Z\d]*(?:_[A-Z\d]+)*\b/g, (name) => optionOf.get(name) ?? name)

const schemaProblems = (schemas: Schemas): ReadonlyArray<string> =>
  Object.entries(schemas).flatMap(([noun, schema]) => {
    if (!metadataNouns.some((one) => one === noun)) return [`metadata must have schemas for ${metadataNouns.join(", ")} (got ${noun})`]
    return typeof schema?.["~standard"]?.validate === "function" ? [] : [`metadata.${noun} must be a Standard Schema`]
  })

/** Without this check, `lightning: "lnd"` would be ignored, and the network simulated. */
const backendProblems = ({ lightning, chain }: Options): ReadonlyArray<string> => [
  ...(lightning === undefined || Predicate.hasProperty(lightning, "lightning")
    ? []
    : ["lightning must be the result of lnd(…), ldk(…) or simulated(…)"]),
  ...(chain === undefined || Predicate.hasProperty(chain, "chain") ? [] : ["chain must be the result of bitcoind(…) or esplora(…)"])
]

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
  const { database, directory, lightning, chain, network, domain, publicUrl, proxies, operatorToken, logLevel, settings } = options
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
      publicUrl ?? settings?.[Service.identity.publicUrl.name] ?? (named === undefined ? localUrl() : undefined),
    [Limits.settings.proxies.name]: proxies === undefined ? settings?.[Limits.settings.proxies.name] : String(proxies),
    [Service.operator.operatorToken.name]: operatorToken,
    ...lightning?.variables,
    ...chain?.variables
  }
  const read = Environment.read(variables, [""]) // every name in `settings` must be a setting, because a typo would turn a limit off
  const problems = [
    ...backendProblems(options),
    ...settingProblems(options),
    ...schemaProblems(options.metadata ?? {}),
    ...(Result.isFailure(read) ? read.failure.problems.map(inOptions) : [])
  ]
  if (Result.isFailure(read) || problems.length > 0) throw new OptionsInvalid(["The options are not usable:", ...problems].join("\n  "))
  return read.success
}
