import { vouchers } from "./vouchers.ts"

export const features = [vouchers]
