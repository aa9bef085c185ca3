import type { IncomingHttpHeaders } from 'node:http';

/** The lists of models, which a service may read before it uses one. */

const MODELS = ['burst', 'turns', 'paced', 'calls'];

/** Returns undefined for a request that is not for a list. */
export function listModels(path: string, headers: IncomingHttpHeaders): object | undefined {
  if (path === '/v1beta/models') return { models: MODELS.map(geminiModel) };
  if (path !== '/v1/models') return undefined;
  return headers['anthropic-version'] === undefined
    ? { object: 'list', data: MODELS.map(openaiModel) }
    : { data: MODELS.map(anthropicModel), has_more: false, first_id: MODELS[0], last_id: MODELS.at(-1) };
}

const openaiModel = (id: string): object => ({
  id,
  object: 'model',
  created: 1_764_200_000,
  owned_by: 'bench',
});

const anthropicModel = (id: string): object => ({
  type: 'model',
  id,
  display_name: id,
  created_at: '2025-11-27T00:00:00Z',
});

const geminiModel = (id: string): object => ({
  name: `models/${id}`,
  version: '1',
  displayName: id,
  inputTokenLimit: 1_000_000,
  outputTokenLimit: 65_536,
  supportedGenerationMethods: ['generateContent', 'streamGenerateContent'],
});
