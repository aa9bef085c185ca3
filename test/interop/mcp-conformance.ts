import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Test } from 'tap';
import { unhooked } from '../child.ts';

/**
 * The conformance suite of the MCP project. It needs Node 22, so it has a separate package (`mcp-conformance/`) that
 * depends on the Node binary of the platform: the package `node@22` would download that in an install script, and no
 * install scripts are executed. The installation is kept in `.tap/` under the version, so that a change reinstalls it.
 */

const PACKAGE = fileURLToPath(new URL('./mcp-conformance', import.meta.url));

const FOLDER = fileURLToPath(new URL('../../.tap/mcp-conformance', import.meta.url));

/** The cache of compiled code, which takes a fifth of the time of a short run. */
const CACHE = join(FOLDER, 'cache');

const RUNNER = 'node_modules/@modelcontextprotocol/conformance/dist/index.js';

/** Errors of npm for an unreachable registry, as opposed to a missing package. */
const UNREACHABLE =
  /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|E50\d)\b/;

const run = promisify(execFile);

export type Suite = {
  /** Runs `conformance ARGS` and returns the outcome of each scenario. */
  run(args: readonly string[]): Promise<Outcomes>;
};

/** The failures of each scenario, by its name; empty if it passed. */
export type Outcomes = Map<string, Failure[]>;

/** `id`: that of the check. */
export type Failure = { id: string; text: string };

/**
 * Scenarios that are expected to fail, by reason: `scenario`, `scenario:check` for one check of it, or `family*`. A
 * scenario that passes must not be listed.
 */
export type NotApplicable = Record<string, readonly string[]>;

export const allApplicablePass = (t: Test, outcomes: Outcomes, notApplicable: NotApplicable): void => {
  const listed = Object.values(notApplicable).flat();
  const isNamed = (name: string, scenario: string, check?: string): boolean =>
    name.endsWith('*')
      ? scenario.startsWith(name.slice(0, -1))
      : [scenario, `${scenario}:${check}`].includes(name);
  const failures = [...outcomes].flatMap(([scenario, checks]) =>
    checks.map(({ id, text }) => ({ scenario, check: id, text })),
  );
  t.strictSame(
    failures.filter(({ scenario, check }) => !listed.some((name) => isNamed(name, scenario, check))),
    [],
    'every applicable check passes',
  );
  const ran = [...outcomes.keys()];
  t.strictSame(
    listed.filter((name) => !failures.some(({ scenario, check }) => isNamed(name, scenario, check))),
    [],
    'every excluded check was executed, and fails',
  );
  t.strictSame(
    ran.filter(
      (scenario) => outcomes.get(scenario)?.length === 0 && listed.some((name) => isNamed(name, scenario)),
    ),
    [],
    'no excluded scenario passes',
  );
};

/** @returns the reason if the registry is unreachable or has no Node for this platform */
export const conformanceSuite = async (): Promise<Suite | string> => {
  const versions = JSON.parse(await readFile(join(PACKAGE, 'package.json'), 'utf8')).dependencies;
  const folder = join(FOLDER, versions['@modelcontextprotocol/conformance']);
  if (!existsSync(folder)) {
    const failure = await install(folder);
    if (failure !== undefined) return failure;
  }
  const packaged = join(folder, `node_modules/node-${process.platform}-${process.arch}/bin/node`);
  const node = existsSync(packaged) ? packaged : process.execPath;
  if (node === process.execPath && Number(process.versions.node.split('.')[0]) < 22)
    return `the conformance suite needs Node 22, and there is no package of it for ${process.platform}-${process.arch}`;
  return { run: (args) => runSuite([node, join(folder, RUNNER)], args) };
};

/** Two test files may install concurrently: the first result is kept. */
const install = async (folder: string): Promise<string | undefined> => {
  await mkdir(FOLDER, { recursive: true });
  const made = await mkdtemp(join(FOLDER, 'new-'));
  try {
    await cp(PACKAGE, made, { recursive: true });
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
    await run(...unhooked('npm', ['ci', '--prefix', made, ...flags]), { cwd: made });
    await rename(made, folder).catch((error) => {
      if (!existsSync(folder)) throw error;
    });
  } catch (error) {
    const said = String(error);
    if (!UNREACHABLE.test(said)) throw error;
    return `the conformance suite could not be installed: ${said.split('\n').find((line) => UNREACHABLE.test(line))}`;
  } finally {
    await rm(made, { recursive: true, force: true });
  }
};

const SUMMARY =
  /^[✓✗] (?<name>\S+): (?<passed>\d+) passed, (?<failed>\d+) failed(?:, (?<warned>\d+) warnings)?$/gm;

const runSuite = async (command: readonly string[], args: readonly string[]): Promise<Outcomes> => {
  const results = await mkdtemp(join(FOLDER, 'results-'));
  try {
    const { stdout, stderr } = await run(
      ...unhooked('env', [`NODE_COMPILE_CACHE=${CACHE}`, ...command, ...args, '--output-dir', results]),
      // A failed scenario makes the exit code 1; the failures are in the summary.
    ).catch((error: { stdout: string; stderr: string }) => error);
    const outcomes: Outcomes = new Map();
    for (const { groups = {} } of stdout.matchAll(SUMMARY)) {
      const { name = '', passed, failed, warned = '0' } = groups;
      const fine = failed === '0' && warned === '0' && passed !== '0';
      outcomes.set(name, fine ? [] : await failuresOf(results, name));
    }
    if (outcomes.size === 0) throw new Error(`the conformance suite ran nothing: ${stdout}${stderr}`);
    return outcomes;
  } finally {
    await rm(results, { recursive: true, force: true });
  }
};

const failuresOf = async (results: string, scenario: string): Promise<Failure[]> => {
  // The directory of a scenario ends with its start time.
  const isOf = new RegExp(`^(server-)?${scenario}-\\d{4}-\\d\\d-\\d\\dT[^/]*$`);
  const folder = (await readdir(results, { recursive: true })).find((name) => isOf.test(name));
  if (folder === undefined) return [{ id: 'ran', text: 'it ended without a check' }];
  const checks: Check[] = JSON.parse(await readFile(join(results, folder, 'checks.json'), 'utf8'));
  const failed = checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING');
  if (failed.length === 0) return [{ id: 'checked', text: 'nothing of it was checked' }];
  return failed.map(({ id, errorMessage, description }) => ({ id, text: errorMessage ?? description }));
};

type Check = { id: string; status: string; description: string; errorMessage?: string };
