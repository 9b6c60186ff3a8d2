import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import type { Readiness } from "@satrail/http/api/Readiness"
import { quickest } from "@satrail/testing/Waiting"
import { type Context, Deferred, Effect, Exit, Layer, ManagedRuntime, Redacted, Result } from "effect"
import { HttpServer } from "effect/http"
import { boundPort } from "@satrail/testing/boundPort"
import { once } from "node:events"
import {
  appendFileSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync
} from "node:fs"
import { Agent, createServer, get, request } from "node:http"
import { createServer as createTcpServer } from "node:net"
import path from "node:path"
import * as Environment from "../src/deployment/Environment.ts"
import * as Simulated from "../src/deployment/Simulated.ts"
import * as ReadinessChecks from "../src/serving/ReadinessChecks.ts"
import * as Server from "../src/serving/Server.ts"
import * as Customer from "./Customer.ts"
import * as Service from "./Service.ts"

const canary = "canary-of-a-password"

// It ends every connection, so it is not a database that is starting.
const notDatabase = createTcpServer((socket) => socket.end()).listen(0, "127.0.0.1")
const otherPort = await boundPort(notDatabase)

describe("an impossible start", () => {
  let data = ""
  beforeAll(() => {
    data = Service.directory()
    writeFileSync(path.join(data, "a-file"), "")
  })
  afterAll(() => {
    notDatabase.close()
    rmSync(data, { recursive: true, force: true })
  })

  const wrong: ReadonlyArray<
    readonly [what: string, env: Record<string, string>, says: ReadonlyArray<string>]
  > = [
    [
      "several wrong variables",
      { PORT: "http", SATRAIL_NETWORK: "main", DATABASE_URL: `mysql://root:${canary}@db` },
      ["PORT must be", "SATRAIL_NETWORK must be", "DATABASE_URL must be"]
    ],
    [
      "a simulated network with SATRAIL_NETWORK=mainnet",
      { SATRAIL_NETWORK: "mainnet" },
      ["LIGHTNING must be a real node", "CHAIN must be a real chain", "DATABASE_URL must be"]
    ],
    [
      "a server that is not a database",
      { DATABASE_URL: `postgres://root:${canary}@127.0.0.1:${otherPort}/satrail` },
      [`No database responds at 127.0.0.1:${otherPort}/satrail`]
    ],
    ["a data directory that is a file", { SATRAIL_DATA: "a-file" }, ["a-file", "cannot be used"]]
  ]
  for (const [what, env, says] of wrong) {
    it(`start: the error explains ${what} in one sentence`, async () => {
      const ended = await Service.run("main", [], {
        PORT: "0",
        ...env,
        SATRAIL_DATA: path.join(data, env["SATRAIL_DATA"] ?? "unused")
      }).ended
      assert.deepStrictEqual([ended.code, ended.stdout], [1, ""])
      for (const words of ["satrail cannot start.", ...says]) assert.include(ended.stderr, words)
      assert.notInclude(ended.stderr, canary)
      assert.notMatch(ended.stderr, /^\s+at /m, "no stack")
    })
  }
})

describe("a start in progress", () => {
  it("start: the service reports ready once the demo company has been prepared", async () => {
    const data = Service.directory()
    const environment = Result.getOrThrow(Environment.read({ PORT: "0", SATRAIL_DATA: data }))
    const prepared = Deferred.makeUnsafe<void>()
    const runtime = ManagedRuntime.make(
      Layer.provideMerge(
        Layer.unwrap(
          Effect.contextWith(
            (services: Context.Context<Layer.Success<ReturnType<typeof Server.services>> | Readiness>) =>
              Effect.succeed(Server.server(environment, Redacted.make("x".repeat(32)), services))
          )
        ),
        Layer.provideMerge(
          ReadinessChecks.readiness(Simulated.of(environment), Deferred.isDone(prepared)),
          Server.services(environment)
        )
      )
    )
    const { address } = await runtime.runPromise(HttpServer.HttpServer)
    const url = `http://127.0.0.1:${"port" in address ? address.port : assert.fail("no port")}/readyz`
    const ready = async () => JSON.parse(await (await fetch(url)).text())
    const before = await ready()
    assert.deepStrictEqual(
      [before.status, before.error.issues.map((issue: { readonly path: string }) => issue.path)],
      [503, ["started"]]
    )
    Deferred.doneUnsafe(prepared, Exit.void)
    assert.strictEqual((await ready()).status, 200)
    await runtime.dispose()
    rmSync(data, { recursive: true })
  })
})

