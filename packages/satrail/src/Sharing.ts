import type * as CompanyId from "@satrail/core/base/CompanyId"
import type { Context } from "effect"

/** Returns a service. */
export type Of = <I, S>(key: Context.Key<I, S>) => S

export type Id = CompanyId.CompanyId

/** Returns the id of a company, which is passed as its id or as its record. */
export const idOf = (company: unknown): unknown =>
  typeof company === "object" && company !== null && "id" in company && typeof company.id === "string"
    ? company.id
    : company

/** The first argument of a method. */
export type First<F> = F extends (ask: infer A, ...others: never) => unknown ? A : never

/** Changes of a record. Fields that are undefined stay, and null clears a field. */
export type Changes<T> = { readonly [K in keyof T]?: T[K] | null | undefined }

/** A view for each method that returns the record. */
export const made = <View>(of: View) => ({ create: of, get: of, list: of })

/** Values by service and method. */
export type Table<V> = Readonly<Record<string, Readonly<Record<string, V>>>>

/** Combines tables of methods by service. Several tables may have methods of one service. */
export const combined = <V>(tables: ReadonlyArray<Table<V>>): Table<V> => {
  const all: Record<string, Readonly<Record<string, V>>> = {}
  for (const [noun, verbs] of tables.flatMap((table) => Object.entries(table)))
    all[noun] = { ...all[noun], ...verbs }
  return all
}
