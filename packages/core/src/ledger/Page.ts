/** Where a page starts: right after this line. */
export interface Position {
  readonly createdAtMillis: number
  readonly id: string
}
