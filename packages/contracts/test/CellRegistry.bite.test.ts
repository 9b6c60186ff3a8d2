import type { Registry } from "@satrail/core/accounts/Cells"
import * as Memory from "@satrail/memory/CellRegistry"
import { Effect, Layer, Option } from "effect"
import { CellRegistry, promises } from "../src/CellRegistry.ts"
import { bites } from "./mutants.ts"

const spoiled = (change: (registry: Registry) => Partial<Registry>) =>
  Layer.sync(CellRegistry, () => {
    const registry = Memory.make()
    return { ...registry, ...change(registry) }
  })

const sound = spoiled(() => ({}))

bites("Cell registry", promises, sound, {
  "one that gives to everybody": [
    spoiled(({ claim }) => ({ claim: (...asked) => Effect.as(claim(...asked), []) })),
    [
      "a handle is the first cell's that claims it, also for its companies to come",
      "of many handles those of others are refused",
      "one that was handed over is for that company alone"
    ]
  ],
  "one that refuses all of them for one": [
    spoiled(({ claim }) => ({
      claim: (handles, ...by) => Effect.map(claim(handles, ...by), (taken) => (taken.length > 0 ? handles : []))
    })),
    ["of many handles those of others are refused"]
  ],
  "one that looks at no company": [
    spoiled(({ claim }) => ({ claim: (handles, letter) => claim(handles, letter, null) })),
    [
      "one that was handed over is for that company alone",
      "until the company has it, and no longer, it can be handed to another one instead"
    ]
  ],
  "one that says that it is done": [
    spoiled(({ handOver }) => ({ handOver: (...asked) => Effect.as(handOver(...asked), true) })),
    [
      "only the cell that has it hands it over",
      "until the company has it, and no longer, it can be handed to another one instead",
      "it goes on from cell to cell, and never back"
    ]
  ],
  "one that knows nobody": [
    spoiled(() => ({ holder: () => Effect.succeed(Option.none()) })),
    ["what nobody has is nobody's, and somebody's as soon as it is claimed", "one that was handed over is for that company alone"]
  ],
  "one that forgets who had it": [
    spoiled(({ claim, handOver }) => {
      const given = new Set<string>()
      return {
        handOver: (handle, ...to) => Effect.tap(handOver(handle, ...to), () => Effect.sync(() => given.add(handle))),
        claim: (handles, ...by) => Effect.map(claim(handles, ...by), (taken) => [...taken, ...handles.filter((one) => given.has(one))])
      }
    }),
    ["to claim what it had and handed over is no news to a cell"]
  ]
})
