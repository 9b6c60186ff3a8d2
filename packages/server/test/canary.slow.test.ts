import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Lnd from "@satrail/nodes/Lnd"
import * as OpenApi from "@satrail/testing/OpenApi"
import * as PostgresServer from "@satrail/testing/PostgresServer"
import { isInTurn } from "@satrail/testing/Turn"
import { longestMillis } from "@satrail/testing/Waiting"
import { boundPort } from "@satrail/testing/boundPort"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { readFileSync, rmSync } from "node:fs"
import { createServer } from "node:http"
import * as Customer from "./Customer.ts"
import * as Macaroon from "./Macaroon.ts"
import * as Receiver from "./Receiver.ts"
import * as Service from "./Service.ts"

// Searches all output for secrets. A secret may appear in the response that shows it once, and in texts that
// customers write into their own records: descriptions, metadata, handles and names. An error may also repeat
// an unknown field's name if it suggests a similar one.

const canary = (name: string) => `canary-${name}-${randomBytes(12).toString("hex")}`

/** The encodings in which a secret could appear. */
const formsOf = (secret: string): ReadonlyArray<string> => [
  ...new Set([
    secret,
    encodeURIComponent(secret),
    Buffer.from(secret).toString("base64").replace(/=+$/, ""),
    Buffer.from(secret).toString("base64url"),
    Buffer.from(secret).toString("hex")
  ])
]

/** Returns the names of the secrets that a text contains. */
const leaks = (text: string, secrets: Readonly<Record<string, string>>): ReadonlyArray<string> =>
  Object.entries(secrets).flatMap(([name, secret]) =>
    formsOf(secret).some((form) => text.includes(form)) ? [name] : []
  )

const formats = ["json", "pretty"] as const

/**
 * Selects the secrets to send in each place of an operation. Both formats log the same content, so for the
 * second format the test sends only one secret per operation, a different one each time.
 */
const shares: Readonly<
  Record<(typeof formats)[number], <A>(secrets: ReadonlyArray<A>, operation: number) => ReadonlyArray<A>>
> = {
  json: (secrets, operation) => secrets.filter((_, number) => isInTurn(operation * secrets.length + number)),
  pretty: (secrets, operation) => [secrets[operation % secrets.length] ?? assert.fail("no secret")]
}

const loud = (format: (typeof formats)[number]) => ({
  PORT: "0",
  SATRAIL_LOG_LEVEL: "debug",
  SATRAIL_LOG_FORMAT: format
})

let postgres: PostgresServer.PostgresServer | undefined
const found = PostgresServer.find()
beforeAll(async () => {
  if ("missing" in found) return
  const rules = ["host all postgres 127.0.0.1/32 trust", "host all all 127.0.0.1/32 scram-sha-256", ""]
  postgres = await PostgresServer.start(found, { files: { "pg_hba.conf": rules.join("\n") } })
})
afterAll(() => postgres?.end())

