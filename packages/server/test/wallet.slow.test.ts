import { afterAll, assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { readFileSync, rmSync } from "node:fs"
import path from "node:path"
import * as Check from "../src/base/Check.ts"
import * as Environment from "../src/deployment/Environment.ts"
import * as Service from "./Service.ts"

describe("satrail wallet", () => {
  const folder = Service.directory()
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  const passphrase = { CHAIN_WALLET_PASSPHRASE: "correct horse battery" }
  const wallet = (args: string, env: Record<string, string> = passphrase) =>
    Service.run("cli", ["wallet", ...args.split(" ")], { SATRAIL_DATA: folder, ...env }).ended

  it("wallet: a wallet can be created only once, and the seed words shown at its creation can restore the wallet", async () => {
    const created = await wallet("create --network regtest")
    assert.deepStrictEqual([created.code, created.stderr], [0, ""])
    const words = Array.from(created.stdout.matchAll(/^ +\d+ {2}([a-z]+)$/gm), ([, word = ""]) => word)
    assert.strictEqual(words.length, 24)
    const file = readFileSync(path.join(folder, "wallet.json"), "utf8")
    for (const word of words) assert.notMatch(file, new RegExp(`\\b${word}\\b(?!")`))
    assert.notInclude(file, words.join(" "))

    const shown = await wallet("show-xpub", {})
    assert.match(shown.stdout, /tr\(\[[0-9a-f]{8}\/86h\/1h\/0h\]tpub\w+\/<0;1>\/\*\)#[a-z0-9]{8}$/m)
    for (const word of words.filter((word) => word.length > 5))
      assert.notMatch(shown.stdout, new RegExp(`\\b${word}\\b`))
    assert.include(shown.stderr, "--gap")
    const { stdout: withGap } = await wallet("show-xpub --gap", {})
    assert.match(withGap, /^gap limit +20: at most 0 keys/m)

    const again = await wallet("create --network regtest")
    assert.strictEqual(again.code, 1)
    assert.include(again.stderr, "it already exists")
    assert.strictEqual(readFileSync(path.join(folder, "wallet.json"), "utf8"), file)

    const restored = await wallet(
      `restore --network regtest --birthday 2026-01-31 --file ${path.join(folder, "restored.json")}`,
      {
        ...passphrase,
        CHAIN_SEED: words.join(" ")
      }
    )
    assert.strictEqual(restored.code, 0)
    assert.include(restored.stdout, shown.stdout.trim())
  })

  it("command line: a misspelled variable stops a command before it writes anything", async () => {
    const { code, stderr } = await wallet(`create --network regtest`, {
      ...passphrase,
      CHAIN_WALET: path.join(folder, "elsewhere.json")
    })
    assert.deepStrictEqual(
      [code, stderr.trimEnd()],
      [1, "CHAIN_WALET is not a setting: did you mean CHAIN_WALLET?"]
    )
  })

  it("wallet: a missing wallet, a short or missing passphrase, invalid seed words and a simulated chain are reported as errors", async () => {
    const refused = async (args: string, env: Record<string, string>) => {
      const { code, stderr } = await wallet(args, env)
      assert.strictEqual(code, 1)
      assert.notMatch(stderr, /^\s+at /m, "no stack")
      return stderr
    }
    assert.include(await refused("show-xpub --file /nowhere/wallet.json", {}), "satrail wallet create")
    assert.include(
      await refused("create --network regtest --file /tmp/never.json", { CHAIN_WALLET_PASSPHRASE: "short" }),
      "at least 12"
    )
    assert.include(
      await refused("create --network regtest --file /tmp/never.json", {}),
      "CHAIN_WALLET_PASSPHRASE"
    )
    const bad = { ...passphrase, CHAIN_SEED: "abandon abandon" }
    assert.include(
      await refused("restore --network regtest --file /tmp/never.json", bad),
      "12 to 24 English words"
    )
    assert.include(await refused("rescan --from-height 1", {}), "CHAIN is the sandbox")
  })
})

describe("the environment of a real chain", () => {
  const rpc = {
    CHAIN: "bitcoin-rpc",
    BITCOIN_RPC_URL: "http://127.0.0.1:8332",
    BITCOIN_RPC_USER: "u",
    BITCOIN_RPC_PASSWORD: "not to be told",
    CHAIN_WALLET_PASSPHRASE: "nor this one"
  }
  const problemsOf = (env: Record<string, string>) => {
    const read = Environment.read(env)
    return Result.isFailure(read) ? read.failure.problems.join("\n") : ""
  }

  it("environment: a real chain's missing settings and missing signer are reported", () => {
    for (const name of ["BITCOIN_RPC_URL", "BITCOIN_RPC_USER", "BITCOIN_RPC_PASSWORD"]) {
      assert.include(problemsOf({ ...rpc, [name]: "" }), `${name} is required with CHAIN=bitcoin-rpc`)
    }
    assert.include(
      problemsOf({ CHAIN: "esplora", CHAIN_WALLET_PASSPHRASE: "x" }),
      "ESPLORA_URL is required with CHAIN=esplora"
    )
    assert.include(problemsOf({ ...rpc, CHAIN_WALLET_PASSPHRASE: "" }), "choose the signer")
    assert.include(problemsOf({ ...rpc, CHAIN_SIGNER: "sign" }), "choose the signer")
  })

  it("environment: a real chain's secrets are never shown", () => {
    const said = problemsOf({
      ...rpc,
      CHAIN_SEED: "abandon abandon",
      BITCOIN_RPC_URL: "http://me:secret@host"
    })
    for (const secret of ["abandon", "not to be told", "nor this one", "me:secret"])
      assert.notInclude(said, secret)
  })

  it("environment: a real chain's settings are read", () => {
    const external = { ...rpc, CHAIN_WALLET_PASSPHRASE: "", CHAIN_SIGNER: "sign --with card" }
    const read = (more: object) => Result.getOrThrow(Environment.read({ ...external, ...more })).chainNode
    const chainNode = read({})
    const signer = {
      _tag: "External" as const,
      command: "sign",
      args: ["--with", "card"],
      patienceMillis: 60_000
    }
    assert.deepStrictEqual(chainNode?.signer, signer)
    assert.deepStrictEqual(read({ CHAIN_SIGNER_SECONDS: "600" })?.signer, {
      ...signer,
      patienceMillis: 600_000
    })
    assert.include(problemsOf({ ...external, CHAIN_SIGNER_SECONDS: "601" }), "CHAIN_SIGNER_SECONDS must be")
    assert.strictEqual(chainNode?.walletFile, path.join(".satrail", "wallet.json"))
    assert.strictEqual(chainNode?.source.at, "bitcoin node at http://127.0.0.1:8332")
    assert.sameMembers([...Check.secretsIn(chainNode)], ["not to be told"])
  })
})
