import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';
import { TapFile, t } from 'tap';
import { inProject, ROOT, TAP_PLACES } from './places.ts';
import type { Ended } from './processes.ts';

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

/** The TAP result of a file without one. */
const brokenTap = (reason: string): string => `TAP version 14\nnot ok 1 - ${reason}\n1..1\n`;

/** The reason why a file fails without a failed test; results of failed tests are never overwritten. */
export const reasonOf = ({
  ok,
  broken,
  residue,
}: Pick<Ended, 'ok' | 'broken' | 'residue'>): string | undefined =>
  broken ?? (ok && residue.length > 0 ? `leaves behind: ${residue.join(', ')}` : undefined);

/** Stores the reason as the result of a file that has none, and returns where the result is. */
const resultFile = async (end: Ended): Promise<string> => {
  const filename = TAP_PLACES.resultOf(end.file);
  const reason = reasonOf(end);
  if (reason !== undefined) {
    await mkdir(dirname(filename), { recursive: true });
    await writeFile(filename, brokenTap(reason));
  }
  return filename;
};

/**
 * Prints one line per ended file, and at the end the failures and a command to run them again. Counts and the exit code
 * are those that tap derives from the results. Failures of files that run again are printed and not counted.
 */
export class Report {
  readonly #seed: number;
  readonly #started = performance.now();
  readonly #read: Promise<void>[] = [];
  readonly #cpu: [file: string, ms: number][] = [];
  readonly #failed: Ended[] = [];
  readonly #repeated: string[] = [];
  #files = 0;

  constructor(seed: number) {
    this.#seed = seed;
    t.setTimeout(0);
    t.register();
    t.resume();
    console.log(`seed ${seed}`);
  }

  ended(end: Ended): void {
    this.#read.push(this.#readResult(end));
  }

  async #readResult(end: Ended): Promise<void> {
    const { file } = end;
    const filename = await resultFile(end);
    const results = await t.sub(TapFile, { name: file, filename, buffered: true });
    this.#files += 1;
    this.#cpu.push([file, end.cpuMs]);
    const ok = results?.ok === true;
    if (!ok) this.#failed.push(end);
    const skipped = results?.skip ? `, ${results.skip} skipped` : '';
    console.log(
      `${ok ? 'ok  ' : 'FAIL'} ${file} (${results?.count ?? 0} tests${skipped}, ${seconds(end.wallMs)})`,
    );
  }

  /** Prints failures of files that run again afterwards, while their results are still there. */
  async repeating(ends: Ended[]): Promise<void> {
    await Promise.all(ends.map(resultFile));
    this.#repeated.push(...ends.map(({ file }) => file));
    await this.#printFailures(ends);
    console.log(`running again, alone: ${this.#repeated.join(' ')}`);
  }

  async end(slowest: number): Promise<void> {
    await Promise.all(this.#read);
    t.end();
    for (const [file, ms] of this.#cpu.toSorted((a, b) => b[1] - a[1]).slice(0, slowest)) {
      console.log(`${seconds(ms)} of CPU time: ${file}`);
    }
    if (this.#failed.length > 0) await this.#printFailures(this.#failed);
    const failed = new Set(this.#failed.map(({ file }) => file));
    for (const file of this.#repeated.filter((file) => !failed.has(file))) {
      console.log(`unstable: ${file} failed once, and passed when it ran again`);
    }
    const { pass, fail, skip, todo, total } = t.counts;
    console.log(
      `${this.#files} files, ${total} checks: ${pass} passed, ${fail} failed, ${skip + todo} skipped; ` +
        `${seconds(performance.now() - this.#started)} on ${availableParallelism()} cores`,
    );
  }

  async #printFailures(ends: Ended[]): Promise<void> {
    const files = ends.map(({ file }) => file);
    const tap = inProject('node_modules/tap/dist/esm/run.mjs');
    const replay = spawn(process.execPath, [tap, 'replay', '--reporter=min', ...files], {
      cwd: ROOT,
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    await once(replay, 'exit');
    for (const { file, printed } of ends) {
      if (printed !== '') console.log(`printed by ${file}:\n${printed}`);
    }
    console.log(`again: TROUPE_TEST_SEED=${this.#seed} npm run test:run -- ${files.join(' ')}`);
  }
}
