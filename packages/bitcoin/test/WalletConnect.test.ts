import { assert, it } from "@effect/vitest"
import { Option, Redacted, Result } from "effect"
import * as Nostr from "../src/Nostr.ts"
import * as WalletConnect from "../src/WalletConnect.ts"

const [app, wallet] = [Redacted.make("11".repeat(32)), Redacted.make("22".repeat(32))]
const walletKey = Nostr.publicKeyOf(wallet)
const sealing = { from: app, to: walletKey, atSeconds: 1_700_000_000, nonce: new Uint8Array(32).fill(7) }

// The example in NIP-47.
const example =
  "nostr+walletconnect://b889ff5b1513b641e2a139f661a661364979c5beee91842f8f0ef42ab558e9d4?relay=wss%3A%2F%2Frelay.damus.io&secret=71a8c14c1407c113601079c4302dab36460f0ccd0ad506f1f2dc73b5100e4f3c"

it("NIP-47: the specification's connection string is parsed and serialized unchanged", () => {
  const connection = Result.getOrThrow(WalletConnect.parse(Redacted.make(example)))
  assert.deepStrictEqual(connection.relays, ["wss://relay.damus.io"])
  assert.strictEqual(connection.walletKey, "b889ff5b1513b641e2a139f661a661364979c5beee91842f8f0ef42ab558e9d4")
  assert.strictEqual(
    Redacted.value(connection.secretKey),
    "71a8c14c1407c113601079c4302dab36460f0ccd0ad506f1f2dc73b5100e4f3c"
  )
  assert.strictEqual(Redacted.value(WalletConnect.format(connection)), example)
  assert.notInclude(JSON.stringify(connection), "71a8c14c")
})

it("NIP-47: a value that is not a connection string is rejected, and the error contains no secret", () => {
  const secret = "71a8c14c1407c113601079c4302dab36460f0ccd0ad506f1f2dc73b5100e4f3c"
  for (const wrong of [
    "",
    example.replace("walletconnect", "wallet"),
    example.replace("b889", "zz89"),
    example.replace("wss", "ws"),
    example.replace("relay=", "relais="),
    example.replace("wss%3A%2F%2F", "wss%3A%2F%2Fuser%40"),
    example.replace("secret=71", "secret="),
    example.replace(secret, "00".repeat(32))
  ]) {
    const refused = WalletConnect.parse(Redacted.make(wrong))
    assert.isTrue(Result.isFailure(refused), wrong)
    if (Result.isFailure(refused)) assert.notInclude(refused.failure.message, secret.slice(2))
  }
})

it("NIP-47: a request can only be read by the wallet to which it is addressed", () => {
  const content = { method: "get_info", params: {} }
  const event = WalletConnect.request(content, sealing, 1_700_000_060) ?? assert.fail("no event")
  assert.isTrue(Nostr.isGenuine(event))
  assert.deepStrictEqual(WalletConnect.open(event, wallet, WalletConnect.Request), Option.some(content))
  assert.deepStrictEqual(
    WalletConnect.open(event, Redacted.make("33".repeat(32)), WalletConnect.Request),
    Option.none()
  )
  assert.strictEqual(WalletConnect.tagOf(event, "p"), walletKey)
  assert.strictEqual(WalletConnect.expirationOf(event), 1_700_000_060)
  assert.isUndefined(WalletConnect.request(content, { ...sealing, to: "ff".repeat(32) }))
})

it("NIP-47: a response names its request, and the app that sent the request can read the response", () => {
  const event = WalletConnect.request({ method: "get_info" }, sealing) ?? assert.fail("no event")
  const content = { result_type: "get_info", error: null, result: { network: "regtest" } }
  const answer =
    WalletConnect.response(content, event, { ...sealing, from: wallet }) ?? assert.fail("no answer")
  assert.deepStrictEqual(
    [answer.kind, WalletConnect.tagOf(answer, "e"), WalletConnect.tagOf(answer, "p")],
    [23195, event.id, event.pubkey]
  )
  assert.deepStrictEqual(WalletConnect.open(answer, app, WalletConnect.Response), Option.some(content))
})
