import { createProviderTest, type ProviderTest } from '../../models/provider-test.ts';
import type { JsonObject } from '../../schema/endpoint.ts';
import { ProviderSpec } from '../../schema/model.ts';
import { phrases } from '../../schema/phrases.ts';
import { problemsOf } from '../../schema/problems.ts';

/** The test of a provider as it is stored (config.md 12): also one that no write would take any more is answered. */
export const createStoredProviderTest = (deps: Parameters<typeof createProviderTest>[0]) => {
  const test = createProviderTest(deps);
  return async (stored: JsonObject): Promise<ProviderTest> => {
    const spec = ProviderSpec.safeParse(stored, phrases);
    if (spec.success) return test(spec.data);
    return { ok: false, latency_ms: 0, network_tested: false, error: problemsOf(spec.error).join('; ') };
  };
};
