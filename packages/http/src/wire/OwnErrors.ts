import { Effect, type Schema } from "effect"
import type { Issue } from "./Envelope.ts"
import type { Word } from "./ErrorCodes.ts"
import * as Errors from "./Errors.ts"

/** A feature's error: its response and its documentation. */
export interface OwnError extends Word {
  readonly code: string
  message(error: object): string
}

/** A feature's errors by tag. */
export interface OwnErrors {
  readonly [tag: string]: OwnError
}

type FailureOf<O> = O extends OwnError
  ? {
      readonly status: O["status"]
      readonly message: string
      readonly data: null
      readonly error: { readonly code: O["code"]; readonly issues?: ReadonlyArray<Issue> }
    }
  : never
type CodeOf<T extends OwnErrors> = T[keyof T]["code"]
type ErrorIn<T extends OwnErrors> = {
  readonly [Tag in keyof T]: Parameters<T[Tag]["message"]>[0] & { readonly _tag: Tag }
}[keyof T]
type OfCode<T extends OwnErrors, C> = Extract<T[keyof T], { readonly code: C }>

/** A feature's errors combined with the common ones: `of` and `answered` work for both, as in Errors.ts. */
export interface Combined<T extends OwnErrors> {
  readonly table: T
  of<const Codes extends ReadonlyArray<Errors.Code | CodeOf<T>>>(
    ...codes: Codes
  ): ReadonlyArray<
    Schema.Codec<
      | Errors.Failure<Errors.WithOverloaded<Extract<Codes[number], Errors.Code>>>
      | FailureOf<OfCode<T, Codes[number]>>
    >
  >
  answered<A, E extends Errors.ServiceError | ErrorIn<T>, R>(
    effect: Effect.Effect<A, E, R>
  ): Effect.Effect<A, Errors.FailureFor<Extract<E, Errors.ServiceError>> | FailureOf<T[E["_tag"]]>, R>
}

export const make = <const T extends OwnErrors>(table: T): Combined<T> => {
  const rows: OwnErrors = table
  const byCode = new Map(Object.values(rows).map((row) => [row.code, row]))
  const bodyOf = ({ status, code }: OwnError, message: string) => ({
    status,
    message,
    data: null,
    error: { code }
  })
  const schemaFor = (row: OwnError) =>
    Errors.kept(row.code, () =>
      Errors.schemaOf(
        row.code,
        row,
        Errors.addressed(bodyOf(row, row.meaning.replaceAll("`", "")), Errors.exampleId)
      )
    )
  const isCommon = (error: ErrorIn<T> | Errors.ServiceError): error is Errors.ServiceError =>
    rows[String(error._tag)] === undefined
  return {
    table,
    of: (...codes) =>
      // oxlint-disable-next-line typescript/consistent-type-assertions -- see `of` in Errors.ts
      codes.flatMap((code): ReadonlyArray<unknown> => {
        const row = byCode.get(code)
        if (row !== undefined) return [schemaFor(row)]
        return Errors.isCode(code) ? Errors.of(code) : []
      }) as never,
    answered: (effect) =>
      // oxlint-disable-next-line typescript/consistent-type-assertions -- each error is mapped to its own failure
      effect.pipe(
        Effect.catch((error) => {
          const row = rows[String(error._tag)]
          if (row !== undefined) return Effect.fail(bodyOf(row, row.message(error)))
          return isCommon(error) ? Errors.answered(Effect.fail(error)) : Effect.die(error)
        })
      ) as never
  }
}
