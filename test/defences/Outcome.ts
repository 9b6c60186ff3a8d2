/** The results of the tests: the failed ones, the number of others, and the output if they could not run. */
export interface Outcome {
  readonly failed: ReadonlyArray<{ readonly title: string; readonly why: string }>
  readonly passed: number
  readonly broken: string
  readonly seconds: number
}
