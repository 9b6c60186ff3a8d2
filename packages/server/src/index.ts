import "@satrail/bitcoin/checkRuntime"

export * as Program from "./Program.ts"
export * as Server from "./Server.ts"
export * as Environment from "./Environment.ts"
export * as Backends from "./backends/Backends.ts"
export * as LightningNode from "./backends/LightningNode.ts"
export * as ChainView from "./backends/ChainView.ts"
export * as Setting from "./environment/Setting.ts"
