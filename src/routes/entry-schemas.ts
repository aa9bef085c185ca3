import { z } from 'zod';
import { examples } from '../http/described.ts';
import { ManagedSkill } from '../plugins/skills/skill.ts';
import { A2aServerSpec } from '../schema/a2a-server.ts';
import { AgentSpec } from '../schema/agent.ts';
import { McpServerSpec } from '../schema/mcp-server.ts';
import { ModelSpec, PoolSpec, ProviderSpec } from '../schema/model.ts';
import { ToolSpec } from '../schema/tool-spec.ts';

/**
 * The OpenAPI schemas of configuration entries, with the additional fields of `$schema`. They are documentation only:
 * the configuration itself validates bodies, and responses contain the stored entries without their secrets.
 */

const SkillSpec = ManagedSkill.meta({ id: 'SkillSpec', description: 'A skill.' });

type JsonSchema = z.core.JSONSchema.BaseSchema;

/** Generates the JSON schema of an entry. Definitions are inlined, because responses do not have names for them. */
const writtenAs = (schema: z.ZodType): JsonSchema => {
  const written = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  // Inlining preserves the form of a JSON schema.
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

/** `default` is omitted because a field with a default is optional. */
const LEFT_OUT = ['$ref', '$defs', '$schema', 'default'];

/** Generates the schema together with the document, which most processes never do. */
const lazySchema = (id: string, schema: () => JsonSchema): z.ZodType =>
  z.unknown().meta({
    id,
    override: ({ jsonSchema }) => {
      Object.assign(jsonSchema, schema());
    },
  });

const SECRETS = 'Secrets are omitted, or shown as `***`; a write of this marker keeps the secret.';

/** Describes a response, which may gain fields. */
const answered = (
  id: string,
  schema: z.ZodType,
  extraProperties: Record<string, JsonSchema> = {},
): z.ZodType =>
  lazySchema(id, () => {
    const { additionalProperties: _, properties, ...rest } = writtenAs(schema);
    return { ...rest, properties: { ...properties, ...extraProperties }, description: SECRETS };
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
  .meta({ id: 'ConfigEntry', description: 'An entry in the format of its namespace.' });

/** The body of a save; tools are read-only. */
export const ConfigEntryInput: z.ZodType<unknown> = z
  .union([AgentSpec, ModelSpec, PoolSpec, ProviderSpec, McpServerSpec, SkillSpec, A2aServerSpec])
  .meta({
    id: 'ConfigEntryInput',
    description: 'An entry in the format of its namespace.',
    ...examples(
      { id: 'poet', model_id: 'fast', system_prompt: 'You answer in verse.' },
      { id: 'fast', provider_id: 'openai', upstream_model: 'gpt-5.4-mini' },
      { id: 'openai', adapter: 'openai', api_key: 'sk-...' },
    ),
  });

/** The body of a draft of an agent. */
export const AgentEntryInput: z.ZodType<unknown> = AgentSpec;

/** Fields without overrides. */
const FIXED = ['id', 'registry'];

const orNull = (schema: JsonSchema): JsonSchema => ({ anyOf: [schema, { type: 'null' }] });

export const AgentOverrides = lazySchema('AgentOverrides', () => {
  const fields = Object.entries(writtenAs(AgentSpec).properties ?? {});
  return {
    type: 'object',
    description: 'Fields of the agent to change; null clears a field or removes its override.',
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
        description: 'names of overrides to remove first',
      },
    },
    additionalProperties: false,
  };
});

export const ToolOverrides = lazySchema('ToolOverrides', () => ({
  type: 'object',
  description: 'Replacement description of the tool.',
  properties: { description: { type: ['string', 'null'], description: 'null removes the override' } },
  additionalProperties: false,
}));
