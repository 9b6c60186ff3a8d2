import { Names, type Validated } from "@satrail/core/base/Names"
import { Effect } from "effect"
import { promises } from "../src/Names.ts"
import { bites, sabotage } from "./sandbox.ts"

type Asking = NonNullable<Names["Service"]["validated"]>

const spoiled = (change: (validated: Asking) => Asking) =>
  sabotage(Names, ({ validated }) => (validated === undefined ? {} : { validated: change(validated) }))

const told = (change: (said: Validated) => Validated) => spoiled((validated) => (name) => Effect.map(validated(name), change))

bites("Names", promises, {
  "one that believes whatever has come": [
    told((said) => ({ ...said, isSigned: true })),
    ["what is signed is said to be, and what is not signed is not", "a record that was exchanged is the new one"]
  ],
  "one that never sees a signature": [
    told((said) => ({ ...said, isSigned: false })),
    ["what is signed is said to be, and what is not signed is not"]
  ],
  "one that takes no answer for none": [
    spoiled((validated) => (name) => Effect.orElseSucceed(validated(name), (): Validated => ({ texts: [], isSigned: true }))),
    ["no answer is not one that there is no record"]
  ],
  "one that puts records together": [
    told((said) => ({ ...said, texts: said.texts.length === 0 ? [] : [said.texts.join("")] })),
    ["two records are two"]
  ],
  "one that takes the first record": [told((said) => ({ ...said, texts: said.texts.slice(0, 1) })), ["two records are two"]],
  "one that cuts a record at 255 bytes": [
    told((said) => ({ ...said, texts: said.texts.map((text) => text.slice(0, 255)) })),
    ["a record of several strings is whole"]
  ],
  "one that remembers": [
    spoiled((validated) => {
      const before = new Map<string, Validated>()
      return (name) =>
        Effect.suspend(() => {
          const known = before.get(name)
          return known === undefined
            ? Effect.tap(validated(name), (said) => Effect.sync(() => before.set(name, said)))
            : Effect.succeed(known)
        })
    }),
    ["a record that was exchanged is the new one"]
  ],
  "one that looks at the end of a name": [
    spoiled((validated) => (name) => validated(name.startsWith("xa") ? name.slice(1) : name)),
    ["a record is one name's"]
  ]
})
