import { useEffect, useMemo, useState } from 'react';
import { type Guarded, list, object, text } from '../data/guard.ts';
import { send } from '../data/request.ts';
import { ModelFigures } from '../data/resources.ts';
import { failedTest, testFields } from './provider-test.ts';

/** Tests a provider while the user types, and reads its models. The service stores nothing. */

export const Offered = object({ upstream_model: text, known: ModelFigures });
export type Offered = Guarded<typeof Offered>;

const Result = object({ ...testFields, models_from: text, models: list(Offered) });
export type Result = Guarded<typeof Result>;

/** The fields of the provider that the test depends on. */
export type Candidate = { adapter: string; api_key?: string; base_url?: string; adapter_options?: object };

/** Time without typing before a test starts. */
const PAUSE_MS = 500;

/** One test; another attempt is another object. */
type Attempt = { of: Candidate | undefined };

type State = { attempt: Attempt; result: Result };

/**
 * The test of `candidate`, which must keep its identity between renders; undefined while it is incomplete. A change
 * cancels the running test, so that at most one result is awaited.
 */
export const usePreview = (candidate: Candidate | undefined) => {
  const [state, setState] = useState<State>();
  const [latest, setLatest] = useState<Attempt>({ of: candidate });
  const attempt = useMemo(() => (latest.of === candidate ? latest : { of: candidate }), [latest, candidate]);
  useEffect(() => {
    const { of } = attempt;
    if (!of) return undefined;
    const stop = new AbortController();
    const timer = setTimeout(async () => {
      const result = await test(of, stop.signal);
      if (!stop.signal.aborted) setState({ attempt, result });
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [attempt]);
  const result = candidate && state?.attempt === attempt ? state.result : undefined;
  return {
    result,
    isTesting: candidate !== undefined && !result,
    again: (): void => setLatest({ of: candidate }),
  };
};

const test = async (candidate: Candidate, signal: AbortSignal): Promise<Result> => {
  const body = { id: 'preview', ...candidate };
  const began = Date.now();
  try {
    return await send({ method: 'POST', path: '/v1/providers/preview', body, signal }, Result);
  } catch (error) {
    return { ...failedTest(error, Date.now() - began), models_from: 'provider', models: [] };
  }
};
