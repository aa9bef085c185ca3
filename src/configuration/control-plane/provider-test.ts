import { createProviderTest, type ProviderTest } from '../../models/provider-test.ts';
import type { JsonObject } from '../../schema/endpoint.ts';
import { ProviderSpec } from '../../schema/model.ts';
import { phrases } from '../../schema/phrases.ts';
import { problemsOf } from '../../schema/problems.ts';

/** Tests a stored provider (config.md 12); an entry that is no longer valid has a failed result instead of an error. */
export const createStoredProviderTest = (deps: Parameters<typeof createProviderTest>[0]) => {
  const test = createProviderTest(deps);
  return async (stored: JsonObject): Promise<ProviderTest> => {
    const spec = ProviderSpec.safeParse(stored, phrases);
    if (spec.success) return test(spec.data);
    return { ok: false, latency_ms: 0, network_tested: false, error: problemsOf(spec.error).join('; ') };
  };
};
