export * as Choices from "./Choices.ts"
export * as Project from "./Project.ts"
