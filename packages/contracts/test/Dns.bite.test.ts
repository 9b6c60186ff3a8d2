import { Dns, type Validated } from "@satrail/core/base/Dns"
import { Effect } from "effect"
import { promises } from "../src/nodes/Dns.ts"
import { bites, sabotage } from "./sandbox.ts"

type Asking = NonNullable<Dns["Service"]["validated"]>

const spoiled = (change: (validated: Asking) => Asking) =>
  sabotage(Dns, ({ validated }) => (validated === undefined ? {} : { validated: change(validated) }))

const told = (change: (said: Validated) => Validated) =>
  spoiled((validated) => (name) => Effect.map(validated(name), change))

bites("Dns", promises, {
  "a resolver that reports every response as signed": [
    told((said) => ({ ...said, isSigned: true })),
    [
      "signed responses are reported as signed, and unsigned ones as unsigned",
      "a replaced record is returned with its new value"
    ]
  ],
  "a resolver that reports every response as unsigned": [
    told((said) => ({ ...said, isSigned: false })),
    ["signed responses are reported as signed, and unsigned ones as unsigned"]
  ],
  "a resolver that reports an outage as an absent record": [
    spoiled(
      (validated) => (name) =>
        Effect.orElseSucceed(validated(name), (): Validated => ({ texts: [], isSigned: true }))
    ),
    ["a failed lookup is an error and is never mistaken for a missing record"]
  ],
  "a resolver that joins separate records": [
    told((said) => ({ ...said, texts: said.texts.length === 0 ? [] : [said.texts.join("")] })),
    ["a name with two records returns both"]
  ],
  "a resolver that returns only the first record": [
    told((said) => ({ ...said, texts: said.texts.slice(0, 1) })),
    ["a name with two records returns both"]
  ],
  "a resolver that truncates a record to 255 bytes": [
    told((said) => ({ ...said, texts: said.texts.map((text) => text.slice(0, 255)) })),
    ["a record that consists of several strings is returned as one string"]
  ],
  "a resolver that caches records": [
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
    ["a replaced record is returned with its new value"]
  ],
  "a resolver that matches the end of a name": [
    spoiled((validated) => (name) => validated(name.startsWith("xa") ? name.slice(1) : name)),
    ["a record is returned for its own name only"]
  ]
})
