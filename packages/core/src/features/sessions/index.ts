import * as Traced from "../../base/Traced.ts"
import * as Feature from "../../ledger/Feature.ts"
import * as Session from "./Session.ts"
import * as Sessions from "./Sessions.ts"

/** Sign-ins of people with a key or a token. */
export const sessions = Feature.make({
  name: "sessions",
  nouns: [Session.noun],
  lives: [Session.life],
  changes: Feature.changes<Session.SessionBegun | Session.SessionBegunAgain | Session.SessionSteppedUp | Session.SessionEnded>(),
  limits: [
    ["hours of a session of the console", `${Session.lifeMillis / 3_600_000}`],
    ["sessions of the console for one key or token: the next sign-in ends the oldest", `${Session.slots}`],
    ["minutes in which a session moves money after its key was shown again", `${Session.stepUpMillis / 60_000}`]
  ],
  layer: Traced.over(Sessions.Sessions, Sessions.layer)
})
