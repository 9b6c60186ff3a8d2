/**
 * The manuals of packages that a program installs, which the documentation includes. A release contains copies of
 * them below its documentation, at the same paths.
 */
export const manuals: ReadonlyArray<string> = ["satrail", "client", "react", "ldk"].map(
  (name) => `packages/${name}/README.md`
)
