import { assert, describe, it } from "@effect/vitest"
import * as Policy from "@satrail/core/service/Policy"
import * as WebhookPoster from "@satrail/web/WebhookPoster"
import { Redacted, Result } from "effect"
import * as Environment from "../src/deployment/Environment.ts"
import * as Server from "../src/serving/Server.ts"
import * as Webhooks from "../src/serving/features/webhooks/index.ts"

const problemsOf = (env: Record<string, string>): ReadonlyArray<string> => {
  const read = Environment.read(env)
  return Result.isFailure(read) ? read.failure.problems : []
}

describe("the environment", () => {
  it("environment: every variable has a default", () => {
    const environment = Result.getOrThrow(Environment.read({}))
    assert.strictEqual(environment.port, 8080)
    assert.strictEqual(environment.host, "127.0.0.1")
    assert.strictEqual(environment.network, "regtest")
    assert.strictEqual(environment.databaseUrl, undefined)
  })

  it("environment: an empty variable is treated as not set", () => {
    assert.strictEqual(Result.getOrThrow(Environment.read({ PORT: "" })).port, 8080)
  })

  it("webhooks: a sandbox reachable from other machines delivers webhooks to public hosts and its own inboxes, but not to loopback; none delivers to link-local or private addresses", () => {
    const issueOf = (env: Record<string, string>) =>
      WebhookPoster.make(Webhooks.targets(Result.getOrThrow(Environment.read(env)))).issue
    const inside = [
      "http://127.0.0.1:9000/",
      "http://169.254.169.254/latest",
      "http://[fe80::1]/",
      "http://10.0.0.1/",
      "http://[::1]:8080/"
    ]
    for (const HOST of ["0.0.0.0", "::", "192.0.2.7"]) {
      for (const url of inside) assert.isDefined(issueOf({ HOST })(url), `${HOST} ${url}`)
      for (const url of ["https://shop.dev/", "http://127.0.0.1:8080/sandbox/webhooks/shop"])
        assert.isUndefined(issueOf({ HOST })(url), url)
      assert.isUndefined(
        issueOf({ HOST, SATRAIL_OUTBOUND_ALLOW: "shop=http://10.0.0.1:3000" })("http://shop/hook")
      )
    }
    for (const HOST of ["127.0.0.1", "::1", "localhost"])
      for (const url of inside)
        assert.strictEqual(
          issueOf({ HOST })(url) === undefined,
          /127\.0\.0\.1|\[::1\]/.test(url),
          `${HOST} ${url}`
        )
  })

  const wrong: ReadonlyArray<readonly [name: string, value: string]> = [
    ["PORT", "http"],
    ["PORT", "65536"],
    ["PORT", "80.5"],
    ["PORT", "-1"],
    ["HOST", "a host"],
    ["SATRAIL_NETWORK", "main"],
    ["LIGHTNING", "pigeons"],
    ["LND_REST_URL", "127.0.0.1:8080"],
    ["LND_REST_URL", "http://lnd.example:8080"],
    ["LND_REST_URL", "https://lnd.example:8080/v1"],
    ["CHAIN", "electrum"],
    ["SATRAIL_DOMAIN", "localhost"],
    ["SATRAIL_DOMAIN", "https://pay.example"],
    ["SATRAIL_CORS_ORIGINS", "shop.example"],
    ["SATRAIL_CORS_ORIGINS", "https://shop.example/path"],
    ["SATRAIL_PROXIES", "-1"],
    ["SATRAIL_LNURL_PER_CALLER", "0"],
    ["SATRAIL_MAX_BODY_BYTES", "12"],
    ["SATRAIL_MAX_INVOICE_SATS", "0"],
    ["SATRAIL_MAX_WITHDRAWAL_SATS", "1e3"],
    ["SATRAIL_PAYOUT_WINDOW_SECONDS", "1.5"],
    ["SATRAIL_RECONCILE_SECONDS", "0"],
    ["SATRAIL_SHUTDOWN_SECONDS", "0"],
    ["SATRAIL_LOG_FORMAT", "xml"],
    ["SATRAIL_LOG_LEVEL", "loud"],
    ["SATRAIL_REQUEST_LOG", "on"],
    ["SATRAIL_DATABASE_CONNECTIONS", "1"]
  ]
  for (const [name, value] of wrong) {
    it(`environment: the error for ${name}=${value} shows the value and the expected form`, () => {
      const [problem = "", ...others] = problemsOf({ [name]: value })
      assert.deepStrictEqual(others, [])
      assert.include(problem, `${name} must be `)
      assert.include(problem, JSON.stringify(value))
    })
  }

  it("environment: an lnd node requires four settings (an address, two macaroons and a secret), and each missing setting is reported", () => {
    const problems = problemsOf({ LIGHTNING: "lnd" })
    const names = ["LND_REST_URL", "LND_RECEIVER_MACAROON", "LND_SENDER_MACAROON", "LND_INVOICE_SECRET"]
    assert.strictEqual(problems.length, names.length)
    for (const [at, name] of names.entries())
      assert.include(problems[at], `${name} is required with LIGHTNING=lnd`)
    const [secret, hex] = ["s".repeat(32), "0201".repeat(40)]
    const given = {
      LND_RECEIVER_MACAROON: "/run/receiver.macaroon",
      LND_SENDER_MACAROON: hex,
      LND_INVOICE_SECRET: secret
    }
    const env = { LIGHTNING: "lnd", LND_REST_URL: "http://localhost:8080", ...given }
    const { node } = Result.getOrThrow(Environment.read(env))
    assert.strictEqual(node?.at, "lnd at http://localhost:8080")
    assert.notInclude(JSON.stringify(node), hex)
    assert.notInclude(JSON.stringify(node), secret)
    assert.strictEqual(Result.getOrThrow(Environment.read({ ...env, LIGHTNING: "sandbox" })).node, undefined)
  })

  it("environment: the settings of a chain backend are validated even if CHAIN does not select that backend", () => {
    assert.deepStrictEqual(problemsOf({ ESPLORA_URL: "esplora.example" }), [
      "ESPLORA_URL must be a URL such as http://127.0.0.1:8332, without a user name, got something else (not shown, it is a secret)"
    ])
  })

  it("environment: all problems are reported together", () => {
    assert.strictEqual(problemsOf({ PORT: "x", SATRAIL_NETWORK: "y", LIGHTNING: "z" }).length, 3)
  })

  it("environment: the error for a malformed secret shows the name of its variable but not the secret", () => {
    for (const [name, value] of [
      ["DATABASE_URL", "mysql://root:hunter2@db"],
      ["SATRAIL_OPERATOR_TOKEN", "hunter2"],
      ["LND_INVOICE_SECRET", "hunter2"],
      ["SATRAIL_NOSTR_KEY", "hunter2"],
      ["SATRAIL_NOSTR_KEY", "00".repeat(32)],
      ["SATRAIL_NOSTR_KEY", "ff".repeat(32)]
    ] as const) {
      const [problem = ""] = problemsOf({ [name]: value })
      assert.include(problem, name)
      assert.notInclude(problem, value)
    }
  })

  it("environment: an error in the list of database hosts names the entry without its value", () => {
    const [problem = ""] = problemsOf({
      DATABASE_URL: "postgres://root:hunter2@h1:5432,h2:x/db?target_session_attrs=read-write"
    })
    assert.match(
      problem,
      /^DATABASE_URL must be .*: the port of host 2 of 2 must be a number from 1 to 65535$/
    )
    assert.notInclude(problem, "hunter2")
  })

  it("environment: a % or / in the database's password that is not encoded is reported without the password", () => {
    for (const [password, right] of [
      ["hunter%2", "%25"],
      ["5/hunter2", "%2F"]
    ] as const) {
      const [problem = "", ...others] = problemsOf({ DATABASE_URL: `postgres://u:${password}@127.0.0.1/db` })
      assert.deepStrictEqual(others, [])
      assert.match(problem, new RegExp(`^DATABASE_URL must be .* must be written as ${right}\\b`))
      assert.notInclude(problem, "hunter")
    }
  })

  it("C56: environment: printing the environment shows no secret", () => {
    const environment = Result.getOrThrow(
      Environment.read({ DATABASE_URL: "postgres://u:hunter2@127.0.0.1/db" })
    )
    assert.notInclude(
      JSON.stringify(environment, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value)),
      "hunter2"
    )
    assert.isTrue(
      environment.databaseUrl !== undefined && Redacted.value(environment.databaseUrl).includes("hunter2")
    )
  })

  it("environment: mainnet rejects a simulated Lightning node, chain, price source or recipient server, and an embedded database", () => {
    const named = (given: Readonly<Record<string, string>>) =>
      problemsOf({ SATRAIL_NETWORK: "mainnet", ...given }).map((problem) => problem.split(" ")[0])
    const real = ["DATABASE_URL", "LIGHTNING", "CHAIN"]
    assert.deepStrictEqual(
      named({}),
      real,
      "prices and servers are real if the node is, so they are named only if they were set"
    )
    const simulated = { RATES: "fixed", RESOLVER: "sandbox" }
    assert.deepStrictEqual(
      named({
        ...simulated,
        SATRAIL_OUTBOUND_ALLOW: "pay.example=http://127.0.0.1:8080",
        SATRAIL_DEMO: "yes"
      }),
      [...real, "RATES", "RESOLVER", "SATRAIL_OUTBOUND_ALLOW", "SATRAIL_DEMO"]
    )
    const lnd = {
      LIGHTNING: "lnd",
      LND_REST_URL: "http://localhost:8080",
      LND_INVOICE_SECRET: "s".repeat(32)
    }
    const node = {
      ...lnd,
      LND_RECEIVER_MACAROON: "/run/receiver.macaroon",
      LND_SENDER_MACAROON: "/run/sender.macaroon"
    }
    assert.deepStrictEqual(named(node), ["DATABASE_URL", "CHAIN"])
    assert.deepStrictEqual(named({ ...node, ...simulated }), ["DATABASE_URL", "CHAIN", "RATES", "RESOLVER"])
  })

  it("environment: each trusted host is listed together with its address", () => {
    const { outboundAllow } = Result.getOrThrow(
      Environment.read({
        SATRAIL_OUTBOUND_ALLOW: "pay.example=http://127.0.0.1:8080, wallet.example:8443=https://[::1]:9"
      })
    )
    assert.deepStrictEqual(
      Array.from(outboundAllow, ([host, url]) => `${host} ${url.origin}`),
      ["pay.example http://127.0.0.1:8080", "wallet.example:8443 https://[::1]:9"]
    )
    for (const wrong of [
      "pay.example",
      "pay.example=127.0.0.1:8080",
      "pay.example=ftp://a",
      "=http://a",
      "a=http://b,",
      "a=http://b/c"
    ]) {
      const [problem = ""] = problemsOf({ SATRAIL_OUTBOUND_ALLOW: wrong })
      assert.include(problem, "SATRAIL_OUTBOUND_ALLOW must be", wrong)
    }
  })

  it("environment: a resolver uses https, or tcp or http on this machine, and at most three resolvers are allowed", () => {
    const given = "https://dns.example.com/dns-query, http://127.0.0.1:8053/dns-query,tcp://127.0.0.1:53"
    const { bip353Resolvers } = Result.getOrThrow(Environment.read({ BIP353_RESOLVER: given }))
    assert.deepStrictEqual(
      bip353Resolvers.map(({ href }) => href),
      given.split(",").map((one) => one.trim())
    )
    assert.deepStrictEqual(Result.getOrThrow(Environment.read({})).bip353Resolvers, [])
    for (const wrong of [
      "dns.example.com",
      "http://dns.example.com/dns-query",
      "tcp://10.0.0.2",
      "tcp://127.0.0.1/x",
      "udp://127.0.0.1",
      "https://user:pass@dns.example.com/",
      "https://dns.example.com/?dns=x",
      "https://dns.example.com/#x",
      "https://a.example,",
      "https://a.example,https://b.example,https://c.example,https://d.example"
    ]) {
      const [problem = ""] = problemsOf({ BIP353_RESOLVER: wrong })
      assert.include(problem, "BIP353_RESOLVER must be", wrong)
    }
  })

  const misspelled: ReadonlyArray<readonly [name: string, right: string]> = [
    ["SATRAIL_NETWROK", "SATRAIL_NETWORK"],
    ["SATRIAL_NETWORK", "SATRAIL_NETWORK"],
    ["SATRAIL_OPERATORTOKEN", "SATRAIL_OPERATOR_TOKEN"],
    ["SATRAIL_PORT", "PORT"],
    ["SATRAIL_LND_REST_URL", "LND_REST_URL"],
    ["DATABASEURL", "DATABASE_URL"],
    ["DATABASE_URI", "DATABASE_URL"],
    ["LIGTHNING", "LIGHTNING"],
    ["LND_RESTURL", "LND_REST_URL"],
    ["LND_SENDER_MACARON", "LND_SENDER_MACAROON"],
    ["CHAIN_WALET", "CHAIN_WALLET"],
    ["BITCOIN_RPC_PASS", "BITCOIN_RPC_PASSWORD"],
    ["ESPLORA_URI", "ESPLORA_URL"],
    ["LND_RESTS_URL", "LND_REST_URL"]
  ]
  for (const [name, right] of misspelled) {
    it(`environment: ${name} is rejected and ${right} is suggested`, () => {
      assert.deepStrictEqual(problemsOf({ [name]: "x" }), [
        `${name} is not a setting: did you mean ${right}?`
      ])
    })
  }

  it("environment: a misspelled DATABASE_READ_URL is rejected also if DATABASE_URL is set", () => {
    for (const name of ["DATABASE_READ_URI", "DATABASE_READER_URL", "DATABASE_READ"])
      assert.deepStrictEqual(problemsOf({ DATABASE_URL: "postgres://u@127.0.0.1/db", [name]: "x" }), [
        `${name} is not a setting: did you mean DATABASE_READ_URL?`
      ])
  })

  it("environment: an unknown variable with our prefix is rejected if its name resembles a known variable, and the message omits the value", () => {
    const [problem = "", ...others] = problemsOf({ SATRAIL_MACHINE_ROOM: "hunter2" })
    assert.deepStrictEqual(others, [])
    assert.include(
      problem,
      "SATRAIL_MACHINE_ROOM is not a setting. docs/reference/configuration.md lists all settings"
    )
    assert.notInclude(problem, "hunter2")
  })

  it("environment: unknown variables are reported together with all other problems", () => {
    const problems = problemsOf({ SATRAIL_NETWROK: "mainnet", DATABASEURL: "x", PORT: "http" })
    assert.deepStrictEqual(
      problems.map((problem) => problem.split(" ")[0]),
      ["SATRAIL_NETWROK", "DATABASEURL", "PORT"]
    )
  })

  it("environment: variables of other programs are ignored", () => {
    const theirs = {
      LND_SERVICE_HOST: "10.0.0.1",
      LND_SERVICE_PORT_REST: "8080",
      LND_PORT: "tcp://10.0.0.1:8080",
      SATRAIL_PORT_8080_TCP_ADDR: "10.0.0.2",
      DATABASE_URL: "postgres://u@127.0.0.1/db",
      DATABASE_PUBLIC_URL: "postgres://u@db.example/db",
      DATABASE_URI: "postgres://u@127.0.0.1/db",
      DATABASE_URL_UNPOOLED: "postgres://u@127.0.0.1/db",
      DATABASE_USER: "u",
      DATABASE: "db",
      BITCOIN_DATA: "/var/lib/bitcoin",
      LND_ENVIRONMENT: "regtest",
      SATRAIL_IGNORED_VARIABLES: "BITCOIN_DATA, LND_ENVIRONMENT",
      SATRAIL_URL: "http://127.0.0.1:8080",
      HOSTNAME: "satrail-1",
      HOSTTYPE: "x86_64",
      RATE: "1",
      CHAINS: "2",
      LND_EMPTY: ""
    }
    assert.deepStrictEqual(problemsOf(theirs), [])
    assert.lengthOf(problemsOf({ ...theirs, SATRAIL_IGNORED_VARIABLES: "BITCOIN_DATA" }), 1)
    assert.lengthOf(
      problemsOf({ DATABASE_PUBLIC_URL: "postgres://u@db.example/db" }),
      1,
      "if DATABASE_URL is not set, DATABASE_PUBLIC_URL may be a misspelling of it"
    )
  })

  it("settings: a simulated backend is polled often, and a real backend is polled at the default interval", () => {
    const real = {
      lightning: {
        LIGHTNING: "lnd",
        LND_REST_URL: "http://127.0.0.1:1",
        LND_RECEIVER_MACAROON: "/r",
        LND_SENDER_MACAROON: "/s",
        LND_INVOICE_SECRET: "s".repeat(32)
      },
      chain: { CHAIN: "esplora", ESPLORA_URL: "http://127.0.0.1:1", CHAIN_WALLET_PASSPHRASE: "x" }
    }
    const polls = (env: Record<string, string>) => {
      const { trackMillis, invoicePollMillis, chainPollMillis } = Server.settingsOf(
        Result.getOrThrow(Environment.read(env))
      )
      return { trackMillis, invoicePollMillis, chainPollMillis }
    }
    const { trackMillis, invoicePollMillis, chainPollMillis } = Policy.defaults
    const often = {
      trackMillis: { minimum: 100, maximum: 1000 },
      invoicePollMillis: 5000,
      chainPollMillis: 250
    }
    assert.deepStrictEqual(polls({}), often)
    assert.deepStrictEqual(polls({ ...real.lightning, ...real.chain }), {
      trackMillis,
      invoicePollMillis,
      chainPollMillis
    })
    assert.deepStrictEqual(polls(real.lightning), { ...often, trackMillis, invoicePollMillis })
    assert.deepStrictEqual(polls(real.chain), { ...often, trackMillis, chainPollMillis })
  })
})
