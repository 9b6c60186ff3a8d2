import { assert, describe, it } from "@effect/vitest"
import { globSync, readdirSync } from "node:fs"
import path from "node:path"
import * as Measure from "../packages/core/src/base/Measure.ts"
import * as Environment from "../packages/server/src/deployment/Environment.ts"
import * as Server from "../packages/server/src/serving/Server.ts"
import { all, read, root } from "./deployFiles.ts"

// The types of the console's pages include the DOM's, which contradict Node's in the other tests and examples.
const alarmsFile = new URL("../packages/service/src/console/operator/Alarms.ts", import.meta.url).href
const Alarms: { readonly all: ReadonlyArray<readonly [name: string, alarm: unknown]> } = await import(
  alarmsFile
)

// A module registers its metrics when it is loaded. These imports load all modules.
const loaded = [Environment.bundled, Server.services]

const metrics = new Map(Measure.all().map((metric) => [metric.name, metric]))

/** The metric that a series belongs to. A histogram has three series. */
const metricOf = (series: string) => {
  const found = metrics.get(series)
  const histogram = metrics.get(series.replace(/_(bucket|sum|count)$/, ""))
  return found ?? (histogram?.type === "histogram" ? histogram : undefined)
}

/** Returns the unknown series and labels in a file's queries. */
const problems = (text: string): ReadonlyArray<string> => [
  ...new Set(all(text, /\b(satrail_\w+)/g).filter((series) => metricOf(series) === undefined)),
  ...Array.from(text.matchAll(/\b(satrail_\w+)\{([^}]*)\}/g)).flatMap(([, series = "", matchers = ""]) =>
    all(matchers, /(\w+)\s*[=!]~?/g)
      .filter((label) => !["job", "instance", "le"].includes(label))
      .filter((label) => !metricOf(series)?.labels.some((one) => one === label))
      .map((label) => `${series} has no ${label}`)
  )
]

const unescaped = (text: string) => text.replaceAll('\\"', '"')

describe("metrics", () => {
  it("metrics: the names follow Prometheus's conventions: base units, and _total for counters", () => {
    assert.isAbove(metrics.size, 20, `${loaded.length} modules`)
    for (const { name, type } of metrics.values()) {
      assert.match(name, /^satrail_[a-z]+(_[a-z]+)*$/)
      assert.strictEqual(name.endsWith("_total"), type === "counter", name)
      assert.notMatch(name, /_(milli\w*|ms|msat|minutes|hours|kilobytes)(_|$)/)
    }
  })

  it("metrics: each metric is created with base/Measure.ts, so that it appears in the reference", () => {
    const sources = readdirSync(path.join(root, "packages")).flatMap((name) =>
      readdirSync(path.join(root, "packages", name, "src"), { recursive: true, encoding: "utf8" })
        .filter((file) => file.endsWith(".ts"))
        .map((file) => `packages/${name}/src/${file}`)
    )
    assert.isAbove(sources.length, 300)
    const others = sources.filter(
      (file) =>
        !file.endsWith("base/Measure.ts") &&
        /Metric\.(counter|gauge|histogram|summary|frequency)\(/.test(read(file))
    )
    assert.deepStrictEqual(others, [], "make it with core's base/Measure.ts")
    const named = sources.flatMap((file) => all(read(file), /Measure\.\w+\(\s*"(satrail_\w+)"/g))
    assert.deepStrictEqual(named.toSorted(), [...metrics.keys()].toSorted())
  })

  it("metrics: the alarms and the dashboard query only existing metrics and labels", () => {
    for (const file of [
      "deploy/prometheus/rules.yaml",
      "deploy/prometheus/rules.test.yaml",
      "deploy/grafana/satrail.json"
    ])
      assert.deepStrictEqual(problems(unescaped(read(file))), [], file)
    assert.deepStrictEqual(problems('rate(satrail_nothing_total[5m]) > satrail_ready{company="1"}'), [
      "satrail_nothing_total",
      "satrail_ready has no company"
    ])
  })

  it("metrics: the console lists each alarm, and links only to existing sections of the guides", () => {
    const sources = globSync("packages/{ui/src/console,service/src/console,features/src/*/console}/**/*.ts", {
      cwd: root
    }).map(read)
    const alarms = Alarms.all.map(([name]) => name)
    assert.deepStrictEqual(
      alarms.toSorted(),
      all(read("deploy/prometheus/rules.yaml"), /- alert: (\w+)/g).toSorted()
    )
    const guides = sources.flatMap((source) => all(source, /guide: "(.*?)"/g))
    assert.isAbove(guides.length, alarms.length)
    for (const guide of new Set(guides)) {
      const [page = "", section] = guide.split("#")
      const sections = all(read(`docs/guides/${page}.md`), /^#+ (.*)/gm).map((title) =>
        title.toLowerCase().replaceAll(" ", "-")
      )
      assert.isTrue(section === undefined || sections.includes(section), guide)
    }
  })

  it("metrics: the scrape configuration of the alarms names each process of the guide, not its proxy", () => {
    const [targets = ""] = all(read("deploy/prometheus/rules.yaml"), /targets: \[(.*?)\]/g)
    const [upstreams = ""] = all(read("docs/guides/mainnet.md"), /UPSTREAMS=([^"]*)"/g)
    assert.deepStrictEqual(all(targets, /"(.*?)"/g), upstreams.split(" "))
  })

  it("metrics: each alarm links to the guide that says what to do, and has a test in which it fires and a test in which it is silent", () => {
    const rules = read("deploy/prometheus/rules.yaml")
    const alarms = all(rules, /- alert: (\w+)/g)
    assert.lengthOf(all(rules, /annotations:\n +(runbook_url): [&*]whatToDo/g), alarms.length)
    assert.include(rules, "/docs/guides/monitor.md#what-to-do")
    const guide =
      read("docs/guides/monitor.md")
        .split("\n## ")
        .find((section) => section.startsWith("What to do\n")) ?? ""
    for (const alarm of alarms) assert.include(guide, `\`${alarm}\``)
    const cases = all(read("deploy/prometheus/rules.test.yaml"), /- name: (.*)/g)
    assert.deepStrictEqual(
      cases,
      alarms.flatMap((alarm) => [`${alarm} fires`, `${alarm} is silent`])
    )
  })
})
