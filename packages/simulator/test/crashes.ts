import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Crash from "../src/Crash.ts"
import { stories } from "../src/CrashStories.ts"
import type { Fate } from "../src/world/Fault.ts"
import * as Store from "../src/world/Store.ts"

/** Tells each story once for each of its crash positions and each fate that it is to meet there. */
export const crashes = (title: string, fatesOf: (position: number, call: string) => ReadonlyArray<Fate>): void => {
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
