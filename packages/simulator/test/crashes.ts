import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Crash from "../src/Crash.ts"
import { stories } from "../src/CrashStories.ts"
import type { Fate } from "../src/world/Fault.ts"
import * as Store from "../src/world/Store.ts"

/** Picks a few faults: one in turn for each call that has an effect, and for every twelfth other call. */
export const some = (number: number, { call }: Crash.Position): ReadonlyArray<Fate> => {
  // Calls that repeat every four crash points get a different fault each time.
  const turn = (number + Math.floor(number / 4)) % 4
  return Crash.acts(call) || number % 12 === 0 ? Crash.fates.slice(turn, turn + 1) : []
}

/** Runs each scenario once for each of its crash points and each fault to inject there. */
export const crashes = (
  title: string,
  fatesOf: (number: number, position: Crash.Position) => ReadonlyArray<Fate>
): void => {
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
