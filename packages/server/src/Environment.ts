import * as Seed from "@satrail/chain/Seed"
import * as LightningAddressText from "@satrail/core/LightningAddressText"
import * as Msat from "@satrail/core/Msat"
import * as Network from "@satrail/core/Network"
import * as Nostr from "@satrail/core/Nostr"
import * as Policy from "@satrail/core/Policy"
import * as Journal from "@satrail/postgres/Journal"
import { Redacted, Result, Schema } from "effect"
import path from "node:path"

/** The configuration is wrong. One line a variable: what it is called, what it got, what it wants. */
export class EnvironmentInvalid extends Schema.TaggedError<EnvironmentInvalid>()("EnvironmentInvalid", {
  problems: Schema.Array(Schema.String)
}) {
  override get message(): string {
    return ["The configuration is not usable:", ...this.problems.map((problem) => `  ${problem}`)].join("\n")
  }
}

/** Where lnd is and what opens it. A macaroon is a file's path, or itself in hex. */
export interface Lnd {
  readonly url: string
  readonly certificateFile: string | undefined
  readonly receiverMacaroon: Redacted.Redacted
  readonly senderMacaroon: Redacted.Redacted
  /** Without one its books are not read. */
  readonly booksMacaroon?: Redacted.Redacted | undefined
  readonly invoiceSecret: Redacted.Redacted
}

/** A real chain: who tells about it, and the wallet on it. */
export interface Chain {
  readonly source:
    | {
        readonly _tag: "BitcoinRpc"
        readonly url: string
        readonly certificateFile: string | undefined
        readonly user: string
        readonly password: Redacted.Redacted
      }
    | { readonly _tag: "Esplora"; readonly url: string; readonly certificateFile: string | undefined }
  readonly walletFile: string
  readonly signer:
    | { readonly _tag: "Sealed"; readonly passphrase: Redacted.Redacted }
    | { readonly _tag: "Words"; readonly words: Redacted.Redacted }
    | { readonly _tag: "External"; readonly command: string; readonly args: ReadonlyArray<string> }
}

/** Everything a start needs to know. */
export interface Environment {
  readonly port: number
  readonly host: string
  readonly dataDirectory: string
  readonly databaseUrl: Redacted.Redacted | undefined
  readonly databaseConnections: number
  readonly commitLanes: number
  readonly commitItems: number
  readonly commitWaiting: number
  readonly network: Network.Network
  readonly domain: string
  readonly lightning: "sandbox" | "lnd"
  /** What a real node needs, where `lightning` asks for one. */
  readonly lnd: Lnd | undefined
  readonly chain: "sandbox" | "bitcoin-rpc" | "esplora"
  /** What a real chain needs, where `chain` asks for one. */
  readonly chainNode: Chain | undefined
  readonly rates: "fixed" | "tickers"
  readonly resolver: "sandbox" | "web"
  readonly outboundAllow: ReadonlyMap<string, URL>
  readonly operatorToken: Redacted.Redacted | undefined
  readonly nostrKey: Redacted.Redacted | undefined
  readonly proxies: number
  readonly lnurlPerAddress: number
  readonly lnurlPerCaller: number
  readonly corsOrigins: ReadonlyArray<string>
  readonly maxBodyBytes: number
  readonly maxInvoice: Msat.Msat
  readonly maxWithdrawal: Msat.Msat
  readonly payoutWindowSeconds: number
  readonly reconcileSeconds: number
  readonly drainSeconds: number
  readonly shutdownSeconds: number
  readonly logFormat: "json" | "pretty"
  readonly logLevel: "Debug" | "Info" | "Warn" | "Error"
  readonly sandboxSeed: string
}

/** One variable: what it means, what it is without one, and how its text is read. `wants` completes "… wants". */
interface Variable<A> {
  readonly name: string
  readonly meaning: string
  readonly fallback: string
  readonly wants: string
  readonly secret?: true
  readonly read: (text: string) => A | undefined
}

const whole = (minimum: number, maximum: number) => ({
  wants: `a whole number from ${minimum} to ${maximum}`,
  read: (text: string) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN
    return value >= minimum && value <= maximum ? value : undefined
  }
})

const oneOf = <const A extends string>(...values: ReadonlyArray<A>) => ({
  wants: `one of ${values.join(", ")}`,
  read: (text: string) => values.find((value) => value === text)
})

