import { z } from 'zod';
import { examples } from '../http/described.ts';
import { ManagedSkill } from '../plugins/skills/skill.ts';
import { A2aServerSpec } from '../schema/a2a-server.ts';
import { AgentSpec } from '../schema/agent.ts';
import { McpServerSpec } from '../schema/mcp-server.ts';
import { ModelSpec, PoolSpec, ProviderSpec } from '../schema/model.ts';
import { ToolSpec } from '../schema/tool-spec.ts';

/**
 * The entries of the configuration as the OpenAPI document shows them, with the fields that `$schema` tells. These
 * schemas only describe: what is wrong with a body is told in the words of the configuration, and an answer is what
 * is stored, without its secrets.
 */

const SkillSpec = ManagedSkill.meta({ id: 'SkillSpec', description: 'A skill.' });

type JsonSchema = z.core.JSONSchema.BaseSchema;

/** The fields of an entry. Its parts are written out: what is answered has no names for them. */
const writtenAs = (schema: z.ZodType): JsonSchema => {
  const written = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  // What is made of a JSON Schema is one again.
  return inlined(written, written.$defs ?? {}) as JsonSchema;
};

const inlined = (schema: unknown, parts: Readonly<Record<string, unknown>>): unknown => {
  if (Array.isArray(schema)) return schema.map((each) => inlined(each, parts));
  if (typeof schema !== 'object' || schema === null) return schema;
  const written = Object.entries(schema)
    .filter(([key, value]) => !(LEFT_OUT.includes(key) || (key === 'id' && typeof value === 'string')))
    .map(([key, value]): [string, unknown] => [key, inlined(value, parts)]);
  if (!('$ref' in schema)) return Object.fromEntries(written);
  const part = inlined(parts[String(schema.$ref).replace('#/$defs/', '')], parts);
  return { ...(typeof part === 'object' && part), ...Object.fromEntries(written) };
};

/** A field that has a default need not be there. */
const LEFT_OUT = ['$ref', '$defs', '$schema', 'default'];

/** Written when the document is, which most processes never make. */
const said = (id: string, schema: () => JsonSchema): z.ZodType =>
  z.unknown().meta({
    id,
    override: ({ jsonSchema }) => {
      Object.assign(jsonSchema, schema());
    },
  });

const SECRETS = 'Secrets are left out, or shown as `***`; who saves that keeps the secret.';

/** As it is answered: fields come to it with time. */
const answered = (id: string, schema: z.ZodType, told: Record<string, JsonSchema> = {}): z.ZodType =>
  said(id, () => {
    const { additionalProperties: _, properties, ...rest } = writtenAs(schema);
    return { ...rest, properties: { ...properties, ...told }, description: SECRETS };
  });

const flag = (description: string): JsonSchema => ({ type: 'boolean', description });

export const AgentEntry = answered('AgentEntry', AgentSpec);
export const ToolEntry = answered('ToolEntry', ToolSpec);

/** An entry of any namespace. */
export const ConfigEntry = z
  .union([
    AgentEntry,
    answered('ModelEntry', ModelSpec),
    answered('ModelPoolEntry', PoolSpec),
    answered('ProviderEntry', ProviderSpec, { has_api_key: flag('a key is stored') }),
    answered('McpServerEntry', McpServerSpec, {
      has_env: flag('an environment is stored'),
      env_keys: { type: 'array', items: { type: 'string' }, description: 'names of its variables' },
    }),
    answered('SkillEntry', SkillSpec),
    ToolEntry,
    answered('A2aServerEntry', A2aServerSpec, { has_auth: flag('a token is stored') }),
  ])
  .meta({ id: 'ConfigEntry', description: 'An entry in the form that its namespace has.' });

/** What a save brings; tools are read-only. */
export const ConfigEntryInput: z.ZodType<unknown> = z
  .union([AgentSpec, ModelSpec, PoolSpec, ProviderSpec, McpServerSpec, SkillSpec, A2aServerSpec])
  .meta({
    id: 'ConfigEntryInput',
    description: 'An entry in the form that its namespace has.',
    ...examples(
      { id: 'poet', model_id: 'fast', system_prompt: 'You answer in verse.' },
      { id: 'fast', provider_id: 'openai', upstream_model: 'gpt-5.4-mini' },
      { id: 'openai', adapter: 'openai', api_key: 'sk-...' },
    ),
  });

/** Nobody overrides these. */
const FIXED = ['id', 'registry'];

const orNull = (schema: JsonSchema): JsonSchema => ({ anyOf: [schema, { type: 'null' }] });

export const AgentOverrides = said('AgentOverrides', () => {
  const fields = Object.entries(writtenAs(AgentSpec).properties ?? {});
  return {
    type: 'object',
    description: 'Fields of the agent to change; null clears one, or takes its override back.',
    properties: {
      ...Object.fromEntries(
        fields.flatMap(([name, field]) =>
          FIXED.includes(name) || typeof field === 'boolean' ? [] : [[name, orNull(field)]],
        ),
      ),
      _clear: {
        type: 'array',
        items: { type: 'string' },
        maxItems: 100,
        description: 'names of overrides to take back first',
      },
    },
    additionalProperties: false,
  };
});

export const ToolOverrides = said('ToolOverrides', () => ({
  type: 'object',
  description: 'What is to be told of the tool instead.',
  properties: { description: { type: ['string', 'null'], description: 'null takes it back' } },
  additionalProperties: false,
}));
