import { useEffect, useMemo, useState } from 'react';
import { flag, type Guarded, list, number, object, optional, text } from '../data/guard.ts';
import { send } from '../data/request.ts';
import { ModelFigures } from '../data/resources.ts';

/** Tests a provider while the user types, and reads its models. The service stores nothing. */

export const Offered = object({ upstream_model: text, known: ModelFigures });
export type Offered = Guarded<typeof Offered>;

const Result = object({
  ok: flag,
  network_tested: flag,
  status: optional(number),
  error: optional(text),
  models_from: text,
  models: list(Offered),
});
export type Result = Guarded<typeof Result>;

/** The fields of the provider that the test depends on. */
export type Candidate = { adapter: string; api_key?: string; base_url?: string; adapter_options?: object };

export type Preview =
  | { kind: 'incomplete' }
  | { kind: 'testing' }
  | { kind: 'tested'; result: Result }
  /** The service did not test the provider. */
  | { kind: 'failed'; reason: string };

/** Time without typing before a test starts. */
const PAUSE_MS = 500;

/** One test; another attempt is another object. */
type Attempt = { of: Candidate | undefined };

type State = { attempt: Attempt; preview: Preview };

/**
 * The test of `candidate`, which must keep its identity between renders; undefined while it is incomplete. A change
 * cancels the running test, so that at most one result is awaited.
 */
export const usePreview = (candidate: Candidate | undefined): { preview: Preview; again: () => void } => {
  const [state, setState] = useState<State>();
  const [latest, setLatest] = useState<Attempt>({ of: candidate });
  const attempt = useMemo(() => (latest.of === candidate ? latest : { of: candidate }), [latest, candidate]);
  useEffect(() => {
    const { of } = attempt;
    if (!of) return undefined;
    const stop = new AbortController();
    const timer = setTimeout(async () => {
      const preview = await test(of, stop.signal);
      if (!stop.signal.aborted) setState({ attempt, preview });
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [attempt]);
  const again = (): void => setLatest({ of: candidate });
  if (!candidate) return { preview: { kind: 'incomplete' }, again };
  return { preview: state?.attempt === attempt ? state.preview : { kind: 'testing' }, again };
};

const test = async (candidate: Candidate, signal: AbortSignal): Promise<Preview> => {
  const body = { id: 'preview', ...candidate };
  try {
    const result = await send({ method: 'POST', path: '/v1/providers/preview', body, signal }, Result);
    return { kind: 'tested', result };
  } catch (error) {
    return { kind: 'failed', reason: error instanceof Error ? error.message : String(error) };
  }
};
