import { classes } from "../Errors.ts"

export const { SessionMoved } = classes
export const options = {
  sessions: { begin: ["company holder holderId"], stepUp: ["*"], end: ["*"] }
} as const
