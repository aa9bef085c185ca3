import { Session } from 'node:inspector/promises';
import { setTimeout } from 'node:timers/promises';
import type { Test } from 'tap';

/**
 * The work of requests as calls of functions of the service in this process, so that a test compares the work of two
 * requests without a clock. Keys are the name and the place of a function.
 */
export type Work = ReadonlyMap<string, number>;

export type CountedWork = {
  /** Returns the calls since the last call of this function. */
  take(): Promise<Work>;
};

export const countWork = async (t: Test): Promise<CountedWork> => {
  const session = new Session();
  session.connect();
  t.teardown(async () => {
    await session.post('Profiler.stopPreciseCoverage');
    session.disconnect();
  });
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  const takeCoverage = async (): Promise<[name: string, count: number][]> => {
    const { result } = await session.post('Profiler.takePreciseCoverage');
    return result
      .filter(({ url, functions }) => OWN.test(url) && !functions.some(isOfThisModule))
      .flatMap(({ url, functions }) =>
        functions.map(({ functionName, ranges: [range] }): [string, number] => [
          `${functionName} ${url.split('/').at(-1)}:${range?.startOffset}`,
          range?.count ?? 0,
        ]),
      );
  };
  await takeCoverage();
  await setTimeout(IDLE_MS);
  const idle = new Set((await takeCoverage()).flatMap(([name, count]) => (count > 0 ? name : [])));
  return {
    async take() {
      return new Map((await takeCoverage()).filter(([name, count]) => count > 0 && !idle.has(name)));
    },
  };
};

/** Each measurement calls it, so its module is among the results, whatever file that is bundled in. */
const isOfThisModule = ({ functionName }: { functionName: string }): boolean =>
  functionName === 'takeCoverage';

/** Functions that timers of the service call within this time are not counted. */
const IDLE_MS = 500;

/** Not the packages. */
const OWN = /^file:(?!.*\/node_modules\/)/;

/** Timers of the service add work to that of a request, so the least of several measurements is that of the request. */
export const leastOf = (one: Work | undefined, other: Work): Work =>
  one === undefined
    ? other
    : new Map(
        Array.from(one, ([name, count]): [string, number] => [
          name,
          Math.min(count, other.get(name) ?? 0),
        ]).filter(([, count]) => count > 0),
      );

/** Returns the functions that were called more often in one of both, with both counts. */
export const differencesOf = (one: Work, other: Work): string[] =>
  [...new Set([...one.keys(), ...other.keys()])]
    .filter((name) => one.get(name) !== other.get(name))
    .map((name) => `${name} ${one.get(name) ?? 0}, ${other.get(name) ?? 0}`);
