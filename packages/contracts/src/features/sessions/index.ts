import * as Session from "@satrail/core/features/sessions/Session"
import { subjectOf } from "../../Subject.ts"
import * as Feature from "../Feature.ts"
import { begin, going } from "./Fixtures.ts"

export const sessions = Feature.make({ subjects: { console_sessions: subjectOf(Session.noun, begin, going) } })
