import { assert, describe, it } from "@effect/vitest"
import * as Network from "@satrail/bitcoin/Network"
import { apiKey } from "@satrail/contracts/Rows"
import { Effect, Redacted } from "effect"
import * as ApiKey from "../src/accounts/ApiKey.ts"
import { Entropy } from "../src/base/Entropy.ts"
import * as SecretHash from "../src/base/SecretHash.ts"

const row = (
  { id, secretHash }: { readonly id: string; readonly secretHash: SecretHash.SecretHash },
  fields: Partial<ApiKey.ApiKey> = {}
): ApiKey.ApiKey => apiKey({ id, secretHash, ...fields })
const generate = (network: Network.Network = "regtest") =>
  Effect.map(Entropy, (entropy) => ApiKey.generate(network, entropy))

describe("An API key", () => {
  it.effect("API key: parsing a new key's text returns its id and secret", () =>
    Effect.gen(function* () {
      for (const network of Network.all) {
        for (let i = 0; i < 100; i++) {
          const generated = yield* generate(network)
          const parsed = ApiKey.parse(Redacted.value(generated.text))
          assert.strictEqual(parsed?.network, network)
          assert.strictEqual(parsed?.id, generated.id)
          assert.isTrue(parsed !== undefined && ApiKey.matches(row(generated), parsed.secret))
        }
      }
    })
  )

  it("API key: a key made from any random bytes can be parsed", () => {
    for (const byte of [0, 1, 57, 58, 231]) {
      const generated = ApiKey.generate("regtest", (size) => new Uint8Array(size).fill(byte))
      const parsed = ApiKey.parse(Redacted.value(generated.text))
      assert.isTrue(
        parsed !== undefined && parsed.id === generated.id && ApiKey.matches(row(generated), parsed.secret),
        `every byte is ${byte}`
      )
    }
  })

  it("API key: random bytes that would bias the letters of the id are replaced", () => {
    let next = 0
    const counting = (size: number) =>
      size === 12 ? Uint8Array.from({ length: size }, () => next++ % 256) : new Uint8Array(size)
    const letters = new Map<string, number>()
    for (let i = 0; i < 58 * 40; i++)
      for (const letter of ApiKey.generate("regtest", counting).id)
        letters.set(letter, (letters.get(letter) ?? 0) + 1)
    assert.strictEqual(letters.size, 58)
    // Each of the 58 letters should appear about 480 times in 27,840. If bytes above 231 were accepted, the
    // first 24 letters would appear 544 times each.
    for (const [letter, count] of letters)
      assert.isTrue(count >= 460 && count <= 500, `${letter} appeared ${count} times`)
  })

  it.effect("C57: API key: a key matches only its own secret, and only the secret's hash is stored", () =>
    Effect.gen(function* () {
      const [one, other] = [yield* generate(), yield* generate()]
      const secret = ApiKey.parse(Redacted.value(one.text))?.secret ?? ""
      const apiKey = row(one)
      assert.isFalse(ApiKey.matches(row(other), secret))
      for (const wrong of ["", secret.slice(1), `${secret}1`, secret.toLowerCase(), one.secretHash])
        assert.isFalse(ApiKey.matches(apiKey, wrong))
      assert.isFalse(ApiKey.matches({ ...apiKey, secretHash: SecretHash.make("") }, secret))
      assert.notInclude(JSON.stringify(apiKey), secret)
      // @ts-expect-error -- the secret itself instead of its hash
      assert.isFalse(ApiKey.matches({ ...apiKey, secretHash: secret }, secret))
    })
  )

  it.effect("C56: API key: a key's secret is not written to logs", () =>
    Effect.gen(function* () {
      const generated = yield* generate()
      const secret = ApiKey.parse(Redacted.value(generated.text))?.secret ?? "nothing"
      for (const shown of [String(generated.text), JSON.stringify(generated), `${generated.text}`])
        assert.notInclude(shown, secret)
    })
  )

  it("API key: malformed text is rejected", () => {
    const id = "123456789ABC"
    const secret = "1".repeat(43)
    assert.isDefined(ApiKey.parse(`sr_regtest_${id}_${secret}`))
    for (const text of [
      "",
      "Bearer x",
      `sr_regtest_${id}`,
      `sr_regtest_${id}_`,
      `sk_regtest_${id}_${secret}`,
      `sr_regtest_${id}0_${secret}`,
      `sr_regtest_12345678O0Il_${secret}`,
      `sr_regtest_${id}_${"1".repeat(31)}`,
      `sr_regtest_${id}_${"1".repeat(45)}`,
      `sr_REGTEST_${id}_${secret}`,
      ` sr_regtest_${id}_${secret}`,
      `sr_regtest_${id}_${secret}\n`,
      `sr_regtest_${id}_${secret}_${secret}`
    ])
      assert.isUndefined(ApiKey.parse(text), JSON.stringify(text))
  })

  it.effect("API key: a key stops working when it expires, and immediately when it is revoked", () =>
    Effect.gen(function* () {
      const apiKey = row(yield* generate(), { expiresAtMillis: 1000 })
      assert.isUndefined(ApiKey.refusal(apiKey, 999))
      assert.strictEqual(ApiKey.refusal(apiKey, 1000)?.reason, "expired")
      assert.strictEqual(ApiKey.refusal({ ...apiKey, revokedAtMillis: 5000 }, 0)?.reason, "revoked")
      assert.isUndefined(ApiKey.refusal({ ...apiKey, expiresAtMillis: null }, Number.MAX_SAFE_INTEGER))
    })
  )

  it.effect("API key: a key's scopes decide which requests it allows, and `admin` allows all of them", () =>
    Effect.gen(function* () {
      const generated = yield* generate()
      for (const scope of ApiKey.Scope.literals) {
        for (const needed of ApiKey.Scope.literals) {
          assert.strictEqual(
            ApiKey.allows(row(generated, { scopes: [scope] }), needed),
            scope === needed || scope === "admin",
            `${scope} for ${needed}`
          )
        }
      }
      assert.isFalse(ApiKey.allows(row(generated, { scopes: [] }), "read"))
    })
  )
})
