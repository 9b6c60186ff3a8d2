/** How the tests went: those that failed, how many did not, and what was said where they did not even begin. */
export interface Outcome {
  readonly failed: ReadonlyArray<{ readonly title: string; readonly why: string }>
  readonly passed: number
  readonly broken: string
  readonly seconds: number
}
