import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as Waiting from "@satrail/core/ledger/Waiting"
import { all as features } from "@satrail/service/features/core"
import { Effect } from "effect"
import type { Held } from "./Feature.ts"
import { all } from "./index.ts"

const made = all.flatMap(({ holds = {} }) =>
  Waiting.kinds(features).flatMap((kind) => (holds[kind] === undefined ? [] : [{ kind, make: holds[kind] }]))
)

/** The reasons for waiting that records of features can have while they hold money. */
export const kinds: ReadonlyArray<Waiting.Kind> = made.map(({ kind }) => kind)

/** Builds one record for each of these reasons, in the same order. Each holds this many sats. */
export const holding = (companyId: CompanyId.CompanyId, sats: number, fields?: Held) =>
  Effect.forEach(made, ({ make }) => make(companyId, sats, fields))