describe("a secret in every part of a request", () => {
  const [operatorToken, nostrKey] = [
    canary("operator-token-of-32-characters"),
    randomBytes(32).toString("hex")
  ]
  let service: Service.Service

  for (const format of formats) {
    it(`secrets: a secret sent in any part of a request appears in no error, metric, process argument or log line (${format})`, async () => {
      service = Service.make()
      // The embedded database takes four times as long as a server for these thousands of requests, so it is
      // used for the format that needs fewer requests.
      const database = format === "json" && postgres !== undefined ? { DATABASE_URL: postgres.url } : {}
      await service.start({
        ...loud(format),
        ...database,
        SATRAIL_OPERATOR_TOKEN: operatorToken,
        SATRAIL_NOSTR_KEY: nostrKey
      })
      const operate = (path: string, body: unknown) =>
        service.ask("POST", `/operator${path}`, { key: operatorToken, body })
      const { id } = await Customer.data(201, operate("/companies", { name: "Example Ltd", plan: "paid" }))
      const { key, id: keyId } = await Customer.data(
        201,
        operate(`/companies/${id}/api-keys`, { name: "till", scopes: ["admin"] })
      )
      const company: Service.Company = {
        id,
        key,
        get: (path) => service.ask("GET", path, { key }),
        post: (path, body) => service.ask("POST", path, { key, body })
      }

      const { id: endpointId, secret, received, wrong, end } = await Receiver.make(company)
      const hears = (type: string) =>
        Service.eventually(
          `a webhook of ${type}`,
          async () => received.map((one) => one.type),
          (types) => types.includes(type)
        )
      /** All event output: the feed, the stream so far, and the webhooks with their log. */
      const told = async () => {
        const feed = await company.get("/v1/events")
        const stream = await fetch(`${service.url()}/v1/events/stream?after=${feed.data[0].id}`, {
          headers: { authorization: `Bearer ${key}` },
          signal: AbortSignal.timeout(longestMillis)
        })
        let streamed = ""
        for await (const part of stream.body?.pipeThrough(new TextDecoderStream()) ?? []) {
          streamed += part
          if (streamed.includes(`id: ${feed.data.at(-1).id}\n`)) break
        }
        const log = await company.get(`/v1/webhook-endpoints/${endpointId}/deliveries`)
        return [
          ...received.map(({ headers, body }) => `${JSON.stringify(headers)} ${body}`),
          feed.text,
          streamed,
          log.text
        ]
      }

      // A preimage is secret until the invoice is paid, so until then it must not appear in any output.
      await Customer.invoice(company, 1) // the stream continues after the first event
      const invoice = await Customer.invoice(company, 100_000)
      const asked = [
        await company.get(`/v1/bitcoin/deposit/lightning-invoice/${invoice.id}`),
        await company.get("/v1/transactions")
      ]
      await Service.eventually(
        "the webhooks of both invoices",
        async () => received.length,
        (count) => count === 2
      )
      const before = [...asked.map(({ text }) => text), ...service.logs(), ...(await told())]
      const { preimage: paid } = await Customer.data(
        200,
        company.post("/sandbox/pay", { payment_request: invoice.payment_request })
      )
      await Customer.hasBalance(company, 100_000)
      const { lnurlw } = await Customer.data(
        201,
        company.post("/v1/vouchers", { amount: 1000, currency: "sats" })
      )
      const [, k1 = ""] = /k1=([0-9a-f]+)/.exec(lnurlw) ?? []
      assert.lengthOf(k1, 64)
      assert.isEmpty(before.filter((text) => text.includes(paid)))

      const secrets: Readonly<Record<string, string>> = {
        "the operator's token": operatorToken,
        "an API key": key,
        "an API key's secret": key.slice(key.lastIndexOf("_") + 1),
        "a voucher's k1": k1,
        "a voucher's link": lnurlw,
        "the key that signs receipts": nostrKey,
        "a preimage": paid,
        "a macaroon": Macaroon.make(Lnd.senderCalls),
        "seed words": "abandon ability able about above absent absorb abstract absurd abuse access accident",
        "a password": canary("password"),
        "the webhook signing key": secret
      }
      await hears("deposit.lightning.completed")
      await hears("voucher.created")
      // The preimage of a paid invoice is no longer secret.
      const { "a preimage": _, ...others } = secrets
      const kept = { ...others, "the webhook signing key, without its prefix": secret.replace(/^whsec_/, "") }
      const all = await told()
      assert.isAbove(all.length, 6)
      assert.deepStrictEqual(leaks(all.join("\n"), kept), [])
      assert.deepStrictEqual(wrong, [])
      end()
      const { operations, resolve } = OpenApi.read(
        JSON.parse((await service.ask("GET", "/openapi.json")).text),
        JSON.parse((await service.ask("GET", "/operator/openapi.json")).text)
      )
      let refused = 0
      let sent = 0
      for (const [operation, { name, method, path, body, opens }] of operations.entries()) {
        const { properties } = resolve(
          body === undefined ? {} : (OpenApi.alternatives(body.schema)[0] ?? resolve(body.schema))
        )
        const members = Object.keys(OpenApi.isObject(properties) ? properties : {})
        const own = opens.includes("operatorToken") ? operatorToken : key
        for (const [what, secret] of shares[format](Object.entries(secrets), operation)) {
          sent += 1
          const encoded = encodeURIComponent(secret)
          const at = (place: string) => path.replace(/\{\w+\}/, place)
          const ask = async (route: string, options: Service.Ask) => {
            const answer = await service.ask(method, route, { key: own, ...options })
            if (answer.status < 400) return
            refused += 1
            assert.deepStrictEqual(leaks(answer.text, secrets), [], `${name} with ${what}: ${answer.text}`)
          }
          const withBody = (value: unknown) => (body === undefined ? {} : { body: value })
          await ask(at(encoded), withBody({}))
          await ask(`${at(keyId)}?${encoded}=${encoded}&limit=${encoded}&cursor=${encoded}`, withBody({}))
          await ask(at(keyId), {
            ...withBody({}),
            headers: {
              "idempotency-key": `${secret} ${secret}`,
              "x-api-key": secret,
              "webhook-signature": `v1,${secret}`,
              cookie: `session=${encoded}`,
              "user-agent": secret,
              referer: `https://shop.example/?key=${encoded}`
            }
          })
          await ask(at(keyId), { ...withBody({}), key: secret })
          if (body === undefined) continue
          await ask(at(keyId), { body: Object.fromEntries(members.map((member) => [member, secret])) })
          await ask(at(keyId), {
            body: {
              [secret]: secret,
              ...Object.fromEntries(members.map((member) => [member, [{ [secret]: secret }]]))
            }
          })
          await ask(at(keyId), {
            body: { amount: 1, currency: "sats", destination: secret, metadata: { key: [secret] } }
          })
          await ask(at(keyId), {
            body: { amount: 1, currency: "sats", destination: `${secret}@example.com` }
          })
          await ask(at(keyId), { body: { amount: 1, currency: "sats", destination: `lightning:${secret}` } })
        }
      }
      assert.isAtLeast(sent, operations.length)
      assert.isAbove(refused, sent)
      for (const path of [
        "/lnurlw?k1=",
        "/lnurlw/callback?pr=x&k1=",
        "/.well-known/lnurlp/",
        "/lnurlp/a.example/b/verify/"
      ]) {
        for (const [what, secret] of Object.entries(secrets)) {
          const { text } = await service.ask("GET", path + encodeURIComponent(secret), {})
          // The response to a request with a voucher's own k1 repeats that k1 (LUD-03).
          if (!text.includes("withdrawRequest"))
            assert.deepStrictEqual(leaks(text, { [what]: secret }), [], `${path} ${text}`)
        }
      }
      assert.deepStrictEqual(
        leaks((await service.ask("GET", "/operator/metrics", { key: operatorToken })).text, secrets),
        []
      )
      assert.deepStrictEqual(leaks(readFileSync(`/proc/${service.pid()}/cmdline`, "utf8"), secrets), [])
      await service.stop("SIGTERM")
      assert.deepStrictEqual(leaks([...service.logs(), ...service.stdout()].join("\n"), secrets), [])
      await service.end()
    })
  }
  afterAll(() => service.end())
})

