import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Keys from "@satrail/chain/Keys"
import * as Seed from "@satrail/chain/Seed"
import * as WalletFile from "@satrail/chain/WalletFile"
import * as Lnd from "@satrail/nodes/Lnd"
import { freePort } from "@satrail/testing/freePort"
import * as Outbound from "@satrail/web/Outbound"
import { Effect, Redacted, Result } from "effect"
import { TestClock } from "effect/testing"
import { boundPort } from "@satrail/testing/boundPort"
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs"
import path from "node:path"
import { createServer } from "node:tls"
import * as Certificate from "../../web/test/Certificate.ts"
import * as Check from "../src/base/Check.ts"
import * as Checks from "../src/check/Checks.ts"
import * as Clock from "../src/check/Clock.ts"
import * as Domain from "../src/check/Domain.ts"
import * as Rates from "../src/check/Rates.ts"
import * as Settings from "../src/check/Settings.ts"
import * as Environment from "../src/deployment/Environment.ts"
import * as Bitcoind from "./fake/Bitcoind.ts"
import * as Esplora from "./fake/Esplora.ts"
import { type Answer, json, type Server } from "./fake/Http.ts"
import * as FakeLnd from "./fake/Lnd.ts"
import * as Macaroon from "./Macaroon.ts"
import * as Service from "./Service.ts"

const words = Seed.fromEntropy(new Uint8Array(32).fill(7))
const others = Seed.fromEntropy(new Uint8Array(32).fill(8))
const passphrase = "correct horse battery staple"

/** The output of `satrail check` for an environment. */
const linesOf = async (env: Record<string, string>): Promise<ReadonlyArray<string>> => {
  const read = Environment.read(env)
  if (Result.isFailure(read)) return read.failure.problems.map((problem) => `✗ settings: ${problem}`)
  return (await Effect.runPromise(Checks.all(read.success))).map(Check.text)
}

const environmentOf = (env: Record<string, string>) => Result.getOrThrow(Environment.read(env))

