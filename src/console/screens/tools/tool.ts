import { useMemo } from 'react';
import { compileGlob, type Glob } from '../../../schema/glob.ts';
import {
  anyObject,
  anything,
  fields,
  type Guarded,
  isObject,
  type JsonObject,
  list,
  number,
  object,
  optional,
  text,
  withDefault,
} from '../../data/guard.ts';
import { type Resource, useResource } from '../../data/queries.ts';
import { recordsOf } from '../../data/records.ts';
import { pathOf } from '../../data/request.ts';
import { type Schema, seen } from '../../schema-form/schema.ts';

/** Definitions of tools, calls of a tool without a run, and the agents that may call it. */

const Definition = object({
  id: text,
  ...fields(withDefault(text, ''), 'name', 'description'),
  parameters_schema: withDefault(anyObject, {}),
  needs_run: optional(text),
});
export type Definition = Guarded<typeof Definition>;

/** @param agent the agent whose tool is read */
export const definitionOf = (id: string, agent?: string): Resource<Definition> => ({
  path: pathOf`/v1/tools/${id}`,
  query: { agent_id: agent },
  guard: Definition,
});

const Change = object({ key: text, scope: text, value: anything });

export const Trial = object({
  status: text,
  data: anything,
  ...fields(optional(text), 'message', 'output'),
  ...fields(optional(list(anyObject)), 'content', 'parts'),
  state: withDefault(list(Change), []),
  duration_ms: number,
  permission: optional(object({ behavior: text, decided_by: text, rule: optional(text) })),
});
export type Trial = Guarded<typeof Trial>;

/** Addresses of the images that a result contains in full. */
export const imagesIn = ({ content = [], parts = [] }: Pick<Trial, 'content' | 'parts'>): string[] =>
  [...(content ?? []), ...(parts ?? [])].flatMap(({ type, source }) =>
    type === 'image' && isObject(source) && source.type === 'base64'
      ? [`data:${String(source.media_type)};base64,${String(source.data)}`]
      : [],
  );

/** Agents with the lists that decide which tools they may call. */
const agentsWithTools = recordsOf(
  'agents',
  object({
    id: text,
    ...fields(optional(list(text)), 'allowed_tools', 'allowed_tool_patterns'),
    ...fields(optional(list(text)), 'excluded_tools', 'excluded_tool_patterns'),
  }),
);

export const MOST_BYTES = 4096;

/** Number of characters from which a description counts as long. */
export const LONG = 400;

export const bytesOf = (typed: string): number => new TextEncoder().encode(typed).length;

type Parameter = { name: string; type: string; isRequired: boolean; description: string };

const typeOf = (raw: Schema, root: Schema): string => {
  const { schema, view, isNullable } = seen(raw, root);
  const type = ((): string => {
    switch (view.kind) {
      case 'enum':
        return view.options.map((option) => JSON.stringify(option)).join(' | ');
      case 'const':
        return JSON.stringify(view.value) ?? 'any';
      case 'choice':
        return [...new Set(view.variants.map((variant) => typeOf(variant, root)))].join(' | ');
      case 'list':
        return `${typeOf(view.items, root)}[]`;
      default:
        return typeof schema.type === 'string' ? schema.type : 'any';
    }
  })();
  return isNullable ? `${type} | null` : type;
};

/** The parameters of a tool, with a row for each member of nested objects. */
export const parametersOf = (schema: JsonObject): Parameter[] => {
  const rowsOf = (raw: Schema, above: string, depth: number): Parameter[] => {
    const own = seen(raw, schema).view;
    const inner = own.kind === 'list' ? seen(own.items, schema).view : own;
    if (inner.kind !== 'object' || depth > MOST_NESTED) return [];
    const prefix = above === '' ? '' : `${above}${own.kind === 'list' ? '[]' : ''}.`;
    return inner.properties.flatMap(({ name, schema: property, isRequired }) => {
      const { description } = seen(property, schema).schema;
      const row = { name: prefix + name, type: typeOf(property, schema), isRequired };
      return [
        { ...row, description: typeof description === 'string' ? description : '' },
        ...rowsOf(property, prefix + name, depth + 1),
      ];
    });
  };
  return rowsOf(schema, '', 0);
};

/** Recursive schemas end at this depth. */
const MOST_NESTED = 3;

// ---- The tools that an agent sees: allowed by name or pattern, not excluded by either (console.md 4.3.2) ----

type ToolRules = {
  allowed_tools?: readonly string[] | undefined;
  allowed_tool_patterns?: readonly string[] | undefined;
  excluded_tools?: readonly string[] | undefined;
  excluded_tool_patterns?: readonly string[] | undefined;
};

const none: Glob = () => false;

/** Compiles a pattern like the service; a pattern that the service rejects matches nothing. */
export const globOf = (pattern: string): Glob => {
  try {
    return compileGlob(pattern);
  } catch {
    return none;
  }
};

/** Compiles the rules of an agent once, for many tools. */
const createToolFilter = (rules: ToolRules): ((id: string) => boolean) => {
  const allowed = new Set(rules.allowed_tools);
  const excluded = new Set(rules.excluded_tools);
  const patterns = (rules.allowed_tool_patterns ?? []).map(globOf);
  const against = (rules.excluded_tool_patterns ?? []).map(globOf);
  return (id) =>
    (allowed.has(id) || patterns.some((pattern) => pattern(id))) &&
    !excluded.has(id) &&
    !against.some((pattern) => pattern(id));
};

/** The ids of the agents that may call a tool; none until they are read. */
export const useCallers = (): ((tool: string) => string[]) => {
  const agents = useResource(agentsWithTools).data;
  return useMemo(() => {
    const filters = (agents ?? []).map((agent) => ({ id: agent.id, allows: createToolFilter(agent) }));
    return (tool) => filters.filter(({ allows }) => allows(tool)).map(({ id }) => id);
  }, [agents]);
};
