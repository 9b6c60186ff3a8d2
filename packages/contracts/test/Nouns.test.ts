import { assert, it } from "@effect/vitest"
import * as Nouns from "@satrail/core/service/Nouns"
import * as Contract from "../src/Nouns.ts"

/** Written by Changes and held to nothing here, and why. */
const excepted: Readonly<Record<string, string>> = {
  api_keys: "issuing one is a program of each store: JournalKeys has what it promises",
  refunds: "creating one is a move of its deposit: its promises of the Journal have what it promises"
}

it("nouns: every kind of record that Changes write is held to its declaration", () => {
  const promises = Object.keys(Contract.money)
  const written = Nouns.all.flatMap((noun) => ("unique" in noun && excepted[noun.name] === undefined ? [noun.name] : []))
  assert.isAbove(written.length, 6)
  assert.deepStrictEqual(
    written.filter((name) => !promises.some((promise) => promise.startsWith(`${name}: created again`))),
    []
  )
})
