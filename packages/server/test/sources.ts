/** The programs that tests start. */
export const sources = {
  main: "../src/main.ts",
  cli: "../src/cli.ts",
  replica: "cluster/replicaProgram.ts",
  network: "cluster/networkProgram.ts",
  pair: "cluster/pairProgram.ts",
  points: "cluster/pointsProgram.ts",
  killed: "../../satrail/test/killedProgram.ts"
} as const
