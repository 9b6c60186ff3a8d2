import { describe } from "@effect/vitest"
import { holds } from "./Death.ts"
import { fates } from "./Mortal.ts"

describe("a process that dies or gets no answer, in every way", () => {
  holds(() => fates)
})
