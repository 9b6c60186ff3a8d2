/** A known bug, put back in one place while its tests run. The tests must fail, or they protect nothing. */
export interface Canary {
  readonly name: string
  /** The numbers of the incidents that it repeats, if any. */
  readonly rows?: ReadonlyArray<number>
  /** The wrong behavior that it causes. */
  readonly bug: string
  readonly file: string
  /** The top-level declaration that contains the bug. */
  readonly in: string
  /** The correct code, which occurs once in that declaration (whitespace doesn't matter), and its replacement. */
  readonly find: string
  readonly replace: string
  /** The test file that must detect it, and which of its tests run (a regular expression for vitest's -t). */
  readonly test: string
  readonly titles: string
  /** Detecting it requires two processes on a server. */
  readonly needsServer?: true
  /** The simulator's first scenarios detect it too. */
  readonly isInStories?: true
}

export const core = (name: string) => `packages/core/src/${name}.ts`
export const memory = (name: string) => `packages/memory/src/${name}.ts`
export const feature = (name: string) => `packages/features/src/${name}.ts`
export const service = (name: string) => `packages/service/src/${name}.ts`
export const postgres = (name: string) => `packages/postgres/src/${name}.ts`
export const ldk = (name: string) => `packages/nodes/ldk/${name}`
export const featureTest = (name: string) => `packages/features/test/${name}.test.ts`
export const coreTest = (name: string) => `packages/core/test/${name}.test.ts`

export const inMemory = "packages/memory/test/memory.test.ts"
export const inTampering = "packages/postgres/test/tampering.slow.test.ts"
export const inSql = "packages/postgres/test/pglite.slow.test.ts"
export const crashTest = "packages/simulator/test/crashSample.slow.test.ts"
export const lndTest = "packages/nodes/test/Lnd.test.ts"
export const outboundTest = "packages/web/test/outbound.test.ts"
