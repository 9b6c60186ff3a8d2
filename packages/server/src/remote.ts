// The command line without the commands that run locally. packages/server/build/Commands.ts bundles this module
// and cli.ts into one file.
export { run } from "./run.ts"