describe("satrail check", () => {
  const home = Service.directory()
  const file = (name: string) => path.join(home, name)
  const servers: Array<Server> = []
  let env: Record<string, string> = {}
  /** The URLs of these servers. */
  let [lnd, esplora, bitcoind] = ["", "", ""]
  let unusedUrl = ""

  const listen = async (server: Promise<Server>) => {
    servers.push(await server)
    return (await server).url
  }
  const lndAs = (make: () => Promise<Server>) => async () => ({ LND_REST_URL: await listen(make()) })
  /** An lnd whose information about itself differs in these fields. */
  const lndThat = (more: object) =>
    lndAs(() =>
      FakeLnd.make(({ path }) => (path === "/v1/getinfo" ? json({ ...FakeLnd.info, ...more }) : "as usual"))
    )
  /** An lnd whose channels can receive and send these amounts, and that is force-closing these channels. */
  const lndHolding = (incoming: string, outgoing: string, forced: ReadonlyArray<object> = []) =>
    lndAs(() =>
      FakeLnd.make(({ path }) =>
        path === "/v1/balance/channels"
          ? json({ local_balance: { msat: outgoing }, remote_balance: { msat: incoming } })
          : path === "/v1/channels"
            ? json({ channels: [] })
            : path === "/v1/channels/pending"
              ? json({
                  pending_open_channels: [],
                  waiting_close_channels: [],
                  pending_force_closing_channels: forced
                })
              : path === "/v1/getinfo"
                ? json({ ...FakeLnd.info, num_active_channels: 1, num_inactive_channels: 0 })
                : "as usual"
      )
    )
  const lndAnswers = (answer: Answer) => lndAs(() => FakeLnd.make(() => answer))
  /** A bitcoin node with these replies. */
  const bitcoindThat = (answers: Parameters<typeof Bitcoind.make>[0]) => async () =>
    Bitcoind.environment(await listen(Bitcoind.make(answers)))
  const refusal = (code: number, message: string) => json({ code, message, details: [] }, 500)

  beforeAll(async () => {
    mkdirSync(file("data"), { mode: 0o700 })
    const accounts = Keys.accountsOf(words, "regtest")
    const sealed = await Effect.runPromise(WalletFile.seal(words, Redacted.make(passphrase)))
    const write = (name: string, wallet: WalletFile.WalletFile) =>
      Effect.runPromise(WalletFile.write(file(name), wallet))
    await write("wallet.json", { satrailWallet: 1, accounts, birthdaySeconds: 0, seed: sealed })
    await write("seedless.json", { satrailWallet: 1, accounts, birthdaySeconds: 0, seed: null })
    await write("signet.json", {
      satrailWallet: 1,
      accounts: Keys.accountsOf(words, "signet"),
      birthdaySeconds: 0,
      seed: sealed
    })
    const swapped = { ...Keys.accountsOf(others, "regtest"), fingerprint: accounts.fingerprint }
    await write("swapped.json", { satrailWallet: 1, accounts: swapped, birthdaySeconds: 0, seed: sealed })
    await write("open.json", { satrailWallet: 1, accounts, birthdaySeconds: 0, seed: sealed })
    chmodSync(file("open.json"), 0o644)
    writeFileSync(file("text"), "not what it should be")
    ;[lnd, esplora, bitcoind] = await Promise.all([
      listen(FakeLnd.make()),
      listen(Esplora.make()),
      listen(Bitcoind.make())
    ])
    unusedUrl = `http://127.0.0.1:${await freePort()}`
    env = {
      SATRAIL_DATA: file("data"),
      SATRAIL_OPERATOR_TOKEN: "an-operator-s-token-of-32-characters",
      RATES: "fixed",
      ...FakeLnd.environment(lnd),
      CHAIN: "esplora",
      ESPLORA_URL: esplora,
      CHAIN_WALLET: file("wallet.json"),
      CHAIN_SEED: Redacted.value(words)
    }
  })
  afterAll(async () => {
    await Promise.all(servers.map(({ close }) => close()))
    rmSync(home, { recursive: true, force: true })
  })

  const unproven = /^! chain: Esplora is untested with a real server/

  it("check: for a correct configuration, every line names its subject and is either OK or a note that a backend is untested", async () => {
    for (const [more, caveats] of [
      [{ CHAIN_SEED: "", CHAIN_WALLET_PASSPHRASE: passphrase }, 1],
      [Bitcoind.environment(bitcoind), 0]
    ] as const) {
      const lines = await linesOf({ ...env, ...more })
      assert.lengthOf(
        lines.filter((line) => unproven.test(line)),
        caveats
      )
      assert.deepStrictEqual(
        lines.filter((line) => !line.startsWith("✓ ") && !unproven.test(line)),
        []
      )
      const subjects = new Set(lines.map((line) => /^[✓!] (\w+): /.exec(line)?.[1]))
      assert.sameMembers(
        [...subjects],
        ["settings", "directory", "database", "lnd", "chain", "wallet", "rates"]
      )
    }
  })

  it("check: with the sandbox, only the settings, directory, database and rates are checked", async () => {
    const lines = await linesOf({ SATRAIL_DATA: file("data") })
    assert.deepStrictEqual(
      lines.map((line) => line.split(":")[0]),
      ["✓ settings", "✓ directory", "✓ database", "✓ rates"]
    )
  })

  type Env = Record<string, string>

  /**
   * The start of the check's line, the problem, the environment that causes it, and what the line must say
   * about the problem and its remedy.
   */
  type Broken = readonly [
    line: string,
    what: string,
    env: () => Env | Promise<Env>,
    ...says: ReadonlyArray<string | RegExp>
  ]

  const broken: ReadonlyArray<Broken> = [
    [
      "✗ settings",
      "a misspelled variable",
      () => ({ SATRAIL_NETWROK: "mainnet" }),
      "did you mean SATRAIL_NETWORK?"
    ],
    ["✗ settings", "an invalid value", () => ({ PORT: "http" }), "PORT must be a whole number"],
    [
      "! settings",
      "a missing operator token",
      () => ({ SATRAIL_OPERATOR_TOKEN: "" }),
      "SATRAIL_OPERATOR_TOKEN is not set",
      "openssl rand"
    ],
    [
      "✗ directory",
      "a directory that is a file",
      () => ({ SATRAIL_DATA: file("text") }),
      /text.*(not a directory|cannot)/,
      "Set SATRAIL_DATA"
    ],
    [
      "! directory",
      "a directory that others can read",
      () => {
        mkdirSync(file("wide"), { mode: 0o755, recursive: true })
        return { SATRAIL_DATA: file("wide") }
      },
      "mode 0755",
      "chmod 700"
    ],
    [
      "✗ database",
      "a database that does not respond",
      () => ({ DATABASE_URL: "postgres://root:hunter2-the-password@127.0.0.1:1/satrail" }),
      "No database responds at 127.0.0.1:1/satrail",
      "DATABASE_URL"
    ],
    [
      "✗ lnd",
      "an unreachable lnd",
      () => ({ LND_REST_URL: unusedUrl }),
      "lnd refuses the connection",
      "Start lnd"
    ],
    [
      "✗ lnd",
      "a locked lnd",
      lndAnswers(refusal(2, "wallet locked, unlock it to enable full RPC access")),
      "lnd is locked",
      "lncli unlock"
    ],
    [
      "✗ lnd",
      "a starting lnd",
      lndAnswers(
        refusal(2, "the RPC server is in the process of starting up, but not yet ready to accept calls")
      ),
      "lnd is starting",
      "Wait"
    ],
    [
      "✗ lnd",
      "a macaroon from another node",
      lndAnswers(refusal(2, "verification failed: signature mismatch after caveat verification")),
      "not one of this node",
      "Bake it on this node, see docs/guides/lnd.md, and restart the service"
    ],
    [
      "✗ lnd",
      "a server other than lnd",
      lndAnswers({ status: 404, body: "<html>nginx</html>" }),
      "is not lnd",
      "LND_REST_URL"
    ],
    [
      "✗ lnd",
      "lnd on another network",
      lndThat({ chains: [{ chain: "bitcoin", network: "signet" }] }),
      "is on signet, but SATRAIL_NETWORK is regtest",
      "same network"
    ],
    [
      "✗ lnd",
      "an lnd that is catching up",
      lndThat({ synced_to_chain: false }),
      "behind: block 0",
      "synced_to_chain"
    ],
    ["! lnd", "an lnd without the graph", lndThat({ synced_to_graph: false }), "has not synced", "Wait"],
    [
      "! lnd",
      "an lnd with known bugs",
      lndThat({ version: "0.18.2-beta" }),
      "lets a peer steal funds",
      "Update it to 0.19.0"
    ],
    [
      "✗ lnd",
      "an lnd that cannot follow the chain",
      lndThat({ version: "0.15.1-beta commit=v0.15.1-beta" }),
      "lnd 0.15.1-beta cannot parse some blocks",
      "Update it to 0.19.0 or later",
      "To continue anyway, set LND_ACCEPT_VERSION=0.15.1."
    ],
    [
      "! lnd",
      "an accepted lnd that cannot follow the chain",
      async () => ({ ...(await lndThat({ version: "0.15.1-beta" })()), LND_ACCEPT_VERSION: "0.15.1" }),
      "LND_ACCEPT_VERSION accepts it",
      "Update it to 0.19.0"
    ],
    [
      "✗ lnd",
      "a version of lnd other than the accepted one",
      async () => ({ ...(await lndThat({ version: "0.15.0-beta" })()), LND_ACCEPT_VERSION: "0.15.1" }),
      "LND_ACCEPT_VERSION=0.15.0"
    ],
    [
      "✗ settings",
      "a relay without TLS",
      () => ({ SATRAIL_NWC_RELAYS: "ws://relay.example.com" }),
      "SATRAIL_NWC_RELAYS must be",
      "TLS is required: ws:// is not accepted"
    ],
    [
      "✗ settings",
      "an invalid accepted version",
      () => ({ LND_ACCEPT_VERSION: "any" }),
      "LND_ACCEPT_VERSION must be one version"
    ],
    [
      "! lnd",
      "an lnd without a channel",
      lndThat({ num_active_channels: 0 }),
      "no active channel",
      "Open a channel"
    ],
    [
      "! lnd",
      "an lnd that can receive little",
      lndHolding("1", "100"),
      "can receive less than a tenth",
      "Have a channel opened"
    ],
    [
      "! lnd",
      "an lnd that can send little",
      lndHolding("100", "1"),
      "can send less than a tenth",
      "Open a channel"
    ],
    [
      "! lnd",
      "an lnd that is force-closing a channel",
      lndHolding("50", "50", [{}]),
      "is being force-closed",
      "Keep the node online"
    ],
    [
      "✗ lnd",
      "a missing macaroon file",
      () => ({ LND_RECEIVER_MACAROON: "/nowhere/receiver.macaroon" }),
      "LND_RECEIVER_MACAROON cannot be read: /nowhere/receiver.macaroon: the file does not exist"
    ],
    [
      "✗ lnd",
      "an unreadable lnd certificate",
      () => ({ LND_REST_URL: unusedUrl.replace("http:", "https:"), LND_TLS_CERT: "/nowhere/tls.cert" }),
      "TLS certificate file cannot be read",
      "/nowhere/tls.cert",
      "LND_TLS_CERT"
    ],
    [
      "✗ lnd",
      "a malformed macaroon",
      () => ({ LND_SENDER_MACAROON: file("text") }),
      "LND_SENDER_MACAROON is not usable",
      "lncli bakemacaroon"
    ],
    [
      "✗ lnd",
      "a macaroon with too few permissions",
      () => ({ LND_SENDER_MACAROON: Macaroon.make(Lnd.receiverCalls) }),
      "LND_SENDER_MACAROON lacks required permissions",
      "SendPaymentV2"
    ],
    [
      "! lnd",
      "a macaroon with too many permissions",
      () => ({ LND_RECEIVER_MACAROON: Macaroon.make([...Lnd.receiverCalls, ...Lnd.senderCalls]) }),
      "LND_RECEIVER_MACAROON allows more than is needed",
      "/routerrpc.Router/SendPaymentV2",
      "Bake one with"
    ],
    [
      "! lnd",
      "a missing books macaroon",
      () => ({ LND_BOOKS_MACAROON: "" }),
      "LND_BOOKS_MACAROON is not set",
      "Bake one with"
    ],
    [
      "✗ chain",
      "an unreachable Esplora server",
      () => ({ ESPLORA_URL: unusedUrl }),
      "cannot be reached",
      "ESPLORA_URL"
    ],
    [
      "✗ chain",
      "an Esplora server on another network",
      async () => ({
        ESPLORA_URL: await listen(
          Esplora.make(({ path }) =>
            path === "/block-height/0"
              ? { status: 200, body: "00000008819873e925422c1ff0f99f7cc9bbb232af63a077a480a3633bee1ef6" }
              : "as usual"
          )
        )
      }),
      "is on signet, but SATRAIL_NETWORK is regtest"
    ],
    [
      "✗ chain",
      "an unreadable chain certificate",
      () => ({ CHAIN_TLS_CERT: "/nowhere/esplora.cert" }),
      "CHAIN_TLS_CERT cannot be read: /nowhere/esplora.cert: the file does not exist"
    ],
    [
      "✗ chain",
      "an unreachable bitcoin node",
      () => Bitcoind.environment(unusedUrl),
      "cannot be used",
      "ECONNREFUSED"
    ],
    [
      "✗ chain",
      "a wrong password for the bitcoin node",
      () => ({ ...Bitcoind.environment(bitcoind), BITCOIN_RPC_PASSWORD: "another-password" }),
      "rejects the user and password",
      "BITCOIN_RPC_USER"
    ],
    [
      "✗ chain",
      "a bitcoin node on another network",
      bitcoindThat({
        getblockchaininfo: {
          result: { chain: "main", blocks: 0, headers: 0, bestblockhash: Esplora.genesis }
        }
      }),
      "it is on main, but this service is on regtest"
    ],
    [
      "✗ chain",
      "a bitcoin node without an index",
      bitcoindThat({ getindexinfo: { result: {} } }),
      "txindex=1"
    ],
    [
      "✗ chain",
      "a bitcoin node that is indexing",
      bitcoindThat({
        getblockchaininfo: {
          result: { chain: "regtest", blocks: 900, headers: 900, bestblockhash: Esplora.genesis }
        },
        getindexinfo: { result: { txindex: { synced: false, best_block_height: 7 } } }
      }),
      "block 7 of 900",
      "Wait"
    ],
    [
      "✗ chain",
      "a bitcoin node that can be led onto a separate chain",
      bitcoindThat({ getinfo: { result: { version: 240_000 } } }),
      "btcd 0.24.0 validates some signatures differently",
      "Update it to 0.24.2 or later",
      "set BITCOIN_ACCEPT_VERSION=0.24.0."
    ],
    [
      "! chain",
      "an accepted bitcoin node that can be led onto a separate chain",
      async () => ({
        ...(await bitcoindThat({ getinfo: { result: { version: 240_000 } } })()),
        BITCOIN_ACCEPT_VERSION: "0.24.0"
      }),
      "BITCOIN_ACCEPT_VERSION accepts it",
      "Update it to 0.24.2"
    ],
    [
      "! chain",
      "a bitcoin node that can be crashed",
      bitcoindThat({
        getnetworkinfo: { result: { version: 280_100, subversion: "/Satoshi:28.1.0/Knots:20250305/" } }
      }),
      "Bitcoin Core 28.1.0 can be crashed by a miner",
      "Update it to 29.0.0 or later"
    ],
    [
      "✗ chain",
      "a bitcoin node that is catching up",
      bitcoindThat({
        getblockchaininfo: {
          result: { chain: "regtest", blocks: 5, headers: 900, bestblockhash: Esplora.genesis }
        }
      }),
      "behind: block 5 of 900"
    ],
    [
      "✗ wallet",
      "a missing wallet",
      () => ({ CHAIN_WALLET: "/nowhere/wallet.json" }),
      "CHAIN_WALLET: The wallet in /nowhere/wallet.json",
      "satrail wallet create"
    ],
    [
      "✗ wallet",
      "a file that is not a wallet",
      () => ({ CHAIN_WALLET: file("text") }),
      "was not written by `satrail wallet create`"
    ],
    [
      "✗ wallet",
      "a wallet for another network",
      () => ({ CHAIN_WALLET: file("signet.json") }),
      "is for signet, but SATRAIL_NETWORK is regtest"
    ],
    [
      "! wallet",
      "a wallet that others can read",
      () => ({ CHAIN_WALLET: file("open.json") }),
      "mode 0644",
      "chmod 600"
    ],
    [
      "✗ wallet",
      "a wallet without its seed",
      () => ({ CHAIN_WALLET: file("seedless.json"), CHAIN_SEED: "", CHAIN_WALLET_PASSPHRASE: passphrase }),
      "without its seed",
      "CHAIN_SEED or CHAIN_SIGNER"
    ],
    [
      "✗ wallet",
      "another passphrase",
      () => ({ CHAIN_SEED: "", CHAIN_WALLET_PASSPHRASE: "a wrong passphrase" }),
      "the passphrase does not open it",
      "CHAIN_WALLET_PASSPHRASE"
    ],
    [
      "✗ wallet",
      "another wallet's seed",
      () => ({ CHAIN_SEED: Redacted.value(others) }),
      "CHAIN_SEED is not the seed of"
    ],
    [
      "✗ wallet",
      "a wallet whose public keys were exchanged",
      () => ({ CHAIN_WALLET: file("swapped.json") }),
      "CHAIN_SEED is not the seed of"
    ],
    [
      "✗ wallet",
      "a wallet whose public keys are not those of its own seed",
      () => ({ CHAIN_WALLET: file("swapped.json"), CHAIN_SEED: "", CHAIN_WALLET_PASSPHRASE: passphrase }),
      "its public keys are not those of its seed",
      "wallet restore"
    ],
    [
      "✗ wallet",
      "a signer that is not a program",
      () => ({ CHAIN_SEED: "", CHAIN_SIGNER: "/nowhere/sign --now" }),
      "CHAIN_SIGNER: /nowhere/sign is not a program"
    ]
  ]
  for (const [line, what, more, ...says] of broken) {
    it(`check: ${what} is reported as ${line.startsWith("✗") ? "an error" : "a warning"} with a remedy`, async () => {
      const given = { ...env, ...(await more()) }
      const lines = await linesOf(given)
      const about = lines.filter((one) => one.startsWith(`${line}: `))
      const isSaid = (line: string) =>
        says.every((one) => (typeof one === "string" ? line.includes(one) : one.test(line)))
      assert.isTrue(about.some(isSaid), lines.join("\n"))
      for (const line of lines) assert.notInclude(line, "\n")
      for (const name of [
        "SATRAIL_OPERATOR_TOKEN",
        "LND_INVOICE_SECRET",
        "LND_SENDER_MACAROON",
        "CHAIN_SEED",
        "CHAIN_WALLET_PASSPHRASE",
        "BITCOIN_RPC_PASSWORD"
      ]) {
        const secret = given[name] ?? ""
        if (secret !== "" && !secret.startsWith("/"))
          for (const line of lines) assert.notInclude(line, secret, name)
      }
      for (const line of lines) assert.notInclude(line, "hunter2")
    })
  }

  it("check: a malformed macaroon is never shown in any form", async () => {
    const hex = Macaroon.make(Lnd.senderCalls)
    for (const slip of [hex.slice(1), `${hex}x`, Buffer.from(hex, "hex").toString("base64")]) {
      const lines = await linesOf({ ...env, LND_SENDER_MACAROON: slip })
      const [wrong = ""] = lines.filter((line) => line.startsWith("✗"))
      assert.match(
        wrong,
        /^✗ lnd: LND_SENDER_MACAROON is neither a macaroon in hex nor the path of a file \(not shown/
      )
      for (const line of lines) assert.notInclude(line, slip.slice(0, 40))
    }
  })

  it("check: a permanent problem prevents a start, but an outage does not", async () => {
    const finalOf = async (more: Record<string, string>) =>
      (await Effect.runPromise(Checks.beforeStart(environmentOf({ ...env, ...more }))))
        .filter(Check.isFinal)
        .map(Check.text)
    assert.deepStrictEqual(await finalOf({ LND_REST_URL: unusedUrl, ESPLORA_URL: unusedUrl }), [])
    const away = await Effect.runPromise(
      Checks.beforeStart(environmentOf({ ...env, LND_REST_URL: unusedUrl, ESPLORA_URL: unusedUrl }))
    )
    assert.deepStrictEqual(
      away.filter(Check.isWrong).map(({ subject }) => subject),
      ["lnd", "chain"]
    )
    const logged = away.filter((one) => Check.isLogged(one) && !unproven.test(Check.text(one)))
    assert.deepStrictEqual(logged, [], "the components that poll lnd and Esplora report the outage")
    const final = await finalOf({
      LND_SENDER_MACAROON: "/nowhere/sender.macaroon",
      CHAIN_WALLET: "/nowhere/wallet.json"
    })
    assert.lengthOf(final, 2)
    assert.match(final.join("\n"), /✗ lnd: LND_SENDER_MACAROON cannot be read.*\n✗ wallet: CHAIN_WALLET/)
  })

  it("check: the password of a URL is a secret as written and as decoded, also if it contains a % that is not encoded", () => {
    const secretsOf = (password: string) =>
      Check.secretsIn({ url: Redacted.make(`http://satrail:${password}@127.0.0.1:8332`) }).slice(1)
    assert.deepStrictEqual(secretsOf("hunter%2Ftwo"), ["hunter%2Ftwo", "hunter/two"])
    assert.includeMembers([...secretsOf("hunter%two")], ["hunter%two"])
  })

  it("check: a check that times out or crashes is reported as a problem, and the report contains no secret", async () => {
    const secret = "a response that contains hunter2"
    const found = await Effect.runPromise(
      Check.run(
        [
          { subject: "silent", lines: Effect.never },
          { subject: "broken", lines: Effect.die(new Error(secret)) },
          { subject: "talkative", lines: Effect.succeed([Check.warning("hunter2!", "Not hunter2.")]) }
        ],
        20,
        ["hunter2"]
      )
    )
    assert.deepStrictEqual(
      found.map(({ line }) => line._tag),
      ["Wrong", "Wrong", "Warning"]
    )
    assert.notInclude(found.map(Check.text).join(), "hunter2")
    assert.isFalse(found.some(Check.isFinal))
  })

  describe("external services", () => {
    const answers = (body: string): Outbound.Outbound["Service"] =>
      Outbound.Outbound.of({ connect: () => Effect.never, ask: () => Effect.succeed({ status: 200, body }) })
    const silent = Outbound.Outbound.of({
      connect: () => Effect.never,
      ask: () => Effect.fail(new Outbound.Unreachable({ reason: "connection refused" }))
    })
    const linesBy = (check: Check.Check) =>
      Effect.runPromise(
        Effect.map(check.lines, (lines) => lines.map((line) => Check.text({ subject: check.subject, line })))
      )
    const tickers = { RATES: "tickers" }

    it("check: exchange rates require two working tickers", async () => {
      const [wrong = ""] = await linesBy(Rates.check(environmentOf({ ...env, ...tickers }), silent))
      assert.match(wrong, /^✗ rates: 0 of 4 tickers respond, but 2 must agree.*api\.kraken\.com/)
      const one = Outbound.Outbound.of({
        connect: () => Effect.never,
        ask: ({ url }) =>
          url.includes("blockchain.info")
            ? Effect.succeed({ status: 200, body: `{"USD":{"last":50000.5}}` })
            : url.includes("coinbase")
              ? Effect.succeed({ status: 200, body: `{"data":{"currency":"BTC","rates":{"USD":"50000"}}}` })
              : Effect.fail(new Outbound.Unreachable({ reason: "connection refused" }))
      })
      const [some = ""] = await linesBy(Rates.check(environmentOf({ ...env, ...tickers }), one))
      assert.match(some, /^! rates: 2 of 4 tickers respond\. No valid response from Kraken, CoinGecko/)
    })

    it("check: a wrong clock is reported with its offset", async () => {
      const now = 1_700_000_000
      const at = (offSeconds: number) => answers(`{"data":{"epoch":${now + offSeconds}}}`)
      const of = (outbound: Outbound.Outbound["Service"]) =>
        Effect.gen(function* () {
          yield* TestClock.setTime(now * 1000)
          const { lines, subject } = Clock.check(environmentOf({ ...env, ...tickers }), outbound)
          return (yield* lines).map((line) => Check.text({ subject, line }))[0] ?? ""
        }).pipe(Effect.provide(TestClock.layer()), Effect.runPromise)
      assert.match(await of(at(0)), /^✓ clock/)
      assert.match(await of(at(6)), /^! clock: this machine's clock is [67] s behind.*NTP/)
      assert.match(await of(at(-3600)), /^✗ clock: this machine's clock is 3\d\d\d s ahead.*NTP/)
      assert.match(await of(silent), /^! clock: no outside server/)
    })

    it("check: the report says whether the domain's certificate is trusted, about to expire, or untrusted", async () => {
      const server = createServer({ key: Certificate.key, cert: Certificate.certificate }, () => {}).listen(
        0,
        "127.0.0.1"
      )
      const port = await boundPort(server)
      const ways = { lookup: async () => ["127.0.0.1"], port, ca: Certificate.certificate }
      const environment = environmentOf({ ...env, SATRAIL_DOMAIN: "pay.example.com", SATRAIL_PROXIES: "1" })
      const certificateLine = async (ways: Domain.Ways, at = Date.now()) => {
        const { subject, lines } = Domain.check(environment, ways)
        const [, line] = await Effect.runPromise(
          Effect.andThen(TestClock.setTime(at), lines).pipe(Effect.provide(TestClock.layer()))
        )
        return line === undefined ? "" : Check.text({ subject, line })
      }
      assert.match(
        await certificateLine(ways),
        /^✓ domain: wallets trust the certificate of pay\.example\.com, which is valid for \d+ days/
      )
      assert.match(
        await certificateLine(ways, Date.parse("2126-10-20")),
        /^! domain: the certificate of pay\.example\.com expires in 7 days/
      )
      const { ca: _, ...unknown } = ways
      assert.match(
        await certificateLine(unknown),
        /^✗ domain: wallets do not trust the certificate of pay\.example\.com: .*SIGNED/
      )
      server.close()
    })

    it("check: a domain without an address is reported as an error", async () => {
      const nowhere = {
        lookup: () => Promise.reject(new Error("getaddrinfo ENOTFOUND pay.satrail.dev")),
        port: 443
      }
      const lines = await linesBy(
        Domain.check(environmentOf({ ...env, SATRAIL_DOMAIN: "pay.satrail.dev" }), nowhere)
      )
      assert.match(
        lines.join("\n"),
        /^✗ domain: pay\.satrail\.dev has no address: .*ENOTFOUND.*Add an A or AAAA record/
      )
    })

    it("check: a domain without a proxy is reported as a warning", async () => {
      const linesFor = (proxies: string) =>
        linesBy(
          Settings.check(
            environmentOf({ ...env, SATRAIL_DOMAIN: "pay.satrail.dev", SATRAIL_PROXIES: proxies })
          )
        )
      assert.match(
        (await linesFor("0")).join("\n"),
        /^! settings: SATRAIL_PROXIES is 0, and SATRAIL_DOMAIN is pay\.satrail\.dev.*Set SATRAIL_PROXIES/m
      )
      assert.notInclude((await linesFor("1")).join("\n"), "SATRAIL_PROXIES")
    })

    it("check: a domain for which no server responds is reported as an error", async () => {
      const environment = environmentOf({ ...env, SATRAIL_DOMAIN: "pay.satrail.dev" })
      const port = Number(new URL(unusedUrl).port)
      const lines = await linesBy(Domain.check(environment, { lookup: async () => ["127.0.0.1"], port }))
      assert.match(
        lines.join("\n"),
        /^✓ domain: pay\.satrail\.dev is at 127\.0\.0\.1\n✗ domain: wallets get no response at pay\.satrail\.dev.*ECONNREFUSED.*Start the proxy/
      )
    })
  })
})
