import * as Session from "@satrail/features/sessions/core/Session"
import { subjectOf } from "../../Subject.ts"
import * as Feature from "../Feature.ts"
import { begin, going } from "./Fixtures.ts"

export const sessions = Feature.make({
  subjects: { console_sessions: subjectOf(Session.noun, begin, going) }
})
