import * as Traced from "@satrail/core/base/Traced"
import * as Feature from "@satrail/core/ledger/Feature"
import * as Session from "./Session.ts"
import * as Sessions from "./Sessions.ts"

/** Sign-in sessions of users with a key, token or passkey. */
export const sessions = Feature.make({
  name: "sessions",
  nouns: [Session.noun],
  lives: [Session.life],
  changes: Feature.changes<
    Session.SessionBegun | Session.SessionBegunAgain | Session.SessionSteppedUp | Session.SessionEnded
  >(),
  limits: [
    ["lifetime of a console session, hours", `${Session.lifeMillis / 3_600_000}`],
    ["console sessions per person, key or token (the next sign-in ends the oldest)", `${Session.slots}`],
    [
      "time for which a re-entered key permits moving money in the console, minutes",
      `${Session.stepUpMillis / 60_000}`
    ]
  ],
  layer: Traced.over(Sessions.Sessions, Sessions.layer)
})
