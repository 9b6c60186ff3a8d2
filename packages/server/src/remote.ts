// The command line without the commands that run locally. packages/server/build/Commands.ts bundles it with
// cli.ts into one file.
export { run } from "./run.ts"
