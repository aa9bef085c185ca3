import { z } from 'zod';
import { ADAPTER_DEFAULTS, SUPPORTED_ADAPTERS } from '../../models/provider.ts';
import type { Plugin, Section } from '../../plugins/plugin.ts';
import type { SkillSpec } from '../../plugins/skills/skill.ts';
import type { Json, JsonObject } from '../../schema/endpoint.ts';
import type { ToolDescriptor } from '../../schema/tool-descriptor.ts';
import type { Namespaces } from '../namespaces/namespaces.ts';
import { listBackends } from './backends.ts';
import { byBytes } from './canonical.ts';
import type { Snapshot } from './snapshot.ts';

/**
 * Returns everything that agents can use (config.md 10). The result is cached per snapshot, except for the part of the
 * assistant. It contains no secrets: of providers, only ids.
 */
export const createCapabilities = ({
  live,
  namespaces,
  localKind,
  providers,
  isMcpTool,
  assistant,
}: {
  live(): Snapshot;
  namespaces: Namespaces;
  localKind: string;
  /** Ids of providers that are not entries. */
  providers: readonly string[];
  isMcpTool(id: string): boolean;
  assistant(): JsonObject;
}): (() => JsonObject) => {
  const fixed = {
    backends: listBackends(localKind),
    supported_adapters: [...SUPPORTED_ADAPTERS],
    adapter_defaults: ADAPTER_DEFAULTS,
  };
  // Generating the schemas would take a noticeable part of a start.
  const schemas = (): JsonObject[] =>
    namespaces.all.flatMap(({ name, listed, schema }) =>
      listed ? [{ namespace: name, schema: schema() }] : [],
    );
  let known: { of: Snapshot; content: JsonObject } | undefined;
  return () => {
    const of = live();
    if (known?.of !== of) known = { of, content: content(of, { providers, isMcpTool }) };
    return { ...known.content, admin_assistant: assistant(), ...fixed, namespaces: schemas() };
  };
};

type About = { providers: readonly string[]; isMcpTool(id: string): boolean };

const content = (snapshot: Snapshot, { providers, isMcpTool }: About): JsonObject => {
  const { records, skills, plugins } = snapshot;
  return {
    agents: records.agents
      .filter(({ id, registry }) => registry === undefined || id.startsWith(`${registry}/`))
      .map(({ id }) => id)
      .sort(byBytes),
    tools: toolsOf(snapshot, isMcpTool),
    plugins: byId(plugins.map(pluginOf)),
    skills: byId(skills.map(({ spec }) => skillOf(spec))),
    // A parsed spec is JSON.
    models: byId(
      records.models.map(
        (spec) => ({ ...spec, known: snapshot.registry.models.known(spec) }) as JsonObject & { id: string },
      ),
    ),
    providers: [...new Set([...records.providers.map(({ id }) => id), ...providers])]
      .sort(byBytes)
      .map((id) => ({ id })),
  };
};

const byId = <Entry extends { id: string }>(entries: readonly Entry[]): Entry[] =>
  [...entries].sort((one, other) => byBytes(one.id, other.id));

const toolsOf = ({ tools, pluginTools }: Snapshot, isMcpTool: About['isMcpTool']) => {
  const seen = new Set<string>();
  const all = [
    ...tools.map(({ descriptor }) => toolOf(descriptor, sourceOf(descriptor.id, isMcpTool))),
    ...pluginTools().map((descriptor) => toolOf(descriptor, { kind: 'plugin' })),
  ];
  return byId(all.filter(({ id }) => !seen.has(id) && seen.add(id)));
};

const sourceOf = (id: string, isMcpTool: About['isMcpTool']): JsonObject =>
  isMcpTool(id) ? { kind: 'mcp', id: id.split('__')[1] ?? '' } : { kind: 'builtin' };

const toolOf = ({ id, name, description, parameters }: ToolDescriptor, source: JsonObject) => ({
  id,
  name,
  description,
  source,
  request_bytes: Buffer.byteLength(JSON.stringify({ name: id, description, parameters })),
});

const skillOf = ({ instructions_md: _, ...spec }: SkillSpec) => spec;

const pluginOf = ({ id, sections }: Plugin) => ({ id, config_schemas: sections.map(sectionOf) });

const sectionOf = (section: Section<unknown>) => {
  const { key, display_name, description, category, editor, default_value, ui_schema } = section;
  return {
    key,
    schema: schemaOf(section),
    display_name: display_name ?? null,
    description: description ?? null,
    category: category ?? null,
    editor: editor ?? null,
    default_value: default_value ?? null,
    ui_schema: ui_schema ?? {},
  };
};

const written = new WeakMap<Section<unknown>['schema'], Json>();

const schemaOf = ({ schema }: Section<unknown>): Json => {
  const known = written.get(schema);
  if (known !== undefined) return known;
  // A JSON Schema is JSON.
  const made = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Json;
  written.set(schema, made);
  return made;
};
