import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Crash from "../src/Crash.ts"
import { stories } from "../src/CrashStories.ts"
import type { Fate } from "../src/world/Fault.ts"
import * as Store from "../src/world/Store.ts"

/** A few: one fate a call that does something, each in its turn, and one in twelve of the others. */
export const some = (number: number, { call }: Crash.Position): ReadonlyArray<Fate> => {
  // What happens again every four calls meets another fate each time.
  const turn = (number + Math.floor(number / 4)) % 4
  return Crash.acts(call) || number % 12 === 0 ? Crash.fates.slice(turn, turn + 1) : []
}

/** Tells each story once for each of its crash positions and each fate that it is to meet there. */
export const crashes = (title: string, fatesOf: (number: number, position: Crash.Position) => ReadonlyArray<Fate>): void => {
  describe(`${title}`, () => {
    let store: Store.Store
    beforeAll(async () => {
      store = await Store.open("memory")
    })
    afterAll(() => store.close())

    for (const [title, story] of Object.entries(stories)) {
      it(`C10: crash: ${title}`, async () => {
        const { positions, broken } = await Crash.everywhere(story, store, fatesOf)
        assert.isUndefined(broken)
        assert.isAbove(positions, 5)
      })
    }
  })
}
