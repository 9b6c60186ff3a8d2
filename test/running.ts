import { writeFileSync } from "node:fs"
import type { Reporter, TestCase, TestModule } from "vitest/node"

/**
 * Keeps a list of the running test files and tests in a file, one per line, to explain a run that never ends.
 * `.ci/run` prints it when it stops such a run. SATRAIL_RUNNING_TESTS names the file.
 */
export default class Running implements Reporter {
  readonly #file = process.env["SATRAIL_RUNNING_TESTS"] ?? "running.log"
  readonly #names = new Map<string, string>()

  onTestModuleQueued(module: TestModule): void {
    this.#begin(module.id, module.relativeModuleId)
  }

  onTestModuleEnd(module: TestModule): void {
    // Vitest may report the start of a test after its result.
    for (const test of module.children.allTests()) this.#names.delete(test.id)
    this.#end(module.id)
  }

  onTestCaseReady(test: TestCase): void {
    this.#begin(test.id, `${test.module.relativeModuleId} > ${test.fullName}`)
  }

  onTestCaseResult(test: TestCase): void {
    this.#end(test.id)
  }

  #begin(id: string, name: string): void {
    this.#names.set(id, `${new Date().toISOString()} ${name}`)
    this.#write()
  }

  #end(id: string): void {
    this.#names.delete(id)
    this.#write()
  }

  #write(): void {
    writeFileSync(this.#file, [...this.#names.values()].map((name) => `${name}\n`).join(""))
  }
}
