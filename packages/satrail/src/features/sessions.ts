import { classes } from "../Errors.ts"

export const { SessionMoved } = classes
