import type * as Versions from "@satrail/core/nodes/Versions"
import { type Line, misconfigured, warning } from "../base/Check.ts"

/**
 * What is known against a node's version, for `satrail check` and every start. One that may tell what is not so keeps the service from starting, unless the
 * operator accepted just this version; then, and of all others, it is a warning.
 */
export const lines = (
  judgement: Versions.Judgement | undefined,
  accept: { readonly setting: string; readonly version: string | undefined } | undefined
): ReadonlyArray<Line> => {
  if (judgement === undefined) return []
  const { verdict, version, says, remedy } = judgement
  if (verdict === "warned") return [warning(says, `${remedy} Money that a node loses is the operator's loss.`)]
  if (accept === undefined) return [misconfigured(says, remedy)]
  return accept.version === version
    ? [warning(`${says}; ${accept.setting} accepts it`, remedy)]
    : [misconfigured(says, `${remedy} To go on with it all the same, set ${accept.setting}=${version}.`)]
}
