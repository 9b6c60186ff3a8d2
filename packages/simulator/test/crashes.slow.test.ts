import { isInTurn } from "@satrail/testing/Turn"
import { crashes, some } from "./crashes.ts"

// The faults that crashSample.slow.test.ts does not cover.
crashes(
  "a process that dies or gets no response, at every crash point, both before and after the call",
  (number, position) => {
    const tried = some(number, position)
    return position.fates.filter((fate, index) => !tried.includes(fate) && isInTurn(number + index))
  }
)
