import * as PgClient from "@satrail/postgres/PgClient"
import { Effect } from "effect"
import type { Cell } from "../environment/Cells.ts"
import { type Check, messageOf, outage, right } from "./Check.ts"

const remedy =
  "Until it answers there are no new handles, and no payments to other cells' addresses; all else goes on. Look whether it runs, and can be reached from here (docs/guides/cells.md)."

/** Whether the names that all cells share can be asked for. */
export const check = ({ letter, origins, registry }: Cell): Check => ({
  subject: "cells",
  isLater: true,
  lines: Effect.scoped(
    Effect.gen(function* () {
      const { sql, where } = yield* PgClient.lazily({ url: registry, maxConnections: 1 })
      const asked = sql.unsafe("select 1").unprepared
      return yield* Effect.match(asked, {
        onSuccess: () => right(`this is cell ${letter} of ${[...origins.keys()].join(", ")}; the registry at ${where} answers`),
        onFailure: ({ reason }) => outage(`the registry at ${where} does not answer: ${messageOf(reason.cause)}`, remedy)
      })
    })
  ).pipe(
    Effect.catch(({ cause }) => Effect.succeed(outage(`the registry cannot be asked: ${messageOf(cause)}`, remedy))),
    Effect.map((line) => [line])
  )
})
