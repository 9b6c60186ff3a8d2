import "@satrail/bitcoin/checkRuntime"

export * as Storage from "./Storage.ts"
export * as Migrations from "./Migrations.ts"
export * as PgClient from "./PgClient.ts"
export * as PgliteClient from "./PgliteClient.ts"
export * as DirectoryLock from "./DirectoryLock.ts"
export * as Commits from "./Commits.ts"
