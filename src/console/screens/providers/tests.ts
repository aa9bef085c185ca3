import { createAtom } from '@xstate/store';
import { failedTest, TestResult } from '../../connect-model/provider-test.ts';
import { pathOf, send } from '../../data/request.ts';

/** Tests of providers since the page was opened, because the service does not store them. */

export type Tested = TestResult & { at: number };

/** By provider, newest first. */
export const tests = createAtom<ReadonlyMap<string, readonly Tested[]>>(new Map<string, readonly Tested[]>());

/** Ids of providers with a running test. */
export const underTest = createAtom<ReadonlySet<string>>(new Set<string>());

/** Maximum number of tests kept per provider. */
const KEPT = 10;

export const runTest = async (id: string): Promise<Tested> => {
  const began = Date.now();
  underTest.set(new Set([...underTest.get(), id]));
  const result = await send({ method: 'POST', path: pathOf`/v1/providers/${id}/test` }, TestResult).catch(
    (error: unknown) => failedTest(error, Date.now() - began),
  );
  const tested = { ...result, at: Date.now() };
  tests.set(new Map([...tests.get(), [id, [tested, ...(tests.get().get(id) ?? [])].slice(0, KEPT)]]));
  underTest.set(new Set([...underTest.get()].filter((other) => other !== id)));
  return tested;
};
