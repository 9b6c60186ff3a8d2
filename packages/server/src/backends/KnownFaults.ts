import type * as Versions from "@satrail/core/nodes/Versions"
import { type Line, misconfigured, warning } from "../base/Check.ts"

/**
 * Returns the known bugs of a node's version, for `satrail check` and startup. A bug that can make the node
 * report something false prevents startup, unless the operator accepted exactly this version. All other bugs
 * are warnings.
 */
export const lines = (
  judgement: Versions.Judgement | undefined,
  accept: { readonly setting: string; readonly version: string | undefined } | undefined
): ReadonlyArray<Line> => {
  if (judgement === undefined) return []
  const { verdict, version, says, remedy } = judgement
  if (verdict === "warned")
    return [warning(says, `${remedy} If the node loses money, the operator bears the loss.`)]
  if (accept === undefined) return [misconfigured(says, remedy)]
  return accept.version === version
    ? [warning(`${says}; ${accept.setting} accepts it`, remedy)]
    : [misconfigured(says, `${remedy} To continue anyway, set ${accept.setting}=${version}.`)]
}
