// Runs the smallest program and prints its startup time, its final balance and the size of its bundle. The storage adapter imports the declarations of
// all records, so the bundle includes them. Run it: npm run example -- minimal
const begun = performance.now()
const { day } = await import("./Cafe.ts")
const { Effect } = await import("effect")

let started = 0
const left = await Effect.runPromise(day(() => (started = performance.now() - begun)))
console.log(`started    in ${started.toFixed(0)} ms`)
console.log(`balance    ${left} sats`)

const { rolldown } = await import("rolldown")
const { fileURLToPath } = await import("node:url")
const bundle = await rolldown({
  input: fileURLToPath(new URL("Cafe.ts", import.meta.url)),
  platform: "node",
  logLevel: "silent"
})
const { output } = await bundle.generate({ minify: true })
await bundle.close()

/** Returns the folder of core that a module is in; undefined for other modules. */
const folderOf = (id: string): string | undefined => /\/core\/src\/([\w-]+)\//.exec(id)?.[1]
const folders = output
  .flatMap((one) => (one.type === "chunk" ? Object.entries(one.modules) : []))
  .flatMap(([id, { renderedLength }]) => {
    const folder = renderedLength === 0 ? undefined : folderOf(id)
    return folder === undefined ? [] : [folder]
  })
const bytes = output.reduce((sum, one) => sum + (one.type === "chunk" ? Buffer.byteLength(one.code) : 0), 0)
console.log(
  `bundle     ${Math.round(bytes / 1024)} KiB minified; of core: ${[...new Set(folders)].toSorted().join(", ")}`
)
