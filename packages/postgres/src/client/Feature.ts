import { Context, Effect } from "effect"

/** A feature's part of the store. Its record types, privileges and holds are derived from its declarations in core. */
export interface Feature {
  /** Creates the feature's tables of the first release. Never changes. A feature added later has none. */
  readonly tables?: string
  /** The feature's later migrations by number and name, as in `Migrations.ts`: `{ "0081_voucher_notes": script }`. */
  readonly migrations?: { readonly [name: string]: string }
  /** The application's privileges on the feature's tables that don't contain records. */
  readonly rights?: { readonly [table: string]: string }
  /** Tables of records that the application may also delete. */
  readonly deletes?: ReadonlyArray<string>
  /** Columns that the reader may select, by table. The reader may select all columns of other tables. */
  readonly readable?: { readonly [table: string]: string }
  readonly reads?: AnyReads | undefined
}

/** The stores' parts of the program's own features. Their `tables` can be run repeatedly: `create table if not exists`. */
export const Own = Context.Reference<ReadonlyArray<Feature>>("@satrail/postgres/client/Feature/Own", {
  defaultValue: () => []
})

export type AnyReads = Effect.Effect<Context.Context<never>, unknown, unknown>

export const reads = <I, S, E, R>(
  port: Context.Service<I, S>,
  make: Effect.Effect<NoInfer<S>, E, R>
): Effect.Effect<Context.Context<I>, E, R> => Effect.map(make, (service) => port.context(service))

export interface Declared<R extends AnyReads | undefined> extends Feature {
  readonly reads: R
}

/** Declares a feature's part of the store. */
export const make = <R extends AnyReads | undefined = undefined>(
  feature: Omit<Feature, "reads"> & { readonly reads?: R }
): Declared<R> =>
  // oxlint-disable-next-line typescript/consistent-type-assertions -- without reads, `R` is undefined
  ({ reads: undefined, ...feature }) as Declared<R>
