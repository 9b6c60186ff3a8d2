import { SatrailError } from "./Errors.ts"
import type { StandardSchema } from "./Schemas.ts"

/** Validates metadata and returns the schema's output. Throws the error `malformed`, which lists every issue. */
export const validate = async (schema: StandardSchema, metadata: unknown): Promise<unknown> => {
  const result = await schema["~standard"].validate(metadata ?? {})
  if (!result.issues) return result.value
  const issues = result.issues.map(({ path = [], message }) => {
    const at = ["metadata", ...path.map((part) => Object(part).key ?? part)].join(".")
    return { path: at, message: `${at}: ${message}` }
  })
  throw new SatrailError({
    status: 400,
    code: "malformed",
    message: issues.map((issue) => issue.message).join("; "),
    issues
  })
}
