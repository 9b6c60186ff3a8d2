import { crashes, some } from "./crashes.ts"

// crashes.test.ts has tried some of them.
crashes("a process that dies or gets no response at any call, in every way", (number, position) => {
  const tried = some(number, position)
  return position.fates.filter((fate) => !tried.includes(fate))
})
