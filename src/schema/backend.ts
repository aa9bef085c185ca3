import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { isObject, type JsonObject, nullsAbsent, RemoteEndpoint } from './endpoint.ts';
import { phrasesOnce } from './phrases.ts';
import { firstProblem } from './problems.ts';

/**
 * The backend of an agent (agent-loop.md 1.2, config.md 3.1). A spec may state it twice, in `backend` and in top-level
 * fields; inside the service only the fields exist (`model_id`, …, or `endpoint`), and `backend` is derived from them
 * where a spec is shown. The local kind is called `local` here, regardless of its external name.
 */

export const LOCAL = 'local';

const REMOTE_KINDS: ReadonlySet<string> = new Set(['a2a']);

const Fields = z.strictObject({
  kind: z.string().refine((kind) => kind.trim() !== '', 'backend kind must not be empty'),
  version: z
    .int()
    .superRefine((version, context) => {
      if (version !== 1) context.addIssue(`backend version ${version} is unsupported; expected 1`);
    })
    .default(1),
  config: z
    .custom<JsonObject>(isObject, 'backend config must be a JSON object')
    .meta({ type: 'object' })
    .default({}),
});
export const Backend = nullsAbsent(Fields);
type Backend = z.infer<typeof Backend>;

const LocalConfig = z.strictObject({
  model_id: z.string().optional(),
  system_prompt: z.string().optional(),
  max_rounds: z.int().nonnegative().optional(),
});
type LocalConfig = z.infer<typeof LocalConfig>;

type Place = { local: LocalConfig } | { endpoint: RemoteEndpoint } | { problem: string };

/** Combines both fields. */
export const resolvePlace = (backend: Backend | undefined, endpoint: RemoteEndpoint | undefined): Place => {
  const named = backend && placeOfBackend(backend);
  if (named && 'problem' in named) return named;
  if (!endpoint) return named ?? { local: {} };
  if (!REMOTE_KINDS.has(endpoint.backend)) return unsupported(endpoint.backend);
  if (named && !('endpoint' in named && isDeepStrictEqual(named.endpoint, endpoint))) {
    return { problem: 'cannot mix canonical backend and legacy endpoint fields' };
  }
  return { endpoint };
};

const placeOfBackend = ({ kind, config }: Backend): Place => {
  const { backend: repeated, ...rest } = config;
  if (repeated !== undefined && repeated !== kind) {
    return { problem: `backend config backend '${String(repeated)}' does not match kind '${kind}'` };
  }
  if (kind === LOCAL) {
    const local = LocalConfig.safeParse(rest, phrasesOnce);
    return local.success ? { local: local.data } : { problem: inConfig(local.error) };
  }
  if (!REMOTE_KINDS.has(kind)) return unsupported(kind);
  const endpoint = RemoteEndpoint.safeParse({ ...rest, backend: kind }, phrasesOnce);
  return endpoint.success ? { endpoint: endpoint.data } : { problem: inConfig(endpoint.error) };
};

const unsupported = (kind: string): Place => ({ problem: `unsupported backend kind '${kind}'` });

const inConfig = (error: z.ZodError): string => firstProblem(error, ['backend', 'config']);
