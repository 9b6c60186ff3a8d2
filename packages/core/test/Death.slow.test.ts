import { describe } from "@effect/vitest"
import { holds } from "./Death.ts"
import { fates } from "./Mortal.ts"

describe("C10: whichever way a process dies or gets no answer, it ends as if nothing had been:", () => {
  holds(() => fates)
})
