import * as Crash from "../src/Crash.ts"
import { crashes } from "./crashes.ts"

crashes("C10: simulator: crashed or left without an answer in every way at any call, it ends as if nothing had been:", () => Crash.fates)
