export * as Files from "./Files.ts"
