import type { Feature } from "@satrail/core/ledger/Feature"
import { Features } from "@satrail/core/ledger/Features"
import type { Feature as HttpFeature } from "@satrail/http/api/Feature"
import type { Feature as CommandsFeature } from "@satrail/http/commands/Feature"
import { Own as OwnTables, type Feature as PostgresFeature } from "@satrail/postgres/client/Feature"
import { Context, Layer } from "effect"
import { all } from "./core.ts"

/** A feature of your program, in the same parts as satrail's own (docs/guides/add-a-feature.md). */
export interface OwnFeature {
  /** Its records, services and workers, made by `Feature.make` of `@satrail/core/ports`. */
  readonly core: Feature
  /** Its tables, which can be created repeatedly: `create table if not exists satrail.…`. */
  readonly postgres?: PostgresFeature
  /** Its routes, made by `Section.make` of `@satrail/service/http`. */
  readonly http?: HttpFeature
  /** Its commands (`@satrail/service/commands`), which `run` of `@satrail/server/run` adds to the command line. */
  readonly commands?: CommandsFeature
}

/** The HTTP parts of the program's own features. */
export const OwnRoutes = Context.Reference<ReadonlyArray<HttpFeature>>(
  "@satrail/service/features/own/OwnRoutes",
  {
    defaultValue: () => []
  }
)

/** Provides the program's own features to the store, the service and its routes, all of which are above this layer. */
export const layer = (own: ReadonlyArray<OwnFeature>) =>
  Layer.mergeAll(
    Layer.succeed(Features, [...all, ...own.map(({ core }) => core)]),
    Layer.succeed(
      OwnTables,
      own.flatMap(({ postgres }) => postgres ?? [])
    ),
    Layer.succeed(
      OwnRoutes,
      own.flatMap(({ http }) => http ?? [])
    )
  )
