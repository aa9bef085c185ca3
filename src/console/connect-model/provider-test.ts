import { flag, type Guarded, number, object, optional, text } from '../data/guard.ts';
import { redactText } from '../data/redact-text.ts';
import type { Values } from '../i18n/texts.ts';

/** Results of provider tests. */

export const testFields = {
  ok: flag,
  latency_ms: number,
  network_tested: flag,
  status: optional(number),
  error: optional(text),
};
export const TestResult = object(testFields);
export type TestResult = Guarded<typeof TestResult>;

/** A failed request is a failed test, because the user asked whether the provider works. */
export const failedTest = (error: unknown, latency_ms: number): TestResult => ({
  ok: false,
  latency_ms,
  network_tested: false,
  status: undefined,
  error: error instanceof Error ? error.message : String(error),
});

const UNAUTHORIZED = [401, 403];
/** Some services return 400 for a wrong key. */
const REJECTED = [400, ...UNAUTHORIZED];

/** The outcome of a test as a key of the texts, with the reason of a failure. */
export const outcomeOf = (
  { ok, network_tested, status, error = '' }: Omit<TestResult, 'latency_ms'>,
  hasKey = true,
): { key: `test.${'ok' | 'config' | 'key' | 'noKey' | 'status' | 'failed'}`; values: Values } => {
  if (ok) return { key: network_tested ? 'test.ok' : 'test.config', values: {} };
  if (status === undefined) {
    // The address is displayed next to it.
    const reason = redactText(error).replace(/^https?:\/\/\S+: /, '');
    return { key: 'test.failed', values: { reason: reason.charAt(0).toUpperCase() + reason.slice(1) } };
  }
  const values = { status };
  if (hasKey && REJECTED.includes(status)) return { key: 'test.key', values };
  return { key: UNAUTHORIZED.includes(status) ? 'test.noKey' : 'test.status', values };
};
