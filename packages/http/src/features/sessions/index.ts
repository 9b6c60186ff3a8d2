import { Layer } from "effect"
import { SignedIn } from "../../api/SignedIn.ts"
import * as Feature from "../Feature.ts"
import * as ConsoleSession from "./ConsoleSession.ts"
import * as Session from "./Session.ts"

export const sessions = Feature.make({ provides: [Layer.effect(SignedIn, Session.make)], console: [ConsoleSession.routes] })
