/** A known bug, put back in one place for as long as its tests run. They must go red, or they protect nobody. */
export interface Canary {
  readonly name: string
  /** The incidents that it repeats, by their rows. */
  readonly rows: ReadonlyArray<number>
  /** What the program does wrong with it. */
  readonly bug: string
  readonly file: string
  /** The right text, once in the file, and what takes its place. */
  readonly find: string
  readonly replace: string
  /** The test file that is to notice, and which of its tests run (a regular expression, as vitest's -t takes it). */
  readonly test: string
  readonly titles: string
  /** Nothing but two processes on a server can show it. */
  readonly needsServer?: true
  /** The first stories of the simulator notice it too. */
  readonly isInStories?: true
}

export const core = (name: string) => `packages/core/src/${name}.ts`
export const memory = (name: string) => `packages/memory/src/${name}.ts`
export const postgres = (name: string) => `packages/postgres/src/${name}.ts`
export const ldk = (name: string) => `packages/nodes/ldk/${name}`
export const coreTest = (name: string) => `packages/core/test/${name}.test.ts`

export const inMemory = "packages/memory/test/memory.test.ts"
export const inTampering = "packages/postgres/test/tampering.test.ts"
export const inSql = "packages/postgres/test/pglite.slow.test.ts"
export const crashTest = "packages/simulator/test/crashes.test.ts"
export const lndTest = "packages/nodes/test/Lnd.test.ts"
export const outboundTest = "packages/web/test/outbound.test.ts"
