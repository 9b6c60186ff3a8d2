import * as Id from "@satrail/core/base/Id"
import type { Change } from "@satrail/core/service/Changes"
import { complete, enqueue, type Job } from "@satrail/core/ledger/Change"
import * as Cursor from "@satrail/core/ledger/Cursor"
import type { Task } from "@satrail/core/ledger/Tasks"
import { Effect } from "effect"
import { promises } from "../src/Tasks.ts"
import { bites, sabotage } from "./bite.ts"

const lease = 30_000

/** One whose Journal loses something on its way. */
const losing = (lose: (change: Change) => Change) => sabotage({ commit: (commit) => (change) => commit(lose(change)) })

const jobsOf = ({ jobs = [] }: Change): ReadonlyArray<Job> => jobs

bites("Tasks", promises, {
  "one that hands out whatever there is": [
    sabotage({
      commit: (commit) => (change) =>
        commit({ ...change, jobs: jobsOf(change).map((job) => (job._tag === "Enqueue" ? { ...job, kind: "withdrawal" } : job)) }),
      tasks: ({ claim }) => ({ claim: (ask) => claim({ ...ask, kind: "withdrawal" }) })
    }),
    ["work is claimed by its kind"]
  ],
  "one that forgets what begins": [
    losing((change) => ({ ...change, jobs: jobsOf(change).filter(({ _tag }) => _tag !== "Enqueue") })),
    ["work is claimed by its kind", "a task is due from its withdrawal's request on"]
  ],
  "one that begins what there is anew": [
    losing((change) => ({ ...change, jobs: jobsOf(change).flatMap((job) => (job._tag === "Enqueue" ? [complete(job.id), job] : [job])) })),
    ["a task that is begun again stays as it is"]
  ],
  "one that forgets what ends": [
    losing((change) => ({ ...change, jobs: jobsOf(change).filter(({ _tag }) => _tag !== "Complete") })),
    [
      "a task that anybody ends is gone",
      "what is fenced keeps its task and the claim, unless it ends it",
      "the task of a withdrawal that ended is gone, however it ended"
    ]
  ],
  "one that has room for one job of a kind": [
    losing((change) => ({
      ...change,
      jobs: [
        ...jobsOf(change)
          .filter(({ _tag }) => _tag === "Complete")
          .slice(0, 1),
        ...jobsOf(change)
          .filter(({ _tag }) => _tag === "Enqueue")
          .slice(0, 1)
      ]
    })),
    ["one Change enqueues and completes several jobs"]
  ],
  "one that hands out what who enqueued it has claimed": [
    losing((change) => ({
      ...change,
      jobs: jobsOf(change).map((job) => (job._tag === "Enqueue" && job.claimedBy !== undefined ? enqueue({ ...job, dueAtMillis: 0 }) : job))
    })),
    ["a task that is claimed by who enqueues it is handed to nobody else before that claim has ended"]
  ],
  "one that knows no claim before the first that it hands out": [
    losing((change) => ({
      ...change,
      jobs: jobsOf(change).map(({ claimedBy: _, ...job }: Job & { readonly claimedBy?: string }): Job => job)
    })),
    ["a task that is claimed by who enqueues it is handed to nobody else before that claim has ended"]
  ],
  "one that takes over from whoever holds a task": [
    sabotage({
      tasks: ({ takeOver }) => ({
        takeOver: (ask) => Effect.andThen(takeOver(ask), takeOver({ ...ask, nowMillis: ask.nowMillis + 20, aliveMillis: 0 }))
      })
    }),
    ["C19: a task is taken over from a process that is no longer alive, before its claim ends, and from no other"]
  ],
  "one that ends whatever is fenced": [
    losing((change) => (change.fence === undefined ? change : { ...change, jobs: [...jobsOf(change), complete(change.fence.taskId)] })),
    ["what is fenced keeps its task and the claim, unless it ends it"]
  ],
  "one that moves a cursor for anybody": [
    sabotage({
      commit: (commit) => (change) =>
        Effect.tap(commit(change), () =>
          change.cursor === undefined ? Effect.void : commit(Cursor.moved(change.cursor, Id.nil, change.atMillis))
        )
    }),
    ["who has lost a task does not move its cursor, not even with what was applied before"]
  ],
  "one that prolongs nothing": [
    sabotage({ tasks: () => ({ postpone: () => Effect.succeed(true) }) }),
    ["a claim is prolonged by its holder, under the same token"]
  ],
  "one that holds nothing": [
    sabotage({ tasks: ({ claim }) => ({ claim: (ask) => claim({ ...ask, leaseMillis: 0 }) }) }),
    [
      "C19: a task has one holder at a time",
      "C19: many workers at once: each task goes to one of them",
      "a claim that is not given back ends, and the next one has a higher token"
    ]
  ],
  "one that looks first and claims afterwards": [
    sabotage({
      tasks: ({ claim }) => {
        let seen: ReadonlyArray<Task> = []
        return {
          claim: Effect.fnUntraced(function* (ask) {
            const claimed = yield* claim(ask)
            if (claimed.length > 0) seen = claimed
            yield* Effect.yieldNow
            return claimed.length > 0 ? claimed : seen
          })
        }
      }
    }),
    ["C19: many workers at once: each task goes to one of them", "C19: a task has one holder at a time"]
  ],
  "one that never ends a claim": [
    sabotage({ tasks: ({ claim }) => ({ claim: (ask) => claim({ ...ask, leaseMillis: ask.leaseMillis * 1000 }) }) }),
    ["a claim that is not given back ends, and the next one has a higher token"]
  ],
  "one that gives every holder the same token": [
    sabotage({
      tasks: ({ claim }) => ({ claim: (ask) => Effect.map(claim(ask), (tasks) => tasks.map((task) => ({ ...task, token: 1 }))) })
    }),
    ["a claim that is not given back ends, and the next one has a higher token", "a task that was given back is due when its holder said"]
  ],
  "one that takes a task back from anybody": [
    sabotage({ tasks: ({ postpone }) => ({ postpone: (task, untilMillis) => Effect.as(postpone(task, untilMillis), true) }) }),
    ["who has lost a task cannot give it back", "the task of a withdrawal that ended is gone, however it ended"]
  ],
  "one that hands out what was given back at once": [
    sabotage({ tasks: ({ postpone }) => ({ postpone: (task) => postpone(task, 0) }) }),
    ["a task that was given back is due when its holder said"]
  ],
  "one that hands out what is not due": [
    sabotage({ tasks: ({ claim }) => ({ claim: (ask) => claim({ ...ask, nowMillis: ask.nowMillis + 1000 }) }) }),
    ["a task is due from its withdrawal's request on", "the longest due come first, and no more than were asked for"]
  ],
  "one that hands out the newest first": [
    sabotage({ tasks: ({ claim }) => ({ claim: (ask) => Effect.map(claim(ask), (tasks) => tasks.toReversed()) }) }),
    ["the longest due come first, and no more than were asked for"]
  ],
  "one that hands out all there is": [
    sabotage({ tasks: ({ claim }) => ({ claim: (ask) => claim({ ...ask, limit: 1000 }) }) }),
    ["the longest due come first, and no more than were asked for"]
  ],
  "one that does not count": [
    sabotage({
      tasks: ({ claim }) => ({ claim: (ask) => Effect.map(claim(ask), (tasks) => tasks.map((task) => ({ ...task, attempts: 1 }))) })
    }),
    ["a task counts how often it was claimed"]
  ],
  "one whose Journal does not know who holds a task": [
    sabotage({
      commit:
        (commit) =>
        ({ fence: _, ...change }) =>
          commit(change)
    }),
    ["a claim that is not given back ends, and the next one has a higher token"]
  ],
  "one in which nobody has a turn": [
    sabotage({ tasks: ({ claim }) => ({ claimInTurn: (ask) => claim(ask) }) }),
    [
      "in turn, every company has so many, the longest due of each",
      "in turn, the one after the last is the first",
      "in turn, the lanes of a company have a turn each, and what is full is passed over"
    ]
  ],
  "one that hands out in turn what is not due": [
    sabotage({ tasks: ({ claimInTurn }) => ({ claimInTurn: (ask) => claimInTurn({ ...ask, nowMillis: ask.nowMillis + lease }) }) }),
    ["in turn, what is not due is not claimed, and no more than were asked for", "C19: a task has one holder at a time, in turn or not"]
  ],
  "one that lets go of what it hands out in turn": [
    sabotage({
      tasks: ({ claimInTurn, postpone }) => ({
        claimInTurn: (ask) => Effect.tap(claimInTurn(ask), (tasks) => Effect.forEach(tasks, (task) => postpone(task, 0)))
      })
    }),
    ["C19: a task has one holder at a time, in turn or not", "C19: many workers at once, in turn: each task goes to one of them"]
  ],
  "one that hands out all whose turn it is": [
    sabotage({ tasks: ({ claimInTurn }) => ({ claimInTurn: (ask) => claimInTurn({ ...ask, limit: 1000 }) }) }),
    ["in turn, what is not due is not claimed, and no more than were asked for"]
  ],
  "one that always begins with the first": [
    sabotage({ tasks: ({ claimInTurn }) => ({ claimInTurn: (ask) => claimInTurn({ ...ask, after: null }) }) }),
    ["in turn, the one after the last is the first"]
  ],
  "one that knows no full company": [
    sabotage({
      tasks: ({ claimInTurn }) => ({ claimInTurn: (ask) => claimInTurn({ ...ask, full: { ...ask.full, companies: [] } }) })
    }),
    ["in turn, the lanes of a company have a turn each, and what is full is passed over"]
  ],
  "one that knows no full lane": [
    sabotage({ tasks: ({ claimInTurn }) => ({ claimInTurn: (ask) => claimInTurn({ ...ask, full: { ...ask.full, lanes: [] } }) }) }),
    ["in turn, the lanes of a company have a turn each, and what is full is passed over"]
  ],
  "one that gives back what it was": [
    sabotage({ tasks: ({ postpone }) => ({ postpone: (task, untilMillis) => postpone(task, untilMillis) }) }),
    [
      "a task that is given back as another kind of work is that",
      "in turn, the lanes of a company have a turn each, and what is full is passed over"
    ]
  ]
})
