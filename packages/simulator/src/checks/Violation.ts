/** What was promised was not kept. */
export class Violation extends Error {
  override readonly name = "Violation"
}

/** Holds that something is so; says what was promised where it is not. */
export const claim = (isSo: boolean, promise: string): void => {
  if (!isSo) throw new Violation(promise)
}

export const same = (actual: unknown, expected: unknown, promise: string): void =>
  claim(actual === expected, `${promise}: ${String(actual)} instead of ${String(expected)}`)
