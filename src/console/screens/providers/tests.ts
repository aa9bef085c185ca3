import { createAtom } from '@xstate/store';
import { flag, type Guarded, number, object, optional, text } from '../../data/guard.ts';
import { redactText } from '../../data/redact-text.ts';
import { pathOf, send } from '../../data/request.ts';
import type { Values } from '../../i18n/texts.ts';

/** Tests of providers since the page was opened, because the service does not store them. */

const TestResult = object({
  ok: flag,
  latency_ms: number,
  network_tested: flag,
  status: optional(number),
  error: optional(text),
});
type TestResult = Guarded<typeof TestResult>;

export type Tested = Omit<TestResult, 'status'> & { status?: number | undefined; at: number };

/** By provider, newest first. */
export const tests = createAtom<ReadonlyMap<string, readonly Tested[]>>(new Map<string, readonly Tested[]>());

/** Ids of providers with a running test. */
export const underTest = createAtom<ReadonlySet<string>>(new Set<string>());

/** Maximum number of tests kept per provider. */
const KEPT = 10;

/** A failed request is a failed test, because the user asked whether the provider works. */
const ask = async (id: string): Promise<TestResult> => {
  const began = Date.now();
  try {
    return await send({ method: 'POST', path: pathOf`/v1/providers/${id}/test` }, TestResult);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return {
      ok: false,
      latency_ms: Date.now() - began,
      network_tested: false,
      status: undefined,
      error: reason,
    };
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

/** Some services return 400 for a wrong key. */
const KEY_STATUSES = [400, 401, 403];

/** The outcome of a test as a key of the texts, with the reason of a failure. */
export const outcomeOf = ({
  ok,
  network_tested,
  status,
  error = '',
}: Omit<Tested, 'latency_ms' | 'at'>): {
  key: `test.${'ok' | 'config' | 'key' | 'status' | 'failed'}`;
  values: Values;
} => {
  if (ok) return { key: network_tested ? 'test.ok' : 'test.config', values: {} };
  if (status === undefined) {
    // The address is in the column next to it.
    const reason = redactText(error).replace(/^https?:\/\/\S+: /, '');
    return { key: 'test.failed', values: { reason: reason.charAt(0).toUpperCase() + reason.slice(1) } };
  }
  const key = KEY_STATUSES.includes(status) ? 'test.key' : 'test.status';
  return { key, values: { status } };
};
