import * as ErrorCodes from "@satrail/http/wire/ErrorCodes"
import type { OwnError } from "@satrail/http/wire/OwnErrors"
import { all, type features } from "../../features/http.ts"

type OwnOf<F> = F extends { readonly errors: { readonly table: infer T } } ? T[keyof T] : never

export type Code = ErrorCodes.Code | Extract<OwnOf<(typeof features)[number]>, OwnError>["code"]

const ofFeatures = all
  .flatMap(({ errors }) => Object.values(errors?.table ?? {}))
  .map(({ code, ...word }) => [code, word] as const)

/** All error codes with their status and their text for the reference page. */
export const catalogue: { readonly [code in Code]: ErrorCodes.Word } = {
  ...ErrorCodes.catalogue,
  // oxlint-disable-next-line typescript/consistent-type-assertions -- the compiler does not derive fields from a list of entries
  ...(Object.fromEntries<ErrorCodes.Word>(ofFeatures) as unknown as {
    readonly [code in Exclude<Code, ErrorCodes.Code>]: ErrorCodes.Word
  })
}