describe("the running service", () => {
  let service: Service.Service
  beforeAll(() => {
    service = Service.make()
    return service.start()
  })
  afterAll(() => service.end())

  /** Checks that the service refuses to start in this directory a second time. */
  const refusedStart = async (env: Record<string, string>, ...says: ReadonlyArray<string>) => {
    const ended = await Service.run("main", [], { ...service.env(), ...env }).ended
    assert.strictEqual(ended.code, 1, ended.stderr)
    const words = ended.stderr
      .split("\n")
      .filter((line) => !line.startsWith("{"))
      .join("\n") // the rest is the log
    for (const one of ["satrail cannot start.", ...says]) assert.include(words, one)
    assert.notMatch(words, /^\s+at /m, "no stack")
    assert.strictEqual(ended.stdout, "")
  }

  /** Sends a request up to `rest`, the end of its body, and waits until the service has started to read it. */
  const begun = async (route: string, body: string, key: string, agent = new Agent()) => {
    const asking = request(service.url() + route, {
      agent,
      method: "POST",
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        "content-length": body.length,
        expect: "100-continue"
      }
    })
    asking.flushHeaders()
    await once(asking, "continue")
    asking.write(body.slice(0, 1))
    return { request: asking, rest: body.slice(1) }
  }

  it("start: the first start prints the address, the key and three sample commands", () => {
    const {
      base_url: url,
      api_key: key,
      company_id: company,
      operator_token: token = "",
      ...others
    } = service.demo()
    assert.deepStrictEqual(others, {})
    assert.strictEqual(url, service.url())
    assert.match(key, /^sr_regtest_/)
    assert.match(company, /^[0-9a-f-]{36}$/)
    assert.match(token, /^op_[0-9a-f]{64}$/)
    assert.strictEqual(statSync(path.join(service.data, "demo.json")).mode & 0o777, 0o600)

    const [said = ""] = service.stdout()
    for (const words of [url, key, `${url}/docs`, "without real money"]) assert.include(said, words)
    assert.notInclude(said, token)
    const commands = said.split("\n").filter((line) => line.trim().startsWith("curl "))
    assert.deepStrictEqual(
      commands.map((line) => (/(?:-X \w+ )?http:\/\/\S+/.exec(line) ?? [])[0]),
      [
        `-X POST ${url}/v1/bitcoin/deposit/lightning-invoice`,
        `-X POST ${url}/sandbox/pay`,
        `${url}/v1/transactions/balance`
      ]
    )
  })

  it("data directory: files created by a start are accessible only to their owner", () => {
    const modeOf = (name: string) => (statSync(path.join(service.data, name)).mode & 0o777).toString(8)
    for (const folder of ["database", "sandbox"]) assert.strictEqual(modeOf(folder), "700", folder)
    for (const file of ["lock", "sandbox/sandbox.ndjson", "sandbox/identity"])
      assert.strictEqual(modeOf(file), "600", file)
  })

  it("operator token: a token from the environment replaces the stored one and is not written to demo.json", async () => {
    await service.stop("SIGTERM")
    const token = "an-operator-s-token-of-32-characters"
    await service.start({ SATRAIL_OPERATOR_TOKEN: token })
    assert.sameMembers(Object.keys(service.demo()), ["base_url", "api_key", "company_id"])
    assert.notInclude(service.stdout().join(), token)
    assert.include(service.stdout().at(-1) ?? "", "operator token  SATRAIL_OPERATOR_TOKEN")
    await Customer.data(
      201,
      service.ask("POST", "/operator/companies", { key: token, body: { name: "Acme", plan: "free" } })
    )
    await service.stop("SIGTERM")
    await service.start()
    assert.match(service.token(), /^op_[0-9a-f]{64}$/)
  })

  it("server: responds to liveness and readiness checks, and serves its documentation", async () => {
    assert.deepStrictEqual(await Customer.data(200, service.ask("GET", "/healthz")), { up: true })
    assert.deepStrictEqual(await Customer.data(200, service.ask("GET", "/readyz")), {
      ready: ["store", "node", "chain", "sender", "started", "running"]
    })
    const docs = await service.ask("GET", "/docs")
    assert.strictEqual(docs.status, 200)
    assert.include(docs.headers.get("content-type"), "text/html")
    const document = JSON.parse((await service.ask("GET", "/openapi.json")).text)
    for (const route of ["/v1/bitcoin/withdraw/confirm", "/v1/bitcoin/send/confirm", "/sandbox/mine"])
      assert.property(document.paths, route)
    assert.property(
      JSON.parse((await service.ask("GET", "/operator/openapi.json")).text).paths,
      "/operator/companies"
    )
  })

  it("data directory: a second start in the same directory names the process that uses it and changes nothing", async () => {
    const log = path.join(service.data, "sandbox", "sandbox.ndjson")
    const before = readFileSync(log)
    // A record half-written by the running service.
    appendFileSync(log, "[{")
    const demo = readFileSync(path.join(service.data, "demo.json"))
    await refusedStart({}, `in use by process ${service.pid()}`)
    // Even with its database elsewhere, a second service would share this directory's sandbox.
    await refusedStart(
      { DATABASE_URL: "postgres://somebody@127.0.0.1:1/satrail" },
      `in use by process ${service.pid()}`
    )
    assert.deepStrictEqual(readFileSync(path.join(service.data, "demo.json")), demo)
    assert.strictEqual(readFileSync(log).length, before.length + 2)
    writeFileSync(log, before)
    await Customer.data(200, service.ask("GET", "/readyz"))
  })

  it("shutdown: a request in progress gets its response, and the exit code is 0", async () => {
    const { api_key: key } = service.demo()
    // A keep-alive connection, which its client would reuse.
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const { request: asking, rest } = await begun(
      "/v1/bitcoin/deposit/lightning-invoice",
      JSON.stringify({ amount: 1234, currency: "sats" }),
      key,
      agent
    )
    const answer = new Promise<{ readonly status: number | undefined; readonly text: string }>(
      (resolve, reject) => {
        asking.on("error", reject)
        asking.on("response", (response) => {
          let text = ""
          response
            .setEncoding("utf8")
            .on("data", (part: string) => (text += part))
            .on("end", () => resolve({ status: response.statusCode, text }))
        })
      }
    )
    const stopped = service.stop("SIGTERM")
    await Service.eventually(
      "the end of new connections",
      () =>
        new Promise<boolean>((resolve) => {
          get(`${service.url()}/healthz`, { agent: false })
            .once("error", () => resolve(false))
            .once("response", (response) => resolve(response.resume().statusCode === 200))
        }),
      (answers) => !answers
    )
    asking.end(rest)
    const { status, text } = await answer
    assert.strictEqual(status, 201, text)
    const next = get(`${service.url()}/healthz`, { agent })
    const connection = await new Promise<string>((resolve) => {
      next
        .once("error", () => resolve("is over"))
        .once("response", (response) => resolve(response.resume() && "goes on"))
    })
    assert.strictEqual(
      connection,
      "is over",
      "the connection that got the last response accepts no further request"
    )
    await stopped

    await service.start()
    const made = JSON.parse(text).data
    assert.strictEqual(
      (
        await Customer.data(
          200,
          service.ask("GET", `/v1/bitcoin/deposit/lightning-invoice/${made.id}`, { key })
        )
      ).r_hash,
      made.r_hash
    )
  })

  it("start: a later start keeps the demo company and its key, and does not show the key again", async () => {
    const [before, token] = [service.demo(), service.token()]
    await service.stop("SIGTERM")
    await service.start()
    const { base_url: url, ...after } = service.demo()
    assert.deepStrictEqual(after, {
      api_key: before.api_key,
      company_id: before.company_id,
      operator_token: token
    })
    assert.strictEqual(url, service.url())
    assert.strictEqual(statSync(path.join(service.data, "demo.json")).mode & 0o777, 0o600)
    const said = service.stdout().at(-1) ?? ""
    assert.include(said, url)
    assert.notInclude(said, before.api_key)
    await Customer.data(200, service.ask("GET", "/v1/transactions/balance", { key: before.api_key }))
  })

  it("shutdown: a request that never ends does not prevent the shutdown", async () => {
    await service.stop("SIGTERM")
    const millis = await quickest(20_000, async () => {
      await service.start({ SATRAIL_SHUTDOWN_SECONDS: "1" })
      const { request: asking } = await begun("/v1/bitcoin/withdraw/estimate", "{}", service.demo().api_key)
      const cut = new Promise((resolve) => {
        asking.once("error", resolve).once("response", (response) => response.resume().once("close", resolve))
      })
      const beganMillis = performance.now()
      await service.stop("SIGTERM")
      await cut
      return performance.now() - beganMillis
    })
    assert.isBelow(millis, 20_000, "sooner than with the default limit")
    await service.start()
  })

  it("start: a resource that is in use or broken is reported and left unchanged", async () => {
    await service.stop("SIGTERM")
    const other = createServer().listen(0, "127.0.0.1")
    const port = await boundPort(other)
    await refusedStart({ PORT: String(port) }, `Cannot listen at 127.0.0.1:${port}`, "in use")
    await once(other.close(), "close")

    await refusedStart(
      { SATRAIL_SANDBOX_SEED: "another" },
      path.join(service.data, "sandbox"),
      "another seed"
    )

    const file = path.join(service.data, "demo.json")
    const whole = readFileSync(file, "utf8")
    writeFileSync(file, whole.slice(0, 40))
    await refusedStart({}, file)
    assert.strictEqual(readFileSync(file, "utf8"), whole.slice(0, 40))
    writeFileSync(file, whole)
    await service.start()
  })

  it("start: a database created with another sandbox is rejected", async () => {
    await service.stop("SIGTERM")
    const sandbox = path.join(service.data, "sandbox")
    renameSync(sandbox, `${sandbox}.aside`)
    await refusedStart({}, "belongs to a sandbox other than", sandbox, "Restore")
    assert.isFalse(existsSync(sandbox), "no other sandbox was created")
    renameSync(`${sandbox}.aside`, sandbox)
    await service.start()
  })
})
