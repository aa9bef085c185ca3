import { builtInPlugins } from '../../src/configuration/built-in-plugins.ts';
import { createDefaultPlugins } from '../../src/plugins/context/plugin.ts';
import type { Plugin, Section } from '../../src/plugins/plugin.ts';
import { createSkillSource } from '../../src/plugins/skills/source.ts';
import { AgentSpec } from '../../src/schema/agent.ts';
import { code, inputFields, tableOf } from './fields.ts';
import type { GeneratedTable } from './generated.ts';

/** The built-in plugins, and the fields of their sections. */

const PAGE = 'src/docs/reference/plugins.md';

const OPTIONAL = builtInPlugins({
  log: { info: () => {} },
  skills: createSkillSource(() => ({ skills: [], broken: [] })),
});

const DEFAULT = createDefaultPlugins({ modelOf: () => ({ knowledge_cutoff: '2025-01' }) });

/** An agent for which every plugin has all of its parts. */
const AGENT = AgentSpec.parse({
  id: 'a',
  sections: { deferred_tools: { enabled: true } },
  context_policy: {
    max_context_tokens: 1,
    max_output_tokens: 1,
    min_recent_messages: 1,
    enable_prompt_cache: false,
  },
});

const listOf = (names: readonly string[]): string => names.map(code).join(', ') || '–';

function rowOf(plugin: Plugin): string[] {
  const {
    hooks = {},
    gate,
    tools = [],
    stop_conditions,
    transformRequest,
  } = plugin.parts({
    agent: AGENT,
    tools: [],
  });
  const others = [
    ...(gate ? ['gate'] : []),
    ...(transformRequest ? ['request transform'] : []),
    ...(stop_conditions ? ['stop conditions'] : []),
  ];
  return [
    code(plugin.id),
    listOf(plugin.sections.map(({ key }) => key)),
    listOf(Object.keys(hooks)),
    listOf(tools.map(({ descriptor }) => descriptor.id)),
    others.join(', ') || '–',
  ];
}

const pluginsMarkdown = (plugins: readonly Plugin[]): string =>
  tableOf(['Plugin', 'Section', 'Hooks', 'Tools', 'Other parts'], plugins.map(rowOf));

/** @throws Error if a field has no description */
const sectionMarkdown = ({ key, schema }: Section<unknown>): string =>
  tableOf(
    ['Field', 'Type', 'Default', 'Meaning'],
    inputFields(schema).map(({ name, type, isRequired, default: value, description }) => {
      if (description === undefined) throw new Error(`section '${key}': '${name}' has no description`);
      const fallback = value === undefined ? '–' : code(JSON.stringify(value));
      return [code(name), type, isRequired ? 'required' : fallback, description];
    }),
  );

export const PLUGIN_TABLES: readonly GeneratedTable[] = [
  { name: 'plugins', page: PAGE, table: () => pluginsMarkdown(OPTIONAL) },
  { name: 'default-plugins', page: PAGE, table: () => pluginsMarkdown(DEFAULT) },
  ...[...OPTIONAL, ...DEFAULT].flatMap(({ sections }) =>
    sections.map((section) => ({
      name: `section-${section.key}`,
      page: PAGE,
      table: () => sectionMarkdown(section),
    })),
  ),
];
