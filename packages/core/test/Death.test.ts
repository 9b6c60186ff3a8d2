import { describe } from "@effect/vitest"
import { holds } from "./Death.ts"
import { fates } from "./Mortal.ts"

// One fate a call, each in its turn; Death.slow.test.ts has every fate meet every call.
describe("a process that dies or gets no answer", () => {
  holds((call) => fates.slice(call % fates.length).slice(0, 1))
})