describe("a secret in the configuration", () => {
  let data = ""
  const passphrase = canary("passphrase")
  beforeAll(() => {
    data = Service.directory()
  })
  afterAll(() => rmSync(data, { recursive: true, force: true }))

  /**
   * Starts the service in each log format and waits until it exits by itself, or stops it after it has printed
   * `sign`. Returns the secrets found in the output.
   */
  const givenAway = async (
    env: Readonly<Record<string, string>>,
    sign: RegExp,
    secrets: Readonly<Record<string, string>>
  ) => {
    const found: Array<string> = []
    for (const format of formats) {
      const running = Service.run("main", [], { ...loud(format), SATRAIL_DATA: `${data}/service`, ...env })
      const arguments_ = readFileSync(`/proc/${running.pid}/cmdline`, "utf8")
      await Service.eventually(
        String(sign),
        async () => running.stderr() + running.stdout(),
        (said) => running.isOver() || sign.test(said)
      )
      running.kill("SIGTERM")
      const { stdout, stderr } = await running.ended
      assert.match(stderr, sign)
      found.push(...leaks(stdout + stderr + arguments_, secrets))
    }
    return found
  }

  it.skipIf("missing" in found)("secrets: the database password is not shown when it is wrong", async () => {
    const password = canary("database")
    assert.deepStrictEqual(
      await givenAway(
        { DATABASE_URL: `postgres://somebody:${password}@127.0.0.1:${postgres?.port}/postgres` },
        /rejected the login/,
        {
          password
        }
      ),
      []
    )
  })

  it("secrets: lnd's macaroons are not shown when lnd is unreachable", async () => {
    const secrets = {
      receiver: Macaroon.make(Lnd.receiverCalls),
      sender: Macaroon.make(Lnd.senderCalls),
      invoices: canary("invoice-secret-of-32-characters")
    }
    const env = {
      LIGHTNING: "lnd",
      LND_REST_URL: "https://127.0.0.1:1",
      LND_RECEIVER_MACAROON: secrets.receiver,
      LND_SENDER_MACAROON: secrets.sender
    }
    assert.deepStrictEqual(
      await givenAway(
        { ...env, LND_INVOICE_SECRET: secrets.invoices },
        /lnd refuses the connection.*https:\/\/127\.0\.0\.1:1/,
        secrets
      ),
      []
    )
    // An invalid macaroon is not shown either.
    const broken = secrets.sender.replace(/^02/, "04")
    assert.deepStrictEqual(
      await givenAway(
        { ...env, LND_SENDER_MACAROON: broken, LND_INVOICE_SECRET: secrets.invoices },
        /LND_SENDER_MACAROON is not usable/,
        {
          ...secrets,
          broken
        }
      ),
      []
    )
  })

  it("secrets: the chain's and the wallet's secrets are not shown when the node rejects the login or is down, or when the wallet cannot be opened", async () => {
    const node = createServer((_, response) =>
      response.writeHead(401, { "www-authenticate": "Basic" }).end()
    ).listen(0, "127.0.0.1")
    const port = await boundPort(node)
    const wallet = { CHAIN_WALLET: `${data}/wallet.json`, CHAIN_WALLET_PASSPHRASE: passphrase }
    const created = await Service.run("cli", ["wallet", "create", "--network", "regtest"], wallet).ended
    assert.strictEqual(created.code, 0, created.stderr)
    const words = Array.from(created.stdout.matchAll(/^ +\d+ {2}([a-z]+)$/gm), ([, word = ""]) => word)
    const password = canary("rpc")
    const secrets = {
      password,
      passphrase,
      words: words.join(" "),
      authorization: Buffer.from(`satrail:${password}`).toString("base64")
    }
    // A database used with the simulated chain accepts no other.
    const own = { ...wallet, SATRAIL_DATA: `${data}/chain` }
    const env = { CHAIN: "bitcoin-rpc", BITCOIN_RPC_USER: "satrail", BITCOIN_RPC_PASSWORD: password, ...own }
    assert.deepStrictEqual(
      await givenAway(
        { ...env, BITCOIN_RPC_URL: `http://127.0.0.1:${port}` },
        /rejects the user and password/,
        secrets
      ),
      []
    )
    await once(node.close(), "close")
    assert.deepStrictEqual(
      await givenAway(
        { ...env, BITCOIN_RPC_URL: "http://127.0.0.1:1" },
        /bitcoin node: no response yet/,
        secrets
      ),
      []
    )
    const wrong = canary("wrong-passphrase")
    const away = { ...env, BITCOIN_RPC_URL: "http://127.0.0.1:1" }
    assert.deepStrictEqual(
      await givenAway({ ...away, CHAIN_WALLET_PASSPHRASE: wrong }, /passphrase/, { ...secrets, wrong }),
      []
    )
    assert.deepStrictEqual(
      await givenAway(
        { ...away, CHAIN_WALLET_PASSPHRASE: "", CHAIN_SEED: `${words.join(" ")} zoo` },
        /CHAIN_SEED must be/,
        secrets
      ),
      []
    )
  })
})
