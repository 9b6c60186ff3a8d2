export { ldk, type Options as LdkOptions } from "./Ldk.ts"
export { program, ProgramMissing } from "./Program.ts"
