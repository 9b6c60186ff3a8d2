import { assert, it } from "@effect/vitest"
import * as Nouns from "@satrail/service/core/Nouns"
import * as Contract from "../src/Nouns.ts"

/** Record types that Changes write but this contract does not test, each with the reason. */
const excepted: Readonly<Record<string, string>> = {
  api_keys: "each store issues keys with its own program, which JournalKeys tests",
  refunds:
    "a refund is created together with a transition of its deposit, which the feature's Journal guarantees cover"
}

it("nouns: every record type that Changes write is tested against its declaration", () => {
  const promises = Object.keys(Contract.money)
  const written = Nouns.all.flatMap((noun) =>
    "unique" in noun && excepted[noun.name] === undefined ? [noun.name] : []
  )
  assert.isAbove(written.length, 6)
  assert.deepStrictEqual(
    written.filter(
      (name) => !promises.some((promise) => promise.startsWith(`${name}: creating the same record again`))
    ),
    []
  )
})