const sats = {
  wants: `a whole number of sats from 1 to ${Msat.toSats(Msat.max)}`,
  read: (text: string) => {
    const amount = /^[1-9]\d{0,15}$/.test(text) ? Msat.fromSats(BigInt(text)) : undefined
    return amount !== undefined && amount <= Msat.max ? amount : undefined
  }
}

/** A text of an odd length, or with anything but hex in it, is a path. */
const macaroon = {
  fallback: "",
  wants: "the path of a macaroon, or the macaroon in hex",
  secret: true,
  read: (text: string) => Redacted.make(text, { label: "macaroon" })
} as const

const httpUrl = {
  fallback: "",
  secret: true as const,
  wants: "an address such as http://127.0.0.1:8332, without a user in it",
  read: (text: string) => {
    const url = URL.parse(text)
    return /^https?:$/.test(url?.protocol ?? "") && url?.username === "" && url.password === "" ? text : undefined
  }
}

const isOrigin = (text: string) => URL.parse(text)?.origin === text

const variables = {
  port: { name: "PORT", meaning: "The port to listen on; 0 takes a free one", fallback: "8080", ...whole(0, 65_535) },
  host: {
    name: "HOST",
    meaning: "The address to listen on; 127.0.0.1 is this machine only",
    fallback: "127.0.0.1",
    wants: "an IP address or a host name",
    read: (text) => (/^[\w.:-]+$/.test(text) ? text : undefined)
  } satisfies Variable<string>,
  dataDirectory: {
    name: "SATRAIL_DATA",
    meaning: "The directory for the embedded database, the sandbox and demo.json; it is made when it is missing",
    fallback: "./.satrail",
    wants: "a directory's path",
    read: (text) => text
  } satisfies Variable<string>,
  databaseUrl: {
    name: "DATABASE_URL",
    meaning: "A PostgreSQL server; without one the database is embedded, in SATRAIL_DATA",
    fallback: "",
    wants: "postgres://user:password@host:port/database",
    secret: true,
    read: (text) => (/^postgres(ql)?:$/.test(URL.parse(text)?.protocol ?? "") ? Redacted.make(text, { label: "DATABASE_URL" }) : undefined)
  } satisfies Variable<Redacted.Redacted>,
  databaseConnections: {
    name: "SATRAIL_DATABASE_CONNECTIONS",
    meaning: "How many connections to PostgreSQL this process may hold",
    fallback: "10",
    ...whole(2, 500)
  },
  commitLanes: {
    name: "SATRAIL_COMMIT_LANES",
    meaning: "How many groups of one kind of change may be on their way to the database at once",
    fallback: String(Journal.defaults.lanes),
    ...whole(1, 16)
  },
  commitItems: {
    name: "SATRAIL_COMMIT_ITEMS",
    meaning: "How many changes may be committed together",
    fallback: String(Journal.defaults.maxItemsPerFlush),
    ...whole(1, Journal.maxItemsPerFlush)
  },
  commitWaiting: {
    name: "SATRAIL_COMMIT_WAITING",
    meaning: "How many changes may wait in a lane; a request whose change is one more is answered 503",
    fallback: String(Journal.defaults.maxWaiting),
    ...whole(1, 1_000_000)
  },
  network: { name: "SATRAIL_NETWORK", meaning: "The bitcoin network", fallback: "regtest", ...oneOf(...Network.all) },
  domain: {
    name: "SATRAIL_DOMAIN",
    meaning: "The domain of the Lightning addresses that are issued here",
    fallback: "satrail.localhost",
    wants: "a domain name of two or more words",
    read: (text) => Result.getOrUndefined(LightningAddressText.normaliseDomain(text))
  } satisfies Variable<string>,
  lightning: {
    name: "LIGHTNING",
    meaning: "The Lightning node; sandbox is a pretend one, for trying and testing",
    fallback: "sandbox",
    ...oneOf("sandbox", "lnd")
  },
  lndUrl: {
    name: "LND_REST_URL",
    meaning: "Where lnd's REST interface is (its restlisten); needed with LIGHTNING=lnd",
    fallback: "",
    wants: "https://host:port; without TLS (no-rest-tls) only on the loopback, such as http://127.0.0.1:8080",
    read: (text) => {
      const url = URL.parse(text)
      const isPlain = url?.protocol === "http:" && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname)
      return (url?.protocol === "https:" || isPlain) && url?.pathname === "/" && url.username === "" ? url.origin : undefined
    }
  } satisfies Variable<string>,
  lndCertificate: {
    name: "LND_TLS_CERT",
    meaning: "lnd's tls.cert; without one its certificate must be signed by a known authority",
    fallback: "",
    wants: "a file's path",
    read: (text) => text
  } satisfies Variable<string>,
  lndReceiverMacaroon: {
    name: "LND_RECEIVER_MACAROON",
    meaning: "What lets us take payments, and nothing else; needed with LIGHTNING=lnd",
    ...macaroon
  },
  lndSenderMacaroon: {
    name: "LND_SENDER_MACAROON",
    meaning: "What lets us pay, and nothing else; needed with LIGHTNING=lnd",
    ...macaroon
  },
  lndBooksMacaroon: {
    name: "LND_BOOKS_MACAROON",
    meaning: "What lets us read lnd's books, and nothing else; without one they are not compared with ours",
    ...macaroon
  },
  lndInvoiceSecret: {
    name: "LND_INVOICE_SECRET",
    meaning:
      "What the preimages of our invoices and the key that seals stored answers are derived from; the same for ever and in all processes, and needed with LIGHTNING=lnd",
    fallback: "",
    wants: "at least 32 characters without spaces, such as `openssl rand -hex 32` prints",
    secret: true,
    read: (text) => (/^[!-~]{32,}$/.test(text) ? Redacted.make(text, { label: "LND_INVOICE_SECRET" }) : undefined)
  } satisfies Variable<Redacted.Redacted>,
  chain: {
    name: "CHAIN",
    meaning: "The source of blocks and the wallet; sandbox is a pretend one, for trying and testing",
    fallback: "sandbox",
    ...oneOf("sandbox", "bitcoin-rpc", "esplora")
  },
  bitcoinRpcUrl: {
    name: "BITCOIN_RPC_URL",
    meaning: "Where a bitcoin node takes RPC calls; needed with CHAIN=bitcoin-rpc",
    ...httpUrl
  },
  bitcoinRpcUser: {
    name: "BITCOIN_RPC_USER",
    meaning: "Who we are to it (rpcuser); needed with CHAIN=bitcoin-rpc",
    fallback: "",
    wants: "a name without a colon",
    read: (text) => (text.includes(":") ? undefined : text)
  } satisfies Variable<string>,
  bitcoinRpcPassword: {
    name: "BITCOIN_RPC_PASSWORD",
    meaning: "And what proves it (rpcpassword); needed with CHAIN=bitcoin-rpc",
    fallback: "",
    wants: "a text",
    secret: true,
    read: (text) => Redacted.make(text, { label: "BITCOIN_RPC_PASSWORD" })
  } satisfies Variable<Redacted.Redacted>,
  esploraUrl: { name: "ESPLORA_URL", meaning: "Where an Esplora server has its API; needed with CHAIN=esplora", ...httpUrl },
  chainCertificate: {
    name: "CHAIN_TLS_CERT",
    meaning: "The certificate of either; without one it must be signed by a known authority",
    fallback: "",
    wants: "a file's path",
    read: (text) => text
  } satisfies Variable<string>,
  chainWallet: {
    name: "CHAIN_WALLET",
    meaning: "The wallet's file, as `satrail wallet create` writes it; wallet.json in SATRAIL_DATA without one",
    fallback: "",
    wants: "a file's path",
    read: (text) => text
  } satisfies Variable<string>,
  chainPassphrase: {
    name: "CHAIN_WALLET_PASSPHRASE",
    meaning: "Opens the seed in the wallet's file",
    fallback: "",
    wants: "a text",
    secret: true,
    read: (text) => Redacted.make(text, { label: "CHAIN_WALLET_PASSPHRASE" })
  } satisfies Variable<Redacted.Redacted>,
  chainSeed: {
    name: "CHAIN_SEED",
    meaning: "The seed words themselves, in place of the passphrase",
    fallback: "",
    wants: "12 to 24 words (BIP 39)",
    secret: true,
    read: (text) => Result.getOrUndefined(Seed.parse(text))
  } satisfies Variable<Redacted.Redacted>,
  chainSigner: {
    name: "CHAIN_SIGNER",
    meaning: "A program that signs, in place of both: a PSBT in base64 on its standard input, the signed one on its standard output",
    fallback: "",
    wants: "a program and its arguments, separated by spaces",
    read: (text) => {
      const [command, ...args] = text.trim().split(/\s+/)
      return command === undefined || command === "" ? undefined : { command, args }
    }
  } satisfies Variable<{ readonly command: string; readonly args: ReadonlyArray<string> }>,
  rates: {
    name: "RATES",
    meaning:
      "What a bitcoin costs: tickers asks public ones, fixed is prices that never move, for trying. Unless given: fixed with a pretend Lightning node",
    fallback: "",
    ...oneOf("fixed", "tickers")
  },
  resolver: {
    name: "RESOLVER",
    meaning:
      "Where others' Lightning addresses, LNURLs, the TXT records of domains and the relays of zaps are: on the web, or the sandbox's. Unless given: sandbox with a pretend Lightning node",
    fallback: "",
    ...oneOf("sandbox", "web")
  },
  outboundAllow: {
    name: "SATRAIL_OUTBOUND_ALLOW",
    meaning: "Hosts that are asked somewhere else, past every check of other people's servers; for developing only",
    fallback: "",
    wants: "hosts and where each is, such as pay.example=http://127.0.0.1:8080, separated by commas",
    read: (text) => {
      const places = text.split(",").map((one) => /^\s*([a-z0-9.-]+(?::\d+)?)=(https?:\/\/[^/?#@\s]+)\s*$/.exec(one))
      const allowed = new Map(
        places.flatMap((place) => {
          const url = URL.parse(place?.[2] ?? "")
          return place?.[1] === undefined || url === null ? [] : [[place[1], url] as const]
        })
      )
      return allowed.size === places.length ? allowed : undefined
    }
  } satisfies Variable<ReadonlyMap<string, URL>>,
  operatorToken: {
    name: "SATRAIL_OPERATOR_TOKEN",
    meaning: "Opens the operator's routes; without one, a random one is made and written to demo.json",
    fallback: "",
    wants: "at least 32 characters without spaces",
    secret: true,
    read: (text) => (/^[!-~]{32,}$/.test(text) ? Redacted.make(text, { label: "SATRAIL_OPERATOR_TOKEN" }) : undefined)
  } satisfies Variable<Redacted.Redacted>,
  nostrKey: {
    name: "SATRAIL_NOSTR_KEY",
    meaning: "Signs the receipts of zaps (NIP-57); without one, Lightning addresses take none",
    fallback: "",
    wants: "a secret key, 32 bytes in hex",
    secret: true,
    read: (text) => (Nostr.isSecretKey(text) ? Redacted.make(text, { label: "SATRAIL_NOSTR_KEY" }) : undefined)
  } satisfies Variable<Redacted.Redacted>,
  proxies: {
    name: "SATRAIL_PROXIES",
    meaning:
      "How many reverse proxies of your own stand in front, each adding to X-Forwarded-For who asked it: what is limited for each caller goes by that",
    fallback: "0",
    ...whole(0, 10)
  },
  lnurlPerAddress: {
    name: "SATRAIL_LNURL_PER_ADDRESS",
    meaning: "How many invoices a minute wallets may ask for at one Lightning address, of each process",
    fallback: "300",
    ...whole(1, 10_000_000)
  },
  lnurlPerCaller: {
    name: "SATRAIL_LNURL_PER_CALLER",
    meaning: "How many invoices a minute one caller's wallets may ask for, and how often they may claim vouchers, of each process",
    fallback: "60",
    ...whole(1, 10_000_000)
  },
  corsOrigins: {
    name: "SATRAIL_CORS_ORIGINS",
    meaning: "Origins whose pages may call from a browser, separated by commas",
    fallback: "",
    wants: "origins such as https://shop.example, separated by commas",
    read: (text) => {
      const origins = text
        .split(",")
        .map((origin) => origin.trim())
        .filter((origin) => origin !== "")
      return origins.every(isOrigin) ? origins : undefined
    }
  } satisfies Variable<ReadonlyArray<string>>,
  maxBodyBytes: { name: "SATRAIL_MAX_BODY_BYTES", meaning: "The largest request body", fallback: "65536", ...whole(1024, 1_048_576) },
  maxInvoice: {
    name: "SATRAIL_MAX_INVOICE_SATS",
    meaning: "The largest invoice",
    fallback: String(Msat.toSats(Policy.defaults.maxInvoice)),
    ...sats
  },
  maxWithdrawal: {
    name: "SATRAIL_MAX_WITHDRAWAL_SATS",
    meaning: "The largest withdrawal",
    fallback: String(Msat.toSats(Policy.defaults.maxWithdrawal)),
    ...sats
  },
  payoutWindowSeconds: {
    name: "SATRAIL_PAYOUT_WINDOW_SECONDS",
    meaning: "How long payouts on the chain gather to go out in one transaction; 0: each goes at once, by itself",
    fallback: String(Policy.defaults.payoutWindowMillis / 1000),
    ...whole(0, 86_400)
  },
  reconcileSeconds: {
    name: "SATRAIL_RECONCILE_SECONDS",
    meaning: "How often our books are compared with the node's and the chain's",
    fallback: String(Policy.defaults.reconciliation.everyMillis / 1000),
    ...whole(1, 86_400)
  },
  drainSeconds: {
    name: "SATRAIL_DRAIN_SECONDS",
    meaning:
      "How long a stop goes on answering while /readyz says 503 already, for whoever sends requests here to notice and turn to others",
    fallback: "0",
    ...whole(0, 600)
  },
  shutdownSeconds: {
    name: "SATRAIL_SHUTDOWN_SECONDS",
    meaning: "How long a stop waits for what is under way before it ends all the same; nothing is lost by that",
    fallback: "20",
    ...whole(1, 600)
  },
  logFormat: { name: "SATRAIL_LOG_FORMAT", meaning: "How the log on standard error looks", fallback: "json", ...oneOf("json", "pretty") },
  logLevel: {
    name: "SATRAIL_LOG_LEVEL",
    meaning: "The least urgent that is logged",
    fallback: "info",
    ...oneOf("debug", "info", "warn", "error")
  },
  sandboxSeed: {
    name: "SATRAIL_SANDBOX_SEED",
    meaning: "What the pretend network is grown from: the same seed is the same network",
    fallback: "satrail",
    wants: "any text",
    read: (text) => text
  } satisfies Variable<string>
} satisfies Record<string, Variable<unknown>>

const levels = { debug: "Debug", info: "Info", warn: "Warn", error: "Error" } as const

/** Reads the environment. Reports every variable that is wrong, not only the first; a secret's value is not repeated. */
export const read = (env: Readonly<Record<string, string | undefined>>): Result.Result<Environment, EnvironmentInvalid> => {
  const problems: Array<string> = []
  const optional = <A>({ name, fallback, wants, secret, read }: Variable<A>): A | undefined => {
    const given = env[name] ?? ""
    const text = given === "" ? fallback : given
    if (text === "") return undefined
    const value = read(text)
    if (value === undefined)
      problems.push(`${name} wants ${wants}, and got ${secret ? "something else (not shown, it is a secret)" : JSON.stringify(text)}`)
    return value
  }
  const required = <A>(variable: Variable<A>): A =>
    // oxlint-disable-next-line typescript/consistent-type-assertions -- undefined only together with a problem, and then nobody gets to see the value
    optional(variable) as A
  /** Whether a node of this kind was asked for decides whether it is needed. */
  const neededFor = <A>(isAsked: boolean, setting: string, variable: Variable<A>): A => {
    if (isAsked && (env[variable.name] ?? "") === "") problems.push(`${variable.name} is needed with ${setting}: ${variable.wants}`)
    return required(variable)
  }
  const lightning = required(variables.lightning)
  const isLnd = lightning === "lnd"
  const lnd = {
    url: neededFor(isLnd, "LIGHTNING=lnd", variables.lndUrl),
    certificateFile: optional(variables.lndCertificate),
    receiverMacaroon: neededFor(isLnd, "LIGHTNING=lnd", variables.lndReceiverMacaroon),
    senderMacaroon: neededFor(isLnd, "LIGHTNING=lnd", variables.lndSenderMacaroon),
    booksMacaroon: optional(variables.lndBooksMacaroon),
    invoiceSecret: neededFor(isLnd, "LIGHTNING=lnd", variables.lndInvoiceSecret)
  }
  const signer = (): Chain["signer"] => {
    const [passphrase, words, external] = [
      optional(variables.chainPassphrase),
      optional(variables.chainSeed),
      optional(variables.chainSigner)
    ]
    const given = [passphrase, words, external].filter((one) => one !== undefined)
    if (given.length !== 1) problems.push("One of CHAIN_WALLET_PASSPHRASE, CHAIN_SEED and CHAIN_SIGNER is needed, and not more: who signs?")
    if (words !== undefined) return { _tag: "Words", words }
    if (external !== undefined) return { _tag: "External", ...external }
    return { _tag: "Sealed", passphrase: passphrase ?? Redacted.make("") }
  }
  const chain = required(variables.chain)
  const chainNode = (): Chain | undefined => {
    if (chain !== "bitcoin-rpc" && chain !== "esplora") return undefined
    const certificateFile = optional(variables.chainCertificate)
    const rpc = "CHAIN=bitcoin-rpc"
    return {
      source:
        chain === "esplora"
          ? { _tag: "Esplora", url: neededFor(true, "CHAIN=esplora", variables.esploraUrl), certificateFile }
          : {
              _tag: "BitcoinRpc",
              url: neededFor(true, rpc, variables.bitcoinRpcUrl),
              certificateFile,
              user: neededFor(true, rpc, variables.bitcoinRpcUser),
              password: neededFor(true, rpc, variables.bitcoinRpcPassword)
            },
      walletFile: optional(variables.chainWallet) ?? path.join(required(variables.dataDirectory), "wallet.json"),
      signer: signer()
    }
  }
  const environment = {
    port: required(variables.port),
    host: required(variables.host),
    dataDirectory: required(variables.dataDirectory),
    databaseUrl: optional(variables.databaseUrl),
    databaseConnections: required(variables.databaseConnections),
    commitLanes: required(variables.commitLanes),
    commitItems: required(variables.commitItems),
    commitWaiting: required(variables.commitWaiting),
    network: required(variables.network),
    domain: required(variables.domain),
    lightning,
    lnd: isLnd ? lnd : undefined,
    chain,
    chainNode: chainNode(),
    rates: optional(variables.rates) ?? (lightning === "sandbox" ? "fixed" : "tickers"),
    resolver: optional(variables.resolver) ?? (lightning === "sandbox" ? "sandbox" : "web"),
    outboundAllow: optional(variables.outboundAllow) ?? new Map(),
    operatorToken: optional(variables.operatorToken),
    nostrKey: optional(variables.nostrKey),
    proxies: required(variables.proxies),
    lnurlPerAddress: required(variables.lnurlPerAddress),
    lnurlPerCaller: required(variables.lnurlPerCaller),
    corsOrigins: optional(variables.corsOrigins) ?? [],
    maxBodyBytes: required(variables.maxBodyBytes),
    maxInvoice: required(variables.maxInvoice),
    maxWithdrawal: required(variables.maxWithdrawal),
    payoutWindowSeconds: required(variables.payoutWindowSeconds),
    reconcileSeconds: required(variables.reconcileSeconds),
    drainSeconds: required(variables.drainSeconds),
    shutdownSeconds: required(variables.shutdownSeconds),
    logFormat: required(variables.logFormat),
    logLevel: levels[required(variables.logLevel)],
    sandboxSeed: required(variables.sandboxSeed)
  }
  if (environment.network === "mainnet") {
    if (environment.lightning === "sandbox")
      problems.push('LIGHTNING wants a real node on mainnet, and got "sandbox": pretend payments never mix with real money')
    if (environment.chain === "sandbox")
      problems.push('CHAIN wants a real chain on mainnet, and got "sandbox": pretend payments never mix with real money')
    if (environment.rates === "fixed")
      problems.push('RATES wants "tickers" on mainnet, and got "fixed": nobody sells at a price that was made up')
    if (environment.resolver === "sandbox")
      problems.push('RESOLVER wants "web" on mainnet, and got "sandbox": pretend payments never mix with real money')
    if (environment.outboundAllow.size > 0) problems.push("SATRAIL_OUTBOUND_ALLOW is for developing, and cannot be used on mainnet")
  }
  return problems.length === 0 ? Result.succeed(environment) : Result.fail(new EnvironmentInvalid({ problems }))
}

/** The address of the database alone, for what needs nothing else. */
export const databaseUrl = (env: Readonly<Record<string, string | undefined>>): Result.Result<Redacted.Redacted, EnvironmentInvalid> => {
  const { name, read, wants } = variables.databaseUrl
  const text = env[name] ?? ""
  const url = read(text)
  const got = text === "" ? "nothing" : "something else (not shown, it is a secret)"
  return url === undefined
    ? Result.fail(new EnvironmentInvalid({ problems: [`${name} wants ${wants}, and got ${got}`] }))
    : Result.succeed(url)
}

/** The table of variables, in Markdown, for the documentation. */
export const table = (): string =>
  [
    "| variable | default | what it is | what it wants |",
    "|---|---|---|---|",
    ...Object.values(variables).map(
      ({ name, fallback, meaning, wants }) => `| \`${name}\` | ${fallback === "" ? "" : `\`${fallback}\``} | ${meaning} | ${wants} |`
    )
  ].join("\n")
