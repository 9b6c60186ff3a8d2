import * as Id from "@satrail/core/base/Id"
import type { Change } from "@satrail/core/service/Changes"
import { complete, enqueue, type Job } from "@satrail/core/ledger/Change"
import * as Cursor from "@satrail/core/ledger/Cursor"
import type { Task } from "@satrail/core/ledger/Tasks"
import { Effect } from "effect"
import { promises } from "../src/journal/Tasks.ts"
import { bites, sabotage } from "./bite.ts"

const lease = 30_000

/** A mutant whose Journal omits a part of each Change. */
const losing = (lose: (change: Change) => Change) =>
  sabotage({ commit: (commit) => (change) => commit(lose(change)) })

const jobsOf = ({ jobs = [] }: Change): ReadonlyArray<Job> => jobs

bites("Tasks", promises, {
  "a store that ignores claims": [
    sabotage({
      commit: (commit) => (change) =>
        commit({
          ...change,
          jobs: jobsOf(change).map((job) => (job._tag === "Enqueue" ? { ...job, kind: "withdrawal" } : job))
        }),
      tasks: ({ claim }) => ({ claim: (ask) => claim({ ...ask, kind: "withdrawal" }) })
    }),
    ["tasks are claimed by kind"]
  ],
  "a store that enqueues nothing": [
    losing((change) => ({ ...change, jobs: jobsOf(change).filter(({ _tag }) => _tag !== "Enqueue") })),
    ["tasks are claimed by kind", "a withdrawal's task is due at the time of the request"]
  ],
  "a store that restarts existing tasks": [
    losing((change) => ({
      ...change,
      jobs: jobsOf(change).flatMap((job) => (job._tag === "Enqueue" ? [complete(job.id), job] : [job]))
    })),
    ["enqueuing a task again leaves it unchanged"]
  ],
  "a store that completes nothing": [
    losing((change) => ({ ...change, jobs: jobsOf(change).filter(({ _tag }) => _tag !== "Complete") })),
    [
      "a completed task is never claimed again, even if the task was completed without a claim",
      "a Change with a fencing token leaves its task and claim in place unless the Change completes the task",
      "an ended withdrawal has no task, whatever its outcome"
    ]
  ],
  "a store that keeps one job per kind": [
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
    ["one Change can enqueue and complete several jobs"]
  ],
  "a store that hands out tasks that were claimed when they were enqueued": [
    losing((change) => ({
      ...change,
      jobs: jobsOf(change).map((job) =>
        job._tag === "Enqueue" && job.claimedBy !== undefined ? enqueue({ ...job, dueAtMillis: 0 }) : job
      )
    })),
    ["a task claimed when it is enqueued goes to no other process before that claim ends"]
  ],
  "a store that ignores a claim made when the task is enqueued": [
    losing((change) => ({
      ...change,
      jobs: jobsOf(change).map(({ claimedBy: _, ...job }: Job & { readonly claimedBy?: string }): Job => job)
    })),
    ["a task claimed when it is enqueued goes to no other process before that claim ends"]
  ],
  "a store that takes tasks over from live processes": [
    sabotage({
      tasks: ({ takeOver }) => ({
        takeOver: (ask) =>
          Effect.andThen(takeOver(ask), takeOver({ ...ask, nowMillis: ask.nowMillis + 20, aliveMillis: 0 }))
      })
    }),
    ["C19: a task is taken over before its claim ends only from a process that is no longer alive"]
  ],
  "a store that completes the task of every fenced Change": [
    losing((change) =>
      change.fence === undefined
        ? change
        : { ...change, jobs: [...jobsOf(change), complete(change.fence.taskId)] }
    ),
    ["a Change with a fencing token leaves its task and claim in place unless the Change completes the task"]
  ],
  "a store that moves the cursor for any worker": [
    sabotage({
      commit: (commit) => (change) =>
        Effect.tap(commit(change), () =>
          change.cursor === undefined
            ? Effect.void
            : commit(Cursor.moved(change.cursor, Id.nil, change.atMillis))
        )
    }),
    ["a worker that has lost a task cannot move the cursor, not even by repeating an applied Change"]
  ],
  "a store that extends no claims": [
    sabotage({ tasks: () => ({ postpone: () => Effect.succeed(true) }) }),
    ["a worker can extend its claim under the same token"]
  ],
  "a store whose claims have no effect": [
    sabotage({ tasks: ({ claim }) => ({ claim: (ask) => claim({ ...ask, leaseMillis: 0 }) }) }),
    [
      "C19: a task is claimed by one worker at a time",
      "C19: concurrent workers never claim the same task",
      "a claim expires unless the task is returned, and the next claim has a higher token"
    ]
  ],
  "a store that reads tasks before it claims them": [
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
    ["C19: concurrent workers never claim the same task", "C19: a task is claimed by one worker at a time"]
  ],
  "a store whose claims never expire": [
    sabotage({
      tasks: ({ claim }) => ({ claim: (ask) => claim({ ...ask, leaseMillis: ask.leaseMillis * 1000 }) })
    }),
    ["a claim expires unless the task is returned, and the next claim has a higher token"]
  ],
  "a store that issues the same token to every holder": [
    sabotage({
      tasks: ({ claim }) => ({
        claim: (ask) => Effect.map(claim(ask), (tasks) => tasks.map((task) => ({ ...task, token: 1 })))
      })
    }),
    [
      "a claim expires unless the task is returned, and the next claim has a higher token",
      "a returned task is due at the time that the worker set"
    ]
  ],
  "a store that accepts a returned task from any worker": [
    sabotage({
      tasks: ({ postpone }) => ({
        postpone: (task, untilMillis) => Effect.as(postpone(task, untilMillis), true)
      })
    }),
    [
      "a worker that has lost a task cannot return it",
      "an ended withdrawal has no task, whatever its outcome"
    ]
  ],
  "a store that hands out a returned task immediately": [
    sabotage({ tasks: ({ postpone }) => ({ postpone: (task) => postpone(task, 0) }) }),
    ["a returned task is due at the time that the worker set"]
  ],
  "a store that hands out tasks before they are due": [
    sabotage({
      tasks: ({ claim }) => ({ claim: (ask) => claim({ ...ask, nowMillis: ask.nowMillis + 1000 }) })
    }),
    [
      "a withdrawal's task is due at the time of the request",
      "tasks are claimed longest overdue first, up to the limit"
    ]
  ],
  "a store that hands out the newest task first": [
    sabotage({
      tasks: ({ claim }) => ({ claim: (ask) => Effect.map(claim(ask), (tasks) => tasks.toReversed()) })
    }),
    ["tasks are claimed longest overdue first, up to the limit"]
  ],
  "a store that ignores the limit of a claim": [
    sabotage({ tasks: ({ claim }) => ({ claim: (ask) => claim({ ...ask, limit: 1000 }) }) }),
    ["tasks are claimed longest overdue first, up to the limit"]
  ],
  "a store that does not count claims": [
    sabotage({
      tasks: ({ claim }) => ({
        claim: (ask) => Effect.map(claim(ask), (tasks) => tasks.map((task) => ({ ...task, attempts: 1 })))
      })
    }),
    ["each claim of a task is counted"]
  ],
  "a store whose journal ignores fences": [
    sabotage({
      commit:
        (commit) =>
        ({ fence: _, ...change }) =>
          commit(change)
    }),
    ["a claim expires unless the task is returned, and the next claim has a higher token"]
  ],
  "a store that ignores turns": [
    sabotage({ tasks: ({ claim }) => ({ claimInTurn: (ask) => claim(ask) }) }),
    [
      "claiming in turn gives each company at most `perLane` tasks, the longest overdue first",
      "claiming in turn starts after the given company and wraps around to the first",
      "claiming in turn serves each `lane` of a company and skips the lanes that are full"
    ]
  ],
  "a store that hands out tasks in turn before they are due": [
    sabotage({
      tasks: ({ claimInTurn }) => ({
        claimInTurn: (ask) => claimInTurn({ ...ask, nowMillis: ask.nowMillis + lease })
      })
    }),
    [
      "claiming in turn takes only due tasks, up to the limit",
      "C19: a task is claimed by one worker at a time, whether or not tasks are claimed in turn"
    ]
  ],
  "a store that keeps no claim on tasks claimed in turn": [
    sabotage({
      tasks: ({ claimInTurn, postpone }) => ({
        claimInTurn: (ask) =>
          Effect.tap(claimInTurn(ask), (tasks) => Effect.forEach(tasks, (task) => postpone(task, 0)))
      })
    }),
    [
      "C19: a task is claimed by one worker at a time, whether or not tasks are claimed in turn",
      "C19: concurrent workers that claim tasks in turn never claim the same task"
    ]
  ],
  "a store that ignores the limit of a company's turn": [
    sabotage({
      tasks: ({ claimInTurn }) => ({ claimInTurn: (ask) => claimInTurn({ ...ask, limit: 1000 }) })
    }),
    ["claiming in turn takes only due tasks, up to the limit"]
  ],
  "a store that always starts with the first company": [
    sabotage({
      tasks: ({ claimInTurn }) => ({ claimInTurn: (ask) => claimInTurn({ ...ask, after: null }) })
    }),
    ["claiming in turn starts after the given company and wraps around to the first"]
  ],
  "a store that ignores full companies": [
    sabotage({
      tasks: ({ claimInTurn }) => ({
        claimInTurn: (ask) => claimInTurn({ ...ask, full: { ...ask.full, companies: [] } })
      })
    }),
    ["claiming in turn serves each `lane` of a company and skips the lanes that are full"]
  ],
  "a store that ignores full lanes": [
    sabotage({
      tasks: ({ claimInTurn }) => ({
        claimInTurn: (ask) => claimInTurn({ ...ask, full: { ...ask.full, lanes: [] } })
      })
    }),
    ["claiming in turn serves each `lane` of a company and skips the lanes that are full"]
  ],
  "a store that keeps the kind of a returned task": [
    sabotage({ tasks: ({ postpone }) => ({ postpone: (task, untilMillis) => postpone(task, untilMillis) }) }),
    [
      "a task that is returned with another kind has that kind",
      "claiming in turn serves each `lane` of a company and skips the lanes that are full"
    ]
  ]
})
