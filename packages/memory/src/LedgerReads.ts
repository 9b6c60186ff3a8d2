import * as Msat from "@satrail/bitcoin/Msat"
import type { Account } from "@satrail/core/ledger/Change"
import type { LedgerReads } from "@satrail/core/ledger/LedgerReads"
import * as Tally from "@satrail/core/ledger/Tally"
import { HashMap, Option } from "effect"
import * as Answer from "./Answer.ts"
import * as Books from "./Books.ts"
import * as Events from "./Events.ts"
import type { Read } from "./Reading.ts"
import * as State from "./State.ts"

const trialBalance = (state: State.State): Readonly<Record<Account, Msat.Msat>> => {
  const sums: Record<Account, Msat.Msat> = Tally.byAccount(() => Msat.zero)
  for (const list of HashMap.values(state.entries)) {
    for (const { from, to, amount } of State.items(list)) {
      sums[from] = Msat.make(sums[from] - amount)
      sums[to] = Msat.make(sums[to] + amount)
    }
  }
  return sums
}

export const make = (read: Read): LedgerReads["Service"] => ({
  balance: (companyId) => read((now) => State.balanceOf(now, companyId)),
  answer: (owner, key) =>
    read((now) =>
      Option.map(
        HashMap.get(now.answers, State.answerAddress(owner, key)),
        ({ fingerprint, meaning, answer }) => ({
          fingerprint,
          meaning,
          answer
        })
      )
    ),
  expiredAnswers: (atMillis) => read((now) => Answer.expired(now, atMillis).length > 0),
  cursor: (source) => read((now) => HashMap.get(now.cursors, source)),
  events: (after, limit) => read((now) => Events.after(now, null, after, limit)),
  lastEvent: read((now) => BigInt(Events.lastId(now))),
  backlog: (query) => read((now) => Books.backlog(now, query)),
  job: (companyId, id) => read((now) => Option.fromNullishOr(Books.job(now, companyId, id))),
  waiting: (overdueBeforeMillis) => read((now) => Books.waiting(now, overdueBeforeMillis)),
  trialBalance: read(trialBalance),
  tally: () => read(Books.tally)
})
