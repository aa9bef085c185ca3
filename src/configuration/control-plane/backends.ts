import type { JsonObject } from '../../schema/endpoint.ts';

/**
 * The backends of agents for the forms of a console (config.md 10). These schemas are hints: the agent schema validates
 * writes.
 */
export const listBackends = (localKind: string): JsonObject[] => [
  { kind: localKind, ...LOCAL_BACKEND },
  { kind: 'a2a', ...A2A_BACKEND },
];

const LOCAL_BACKEND: JsonObject = {
  version: 1,
  schema: {
    type: 'object',
    properties: {
      model_id: { type: 'string', title: 'Model', description: 'id of a model or of a model pool' },
      system_prompt: { type: 'string', title: 'System prompt' },
      max_rounds: { type: 'integer', minimum: 1, default: 10, title: 'Rounds' },
    },
    required: ['model_id', 'system_prompt', 'max_rounds'],
  },
  display_name: 'Local',
  description: 'Runs in this service, with a model of the configuration.',
  default_config: { model_id: '', system_prompt: '', max_rounds: 10 },
  ui_schema: { system_prompt: { 'ui:widget': 'textarea' } },
};

const A2A_BACKEND: JsonObject = {
  version: 1,
  schema: {
    type: 'object',
    additionalProperties: false,
    properties: {
      base_url: { type: 'string', minLength: 1, format: 'uri', title: 'Address' },
      auth: {
        anyOf: [
          { type: 'null' },
          {
            type: 'object',
            properties: {
              type: { const: 'bearer' },
              token: { type: 'string', minLength: 1, title: 'Token' },
            },
            required: ['type', 'token'],
          },
        ],
        default: null,
      },
      target: { type: ['string', 'null'], title: 'Remote agent', default: null },
      timeout_ms: { type: 'integer', minimum: 1, default: 300_000 },
      options: { type: 'object', default: {} },
    },
    required: ['base_url'],
  },
  display_name: 'A2A',
  description: 'Runs in another service that speaks A2A.',
  default_config: { base_url: '', auth: null, target: null, timeout_ms: 300_000, options: {} },
  ui_schema: { auth: { token: { 'ui:widget': 'password' } } },
};
