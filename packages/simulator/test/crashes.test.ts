import * as Crash from "../src/Crash.ts"
import { crashes } from "./crashes.ts"

// One fate a call that does something, each in its turn, and a third of the others; crashes.slow.test.ts has every fate meet every call.
crashes("a process that dies or gets no response", (position, call) => {
  // What happens again every four calls meets another fate each time.
  const turn = (position + Math.floor(position / 4)) % 4
  return Crash.acts(call) || position % 3 === 0 ? Crash.fates.slice(turn, turn + 1) : []
})
