import { createAtom } from '@xstate/store';
import { pathOf, send } from '../../data/request.ts';
import { TestResult } from './provider.ts';

/** Tests of providers since the page was opened: the service keeps none. */

export type Tested = TestResult & { at: number };

/** Of each provider, the newest first. */
export const tests = createAtom<ReadonlyMap<string, readonly Tested[]>>(new Map<string, readonly Tested[]>());

/** Ids of those that are tested right now. */
export const underTest = createAtom<ReadonlySet<string>>(new Set<string>());

/** So many of one provider are kept. */
const KEPT = 10;

/** What could not be asked is a failed test too: the user has asked whether it works. */
const ask = async (id: string): Promise<TestResult> => {
  const began = Date.now();
  try {
    return await send({ method: 'POST', path: pathOf`/v1/providers/${id}/test` }, TestResult);
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    return { ok: false, latency_ms: Date.now() - began, network_tested: false, error: said };
  }
};

export const runTest = async (id: string): Promise<Tested> => {
  underTest.set(new Set([...underTest.get(), id]));
  try {
    const tested = { ...(await ask(id)), at: Date.now() };
    const before = tests.get().get(id) ?? [];
    tests.set(new Map([...tests.get(), [id, [tested, ...before].slice(0, KEPT)]]));
    return tested;
  } finally {
    underTest.set(new Set([...underTest.get()].filter((other) => other !== id)));
  }
};
