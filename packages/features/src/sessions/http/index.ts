import { Layer } from "effect"
import { SignedIn } from "@satrail/http/api/SignedIn"
import * as Feature from "@satrail/http/api/Feature"
import * as ConsoleSession from "./ConsoleSession.ts"
import * as Session from "./Session.ts"

export const sessions = Feature.make({
  provides: [Layer.effect(SignedIn, Session.make)],
  console: [ConsoleSession.routes]
})
