import * as Crash from "../src/Crash.ts"
import { crashes } from "./crashes.ts"

crashes("a process that dies or gets no response at any call, in every way", (_, call) => Crash.fatesOf(call))
